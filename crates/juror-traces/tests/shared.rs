//! Recordings of agent frameworks become what is expected of each, where the recordings are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use juror_testing::project;
use juror_traces::{Conversation, Importer, Joiner, Questions, Rules};
use serde_json::Value;

/// What a recording cannot say, and so nobody can read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    Nothing,
    /// Results of calls.
    Results,
    /// The text of the answer.
    Answer,
    /// Any text: arguments, results, answers.
    Contents,
    /// Calls: there are only the texts that tools returned.
    Calls,
}

/// A recording: its files, the pattern by which its failures are recognized, and what it lacks.
struct Recording {
    files: &'static [&'static str],
    failure: Option<&'static str>,
    lacks: Lacks,
    /// Whether it has all five questions.
    is_whole: bool,
}

const fn of(files: &'static [&'static str]) -> Recording {
    Recording { files, failure: None, lacks: Lacks::Nothing, is_whole: true }
}

impl Recording {
    const fn failing_by(self, pattern: &'static str) -> Recording {
        Recording { failure: Some(pattern), ..self }
    }

    const fn without(self, lacks: Lacks) -> Recording {
        Recording { lacks, ..self }
    }

    const fn in_part(self) -> Recording {
        Recording { is_whole: false, ..self }
    }
}

const AGENTS_ERROR: &str = "^An error occurred while running the tool";

const RECORDINGS: &[Recording] = &[
    of(&["openai_chat/messages.json"]).failing_by("^Error: "),
    of(&["openai_chat/otlp_genai_openai_v2_span_only.jsonl"]).failing_by("^Error: "),
    of(&[
        "openai_chat/otlp_genai_openai_v2_event_only.jsonl",
        "openai_chat/otlp_logs_event_only.json",
    ])
    .failing_by("^Error: "),
    of(&["openai_chat/otlp_logs_event_only.json"]).failing_by("^Error: "),
    of(&["openai_chat/otlp_genai_openai_v2_no_content.jsonl"]).without(Lacks::Contents),
    of(&["langgraph/messages_to_dict.json"]),
    of(&["langgraph/messages_model_dump.json"]),
    of(&["langgraph/openai_messages.json"]).failing_by("^Error: "),
    of(&["langgraph/dumpd.json"]).in_part(),
    of(&["langgraph/stream_updates.json"]),
    of(&["langgraph/runs_langsmith_form.jsonl"]),
    of(&["langgraph/otlp_openinference.jsonl"]),
    of(&["langgraph/otlp_openinference_failed.jsonl"]).in_part(),
    of(&["llama_index/chat_history.json"]).failing_by("^unknown currency"),
    of(&["llama_index/events.json"]),
    of(&["llama_index/agent_output.json"]).without(Lacks::Results),
    of(&["llama_index/otlp_openinference.jsonl"]),
    of(&["openai_agents/to_input_list_chat.json"]).failing_by(AGENTS_ERROR),
    of(&["openai_agents/to_input_list_responses.json"]).failing_by(AGENTS_ERROR),
    of(&["openai_agents/run_items_chat.json"]).failing_by(AGENTS_ERROR),
    of(&["openai_agents/run_items_responses.json"]).failing_by(AGENTS_ERROR),
    of(&["openai_agents/raw_responses_chat.json"]).without(Lacks::Results),
    of(&["openai_agents/raw_responses_responses.json"]).without(Lacks::Results),
    of(&["openai_agents/tracing_export_chat.jsonl"]),
    of(&["openai_agents/tracing_export_responses.jsonl"]).without(Lacks::Answer),
    of(&["openai_agents/otlp_openinference_chat.jsonl"]),
    of(&["openai_agents/otlp_openinference_responses.jsonl"]),
    of(&["pydantic_ai/all_messages.json"]),
    of(&["pydantic_ai/otlp_genai_v2.jsonl"]),
    of(&["pydantic_ai/otlp_genai_v5.jsonl"]),
    of(&["pydantic_ai/otlp_genai_v5_failed.jsonl"]).in_part(),
    of(&["smolagents/memory_full_steps.json"]),
    of(&["smolagents/run_result.json"]),
    of(&["smolagents/otlp_openinference.jsonl"]),
    of(&["inspect_ai/garden.json"]),
    of(&["inspect_ai/garden.eval"]),
    of(&["ragas/multi_turn.jsonl"]).failing_by("^Error: "),
    of(&["ragas/single_turn.jsonl"]).without(Lacks::Calls),
    of(&["ragas/single_turn.csv"]).without(Lacks::Calls),
    of(&["deepeval/test_cases.json"]).failing_by("^Error: "),
    of(&["deepeval/goldens.json"]).failing_by("^Error: "),
    of(&["deepeval/goldens.jsonl"]).failing_by("^Error: "),
    of(&["deepeval/goldens.csv"]).failing_by("^Error: "),
];

fn folder() -> Option<PathBuf> {
    Some(project("../shared/data/traces")).filter(|folder| folder.exists())
}

