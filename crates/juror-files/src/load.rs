//! Loads files into memory.

use std::fs::File;
use std::io::{self, Read};
use std::time::SystemTime;

use juror_document::{Document, Format, Problems};

use crate::mapped::MappedText;
use crate::unpack::unpack;
use crate::watched::cut_short;

/// Why a file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be opened or read.
    #[error("{name}: cannot read: {}", reason(error))]
    Io {
        /// The file, as the user named it.
        name: String,
        /// The operating system's reason.
        error: io::Error,
    },
    /// The content is not text, or not YAML.
    #[error(transparent)]
    Text(#[from] Problems),
}

/// Describes an operating system error in plain words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => error.to_string(),
    }
}

/// Returns whether the disk failed, rather than the request being wrong: it is full, or broken.
pub fn is_disk_failure(error: &io::Error) -> bool {
    // Input/output errors (`EIO`) have no kind of their own, and those of temporary files no number. What a
    // user may have got wrong has a kind.
    const EIO: i32 = 5;
    let is_broken = cfg!(unix) && error.kind() == io::Error::from_raw_os_error(EIO).kind();
    let is_full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    is_full || is_broken
}

/// Loads a file; `-` is standard input. Files whose name ends in `.gz` or `.zst`, or that start
/// like one, are decompressed. The format follows the extension, or else the look of the text.
pub fn load(name: &str) -> Result<Document, LoadError> {
    load_as(name, None).map(|(document, _)| document)
}

/// Loads a file whose text must outlive the run.
///
/// Large files are not copied into memory at first; [`Lent::keep`] does that later. There is no
/// [`Lent`] if the document already owns its memory.
pub fn load_to_keep(name: &str) -> Result<(Document, Option<Lent>), LoadError> {
    load_as(name, None)
}

/// A document whose text is still that of a file, and would change with it.
#[derive(Debug)]
pub struct Lent {
    name: String,
    format: Format,
    file: File,
    state: State,
}

/// How many bytes are read between checks whether the document is still wanted.
const PIECE: u64 = 1 << 22;

