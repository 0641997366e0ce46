//! A folder, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use juror_testing::{Ended, Serving, project};
use serde_json::Value;

/// A folder that stays after the tests, so that its reports can be looked at.
pub(crate) struct Stage(PathBuf);

impl Stage {
    /// An empty folder of this name.
    pub(crate) fn new(name: &str) -> Stage {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports").join(name);
        // There is none at first.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        Stage(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The lines of a file, as JSON.
    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        self.read(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Writes values as lines.
    pub(crate) fn write_lines(&self, name: &str, values: &[Value]) {
        let lines: Vec<String> = values.iter().map(|value| format!("{value}\n")).collect();
        self.write(name, &lines.concat());
    }

    /// Runs the program, which must succeed. Words with `examples/` are paths in the project.
    pub(crate) fn juror(&self, line: &str) -> String {
        self.juror_with(line, &[])
    }

    /// The same with variables.
    pub(crate) fn juror_with(&self, line: &str, variables: &[(&str, &str)]) -> String {
        self.run(line, &[], variables)
    }

    /// The same with more words, which may have spaces.
    pub(crate) fn juror_on(&self, line: &str, words: &[&str]) -> String {
        self.run(line, words, &[])
    }

    /// Starts a server of the program.
    pub(crate) fn serve(&self, line: &str) -> Serving {
        Serving::start(&mut self.command(line))
    }

    fn run(&self, line: &str, words: &[&str], variables: &[(&str, &str)]) -> String {
        let ended = Ended::of(self.command(line).args(words).envs(variables.iter().copied()));
        assert_eq!(ended.code, 0, "juror {line}\n{ended}");
        ended.stderr
    }

    fn command(&self, line: &str) -> Command {
        let word = |word: &str| match word.strip_prefix("examples/") {
            Some(_) => project(word).display().to_string(),
            None => word.to_owned(),
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror-browser"));
        command
            .args(line.split_whitespace().map(word))
            .current_dir(&self.0)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default());
        command
    }
}
