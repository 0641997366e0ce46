//! What is worth keeping of a span.

use super::agent::read_agent;
use super::class::{Class, class_of, convention_of};
use super::facts::{Role, SpanFacts};
use super::model::read_model;
use super::retrieval::retrieval;
use super::span::Span;
use super::tool::read_tool;
use crate::question_key::id_in_attributes;
use crate::rules::Rules;

/// Attributes with an id of the conversation.
const CONVERSATIONS: [&str; 5] = [
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "gcp.vertex.agent.session_id",
];

/// Returns what is worth keeping of a span.
pub(crate) fn read_span(span: &Span<'_>, rules: &Rules) -> SpanFacts {
    let class = class_of(span);
    let attributes = &span.attributes;
    let mut facts = SpanFacts {
        trace: span.trace.to_string(),
        convention: convention_of(span),
        span: span.id.to_string(),
        parent: span.parent.as_deref().filter(|parent| !parent.is_empty()).map(str::to_owned),
        start: span.start,
        end: span.end,
        agent: attributes.words(&["gen_ai.agent.name", "agent.name", "agent_name"]),
        question_id: id_in_attributes(attributes, rules.question_id.as_deref()),
        other_ids: CONVERSATIONS.iter().filter_map(|key| attributes.text(key)).collect(),
        error: span.failure(),
        ..SpanFacts::default()
    };
    match class {
        Class::Tool | Class::Mcp => read_tool(&mut facts, span, class),
        Class::Retrieval => {
            facts.role = Role::Tool;
            facts.tool = Some(Box::new(retrieval(span)));
        }
        Class::Model => {
            facts.role = Role::Model;
            read_model(&mut facts, span);
        }
        Class::Agent => {
            facts.role = Role::Agent;
            read_agent(&mut facts, span);
        }
        Class::Other => {
            // Roots of any kind have the question and the answer.
            if facts.parent.is_none() {
                read_agent(&mut facts, span);
            }
        }
    }
    facts
}
