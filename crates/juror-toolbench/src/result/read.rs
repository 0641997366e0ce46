//! Reading result files, those of the document and those of `MASBench`.

use juror_document::{Document, Format, Look, Path, Problem, Problems};
use juror_json::{self as json, Object};
use juror_score::Number;
use serde_json::value::RawValue;

use super::summary::{Evaluated, Summary};
use super::write::UNJUDGED;
use crate::judged::Status;
use crate::query::id_text;

/// What a result file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultFile {
    /// What was evaluated; empty where the file does not tell.
    pub framework: String,
    /// The set of queries; empty where the file does not tell.
    pub test_set: String,
    /// The results.
    pub results: Vec<Evaluated>,
}

impl ResultFile {
    /// The summary of the results, whatever the file says of it.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.results)
    }
}

/// Reads a result file: an object with `metadata` and `results`, or the results alone, in a list or
/// one a line.
/// What cannot be used is told and left out.
pub fn read_result_file(document: &Document) -> (ResultFile, Problems) {
    let mut look = Look::new(document);
    let mut file = ResultFile::default();
    let top = Path::default();
    if let Some(lines) = lines_of(document) {
        for (index, line) in lines.into_iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(value) => file.results.extend(read_value(&mut look, value, &top.index(index))),
                Err(error) => look.complain(line, &error),
            }
        }
        return (file, look.problems());
    }
    let results = match look.value() {
        Some(list) if list.get().starts_with('[') => {
            look.list(list, &top, "a list of results").map(|results| (results, top))
        }
        Some(value) => look.object(value, &top, "a result file").map(|fields| {
            read_metadata(&mut look, &fields, &mut file);
            if fields.get_set("results").is_none() {
                let problem = Problem::MissingField { field: "results", of: "result file" };
                look.note(value.get(), top.clone(), problem);
            }
            (look.list_field(&fields, "results", &top), top.key("results"))
        }),
        None => None,
    };
    let (results, path) = results.unwrap_or_default();
    for (index, value) in results.into_iter().enumerate() {
        file.results.extend(read_value(&mut look, value, &path.index(index)));
    }
    (file, look.problems())
}

/// The lines of a file that has one result on each; nothing where the file is one value, unless
/// that is a result.
fn lines_of(document: &Document) -> Option<Vec<&str>> {
    if document.format() != Format::JsonLines {
        return None;
    }
    let is_result = |value: &RawValue| {
        let fields: Option<Object<'_>> = juror_json::from_str(value.get()).ok();
        fields.is_some_and(|fields| fields.get("results").or(fields.get("metadata")).is_none())
    };
    match juror_json::from_str(document.json()) {
        Ok(value) => is_result(value).then(|| vec![document.json()]),
        Err(_) => Some(document.values()).filter(|lines| !lines.is_empty()),
    }
}

fn read_value<'d>(look: &mut Look<'d>, value: &'d RawValue, path: &Path) -> Option<Evaluated> {
    let fields = look.object(value, path, "a result")?;
    Some(read_result(look, &fields, path))
}

/// `MASBench` has in `metadata` itself what the document has there in `config`.
fn read_metadata<'d>(look: &mut Look<'d>, fields: &Object<'d>, file: &mut ResultFile) {
    let top = Path::default();
    let metadata = part(look, fields, "metadata", &top);
    let config = part(look, &metadata, "config", &top.key("metadata"));
    let mut first = |places: [(&Object<'d>, &str); 2]| -> String {
        let texts = places.map(|(fields, name)| look.text(fields, name, &top).into_owned());
        texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    };
    file.framework = first([(&metadata, "framework"), (&metadata, "agent_name")]);
    file.test_set = first([(&config, "test_set"), (&metadata, "test_set")]);
}

fn read_result<'d>(look: &mut Look<'d>, fields: &Object<'d>, path: &Path) -> Evaluated {
    let scores = part(look, fields, "scores", path);
    let evaluation = part(look, fields, "evaluation", path);
    let timing = part(look, fields, "timing", path);
    let gold = part(look, fields, "gold_answer", path);
    let word = evaluation.get_set("answer_status").or_else(|| scores.get_set("answer_status"));
    let word = word.and_then(json::text_of).unwrap_or_default();
    let gold = gold.get_set("relevant_apis").or_else(|| fields.get_set("gold_apis"));
    let has_gold = gold.is_none_or(|gold| crate::answer::json::is_something(gold.get()));
    let api_call_score = number(&scores, "api_call_score").unwrap_or(0.0);
    Evaluated {
        query_id: fields.get_set("query_id").map(id_text).unwrap_or_default(),
        sopr_score: (word != UNJUDGED).then(|| number(&scores, "sopr_score").unwrap_or(0.0)),
        api_call_score: has_gold.then_some(api_call_score),
        status: Status::of_reply(&word),
        is_error: word == "Error" || fields.get_set("error").is_some(),
        has_finish: evaluation.get("has_finish").is_some_and(|value| value.get() == "true"),
        evaluation_seconds: number(&timing, "evaluation_time").unwrap_or(0.0),
        answer_seconds: number(&timing, "system_answer_time")
            .or_else(|| number(fields, "system_answer_time")),
    }
}

/// An object inside another; an empty one where there is none.
fn part<'d>(look: &mut Look<'d>, fields: &Object<'d>, name: &str, path: &Path) -> Object<'d> {
    let value: Option<&'d RawValue> = fields.get_set(name);
    value.and_then(|value| look.object(value, &path.key(name), "an object")).unwrap_or_default()
}

fn number(fields: &Object<'_>, name: &str) -> Option<f64> {
    Number::from_json(fields.get(name)?.get()).map(|number| number.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, String) {
        let file = Document::new("r.jsonl", text.into(), Format::JsonLines).expect("UTF-8");
        let (file, problems) = read_result_file(&file);
        let ids = file.results.into_iter().map(|result| result.query_id);
        (ids.collect(), problems.to_string())
    }

    #[test]
    fn a_run_of_one_query_has_its_result_on_one_line() {
        assert_eq!(read("{\"query_id\": 1}\n"), (vec!["1".to_owned()], String::new()));
        let whole = "{\"metadata\": {}, \"results\": [{\"query_id\": 1}, {\"query_id\": 2}]}\n";
        assert_eq!(read(whole).0, ["1", "2"], "a whole file may stand on a line");
        let list = "[{\"query_id\": 1},\n {\"query_id\": 2}]\n";
        assert_eq!(read(list).0, ["1", "2"], "or be called so");
    }

    #[test]
    fn a_line_that_is_no_result_is_told_and_the_others_are_read() {
        let (ids, told) = read("{\"query_id\": 1}\n{\"query_id\n\n5\n{\"query_id\": 2}\n");
        assert_eq!(ids, ["1", "2"]);
        let told: Vec<&str> = told.lines().filter(|line| line.starts_with("r.jsonl")).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("r.jsonl:2:"), "{told:?}");
        assert!(told[1].starts_with("r.jsonl:4:1: expected a result"), "{told:?}");
    }

    #[test]
    fn a_file_without_lines_is_told() {
        let (ids, told) = read("\n");
        assert!(ids.is_empty() && told.contains("not valid JSON"), "{told}");
    }
}
