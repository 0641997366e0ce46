//! Tools that answer as if every API were up.
//!
//! A [`Catalog`] is a folder of tool files in memory: it knows every API by all its names, finds those
//! that fit a text, and says what to call them. What tools are, and all that can be computed of
//! them, is in [`juror_toolbench`]. [`VirtualTools`] answer calls.
//!
//! ```
//! use juror_tools::Catalog;
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::create_dir(folder.path().join("Weather"))?;
//! std::fs::write(
//!     folder.path().join("Weather/easy_weather.json"),
//!     r#"{"tool_name": "Easy Weather", "api_list": [{"name": "5 day forecast"}]}"#,
//! )?;
//!
//! let catalog = Catalog::load(folder.path())?;
//! assert!(catalog.problems().is_empty());
//! assert_eq!(catalog.names(), ["get_5_day_forecast_for_easy_weather"]);
//!
//! let found = catalog.find("how will the weather be?", 10);
//! let (tool, api) = catalog.api(found[0].number).unwrap();
//! assert_eq!((tool.category.as_deref(), &*api.name), (Some("Weather"), "5 day forecast"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike;
mod cache_folder;
mod cached;
mod call;
mod catalog;
mod complaint;
mod keeper;
mod real;
mod room;
mod search;
mod simulator;
mod source;
mod virtual_tools;

pub use cache_folder::{
    CacheFolder, Entries, Exported, FolderProblem, Names, export, read_entries,
};
pub use cached::{ArgumentOrder, Cached, CachedSetup, Known};
pub use call::{Asked, INPUT_ERROR, Numbers, Refusal, ToolCall};
pub use catalog::{ApiDocument, ApiNames, Catalog, LoadError, ToolDocument, list_offers};
pub use keeper::Keeping;
pub use real::{Direct, Host, Proxy};
pub use room::{Held, Room};
pub use search::{Match, Search};
pub use simulator::{Form, Manner, Resting, Shown, Simulator};
pub use source::{Made, NoReply, ToolSource};
pub use virtual_tools::{
    Counts, Failure, Served, ServedFrom, Source, VirtualTools, error_body, seconds_now,
};
