//! The queries that agents are tested on: their text, the APIs offered, and the right ones.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;
use indexmap::IndexMap;
use juror_document::{Document, Look, Path, Problem, Problems, nearest_key};
use juror_json::{self as json, Object, python};
use serde::Serialize;
use serde_json::value::RawValue;

use super::registry::{Entry, Registry};
use super::tool_file::{Api, read_api};

/// A query.
#[derive(Clone, Debug)]
pub struct Query {
    /// A number or a string, as in the file.
    pub id: Option<Box<RawValue>>,
    /// The question.
    pub text: String,
    /// The pairs of tool and API that are right to call.
    pub gold: Vec<(String, String)>,
    /// The APIs that come with the query.
    pub apis: Vec<QueryApi>,
    /// The tools to list in a result.
    pub available_tools: AvailableTools,
}

/// An API that comes with a query.
#[derive(Clone, Debug)]
pub struct QueryApi {
    /// The category; empty if the file names none.
    pub category: String,
    /// The tool's name.
    pub tool: String,
    /// The API.
    pub api: Api,
}

/// The tools to list in a result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum AvailableTools {
    /// As the query lists them.
    Given(Box<RawValue>),
    /// Grouped from the query's APIs.
    Grouped(Vec<AvailableTool>),
}

/// A tool and its APIs, as results list them.
#[derive(Clone, Debug, Serialize)]
pub struct AvailableTool {
    category: String,
    tool_name: String,
    apis: Vec<AvailableApi>,
}

#[derive(Clone, Debug, Serialize)]
struct AvailableApi {
    api_name: String,
    api_description: String,
}

impl Query {
    /// Returns the id as a string for comparing, or `None` if the query has none.
    pub fn id_text(&self) -> Option<String> {
        self.id.as_deref().map(id_text)
    }

    /// Returns the id as a string, or one that is made of the query's number in the file.
    pub fn id_or_number(&self, index: usize) -> String {
        self.id_text().unwrap_or_else(|| format!("query_{}", index + 1))
    }

    /// Returns the query's APIs by all their names, including the right ones that it does not
    /// describe.
    pub fn registry(&self) -> Registry {
        let entry = |of: &QueryApi| Entry {
            category: (!of.category.is_empty()).then(|| Arc::from(of.category.as_str())),
            tool: Arc::from(of.tool.as_str()),
            api: of.api.name.clone(),
        };
        let mut entries: Vec<Entry> = self.apis.iter().map(entry).collect();
        for (tool, api) in &self.gold {
            if !entries.iter().any(|known| *known.tool == **tool && known.api == *api) {
                let (tool, api) = (Arc::from(tool.as_str()), api.clone());
                entries.push(Entry { category: None, tool, api });
            }
        }
        Registry::new(entries)
    }
}

