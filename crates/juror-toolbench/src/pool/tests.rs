use juror_document::Format;
use serde_json::{Value, json};

use super::*;
use crate::{Form, Registry, function};

fn read(text: &str, format: Format) -> (Vec<Tool>, Vec<String>) {
    let document = Document::new("pool", text.into(), format).expect("text");
    let (tools, problems) = read_pool(&document, "mine");
    (tools, problems.errors.iter().map(ToString::to_string).collect())
}

/// The functions of a pool, and what is told about it.
fn functions(text: &str, format: Format) -> (Vec<Value>, Vec<String>) {
    let (tools, problems) = read(text, format);
    let registry = Registry::of_tools(&tools);
    let apis = tools.iter().flat_map(|tool| &tool.apis);
    let functions = apis.zip(registry.function_names());
    let functions = functions.map(|(api, name)| json!(function(name, "t", api, Form::Schema)));
    (functions.map(|function| function["function"].clone()).collect(), problems)
}

const NESTED: &str = r#"{"type": "object", "properties": {
    "when": {"type": "object", "properties": {"day": {"type": "string", "enum": ["mon", "tue"]}}},
    "beds": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
    "required": ["when"], "additionalProperties": false}"#;

#[test]
fn functions_of_every_form_keep_their_schemas() {
    let schema: Value = serde_json::from_str(NESTED).expect("JSON");
    let chat = format!(
        r#"[{{"type": "function", "function": {{"name": "plant", "description": "d", "parameters": {NESTED}}}}}]"#
    );
    let responses = format!(
        r#"[{{"type": "function", "name": "plant", "description": "d", "parameters": {NESTED}}}]"#
    );
    let tools = format!(
        r#"{{"tools": [{{"name": "plant", "description": "d", "inputSchema": {NESTED}}}]}}"#
    );
    let reply = format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {tools}}}"#);
    for text in [chat, responses, tools, reply] {
        let (functions, problems) = functions(&text, Format::Json);
        let wanted = json!({"name": "plant", "description": "d", "parameters": schema});
        assert_eq!((functions, problems), (vec![wanted], vec![]), "{text}");
    }
}

