//! A question and a response that are texts of their own, such as the cells of a table's row.
//!
//! Whatever is wrong with a row becomes an error of this row, as a response that cannot be read does
//! in a file.

use std::borrow::Cow;
use std::sync::OnceLock;

use juror_document::{Document, Format};
use juror_json::{self as json, Object};
use juror_read::{NotRead, read_question, read_response};
use juror_score::{Case, Ending, Question, Trajectory};
use serde_json::value::RawValue;

use crate::reference_index::ReferenceIndex;

/// Where the question of a row is.
#[derive(Clone, Copy)]
pub enum Asked<'a> {
    /// In the row itself, as JSON.
    Here(Option<&'a str>),
    /// In a reference, by its id.
    In(&'a ReferenceIndex),
}

/// A question and a response to it.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The question.
    pub asked: Asked<'a>,
    /// The question's id; if `None`, that which the question or the response has.
    pub id: Option<&'a str>,
    /// The question's template; if `None`, that which the question has.
    pub template: Option<&'a str>,
    /// The response as JSON; `None` if there is none.
    pub response: Option<&'a str>,
}

/// The texts of a row whose `NaN` and infinities had to become strings before they could be read.
#[derive(Default)]
pub struct Reread {
    question: OnceLock<Document>,
    response: OnceLock<Document>,
}

/// What a row says.
#[derive(Clone, Debug)]
pub struct ReadRow<'a> {
    /// The question; with its ids alone if it could not be read.
    pub question: Question<'a>,
    /// The response to it, or what is wrong with the row.
    pub trajectory: Trajectory<'a>,
}

impl ReadRow<'_> {
    /// Returns it as a case.
    pub fn case(&self) -> Case<'_> {
        Case { question: &self.question, trajectory: &self.trajectory }
    }
}

/// The id of a response's question, and the response or why it could not be read.
struct Answer<'a> {
    id: Option<Cow<'a, str>>,
    trajectory: Trajectory<'a>,
}

impl<'a> Row<'a> {
    /// Reads the row.
    pub fn read(&self, reread: &'a Reread) -> ReadRow<'a> {
        let answer = self.response.map(|text| read_answer(text, &reread.response));
        let own_id = answer.as_ref().and_then(|answer| answer.id.clone());
        let id = self.id.map(Cow::Borrowed).or_else(|| match self.asked {
            Asked::In(_) => own_id.clone(),
            Asked::Here(_) => None,
        });
        match self.question(id.clone(), reread) {
            Ok(question) => {
                let other = own_id.filter(|own| *own != question.id);
                let trajectory = match other {
                    Some(own) => failed(&format!(
                        "the response is to question `{own}`, and its row to `{}`",
                        question.id
                    )),
                    None => answer.map(|answer| answer.trajectory).unwrap_or_default(),
                };
                ReadRow { question, trajectory }
            }
            Err(why) => {
                let template = self.template.map(Cow::Borrowed);
                let question = unread_question(id.or(own_id), template);
                ReadRow { question, trajectory: failed(&why) }
            }
        }
    }

    fn question(
        &self,
        id: Option<Cow<'a, str>>,
        reread: &'a Reread,
    ) -> Result<Question<'a>, String> {
        let (text, template) = match self.asked {
            Asked::Here(text) => (text.ok_or("the row has no question")?, self.template),
            Asked::In(index) => {
                let id = id.as_deref().ok_or("the row has no question id")?;
                let found = index.get(id);
                let found = found.ok_or_else(|| format!("the reference has no question `{id}`"))?;
                (found.text, Some(found.template))
            }
        };
        let template = template.map(Cow::Borrowed);
        let known = (id, template);
        read_question(text, known.clone())
            .or_else(|_| {
                let document = document_of("question", text, &reread.question);
                let text = quoted(document);
                read_question(text, known).map_err(|why| match why {
                    NotRead::Json(error) => document.complaint(text, &error).problem,
                    NotRead::Problem(problem) => problem,
                })
            })
            .map_err(|why| format!("the question could not be read: {why}"))
    }
}

fn read_answer<'a>(text: &'a str, again: &'a OnceLock<Document>) -> Answer<'a> {
    if let Ok((id, trajectory)) = read_response(text.trim_ascii()) {
        return Answer { id, trajectory };
    }
    let document = document_of("response", text, again);
    let text = quoted(document);
    match read_response(text) {
        Ok((id, trajectory)) => Answer { id, trajectory },
        Err(error) => {
            let why = document.complaint(text, &error).problem;
            let fields: Object<'a> = serde_json::from_str(text).unwrap_or_default();
            let id = fields.get("question_id").and_then(json::scalar_text);
            Answer { id, trajectory: failed(&format!("the response could not be read: {why}")) }
        }
    }
}

fn document_of<'a>(name: &str, text: &str, again: &'a OnceLock<Document>) -> &'a Document {
    let document = || Document::new(name, text.into(), Format::Json).expect("a string is UTF-8");
    again.get_or_init(document)
}

