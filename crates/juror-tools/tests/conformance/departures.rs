//! Cases in which the public systems are wrong.

use std::collections::HashSet;

use juror_toolbench::names::{
    LONGEST_NAME, Letters, merge_category, official_name, sanitize, standard_name,
};
use juror_toolbench::{
    Ending, FolderNames, IdFilter, Reply, Rule, Words, accept, rank_by_words, read_mirror_reply,
};
use serde_json::{Value, json};

use crate::environment::step_of;
use crate::families::{cached, document, openai_function, queries};
use crate::pools::{Pools, find};
use crate::{Checked, same, text};

/// Returns `None` for cases about a server, a search or an agent.
pub(crate) fn check(case: &Value, pools: &Pools) -> Option<Checked> {
    names(case, pools)
        .or_else(|| keys(case))
        .or_else(|| replies(case))
        .or_else(|| of_queries(case))
        .or_else(|| steps(case))
        .or_else(|| catalogs(case, pools))
}

fn names(case: &Value, pools: &Pools) -> Option<Checked> {
    let (input, wanted) = (&case["input"], &case["recommended_value"]);
    Some(match text(&case["id"]) {
        "dep-san-1" => same(&json!(sanitize(text(input), Letters::Ascii, LONGEST_NAME)), wanted),
        "dep-san-2" | "dep-names-1" => names_are_distinct(pools)?,
        "dep-names-2" => same(&json!(merge_category("A   B")), wanted),
        "dep-names-3" => paths_are_refused(),
        "dep-names-4" => {
            let api = "transfermarkt_details_for_theclique";
            same(&json!(FolderNames::settled("Data", "TheClique", api).api), wanted)
        }
        "dep-names-5" => {
            same(&json!(FolderNames::settled("Data", "TheClique_for_Data", "x").tool), wanted)
        }
        "dep-virt-5" => same(&json!(standard_name("id")), &json!(standard_name("is_id"))),
        _ => return None,
    })
}

