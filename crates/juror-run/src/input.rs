//! Bringing files into memory.

use std::fs::File;
use std::io::{self, Read};

use juror_score::read::{Document, Format, Problems};

use crate::mapped::MappedText;

/// Why a file could not be brought into memory.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It could not be opened or read.
    #[error("{name}: cannot read: {}", reason(error))]
    Io {
        /// The file, as the user named it.
        name: String,
        /// The system's reason.
        error: io::Error,
    },
    /// It is not text, or not YAML.
    #[error(transparent)]
    Text(#[from] Problems),
}

/// A system's reason in plain words.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => error.to_string(),
    }
}

/// Loads a file; `-` is standard input. What ends in `.gz` or `.zst`, or begins like it, is
/// decompressed; the format follows the ending, else the look of the text.
pub fn load(name: &str) -> Result<Document, LoadError> {
    load_as(name, None)
}

/// Loads a settings file, which is YAML (and so may be JSON) whatever its name.
pub fn load_settings(name: &str) -> Result<Document, LoadError> {
    load_as(name, Some(Format::Yaml))
}

/// Loads a text of any kind; `-` is standard input.
pub fn load_text(name: &str) -> Result<String, LoadError> {
    let failed = |error| LoadError::Io { name: name.to_owned(), error };
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
        bytes
    } else {
        read(File::open(name).map_err(failed)?).map_err(failed)?
    };
    let text = String::from_utf8(decompress(bytes).map_err(failed)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|byte| *byte == b'\n').count();
        failed(io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8")))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn load_as(name: &str, format: Option<Format>) -> Result<Document, LoadError> {
    let failed = |error| LoadError::Io { name: name.to_owned(), error };
    let format = format.or_else(|| Format::from_name(name));
    if name == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
        return document("<stdin>", decompress(bytes).map_err(failed)?, format);
    }
    let file = File::open(name).map_err(failed)?;
    if let Some(text) = MappedText::of(&file) {
        let format = format.unwrap_or_else(|| Format::from_look(text.as_ref().as_bytes()));
        return Ok(Document::from_text(name, Box::new(text), format)?);
    }
    document(name, decompress(read(file).map_err(failed)?).map_err(failed)?, format)
}

fn document(name: &str, bytes: Vec<u8>, format: Option<Format>) -> Result<Document, LoadError> {
    let format = format.unwrap_or_else(|| Format::from_look(&bytes));
    Ok(Document::new(name, bytes, format)?)
}

fn read(mut file: File) -> io::Result<Vec<u8>> {
    // One allocation of the right size: growing would hold the file twice.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn decompress(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => {
            flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut plain)?;
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            zstd::stream::read::Decoder::new(bytes.as_slice())?.read_to_end(&mut plain)?;
        }
        _ => return Ok(bytes),
    }
    Ok(plain)
}
