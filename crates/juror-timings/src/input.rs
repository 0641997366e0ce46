//! Files as documents.

use anyhow::Context;
use juror_document::{Document, Format};

/// The bytes of a file.
pub(crate) fn read(path: &str) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("`{path}` cannot be read"))
}

/// A file, in the format its name stands for.
pub(crate) fn open(path: &str) -> anyhow::Result<Document> {
    let format = Format::from_name(path)
        .with_context(|| format!("the name `{path}` does not tell its format"))?;
    Ok(Document::new(path, read(path)?, format)?)
}
