//! The dialects of messages, a file each, and how a record's dialect is recognized.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod deepeval;
pub(crate) mod gemini;
pub(crate) mod inspect;
pub(crate) mod langchain;
pub(crate) mod llama_index;
pub(crate) mod mcp;
pub(crate) mod openai_chat;
pub(crate) mod pydantic_ai;
pub(crate) mod ragas;
pub(crate) mod responses;
pub(crate) mod smolagents;
pub(crate) mod toolbench;

use serde_json::Value;

use crate::look;
use crate::spans::{langfuse, phoenix};
use crate::transcript::Transcript;

/// A dialect of traces, in the order in which they are tried: what looks like several is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// OpenTelemetry's spans and log records.
    Otlp,
    /// Sessions of Codex.
    Codex,
    /// JSON-RPC of MCP.
    Mcp,
    /// Items of OpenAI's Responses API, and run items of the Agents SDK.
    Responses,
    /// The Agents SDK's own tracing.
    AgentsSdk,
    /// Sessions of Claude Code.
    ClaudeCode,
    /// LangSmith's runs.
    LangSmith,
    /// LangChain's `astream_events`.
    LangChainEvents,
    /// Messages of LangChain and LangGraph.
    LangChain,
    /// Messages of pydantic-ai.
    PydanticAi,
    /// LlamaIndex's messages and events.
    LlamaIndex,
    /// Steps of smolagents.
    Smolagents,
    /// Inspect's logs.
    Inspect,
    /// Samples of ragas.
    Ragas,
    /// Test cases of deepeval.
    Deepeval,
    /// Answers of ToolBench.
    ToolBench,
    /// Langfuse's traces and observations.
    Langfuse,
    /// Gemini's contents.
    Gemini,
    /// Bedrock's Converse.
    Bedrock,
    /// Anthropic messages.
    Anthropic,
    /// OpenAI chat messages.
    OpenAiChat,
    /// Spans as Phoenix exports them.
    Phoenix,
}

/// How records of a dialect make conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A list of records is one conversation.
    Items,
    /// A record is a conversation.
    Record,
    /// Records are gathered by their traces.
    Spans,
}

/// Every dialect, its name, and by what it is recognized.
const DIALECTS: [(Dialect, &str, &str); 22] = [
    (Dialect::Otlp, "OTLP", "`resourceSpans` or `resourceLogs`, as JSON or protobuf"),
    (Dialect::Codex, "Codex session", "lines with `type` and `payload`"),
    (Dialect::Mcp, "MCP log", "`jsonrpc`"),
    (
        Dialect::Responses,
        "OpenAI Responses",
        "items of type `function_call`, or `output` with such items",
    ),
    (Dialect::AgentsSdk, "OpenAI Agents SDK tracing", "`object`: `trace.span`"),
    (Dialect::ClaudeCode, "Claude Code session", "lines with `sessionId` and `message`"),
    (Dialect::LangSmith, "LangSmith runs", "`run_type`"),
    (Dialect::LangChainEvents, "LangChain events", "`event`: `on_…` with `run_id`"),
    (Dialect::LangChain, "LangChain messages", "`lc`, or `type`: `human`, `ai`, `tool`"),
    (Dialect::PydanticAi, "pydantic-ai messages", "`parts` with `part_kind`"),
    (Dialect::LlamaIndex, "LlamaIndex", "`blocks` with `block_type`, or `tool_kwargs`"),
    (Dialect::Smolagents, "smolagents", "steps with `step_number`"),
    (Dialect::Inspect, "Inspect log", "`samples` with `messages`, or a `.eval` file"),
    (Dialect::Ragas, "ragas samples", "`user_input`"),
    (Dialect::Deepeval, "deepeval test cases", "`input` with `actual_output` or `actualOutput`"),
    (Dialect::ToolBench, "ToolBench answers", "`answer_details`"),
    (Dialect::Langfuse, "Langfuse export", "`observations`"),
    (Dialect::Gemini, "Gemini contents", "`parts` with `functionCall`"),
    (Dialect::Bedrock, "Bedrock Converse", "`toolUse` in `content`"),
    (Dialect::Anthropic, "Anthropic messages", "`tool_use` in `content`"),
    (Dialect::OpenAiChat, "OpenAI chat messages", "`role` with `content` or `tool_calls`"),
    (Dialect::Phoenix, "Phoenix spans", "`context.span_id` with `attributes`"),
];