#[test]
fn the_parameters_of_a_schema_can_be_searched() {
    let text = format!(r#"[{{"name": "plant", "parameters": {NESTED}}}]"#);
    let (tools, _) = read(&text, Format::Json);
    let api = &tools[0].apis[0];
    assert_eq!(api.required.list[0].name, "when");
    assert_eq!(api.optional.list[0].name, "beds");
    let json = api.required.json.as_ref().expect("a list").get();
    assert!(json.contains(r#""name":"when""#) && json.contains("enum"), "{json}");
}

#[test]
fn a_list_of_jurors_own_keeps_the_names_of_calls() {
    let text = r#"[{"type": "function", "function": {"name": "a_for_b", "parameters": {}},
        "category": "C", "tool_name": "B", "api_name": "A"}]"#;
    let (tools, _) = read(text, Format::Json);
    let tool = &tools[0];
    assert_eq!((tool.category.as_deref(), &*tool.name, &*tool.apis[0].name), (Some("C"), "B", "A"));
}

const OPEN: &str = r##"
openapi: 3.1.0
info: {title: Garden, version: "1"}
servers:
- url: https://{region}.garden.example/v1/
  variables: {region: {default: eu}}
paths:
  /beds/{id}:
    parameters:
    - {name: id, in: path, required: true, schema: {type: integer}}
    - {name: lang, in: query, schema: {type: string}}
    get:
      operationId: getBed
      summary: A bed.
      parameters:
      - {name: lang, in: query, description: Language, schema: {type: string, enum: [en, de]}}
      - {name: tags, in: query, schema: {type: array, items: {type: string}}}
      - {name: id, in: query, schema: {type: string}}
      - {name: X-Trace, in: header, schema: {type: string}}
      - {name: Authorization, in: header, schema: {type: string}}
    put:
      requestBody:
        required: true
        content:
          text/plain: {schema: {type: string}}
          application/json: {schema: {$ref: "#/components/schemas/Bed"}}
  /plants:
    post:
      operationId: addPlant
      requestBody:
        content:
          application/json: {schema: {oneOf: [{type: string}, {$ref: "#/components/schemas/Bed"}]}}
components:
  schemas:
    Bed:
      type: object
      required: [name]
      properties:
        name: {type: string}
        soil: {$ref: "#/components/schemas/Soil", description: of the bed}
    Soil: {type: object, description: a soil, properties: {ph: {type: number}}}
"##;

#[test]
fn operations_take_one_object_of_arguments() {
    let (functions, problems) = functions(OPEN, Format::Yaml);
    assert_eq!(problems, Vec::<String>::new());
    let parameters = |at: usize| functions[at]["parameters"].clone();
    let names: Vec<&str> = functions.iter().filter_map(|own| own["name"].as_str()).collect();
    assert_eq!(names, ["getBed", "put_beds_id", "addPlant"]);
    assert_eq!(
        parameters(0),
        json!({"type": "object", "required": ["id"], "properties": {
            "id": {"type": "integer"},
            "lang": {"type": "string", "enum": ["en", "de"], "description": "Language"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "id_query": {"type": "string"},
            "X-Trace": {"type": "string"}}})
    );
    let soil = json!({"type": "object", "description": "of the bed",
        "properties": {"ph": {"type": "number"}}});
    assert_eq!(
        parameters(1)["properties"],
        json!({"id": {"type": "integer"}, "lang": {"type": "string"},
            "name": {"type": "string"}, "soil": soil})
    );
    assert_eq!(parameters(1)["required"], json!(["id", "name"]));
    assert!(parameters(2)["properties"]["body"]["oneOf"][1]["properties"]["soil"].is_object());
}

#[test]
fn operations_say_where_arguments_go() {
    let (tools, _) = read(OPEN, Format::Yaml);
    let api = |at: usize| &tools[0].apis[at];
    let described = |at: usize| api(at).described.as_ref().expect("described");
    let place = |at: usize, argument: &str| {
        let found = described(at).request.iter().find(|place| place.argument == argument);
        found.map(|place| (place.name.clone(), place.part, place.style)).expect("a place")
    };
    assert_eq!(api(0).url, "https://eu.garden.example/v1/beds/{id}");
    assert_eq!((&*api(0).method, &*tools[0].name), ("GET", "Garden"));
    assert_eq!(place(0, "id").1, RequestPart::Path);
    assert_eq!(place(0, "id_query"), ("id".into(), RequestPart::Query, ListStyle::Repeated));
    assert_eq!(place(1, "soil").1, RequestPart::Field);
    assert_eq!(place(2, "body").1, RequestPart::Body);
    assert_eq!(described(1).body, BodyForm::Json);
}

#[test]
fn references_that_lead_nowhere_or_back_are_located_and_kept() {
    let text = r##"{"openapi": "3.0.3", "paths": {"/n": {"post": {"operationId": "n",
        "parameters": [{"$ref": "#/components/parameters/None"}, {"$ref": "other.yaml#/p"}],
        "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"type": "object", "properties": {"node": {"$ref": "#/components/schemas/Node"},
             "gone": {"$ref": "#/components/schemas/Gone"}}}}}}}}},
        "components": {"schemas": {"Node": {"type": "object", "properties":
            {"next": {"$ref": "#/components/schemas/Node"}}}}}}"##;
    let (functions, problems) = functions(text, Format::Json);
    let parameters = &functions[0]["parameters"];
    let next = json!({"$ref": "#/$defs/Node"});
    assert_eq!(parameters["properties"]["node"]["properties"]["next"], next);
    assert_eq!(parameters["$defs"]["Node"]["properties"]["next"], next);
    assert_eq!(parameters["properties"]["gone"], json!({}));
    let told = problems.join("\n");
    for part in [
        "the reference `#/components/parameters/None` leads nowhere",
        "at paths./n.post.parameters[0].$ref",
        "the reference `other.yaml#/p` leads to another file",
        "the reference `#/components/schemas/Gone` leads nowhere",
        "the reference `#/components/schemas/Node` contains itself",
        "at components.schemas.Node.properties.next.$ref",
        "pool:2:",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
}

