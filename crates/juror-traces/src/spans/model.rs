//! Spans of models: their messages and tokens.

use super::facts::SpanFacts;
use super::messages::{Exchange, read_any};
use super::span::Span;
use crate::conversation::Usage;
use crate::look;
use crate::transcript::usage_of;

/// Reads a call of a model.
pub(super) fn read_model(facts: &mut SpanFacts, span: &Span<'_>) {
    let Exchange { mut given, mut gave } =
        Exchange::of(&span.attributes, &span.events, &span.place);
    let is_bare = given.calls.is_empty()
        && given.questions.is_empty()
        && gave.answer.is_none()
        && gave.calls.is_empty();
    if is_bare {
        let inputs =
            ["langfuse.observation.input", "lmnr.span.input", "mlflow.spanInputs", "input.value"];
        let outputs = [
            "langfuse.observation.output",
            "lmnr.span.output",
            "mlflow.spanOutputs",
            "output.value",
        ];
        if let Some((key, value)) = span.attributes.first(&inputs) {
            read_any(&mut given, Some(&value), &format!("#{key}"));
        }
        if let Some((key, value)) = span.attributes.first(&outputs) {
            read_any(&mut gave, Some(&value), &format!("#{key}"));
            let is_plain =
                gave.calls.is_empty() && gave.answer.is_none() && look::parsed(&value).is_none();
            if is_plain && key != "output.value" {
                gave.say(value.as_str().map(str::to_owned));
            }
        }
    }
    facts.usage = usage(span);
    facts.take_messages(given, gave);
    // A model that failed said nothing, whatever an empty message looks like.
    if facts.error.is_some() {
        facts.answer = None;
    }
}

/// Returns the tokens of a span.
pub(super) fn usage(span: &Span<'_>) -> Option<Usage> {
    let attributes = &span.attributes;
    let json = ["langfuse.observation.usage_details", "mlflow.chat.tokenUsage"];
    let of_json = || {
        let (_, value) = attributes.first(&json)?;
        usage_of(&*look::parsed(&value)?)
    };
    let usage = Usage {
        input_tokens: attributes.whole(&[
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
        ]),
        output_tokens: attributes.whole(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
        ]),
        total_tokens: attributes.whole(&[
            "llm.token_count.total",
            "llm.usage.total_tokens",
            "gen_ai.usage.total_tokens",
        ]),
        cost: attributes
            .get("llm.cost.total")
            .or_else(|| attributes.get("gen_ai.usage.cost"))
            .and_then(|cost| cost.as_f64()),
    };
    if usage.is_empty() { of_json() } else { Some(usage) }
}