/// What reveals that a file was changed.
#[derive(Debug, PartialEq)]
struct State {
    size: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(file: &File) -> io::Result<State> {
        let metadata = file.metadata()?;
        Ok(State { size: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl Lent {
    /// Fails if the file has been truncated since it was read, which makes any result of it
    /// worthless.
    pub fn check(&self) -> Result<(), LoadError> {
        let failed = |error| LoadError::Io { name: self.name.clone(), error };
        let is_shorter = State::of(&self.file).map_err(failed)?.size < self.state.size;
        if is_shorter { Err(failed(cut_short())) } else { Ok(()) }
    }

    /// Copies the document into memory of its own. Fails if the file was changed in the meantime,
    /// or once `is_unwanted` returns true.
    pub fn keep(self, is_unwanted: impl Fn() -> bool) -> Result<Document, LoadError> {
        let Lent { name, format, file, state } = self;
        let failed = |error| LoadError::Io { name: name.clone(), error };
        let failed_because = |why: &str| failed(io::Error::other(why.to_owned()));
        let size = usize::try_from(state.size).unwrap_or(0);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|error| failed(error.into()))?;
        while !is_unwanted() {
            let n_read = (&file).take(PIECE).read_to_end(&mut bytes).map_err(failed)?;
            if n_read > 0 {
                continue;
            }
            if State::of(&file).map_err(failed)? != state || bytes.len() != size {
                return Err(failed_because(
                    "it changed before it was read completely; evaluate it again, and access a result \
                     before changing its file",
                ));
            }
            return Ok(Document::new(&name, bytes, format)?);
        }
        Err(failed_because("it is no longer needed"))
    }
}

/// Loads a settings file, which is YAML (and so may be JSON) whatever its name. Fails if a key is
/// repeated.
pub fn load_settings(name: &str) -> Result<Document, LoadError> {
    let (document, _) = load_as(name, Some(Format::Yaml))?;
    document.refuse_repeated_keys()?;
    Ok(document)
}

/// Loads any text file; `-` is standard input.
pub fn load_text(name: &str) -> Result<String, LoadError> {
    let failed = |error| LoadError::Io { name: name.to_owned(), error };
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
        bytes
    } else {
        read(&File::open(name).map_err(failed)?).map_err(failed)?
    };
    let text = String::from_utf8(unpack(bytes).map_err(failed)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|byte| *byte == b'\n').count();
        failed(io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8")))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn load_as(name: &str, format: Option<Format>) -> Result<(Document, Option<Lent>), LoadError> {
    let failed = |error| LoadError::Io { name: name.to_owned(), error };
    let format = format.or_else(|| Format::from_name(name));
    if name == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
        return Ok((document("<stdin>", unpack(bytes).map_err(failed)?, format)?, None));
    }
    let file = File::open(name).map_err(failed)?;
    let state = State::of(&file).map_err(failed)?;
    if let Some(text) = MappedText::of(&file, name).map_err(failed)? {
        let format = format.unwrap_or_else(|| Format::from_look(text.as_ref().as_bytes()));
        let probe = text.probe();
        let document = Document::from_text(name, Box::new(text), format);
        if probe.is_torn() {
            return Err(failed(cut_short()));
        }
        let document = document?;
        // YAML has been converted to JSON, which owns its memory.
        let lent = Lent { name: name.to_owned(), format, file, state };
        return Ok((document, (format != Format::Yaml).then_some(lent)));
    }
    Ok((document(name, unpack(read(&file).map_err(failed)?).map_err(failed)?, format)?, None))
}

fn document(name: &str, bytes: Vec<u8>, format: Option<Format>) -> Result<Document, LoadError> {
    let format = format.unwrap_or_else(|| Format::from_look(&bytes));
    Ok(Document::new(name, bytes, format)?)
}

fn read(mut file: &File) -> io::Result<Vec<u8>> {
    // Allocate the right size once: growing would hold the file twice.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use crate::watched::torn_input;

    #[cfg(unix)]
    #[test]
    fn disks_fail_and_users_err() {
        let raw = io::Error::from_raw_os_error;
        let (enospc, eio, enoent, eacces) = (28, 5, 2, 13);
        for (error, is_failure) in [
            (raw(enospc), true),
            (raw(eio), true),
            (raw(enoent), false),
            (raw(eacces), false),
            // As errors of temporary files are: with a path, and without a number.
            (io::Error::new(raw(eio).kind(), "Input/output error at path x"), true),
            (io::Error::new(raw(enoent).kind(), "no such file at path x"), false),
            (io::ErrorKind::IsADirectory.into(), false),
            (io::Error::other("it is not a regular file"), false),
        ] {
            assert_eq!(is_disk_failure(&error), is_failure, "{error}");
        }
    }

    #[test]
    fn a_large_file_is_kept_unless_it_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large.jsonl");
        let name = path.to_str().expect("a name");
        let text = format!("\"{}\"\n", "é".repeat(1 << 20));
        std::fs::write(&path, &text).expect("written");
        let (document, lent) = load_to_keep(name).expect("loaded");
        let kept = lent.expect("read in place").keep(|| false).expect("kept");
        assert_eq!((document.json(), kept.json()), (text.as_str(), text.as_str()));
        let (_, lent) = load_to_keep(name).expect("loaded");
        std::fs::write(&path, text.repeat(2)).expect("written");
        let refusal = |lent: Option<Lent>, is_unwanted: bool| {
            lent.expect("read in place").keep(|| is_unwanted).err().expect("refused").to_string()
        };
        let error = refusal(lent, false);
        assert!(error.contains("it changed before it was read completely"), "{error}");
        let (_, lent) = load_to_keep(name).expect("loaded");
        let error = refusal(lent, true);
        assert!(error.ends_with("it is no longer needed"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_is_cut_short_while_it_is_read_is_told_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("large.jsonl");
        let name = path.to_str().expect("a name");
        std::fs::write(&path, "{}\n".repeat(1 << 20)).expect("written");
        let (document, lent) = load_to_keep(name).expect("loaded");
        let file = File::options().write(true).open(&path).expect("opened");
        file.set_len(10_000).expect("cut short");
        // Missing parts read as zeros, instead of ending the process.
        assert!(document.json().bytes().rev().take(1 << 20).all(|byte| byte == 0));
        let lent = lent.expect("read in place");
        let error = lent.check().expect_err("cut short").to_string();
        assert!(error.contains("large.jsonl: cannot read: it was cut short"), "{error}");
        drop(document);
        // The first torn file of the process is recorded, whichever test truncated it.
        assert!(torn_input().is_some_and(|torn| torn.ends_with("large.jsonl")));
    }

    #[test]
    fn what_stands_in_memory_already_is_not_kept_again() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in
            [("small.json", "{}".to_owned()), ("large.yaml", "- a\n".repeat(1 << 19))]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            let (_, lent) = load_to_keep(path.to_str().expect("a name")).expect("loaded");
            assert!(lent.is_none(), "{name}");
        }
    }
}
