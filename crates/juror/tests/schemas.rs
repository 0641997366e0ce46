//! The shapes that models are asked for, on the bytes that are sent: models write properties in the
//! order of the schema, so grounds come first and the verdict last.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::process::Command;

use juror_scripted::{Matching, Reply, Script, Server};
use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// JSON whose objects keep the order of their keys.
enum Ordered {
    Object(Vec<(String, Ordered)>),
    List(Vec<Ordered>),
    Text(String),
    Other,
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Ordered, D::Error> {
        deserializer.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Ordered::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_str<E>(self, text: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Other)
    }
}

impl Ordered {
    /// The names under each `properties` and `propertyOrdering`, outermost first. A schema that is
    /// told in words is looked for in texts.
    fn orders(&self, found: &mut Vec<(&'static str, Vec<String>)>) {
        match self {
            Ordered::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("properties", Ordered::Object(properties)) => {
                            let names = properties.iter().map(|(name, _)| name.clone());
                            found.push(("properties", names.collect()));
                        }
                        ("propertyOrdering", Ordered::List(names)) => {
                            let name = |name: &Ordered| match name {
                                Ordered::Text(name) => name.clone(),
                                _ => String::new(),
                            };
                            found.push(("propertyOrdering", names.iter().map(name).collect()));
                        }
                        _ => {}
                    }
                    value.orders(found);
                }
            }
            Ordered::List(items) => items.iter().for_each(|item| item.orders(found)),
            Ordered::Text(text) => {
                let told = text.split("Its JSON Schema:\n").nth(1);
                let told = told.and_then(|told| told.lines().next());
                if let Some(Ok(schema)) = told.map(serde_json::from_str::<Ordered>) {
                    schema.orders(found);
                }
            }
            Ordered::Other => {}
        }
    }
}

/// The chosen order for a purpose: of the whole, and of the things in a list, if there is one.
fn chosen(purpose: &str) -> Vec<Vec<&'static str>> {
    match purpose {
        "answer_claims" => {
            vec![vec!["reason", "reference_claims", "actual_claims", "matching_claims"]]
        }
        "listed_claims" => vec![
            vec!["reference_claims", "actual_claims"],
            vec!["number", "claim"],
            vec!["claim", "matches"],
        ],
        "generated_question" => vec![vec!["question", "noncommittal"]],
        "answer_attribution" | "context_attribution" => {
            vec![vec!["statements"], vec!["statement", "reason", "attributed"]]
        }
        "answer_usefulness" | "context_usefulness" => vec![vec!["reason", "useful"]],
        "custom_tone" => vec![vec!["why", "mood", "a_score"]],
        "answer_status" | "answer_status_detailed" | "final_answer_status" => {
            vec![vec!["reason", "answer_status"]]
        }
        "better_answer" => vec![vec!["reason", "index"]],
        other => panic!("no order is chosen for {other}"),
    }
}

const PURPOSES: [&str; 12] = [
    "answer_attribution",
    "answer_claims",
    "answer_status",
    "answer_status_detailed",
    "answer_usefulness",
    "better_answer",
    "context_attribution",
    "context_usefulness",
    "custom_tone",
    "final_answer_status",
    "generated_question",
    "listed_claims",
];

/// An answer of an agent that ends with a call of `Finish`.
fn answer(final_answer: &str) -> Value {
    let finish = json!({"role": "tool", "next": [],
        "message": {"name": "Finish", "arguments": {}, "response": ""}});
    json!({"query": "Where?", "available_tools": [], "answer": {"method": "CoT@1",
        "total_steps": 2, "final_answer": final_answer,
        "answer_details": [{"role": "system", "message": "", "next": [finish]}]}})
}

fn write_inputs(folder: &std::path::Path) {
    let contexts = json!([{"id": 1, "text": "It rained in Oslo."}]).to_string();
    let expected = json!({"name": "retrieval", "output": contexts});
    let reference = json!([{"template_id": "t", "questions": [{"id": "q",
        "question_text": "Where did it rain?", "reference_answer": "In Oslo.",
        "reference_steps": [[expected]]}]}]);
    let step = json!({"name": "retrieval", "id": "s", "args": {"k": 1}, "status": "success",
        "output": contexts});
    let response = json!({"question_id": "q", "actual_answer": "Oslo.", "actual_steps": [step]});
    fs::write(folder.join("reference.json"), reference.to_string()).expect("a file");
    fs::write(folder.join("responses.jsonl"), response.to_string()).expect("a file");
    fs::write(folder.join("a.json"), json!({"1": answer("zopen")}).to_string()).expect("a file");
    fs::write(folder.join("b.json"), json!({"1": answer("other")}).to_string()).expect("a file");
}

