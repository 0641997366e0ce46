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
pub(crate) mod vercel;

use serde_json::Value;

use crate::spans::{agents_sdk, langchain_events, langfuse, langsmith, otlp_json, phoenix};
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
    /// The Agents SDK's own tracing.
    AgentsSdk,
    /// Sessions of Claude Code.
    ClaudeCode,
    /// LangSmith's runs.
    LangSmith,
    /// LangChain's `astream_events`.
    LangChainEvents,
    /// Items of OpenAI's Responses API, and run items of the Agents SDK.
    Responses,
    /// Messages of pydantic-ai.
    PydanticAi,
    /// Messages of LangChain and LangGraph.
    LangChain,
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
    /// Messages of Vercel's AI SDK.
    Vercel,
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

/// A row of the table of dialects.
struct Row {
    dialect: Dialect,
    name: &'static str,
    /// By what it is recognized, in words.
    mark: &'static str,
    /// Whether a record is one of this dialect, if none of those before it has it.
    is_record: fn(&Value) -> bool,
}

const fn row(
    dialect: Dialect,
    name: &'static str,
    mark: &'static str,
    is_record: fn(&Value) -> bool,
) -> Row {
    Row { dialect, name, mark, is_record }
}

/// Every dialect, in the order in which they are tried.
const DIALECTS: [Row; 23] = [
    row(
        Dialect::Otlp,
        "OTLP",
        "`resourceSpans` or `resourceLogs`, as JSON or protobuf",
        otlp_json::is_record,
    ),
    row(Dialect::Codex, "Codex session", "lines with `type` and `payload`", codex::is_record),
    row(Dialect::Mcp, "MCP log", "`jsonrpc`", mcp::is_record),
    row(
        Dialect::AgentsSdk,
        "OpenAI Agents SDK tracing",
        "`object`: `trace.span`",
        agents_sdk::is_record,
    ),
    row(
        Dialect::ClaudeCode,
        "Claude Code session",
        "lines with `sessionId` and `message`",
        claude_code::is_record,
    ),
    row(Dialect::LangSmith, "LangSmith runs", "`run_type`", langsmith::is_record),
    row(
        Dialect::LangChainEvents,
        "LangChain events",
        "`event`: `on_…` with `run_id`",
        langchain_events::is_record,
    ),
    row(
        Dialect::Responses,
        "OpenAI Responses",
        "items of type `function_call`, or `output` with such items",
        responses::is_record,
    ),
    row(
        Dialect::PydanticAi,
        "pydantic-ai messages",
        "`parts` with `part_kind`",
        pydantic_ai::is_record,
    ),
    row(
        Dialect::LangChain,
        "LangChain messages",
        "`lc`, or `type`: `human`, `ai`, `tool`",
        langchain::is_record,
    ),
    row(
        Dialect::LlamaIndex,
        "LlamaIndex",
        "`blocks` with `block_type`, or `tool_kwargs`",
        llama_index::is_record,
    ),
    row(Dialect::Smolagents, "smolagents", "steps with `step_number`", smolagents::is_record),
    row(
        Dialect::Inspect,
        "Inspect log",
        "`samples` with `messages`, or a `.eval` file",
        inspect::is_record,
    ),
    row(Dialect::Ragas, "ragas samples", "`user_input`", ragas::is_record),
    row(
        Dialect::Deepeval,
        "deepeval test cases",
        "`input` with `actual_output` or `actualOutput`",
        deepeval::is_record,
    ),
    row(Dialect::ToolBench, "ToolBench answers", "`answer_details`", toolbench::is_record),
    row(Dialect::Langfuse, "Langfuse export", "`observations`", langfuse::is_record),
    row(Dialect::Gemini, "Gemini contents", "`parts` with `functionCall`", gemini::is_record),
    row(
        Dialect::Vercel,
        "Vercel AI SDK messages",
        "`tool-call` or `tool-result` in `content`",
        vercel::is_record,
    ),
    row(Dialect::Bedrock, "Bedrock Converse", "`toolUse` in `content`", bedrock::is_record),
    row(Dialect::Anthropic, "Anthropic messages", "`tool_use` in `content`", anthropic::is_record),
    row(
        Dialect::OpenAiChat,
        "OpenAI chat messages",
        "`role` with `content` or `tool_calls`",
        openai_chat::is_record,
    ),
    row(
        Dialect::Phoenix,
        "Phoenix spans",
        "`context.span_id` with `attributes`",
        phoenix::is_record,
    ),
];

impl Dialect {
    /// Its name.
    pub fn name(self) -> &'static str {
        DIALECTS[self as usize].name
    }

    /// Everything that is looked for: names, and by what each is recognized.
    pub fn looked_for() -> impl Iterator<Item = (&'static str, &'static str)> {
        DIALECTS.iter().map(|row| (row.name, row.mark))
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
        match item {
            Value::Object(_) => {
                let row = DIALECTS.iter().find(|row| (row.is_record)(item))?;
                Some(row.dialect)
            }
            // Only logs of MCP have records within texts.
            Value::String(_) => mcp::is_record(item).then_some(Dialect::Mcp),
            _ => None,
        }
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
            Dialect::Vercel => vercel::read_item(transcript, item, pointer),
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
        let (read_as, _) = together(dialect, item);
        let read_as = if read_as.unit() == Unit::Items { read_as } else { dialect };
        read_as.read_item(transcript, item, &format!("{pointer}/{at}"));
    }
}

/// Returns the dialect by which a record is read among others, and whether it is odd there. Plain
/// messages of a user look like a chat in several dialects.
pub(crate) fn together(known: Dialect, record: &Value) -> (Dialect, bool) {
    let takes_chats = [
        Dialect::Responses,
        Dialect::Anthropic,
        Dialect::Vercel,
        Dialect::Bedrock,
        Dialect::Gemini,
    ];
    let is_plain = || !openai_chat::is_about_calls(record);
    let own = Dialect::of(record).unwrap_or(known);
    match (known, own) {
        (known, own) if known == own => (own, false),
        (known, Dialect::OpenAiChat) if takes_chats.contains(&known) && is_plain() => {
            (known, false)
        }
        (Dialect::OpenAiChat, own) if takes_chats.contains(&own) => (own, false),
        (Dialect::Anthropic, Dialect::Bedrock) | (Dialect::Bedrock, Dialect::Anthropic) => {
            (own, false)
        }
        _ => (own, true),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dialects_are_in_the_order_of_their_table() {
        for (at, row) in DIALECTS.iter().enumerate() {
            assert_eq!(row.dialect as usize, at);
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
