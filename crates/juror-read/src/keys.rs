//! Unknown keys, and values that statistics cannot use: each is reported once, with its first place
//! and the number of occurrences.

use juror_document::{NotNumber, Offsets, Path, Problem, Problems, UnplacedProblem, nearest_key};
use juror_json::{self as json, Object};
use juror_score::{question_metric, split_key};
use serde_json::value::RawValue;

/// The kind of object that a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Template,
    Question,
    ExpectedStep,
    Response,
    Step,
}

impl Of {
    fn name(self) -> &'static str {
        match self {
            Of::Template => "template",
            Of::Question => "question",
            Of::ExpectedStep => "expected step",
            Of::Response => "response",
            Of::Step => "step",
        }
    }

    /// The known keys.
    fn known(self) -> &'static [&'static str] {
        match self {
            Of::Template => &["template_id", "questions"],
            Of::Question => &["id", "question_text", "reference_answer", "reference_steps"],
            Of::ExpectedStep => &[
                "name",
                "args",
                "output",
                "output_media_type",
                "required_columns",
                "ordered",
                "ignore_duplicates",
                "match",
            ],
            Of::Response => &[
                "question_id",
                "trial",
                "status",
                "error",
                "actual_answer",
                "actual_steps",
                "input_tokens",
                "output_tokens",
                "total_tokens",
                "elapsed_sec",
                "trace_id",
                "span_id",
            ],
            Of::Step => &["name", "id", "args", "status", "output", "error", "output_media_type"],
        }
    }

    /// Returns the known key that people mean by another word.
    fn meant_by(self, key: &str) -> Option<&'static str> {
        let meant = match (self, key) {
            (Of::Question, "question" | "text" | "query") => "question_text",
            (Of::Question, "answer" | "expected_answer" | "actual_answer") => "reference_answer",
            (Of::Question, "steps" | "expected_steps" | "actual_steps") => "reference_steps",
            (Of::Question, "question_id") => "id",
            (Of::Response, "answer" | "response" | "final_answer" | "reference_answer") => {
                "actual_answer"
            }
            (Of::Response, "steps" | "reference_steps") => "actual_steps",
            (Of::Response, "prompt_tokens") => "input_tokens",
            (Of::Response, "completion_tokens") => "output_tokens",
            (Of::Response, "elapsed" | "elapsed_seconds" | "duration") => "elapsed_sec",
            (Of::ExpectedStep | Of::Step, "arguments" | "input" | "parameters") => "args",
            (Of::ExpectedStep | Of::Step, "result" | "response") => "output",
            (Of::ExpectedStep | Of::Step, "tool" | "tool_name") => "name",
            (Of::ExpectedStep | Of::Step, "media_type" | "mime_type") => "output_media_type",
            (Of::ExpectedStep, "columns") => "required_columns",
            _ => return None,
        };
        Some(meant)
    }

    /// Returns the known key that was probably meant.
    fn near(self, key: &str) -> Option<&'static str> {
        self.meant_by(key).or_else(|| nearest_key(key, self.known()))
    }

    /// Whether a key is legitimate though no score depends on it. Results can be read again as
    /// references and as responses, and have such keys.
    fn belongs(self, key: &str) -> bool {
        let of_results = [
            "template_id",
            "question_text",
            "reference_answer",
            "reference_steps",
            "question_id",
            "judged_by",
            "trace_id",
            "usd",
            "answer_reference_claims_count",
            "answer_actual_claims_count",
            "answer_matching_claims_count",
        ];
        match self {
            Of::Template => false,
            Of::Question => {
                matches!(key, "template_id" | "status" | "error" | "actual_answer" | "actual_steps")
                    || is_of_result(key)
            }
            Of::Response => of_results.contains(&key) || is_of_result(key),
            Of::ExpectedStep | Of::Step => is_step_key(key.as_bytes()) || is_of_result(key),
        }
    }
}

/// Returns the keys of an object that were probably meant for known keys which it lacks.
pub(super) fn misspelt(
    of: Of,
    fields: &Object<'_>,
) -> impl Iterator<Item = (String, &'static str)> {
    fields.iter().filter_map(move |(key, _)| {
        let is_known = of.known().contains(&&*key);
        let near = of.near(&key).filter(|near| !is_known && fields.get(near).is_none());
        near.map(|near| (key.into_owned(), near))
    })
}

