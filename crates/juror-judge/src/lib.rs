//! Asks language and embedding models whether answers are right.
//!
//! A [`ModelSpec`] says which model is asked and how; [`Models`] puts it behind one queue for all
//! calls of a run, which bounds, paces, retries, joins and keeps them. A [`Judge`] asks about one
//! aspect of a case and gives notes for its result; a [`Panel`] is all judges of a run. An agent's
//! model is asked by the same queue: [`Models::converse`] goes on with a [`Conversation`] in which
//! functions can be called. What an agent answered is judged by [`PassRateJudge`],
//! [`PreferenceJudge`] and [`FinalAnswerJudge`].
//!
//! ```
//! use juror_judge::{Prices, Usage, read_claims};
//!
//! let reply = r#"{"reference_claims": 4, "actual_claims": 2, "matching_claims": 2, "reason": "…"}"#;
//! let claims = read_claims(reply)?;
//! assert_eq!((claims.matching, claims.reference), (2, 4));
//! assert!(read_claims("they are much alike").is_err());
//!
//! let price = Prices::new([].into()).of("openai/gpt-4o-mini").expect("a published price");
//! let usage = Usage { input_tokens: 1_000_000, output_tokens: 0 };
//! assert!(price.of(usage) > 0.0);
//! # Ok::<(), juror_judge::ClaimsError>(())
//! ```
//!
//! You will not find SQL, files, argument parsing or a step matcher here, nor a global client: the
//! same process can ask different models at once.

mod adapt;
mod anthropic;
mod body;
mod cache;
mod call;
mod conversation;
mod correctness;
mod custom;
mod final_answer;
mod gemini;
mod http;
mod judge;
mod lanes;
mod listed;
mod model;
mod openai;
mod pace;
mod pass_rate;
mod preference;
mod prices;
mod prompt;
mod provider;
mod queue;
mod relevance;
mod reply;
mod retrieval;
mod schema;
mod secret;
mod sse;
mod tally;
mod trajectory;
mod turns;
mod vectors;

pub use adapt::Tell;
pub use cache::{CacheMode, Kept, Recorded, RecordedLine, ReplyCache};
pub use call::{CallKey, ChatCall, KeyMaker};
pub use conversation::{Conversation, Turn, TurnReply};
pub use correctness::{
    BLANK, ClaimRules, Claims, ClaimsError, Correctness, read_claims, read_claims_about,
};
pub use custom::{Custom, Input, ShownSteps};
pub use final_answer::{FinalAnswerJudge, FinalJudged};
pub use http::{http_client, innermost, server_of};
pub use judge::{Judge, Panel, Verdicts};
pub use lanes::Width;
pub use model::{
    ChatModel, ChatRequest, Embedder, Embeddings, ModelError, ModelReply, Pending, Said, Usage,
};
pub use pass_rate::{Judged, PassRateJudge};
pub use preference::{PreferenceJudge, Preferred};
pub use prices::{Price, Prices};
pub use prompt::{Prompt, Template, TemplateError};
pub use provider::{Manners, ModelSpec, PROVIDERS, Protocol, Provider};
pub use queue::{Answer, CallError, Limits, Models, ModelsSetup, OutsideReason, Stop};
pub use relevance::Relevance;
pub use retrieval::{Against, Retrieval};
pub use schema::Schema;
pub use secret::{Secret, Secrets, is_secret_name, is_secret_parameter, says_who_asks};
pub use tally::{Calls, Cost, Count, Tally};

/// The built-in prompts: the name of each one's file, its text, and the texts it may use.
pub const PROMPTS: [(&str, &str, &[&str]); 9] = [
    ("answer_claims", correctness::PROMPT, correctness::PLACES),
    (listed::PURPOSE, listed::PROMPT, correctness::PLACES),
    ("generated_question", relevance::PROMPT, relevance::PLACES),
    ("attribution", retrieval::ATTRIBUTION_PROMPT, retrieval::ATTRIBUTION_PLACES),
    ("usefulness", retrieval::USEFULNESS_PROMPT, retrieval::USEFULNESS_PLACES),
    ("answer_status", pass_rate::STATUS_PROMPT, pass_rate::STATUS_PLACES),
    ("answer_status_detailed", pass_rate::DETAILED_PROMPT, pass_rate::DETAILED_PLACES),
    ("better_answer", preference::PROMPT, preference::PLACES),
    ("final_answer_status", final_answer::PROMPT, final_answer::PLACES),
];
