//! OpenAI's conversations that are already in memory: chat messages and items of responses.
//!
//! ```
//! use juror_traces::{Rules, openai};
//! use serde_json::json;
//!
//! let messages = [
//!     json!({"role": "user", "content": "How warm is it in Oslo?"}),
//!     json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_1",
//!         "function": {"name": "get_weather", "arguments": "{\"city\": \"Oslo\"}"}}]}),
//!     json!({"role": "tool", "tool_call_id": "call_1", "content": "{\"temp_c\": 4}"}),
//!     json!({"role": "assistant", "content": "4 degrees."}),
//! ];
//! let conversation = openai::read_messages(&messages, &Rules::default());
//! assert_eq!(conversation.answer.as_deref(), Some("4 degrees."));
//! assert_eq!(conversation.steps[0].output.as_deref(), Some("{\"temp_c\": 4}"));
//! ```

use serde_json::Value;

use crate::conversation::{Conversation, Usage};
use crate::dialect::{openai_chat, responses};
use crate::rules::Rules;
use crate::transcript::Transcript;
pub use crate::transcript::usage_of;

/// Reads the messages of a chat: the steps, the answer, what the user said.
///
/// Messages have no tokens; add those of the replies with [`usage_of`].
pub fn read_messages(messages: &[Value], rules: &Rules) -> Conversation {
    let mut transcript = Transcript::default();
    openai_chat::read(&mut transcript, messages, "");
    transcript.settle(rules)
}

/// Reads items of the Responses API: the `output` of a response, or several of them with the inputs
/// between, in order.
pub fn read_items(items: &[Value], rules: &Rules) -> Conversation {
    let mut transcript = Transcript::default();
    responses::read(&mut transcript, items, "");
    transcript.settle(rules)
}

/// Returns the tokens of a whole reply: of its `usage`.
pub fn usage_of_reply(reply: &Value) -> Option<Usage> {
    usage_of(reply.get("usage")?)
}
