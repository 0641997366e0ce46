//! Seeds of inputs: the project's recorded cases, and texts for what they lack.

use std::io::Write;

use juror_partial::Partial;
use juror_score::{Aggregator, Number, Observation, Profile};
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

/// Numbers of parts of an evaluation, as bytes.
pub(crate) fn partials() -> Seeds {
    let part = |n: usize, profile: &Profile| {
        let mut aggregator = Aggregator::new(profile, &[]);
        for at in 0..n {
            let template = ["capitals", "rivers"][at % 2];
            let numbers = [("steps_score", at as f64 / 7.0), ("elapsed_sec", 0.5)];
            let values =
                numbers.iter().filter_map(|(name, own)| Some((*name, Number::real(*own)?)));
            let values = values.collect();
            aggregator.observe(&Observation { template, values, ..Observation::default() });
        }
        Partial::of(&aggregator).to_bytes()
    };
    vec![
        part(0, &Profile::V5),
        part(1, &Profile::V6),
        part(5, &Profile::V6),
        part(80, &Profile::V5),
    ]
}

pub(crate) fn labels() -> Seeds {
    let line = "{\"format\": \"juror.label/1\", \"id\": \"q\", \"metric\": \"answer_f1\", \"sample\": \"random\", \
        \"question\": \"?\", \"answer\": \"a\", \"label\": 0.5, \"by\": \"ann\", \"note\": null}\n";
    let word = line.replace("0.5", "\"pass\"");
    written(&[
        line,
        &word,
        &format!("{line}{word}"),
        &format!("[{}, {}]", line.trim(), word.trim()),
    ])
}

pub(crate) fn gates() -> Seeds {
    written(&[
        "gates:\n- {metric: steps_score, min: 0.8}\n- {metric: answer_f1, max_drop: 0.05, inconclusive: fail}\n",
        "gates:\n- metric: recall\n  level: template\n  min: 0.5\n  bound: lower\n- {flips: 2}\n",
    ])
}

pub(crate) fn environment_files() -> Seeds {
    written(&["# keys\nexport OPENAI_API_KEY='sk-a'\nB=\"x\\n${OPENAI_API_KEY}\" # c\nC=${D:-e}\n"])
}

pub(crate) fn turtle() -> Seeds {
    written(&[
        "@prefix : <http://example.org/> .\n@base <http://example.org/> .\n:oslo a :City ; :name \"Oslo\"@nb, 'Kristiania' ;\n\
         :people 717710 , 1.5e3 , true .\n[] :about ( :oslo [ :in <norway> ] ) .\n",
        "PREFIX x: <x:>\nx:a x:b \"\"\"long\n\"text\"\\u0041\"\"\"^^x:t . _:b x:c \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .",
    ])
}

pub(crate) fn n_triples() -> Seeds {
    written(&[
        "<x:a> <x:b> <x:c> .\n<x:a> <x:b> \"text\\n\\u00e9\"@en-GB . # c\n_:b0 <x:b> \"1\"^^<x:t> .\n",
    ])
}

pub(crate) fn trig() -> Seeds {
    let named = "@prefix : <x:> .\n:g { :a :b :c , \"d\" . }\nGRAPH _:h { :a :b [ :c 1 ] }\n{ :e :f :g . }\n";
    let mut seeds = turtle();
    seeds.extend(written(&[named]));
    seeds
}

pub(crate) fn rdf_xml() -> Seeds {
    let head = "<?xml version=\"1.0\"?><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:x=\"x:\">";
    let body = "<rdf:Description rdf:about=\"x:oslo\"><x:name xml:lang=\"nb\">Oslo &amp; mer</x:name>\
        <x:people rdf:datatype=\"http://www.w3.org/2001/XMLSchema#integer\">717710</x:people>\
        <x:in rdf:resource=\"x:norway\"/><x:parts rdf:parseType=\"Collection\"><rdf:Description rdf:nodeID=\"a\"/></x:parts>\
        </rdf:Description><x:City rdf:ID=\"rome\"><x:about rdf:parseType=\"Literal\"><b>r</b></x:about></x:City></rdf:RDF>";
    let with_entity = head.replacen("?>", "?><!DOCTYPE rdf:RDF [<!ENTITY e \"x:\">]>", 1);
    let entity = body.replace("x:norway", "&e;norway");
    written(&[&format!("{head}{body}"), &format!("{with_entity}{entity}")])
}

