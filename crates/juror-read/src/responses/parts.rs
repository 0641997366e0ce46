//! Reading a large file of responses on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use juror_document::{Document, Path, Problems, lines_of};

use super::reader::ResponseReader;
use super::record::{ResponseRecord, read_record};
use super::{RepeatedIds, Responses};

/// A large file of responses in parts, which several threads can read.
///
/// Threads take parts from a shared counter until none is left. The thread that finishes the last
/// part puts all of them together, in the order of the file, so the result does not depend on which
/// thread read what.
pub(crate) struct ResponseParts<'a> {
    document: &'a Document,
    repeated_ids: RepeatedIds,
    texts: Vec<&'a str>,
    /// The index of the first part that no thread has taken.
    next: AtomicUsize,
    records: Mutex<Vec<PartRecords<'a>>>,
    /// Set by the thread that finishes the last part.
    responses: OnceLock<Result<Responses<'a>, Problems>>,
}

/// The index of a part, and its lines.
type PartRecords<'a> = (usize, Vec<(&'a str, Option<Box<ReadRecord<'a>>>)>);

/// A record, or why it cannot be read.
type ReadRecord<'a> = Result<ResponseRecord<'a>, serde_json::Error>;

/// Shorter lines are read when all parts are put together: they take little time then, and a record
/// takes far more memory than such a line.
const SHORT_LINE: usize = 256;

fn read_long(line: &str) -> Option<Box<ReadRecord<'_>>> {
    (line.len() >= SHORT_LINE).then(|| Box::new(read_record(line)))
}

impl<'a> ResponseParts<'a> {
    /// Splits a document. Returns `None` if it is small or not a file of lines.
    pub(crate) fn of(
        document: &'a Document,
        repeated_ids: RepeatedIds,
    ) -> Option<ResponseParts<'a>> {
        let texts = document.is_lines().then(|| parts_of(document.json()))?;
        (texts.len() > 1).then(|| ResponseParts {
            document,
            repeated_ids,
            texts,
            next: AtomicUsize::new(0),
            records: Mutex::default(),
            responses: OnceLock::new(),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Reads parts until all are taken.
    pub(crate) fn read(&self) {
        while let index = self.next.fetch_add(1, Ordering::Relaxed)
            && let Some(part) = self.texts.get(index)
        {
            // Allocate once, and no more than needed: fresh memory is expensive.
            let mut records = Vec::with_capacity(about_lines(part));
            records.extend(lines_of(part).map(|line| (line, read_long(line))));
            // A thread that panicked has pushed nothing, and its panic resumes when it is joined.
            let mut all = self.records.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((index, records));
            if all.len() == self.texts.len() {
                self.responses.get_or_init(|| self.put_together(std::mem::take(&mut *all)));
            }
        }
    }

    /// Returns the responses. All parts must have been read.
    pub(crate) fn into_responses(self) -> Result<Responses<'a>, Problems> {
        self.responses.into_inner().expect("all parts were read")
    }

    fn put_together(&self, mut parts: Vec<PartRecords<'a>>) -> Result<Responses<'a>, Problems> {
        let mut reader = ResponseReader::new(self.document, self.repeated_ids);
        parts.sort_unstable_by_key(|(index, _)| *index);
        let n_long = parts.iter().flat_map(|(_, records)| records).filter(|own| own.1.is_some());
        reader.responses.by_question.reserve(n_long.count());
        for (line, record) in parts.into_iter().flat_map(|(_, records)| records) {
            let record = record.map_or_else(|| read_record(line), |record| *record);
            reader.take(line, record, None, &Path::default());
        }
        reader.finish()
    }
}

/// Estimates the number of records from the length of the first lines, rather too many than too few.
/// Returns 0 if there are few lines.
pub(super) fn about_lines(text: &str) -> usize {
    const SAMPLE: usize = 64;
    const MOST: usize = 1 << 16;
    // Shorter lines are hardly records, each of which takes far more memory.
    const SHORTEST: usize = 32;
    let Some(line) = lines_of(text).nth(SAMPLE) else { return 0 };
    let length = ((line.as_ptr() as usize - text.as_ptr() as usize) / SAMPLE).max(SHORTEST);
    let n_lines = text.len() / length;
    (n_lines + n_lines / 8).min(MOST)
}

/// Splits a large text into at most nine parts at line ends. A small text is one part.
pub(super) fn parts_of(text: &str) -> Vec<&str> {
    const LARGE: usize = 8 << 20;
    const MOST: usize = 8;
    let least = if text.len() < LARGE { text.len() } else { text.len() / MOST };
    juror_document::parts_of(text, least)
}
