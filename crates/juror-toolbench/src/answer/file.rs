//! Reading files of converted answers.

use std::borrow::Cow;

use juror_document::{Document, Format, Look, Path, Problem, Problems};
use juror_json::cursor::{Cursor, Lost, Taken, fields_of};
use serde_json::value::RawValue;

use super::Answer;
use super::details::{Node, read_nodes};
use super::json::{Json, is_something, text_of, text_or_empty};
use super::results::{read_result, results_of};

/// An answer as stored in a file: with its query and the functions the agent was offered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<'a> {
    /// The set that the query is from, if the file names it.
    pub set: Option<Cow<'a, str>>,
    /// What went wrong, if the file says so.
    pub error: Option<Cow<'a, str>>,
    /// The query.
    pub query: Json<'a>,
    /// The offered functions, with or without `{"type": "function", "function": …}` around each.
    pub available_tools: Json<'a>,
    /// What the agent did.
    pub answer: Answer<'a>,
}

impl Recorded<'_> {
    /// Copies everything it borrows.
    pub fn into_owned(self) -> Recorded<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        Recorded {
            set: owned(self.set),
            error: owned(self.error),
            query: self.query.into_owned(),
            available_tools: self.available_tools.into_owned(),
            answer: self.answer.into_owned(),
        }
    }

    /// Returns the names of the offered functions.
    pub fn tool_names(&self) -> Vec<Cow<'_, str>> {
        let tools = Cursor::new(self.available_tools.get()).items().unwrap_or_default();
        tools.into_iter().filter_map(tool_name).collect()
    }

    /// Returns the called names that are not among the offered functions.
    pub fn unknown_names(&self) -> Vec<Cow<'_, str>> {
        let offered = self.tool_names();
        self.answer.called_names().filter(|name| !offered.contains(name)).collect()
    }
}

fn tool_name(tool: &str) -> Option<Cow<'_, str>> {
    let [name, function] = fields_of(tool, ["name", "function"])?;
    match function.filter(|function| function.starts_with('{')) {
        Some(function) => text_of(fields_of(function, ["name"])?[0]?),
        None => text_of(name?),
    }
}

/// Answers by query id, in file order.
pub type Answers<'a> = Vec<(Cow<'a, str>, Recorded<'a>)>;

/// Reads a file of converted answers: an object of answers by query id, the result file of a
/// benchmark run, or its results alone, in a list or one per line. Reports and skips what it cannot
/// read; if an id occurs twice, keeps both answers.
pub fn read_answers(document: &Document) -> (Answers<'_>, Problems) {
    let mut look = Look::new(document);
    let mut answers = Vec::new();
    if let Some(results) = results_alone(document) {
        read_each(&mut look, results, &Path::default(), &mut answers);
        return (answers, look.problems());
    }
    let entries = read_entries(document.json());
    if entries.is_err() {
        // Report what is wrong, and where.
        look.top_object("an object of answers by query id");
    }
    let entries = entries.unwrap_or_default();
    if let Some(results) = results_of(&entries) {
        read_results(&mut look, results, &Path::default().key("results"), &mut answers);
        return (answers, look.problems());
    }
    for (id, text) in entries {
        match read_recorded(text) {
            Some(recorded) => answers.push((id, recorded)),
            None => note(&mut look, Path::default().key(&id), text, ANSWER),
        }
    }
    (answers, look.problems())
}

const ANSWER: &str = "an answer with a list of nodes";

fn read_results<'d>(look: &mut Look<'d>, results: &'d str, top: &Path, answers: &mut Answers<'d>) {
    let Ok(items) = Cursor::new(results).items() else {
        return note(look, top.clone(), results, "a list of results");
    };
    read_each(look, items, top, answers);
}

/// Returns bare results: a list of them, or one per line.
fn results_alone(document: &Document) -> Option<Vec<&str>> {
    let values = document.values();
    if document.format() == Format::JsonLines {
        return values.iter().any(|line| read_result(line).is_some()).then_some(values);
    }
    let items = Cursor::new(document.json()).items().ok();
    items.filter(|items| !items.is_empty())
}

fn read_each<'d>(look: &mut Look<'d>, items: Vec<&'d str>, top: &Path, answers: &mut Answers<'d>) {
    for (index, text) in items.into_iter().enumerate() {
        match read_result(text) {
            Some((id, recorded)) => answers.push((Cow::Owned(id), recorded)),
            None => {
                let path = top.index(index);
                note(look, path, text, "a result with a query_id and a system_answer");
            }
        }
    }
}

