//! Programs that tests run: to their end, or as servers.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ended {
    /// Runs a program to its end, without input.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started.
    pub fn of(command: &mut Command) -> Ended {
        let output = command.stdin(Stdio::null()).output().expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// A server that runs until this value is dropped.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    /// Where it listens, as `host:port`.
    pub address: String,
}

impl Serving {
    /// Starts a program that prints its address, as `http://host:port`, once it listens.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started, or prints something else.
    pub fn start(command: &mut Command) -> Serving {
        Serving::try_start(command).unwrap_or_else(|code| panic!("it ended early: exit {code}"))
    }

    /// Starts a program in the same way; returns its exit code if it ends before it listens.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started, or prints something else.
    pub fn try_start(command: &mut Command) -> Result<Serving, i32> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        if line.is_empty() {
            return Err(child.wait().expect("ended").code().unwrap_or(-1));
        }
        let address = line.trim().strip_prefix("http://").map(str::to_owned);
        let address = address.unwrap_or_else(|| panic!("`{line}` is no address"));
        Ok(Serving { child, address })
    }

    /// Where it listens, with `http://`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, waits until it has, and returns its exit code.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be asked.
    pub fn stop(mut self) -> i32 {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().expect("a signal");
        self.child.wait().expect("ended").code().unwrap_or(-1)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself, which the test that uses it tells.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
