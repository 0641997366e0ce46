//! Finding tool files in a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use juror_toolbench::Folders;

/// How many folders deep files are looked for: categories, tools, and what is around them.
const DEEPEST: usize = 5;

/// A file that may hold tools.
pub(super) struct ToolFile {
    pub(super) path: PathBuf,
    /// Its path inside the folder, as messages have it.
    pub(super) name: String,
    pub(super) folders: Folders,
}

/// What a folder holds, and what of it cannot be looked into.
#[derive(Default)]
pub(super) struct ToolFiles {
    pub(super) files: Vec<ToolFile>,
    pub(super) unreadable: Vec<(String, io::Error)>,
}

/// Lists the JSON files of a folder and of the folders in it, in the order of their paths.
///
/// Hidden ones are passed over. Links to folders are not followed, so that none is met twice.
pub(super) fn list(root: &Path) -> io::Result<ToolFiles> {
    let mut listed = ToolFiles::default();
    let top = Place { path: root.to_owned(), name: String::new(), folders: Folders::default() };
    let entries = fs::read_dir(root)?;
    listed.enter(&top, entries, DEEPEST);
    listed.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(listed)
}

struct Place {
    path: PathBuf,
    name: String,
    /// Of a file that lies in it.
    folders: Folders,
}

impl ToolFiles {
    fn enter(&mut self, place: &Place, entries: fs::ReadDir, depth: usize) {
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) => self.meet(place, &entry, kind, depth),
                Err(error) => self.unreadable.push((place.name.clone(), error)),
            }
        }
    }

    fn meet(&mut self, place: &Place, entry: &fs::DirEntry, kind: fs::FileType, depth: usize) {
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
                    Place { path, name, folders: inside(&place.folders, &base) },
                    depth - 1,
                );
            }
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            self.files.push(ToolFile { path, name, folders: place.folders.clone() });
        }
    }

    fn descend(&mut self, place: Place, depth: usize) {
        match fs::read_dir(&place.path) {
            Ok(entries) => self.enter(&place, entries, depth),
            Err(error) => self.unreadable.push((place.name, error)),
        }
    }
}

/// The folders around what lies in a folder. `tools` is what the folder of all categories is
/// called; it is none.
fn inside(around: &Folders, name: &str) -> Folders {
    let parent = (!matches!(name, "tools" | "toolenv")).then(|| Arc::from(name));
    Folders { parent, grandparent: around.parent.clone() }
}