impl Dialect {
    fn row(self) -> &'static (Dialect, &'static str, &'static str) {
        &DIALECTS[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Everything that is looked for: names, and by what each is recognized.
    pub fn looked_for() -> impl Iterator<Item = (&'static str, &'static str)> {
        DIALECTS.iter().map(|(_, name, mark)| (*name, *mark))
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Dialect::Otlp
            | Dialect::AgentsSdk
            | Dialect::LangSmith
            | Dialect::LangChainEvents
            | Dialect::Langfuse
            | Dialect::Phoenix => Unit::Spans,
            Dialect::Inspect | Dialect::Ragas | Dialect::Deepeval | Dialect::ToolBench => {
                Unit::Record
            }
            _ => Unit::Items,
        }
    }

    /// Returns the dialect of a record; `None` if it has none by itself.
    pub(crate) fn of(item: &Value) -> Option<Dialect> {
        let Value::Object(object) = item else {
            return matches!(item, Value::String(_))
                .then(|| mcp::is_record(item))
                .filter(|is| *is)
                .map(|_| Dialect::Mcp);
        };
        let has = |key: &str| object.contains_key(key);
        let is = |key: &str, wanted: &str| look::text(item, key) == Some(wanted);
        let envelope =
            ["resourceSpans", "resourceLogs", "resource_spans", "resource_logs", "scopeSpans"];
        if envelope.iter().any(|key| has(key)) {
            return Some(Dialect::Otlp);
        }
        let codex = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
        if has("payload") && look::text(item, "type").is_some_and(|kind| codex.contains(&kind)) {
            return Some(Dialect::Codex);
        }
        if mcp::is_record(item) {
            return Some(Dialect::Mcp);
        }
        let is_session = (has("sessionId") && has("type")) || has("leafUuid");
        let found = if is("object", "trace.span") || (is("object", "trace") && has("workflow_name"))
        {
            Dialect::AgentsSdk
        } else if is_session && (has("message") || has("leafUuid") || has("uuid")) {
            Dialect::ClaudeCode
        } else if has("run_type") && (has("inputs") || has("outputs")) {
            Dialect::LangSmith
        } else if has("run_id")
            && look::text(item, "event").is_some_and(|event| event.starts_with("on_"))
        {
            Dialect::LangChainEvents
        } else if is_responses(item) {
            Dialect::Responses
        } else if look::items(item, "parts").iter().any(|part| part.get("part_kind").is_some()) {
            Dialect::PydanticAi
        } else if langchain::message(item).is_some() || is_update(item) {
            Dialect::LangChain
        } else if is_llama(item) {
            Dialect::LlamaIndex
        } else if has("step_number")
            || (has("task") && has("task_images"))
            || (has("steps") && has("state") && has("output"))
        {
            Dialect::Smolagents
        } else if (has("samples") && has("eval"))
            || (has("messages") && has("target") && has("epoch"))
        {
            Dialect::Inspect
        } else if has("user_input") {
            Dialect::Ragas
        } else if (has("input") && (has("actual_output") || has("actualOutput")))
            || has("tools_called")
            || has("toolsCalled")
        {
            Dialect::Deepeval
        } else if has("answer_details")
            || has("answer_generation")
            || item.get("answer").is_some_and(|answer| answer.get("answer_details").is_some())
        {
            Dialect::ToolBench
        } else if langfuse::is_record(item) {
            Dialect::Langfuse
        } else if is_gemini(item) {
            Dialect::Gemini
        } else if is_bedrock(item) {
            Dialect::Bedrock
        } else if is_anthropic(item) {
            Dialect::Anthropic
        } else if has("role")
            && ["content", "tool_calls", "function_call"].iter().any(|key| has(key))
        {
            Dialect::OpenAiChat
        } else if phoenix::is_record(item) {
            Dialect::Phoenix
        } else {
            return None;
        };
        Some(found)
    }

    /// Returns the dialect of a list of records: the first in the order that any has.
    pub(crate) fn of_list(items: &[Value]) -> Option<Dialect> {
        items.iter().filter_map(Dialect::of).min()
    }