/// Writes an id as Python's `str` does, so that ids compare whatever their type.
pub(super) fn id_text(value: &RawValue) -> String {
    python::str_of_json(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

/// Reads a file of queries as far as possible. Reports what is wrong with it, and skips what is no
/// query.
pub fn read_queries(document: &Document) -> (Vec<Query>, Problems) {
    let reading = Reading::of(document);
    (reading.queries, with(reading.unaskable, reading.problems))
}

/// Reads a file of queries that agents are asked or were asked. Fails with every problem found if one
/// of them has no text, if different ones share an id, or if something in the list is no query.
pub fn read_queries_to_ask(document: &Document) -> Result<(Vec<Query>, Problems), Problems> {
    let Reading { queries, unaskable, problems } = Reading::of(document);
    if unaskable.is_empty() { Ok((queries, problems)) } else { Err(with(unaskable, problems)) }
}

/// Returns all problems in the order of the file.
fn with(mut unaskable: Problems, problems: Problems) -> Problems {
    unaskable.extend(problems);
    unaskable.sort();
    unaskable
}

/// What is read of a file of queries.
struct Reading {
    queries: Vec<Query>,
    /// Why the queries cannot be asked.
    unaskable: Problems,
    /// What is wrong with their APIs.
    problems: Problems,
}

impl Reading {
    fn of(document: &Document) -> Reading {
        let (mut list, mut look) = (Look::new(document), Look::new(document));
        let top = Path::default();
        let value = list.value();
        let values = value.and_then(|value| list.list(value, &top, "a list of queries"));
        let mut queries = Vec::new();
        let mut known = Known::default();
        for (index, value) in values.unwrap_or_default().into_iter().enumerate() {
            let path = top.index(index);
            let Some(fields) = list.object(value, &path, "a query") else { continue };
            let text = read_text(&mut list, (&fields, value), &path);
            let query = read_query(&mut look, &fields, text, &path);
            if let Some(id) = known.clash(&query, queries.len()) {
                let (place, path) = match fields.get_set("query_id") {
                    Some(own) => (own, path.key("query_id")),
                    None => (value, path),
                };
                list.note(place.get(), path, Problem::DuplicateQuery(id));
            }
            queries.push(query);
        }
        Reading { queries, unaskable: list.problems(), problems: look.problems() }
    }
}

/// The texts of queries by their ids.
#[derive(Default)]
struct Known(HashMap<String, String>);

impl Known {
    /// Returns the id of a query if another query has it. The same query may be there twice, and one
    /// without a text is reported for that.
    fn clash(&mut self, query: &Query, index: usize) -> Option<String> {
        if query.text.is_empty() {
            return None;
        }
        let id = query.id_or_number(index);
        match self.0.get(&id) {
            Some(text) => (*text != query.text).then_some(id),
            None => {
                self.0.insert(id, query.text.clone());
                None
            }
        }
    }
}

/// Reads the text of a query; empty if it has none, which is reported.
fn read_text<'d>(
    look: &mut Look<'d>,
    (fields, value): (&Object<'d>, &RawValue),
    path: &Path,
) -> String {
    let Some(own) = fields.get_set("query") else {
        look.note(value.get(), path.clone(), without_text(fields));
        return String::new();
    };
    let Some(text) = json::text_of(own) else {
        let problem = Problem::WrongType { expected: "a text", found: json::kind_of(own) };
        look.note(own.get(), path.key("query"), problem);
        return String::new();
    };
    if text.trim().is_empty() {
        look.note(own.get(), path.key("query"), MISSING_TEXT);
        return String::new();
    }
    text.into_owned()
}

const MISSING_TEXT: Problem = Problem::MissingField { field: "query", of: "query" };

/// The keys of queries. Those that are known otherwise are not misspelt.
const KEYS: [&str; 6] =
    ["query", "query_id", "relevant APIs", "relevant_apis", "api_list", "available_tools"];

/// Returns what is wrong with a query that has no `query`: another key is probably meant for it, or
/// none is.
fn without_text(fields: &Object<'_>) -> Problem {
    let is_meant = |key: &str| match key {
        "question" | "question_text" | "text" | "prompt" | "instruction" => true,
        key => !KEYS.contains(&key) && nearest_key(key, &KEYS) == Some("query"),
    };
    let found = fields.iter().map(|(key, _)| key).find(|key| is_meant(key));
    found.map_or(MISSING_TEXT, |found| {
        let found = found.into_owned();
        Problem::MisspeltField { field: "query", of: "query", found }
    })
}

fn read_query<'d>(look: &mut Look<'d>, fields: &Object<'d>, text: String, path: &Path) -> Query {
    let listed = read_listed(look, fields, path);
    let given = fields.get_set("available_tools").filter(|value| !is_empty(value));
    let available_tools = match given {
        Some(value) => AvailableTools::Given(value.to_owned()),
        None => AvailableTools::Grouped(group(look, &listed)),
    };
    let gold = read_gold(look, fields, path).unwrap_or_else(|| named_pairs(look, &listed));
    let mut apis = Vec::new();
    for Listed { fields, value, path } in &listed {
        if let Some(api) =
            read_api(look, (fields, value.get()), "api_name", "api_description", path)
        {
            let category = look.text(fields, "category_name", path).into_owned();
            apis.push(QueryApi {
                category,
                tool: look.text(fields, "tool_name", path).into(),
                api,
            });
        }
    }
    let id = fields.get_set("query_id").map(ToOwned::to_owned);
    Query { id, text, gold, apis, available_tools }
}

/// An element of `api_list`.
struct Listed<'d> {
    fields: Object<'d>,
    value: &'d RawValue,
    path: Path,
}

fn read_listed<'d>(look: &mut Look<'d>, fields: &Object<'d>, path: &Path) -> Vec<Listed<'d>> {
    let mut listed = Vec::new();
    for (index, value) in look.list_field(fields, "api_list", path).into_iter().enumerate() {
        let path = path.key("api_list").index(index);
        // A pair may take the place of a description; it describes nothing.
        if value.get().starts_with('[') {
            continue;
        }
        if let Some(fields) = look.object(value, &path, "an API") {
            listed.push(Listed { fields, value, path });
        }
    }
    listed
}

