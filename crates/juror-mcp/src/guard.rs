//! Kills a command and everything it started when Juror is gone, however that happened.
//!
//! A killed process cannot end others. So each agent, and each server of tools that Juror starts,
//! has a guard: a tiny shell script that leads its process group and waits for the end of a pipe. Only Juror holds the other end, which
//! the system closes when Juror dies; the guard then kills its whole group. The group exists before
//! the command does, so that it is never without a guard.

use std::io;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, Command};

/// What a guard runs. It ignores signals meant for commands.
const WATCH: &str = "trap '' HUP INT QUIT TERM; read -r line; kill -KILL 0";

/// A process group and its guard.
pub struct Guard {
    group: Pid,
    /// The guard, and the pipe it waits on.
    _watch: Option<(Child, ChildStdin)>,
}

impl Guard {
    /// Starts a guard in a new group.
    pub fn start() -> io::Result<Guard> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WATCH]).env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn()?;
        let gone = || io::Error::other("the guard of a command has no input");
        let group = group_of(&child).ok_or_else(gone)?;
        let pipe = child.stdin.take().ok_or_else(gone)?;
        Ok(Guard { group, _watch: Some((child, pipe)) })
    }

    /// Takes the group that a process leads itself, without a guard.
    pub fn of(child: &Child) -> Option<Guard> {
        group_of(child).map(|group| Guard { group, _watch: None })
    }

    /// The group that a command must join.
    pub fn group(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }
}

fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
}

impl Drop for Guard {
    /// Kills whatever is left in the group.
    fn drop(&mut self) {
        // The group may be gone already.
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}
