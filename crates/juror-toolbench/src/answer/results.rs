//! Answers in result files of benchmark runs, both the documented form and that of `MASBench`.

use std::borrow::Cow;

use juror_json::cursor::{Cursor, fields_of};

use super::file::{Recorded, read_called_apis, read_recorded};
use super::json::{is_something, text_of};
use super::{Answer, Json};

/// Returns the results if this is a result file. An answer is never a list.
pub(super) fn results_of<'a>(entries: &[(Cow<'a, str>, &'a str)]) -> Option<&'a str> {
    let is_list = |text: &str| Cursor::new(text).begins(b'[');
    entries.iter().find(|(key, text)| key == "results" && is_list(text)).map(|(_, text)| *text)
}

/// Reads a result: the id of its query, and the answer, which may be empty. Returns `None` if the
/// text is not a result. If the agent failed, an error may take the place of the answer.
pub(super) fn read_result(text: &str) -> Option<(String, Recorded<'_>)> {
    let fields =
        ["query_id", "query_text", "query", "test_set", "error", "system_answer", "called_apis"];
    let [id, query, other_query, set, error, answer, called_apis] = fields_of(text, fields)?;
    let error = error.filter(|error| is_something(error));
    let answer = match answer.filter(|answer| *answer != "null") {
        None if error.is_some() => "{}",
        answer => answer?,
    };
    let (id, mut recorded) = (id?, read_recorded(answer)?);
    recorded.query = query.or(other_query).map_or(Json::EMPTY, Json::read);
    recorded.set = set.and_then(text_of);
    recorded.error = error.map(|error| text_of(error).unwrap_or(Cow::Borrowed(error)));
    let answer = &mut recorded.answer;
    if answer.nodes.is_empty() && !answer.final_text().is_empty() {
        // Files without details come from agents that ended by themselves.
        let called_apis = std::mem::take(&mut answer.called_apis);
        *answer = Answer { called_apis, ..Answer::of_calls(Some(&answer.final_text()), []) };
    }
    if let Some(called) = called_apis {
        answer.called_apis = read_called_apis(called);
    }
    Some((Json::read(id).python_str(), recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_answers() {
        let check = |text: &str, wanted: Option<(&str, &str, &str)>| {
            let read = read_result(text).map(|(id, recorded)| {
                let names: Vec<_> = recorded.answer.called_names().collect();
                (id, recorded.answer.final_text().into_owned(), names.join(" "))
            });
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
            Some(("7", "", "")),
        );
        check(r#"{"query_id": 7, "error": "it crashed"}"#, Some(("7", "", "")));
        check(r#"{"query_id": 7, "error": {"a": 1}, "system_answer": null}"#, Some(("7", "", "")));
        for wrong in [
            "5",
            r#"{"query_id": 7, "error": null}"#,
            "{}",
            r#"{"query_id": 7}"#,
            r#"{"query_id": 7, "system_answer": 5}"#,
        ] {
            check(wrong, None);
        }
    }
}
