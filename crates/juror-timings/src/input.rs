//! Reads files as documents.

use anyhow::Context;
use juror_document::{Document, Format};

/// Reads the bytes of a file.
pub(crate) fn read(path: &str) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("`{path}` cannot be read"))
}

/// Opens a file in the format of its extension.
pub(crate) fn open(path: &str) -> anyhow::Result<Document> {
    let format = Format::from_name(path)
        .with_context(|| format!("the name `{path}` does not tell its format"))?;
    Ok(Document::new(path, read(path)?, format)?)
}