/// Whether a key belongs to a metric.
fn is_of_result(key: &str) -> bool {
    split_key(key).1.is_some() || question_metric(key).is_some()
}

/// Whether a key of a step, expected or taken, is known. A fast check, since there are many steps
/// and most have only known keys.
fn is_step_key(key: &[u8]) -> bool {
    matches!(
        key,
        b"name"
            | b"args"
            | b"output"
            | b"status"
            | b"id"
            | b"output_media_type"
            | b"required_columns"
            | b"ordered"
            | b"ignore_duplicates"
            | b"error"
            | b"execution_timestamp"
            | b"matches"
            | b"missed"
            | b"moved"
            | b"match"
            // What imported traces say beside.
            | b"args_raw"
            | b"output_raw"
            | b"output_truncated"
            | b"kind"
            | b"call_status"
            | b"server"
            | b"agent"
            | b"parent_id"
            | b"started_at"
            | b"ended_at"
            | b"source"
    )
}

/// Returns the first unknown keys of a step, borrowed from the text; no more than a file reports.
pub(super) fn unknown_keys<'a>(step: &Object<'a>) -> impl Iterator<Item = &'a str> {
    let inside = |key: &'a RawValue| &key.get()[1..key.get().len() - 1];
    let keys = step.iter_raw().map(move |(key, _)| inside(key));
    keys.filter(|key| {
        let is_escaped = || memchr::memchr(b'\\', key.as_bytes()).is_some();
        let is_known = |key: &str| is_step_key(key.as_bytes());
        !(is_known(key) || is_escaped() && is_known(&json::unescape(key)))
    })
    .take(Problems::MOST)
}

/// Something a reader ignores, with all its occurrences.
#[derive(Debug)]
struct Oddity {
    of: Of,
    /// The unknown key, or the key of the value.
    key: Box<str>,
    what: What,
    n: usize,
    /// The offset of the first occurrence.
    offset: usize,
    /// An amount below 0, as it is written; empty for anything else.
    amount: Box<str>,
    path: Path,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// An unknown key, and the missing key that was probably meant.
    Misspelt(&'static str),
    /// An unknown key.
    Unknown,
    /// A key that is legitimate in any record.
    Fine,
    /// A value that is not a number.
    NoNumber(NotNumber),
    /// An amount below 0.
    Negative,
    /// An unknown status of a step; the key is the status.
    NoStatus,
    /// A `trial` that is not a whole number from 1 on.
    NoTrial,
}

/// What readers ignored in a file, each once.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    all: Vec<Oddity>,
}

impl Oddities {
    /// Records an unknown key. `has` says whether the object has another key.
    pub(super) fn key(
        &mut self,
        of: Of,
        key: &str,
        has: impl Fn(&str) -> bool,
        offsets: &dyn Offsets,
        path: impl FnOnce() -> Path,
    ) {
        let is_it = |odd: &Oddity| odd.of == of && *odd.key == *key;
        let known = self.all.iter().find(|odd| is_it(odd)).map(|odd| odd.what);
        let what = match known {
            Some(What::Fine) => return,
            _ if of.belongs(key) => match of.meant_by(key) {
                None => What::Fine,
                Some(meant) if has(meant) || of == Of::Response && has("template_id") => return,
                Some(meant) => What::Misspelt(meant),
            },
            _ => match of.near(key).filter(|near| !has(near)) {
                Some(near) => What::Misspelt(near),
                None => What::Unknown,
            },
        };
        self.add(of, key, what, || (offsets.offset_of(key), path()));
    }

    /// Records a value that is not a number where one is needed.
    pub(super) fn no_number(
        &mut self,
        key: &'static str,
        found: NotNumber,
        place: impl FnOnce() -> (usize, Path),
    ) {
        self.add(Of::Response, key, What::NoNumber(found), place);
    }

