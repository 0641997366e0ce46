//! Reads the numbers of all shards of an evaluation, and takes them together.

use std::io;

use juror_files::reason;
use juror_partial::{MergeError, Partial, Unreadable};

/// Why files cannot be taken together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartialsError {
    /// A file cannot be read.
    #[error("{name}: cannot read: {}", reason(error))]
    Io {
        /// The file.
        name: String,
        /// The operating system's reason.
        error: io::Error,
    },
    /// A file is no partial that can be used.
    #[error("{name}: {error}\n  hint: write it anew with juror eval --partial")]
    Unreadable {
        /// The file.
        name: String,
        /// What is wrong with it.
        error: Unreadable,
    },
    /// A file does not belong to those before it.
    #[error("{name}: {error}\n  hint: {}", hint(error))]
    Stranger {
        /// The file.
        name: String,
        /// Why not.
        error: MergeError,
    },
    /// Shards are missing.
    #[error("{}\n  hint: merge when all shards are evaluated", missing(shards, *of))]
    Missing {
        /// Which.
        shards: Vec<u32>,
        /// Of how many.
        of: u32,
    },
    /// There are no files.
    #[error("there is nothing to merge")]
    Nothing,
}

impl PartialsError {
    /// Returns whether something external failed, as opposed to the request being wrong.
    pub fn is_outside(&self) -> bool {
        matches!(self, PartialsError::Io { error, .. } if error.kind() != io::ErrorKind::NotFound)
    }
}

fn hint(error: &MergeError) -> &'static str {
    match error {
        MergeError::Twice { .. } => "name every shard once",
        _ => "all shards need the same reference, responses, settings and release of juror",
    }
}

/// Says which of so many shards are missing.
pub fn missing(shards: &[u32], of: u32) -> String {
    const MOST_NAMED: usize = 10;
    let named: Vec<String> = shards.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = shards.len().saturating_sub(MOST_NAMED);
    match named.split_last() {
        Some((last, [])) => format!("shard {last} of {of} is missing"),
        Some((last, others)) if more == 0 => {
            format!("shards {} and {last} of {of} are missing", others.join(", "))
        }
        _ => format!("shards {} and {more} more of {of} are missing", named.join(", ")),
    }
}

/// Reads all shards of an evaluation and takes them together. Files that do not say which shard they
/// are, such as those of an engine's batches, are taken together as they are.
pub fn merge_partials(names: &[String]) -> Result<Partial, PartialsError> {
    let mut merged: Option<Partial> = None;
    for name in names {
        let own = read_partial(name)?;
        match &mut merged {
            None => merged = Some(own),
            Some(merged) => merged
                .merge(&own)
                .map_err(|error| PartialsError::Stranger { name: name.clone(), error })?,
        }
    }
    let merged = merged.ok_or(PartialsError::Nothing)?;
    if let Some(origin) = merged.origin() {
        let (shards, of) = (origin.missing(), origin.of());
        if !shards.is_empty() {
            return Err(PartialsError::Missing { shards, of });
        }
    }
    Ok(merged)
}

fn read_partial(name: &str) -> Result<Partial, PartialsError> {
    let bytes =
        std::fs::read(name).map_err(|error| PartialsError::Io { name: name.to_owned(), error })?;
    Partial::from_bytes(&bytes)
        .map_err(|error| PartialsError::Unreadable { name: name.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_named_up_to_ten() {
        assert_eq!(missing(&[4], 10), "shard 4 of 10 is missing");
        assert_eq!(missing(&[4, 7, 9], 10), "shards 4, 7 and 9 of 10 are missing");
        let all: Vec<u32> = (1..=12).collect();
        let told = missing(&all, 20);
        assert!(told.ends_with("9, 10 and 2 more of 20 are missing"), "{told}");
    }
}