pub(crate) fn json_ld() -> Seeds {
    bytes([
        json!({"@context": {"name": "x:name", "in": {"@id": "x:in", "@type": "@id"}, "@vocab": "x:"},
            "@id": "x:oslo", "@type": "City", "name": [{"@value": "Oslo", "@language": "nb"}, "K"],
            "in": "x:norway", "people": 717_710, "parts": {"@list": [1, 2.5, {"@id": "_:b"}]}}),
        json!([{"@graph": [{"@id": "x:a", "x:b": {"@set": []}}], "@id": "x:g"}, {"@id": "x:c", "x:d": "e", "@reverse": {"x:f": {}}}]),
    ])
}

pub(crate) fn sparql_queries() -> Seeds {
    written(&[
        "PREFIX : <x:> SELECT ?city (COUNT(?name) AS ?n) { ?city :in ?c ; :name ?name FILTER(LANG(?name) = 'nb') } \
         GROUP BY ?city ORDER BY DESC(?n) LIMIT 5",
        "ASK { ?a <x:in>/<x:in>* ?b . OPTIONAL { ?a <x:name> ?n } MINUS { ?a a ?b } }",
        "SELECT * { { SELECT DISTINCT ?s { ?s ?p ?o } } UNION { VALUES ?s { <x:a> 'b' UNDEF } } BIND(STRLEN(STR(?s)) AS ?l) }",
        "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }",
        "DESCRIBE <x:oslo>",
        "SELECT ?x { SERVICE <http://elsewhere/> { ?x ?y ?z } }",
        "INSERT DATA { <x:a> <x:b> <x:c> }",
        "SELECT ?n { ?s p:name ?n FILTER REGEX(?n, '^O', 'i') FILTER EXISTS { ?s p:people ?m } }",
    ])
}

pub(crate) fn query_patterns() -> Seeds {
    written(&[
        "SELECT ?n { {city} <x:name> ?n }",
        "SELECT ?n { {city} <x:name> ?n FILTER(?n != \"{city}\") } # {other}",
        "ASK { {a} {b} '''{c} ' ''' , {d} . }",
        "SELECT ?x { ?x <x:y> <x:{z}> }",
    ])
}

pub(crate) fn templates() -> Seeds {
    written(&[
        "- template_id: names\n  values: 'SELECT ?city ?city_name { ?city <x:in> ?c ; <x:name> ?city_name }'\n\
         \x20 question_text: What is {city_name} called?\n  reference_answer: '{n}'\n  limit: 2\n  reference_steps:\n\
         \x20 - - name: sparql_query\n      args: {query: 'SELECT ?n { {city} <x:name> ?n }'}\n      required_columns: [n]\n",
        "- template_id: all\n  question_text: Which cities are there?\n  allow_empty: true\n  reference_steps:\n  - - name: sparql_query\n\
         \x20     args: {query: 'ASK { ?a <x:in> ?b }'}\n      output_media_type: application/sparql-results+json\n",
        "- template_id: both\n  values: ['SELECT ?a { ?a <x:in> ?x }', 'SELECT ?b { ?b <x:in> ?y }']\n\
         \x20 question_text: '{a} and {b}?'\n  most_rows: 5\n",
    ])
}

/// References whose steps ask a graph.
pub(crate) fn asking_references() -> Seeds {
    let yaml = "- template_id: t # of cities\n  questions:\n  - id: q1\n    question_text: x\n    reference_steps:\n    - - name: sparql_query\n\
        \x20       args: {query: 'SELECT ?n { ?c <x:name> ?n } ORDER BY ?n'} # one\n        output: |-\n          ?n\n          \"Oslo\"\n\
        \x20       output_media_type: text/tab-separated-values\n      - name: sparql_query\n        args:\n          query: >-\n            ASK\n\
        \x20           { ?a ?b ?c }\n        output: '{\"head\": {}, \"boolean\": false}'\n        output_media_type: application/sparql-results+json\n";
    let flow = "[{template_id: t, questions: [{id: q, question_text: x, reference_steps: [[{name: sparql_query,\n  args: {query: \"SELECT * { ?s <x:in> ?o }\"}}]]}]}]\n";
    let json = json!([{"template_id": "t", "questions": [{"id": "q", "question_text": "?", "reference_steps": [[
        {"name": "sparql_query", "args": {"query": "SELECT ?o { <x:oslo> ?p ?o }"}, "output": "{}",
         "output_media_type": "application/sparql-results+json", "ordered": false}]]}]}]);
    let indented = serde_json::to_string_pretty(&json).unwrap_or_default();
    written(&[yaml, flow, &json.to_string(), &indented, &yaml.replace('\n', "\r\n")])
}

