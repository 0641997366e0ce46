//! Tools that agents call: their names, catalogs, functions, and the queries they are tried on.

mod accept;
pub mod agent;
pub mod answer;
mod arguments;
mod call_score;
mod catalog;
pub mod environment;
mod folder;
mod function;
mod id_filter;
pub mod judged;
mod look;
mod mirror;
pub mod names;
mod query;
mod registry;
pub mod result;
mod select;
pub mod strip;
mod unique;

pub use accept::{Rejection, Rule, accept};
pub use arguments::argument_key;
pub use call_score::{CallScore, Called, called_apis};
pub use catalog::{
    Api, Folders, Found, LAST_RESORT_CATEGORY, Parameter, Parameters, Tool, gather, read_tool_file,
};
pub use environment::{Environment, Offer, Pool};
pub use folder::{FolderNames, UnsafeName};
pub use function::{Form, Function, Property, Schema, Signature, function};
pub use id_filter::IdFilter;
pub use mirror::{Ending, Reply, read_mirror_reply};
pub use query::{AvailableTool, AvailableTools, Query, QueryApi, read_queries};
pub use registry::{Entry, Registry, resolve};
pub use select::{
    CachedSelection, Named, Selection, Wanted, Words, rank_by_words, read_selected_names,
    select_tools, selection_key,
};
pub use unique::{Cut, unique_names};
