//! Virtual tools: APIs that agents can call, answered as if every API were up.
//!
//! There are two halves. The [`Catalog`] holds the tools themselves. It loads a folder of tool files,
//! numbers the APIs, gives each a unique function name, finds APIs by any of their names or by
//! full-text search, and lists them in the form that agents receive.
//!
//! [`VirtualTools`] answer calls. A [`ToolCall`] goes through a list of [`Source`]s until one has a
//! reply. The usual order is:
//!
//! 1. known replies ([`Cached`]): in memory, in cache folders ([`CacheFolder`]) and in stores,
//! 2. makers of new replies, which implement [`ToolSource`]: a [`Simulator`] asks a language model,
//!    [`Proxy`] and [`Direct`] call the real API.
//!
//! A new reply is stored before anyone sees it, so that the same call has the same reply next time.
//! Equal calls in flight share one reply. Every reply says where it came from ([`Served`]).
//!
//! ```
//! use std::sync::Arc;
//!
//! use juror_tools::{
//!     Cached, CachedSetup, CacheFolder, Catalog, MemoryBudget, ServedFrom, Source, ToolCall,
//!     VirtualTools,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let (tools, cache) = (folder.path().join("tools"), folder.path().join("cache"));
//! std::fs::create_dir_all(tools.join("Weather"))?;
//! std::fs::write(
//!     tools.join("Weather/easy_weather.json"),
//!     r#"{"tool_name": "Easy Weather", "api_list": [{"name": "5 day forecast"}]}"#,
//! )?;
//! let catalog = Catalog::load(&tools)?;
//! assert_eq!(catalog.names(), ["get_5_day_forecast_for_easy_weather"]);
//! let found = catalog.find("how will the weather be?", 10);
//! let (tool, api) = catalog.api(found[0].number).unwrap();
//! assert_eq!((&*tool.name, &*api.name), ("Easy Weather", "5 day forecast"));
//!
//! // A recorded reply, in the layout of the public servers.
//! std::fs::create_dir_all(cache.join("Weather/easy_weather_for_Weather"))?;
//! std::fs::write(
//!     cache.join("Weather/easy_weather_for_Weather/get_5_day_forecast.json"),
//!     r#"{"{'city': 'Oslo'}": {"error": "", "response": "rain"}}"#,
//! )?;
//! let folders = vec![CacheFolder::look_through(&cache)?];
//! let cached = Cached::new(CachedSetup { folders, ..CachedSetup::default() }, |_| {});
//! let sources = vec![Source::Cache];
//! let tools = VirtualTools::new(Arc::new(cached), sources, false, MemoryBudget::default());
//!
//! let input = r#"{"city": "Oslo"}"#;
//! let call = ToolCall::new("Weather", "Easy Weather", "5 day forecast", input, "").unwrap();
//! let served = tools.call(call).await;
//! assert_eq!(served.from, ServedFrom::Cache);
//! assert_eq!(&served.body[..], br#"{"error":"","response":"rain"}"#);
//! # Ok(())
//! # }
//! ```
//!
//! You will not find scoring here, nor HTTP routes (`juror-serve`), nor the rules of names and tool
//! files ([`juror_toolbench`]).

mod argument_index;
mod argument_rules;
mod cache_folder;
mod cached;
mod call;
mod cassette;
mod catalog;
mod described_request;
mod faults;
mod mcp_source;
mod memory_budget;
mod python_json_error;
mod real;
mod reply_writer;
mod search;
mod simulator;
mod source;
mod virtual_tools;

pub use argument_rules::{ArgumentPattern, ArgumentRules};
pub use cache_folder::{
    ApiPath, CacheEntries, CacheFolder, Exported, FolderProblem, export, read_entries,
};
pub use cached::{ArgumentOrder, Cached, CachedSetup};
pub use call::{INPUT_ERROR, NumberMatching, RawCall, Refusal, ToolCall};
pub use catalog::{Catalog, LivePool, PoolSetup, ToolsError, list_offers, load_pools};
pub use faults::{Fault, FaultRule, Faults};
pub use mcp_source::McpSource;
pub use memory_budget::{MemoryBudget, Reservation};
pub use real::{Direct, Host, Proxy};
pub use reply_writer::Keeping;
pub use search::{Match, Search};
pub use simulator::{CoolDown, PromptBuilder, Simulator, SimulatorKind, SimulatorStyle};
pub use source::{NoReply, SourceReply, ToolSource};
pub use virtual_tools::{
    CallCounts, Failure, Served, ServedFrom, Source, VirtualTools, error_body, seconds_now,
};

/// The example of the page about searching, so that it compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/search.md")]
struct SearchPage;