#[test]
fn references_that_go_round_are_named_with_their_places() {
    let text = r##"{"openapi": "3.0.3", "paths": {
        "/n": {"post": {"operationId": "n", "parameters": [{"$ref": "#/components/parameters/A"},
            {"$ref": "#/components/parameters/Text"}, {"$ref": "#/paths/~1m/get/parameters/0"}],
        "requestBody": {"content": {"application/json": {"schema": {"type": "object",
            "properties": {"ring": {"$ref": "#/components/schemas/Ring"}}}}}}}},
        "/m": {"get": {"operationId": "m", "parameters": [{"name": "k", "in": "query"}]}}},
        "components": {"parameters": {"A": {"$ref": "#/components/parameters/B"},
            "B": {"$ref": "#/components/parameters/A"}, "Text": "x"},
        "schemas": {"Ring": {"$ref": "#/components/schemas/Gnir"},
            "Gnir": {"$ref": "#/components/schemas/Ring"}}}}"##;
    let (functions, problems) = functions(text, Format::Json);
    let properties = &functions[0]["parameters"]["properties"];
    assert_eq!(properties["ring"], json!({}));
    assert!(properties["k"].is_object(), "an item of a list: {properties}");
    let told = problems.join("\n");
    for part in [
        "the reference `#/components/parameters/A` goes round in a circle",
        "at paths./n.post.parameters[0].$ref",
        "the reference `#/components/parameters/Text` leads to something that is not an object",
        "at paths./n.post.parameters[1].$ref",
        "the reference `#/components/schemas/Ring` goes round in a circle",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
}

#[test]
fn a_reference_of_more_keys_than_any_value_is_deep_leads_nowhere() {
    let long = format!("#{}", "/components/schemas".repeat(10_000));
    let text = format!(
        r#"{{"openapi": "3.0.3", "paths": {{"/n": {{"post": {{"operationId": "n",
        "parameters": [{{"$ref": "{long}"}}]}}}}}}, "components": {{"schemas": {{}}}}}}"#
    );
    let (_, problems) = functions(&text, Format::Json);
    assert!(problems.join("\n").contains("leads nowhere"));
}

#[test]
fn of_parameters_that_are_the_same_the_last_counts() {
    let parameters = r#"{"name": "bed", "in": "query"},"#.repeat(1_000);
    let text = format!(
        r#"{{"openapi": "3.0.3", "paths": {{"/n": {{"parameters": [{parameters}
        {{"name": "bed", "in": "query", "description": "last"}}], "get": {{"operationId": "n"}}}}}}}}"#
    );
    let (functions, _) = functions(&text, Format::Json);
    let properties = functions[0]["parameters"]["properties"].as_object().expect("arguments");
    assert_eq!((properties.len(), &properties["bed"]["description"]), (1, &json!("last")));
}

#[test]
fn schemas_that_would_grow_without_end_are_cut() {
    let mut schemas = vec![r#""S0": {"type": "string"}"#.to_owned()];
    for n in 1..40 {
        let half = format!(r##"{{"$ref": "#/components/schemas/S{}"}}"##, n - 1);
        schemas.push(format!(
            r#""S{n}": {{"type": "object", "properties": {{"a": {half}, "b": {half}}}}}"#
        ));
    }
    let text = format!(
        r##"{{"openapi": "3.1.0", "paths": {{"/x": {{"get": {{"parameters": [{{"name": "p",
            "in": "query", "schema": {{"$ref": "#/components/schemas/S39"}}}}]}}}}}},
            "components": {{"schemas": {{{}}}}}}}"##,
        schemas.join(",")
    );
    let (functions, problems) = functions(&text, Format::Json);
    assert!(functions[0].to_string().len() < 300_000);
    assert!(problems.iter().any(|told| told.contains("the schema is too long")), "{problems:?}");
}

#[test]
fn what_is_no_pool_is_refused() {
    for (text, wanted) in [
        (r#"{"a": 1}"#, "no tools in any known form: an object with `a`"),
        ("[1]", "no tools in any known form: a list of something else"),
        (r#""x""#, "no tools in any known form: a text"),
        (r#"{"swagger": "2.0"}"#, "this is version 2.0 of OpenAPI"),
        (r#"{"openapi": "4.0"}"#, "this is version 4.0 of OpenAPI"),
    ] {
        let (tools, problems) = read(text, Format::Json);
        assert!(tools.is_empty());
        assert!(problems[0].contains(wanted), "{problems:?}");
    }
}

#[test]
fn bad_functions_leave_the_others_alone() {
    let text = r#"{"tools": [5, {"name": "a", "inputSchema": {}}, {"x": 1}, {"name": "b", "inputSchema": 7}]}"#;
    let (functions, problems) = functions(text, Format::Json);
    assert_eq!(functions.len(), 2);
    assert_eq!(functions[1]["parameters"], json!({"type": "object", "properties": {}}));
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("at tools[0]"), "{problems:?}");
}
