//! Test support that several crates share.
//!
//! A recorded case is a line of JSON with an `id`, a `family`, an `input` and what is `expected`; if
//! something else would be right, that is `recommended`. [`run_cases`] runs files of cases, counts them
//! by family, and fails with a list of all failures. A small set of Juror's own is in `conformance/`;
//! the large recorded sets are used if they are available ([`recorded_cases`]).
//!
//! [`same`] and [`near`] compare values, [`misfits`] compares them with a JSON Schema, and [`Random`] gives repeatable random numbers.
//! [`Ended`] runs a program to its end, and [`Serving`] one that serves; `Postgres` starts a database
//! of its own. [`HttpServer`] answers requests on loopback as a test says, also badly.
//!
//! Things go wrong by [`Interference`] (system calls that fail, and kills in between), [`Disk`] (full or not
//! writable), [`Proxy`] (a network that cuts, delays and garbles) and [`ClockJump`].
//!
//! ```
//! use juror_testing::{Random, near, project, run_cases, same};
//! use serde_json::json;
//!
//! // A test that only looks at the ids.
//! run_cases(&project("conformance"), &["own_answers"], |_family, case, line| {
//!     [same(&json!(line.contains("\"id\"")), &json!(case.get("id").is_some()))]
//! });
//! assert!(near(&json!({"mean": 0.1 + 0.2}), &json!({"mean": 0.3})).is_ok());
//! assert_eq!(Random::new(7).below(100), Random::new(7).below(100));
//! ```
//!
//! You will not find anything the program needs here, nor another crate of the project.

#[cfg(unix)]
mod faults;
mod http_server;
#[cfg(target_os = "linux")]
mod postgres;
mod program;
mod random;
mod recorded;
mod same;
mod schema;

#[cfg(unix)]
pub use faults::{ClockJump, Disk, Fault, Interference, Mishap, Proxy};
pub use http_server::{HttpReply, HttpRequest, HttpServer};
#[cfg(target_os = "linux")]
pub use postgres::{Pooler, Postgres, SmallDisk};
pub use program::{Ended, Serving};
pub use random::Random;
pub use recorded::{RecordedCase, project, read_cases, recorded_cases, run_cases};
pub use same::{Checked, near, same, text};
pub use schema::misfits;