    /// Records an amount below 0.
    pub(super) fn negative(
        &mut self,
        key: &'static str,
        amount: &str,
        place: impl FnOnce() -> (usize, Path),
    ) {
        if let Some(odd) = self.add(Of::Response, key, What::Negative, place) {
            odd.amount = amount.into();
        }
    }

    /// Records an unknown status of a step.
    pub(super) fn no_status(&mut self, word: &str, place: impl FnOnce() -> (usize, Path)) {
        self.add(Of::Step, word, What::NoStatus, place);
    }

    /// Records a `trial` that is not a whole number from 1 on.
    pub(super) fn no_trial(&mut self, place: impl FnOnce() -> (usize, Path)) {
        self.add(Of::Response, "trial", What::NoTrial, place);
    }

    /// Counts an occurrence. Returns the oddity if it is new and there is room for it.
    fn add(
        &mut self,
        of: Of,
        key: &str,
        what: What,
        place: impl FnOnce() -> (usize, Path),
    ) -> Option<&mut Oddity> {
        let same = |odd: &&mut Oddity| odd.of == of && *odd.key == *key && odd.what == what;
        if let Some(odd) = self.all.iter_mut().find(same) {
            odd.n += 1;
            return None;
        }
        if self.all.len() >= Problems::MOST {
            return None;
        }
        let (offset, path) = if what == What::Fine { Default::default() } else { place() };
        let (key, amount) = (key.into(), Box::default());
        self.all.push(Oddity { of, key, what, n: 1, offset, amount, path });
        self.all.last_mut()
    }

    /// Adds those of other objects in the same file, as far as there is room.
    pub(super) fn append(&mut self, others: Oddities) {
        let room = Problems::MOST.saturating_sub(self.all.len());
        self.all.extend(others.all.into_iter().take(room));
    }

    /// Returns what is probably a mistake.
    pub(super) fn mistakes(&self) -> Vec<UnplacedProblem> {
        self.found(|what| !matches!(what, What::Unknown | What::Fine))
    }

    /// Returns unknown keys that resemble no known one.
    pub(super) fn others(&self) -> Vec<UnplacedProblem> {
        self.found(|what| what == What::Unknown)
    }

    fn found(&self, is_wanted: impl Fn(What) -> bool) -> Vec<UnplacedProblem> {
        self.all.iter().filter(|odd| is_wanted(odd.what)).map(Oddity::found).collect()
    }
}

impl Oddity {
    fn found(&self) -> UnplacedProblem {
        let (key, of, n_more) = (self.key.to_string(), self.of.name(), self.n - 1);
        let problem = match self.what {
            What::Misspelt(near) => Problem::UnknownKey { key, of, near: Some(near), n_more },
            What::Unknown | What::Fine => Problem::UnknownKey { key, of, near: None, n_more },
            What::NoStatus => Problem::UnknownStatus { word: key, n_more },
            What::NoTrial => Problem::NoTrial { n_more },
            What::NoNumber(found) => Problem::NoNumber { key, found, n_more },
            What::Negative => {
                Problem::NegativeAmount { key, value: self.amount.to_string(), n_more }
            }
        };
        UnplacedProblem { offset: self.offset, path: self.path.clone(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_told_from_one_that_is_the_users_own() {
        for (of, key, near) in [
            (Of::Question, "refrence_answer", Some("reference_answer")),
            (Of::Question, "referenceAnswer", Some("reference_answer")),
            (Of::Question, "answer", Some("reference_answer")),
            (Of::Question, "difficulty", None),
            (Of::Template, "template_name", None),
            (Of::Template, "question", Some("questions")),
            (Of::ExpectedStep, "ignore_dupicates", Some("ignore_duplicates")),
            (Of::ExpectedStep, "outptu", Some("output")),
            (Of::ExpectedStep, "comment", None),
            (Of::Response, "answer", Some("actual_answer")),
            (Of::Response, "total_token", Some("total_tokens")),
            (Of::Response, "trail", Some("trial")),
            (Of::Response, "model", None),
            (Of::Response, "output_text", None),
            (Of::Step, "arguments", Some("args")),
            (Of::Step, "state", None),
        ] {
            assert_eq!(of.near(key), near, "{key} of a {}", of.name());
        }
    }
}