/// Returns the text of a document with its `NaN` and infinities as strings, if it has any.
fn quoted(document: &Document) -> &str {
    let text = document.json().trim_ascii();
    document.with_quotes(text).unwrap_or(text)
}

fn failed(message: &str) -> Trajectory<'static> {
    let message = serde_json::Value::from(message).to_string();
    Trajectory { ending: Ending::Failed(Cow::Owned(message)), ..Trajectory::default() }
}

/// A question of which only ids are known, if any.
fn unread_question<'a>(id: Option<Cow<'a, str>>, template: Option<Cow<'a, str>>) -> Question<'a> {
    let text: &RawValue = json::from_str("\"\"").expect("an empty text is JSON");
    let (id, template) = (id.unwrap_or_default(), template.unwrap_or_default());
    Question { id, template, text, answer: None, groups: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = r#"{"id": "a", "template_id": "t", "question_text": "A?",
        "reference_steps": [[{"name": "s", "output": "x"}]]}"#;
    const RESPONSE: &str =
        r#"{"question_id": "a", "actual_steps": [{"name": "s", "output": "x"}]}"#;

    fn row<'a>(question: &'a str, response: &'a str) -> Row<'a> {
        Row {
            asked: Asked::Here(Some(question)),
            id: None,
            template: None,
            response: Some(response),
        }
    }

    /// The ids of a row, and what is wrong with it.
    fn told(row: &Row<'_>) -> (String, String, String) {
        let reread = Reread::default();
        let ReadRow { question, trajectory } = row.read(&reread);
        let ending = match &trajectory.ending {
            Ending::Responded => "fine".to_owned(),
            Ending::Failed(message) => serde_json::from_str(message).expect("a text"),
            Ending::Missing => "missing".to_owned(),
        };
        (question.template.into_owned(), question.id.into_owned(), ending)
    }

    fn check(row: &Row<'_>, template: &str, id: &str, ending: &str) {
        assert_eq!(told(row), (template.into(), id.into(), ending.into()));
    }

    #[test]
    fn what_is_known_of_a_question_besides_counts() {
        let own = row(QUESTION, "{}");
        check(&own, "t", "a", "fine");
        check(&Row { id: Some("b"), template: Some("u"), ..own }, "u", "b", "fine");
        let bare = row(r#"{"question_text": "A?"}"#, "{}");
        check(&Row { id: Some("b"), template: Some("u"), ..bare }, "u", "b", "fine");
    }

    #[test]
    fn what_is_wrong_is_an_error_of_the_row() {
        let unread = "the question could not be read: ";
        check(&Row { response: None, ..row(QUESTION, "") }, "t", "a", "missing");
        check(
            &Row { asked: Asked::Here(None), ..row("", RESPONSE) },
            "",
            "a",
            "the row has no question",
        );
        let told_of = |question: &str| told(&row(question, RESPONSE)).2;
        assert_eq!(told_of("{"), format!("{unread}not valid JSON: EOF while parsing an object"));
        let no_text = r#"{"id": "a", "template_id": "t"}"#;
        assert_eq!(told_of(no_text), format!("{unread}this question has no `question_text`"));
        assert_eq!(
            told_of(r#"{"id": "a", "question_text": ""}"#),
            format!("{unread}this question has no `template_id`")
        );
        let wrong = QUESTION.replace(r#""output": "x""#, r#""ordered": 1"#);
        assert!(told_of(&wrong).starts_with(unread), "{}", told_of(&wrong));
        let broken = told(&row(QUESTION, r#"{"question_id": "a", "actual_steps": 1}"#)).2;
        assert!(broken.starts_with("the response could not be read: invalid type"), "{broken}");
        let other = r#"{"question_id": "b"}"#;
        check(
            &row(QUESTION, other),
            "t",
            "a",
            "the response is to question `b`, and its row to `a`",
        );
    }

    #[test]
    fn numbers_that_are_none_are_read_as_in_files() {
        check(&row(QUESTION, r#" {"question_id": "a", "elapsed_sec": NaN} "#), "t", "a", "fine");
        let question = QUESTION.replace("\"x\"", "NaN");
        check(&row(&question, RESPONSE), "t", "a", "fine");
    }

    #[test]
    fn questions_are_taken_from_a_reference() {
        let reference = format!(r#"[{{"template_id": "t", "questions": [{QUESTION}]}}]"#);
        let document = Document::new("r", reference.into(), Format::Json).expect("JSON");
        let index = ReferenceIndex::new(document).expect("a reference");
        let of = |id, response| Row { asked: Asked::In(&index), id, template: None, response };
        check(&of(None, Some(RESPONSE)), "t", "a", "fine");
        check(&of(Some("a"), Some("{}")), "t", "a", "fine");
        check(&of(Some("a"), None), "t", "a", "missing");
        check(&of(Some("b"), Some("{}")), "", "b", "the reference has no question `b`");
        check(&of(None, Some("{}")), "", "", "the row has no question id");
    }
}
