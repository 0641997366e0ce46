//! Environment variables, with those of a `.env` file as a fallback.

use std::collections::HashMap;
use std::io::Read;

use juror_document::{Variables, read_variables};

/// The file of variables in the working directory.
const FILE: &str = ".env";

/// The maximum size of the file of variables, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// The environment of the process, and the `.env` file in its working directory. Values carry their
/// origin, because whoever can write a file into a folder need not be who set the variables of the
/// process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    has_process: bool,
    file: HashMap<String, String>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Settings or options.
    Settings,
    /// The environment of the process.
    Process,
    /// The `.env` file.
    File,
}

/// A value with its name and origin.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) value: String,
    pub(crate) name: String,
    pub(crate) origin: Origin,
}

impl Environment {
    /// Reads `.env`, if it exists; reports and skips whatever cannot be read.
    pub fn read(tell: impl Fn(&str)) -> Environment {
        let variables = match file_text() {
            Ok(text) => read_variables(&text),
            Err(problem) => {
                tell(&problem);
                Variables::default()
            }
        };
        for line in variables.unread {
            // Do not repeat the line: it may hold a key.
            tell(&format!(
                "{FILE}:{line}: this line cannot be read and is ignored\n  hint: lines are NAME=value, values with blanks in quotes; $NAME means a line above it, or write '$' in single quotes"
            ));
        }
        Environment { has_process: true, file: variables.values }
    }

    /// Returns an empty environment.
    pub fn nothing() -> Environment {
        Environment::default()
    }

    /// Returns the value of a variable, if it is set.
    pub fn get(&self, name: &str) -> Option<String> {
        self.first_of(&[name]).map(|found| found.value)
    }

    /// Returns the first of these variables that is set, in the process or else in the file.
    pub(crate) fn first_of(&self, names: &[&str]) -> Option<Found> {
        self.in_process(names).or_else(|| self.in_file(names))
    }

    pub(crate) fn in_process(&self, names: &[&str]) -> Option<Found> {
        let of = |name: &str| std::env::var(name).ok().filter(|_| self.has_process);
        find(names, Origin::Process, of)
    }

    pub(crate) fn in_file(&self, names: &[&str]) -> Option<Found> {
        find(names, Origin::File, |name| self.file.get(name).cloned())
    }
}

fn find(
    names: &[&str],
    origin: Origin,
    value_of: impl Fn(&str) -> Option<String>,
) -> Option<Found> {
    let is_set = |value: &String| !value.trim().is_empty();
    let found = |name: &&str| {
        let value = value_of(name).filter(is_set)?;
        Some(Found { value, name: (*name).to_owned(), origin })
    };
    names.iter().find_map(found)
}

/// Reads `.env`; returns an empty text if there is none.
fn file_text() -> Result<String, String> {
    let unread = |why: &str| format!("{FILE}: {why}; it is ignored");
    // Reading from a pipe would block.
    if !std::fs::metadata(FILE).is_ok_and(|about| about.is_file()) {
        return Ok(String::new());
    }
    let file = std::fs::File::open(FILE);
    let mut bytes = Vec::new();
    file.and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| unread(&format!("cannot read: {}", juror_files::reason(&error))))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(unread(&format!("larger than {LARGEST_FILE} bytes")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
