//! Seeds of inputs: the project's recorded cases, and texts for what they lack.

use serde_json::{Value, json};

const CASES: [&str; 4] = [
    include_str!("../../../conformance/own.jsonl"),
    include_str!("../../../conformance/own_answers.jsonl"),
    include_str!("../../../conformance/own_judged.jsonl"),
    include_str!("../../../conformance/own_tools.jsonl"),
];

/// The seeds for a parser.
pub(crate) type Seeds = Vec<Vec<u8>>;

/// Returns the inputs of a family of cases, or one part of each.
fn of_cases(family: &str, part: &str) -> Vec<Value> {
    let cases = CASES.iter().flat_map(|cases| cases.lines());
    let cases = cases.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let cases = cases.filter(|case| case["family"] == family);
    cases.filter_map(|case| case["input"].pointer(part).cloned()).collect()
}

fn bytes(values: impl IntoIterator<Item = Value>) -> Seeds {
    values.into_iter().map(|value| value.to_string().into_bytes()).collect()
}

/// Strings as they are, anything else as JSON.
fn texts(values: impl IntoIterator<Item = Value>) -> Seeds {
    let text = |value: Value| match value {
        Value::String(text) => text.into_bytes(),
        other => other.to_string().into_bytes(),
    };
    values.into_iter().map(text).collect()
}

