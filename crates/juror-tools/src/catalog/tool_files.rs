//! Finds tool files in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use juror_toolbench::Folders;

/// How deep to look for files: categories, tools, and some folders around them.
const DEEPEST: usize = 5;

/// A file that may hold tools.
pub(super) struct ToolFile {
    pub(super) path: PathBuf,
    /// Its path relative to the root, for messages.
    pub(super) name: String,
    pub(super) folders: Folders,
}

/// The files of a folder, and the paths that could not be read.
#[derive(Default)]
pub(super) struct ToolFiles {
    pub(super) files: Vec<ToolFile>,
    pub(super) unreadable: Vec<(String, io::Error)>,
}

/// Lists all JSON files below a folder, in the order of their paths.
///
/// Skips hidden files and folders. Does not follow links to folders, so that each folder is visited
/// once.
pub(super) fn list(root: &Path) -> io::Result<ToolFiles> {
    let mut listed = ToolFiles::default();
    let top = Folder { path: root.to_owned(), name: String::new(), folders: Folders::default() };
    let entries = fs::read_dir(root)?;
    listed.enter(&top, entries, DEEPEST);
    listed.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listed)
}

struct Folder {
    path: PathBuf,
    name: String,
    /// The folders around the files in this one.
    folders: Folders,
}

impl ToolFiles {
    fn enter(&mut self, place: &Folder, entries: fs::ReadDir, depth: usize) {
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) => self.meet(place, &entry, kind, depth),
                Err(error) => self.unreadable.push((place.name.clone(), error)),
            }
        }
    }

    fn meet(&mut self, place: &Folder, entry: &fs::DirEntry, kind: fs::FileType, depth: usize) {
        let base = entry.file_name().to_string_lossy().into_owned();
        if base.starts_with('.') {
            return;
        }
        let name =
            if place.name.is_empty() { base.clone() } else { format!("{}/{base}", place.name) };
        let path = entry.path();
        if kind.is_dir() {
            if depth > 0 {
                self.descend(
                    Folder { path, name, folders: inside(&place.folders, &base) },
                    depth - 1,
                );
            }
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            self.files.push(ToolFile { path, name, folders: place.folders.clone() });
        }
    }

    fn descend(&mut self, place: Folder, depth: usize) {
        match fs::read_dir(&place.path) {
            Ok(entries) => self.enter(&place, entries, depth),
            Err(error) => self.unreadable.push((place.name, error)),
        }
    }
}

/// Returns the folders around the content of a folder. `tools` and `toolenv` are the usual names of
/// the root of all categories, and not categories.
fn inside(around: &Folders, name: &str) -> Folders {
    let parent = (!matches!(name, "tools" | "toolenv")).then(|| Arc::from(name));
    Folders { parent, grandparent: around.parent.clone() }
}
