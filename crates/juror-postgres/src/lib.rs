//! Keeps replies and runs in `PostgreSQL`, so that many machines share them.
//!
//! [`SharedReplies`] and [`SharedToolReplies`] are stores like those in files, at an [`Address`] such
//! as `postgresql://user@host/database?sslmode=verify-full&schema=juror`. Beyond that they know
//! turns: of all processes that want the same reply, one obtains it and the others wait, so that it
//! is bought once by all. A turn is a lock of the database's own that ends with its session: what a
//! killed process was about to buy, another one buys.
//!
//! [`SharedRuns`] keeps runs with their files. One process at a time holds a run, by such a lock too.
//!
//! Each store has one connection, on a thread of its own. If the server goes away, whoever asks waits
//! for it to come back, up to a limit; nothing that was kept is lost.
//!
//! [`open_reply_store`] and [`open_tool_store`] open a store wherever it is: in a folder, or in a
//! database.
//!
//! You will not find scoring here, nor anything about who asks and why.

mod address;
mod open;
mod password;
mod replies;
mod runs;
mod schema;
mod session;
mod tls;
mod tool_replies;
mod trouble;
mod turns;

pub use address::Address;
pub use open::{StoreUse, is_database, open_reply_store, open_tool_store, shown_place};
pub use replies::SharedReplies;
pub use runs::SharedRuns;
pub use schema::{Checked, check, migrate};
pub use tool_replies::SharedToolReplies;
