//! Ends an agent, with all that it started, when Juror is gone: however Juror went.
//!
//! A process that is killed cannot end others. So each agent has a guard, a shell of a few words
//! that leads the agent's group of processes and waits for the end of a pipe. Only Juror holds the
//! other side, which the system closes with its last process; then the guard ends its whole group.
//! The group is there before the agent is, so that there is no moment without a guard.

use std::io;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, Command};

/// What a guard does: signals that are meant for agents do not end it.
const WATCH: &str = "trap '' HUP INT QUIT TERM; read -r line; kill -KILL 0";

/// A group of processes, and who watches over it.
pub(super) struct Guard {
    group: Pid,
    /// The guard, and the pipe it waits at.
    _watch: Option<(Child, ChildStdin)>,
}

impl Guard {
    /// Begins a group.
    pub(super) fn start() -> io::Result<Guard> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCH]).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn()?;
        let gone = || io::Error::other("the guard of agents has no input");
        let group = group_of(&child).ok_or_else(gone)?;
        let pipe = child.stdin.take().ok_or_else(gone)?;
        Ok(Guard { group, _watch: Some((child, pipe)) })
    }

    /// The group that a process began by itself, without a guard.
    pub(super) fn of(child: &Child) -> Option<Guard> {
        group_of(child).map(|group| Guard { group, _watch: None })
    }

    /// The group that an agent is to join.
    pub(super) fn group(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }
}

fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

impl Drop for Guard {
    /// Ends whatever is left in the group.
    fn drop(&mut self) {
        // It may be gone already.
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}
