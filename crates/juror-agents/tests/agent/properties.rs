//! What holds whatever a model says.

use std::collections::HashSet;
use std::sync::Arc;

use juror_agents::chat_agent::{AgentLimits, AskError, ChatAgent, Ending, Method, Reply, prompts};
use juror_models::Message;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::answers::check_answer;
use crate::scripted::{Script, Shelf, block_on, calls, environment, setup};

const CALLS: [(&str, &str); 6] = [
    ("a_for_t", "{}"),
    ("b_for_u", "not JSON: \"é\u{7f}\u{1f}\n"),
    ("made_up", "{}"),
    ("Finish", "{}"),
    ("Finish", r#"{"return_type": "give_up_and_restart"}"#),
    ("Finish", r#"{"return_type": "give_answer", "final_answer": "x"}"#),
];

/// Words or none, and calls or none; sometimes a failure.
fn reply() -> impl Strategy<Value = Result<Reply, AskError>> {
    let said = (any::<bool>(), prop::collection::vec(0..30_usize, 0..4));
    let said = said.prop_map(|(has_words, chosen)| {
        // The ends are rare, so that there is something to see.
        let chosen: Vec<_> =
            chosen.into_iter().map(|n| CALLS[if n < 6 { n } else { n % 3 }]).collect();
        calls(has_words.then_some("so"), &chosen)
    });
    prop_oneof![9 => said, 1 => Just(Err(AskError::Failed("boom".into())))]
}

fn method() -> impl Strategy<Value = Method> {
    prop_oneof![
        (1..4_usize).prop_map(|tries| Method::Chain { tries }),
        (1..4_usize).prop_map(|width| Method::TreeSearch { width }),
    ]
}

/// Providers refuse a conversation in which a call has no result.
fn is_sound(messages: &[Arc<Message>]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    messages.iter().all(|message| match &**message {
        Message::Assistant(said) => {
            let was_closed = open.is_empty();
            open.extend(said.calls.iter().map(|call| &*call.id));
            was_closed
        }
        Message::Tool { call_id, .. } => open.remove(&**call_id),
        Message::System(_) | Message::User { .. } => open.is_empty(),
    }) && open.is_empty()
}

fn nodes(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            usize::from(fields.contains_key("node_type"))
                + fields.values().map(nodes).sum::<usize>()
        }
        Value::Array(values) => values.iter().map(nodes).sum(),
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn limits_hold_and_conversations_are_sound(
        method in method(),
        max_steps in 1..15_usize,
        max_queries in 1..25_usize,
        replies in prop::collection::vec(reply(), 25),
    ) {
        let limits = AgentLimits { max_steps, max_queries, max_idle: usize::MAX };
        let agent = ChatAgent { method, limits, prompts: prompts() };
        let script = Script::new(replies);
        let data = r#"{"error": "", "response": "data"}"#;
        let tools = Shelf::new(&[("a", data), ("b", data)]);
        let environment = environment(&["a_for_t", "b_for_u"], &setup(""));
        let attempt = block_on(agent.answer("q", environment, &script, &tools)).expect("goes on");

        prop_assert!(script.n_asked() <= max_queries);
        prop_assert_eq!(script.n_asked(), attempt.n_queries);
        for messages in script.asked.lock().expect("a list").iter() {
            prop_assert!(is_sound(messages), "{:?}", messages);
        }
        prop_assert_eq!(tools.called.lock().expect("a list").len(), attempt.calls.len());
        let checked = check_answer(&attempt, &method.to_string());
        prop_assert!(checked.is_ok(), "{checked:?}");
        let raw = json!(attempt.raw());
        prop_assert_eq!(&raw["win"], &json!(matches!(attempt.ending, Ending::Answered(_))));
        prop_assert_eq!(&raw["answer_generation"]["query_count"], &json!(attempt.n_queries));
        if let Method::TreeSearch { .. } = method {
            prop_assert_eq!(&json!(nodes(&raw["tree"])), &raw["tree"]["size"]);
        }
    }
}
