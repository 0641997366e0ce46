//! System calls of a program that fail, and kills in between.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Compiled, succeeds, tell_once};

static PROGRAM: Compiled = Compiled::new("interfere", include_str!("interfere.c"), &[]);

/// What happens to a call by which a program changes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: calls are only counted.
    None,
    /// The program is killed before the call.
    Kill,
    /// Half of what the call writes arrives, then the program is killed.
    Tear,
    /// Half of what the call writes arrives, and the program goes on.
    Short,
    /// Half of what the call writes arrives, and there is no room for the rest; then there is again.
    Part,
    /// From this call on there is no room on the disk.
    Full,
    /// The call fails, as on a broken disk.
    Eio,
}

impl Fault {
    /// All that go wrong.
    pub const ALL: [Fault; 6] =
        [Fault::Kill, Fault::Tear, Fault::Short, Fault::Part, Fault::Full, Fault::Eio];

    fn word(self) -> &'static str {
        match self {
            Fault::None => "none",
            Fault::Kill => "kill",
            Fault::Tear => "tear",
            Fault::Short => "short",
            Fault::Part => "part",
            Fault::Full => "full",
            Fault::Eio => "eio",
        }
    }

    /// Whether the disk fails, and the program is told.
    pub fn is_told(self) -> bool {
        matches!(self, Fault::Part | Fault::Full | Fault::Eio)
    }

    /// Whether the program is killed.
    pub fn kills(self) -> bool {
        matches!(self, Fault::Kill | Fault::Tear)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Watches the calls by which a program changes files below some places.
#[derive(Clone, Debug)]
pub struct Interference {
    log: PathBuf,
    places: OsString,
}

impl Interference {
    /// The places whose files count, and a file for the list of calls; `None` if programs cannot be
    /// watched here.
    pub fn of(places: &[&Path], log: PathBuf) -> Option<Interference> {
        let mut joined = OsString::new();
        for place in places {
            joined.push(place);
            joined.push(":");
        }
        let watch = Interference { log, places: joined };
        let may = succeeds(watch.command(Fault::None, 0)?.arg("true"));
        if !may {
            tell_once("processes may not be traced here");
        }
        may.then_some(watch)
    }

    /// Connections count too.
    #[must_use]
    pub fn with_connections(mut self) -> Interference {
        self.places.push("socket:");
        self
    }

    /// A command to which the program and its arguments are to be added. The call of this number, from 1
    /// on, is the one with the fault.
    pub fn command(&self, fault: Fault, number: usize) -> Option<Command> {
        let mut command = Command::new(PROGRAM.path()?);
        command.args([fault.word(), &number.to_string()]).arg(&self.log).arg(&self.places);
        Some(command)
    }

    /// The calls of the last program: name and file of each.
    ///
    /// # Panics
    ///
    /// Panics if none has run.
    pub fn calls(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).expect("a list of calls");
        let call = |line: &str| line.split_once(' ').map(|(_, call)| call.to_owned());
        log.lines().filter_map(call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ended;

    fn script(watch: &Interference, fault: Fault, number: usize, script: &str) -> i32 {
        let mut command = watch.command(fault, number).expect("it is there");
        Ended::of(command.args(["sh", "-c", script])).code
    }

    #[test]
    fn calls_fail_where_they_are_told_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, log) = (folder.path().join("file"), folder.path().join("log"));
        let Some(watch) = Interference::of(&[&file], log) else { return };
        let line = format!("printf one > {0}; printf four >> {0} || exit 9", file.display());
        let check = |fault, number, code, content: Option<&str>| {
            let _ = std::fs::remove_file(&file);
            assert_eq!(script(&watch, fault, number, &line), code, "{fault} {number}");
            assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), content, "{fault} {number}");
        };
        check(Fault::None, 0, 0, Some("onefour"));
        let name = file.display();
        let calls = ["openat", "write", "write"].map(|call| format!("{call} {name}"));
        assert_eq!(watch.calls(), calls);
        check(Fault::Kill, 1, 137, None);
        check(Fault::Kill, 3, 137, Some("one"));
        check(Fault::Tear, 3, 137, Some("onefo"));
        check(Fault::Short, 3, 0, Some("onefour"));
        check(Fault::Part, 3, 9, Some("onefo"));
        check(Fault::Eio, 2, 0, Some("four"));
        check(Fault::Full, 2, 9, Some(""));
        check(Fault::Full, 4, 0, Some("onefour"));
    }
}
