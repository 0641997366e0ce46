//! Reading result files, those of the document and those of `MASBench`.

use serde_json::value::RawValue;

use super::summary::{Evaluated, Summary};
use super::write::UNJUDGED;
use crate::json;
use crate::object::Object;
use crate::read::{Document, Format, Path, Problem, Problems};
use crate::stats::Number;
use crate::tool::judged::Status;
use crate::tool::look::Look;
use crate::tool::query::id_text;

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
    let lines = lines_of(document);
    let value = if lines.is_some() { None } else { look.value() };
    let results = match value {
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
        None => lines.map(|lines| (lines, top)),
    };
    let (results, path) = results.unwrap_or_default();
    for (index, value) in results.into_iter().enumerate() {
        let path = path.index(index);
        if let Some(fields) = look.object(value, &path, "a result") {
            file.results.push(read_result(&mut look, &fields, &path));
        }
    }
    (file, look.problems())
}

/// The results of a file that has one a line.
fn lines_of(document: &Document) -> Option<Vec<&RawValue>> {
    let values = document.values();
    let lines =
        values.iter().map(|line| serde_json::from_str(line).ok()).collect::<Option<Vec<_>>>();
    let has_lines = document.format() == Format::JsonLines && values.len() > 1;
    lines.filter(|_| has_lines)
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
    let has_gold = gold.is_none_or(|gold| crate::tool::answer::json::is_something(gold.get()));
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
