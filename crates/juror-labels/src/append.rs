//! Adds labels to a file that others may be adding to.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::LabelLine;

/// Adds a line to a file, and returns when it is on disk. The file is locked meanwhile, so that
/// lines of several people never mix. A line that a crash cut off stays a line of its own.
pub fn append_label(path: &Path, line: &LabelLine<'_>) -> io::Result<()> {
    let is_new = !path.exists();
    let mut file = File::options().read(true).append(true).create(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    file.lock()?;
    let mut text = line.text() + "\n";
    if !ends_with_a_line(&mut file)? {
        text.insert(0, '\n');
    }
    let length = file.metadata()?.len();
    if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        // Whoever is told that a label is not kept finds no part of it either.
        let _ = file.set_len(length);
        return Err(error);
    }
    if is_new {
        sync_folder(path);
    }
    Ok(())
}

fn ends_with_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Makes the name of a new file survive a power cut. Where folders cannot be opened, the system
/// takes care of that.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JudgedAnswer, LabelLine};
    use juror_compare::{Kind, Sample};

    #[test]
    fn lines_of_several_writers_are_all_kept_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("labels.jsonl");
        std::fs::write(&path, "{\"id\": \"torn").expect("written");
        let write = |writer: usize| {
            for at in 0..25 {
                let id = format!("{writer}-{at}");
                let mut answer = JudgedAnswer::default();
                answer.id = id;
                let line = LabelLine::of(&answer, Kind::Eval, "m", Sample::Random);
                append_label(&path, &line).expect("written");
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|writer| drop(scope.spawn(move || write(writer))));
        });
        let text = std::fs::read_to_string(&path).expect("labels");
        let whole = |line: &&str| serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert_eq!((text.lines().count(), text.lines().filter(whole).count()), (101, 100));
        assert!(text.starts_with("{\"id\": \"torn\n"));
    }
}