/// Returns the first list of pairs that has any; `api_list` may be one too. A list that is
/// explicitly empty counts, and the described APIs are then not taken as right.
fn read_gold<'d>(
    look: &mut Look<'d>,
    fields: &Object<'d>,
    path: &Path,
) -> Option<Vec<(String, String)>> {
    for name in ["relevant APIs", "relevant_apis", "api_list"] {
        let values = look.list_field(fields, name, path);
        if values.first().is_some_and(|first| name != "api_list" || first.get().starts_with('[')) {
            let path = path.key(name);
            let mut pairs = Vec::new();
            for (index, value) in values.into_iter().enumerate() {
                match pair(value) {
                    Some(pair) => pairs.push(pair),
                    None => {
                        let found = juror_json::kind_of(value);
                        let expected = "a pair of tool and API";
                        let problem = Problem::WrongType { expected, found };
                        look.note(value.get(), path.index(index), problem);
                    }
                }
            }
            return Some(pairs);
        }
    }
    let says_none =
        ["relevant APIs", "relevant_apis"].iter().any(|name| fields.get_set(name).is_some());
    says_none.then(Vec::new)
}

/// Reads a list of two strings, or of three whose first is the category, or an object that names
/// both.
fn pair(value: &RawValue) -> Option<(String, String)> {
    if let Ok((tool, api)) = serde_json::from_str::<(String, String)>(value.get()) {
        return Some((tool, api));
    }
    if let Ok((_, tool, api)) = serde_json::from_str::<(String, String, String)>(value.get()) {
        return Some((tool, api));
    }
    let fields: Object<'_> = serde_json::from_str(value.get()).ok()?;
    let text = |name| fields.get_set(name).and_then(juror_json::text_of).map(Cow::into_owned);
    Some((text("tool_name")?, text("api_name")?))
}

fn named_pairs<'d>(look: &mut Look<'d>, listed: &[Listed<'d>]) -> Vec<(String, String)> {
    let pairs = listed.iter().map(|Listed { fields, path, .. }| {
        let mut text = |name| look.text(fields, name, path).into_owned();
        (text("tool_name"), text("api_name"))
    });
    pairs.filter(|(tool, api)| !tool.is_empty() && !api.is_empty()).collect()
}

/// Groups APIs by category and tool, both in order of first appearance.
fn group<'d>(look: &mut Look<'d>, listed: &[Listed<'d>]) -> Vec<AvailableTool> {
    let mut tools: IndexMap<(String, String), Vec<AvailableApi>> = IndexMap::new();
    for Listed { fields, path, .. } in listed {
        let mut text = |name| look.text(fields, name, path).into_owned();
        let (category, tool, api_name) =
            (text("category_name"), text("tool_name"), text("api_name"));
        if tool.is_empty() {
            continue;
        }
        let apis = tools.entry((category, tool)).or_default();
        if !api_name.is_empty() {
            apis.push(AvailableApi { api_name, api_description: text("api_description") });
        }
    }
    let tool = |((category, tool_name), apis)| AvailableTool { category, tool_name, apis };
    tools.into_iter().map(tool).collect()
}

