//! Hashes of queries.

use juror_runs::CanonicalHash;
use juror_toolbench::{Api, Query, QueryApi};

/// Hashes everything in a query that decides an answer or a score. The id, and the tools that
/// results list, are not part of it.
pub(super) fn query_hash(query: &Query) -> String {
    let Query { id: _, text, gold, apis, available_tools: _ } = query;
    let mut hash = CanonicalHash::default();
    hash.text(text).count(gold.len());
    for (tool, api) in gold {
        hash.text(tool).text(api);
    }
    hash.count(apis.len());
    for api in apis {
        add_api(&mut hash, api);
    }
    hash.finish()
}

fn add_api(hash: &mut CanonicalHash, offered: &QueryApi) {
    let QueryApi { category, tool, api } = offered;
    let Api { name, description, method, url, required, optional, schema, described: _ } = api;
    for text in [category, tool, name, description, method, url] {
        hash.text(text);
    }
    for json in [&required.json, &optional.json, schema] {
        hash.optional(json.as_ref().map(|json| json.get()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_toolbench::read_queries;
    use serde_json::{Value, json};

    fn hash(query: &str) -> String {
        let document = Document::new("q.json", query.into(), Format::Json).expect("JSON");
        let (queries, problems) = read_queries(&document);
        assert!(problems.errors.is_empty(), "{problems}");
        query_hash(&queries[0])
    }

    fn query() -> Value {
        json!([{"query_id": 1, "query": "When does it rain?", "relevant APIs": [["Weather", "Rain"]],
            "api_list": [{"category_name": "Data", "tool_name": "Weather", "api_name": "Rain",
                "api_description": "tells when", "method": "GET", "template_response": {"at": "str"},
                "required_parameters": [{"name": "city", "type": "STRING", "default": "Oslo"}],
                "optional_parameters": []}]}])
    }

    #[test]
    fn how_a_query_is_written_and_called_makes_no_difference() {
        let one = query();
        assert_eq!(hash(&one.to_string()), hash(&format!("{one:#}")));
        let mut other = query();
        other[0]["query_id"] = json!("another");
        other[0]["available_tools"] = json!(["listed"]);
        assert_eq!(hash(&one.to_string()), hash(&other.to_string()));
    }

    #[test]
    fn everything_that_decides_an_answer_makes_another_query() {
        let one = query();
        for (place, value) in [
            ("/0/query", json!("When does it snow?")),
            ("/0/relevant APIs/0/1", json!("Snow")),
            ("/0/api_list/0/category_name", json!("Weather")),
            ("/0/api_list/0/tool_name", json!("Climate")),
            ("/0/api_list/0/api_name", json!("Snow")),
            ("/0/api_list/0/api_description", json!("tells where")),
            ("/0/api_list/0/required_parameters/0/default", json!("Bergen")),
            ("/0/api_list/0/optional_parameters", json!([{"name": "day", "type": "NUMBER"}])),
        ] {
            let mut other = query();
            *other.pointer_mut(place).expect("a place") = value;
            assert_ne!(hash(&one.to_string()), hash(&other.to_string()), "{place}");
        }
    }
}