fn written(texts: &[&str]) -> Seeds {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn lines(values: &Value) -> Option<Vec<u8>> {
    let lines = values.as_array()?.iter().map(|value| format!("{value}\n"));
    Some(lines.collect::<String>().into_bytes())
}

/// Both files of an evaluation, in one object.
pub(crate) fn evaluations() -> Seeds {
    let steps = of_cases("steps", "").into_iter().map(|case| {
        json!({
            "reference": [{"template_id": "t", "questions": [{"id": "q", "question_text": "?",
                "reference_answer": "a", "reference_steps": case["reference_steps"]}]}],
            "responses": [{"question_id": "q", "status": "success", "actual_answer": "a",
                "actual_steps": case["actual_steps"], "input_tokens": 1, "elapsed_sec": 0.5}]
        })
    });
    let results = of_cases("sparql", "").into_iter().map(|case| {
        let step = |output: &Value| {
            json!({"name": "sparql_query", "args": {}, "status": "success", "id": "1",
                "output": output.to_string(), "output_media_type": "application/sparql-results+json",
                "required_columns": case["required_columns"], "ordered": case["ordered"]})
        };
        json!({
            "reference": [{"template_id": "t", "questions": [{"id": "q", "question_text": "?",
                "reference_steps": [[step(&case["reference"])]]}]}],
            "responses": [{"question_id": "q", "status": "success",
                "actual_steps": [step(&case["actual"])]}]
        })
    });
    bytes(of_cases("evaluation", "").into_iter().chain(steps).chain(results))
}

fn parts_of_evaluations(part: &str) -> Vec<Value> {
    let all = evaluations().into_iter().filter_map(|seed| serde_json::from_slice(&seed).ok());
    all.filter_map(|seed: Value| seed.get(part).cloned()).collect()
}

pub(crate) fn references() -> Seeds {
    let mut seeds = bytes(parts_of_evaluations("reference"));
    seeds.extend(yaml());
    seeds
}

pub(crate) fn responses() -> Seeds {
    let parts = parts_of_evaluations("responses");
    let of_lines: Seeds = parts.iter().filter_map(lines).collect();
    let mut seeds = bytes(parts);
    seeds.extend(of_lines);
    seeds
}

pub(crate) fn yaml() -> Seeds {
    written(&[
        "- template_id: t\n  questions:\n  - id: 007\n    question_text: |\n      What of\n      it?\n\
         \x20   reference_steps:\n    - - name: retrieval\n        args: {k: 5, query: \"a\\u0062\"}\n\
         \x20       output: '[{\"id\": 1}]'\n",
        "a: &a [1, 0x1F, 1_000, 1:30, .inf, ~]\nb: *a\n<<: {c: 2001-12-14t21:59:43.10-05:00}\n",
        "? [complex, key]\n: >-\n  folded\n  text\n\n...\n---\nsecond: document\n",
        "list:\n- yes\n- 'it''s'\n- \"tab\\t\"\n- !!str 12\n- {a: b, c: [d, e]}\n# end\n",
    ])
}

pub(crate) fn settings() -> Seeds {
    written(&[
        include_str!("../../../examples/juror.yaml"),
        "profile: 6\nsteps: {kinds: {my_search: retrieval}, match_without_output: args}\n",
        "tools:\n  folder: tools\n  cache: [cache]\n  sources: [cache, real]\n  real: {proxy: http://x}\n",
        "llm:\n  generation: {model: openai/m, api_key: k, max_tokens: 5}\n  cost_limit_usd: 1\n",
    ])
}

pub(crate) fn sparql_json() -> Seeds {
    let both = ["/reference", "/actual"].map(|part| of_cases("sparql", part));
    bytes(both.into_iter().flatten())
}

pub(crate) fn sparql_xml() -> Seeds {
    let head = "<?xml version=\"1.0\"?><sparql xmlns=\"http://www.w3.org/2005/sparql-results#\">";
    let table = "<head><variable name=\"a\"/><variable name=\"b\"/></head><results><result>\
         <binding name=\"a\"><uri>urn:1</uri></binding><binding name=\"b\">\
         <literal xml:lang=\"en\">x &amp; y</literal></binding></result><result>\
         <binding name=\"b\"><literal datatype=\"http://www.w3.org/2001/XMLSchema#decimal\">1.0\
         </literal></binding></result></results></sparql>";
    let truth = "<head/><boolean>true</boolean></sparql>";
    written(&[&format!("{head}{table}"), &format!("{head}{truth}")])
}

pub(crate) fn sparql_csv() -> Seeds {
    written(&[
        "a,b\r\nurn:1,\"x \"\"y\"\"\"\r\n,2.0\r\n",
        "name\n\"1\n2\"\n3\n",
        "a,b,c,d\n,,,\n,,,\n",
    ])
}

pub(crate) fn sparql_tsv() -> Seeds {
    written(&[
        "?a\t?b\n<urn:1>\t\"x\\ty\"@en\n\t\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>\n",
        "?n\t?t\n1.5e3\ttrue\n_:b0\t'it'\n",
        "?a\t?b\t?c\n\t\t\n\t\t\n",
    ])
}

pub(crate) fn tools() -> Seeds {
    let pools = of_cases("tool_pool", "/files").into_iter();
    let files = pools.flat_map(|files| match files {
        Value::Object(files) => files.into_iter().map(|(_, file)| file).collect(),
        _ => Vec::new(),
    });
    let mut seeds = texts(files);
    seeds.extend(written(&[include_str!("../../../examples/tools/Weather/garden_weather.json")]));
    seeds
}

pub(crate) fn queries() -> Seeds {
    bytes(of_cases("query_load", "/queries").into_iter().chain(of_cases("api_score", "/query")))
}

pub(crate) fn caches() -> Seeds {
    let mut seeds = texts(of_cases("py_repr", "/json"));
    seeds.extend(written(&[
        include_str!(
            "../../../examples/tool_cache/Weather/garden_weather_for_Weather/current.json"
        ),
        "{\"{'q': \\\"it's\\\", 'n': 1.50}\": {\"error\": \"\", \"response\": [1e400, null]}}",
    ]));
    seeds
}

pub(crate) fn tool_replies() -> Seeds {
    let mut seeds = texts(of_cases("mirror_extract", "/output"));
    seeds.extend(texts(of_cases("check_result", "/value")));
    seeds.extend(written(&[
        "{\"error\": \"\", \"response\": \"cut",
        "{'error': '', 'response': {'a': 1}}",
    ]));
    seeds
}

pub(crate) fn requests() -> Seeds {
    bytes([
        json!({"category": "Data", "tool_name": "t", "api_name": "a_for_t", "tool_input": {"q": 1},
            "strip": "truncate", "toolbench_key": "k"}),
        json!({"category": "C", "tool_name": "T v2", "api_name": "Get It",
            "tool_input": "{\"q\": [1, 2.50, \"x\"]}", "strip": ""}),
        json!({"category": "C", "tool_name": "t", "api_name": "a", "tool_input": "{'q': None}"}),
    ])
}

pub(crate) fn answered() -> Seeds {
    let details = of_cases("steps", "/answer_details");
    let mut seeds = bytes(details.into_iter().map(|details| {
        json!({"type": "answered", "query_id": "1", "final_answer": "a", "answer_details": details,
            "called_apis": [["t", "a"]], "usage": {"input_tokens": 1}})
    }));
    seeds.extend(written(&[
        "{\"type\": \"ready\", \"name\": \"mine\"}",
        "{\"type\": \"answered\", \"query_id\": 1, \"final_answer\": NaN, \"seconds\": -1}",
    ]));
    seeds
}

pub(crate) fn said() -> Seeds {
    written(&[
        "Thought: look\nAction: a_for_t\nAction Input: {\"q\": \"x\"}\nObservation: 1",
        "<tool_call>{\"name\": \"a\", \"arguments\": {\"q\": 1}}</tool_call>",
        "```json\n[{\"name\": \"Finish\", \"arguments\": {\"return_type\": \"give_answer\"}}]\n```",
        "{\"return_type\": \"give_answer\", \"final_answer\": \"it's\"}",
        "[TOOL_CALLS] [{\"name\": \"b\", \"arguments\": {}}]",
        "{'name': 'Finish', 'arguments': \"{'final_answer': 'x'}\"}",
    ])
}

pub(crate) fn verdicts() -> Seeds {
    let mut seeds = texts(of_cases("answer_correctness", "/reply"));
    seeds.extend(texts(of_cases("fac", "/evaluation")));
    seeds.extend(written(&[
        "{\"reference_claims\": 2, \"actual_claims\": 2, \"matching_claims\": 1, \"reason\": \"r\"}",
        "I think\n```json\n{\"reference_claims\": 1, \"actual_claims\": 1, \"matching_claims\": 1}\n```",
        "{\"reference_claims\": 1} {\"reference_claims\": 2, \"actual_claims\": 2, \"matching_claims\": 0}",
        "1. a_for_t\n2. [\"b\", \"c\"]\n{\"tools\": [\"a\"]}",
    ]));
    seeds
}

pub(crate) fn results() -> Seeds {
    let samples = of_cases("aggregates", "/samples");
    let of_lines: Seeds = samples.iter().filter_map(lines).collect();
    let mut seeds = bytes(samples);
    seeds.extend(of_lines);
    seeds
}

pub(crate) fn calibrations() -> Seeds {
    let pairs = [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.8, 0.5)];
    let pairs = pairs.map(|(judge, people)| json!({"judge": judge, "people": people}));
    let file = |n: usize| {
        json!({"format": "juror.calibration/1", "metric": "answer_f1", "made": "2026-01-02",
            "judge": {"model": "m", "prompts": {"answer_claims": "1"}}, "run": "runs/a",
            "pairs": pairs[..n]})
    };
    bytes((0..=pairs.len()).map(file))
}