fn is_empty(value: &RawValue) -> bool {
    matches!(
        value.get().split_whitespace().collect::<String>().as_str(),
        "[]" | "{}" | "\"\"" | "0" | "false"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    #[test]
    fn a_problem_is_told_once_and_the_rest_is_read() {
        let json = r#"[5, {"query_id": 1, "query": "q", "api_list": [
            {"tool_name": ["T"], "api_name": "a"}, {"tool_name": "T"}, {"tool_name": "U", "api_name": "b"}]}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let (queries, problems) = read_queries(&document);
        let told: Vec<String> =
            problems.errors.iter().map(|error| error.problem.to_string()).collect();
        assert_eq!(
            told,
            [
                "expected a query, found a number",
                "expected a text, found a list",
                "this API has no `api_name`"
            ]
        );
        assert_eq!(queries[0].gold, [("U".to_owned(), "b".to_owned())]);
        assert_eq!(queries[0].apis.len(), 2);
    }

    #[test]
    fn right_apis_are_known_though_the_query_describes_none() {
        let json = r#"[{"query_id": 1, "query": "q",
            "relevant APIs": [["Weather", "Current"], ["Weather", "Fore cast"]]}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let query = read_queries(&document).0.remove(0);
        let registry = query.registry();
        for name in ["Weather_Current", "current_for_weather"] {
            let answer = format!(
                r#"{{"final_answer": "x", "answer_details": [
                    {{"role": "tool", "message": {{"name": "{name}"}}, "next": []}}]}}"#
            );
            let answer = crate::answer::read_answer(&answer).expect("an answer");
            let called = crate::called_apis(&answer, &[&registry]);
            let score = crate::CallScore::of(&called, &query.gold);
            assert_eq!(score.score(), Some(0.5), "{name}");
        }
    }

    #[test]
    fn a_query_without_text_and_what_is_no_pair_are_told() {
        let json = r#"[{"query_id": 1, "query": " ", "relevant APIs": [["T", "a"],
            ["Music", "U", "b"], ["V"], 5, {"tool_name": "W", "api_name": "c"}]}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let (queries, problems) = read_queries(&document);
        let gold: Vec<String> =
            queries[0].gold.iter().map(|(tool, api)| format!("{tool} {api}")).collect();
        assert_eq!(gold, ["T a", "U b", "W c"]);
        let told: Vec<String> = problems.errors.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        for words in ["expected a pair of tool and API, found a list", "found a number"] {
            assert!(told.iter().any(|told| told.contains(words)), "{told:?}");
        }
        assert!(told.iter().any(|told| told.contains("this query has no `query`")), "{told:?}");
    }

    /// What is told of a file whose queries cannot be asked.
    fn refused(json: &str) -> Vec<String> {
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let problems = read_queries_to_ask(&document).expect_err(json);
        let (_, told) = read_queries(&document);
        assert_eq!(told, problems, "both readers see the same");
        problems.errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_query_without_a_text_cannot_be_asked() {
        let missing = "this query has no `query`";
        let add = "hint: add `query` to the query";
        for (query, told) in [
            (r#"{"query_id": 1}"#, [missing, "q.json:1:2", "at [0]", add]),
            (r#"{"query": null}"#, [missing, "q.json:1:2", "at [0]", add]),
            (r#"{"query": " "}"#, [missing, "q.json:1:12", "at [0].query", add]),
            (
                r#"{"query": 5}"#,
                ["expected a text, found a number", "q.json:1:12", "at [0].query", ""],
            ),
            (
                r#"{"query": ["q"]}"#,
                ["expected a text, found a list", "q.json:1:12", "at [0].query", ""],
            ),
            (
                r#"{"qeury": "a", "query_id": 1}"#,
                ["no `query`, but `qeury`", "q.json:1:2", "at [0]", "hint: did you mean `query`?"],
            ),
            (
                r#"{"question": "a"}"#,
                [
                    "no `query`, but `question`",
                    "q.json:1:2",
                    "at [0]",
                    "hint: did you mean `query`?",
                ],
            ),
            ("5", ["expected a query, found a number", "q.json:1:2", "at [0]", ""]),
        ] {
            let refused = refused(&format!("[{query}]"));
            assert_eq!(refused.len(), 1, "{query}: {refused:?}");
            assert!(told.iter().all(|words| refused[0].contains(words)), "{query}: {refused:?}");
        }
    }

    #[test]
    fn an_id_means_one_query() {
        let refused =
            refused(r#"[{"query": "a", "query_id": 1}, {"query": "b", "query_id": "1"}]"#);
        assert_eq!(
            refused,
            ["q.json:1:60: the query id `1` is used twice, for different queries\n  \
              at [1].query_id\n  hint: give each query of the file an id of its own"]
        );
        let by_number = r#"[{"query": "a", "query_id": "query_2"}, {"query": "b"}]"#;
        assert!(self::refused(by_number)[0].contains("`query_2` is used twice"));
        let same =
            r#"[{"query": "a", "query_id": 1}, {"query": "a", "query_id": 1}, {"query": "a"}]"#;
        let document = Document::new("q.json", same.into(), Format::Json).expect("UTF-8");
        assert_eq!(read_queries_to_ask(&document).expect("queries").0.len(), 3);
    }

    #[test]
    fn what_is_wrong_with_apis_does_not_keep_a_query_from_being_asked() {
        let json = r#"[{"query": "q", "api_list": [{"tool_name": "T"}]}]"#;
        let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
        let (queries, problems) = read_queries_to_ask(&document).expect("queries");
        assert_eq!((queries.len(), problems.len()), (1, 1), "{problems}");
    }

    #[test]
    fn described_apis_are_right_where_nothing_else_is_said() {
        let check = |lists: &str, n_gold: usize| {
            let json =
                format!(r#"[{{{lists} "api_list": [{{"tool_name": "T", "api_name": "a"}}]}}]"#);
            let document = Document::new("q.json", json.into(), Format::Json).expect("UTF-8");
            assert_eq!(read_queries(&document).0[0].gold.len(), n_gold, "{lists}");
        };
        check("", 1);
        check(r#""relevant APIs": null,"#, 1);
        check(r#""relevant APIs": [],"#, 0);
        check(r#""relevant APIs": [], "relevant_apis": [["T", "a"], ["T", "b"]],"#, 2);
    }
}