/// Splits an object into fields without parsing the values, so that a broken value is a problem of
/// its own.
fn read_entries(text: &str) -> Taken<Vec<(Cow<'_, str>, &str)>> {
    let mut cursor = Cursor::new(text);
    let mut entries = Vec::new();
    cursor.enter(b'{')?;
    while let Some(key) = cursor.next_key()? {
        entries.push((key, cursor.pass()?));
    }
    cursor.end()?;
    Ok(entries)
}

fn note<'d>(look: &mut Look<'d>, path: Path, text: &'d str, expected: &'static str) {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(value) => {
            let found = juror_json::kind_of(value);
            look.note(text, path, Problem::WrongType { expected, found });
        }
        Err(error) => look.complain(text, &error),
    }
}

/// The parts of an answer that an object holds.
#[derive(Default)]
struct Parts<'a> {
    query: Option<&'a str>,
    available_tools: Option<&'a str>,
    method: Option<&'a str>,
    final_answer: Option<&'a str>,
    nodes: Option<Vec<Node<'a>>>,
    called_apis: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// Reads the fields of an object already entered. The object under `answer` takes precedence.
    fn read(cursor: &mut Cursor<'a>, is_outer: bool) -> Taken<Parts<'a>> {
        let mut parts = Parts::default();
        let mut inner = Parts::default();
        while let Some(key) = cursor.next_key()? {
            match &*key {
                "answer" if is_outer && cursor.opens(b'{') => inner = Parts::read(cursor, false)?,
                "answer_details" if cursor.begins(b'[') => parts.nodes = Some(read_nodes(cursor)?),
                "answer_details" => {
                    if is_something(cursor.value()?) {
                        return Err(Lost);
                    }
                }
                "query" => parts.query = Some(cursor.value()?),
                "available_tools" => parts.available_tools = Some(cursor.value()?),
                "method" => parts.method = Some(cursor.value()?),
                "final_answer" => parts.final_answer = Some(cursor.value()?),
                "called_apis" => parts.called_apis = Some(cursor.value()?),
                _ => drop(cursor.pass()?),
            }
        }
        Ok(inner.or(parts))
    }

    fn or(self, other: Parts<'a>) -> Parts<'a> {
        Parts {
            query: other.query.or(self.query),
            available_tools: other.available_tools.or(self.available_tools),
            method: self.method.or(other.method),
            final_answer: self.final_answer.or(other.final_answer),
            nodes: self.nodes.or(other.nodes),
            called_apis: self.called_apis.or(other.called_apis),
        }
    }
}

/// Reads an answer, or an object with one under `answer`; see [`super::read_answer`].
pub(super) fn read_recorded(text: &str) -> Option<Recorded<'_>> {
    let mut cursor = Cursor::new(text);
    cursor.enter(b'{').ok()?;
    let parts = Parts::read(&mut cursor, true).ok()?;
    cursor.end().ok()?;
    Some(Recorded {
        set: None,
        error: None,
        query: parts.query.map_or(Json::EMPTY, Json::read),
        available_tools: parts.available_tools.map_or(Json::NO_ITEMS, Json::read),
        answer: Answer {
            method: text_or_empty(parts.method),
            final_answer: parts.final_answer.map_or(Json::EMPTY, Json::read),
            nodes: parts.nodes.unwrap_or_default(),
            called_apis: parts.called_apis.map(read_called_apis).unwrap_or_default(),
        },
    })
}

/// Reads a list of APIs: pairs of strings, objects that name both, or function names, which follow
/// an empty string. Skips anything else.
pub fn read_called_apis(list: &str) -> Vec<(String, String)> {
    let items = Cursor::new(list).items().unwrap_or_default();
    items.into_iter().filter_map(read_called_api).collect()
}

