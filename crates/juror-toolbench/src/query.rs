//! The queries that agents are tested on: their text, the APIs offered, and the right ones.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use juror_document::{Document, Look, Path, Problem, Problems};
use juror_json::{Object, python};
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

/// Reads a file of queries. Reports and skips what it cannot use.
pub fn read_queries(document: &Document) -> (Vec<Query>, Problems) {
    let mut look = Look::new(document);
    let top = Path::default();
    let value = look.value();
    let values = value.and_then(|value| look.list(value, &top, "a list of queries"));
    let mut queries = Vec::new();
    for (index, value) in values.unwrap_or_default().into_iter().enumerate() {
        let path = top.index(index);
        if let Some(fields) = look.object(value, &path, "a query") {
            let query = read_query(&mut look, &fields, &path);
            if query.text.trim().is_empty() {
                let problem = Problem::MissingField { field: "query", of: "query" };
                look.note(value.get(), path, problem);
            }
            queries.push(query);
        }
    }
    (queries, look.problems())
}

fn read_query<'d>(look: &mut Look<'d>, fields: &Object<'d>, path: &Path) -> Query {
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
    Query { id, text: look.text(fields, "query", path).into(), gold, apis, available_tools }
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
