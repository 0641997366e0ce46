//! Benchmarks of agents that call tools, as far as data in hand allows computing them.
//!
//! - **What agents can call**: tool files ([`read_tool_file`]), their [`names`] in every form of
//!   the public data, the way back from a name to an API ([`Registry`]), and APIs described as
//!   functions for models ([`function()`]).
//! - **What they are asked**: [`read_queries_to_ask`], and choosing tools for a query ([`select_tools`]).
//! - **What they did**: their logs and recorded [`answer`]s, in every form.
//! - **How they did**: which of the right APIs they called ([`CallScore`]), what to ask about an
//!   answer and what the replies mean ([`judged`]), and files of [`result`]s with their summary.
//!
//! ```
//! use juror_document::{Document, Format};
//! use juror_toolbench::answer::read_answer;
//! use juror_toolbench::{CallScore, called_apis, read_queries};
//!
//! let queries = r#"[{"query": "Rain in Oslo?", "query_id": 1, "relevant APIs": [["Weather", "Today"]],
//!     "api_list": [{"category_name": "Climate", "tool_name": "Weather", "api_name": "Today"}]}]"#;
//! let queries = Document::new("queries.json", queries.into(), Format::Json).unwrap();
//! let (queries, problems) = read_queries(&queries);
//! assert!(problems.is_empty());
//!
//! let answer = r#"{"answer": {"final_answer": "Yes", "answer_details": [
//!     {"role": "tool", "message": {"name": "today_for_weather"}, "next": []}]}}"#;
//! let (answer, registry) = (read_answer(answer).unwrap(), queries[0].registry());
//! let called = called_apis(&answer, &[&registry]);
//! assert_eq!(CallScore::of(&called, &queries[0].gold).score(), Some(1.0));
//! ```
//!
//! You will not find async, files, network, clock, randomness or printing in this crate, nor
//! anything that calls a tool or asks a model.

mod accept;
pub mod answer;
mod arguments;
mod call_score;
mod folder;
mod function;
mod id_filter;
pub mod judged;
mod mirror;
pub mod names;
mod offer;
mod places;
pub mod pool;
mod query;
mod registry;
pub mod result;
mod select;
pub mod strip;
mod tool_file;
mod unique;

pub use accept::{Rejection, Rule, accept};
pub use arguments::argument_key;
pub use call_score::{CallScore, Called, called_apis, listed_apis, named_apis};
pub use folder::{FolderNames, UnsafeName};
pub use function::{Form, Function, ParametersSchema, Property, Schema, Signature, function};
pub use id_filter::IdFilter;
pub use mirror::{Ending, Reply, read_mirror_reply};
pub use offer::{Offer, OwnedOffer, TakenNames, function_names};
pub use places::{Place, Places, UnclearSet};
pub use query::{
    AvailableTool, AvailableTools, Query, QueryApi, read_queries, read_queries_to_ask,
};
pub use registry::{Entry, Registry, resolve};
pub use select::{
    CachedSelection, Named, Selection, Wanted, Words, rank_by_words, read_selected_names,
    select_tools, selection_key,
};
pub use tool_file::{
    Api, Folders, Found, LAST_RESORT_CATEGORY, Parameter, Parameters, Tool, gather, read_tool_file,
};
pub use unique::{Cut, unique_names};