fn keys(case: &Value) -> Option<Checked> {
    Some(match text(&case["id"]) {
        "dep-repr-1" => {
            let alike =
                juror_json::python::Alike { order: true, ..juror_json::python::Alike::default() };
            let key = |json| juror_json::python::alike_str_of_json(json, alike).expect("JSON");
            same(&json!(key(r#"{"b":1,"a":2}"#)), &json!(key(r#"{"a":2,"b":1}"#)))
        }
        "dep-repr-2" => {
            let key = juror_json::python::str_of_json(r#"{"k": "\ud800"}"#);
            same(&json!(key.expect("JSON")), &case["peer_value"])
        }
        "dep-repr-3" => {
            // Characters that were added in Unicode 15 and 16.
            let key = juror_json::python::repr_text("\u{1e4d0}\u{a7cb}");
            same(&json!(key), &json!(r"'\U0001e4d0\ua7cb'"))
        }
        _ => return None,
    })
}

fn replies(case: &Value) -> Option<Checked> {
    let (input, wanted) = (&case["input"], &case["recommended_value"]);
    Some(match text(&case["id"]) {
        "dep-check-1" => {
            let accepted = |rule| accept(&input.to_string(), rule).is_ok();
            same(&json!(accepted(Rule::Strict)), wanted)
                .and_then(|()| same(&json!(accepted(Rule::Compatible)), &case["peer_value"]))
        }
        "dep-check-2" => same(&json!(accept(&input.to_string(), Rule::Compatible).is_ok()), wanted),
        "dep-check-3" => {
            let accepted = accept(&input.to_string(), Rule::Compatible).is_ok();
            same(&json!({"main": accepted, "mirrorapi": accepted}), wanted)
        }
        "dep-check-4" => {
            let accepted = |reply| accept(reply, Rule::Compatible).is_ok();
            same(&json!([accepted("\"error\""), accepted("5")]), &json!([false, false]))
        }
        "dep-mirror-1" => {
            let reply = read_mirror_reply(r#"{"error": "", "response": ""}"#, Ending::Kept);
            same(&parsed(&reply.expect("a reply").json()), wanted)
        }
        "dep-mirror-2" => {
            let texts = [r#"{"response": "x"}"#, "[]", "\"str\"", "null"];
            let none = |text: &&str| read_mirror_reply(text, Ending::Kept).is_none();
            same(&json!(texts.iter().all(none)), &json!(true))
                .and_then(|()| same(&parsed(&Reply::failed().json()), &parsed(text(wanted))))
        }
        "dep-mirror-3" => {
            let reply = read_mirror_reply(text(input), Ending::Trimmed);
            same(&parsed(&reply.expect("a reply").response), wanted)
        }
        _ => return None,
    })
}

fn of_queries(case: &Value) -> Option<Checked> {
    let wanted = &case["recommended_value"];
    Some(match text(&case["id"]) {
        "dep-query-1" => {
            let queries = queries(&json!([{"query_id": 588}, {"query_id": 608}, {"query_id": 9}]));
            let (filter, _) = IdFilter::read(&document("ids.json", &json!([588, 608])));
            let ids: Vec<Value> =
                filter.select(&queries, None).into_iter().map(|query| json!(query.id)).collect();
            same(&json!(ids), wanted)
        }
        "dep-query-2" => {
            let empty = |ids: &Value| IdFilter::read(&document("ids.json", ids)).0.is_empty();
            same(&json!([empty(&json!([])), empty(&json!({}))]), &json!([true, true]))
        }
        "dep-query-4" => {
            let queries = queries(&json!([{"query_id": 588}, {"query_id": 9}]));
            let n_taken = |ids: &Value| {
                IdFilter::read(&document("ids.json", ids)).0.select(&queries, None).len()
            };
            same(&json!([n_taken(&json!(["588"])), n_taken(&json!({"588": 0}))]), &json!([1, 1]))
        }
        "dep-api-5" => {
            let api = json!({"tool_name": "T", "api_name": "a", "category_name": "Data"});
            let queries = queries(&json!([{"query_id": 1, "api_list": [api]}]));
            same(&json!(queries[0].gold), &json!([["T", "a"]]))
        }
        _ => return None,
    })
}

fn steps(case: &Value) -> Option<Checked> {
    let code = |action: &str, arguments: &str, reply: Value| {
        step_of(&["details_for_theclique"], action, arguments, &reply)["code"].clone()
    };
    let error = |error: &str| json!([200, json!({"error": error, "response": ""}).to_string()]);
    Some(match text(&case["id"]) {
        "dep-env-1" => {
            let codes = ["", "e", "theclique", "nish", "details_for_theclique"]
                .map(|action| code(action, "{}", error("")));
            same(&json!(codes), &json!([1, 1, 1, 1, 0]))
        }
        "dep-env-2" => {
            let cut = r#"{"return_type": "give_answer", "final_answer": "cut"} off"#;
            same(&code("Finish", cut, Value::Null), &json!(3))
        }
        "dep-env-4" => {
            let codes = ["Unauthorized error...", "Unsubscribed error..."]
                .map(|text| code("details_for_theclique", "{}", error(text)));
            same(&json!(codes), &json!([7, 8]))
        }
        _ => return None,
    })
}

fn catalogs(case: &Value, pools: &Pools) -> Option<Checked> {
    Some(match text(&case["id"]) {
        "dep-fn-1" => function_lists(&json!([]), &json!([{"name": "q"}]), &json!(["q"])),
        "dep-fn-2" => function_lists(&json!([{"name": "q"}]), &json!([]), &json!(["q"])),
        "dep-load-2" => counts_are(pools, "tool_pool_2490", 814, 2490)?,
        "dep-load-3" => {
            let catalog = pools.get("tool_pool_2490/tools")?;
            let found = find(catalog, "Movies", "Streaming Availability", "Search Ultra");
            same(&json!(found.is_some()), &json!(true))
        }
        "dep-load-4" => demo_projects_are_apart(pools)?,
        "dep-load-7" => counts_are(pools, "tool_pool_2490_document", 814, 2490).and(counts_are(
            pools,
            "tool_pool_2490_flat",
            811,
            2478,
        ))?,
        "dep-sel-2" => {
            let kept =
                json!({"query": "q", "selected_tools": ["gone"], "model": "m", "max_tools": 2});
            let stale = cached(&kept).is_some_and(|kept| kept.is_stale(&[("C", "C")]));
            same(&json!(stale), &json!(true))
        }
        "dep-sel-3" => {
            let ranked = rank_by_words("any data?", &["x", "data_x"], 2, Words::Letters);
            same(&json!(ranked), &json!(["data_x"]))
        }
        _ => return None,
    })
}

pub(crate) fn parsed(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

fn paths_are_refused() -> Checked {
    let requested = FolderNames::as_requested("Data", "../../../etc/x_for_Data", "x");
    let settled = FolderNames::settled("..", "x", "x");
    let refused = [requested.check().is_err(), settled.check().is_err()];
    same(&json!(refused), &json!([true, true]))
}

fn names_are_distinct(pools: &Pools) -> Option<Checked> {
    let registry = pools.get("tool_pool_2490/tools")?.registry();
    let names: HashSet<&String> = registry.function_names().iter().collect();
    let entries = registry.entries();
    // A name that only one API has is the official one.
    let n_official = entries
        .iter()
        .zip(registry.function_names())
        .filter(|(entry, name)| **name == official_name(&entry.tool, &entry.api))
        .count();
    let all_lead_back = (0..).zip(registry.function_names()).all(|(at, name)| {
        registry.position(name) == Some(at) && name.chars().count() <= LONGEST_NAME
    });
    let got = json!([names.len(), entries.len() - n_official, all_lead_back]);
    Some(same(&got, &json!([2490, 34, true])))
}

fn function_lists(required: &Value, optional: &Value, names: &Value) -> Checked {
    let api = json!({"tool_name": "T", "api_name": "A", "required_parameters": required,
        "optional_parameters": optional});
    let line = json!({"input": {"api": api}}).to_string();
    let list = |of: &Value| if of == &json!([]) { json!([]) } else { names.clone() };
    let parameters = json!({"type": "object",
        "properties": {"q": {"type": "string", "description": ""}},
        "required": list(required), "optional": list(optional)});
    let description = "This is the subfunction for tool \"t\", you can use this tool.";
    let function = json!({"name": "a_for_t", "description": description, "parameters": parameters});
    let wanted = json!({"function": {"type": "function", "function": function}});
    openai_function(&line, &json!({"standard_tool_name": "t"}), &wanted)
}

fn counts_are(pools: &Pools, folder: &str, n_tools: usize, n_apis: usize) -> Option<Checked> {
    let catalog = pools.get(folder)?;
    Some(same(&json!([catalog.tools().len(), catalog.n_apis()]), &json!([n_tools, n_apis])))
}

fn demo_projects_are_apart(pools: &Pools) -> Option<Checked> {
    let tools = pools.get("tool_pool_2490/tools")?.tools();
    let demo: HashSet<_> = tools
        .iter()
        .filter(|tool| tool.name.ends_with("Demo Project"))
        .map(|tool| tool.category.clone())
        .collect();
    Some(same(&json!(demo.len()), &json!(3)))
}