/// What every purpose sends to a provider, by purpose.
fn sent(generation: &str, embedding: &str, server: &Server) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    write_inputs(folder.path());
    let custom = "custom_evaluations: [{name: tone, inputs: [actual_answer], instructions: Judge., \
                  outputs: {why: the grounds, mood: a word, a_score: 0 to 1}}]";
    let settings = format!("profile: 6\nllm: {{generation: {generation}{embedding}}}\n{custom}\n");
    fs::write(folder.path().join("juror.yaml"), &settings).expect("a file");
    let listing = format!("{settings}answer_correctness: {{method: listed}}\n");
    fs::write(folder.path().join("listing.yaml"), listing).expect("a file");
    for line in [
        "eval reference.json responses.jsonl -c listing.yaml -o listed.json",
        "eval reference.json responses.jsonl -c juror.yaml -o out.json",
        "judge pass-rate a.json -c juror.yaml",
        "judge preference a.json b.json -c juror.yaml",
        "judge final-answer a.json -c juror.yaml",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split_whitespace())
            .current_dir(folder.path())
            .env_clear()
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
    }
    let seen = server.seen().into_iter().filter(|seen| seen.answered);
    seen.map(|seen| (seen.purpose, seen.text)).collect()
}

fn unsure() -> Script {
    let reply = Reply::Json(json!({"reason": "open", "answer_status": "Unsure"}));
    let purpose = Some("answer_status".to_owned());
    Script {
        matching: vec![Matching { purpose, contains: "zopen".into(), reply }],
        ..Script::default()
    }
}

fn check_order(purpose: &str, text: &str, about: &str) -> usize {
    let mut found = Vec::new();
    serde_json::from_str::<Ordered>(text).expect("JSON").orders(&mut found);
    let wanted = chosen(purpose);
    let of = |key: &str| -> Vec<&Vec<String>> {
        found.iter().filter(|(name, _)| *name == key).map(|(_, names)| names).collect()
    };
    assert_eq!(of("properties"), wanted.iter().collect::<Vec<_>>(), "{about}: {purpose}: {text}");
    let said = of("propertyOrdering");
    assert!(said.is_empty() || said.len() == wanted.len(), "{about}: {text}");
    assert!(said.iter().all(|said| wanted.iter().any(|wanted| wanted == *said)), "{about}: {text}");
    said.len()
}

#[test]
fn every_schema_is_sent_with_its_grounds_first_and_its_verdict_last() {
    for (provider, address) in
        [("openai_compatible", "/v1"), ("azure", ""), ("anthropic", ""), ("gemini", "")]
    {
        let server = Server::start(unsure());
        let address = format!("{}{address}", server.address());
        let model = |name: &str| {
            format!("{{provider: {provider}, model: {name}, api_key: k, base_url: '{address}'}}")
        };
        let embedding = match provider {
            "anthropic" => String::new(),
            _ => format!(", embedding: {}", model("e")),
        };
        let sent = sent(&model("m"), &embedding, &server);
        let purposes: BTreeSet<&str> =
            sent.keys().map(String::as_str).filter(|purpose| *purpose != "embeddings").collect();
        let all = PURPOSES
            .iter()
            .filter(|name| provider != "anthropic" || **name != "generated_question");
        assert_eq!(purposes, all.copied().collect(), "{provider}");
        for purpose in purposes {
            let n_said = check_order(purpose, &sent[purpose], provider);
            assert_eq!(n_said > 0, provider == "gemini", "{provider}: {purpose}");
        }
    }
}

#[test]
fn a_schema_keeps_its_order_as_a_tool_and_in_words() {
    for refuses in [vec!["json_schema"], vec!["json_schema", "tools"]] {
        let refuses: Vec<String> = refuses.into_iter().map(str::to_owned).collect();
        // A reply in words has no name to answer by: any order of the keys it needs will do.
        let reply = Reply::Json(json!({"reason": "r", "reference_claims": 1, "actual_claims": 1,
            "matching_claims": 1, "statements": [{"statement": "s", "reason": "r",
            "attributed": 1}], "useful": 1, "answer_status": "Unsure", "index": 0, "why": "w",
            "mood": "m", "a_score": 1, "question": "q", "noncommittal": 0}));
        let matching = vec![Matching { purpose: None, contains: String::new(), reply }];
        let server = Server::start(Script { refuses: refuses.clone(), matching, ..unsure() });
        let address = format!("{}/v1", server.address());
        let model = format!("{{provider: openai_compatible, model: m, base_url: '{address}'}}");
        sent(&model, "", &server);
        let mut n_checked = 0;
        for seen in server.seen().iter().filter(|seen| seen.answered) {
            let mut found = Vec::new();
            serde_json::from_str::<Ordered>(&seen.text).expect("JSON").orders(&mut found);
            let names: Vec<Vec<&str>> =
                found.iter().map(|(_, names)| names.iter().map(String::as_str).collect()).collect();
            assert!(PURPOSES.iter().any(|purpose| chosen(purpose) == names), "{}", seen.text);
            n_checked += 1;
        }
        assert!(n_checked >= 9, "{refuses:?}: {n_checked}");
    }
}