fn read_called_api(item: &str) -> Option<(String, String)> {
    if let Ok(pair) = serde_json::from_str(item) {
        return Some(pair);
    }
    if let Some(name) = text_of(item) {
        return Some((String::new(), name.into_owned()));
    }
    let fields = ["tool", "tool_name", "api", "api_name", "name", "function"];
    let [tool, tool_name, api, api_name, name, function] = fields_of(item, fields)?;
    let text = |one: Option<&str>, other: Option<&str>| {
        one.and_then(text_of).or_else(|| other.and_then(text_of)).map(Cow::into_owned)
    };
    match (text(tool_name, tool), text(api_name, api)) {
        (Some(tool), Some(api)) => Some((tool, api)),
        _ => {
            let inner = function.and_then(|function| fields_of(function, ["name"]));
            let inner = inner.and_then(|[name]| name);
            Some((String::new(), text(name, function).or_else(|| text(inner, None))?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_answer_is_told_and_the_others_are_read() {
        let json = r#"{"1": {"answer": {"answer_details": [{"role": "tool"}]}},
            "2": 5, "3": {"answer": {"final_answer": tru}},
            "4": {"answer": {"final_answer": "x", "answer_details": null}},
            "5": {"answer": {"answer_details": "none"}}}"#;
        let file = Document::new("a.json", json.into(), Format::Json).expect("UTF-8");
        let (answers, problems) = read_answers(&file);
        let ids: Vec<&str> = answers.iter().map(|(id, _)| &**id).collect();
        assert_eq!(ids, ["1", "4"]);
        let told: Vec<String> = problems.errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "a.json:2:18: expected an answer with a list of nodes, found a number\n  at 2",
                "a.json:2:57: not valid JSON: expected ident",
                "a.json:4:18: expected an answer with a list of nodes, found an object\n  at 5",
            ]
        );
    }

    #[test]
    fn a_file_that_is_none_is_told() {
        for (json, told) in [
            ("[]", "a.json:1:1: expected an object of answers by query id, found a list"),
            ("{\"1\": {}", "a.json:1:8: not valid JSON: EOF while parsing an object"),
        ] {
            let file = Document::new("a.json", json.into(), Format::Json).expect("UTF-8");
            let (answers, problems) = read_answers(&file);
            assert!(answers.is_empty());
            assert_eq!(problems.to_string(), told);
        }
    }

    #[test]
    fn result_files_are_read_and_their_bad_results_told() {
        let json = r#"{"metadata": {}, "summary": {}, "juror": {}, "results": [
            {"query_id": 588, "query_text": "q", "system_answer": {"final_answer": "x"}}, 5]}"#;
        let file = Document::new("r.json", json.into(), Format::Json).expect("UTF-8");
        let (answers, problems) = read_answers(&file);
        let [(id, recorded)] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!((&**id, recorded.query.text().as_deref()), ("588", Some("q")));
        assert_eq!(
            problems.to_string(),
            "r.json:2:91: expected a result with a query_id and a system_answer, found a number\n  at results[1]"
        );
        let list = r#" [{"query_id": 588, "system_answer": {"final_answer": "x"}}, 5]"#;
        let list = Document::new("l.json", list.into(), Format::Json).expect("UTF-8");
        let (answers, problems) = read_answers(&list);
        assert_eq!(answers.len(), 1, "the results may stand alone");
        let lines = r#"{"query_id": 1, "system_answer": {"final_answer": "x"}}"#;
        let lines = format!("{lines}\n5\n{lines}\n");
        let lines = Document::new("l.jsonl", lines.into(), Format::JsonLines).expect("UTF-8");
        let (answers, told) = read_answers(&lines);
        assert_eq!(answers.len(), 2, "one may stand on each line");
        let broken =
            "{\"query_id\n{\"query_id\": 1, \"system_answer\": {\"final_answer\": \"x\"}}\n";
        let broken = Document::new("b.jsonl", broken.into(), Format::JsonLines).expect("UTF-8");
        let (kept, of_first) = read_answers(&broken);
        assert_eq!(kept.len(), 1, "the first line may be the broken one");
        assert!(of_first.to_string().starts_with("b.jsonl:1:"), "{of_first}");
        assert!(told.to_string().starts_with("l.jsonl:2:1: expected a result"), "{told}");
        assert!(problems.to_string().ends_with("found a number\n  at [1]"), "{problems}");
        let id = Document::new("a.json", r#"{"results": {"answer": {}}}"#.into(), Format::Json);
        assert_eq!(read_answers(&id.expect("UTF-8")).0.len(), 1, "an id may be called so");
    }

    #[test]
    fn an_answer_is_found_with_and_without_what_is_around_it() {
        let inner = r#"{"final_answer": "x", "answer_details": [{"role": "tool"}]}"#;
        let read = |json: &str| {
            let recorded = read_recorded(json).expect("an answer");
            (recorded.answer.final_text().into_owned(), recorded.answer.nodes.len())
        };
        assert_eq!(read(inner), ("x".to_owned(), 1));
        assert_eq!(read(&format!(r#"{{"final_answer": "y", "answer": {inner}}}"#)), read(inner));
        assert_eq!(read(&format!(r#"{{"answer": {inner}, "final_answer": "y"}}"#)), read(inner));
        assert_eq!(read(r#"{"final_answer": null}"#), (String::new(), 0));
        let called = r#"{"answer": {}, "called_apis": [["T", "a"], ["T"], 5, ["T", "a", "b"]]}"#;
        let called = read_recorded(called).expect("an answer").answer.called_apis;
        assert_eq!(called, [("T".to_owned(), "a".to_owned())]);
        assert_eq!(read_recorded("5"), None);
    }
}
