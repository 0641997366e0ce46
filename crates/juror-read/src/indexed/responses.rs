//! Responses that are read again when they are needed.

use std::borrow::Cow;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use juror_document::{Document, Problems, Quoted, lines_of, problem_in, read_in_order};
use juror_json::{self as json, Object};
use juror_score::Trajectory;

use crate::responses::{
    Deferred, Kept, RepeatedIds, ResponseReader, ResponseRecord, Responses, failed_trajectory,
    read_record,
};

/// A line, and its record or why it cannot be read.
type ReadLine<'a> = (&'a str, Result<ResponseRecord<'a>, serde_json::Error>);

/// Reads all responses of a file of lines, and keeps only where they are.
pub(super) fn read(
    document: &Document,
    repeated_ids: RepeatedIds,
    n_threads: usize,
) -> Result<Responses<'_, Deferred>, Problems> {
    let mut reader = ResponseReader::new(document, repeated_ids);
    let read_part =
        |part| lines_of(part).map(|line| (line, read_record(line))).collect::<Vec<ReadLine<'_>>>();
    read_in_order(document.json(), n_threads, read_part, |part| {
        for (line, record) in part {
            reader.take_line(line, record);
        }
        ControlFlow::Continue(())
    });
    reader.finish()
}

impl Responses<'_, Deferred> {
    /// Reads a response to the question of an id: that of a further trial, or else the first. Returns
    /// `None` if the file has changed since it was read first.
    pub(super) fn read<'r>(
        &'r self,
        id: &str,
        trial: Option<NonZero<u32>>,
        room: &'r OnceLock<String>,
    ) -> Option<Trajectory<'r>> {
        let Some((line, kept)) = self.kept_of(id, trial) else {
            return Some(Trajectory::default());
        };
        let (own_id, trajectory) = read_again(line, room)?;
        (own_id == id).then(|| Trajectory { trial: kept.trial(), ..trajectory })
    }
}

/// Reads a line again, as it was read first. Returns `None` if it has no id.
pub(super) fn read_again<'r>(
    line: &'r str,
    room: &'r OnceLock<String>,
) -> Option<(Cow<'r, str>, Trajectory<'r>)> {
    let unread = match read_record(line) {
        Ok(record) => return Some((record.id?, record.trajectory)),
        Err(unread) => unread,
    };
    let (text, unread) = match Quoted::of(line, true) {
        None => (line, unread),
        Some(quoted) => {
            let text = room.get_or_init(|| quoted.text);
            match read_record(text) {
                Ok(record) => return Some((record.id?, record.trajectory)),
                Err(unread) => (text.as_str(), unread),
            }
        }
    };
    let fields: Object<'r> = serde_json::from_str(text).ok()?;
    let id = json::scalar_text(fields.get("question_id")?)?;
    Some((id, failed_trajectory(&problem_in(text, &unread).1)))
}
