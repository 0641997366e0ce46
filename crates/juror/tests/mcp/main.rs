//! Tools of other kinds, over MCP and HTTP, as users meet them: processes, sockets, files.
//!
//! `juror mcp` itself is the MCP server that these tests call; `test-mcp` has the official clients
//! call Juror.

#![expect(clippy::print_stdout, reason = "tests tell what they skipped")]

mod api;
mod misbehaving;
mod pools;
mod record;
mod replayed_agent;
mod stage;