    /// Reads a record of a dialect in which lists are conversations.
    pub(crate) fn read_item(self, transcript: &mut Transcript, item: &Value, pointer: &str) {
        match self {
            Dialect::Codex => codex::read_item(transcript, item, pointer),
            Dialect::Responses => responses::read_item(transcript, item, pointer),
            Dialect::ClaudeCode => claude_code::read_item(transcript, item, pointer),
            Dialect::LangChain => langchain::read_item(transcript, item, pointer),
            Dialect::PydanticAi => pydantic_ai::read_item(transcript, item, pointer),
            Dialect::LlamaIndex => llama_index::read_item(transcript, item, pointer),
            Dialect::Smolagents if item.get("steps").is_some() => {
                smolagents::read_result(transcript, item, pointer);
            }
            Dialect::Smolagents => smolagents::read_item(transcript, item, pointer),
            Dialect::Gemini => gemini::read_item(transcript, item, pointer),
            Dialect::Bedrock => bedrock::read_item(transcript, item, pointer),
            Dialect::Anthropic => anthropic::read_item(transcript, item, pointer),
            Dialect::Inspect => inspect::read(transcript, item, pointer),
            Dialect::Ragas => ragas::read(transcript, item, pointer),
            Dialect::Deepeval => deepeval::read(transcript, item, pointer),
            Dialect::ToolBench => toolbench::read(transcript, item, pointer),
            Dialect::OpenAiChat => openai_chat::read_message_at(transcript, item, pointer),
            // Logs and spans are read by what gathers them.
            Dialect::Otlp
            | Dialect::Mcp
            | Dialect::AgentsSdk
            | Dialect::LangSmith
            | Dialect::LangChainEvents
            | Dialect::Langfuse
            | Dialect::Phoenix => {}
        }
    }
}

/// The deepest value in which messages are looked for.
const DEEPEST: usize = 6;

/// Reads messages of any dialect in a value: a list of them, one, or an object that holds them.
pub(crate) fn read_value(transcript: &mut Transcript, value: &Value, pointer: &str) {
    read_within(transcript, value, pointer, DEEPEST);
}

fn read_within(transcript: &mut Transcript, value: &Value, pointer: &str, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Array(items) => match Dialect::of_list(items) {
            Some(dialect) => read_list(transcript, dialect, items, pointer),
            None => {
                for (at, item) in items.iter().enumerate() {
                    read_within(transcript, item, &format!("{pointer}/{at}"), depth - 1);
                }
            }
        },
        Value::Object(object) => {
            if let Some(dialect) =
                Dialect::of(value).filter(|dialect| dialect.unit() == Unit::Items)
            {
                return dialect.read_item(transcript, value, pointer);
            }
            for key in ["messages", "choices", "message", "generations", "update", "contents"] {
                if let Some(inner) = object.get(key) {
                    read_within(transcript, inner, &format!("{pointer}/{key}"), depth - 1);
                }
            }
        }
        _ => {}
    }
}

/// Reads a list of records as one conversation.
pub(crate) fn read_list(
    transcript: &mut Transcript,
    dialect: Dialect,
    items: &[Value],
    pointer: &str,
) {
    for (at, item) in items.iter().enumerate() {
        dialect.read_item(transcript, item, &format!("{pointer}/{at}"));
    }
}

/// The types of items that only the Responses API has.
fn is_responses_type(kind: &str) -> bool {
    kind.ends_with("_call") && kind != "tool_call"
        || kind.ends_with("_call_output")
        || ["mcp_list_tools", "item_reference", "mcp_approval_request", "mcp_approval_response"]
            .contains(&kind)
}

fn is_responses(item: &Value) -> bool {
    let is_item = |item: &Value| match look::text(item, "type") {
        Some("message") => {
            let blocks = look::items(item, "content");
            let texts = ["output_text", "input_text", "refusal"];
            let has_texts = blocks
                .iter()
                .any(|block| look::text(block, "type").is_some_and(|kind| texts.contains(&kind)));
            has_texts || item.get("content").is_some_and(Value::is_string)
        }
        Some("reasoning") => item.get("summary").is_some(),
        Some(kind) => is_responses_type(kind),
        None => false,
    };
    let is_run_item = item.get("raw_item").is_some() && item.get("type").is_some();
    let output = look::items(item, "output");
    is_run_item
        || is_item(item)
        || (responses::is_whole(item)
            && (output.iter().any(is_item) || look::text(item, "object") == Some("response")))
}

/// An update of a state: nodes with the messages they add.
fn is_update(item: &Value) -> bool {
    let Value::Object(nodes) = item else { return false };
    let is_node = |node: &Value| match node {
        Value::Null => true,
        node => {
            let messages = look::items(node, "messages");
            !messages.is_empty()
                && messages.iter().all(|message| langchain::message(message).is_some())
                && messages.iter().all(|message| {
                    langchain::message(message)
                        .is_some_and(|(_, sender)| sender != langchain::Sender::Human)
                })
        }
    };
    !nodes.is_empty() && nodes.values().all(is_node) && !nodes.values().all(Value::is_null)
}

