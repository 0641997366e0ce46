//! Reads files of labels that people filled in.

use juror_compare::Sample;
use juror_document::{Document, LabelProblem, Look, Path, Problem};
use juror_json::{self as json, Object};
use serde_json::value::RawValue;
use std::borrow::Cow;

use crate::records::{Record, records};

/// A label, as somebody wrote it.
pub struct ReadLabel<'d> {
    /// The id of the question.
    pub id: String,
    /// The template or set, if it is given.
    pub group: Option<String>,
    /// Which of several answers it is.
    pub trial: Option<u32>,
    /// The metric, if it is given.
    pub metric: Option<String>,
    /// The hash of the judge, if it is given.
    pub judge: Option<String>,
    /// Why the answer was chosen.
    pub sample: Sample,
    /// The answer that was shown: `None` if the file does not say, empty if there was none.
    pub answer: Option<String>,
    /// What the person says.
    pub score: Result<f64, LabelProblem>,
    /// Who; empty for somebody without a name.
    pub by: String,
    text: &'d str,
    path: Path,
    place: usize,
}

impl<'d> ReadLabel<'d> {
    /// Where it stands among the labels of its file.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Records why the label is left out.
    pub fn leave_out(&self, look: &mut Look<'d>, problem: LabelProblem) {
        look.note(self.text, self.path.clone(), Problem::Label(problem));
    }
}

/// Reads all labels of a file. What is no label becomes a problem.
pub fn read_labels<'d>(document: &'d Document, look: &mut Look<'d>) -> Vec<ReadLabel<'d>> {
    let records = records(document, look, "a label");
    let records = records.into_iter().enumerate();
    records.filter_map(|(place, record)| read_label(record, place, look)).collect()
}

fn read_label<'d>(record: Record<'d>, place: usize, look: &mut Look<'d>) -> Option<ReadLabel<'d>> {
    let Record { fields, text, path } = record;
    let word = |key: &str| fields.get_set(key).and_then(json::scalar_text).map(Cow::into_owned);
    let missing = |look: &mut Look<'d>, field| {
        look.note(text, path.clone(), Problem::MissingField { field, of: "label" });
    };
    let sample = match word("sample").as_deref() {
        Some("random") => Sample::Random,
        Some("disagreement") => Sample::Disagreement,
        _ => {
            missing(look, "sample");
            return None;
        }
    };
    let Some(id) = word("id") else {
        missing(look, "id");
        return None;
    };
    Some(ReadLabel {
        id,
        group: word("template").or_else(|| word("set")),
        trial: fields.get("trial").and_then(|raw| raw.get().parse().ok()),
        metric: word("metric"),
        judge: word("judge"),
        sample,
        answer: shown_answer(&fields),
        score: read_score(fields.get("label")),
        by: word("by").map(|by| by.trim().to_owned()).unwrap_or_default(),
        text,
        path,
        place,
    })
}

fn shown_answer(fields: &Object<'_>) -> Option<String> {
    let raw = fields.get("answer")?;
    Some(if raw.get() == "null" { String::new() } else { json::text_or_json(raw).into_owned() })
}

/// Words that people use, and what they are worth.
const WORDS: [(&str, f64); 11] = [
    ("pass", 1.0),
    ("right", 1.0),
    ("solved", 1.0),
    ("true", 1.0),
    ("yes", 1.0),
    ("unsure", 0.5),
    ("fail", 0.0),
    ("wrong", 0.0),
    ("unsolved", 0.0),
    ("false", 0.0),
    ("no", 0.0),
];

/// Reads a number from 0 to 1, or a word.
fn read_score(raw: Option<&RawValue>) -> Result<f64, LabelProblem> {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return Err(LabelProblem::Empty) };
    let Some(written) = json::scalar_text(raw) else {
        return Err(LabelProblem::Unusable { found: json::kind_of(raw).into() });
    };
    let written = written.trim();
    if written.is_empty() {
        return Err(LabelProblem::Empty);
    }
    let is_word = |(word, _): &&(&str, f64)| word.eq_ignore_ascii_case(written);
    if let Some((_, score)) = WORDS.iter().find(is_word) {
        return Ok(*score);
    }
    let (number, found) = (written.parse::<f64>().ok(), format!("`{written}`"));
    number.filter(|score| (0.0..=1.0).contains(score)).ok_or(LabelProblem::Unusable { found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    fn score(label: &str) -> Result<f64, String> {
        let raw: Box<RawValue> = serde_json::from_str(label).expect("JSON");
        read_score(Some(&raw)).map_err(|problem| problem.to_string())
    }

    #[test]
    fn labels_are_numbers_or_words() {
        let known = [
            ("1", 1.0),
            ("0", 0.0),
            ("0.25", 0.25),
            ("\"0.25\"", 0.25),
            ("\"pass\"", 1.0),
            ("\" Right \"", 1.0),
            ("\"UNSOLVED\"", 0.0),
            ("\"unsure\"", 0.5),
            ("true", 1.0),
            ("false", 0.0),
            ("\"no\"", 0.0),
        ];
        for (label, wanted) in known {
            assert_eq!(score(label), Ok(wanted), "{label}");
        }
    }

    #[test]
    fn what_is_no_label_says_what_it_is() {
        for (label, wanted) in [
            ("null", "the label is empty, and is left out"),
            ("\"  \"", "the label is empty, and is left out"),
            ("1.5", "the label is `1.5`, and is left out"),
            ("-0.1", "the label is `-0.1`, and is left out"),
            ("\"maybe\"", "the label is `maybe`, and is left out"),
            ("\"NaN\"", "the label is `NaN`, and is left out"),
            ("[1]", "the label is a list, and is left out"),
        ] {
            assert_eq!(score(label), Err(wanted.into()), "{label}");
        }
        assert_eq!(read_score(None), Err(LabelProblem::Empty));
    }

    #[test]
    fn lines_lists_and_single_labels_are_read_and_others_are_told() {
        let read = |text: &str, format| {
            let document = Document::new("l", text.into(), format).expect("text");
            let mut look = Look::new(&document);
            let ids: Vec<String> =
                read_labels(&document, &mut look).into_iter().map(|own| own.id).collect();
            (ids, look.problems().to_string())
        };
        let lines = "{\"id\": 1, \"sample\": \"random\"}\n\n{\"id\"\n5\n{\"sample\": \"random\"}\n\
                     {\"id\": 2, \"sample\": \"other\"}\n";
        let (ids, told) = read(lines, Format::JsonLines);
        assert_eq!(ids, ["1"]);
        for part in ["l:3:", "l:4:1: expected a label", "l:5:1: this label has no `id`", "l:6:1:"] {
            assert!(told.contains(part), "{told}");
        }
        let list = "[{\"id\": \"a\", \"sample\": \"random\"}]";
        assert_eq!(read(list, Format::Json), (vec!["a".into()], String::new()));
        let yaml = "- {id: a, sample: random, label: 0.5}\n- {id: b, sample: disagreement}\n";
        assert_eq!(read(yaml, Format::Yaml).0, ["a", "b"]);
    }
}
