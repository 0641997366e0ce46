//! What goes wrong around a program: system calls that fail, kills, full disks, broken networks, a clock
//! that jumps.

mod clock;
mod disk;
mod interference;
mod proxy;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

pub use clock::ClockJump;
pub use disk::Disk;
pub use interference::{Fault, Interference};
pub use proxy::{Mishap, Proxy};

use crate::Ended;

/// A program or library in C that is compiled when it is first needed, and removed by the system.
struct Compiled {
    name: &'static str,
    source: &'static str,
    options: &'static [&'static str],
    path: OnceLock<Option<PathBuf>>,
}

impl Compiled {
    const fn new(
        name: &'static str,
        source: &'static str,
        options: &'static [&'static str],
    ) -> Compiled {
        Compiled { name, source, options, path: OnceLock::new() }
    }

    /// Its file; `None` if it cannot be made here, which is told once.
    fn path(&self) -> Option<&PathBuf> {
        self.path.get_or_init(|| self.make()).as_ref()
    }

    fn make(&self) -> Option<PathBuf> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            tell_once(&format!("{} runs on Linux on x86-64 only", self.name));
            return None;
        }
        let folder = tempfile::Builder::new().prefix("juror-faults").tempdir();
        // Kept for the life of the process; a few kilobytes below the system's temporary folder.
        let folder = folder.expect("a folder").keep();
        let (source, made) = (folder.join(format!("{}.c", self.name)), folder.join(self.name));
        std::fs::write(&source, self.source).expect("written");
        let mut compiler = Command::new("cc");
        compiler.args(["-O1", "-Wall", "-Wextra", "-Werror"]).args(self.options);
        let Ok(output) = compiler.arg("-o").arg(&made).arg(&source).output() else {
            tell_once("there is no C compiler: install gcc or clang");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(made)
    }
}

/// Says, once, why some faults are not tested. Written directly, because what passing tests print is not
/// shown.
fn tell_once(why: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(why.to_owned()) {
        let _ = writeln!(std::io::stderr(), "some faults are not tested: {why}");
    }
}

/// Whether a program runs and says that all is well.
fn succeeds(command: &mut Command) -> bool {
    Ended::of(command).code == 0
}