fn is_llama(item: &Value) -> bool {
    let has_blocks = |item: &Value| {
        look::items(item, "blocks").iter().any(|block| block.get("block_type").is_some())
    };
    has_blocks(item)
        || item.get("tool_kwargs").is_some()
        || item.get("response").is_some_and(has_blocks)
}

fn is_gemini(item: &Value) -> bool {
    let parts = look::items(item, "parts");
    let calls = ["functionCall", "function_call", "functionResponse", "function_response"];
    let has_calls = parts.iter().any(|part| calls.iter().any(|key| part.get(key).is_some()));
    let is_content = matches!(look::text(item, "role"), Some("user" | "model"))
        && parts.iter().all(|part| part.get("type").is_none());
    let is_reply =
        look::items(item, "candidates").iter().any(|candidate| candidate.get("content").is_some());
    let is_request =
        look::items(item, "contents").iter().any(|content| content.get("parts").is_some());
    has_calls || (is_content && !parts.is_empty()) || is_reply || is_request
}

fn is_bedrock(item: &Value) -> bool {
    let is_block = |block: &Value| {
        ["toolUse", "toolResult"].iter().any(|key| block.get(key).is_some())
            || (block.get("type").is_none()
                && block.as_object().is_some_and(|block| block.len() == 1)
                && block.get("text").is_some())
    };
    let of_message = look::items(item, "content").iter().any(is_block);
    let of_reply = look::at(item, &["output", "message"])
        .is_some_and(|message| look::items(message, "content").iter().any(is_block));
    of_message || of_reply
}

fn is_anthropic(item: &Value) -> bool {
    let is_block = |block: &Value| {
        look::text(block, "type").is_some_and(|kind| {
            ["tool_use", "server_tool_use", "mcp_tool_use"].contains(&kind)
                || kind.ends_with("tool_result")
        })
    };
    let is_reply = look::text(item, "type") == Some("message")
        && item.get("role").is_some()
        && item.get("stop_reason").is_some();
    is_reply || look::items(item, "content").iter().any(is_block)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dialects_are_in_the_order_of_their_table() {
        for (at, (dialect, ..)) in DIALECTS.iter().enumerate() {
            assert_eq!(*dialect as usize, at);
        }
    }

    #[test]
    fn records_are_recognized() {
        let check =
            |item: Value, wanted: Option<Dialect>| assert_eq!(Dialect::of(&item), wanted, "{item}");
        check(json!({"resourceSpans": []}), Some(Dialect::Otlp));
        check(json!({"dir": "->", "msg": {"jsonrpc": "2.0"}}), Some(Dialect::Mcp));
        check(json!({"type": "function_call", "call_id": "c"}), Some(Dialect::Responses));
        check(
            json!({"object": "response", "output": [{"type": "message"}]}),
            Some(Dialect::Responses),
        );
        check(json!({"object": "trace.span", "span_data": {}}), Some(Dialect::AgentsSdk));
        check(json!({"type": "ai", "content": ""}), Some(Dialect::LangChain));
        check(
            json!({"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {}}),
            Some(Dialect::LangChain),
        );
        check(
            json!({"agent": {"messages": [{"type": "ai", "content": ""}]}}),
            Some(Dialect::LangChain),
        );
        check(
            json!({"role": "assistant", "content": [{"type": "tool_use"}]}),
            Some(Dialect::Anthropic),
        );
        check(json!({"role": "assistant", "content": [{"toolUse": {}}]}), Some(Dialect::Bedrock));
        check(json!({"role": "model", "parts": [{"text": "x"}]}), Some(Dialect::Gemini));
        check(json!({"role": "user", "content": "x"}), Some(Dialect::OpenAiChat));
        check(json!({"context": {"span_id": "s"}, "attributes": {}}), Some(Dialect::Phoenix));
        check(json!({"messages": [{"role": "user", "content": "x"}]}), None);
        check(json!({"a": 1}), None);
    }

    #[test]
    fn a_list_is_of_the_first_dialect_that_any_record_has() {
        let list = [
            json!({"role": "user", "content": "x"}),
            json!({"type": "function_call", "call_id": "c"}),
        ];
        assert_eq!(Dialect::of_list(&list), Some(Dialect::Responses));
    }
}