pub(crate) fn openapi() -> Seeds {
    let json = json!({"openapi": "3.1.0", "info": {"title": "Garden", "version": "1"},
        "servers": [{"url": "https://{host}/v1", "variables": {"host": {"default": "garden.example"}}}],
        "paths": {"/beds/{bed}": {"parameters": [{"name": "bed", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "get": {"operationId": "getBed", "summary": "A bed", "parameters": [{"$ref": "#/components/parameters/Page"},
                {"name": "tags", "in": "query", "style": "form", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}}],
                "responses": {"200": {"description": "ok"}}},
            "post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Bed"}}}}}}},
        "components": {"parameters": {"Page": {"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}}},
            "schemas": {"Bed": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "enum": ["a", "b"]},
                "next": {"$ref": "#/components/schemas/Bed"}, "all": {"allOf": [{"$ref": "#/components/schemas/Bed"}, {"type": "object"}]}}}}}});
    let mut seeds = bytes([json.clone(), json!({"swagger": "2.0", "paths": {}})]);
    seeds.extend(written(&[&juror_report::yaml_of_json(&json.to_string())]));
    seeds
}

pub(crate) fn function_lists() -> Seeds {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": ["integer", "null"]}}, "required": ["city"]});
    let function = json!({"type": "function", "function": {"name": "forecast", "description": "Weather", "parameters": schema, "strict": true}});
    let plain = json!({"type": "function", "name": "forecast", "parameters": schema});
    let tool = json!({"name": "get", "description": "d", "inputSchema": schema, "annotations": {"readOnlyHint": true}});
    let mut seeds = bytes([
        json!([function, plain]),
        json!({"tools": [tool], "serverInfo": {"name": "garden"}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool, tool]}}),
        json!({"functions": [{"name": "f", "parameters": null}]}),
    ]);
    seeds.push(format!("{function}\n{plain}\n").into_bytes());
    seeds
}

pub(crate) fn cassettes() -> Seeds {
    let mut seeds = caches();
    seeds.extend(written(&[
        "{\"{}\": {\"error\": \"\", \"response\": \"sun\"}, \"{'q': \\\"it's\\\", 'n': 1.5}\": {\"error\": \"no\", \"response\": \"\"}}\n",
        "{\n    \"{'n': 1.50, 'q': 'x'}\": {\n        \"error\": \"\",\n        \"response\": {\"a\": [1, 2]}\n    }\n}\n",
    ]));
    seeds
}

pub(crate) fn cassette_lists() -> Seeds {
    let tool = json!({"name": "get", "description": "d", "inputSchema": {"type": "object", "properties": {"q": {}}}});
    let list = |tools: Value| json!({"addressHash": "a69b07488707edfc", "serverInfo": {"name": "garden"}, "tools": tools});
    bytes([list(json!([tool])), list(json!([tool, {"name": "get"}, {}]))])
}

fn mcp_messages() -> Vec<Value> {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": 1});
    vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": {"cursor": "1", "_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "getbed_for_garden", "arguments": {"bed": 1, "tags": ["a"]}, "_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {"_meta": meta}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "ping"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
    ]
}

pub(crate) fn mcp_requests() -> Seeds {
    bytes(mcp_messages())
}

pub(crate) fn mcp_lines() -> Seeds {
    lines(&Value::Array(mcp_messages())).into_iter().chain(mcp_requests()).collect()
}

pub(crate) fn mcp_replies() -> Seeds {
    let reply = |result: Value| json!({"jsonrpc": "2.0", "id": 5, "result": result});
    bytes([
        reply(json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})),
        reply(
            json!({"content": [{"type": "text", "text": "a"}, {"type": "image", "data": "x"}], "isError": true}),
        ),
        reply(json!({"structuredContent": {"a": 1}, "content": [], "resultType": "complete"})),
        json!({"jsonrpc": "2.0", "id": 5, "error": {"code": -32602, "message": "no", "data": {}}}),
        json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}),
    ])
}

