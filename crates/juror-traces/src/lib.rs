//! Traces of other systems as Juror's steps: bytes in, conversations out.
//!
//! Systems record what they did in many dialects: messages of chats, items of responses, spans,
//! logs of protocols. A dialect's reader finds calls, results, texts and tokens; all dialects share
//! the rules by which these become steps. A call and its result are two records joined by id.
//! Arguments that cannot be read, and calls without results, are errors and never lost. What is
//! repeated counts once. Whatever is odd is counted ([`Oddities`]).
//!
//! For conversations that are in memory already, such as those of a live agent, [`openai`] reads
//! chat messages and items of responses:
//!
//! ```
//! use juror_traces::{Rules, openai};
//! use serde_json::json;
//!
//! let items = [
//!     json!({"type": "function_call", "call_id": "call_7", "name": "get_weather",
//!         "arguments": "{\"city\": \"Oslo\"}"}),
//!     json!({"type": "function_call_output", "call_id": "call_7", "output": "{\"temp_c\": 4}"}),
//!     json!({"type": "message", "role": "assistant",
//!         "content": [{"type": "output_text", "text": "4 degrees."}]}),
//! ];
//! let conversation = openai::read_items(&items, &Rules::default());
//! let response = conversation.response("weather-oslo", None);
//! assert_eq!(response["actual_answer"], "4 degrees.");
//! assert_eq!(response["actual_steps"][0]["name"], "get_weather");
//! assert_eq!(response["actual_steps"][0]["status"], "success");
//! ```
//!
//! Files of any dialect go through an [`Importer`], which recognizes what they are:
//!
//! ```
//! use juror_traces::{Importer, Joiner, Rules};
//!
//! let file = r#"{"weather-oslo": [{"role": "user", "content": "How warm is it in Oslo?"},
//!     {"role": "assistant", "content": "4 degrees."}]}"#;
//! let (mut importer, mut conversations) = (Importer::new(Rules::default(), None), Vec::new());
//! importer.read("trace.json", &mut file.as_bytes(), &mut |found| conversations.push(found))?;
//! let report = importer.finish(&mut |_| {})?;
//! assert_eq!(report.recognized(), "trace.json: OpenAI chat messages (1 record)\n");
//! assert_eq!(Joiner::default().join(&conversations[0]).question_id, "weather-oslo");
//! # Ok::<(), juror_traces::ImportError>(())
//! ```
//!
//! You will not find file access, printing or scoring here.

#![expect(clippy::doc_markdown, reason = "names of products and frameworks are no code")]
#![cfg_attr(
    test,
    expect(clippy::needless_pass_by_value, reason = "values of tests are written in place")
)]

mod args;
mod call;
mod container;
mod conversation;
mod dialect;
mod import;
mod lines;
mod look;
mod oddity;
pub mod openai;
mod outcome;
mod question_key;
mod questions;
mod repair;
mod report;
mod rules;
mod settle;
mod spans;
mod table;
mod time;
mod transcript;

pub use call::{CallStatus, Kind};
pub use conversation::{Conversation, Status, Step, Usage};
pub use dialect::Dialect;
pub use import::{Each, ImportError, Importer, is_trace};
pub use oddity::{Found, Oddities, Oddity};
pub use questions::{Joined, JoinedBy, Joiner, Questions};
pub use report::{FileReport, Report};
pub use rules::Rules;
pub use spans::Spill;
