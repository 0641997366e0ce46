//! How the cases of each family are run.

use juror_document::{Document, Format};
use juror_toolbench::names::{
    LONGEST_NAME, Letters, change_name, document_name, merge_category, official_name, sanitize,
    sanitize_parameter, standardize, standardize_category,
};
use juror_toolbench::strip::{name_error, shorten};
use juror_toolbench::{
    CachedSelection, Ending, FolderNames, Folders, Form, Found, IdFilter, Query, Reply, Rule,
    Wanted, Words, accept, function, rank_by_words, read_mirror_reply, read_queries,
    read_selected_names, read_tool_file, select_tools, selection_key,
};
use serde_json::{Value, json};

use crate::departures::parsed;
use crate::{Checked, same, text};

pub(crate) fn document(name: &str, value: &Value) -> Document {
    Document::new(name, value.to_string().into_bytes(), Format::Json).expect("UTF-8")
}

fn count(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

pub(crate) fn py_repr(input: &Value, wanted: &Value) -> Checked {
    let json = text(&input["json"]);
    let key = juror_json::python::str_of_json(json).map_err(|error| error.to_string())?;
    // A bare string has no quotes and cannot be parsed back.
    if !json.trim_start().starts_with('"') {
        let read = juror_json::python::json_of_literal(&key).map_err(|error| error.to_string())?;
        same(&json!(juror_json::python::str_of_json(&read).ok()), &json!(key))?;
    }
    same(&json!(key), wanted)
}

pub(crate) fn names(input: &Value, wanted: &Value) -> Checked {
    let name = || text(&input["s"]);
    let (tool, api) = (&input["tool_name"], &input["api_name"]);
    let got = match text(&input["fn"]) {
        "standardize" => standardize(name()),
        "change_name" => change_name(name()),
        "change_name(standardize)" => change_name(&standardize(name())),
        "standardize_category" => standardize_category(name()),
        "normalize_category" => merge_category(name()),
        "sanitize_param_name" => sanitize_parameter(name()),
        "official_function_name" => official_name(text(tool), text(api)),
        "document_name" => document_name(text(tool), text(api)),
        "prepare" => {
            let names = FolderNames::as_requested(text(&input["category"]), text(tool), text(api));
            return same(&prepared(&names), wanted);
        }
        other => return Err(format!("unknown function {other}")),
    };
    same(&json!(got), wanted)
}

fn prepared(names: &FolderNames) -> Value {
    let FolderNames { category, tool, api, standard_tool } = names;
    let code = format!("from my_tools.{category}.{standard_tool}.api import {api}");
    json!({"category": category, "tool_name": tool, "api_name": api, "code_string": code,
        "cache_path": names.cache_file()})
}

pub(crate) fn sanitized(input: &Value, wanted: &Value) -> Checked {
    let longest = count(&input["max_length"]).unwrap_or(LONGEST_NAME);
    let letters = if input["letters"] == "ascii" { Letters::Ascii } else { Letters::Any };
    same(&json!(sanitize(text(&input["name"]), letters, longest)), wanted)
}

pub(crate) fn check_result(input: &Value, wanted: &Value) -> Checked {
    let reply = input["value"].to_string();
    if wanted.is_boolean() {
        return same(&json!(accept(&reply, Rule::Strict).is_ok()), wanted);
    }
    let accepted = accept(&reply, Rule::Compatible).is_ok();
    same(&json!({"main": accepted, "mirrorapi": accepted}), wanted)
}

pub(crate) fn mirror_extract(input: &Value, wanted: &Value) -> Checked {
    let reply = read_mirror_reply(text(&input["output"]), Ending::Kept);
    same(&parsed(&reply.unwrap_or_else(Reply::failed).json()), &wanted["reply"])
}

pub(crate) fn strip(input: &Value, wanted: &Value) -> Checked {
    if input["fn"] == "process_error" {
        let response = &input["response"];
        let named = name_error(&response.to_string());
        let reply = json!({"error": named.error, "response": response});
        return same(&json!([reply, named.may_keep, named.try_other_key]), wanted);
    }
    let mut reply = input["origin"].clone();
    shorten(&mut reply, &input["schema"]);
    if wanted.get("raises").is_some() { Ok(()) } else { same(&reply, wanted) }
}

pub(crate) fn queries(value: &Value) -> Vec<Query> {
    read_queries(&document("queries.json", value)).0
}

pub(crate) fn query_load(input: &Value, wanted: &Value) -> Checked {
    if input["fn"] == "extract" {
        return extract(&input["query"], wanted);
    }
    let filter = match &input["ids"] {
        Value::Null => IdFilter::default(),
        ids => IdFilter::read(&document("ids.json", ids)).0,
    };
    let queries = queries(&input["queries"]);
    let most = count(&input["max_queries"]);
    let ids: Vec<Value> = filter.select(&queries, most).into_iter().map(|q| json!(q.id)).collect();
    same(&json!(ids), wanted.get("ids").unwrap_or(&wanted["recommended"]))
}

fn extract(query: &Value, wanted: &Value) -> Checked {
    let queries = queries(&json!([query]));
    same(&json!(queries[0].available_tools), &wanted["available_tools"])?;
    // If the recorded gold has whole APIs, compare their pairs.
    let pair = |gold: &Value| match gold {
        Value::Object(api) => {
            let name = |key: &str| api.get(key)?.as_str().filter(|name| !name.is_empty());
            Some(json!([name("tool_name")?, name("api_name")?]))
        }
        pair => Some(pair.clone()),
    };
    let gold: Vec<Value> =
        wanted["gold"].as_array().expect("a list").iter().filter_map(pair).collect();
    same(&json!(queries[0].gold), &json!(gold))
}

/// Reads the API from the line itself, because a `Value` loses the order of fields.
pub(crate) fn openai_function(line: &str, input: &Value, wanted: &Value) -> Checked {
    let api = raw_api(line).ok_or("no API")?;
    let document = Document::new("api.json", api.into_bytes(), Format::Json).expect("UTF-8");
    let (found, problems) = read_tool_file(&document, &Folders::default());
    let Some(Found::Api(tool)) = found else { return Err(problems.to_string()) };
    let standard_tool = text(&input["standard_tool_name"]);
    let api = &tool.apis[0];
    let name = official_name(standard_tool, &api.name);
    let form = if input["form"] == "schema" { Form::Schema } else { Form::Official };
    let function = function(&name, standard_tool, api, form);
    same(&json!({"function": function}), wanted)
}

fn raw_api(line: &str) -> Option<String> {
    let fields: juror_json::Object<'_> = serde_json::from_str(line).ok()?;
    let input: juror_json::Object<'_> = serde_json::from_str(fields.get("input")?.get()).ok()?;
    Some(input.get("api")?.get().to_owned())
}

pub(crate) fn tool_select(input: &Value, wanted: &Value) -> Checked {
    let most = count(&input["max_tools"]).expect("a number");
    let query = || text(&input["query"]);
    let names = || input["tools"].as_array().expect("tools").iter().map(text).collect::<Vec<_>>();
    let rank = || rank_by_words(query(), &names(), most, words(input));
    let got = match text(&input["fn"]) {
        "cache_key" => json!(selection_key(query(), most, text(&input["model"]))),
        "keyword_fallback" => json!(rank()),
        "parse_llm_reply" => match read_selected_names(text(&input["reply"]), &names()) {
            Some(chosen) => json!(chosen.into_iter().take(most).collect::<Vec<_>>()),
            None => json!(rank()),
        },
        "select_tools" => select(input, most),
        other => return Err(format!("unknown function {other}")),
    };
    same(&got, wanted)
}

fn words(input: &Value) -> Words {
    if input["words"] == "letters" { Words::Letters } else { Words::Spaced }
}

pub(crate) fn cached(value: &Value) -> Option<CachedSelection> {
    Some(CachedSelection {
        query: value["query"].as_str()?.to_owned(),
        selected_tools: value["selected_tools"]
            .as_array()?
            .iter()
            .map(|name| text(name).to_owned())
            .collect(),
        model: value["model"].as_str()?.to_owned(),
        max_tools: count(&value["max_tools"])?,
    })
}

fn select(input: &Value, most: usize) -> Value {
    let tools: Vec<(&str, &str)> = input["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|pair| (text(&pair[0]), text(&pair[1])))
        .collect();
    let (query, model) = (text(&input["query"]), text(&input["model"]));
    let wanted = Wanted { query, model, most, words: words(input) };
    let cached = cached(&input["cache_file"]);
    let reply = || text(&input["llm_reply"]).to_owned();
    let selection = select_tools(wanted, &tools, cached.as_ref(), reply);
    let after = if selection.is_new {
        json!({"query": query, "selected_tools": selection.names, "model": model, "max_tools": most})
    } else {
        input["cache_file"].clone()
    };
    json!({"selected": selection.names, "cache_after": after})
}