pub(crate) fn http_requests() -> Seeds {
    let post = |path: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let call = "{\"category\": \"OpenAPI\", \"tool_name\": \"Garden\", \"api_name\": \"getBed\", \"tool_input\": {\"bed\": 1}, \"strip\": \"\"}";
    let mut seeds = written(&[
        "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "GET /tools?query=bed%20garden&limit=3 HTTP/1.1\r\nhost: 127.0.0.1:80\r\nconnection: close\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer x\r\n\r\n",
        "POST /virtual HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
        "PUT /runs/r/queries/1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}",
        "DELETE /runs/r HTTP/1.1\r\nhost: localhost\r\n\r\nGET /runs HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nhost: evil.example\r\norigin: http://evil.example\r\nexpect: 100-continue\r\n\r\n",
        &post("/virtual", call),
        &post("/runs/r/queries/1/virtual", call),
    ]);
    seeds.extend(mcp_messages().iter().map(|own| post("/mcp", &own.to_string()).into_bytes()));
    seeds
}

pub(crate) fn endpoint_replies() -> Seeds {
    let mut seeds: Seeds = sparql_json().into_iter().take(20).collect();
    seeds.extend(sparql_xml().into_iter().chain(sparql_tsv()));
    seeds
}

/// Replies of the protocols of models, whole and streamed.
pub(crate) fn chat_replies() -> Seeds {
    let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"n\": 1}"}});
    let openai = json!({"choices": [{"message": {"role": "assistant", "content": "4", "tool_calls": [call]}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}});
    let piece = json!({"choices": [{"delta": {"content": "4", "tool_calls": [{"index": 0, "id": "a", "function": {"name": "t", "arguments": "{"}}]}}]});
    let anthropic = json!({"content": [{"type": "text", "text": "4"}, {"type": "tool_use", "id": "a", "name": "t", "input": {}}], "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2}});
    let started = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "4"}});
    let gemini = json!({"candidates": [{"content": {"parts": [{"text": "4"}, {"functionCall": {"name": "t", "args": {}}}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1}});
    let vectors = json!({"data": [{"index": 0, "embedding": [0.1, 0.2]}], "usage": {"prompt_tokens": 1, "total_tokens": 1}});
    let error = json!({"error": {"message": "no", "type": "invalid_request_error", "code": "x"}});
    let streamed =
        format!("data: {piece}\n\ndata: {started}\n\nevent: x\ndata: {gemini}\n\ndata: [DONE]\n\n");
    let mut seeds = bytes([openai, anthropic, gemini, vectors, error]);
    seeds.extend(written(&[&streamed]));
    seeds
}

/// ZIP files of one entry, stored and deflated.
pub(crate) fn zips() -> Seeds {
    [0_u16, 8].map(|method| zip_of("samples/1.json", b"{\"id\": 1}", method)).into()
}

pub(crate) fn zip_of(name: &str, plain: &[u8], method: u16) -> Vec<u8> {
    let packed = if method == 8 {
        let mut deflate =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        let _ = deflate.write_all(plain);
        deflate.finish().unwrap_or_default()
    } else {
        plain.to_vec()
    };
    let size = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or_default().to_le_bytes();
    let name_size = u16::try_from(name.len()).unwrap_or_default().to_le_bytes();
    let common = [
        &[20, 0, 0, 0][..],
        &method.to_le_bytes(),
        &[0; 8],
        &size(&packed),
        &size(plain),
        &name_size,
        &[0; 2],
    ]
    .concat();
    let local = [b"PK\x03\x04", &*common, name.as_bytes(), &packed].concat();
    let central = [b"PK\x01\x02\x14\x00", &*common, &[0; 14], name.as_bytes()].concat();
    let end =
        [b"PK\x05\x06\0\0\0\0\x01\0\x01\0", &size(&central)[..], &size(&local), &[0; 2]].concat();
    [local, central, end].concat()
}

/// Requests of OTLP as protobuf.
pub(crate) fn protobufs() -> Seeds {
    traces().into_iter().filter(|seed| seed.first() == Some(&10)).collect()
}
