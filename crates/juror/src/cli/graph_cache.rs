//! Answers of graphs, kept in a folder: a file for each version of a graph.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use juror_files::{WholeFile, keep_newest, read_plain_text, reason};
use juror_graph::GraphVersion;
use juror_reference::KnownAnswers;

use crate::output;

/// Where answers are kept.
pub(super) const FOLDER: &str = ".juror/graph";

/// How many versions of graphs are kept; those written last stay.
const MOST_VERSIONS: usize = 16;

/// Reads what is known of a version of a graph; `None` if that is nothing.
pub(super) fn read(version: GraphVersion, quiet: bool) -> Option<KnownAnswers> {
    let path = path_of(&version.to_hex());
    let text = match read_plain_text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        text => text.map_err(|error| reason(&error)),
    };
    let known = text.and_then(|text| {
        KnownAnswers::read(&text, version).map_err(|not_known| not_known.to_string())
    });
    if let (Err(why), false) = (&known, quiet) {
        output::warn(&format!(
            "{}: kept answers cannot be used: {why}; the graph is asked again",
            path.display()
        ));
    }
    known.ok()
}

/// Writes what is known, and forgets the versions of graphs that were written longest ago. Work does not
/// fail if that does.
pub(super) fn write(known: &KnownAnswers, quiet: bool) {
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(FOLDER)?;
        let mut file = WholeFile::begin(&path_of(known.version()))?;
        file.write_all(known.write().as_bytes())?;
        file.finish()?;
        keep_newest(Path::new(FOLDER), MOST_VERSIONS, is_ours)
    };
    if let (Err(error), false) = (write(), quiet) {
        output::warn(&format!("{FOLDER}: answers cannot be kept: {}", reason(&error)));
    }
}

fn path_of(version: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{version}.jsonl"))
}

fn is_ours(name: &str) -> bool {
    let version = name.strip_suffix(".jsonl");
    version.is_some_and(|own| own.len() == 64 && own.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
