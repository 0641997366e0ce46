//! Environment variables, with those of a `.env` file behind them.

use std::collections::HashMap;
use std::io::Read;

use crate::dotenv;

/// The file of variables in the folder that a process runs in.
const FILE: &str = ".env";

/// The largest file of variables that is read, in bytes.
const LARGEST_FILE: u64 = 1024 * 1024;

/// The environment of the process, and the `.env` file of the folder it runs in. Values know where
/// they stand: who can write a file into a folder need not be who set the variables of a process.
#[derive(Debug, Default)]
pub struct Environment {
    has_process: bool,
    file: HashMap<String, String>,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In settings or options.
    Settings,
    /// In the environment of the process.
    Process,
    /// In `.env`.
    File,
}

/// A value, what it is called there, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) value: String,
    pub(crate) name: String,
    pub(crate) origin: Origin,
}

impl Environment {
    /// Reads `.env`, if there is one; what cannot be read of it is told and passed over.
    pub fn read(tell: impl Fn(&str)) -> Environment {
        let variables = match file_text() {
            Ok(text) => dotenv::read(&text),
            Err(problem) => {
                tell(&problem);
                dotenv::Variables::default()
            }
        };
        for line in variables.unread {
            // The line may hold a key, so it is not repeated.
            tell(&format!(
                "{FILE}:{line}: this line cannot be read and is passed over\n  hint: lines are NAME=value, values with blanks in quotes; $NAME means a line above it, or write '$' in single quotes"
            ));
        }
        Environment { has_process: true, file: variables.values }
    }

    /// An environment with nothing in it.
    pub fn nothing() -> Environment {
        Environment::default()
    }

    /// The value of a variable that is set.
    pub fn get(&self, name: &str) -> Option<String> {
        self.first_of(&[name]).map(|found| found.value)
    }

    /// The first of some variables that is set: in the process, else in the file.
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

/// What stands in `.env`; nothing where there is none.
fn file_text() -> Result<String, String> {
    let unread = |why: &str| format!("{FILE}: {why}; it is passed over");
    // A pipe would be waited for.
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