fn import(folder: &Path, recording: &Recording) -> Vec<Conversation> {
    let mut rules = Rules::default();
    if let Some(pattern) = recording.failure {
        rules.add_error_pattern(pattern).expect("a pattern");
    }
    let mut conversations = Vec::new();
    let mut importer = Importer::new(rules, None);
    for name in recording.files {
        let bytes = fs::read(folder.join(name)).expect("a recording");
        let read =
            importer.read(name, &mut bytes.as_slice(), &mut |found| conversations.push(found));
        read.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    importer.finish(&mut |found| conversations.push(found)).expect("finished");
    conversations
}

fn expected(folder: &Path) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(folder.join("expected.jsonl")).expect("what is expected");
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    rows.map(|row| (row["question_id"].as_str().expect("an id").to_owned(), row)).collect()
}

/// The questions have no ids in some recordings: their texts are those of the reference.
fn questions() -> Questions {
    Questions::new([
        ("capital-norway", "What is the capital of Norway?"),
        ("weather-two", "How is the weather in Oslo and Lima today?"),
        ("ferns", "Which taxa grow in the Fern Vault?"),
        ("dollars", "How many euros are 12 US dollars?"),
        ("alpine", "Which taxa grow in the Alpine House?"),
    ])
}

/// An output as data: JSON if it is JSON.
fn data(output: &Value) -> Value {
    match output {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| output.clone()),
        other => other.clone(),
    }
}

fn compare(response: &Value, wanted: &Value, lacks: Lacks, told: &str) -> Vec<String> {
    let mut differences = Vec::new();
    let mut check = |what: &str, is: &Value, wanted: &Value| {
        if is != wanted {
            differences.push(format!("{told}: {what}: {is}, not {wanted}"));
        }
    };
    if !matches!(lacks, Lacks::Answer | Lacks::Contents) {
        check("answer", &response["actual_answer"], &wanted["actual_answer"]);
    }
    if lacks == Lacks::Calls {
        return differences;
    }
    let (steps, all) = (
        response["actual_steps"].as_array().expect("steps"),
        wanted["actual_steps"].as_array().expect("steps"),
    );
    check("steps", &steps.len().into(), &all.len().into());
    for (step, wanted) in steps.iter().zip(all) {
        check("name", &step["name"], &wanted["name"]);
        if lacks == Lacks::Contents {
            continue;
        }
        check("args", &step["args"], &wanted["args"]);
        if lacks == Lacks::Results {
            check("status", &step["call_status"], &"no_result".into());
            continue;
        }
        check("status", &step["status"], &wanted["status"]);
        check("output", &data(&step["output"]), &data(&wanted["output"]));
        let why = wanted["error"].as_str();
        let is_redacted = step["error"]
            .as_str()
            .is_some_and(|error| error.contains("rror") && !error.contains("EURO"));
        if let Some(why) = why.filter(|_| !is_redacted) {
            let error = step["error"].as_str().unwrap_or_default();
            check("error", &error.contains(why).into(), &true.into());
        }
    }
    differences
}

#[test]
fn recordings_become_what_is_expected() {
    let Some(folder) = folder() else { return };
    let expected = expected(&folder);
    let mut differences = Vec::new();
    for recording in RECORDINGS {
        let told = recording.files.join(" + ");
        let mut joiner = Joiner::new(Some(questions()));
        let mut found: BTreeMap<String, Value> = BTreeMap::new();
        for conversation in import(&folder, recording) {
            let about = joiner.join(&conversation);
            assert_eq!(about.trial, None, "{told}: one conversation for {}", about.question_id);
            found
                .insert(about.question_id.clone(), conversation.response(&about.question_id, None));
        }
        let failed = found.remove("failed");
        if told.contains("_failed") {
            let error =
                failed.as_ref().map(|failed| failed["error"].to_string()).unwrap_or_default();
            assert!(error.contains("the scripted model refuses"), "{told}: {error}");
        }
        for (id, wanted) in &expected {
            match found.get(id) {
                Some(response) => differences.extend(compare(
                    response,
                    wanted,
                    recording.lacks,
                    &format!("{told} {id}"),
                )),
                None if recording.is_whole => differences.push(format!("{told}: {id} is missing")),
                None => {}
            }
        }
        let unknown: Vec<&String> = found.keys().filter(|id| !expected.contains_key(*id)).collect();
        assert!(unknown.is_empty(), "{told}: {unknown:?} are not expected");
        assert!(!found.is_empty(), "{told}: nothing was found");
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn logs_of_mcp_have_their_sessions() {
    let Some(folder) = folder() else { return };
    for name in ["mcp/handshake_2025-11-25.jsonl", "mcp/stateless_2026-07-28.jsonl"] {
        let bytes = fs::read(folder.join(name)).expect("a recording");
        let mut conversations = Vec::new();
        let mut importer = Importer::new(Rules::default(), None);
        importer
            .read(name, &mut bytes.as_slice(), &mut |found| conversations.push(found))
            .expect("read");
        let [conversation] = &conversations[..] else { panic!("{name}: one session has calls") };
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| (step.name.as_str(), step.error.is_some()))
            .collect();
        assert_eq!(
            shown,
            [("search_tools", false), ("call_tool", false), ("call_tool", true)],
            "{name}"
        );
        assert!(conversation.other_ids.contains(&"query7".to_owned()), "{name}");
    }
}
