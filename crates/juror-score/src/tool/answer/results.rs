//! Answers in result files of benchmark runs, those of the document and those of `MASBench`.

use std::borrow::Cow;

use super::file::{Recorded, read_pairs, read_recorded};
use super::{Answer, Json};
use crate::walk::{Walk, fields_of};

/// The results of a file, where it is one: no answer is a list.
pub(super) fn results_of<'a>(entries: &[(Cow<'a, str>, &'a str)]) -> Option<&'a str> {
    let is_list = |text: &str| Walk::new(text).begins(b'[');
    entries.iter().find(|(key, text)| key == "results" && is_list(text)).map(|(_, text)| *text)
}

/// What a result says of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Read<'a> {
    /// The id of its query, and the answer.
    Answer(String, Box<Recorded<'a>>),
    /// The agent gave none.
    None,
    /// It is no result.
    Wrong,
}

/// Reads a result.
pub(super) fn read_result(text: &str) -> Read<'_> {
    read_fields(text).unwrap_or(Read::Wrong)
}

fn read_fields(text: &str) -> Option<Read<'_>> {
    let fields = ["query_id", "query_text", "system_answer", "called_apis"];
    let [id, query, answer, called_apis] = fields_of(text, fields)?;
    let (id, mut recorded) = (id?, read_recorded(answer?)?);
    recorded.query = query.map_or(Json::EMPTY, Json::read);
    let answer = &mut recorded.answer;
    if answer.nodes.is_empty() {
        let text = answer.final_text().into_owned();
        if text.is_empty() {
            return Some(Read::None);
        }
        // Files without details have the answers of agents that ended by themselves.
        *answer = Answer::of_calls(Some(&text), []);
    }
    if let Some(called) = called_apis {
        answer.called_apis = read_pairs(called);
    }
    Some(Read::Answer(Json::read(id).python_str(), Box::new(recorded)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_answers() {
        let check = |text: &str, wanted: Option<(&str, &str, &str)>| {
            let read = match read_result(text) {
                Read::Answer(id, recorded) => {
                    let answer = &recorded.answer;
                    let names: Vec<_> = answer.called_names().collect();
                    Some((id, answer.final_text().into_owned(), names.join(" ")))
                }
                Read::None => None,
                Read::Wrong => Some((String::new(), String::new(), "wrong".to_owned())),
            };
            let wanted = wanted.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
            assert_eq!(read, wanted, "{text}");
        };
        let details = r#"[{"role": "tool", "message": {"name": "a"}, "next": []}]"#;
        check(
            &format!(
                r#"{{"query_id": 7, "system_answer": {{"final_answer": "x", "answer_details": {details}}}}}"#
            ),
            Some(("7", "x", "a")),
        );
        check(
            r#"{"query_id": "7", "system_answer": {"final_answer": "x", "has_finish": false}}"#,
            Some(("7", "x", "Finish")),
        );
        check(
            r#"{"query_id": 7, "system_answer": {"final_answer": "", "answer_details": []}}"#,
            None,
        );
        for wrong in ["5", "{}", r#"{"query_id": 7}"#, r#"{"query_id": 7, "system_answer": 5}"#] {
            check(wrong, Some(("", "", "wrong")));
        }
    }
}
