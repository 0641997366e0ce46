//! Tools that answer as if every API were up.
//!
//! [`load_folder`] reads a folder of tool files into tools; what they are, and all that can be
//! computed of them, is in [`juror_toolbench`]. [`Search`] finds those that fit a query.
//!
//! ```
//! use juror_toolbench::Registry;
//! use juror_tools::load_folder;
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::create_dir(folder.path().join("Weather"))?;
//! std::fs::write(
//!     folder.path().join("Weather/easy_weather.json"),
//!     r#"{"tool_name": "Easy Weather", "api_list": [{"name": "5 day forecast"}]}"#,
//! )?;
//!
//! let catalog = load_folder(folder.path())?;
//! assert!(catalog.problems.is_empty());
//! assert_eq!(catalog.tools[0].category.as_deref(), Some("Weather"));
//!
//! let registry = Registry::of_tools(&catalog.tools);
//! let entry = registry.get("get_5_day_forecast_for_easy_weather").unwrap();
//! assert_eq!(entry.api, "5 day forecast");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alike;
mod cache_folder;
mod cached;
mod call;
mod complaint;
mod documentation;
mod folder;
mod keeper;
mod load;
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
pub use documentation::{ApiDocument, ApiNames, Documentation, ToolDocument};
pub use keeper::Keeping;
pub use load::{Catalog, LoadError, load_folder};
pub use real::{Direct, Host, Proxy};
pub use room::{Held, Room};
pub use search::{Match, Search};
pub use simulator::{Form, Manner, Resting, Shown, Simulator};
pub use source::{Made, NoReply, ToolSource};
pub use virtual_tools::{
    Counts, Failure, Served, ServedFrom, Source, VirtualTools, error_body, seconds_now,
};