pub(crate) fn answer_files() -> Seeds {
    let files = ["sopr_flow", "summary"].map(|family| of_cases(family, ""));
    let mut seeds = bytes(files.into_iter().flatten());
    seeds.extend(bytes(of_cases("sopr_flow", "/converted")));
    seeds.extend(bytes(of_cases("sopr", "/is_solved")));
    seeds.extend(bytes(of_cases("summary", "/results").into_iter().map(|results| {
        json!({"metadata": {"agent": "a", "test_set": "G1", "total_queries": 2}, "results": results})
    })));
    seeds
}

pub(crate) fn logs() -> Seeds {
    bytes(of_cases("convert", "/data"))
}

pub(crate) fn model_replies() -> Seeds {
    include_str!("../../../examples/replies.jsonl").lines().take(3).map(Into::into).collect()
}

/// Traces of many dialects, each with a call and its result.
pub(crate) fn traces() -> Seeds {
    let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"n\": 1}"}});
    let chat = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "{'c': 4}"}, {"role": "assistant", "content": "4"}]);
    let text = |key: &str, text: &str| json!({"key": key, "value": {"stringValue": text}});
    let span = json!({"traceId": "t", "spanId": "s", "parentSpanId": "r", "name": "execute_tool t", "startTimeUnixNano": "1785578400000000000",
        "attributes": [text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "t"), text("gen_ai.tool.call.result", "4")],
        "status": {"code": 2, "message": "no"}, "events": [{"name": "exception", "attributes": [text("exception.message", "no")]}]});
    let model = json!({"traceId": "t", "spanId": "m", "name": "chat", "attributes": [text("openinference.span.kind", "LLM"),
        text("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "t"), text("gen_ai.input.messages", &chat.to_string())]});
    let spans = json!({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "x"}, "spans": [span, model]}]}]});
    let mut seeds = bytes([
        json!({"q1": chat}),
        json!({"question_id": "q1", "messages": chat, "usage": {"prompt_tokens": 3}}),
        json!([{"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"}, {"type": "function_call_output", "call_id": "a", "output": "4"}]),
        json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}]),
        json!({"q1": [{"type": "ai", "content": "", "tool_calls": [{"name": "t", "args": {}, "id": "a"}]}, {"type": "tool", "content": "4", "tool_call_id": "a"}]}),
        json!([{"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "t", "args": "{}", "tool_call_id": "a"}]}]),
        json!([{"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"output": 4}}}]}]),
        json!({"dir": "c2s", "msg": {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "t", "arguments": {}}}}),
        json!({"id": "r", "run_type": "tool", "name": "t", "inputs": {"input": "{'n': 1}"}, "outputs": {"output": "4"}, "child_runs": []}),
        json!({"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {"type": "function", "name": "t", "input": "{}", "output": "4"}}),
        json!({"output": "4", "state": "success", "steps": [{"step_number": 1, "tool_calls": [call], "observations": "4"}]}),
        json!({"query": "?", "answer": {"answer_details": [{"role": "tool", "message": "{\"name\": \"t_for_u\", \"arguments\": {}, \"response\": \"4\"}", "next": []}]}}),
        spans.clone(),
    ]);
    seeds.push(format!("{spans}\n{spans}\n").into_bytes());
    seeds.extend(written(&[
        "user_input,retrieved_contexts,response\n?,['x'],4\n",
        "data: {\"jsonrpc\": \"2.0\", \"id\": 1}\n\n",
    ]));
    // A request of protobuf: a resource, a scope, a span with a name.
    seeds.push(vec![10, 14, 18, 12, 18, 10, 10, 2, 1, 2, 18, 1, 3, 42, 1, 116]);
    seeds.push(
        b"PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
            .to_vec(),
    );
    seeds
}

pub(crate) fn trace_maps() -> Seeds {
    written(&[
        "tools: {search_documents: retrieval}\nleave_out: [think]\nerror_patterns: [langgraph, '(?i)timed out']\nquestion_id: metadata.case\n",
    ])
}

pub(crate) fn runs() -> Seeds {
    let records =
        "{\"question_id\":\"q\",\"key\":\"k\",\"notes\":[{\"key\":\"answer_f1\",\"value\":0.5}]}\n";
    let attempts = "{\"set\":\"A\",\"query_id\":\"1\",\"final_answer\":\"a\",\"calls\":[{\"category\":\"c\",\
         \"tool_name\":\"t\",\"api_name\":\"a\",\"tool_input\":{},\"reply\":{},\"source\":\"cache\"}]}\n";
    written(&[records, attempts, RUN, &records.repeat(3), &attempts.repeat(2)])
}

/// The description of a run.
pub(crate) const RUN: &str = "{\"format\": \"juror.run/1\", \"id\": \"0\", \"name\": \"r\", \
     \"kind\": \"eval\", \"is_complete\": false, \"began\": \"2026-01-01T00:00:00Z\", \
     \"juror\": \"0.1.0\", \"identity\": {}}";
