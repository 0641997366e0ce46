//! `juror mcp`: serves virtual tools over MCP, on standard input and output.

use std::sync::Arc;

use clap::Args;
use juror_bench::open_tools;
use juror_mcp::{Address, bridge_lines, serve_lines};
use juror_models::Tell;
use juror_run::Environment;
use juror_serve::{Limits, LogEvent, Server, ServerSetup, StatusCode};

use super::bench::error_of;
use super::serve::ListingArg;
use super::tool_args::ToolArgs;
use crate::exit::{Exit, Outside};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror mcp --tools toolenv/tools --cache tool_response_cache
      virtual tools for any client of MCP; clients start this command
  juror mcp --proxy 'mcp:npx -y my-server' --cassette cassettes/my-server
      stand between a client and a server, and record
  juror mcp --at http://127.0.0.1:8080/runs/monday/588/9f21…/mcp
      calls of a client that speaks on standard streams alone, recorded for their query

See docs/mcp.md.";

/// Answer tool calls over MCP, on standard input and output.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct McpArgs {
    #[command(flatten)]
    tools: ToolArgs,

    /// Pass messages on to a running `juror serve`, at its /mcp or at the `mcp` address of an open
    /// query; the options for tools are then the server's.
    #[arg(long, value_name = "URL", env = "JUROR_MCP_AT")]
    at: Option<String>,

    /// How clients get to know tools: `list` lists all, page by page, `search` offers
    /// `search_tools` and `call_tool`, `auto` lists up to 128.
    #[arg(long, value_name = "HOW", default_value = "auto", env = "JUROR_MCP_TOOLS")]
    mcp_tools: ListingArg,
}

pub(super) fn run(args: &McpArgs) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Outside(error.into()))?;
    let served = match &args.at {
        Some(url) => runtime.block_on(bridge(url)),
        None => runtime.block_on(serve(args)),
    };
    // A read of standard input that nobody ends must not keep the process.
    runtime.shutdown_background();
    served
}

async fn bridge(url: &str) -> anyhow::Result<Exit> {
    let Ok(Address::Http(url)) = Address::read(&format!("mcp+{url}")) else {
        anyhow::bail!(
            "--at: `{url}` is not an address\n  hint: give one such as http://127.0.0.1:8080/mcp"
        );
    };
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    bridge_lines(url, input, output).await.map_err(|error| Outside(error.into()))?;
    Ok(Exit::Done)
}

async fn serve(args: &McpArgs) -> anyhow::Result<Exit> {
    let environment = Environment::read(output::warn);
    let (settings, _) = args.tools.settings(&environment)?;
    anyhow::ensure!(
        juror_bench::has_anything(&settings.tools),
        "nothing to serve\n  hint: name tools with --tools, known replies with --cache, or both"
    );
    let tell: Tell = Arc::new(|text: &str| output::warn(text));
    let tools = open_tools(&settings, &environment, &tell).await.map_err(error_of)?;
    for problem in &tools.problems {
        output::warn(&problem.to_string());
    }
    let cached = tools.virtual_tools.cached().clone();
    let server = Server::new(ServerSetup {
        tools: tools.virtual_tools,
        match_numbers: tools.match_numbers.unwrap_or_default(),
        unknown: StatusCode::OK,
        catalog: tools.catalog,
        opens_runs: false,
        token: None,
        allowed_hosts: Vec::new(),
        limits: Limits::default(),
        mcp_listing: args.mcp_tools.into(),
        log: Arc::new(|event: &LogEvent<'_>| {
            if let LogEvent::Trouble(text) = event {
                output::warn(text);
            }
        }),
    });
    let ended = serve_lines(server.mcp_tools(), tokio::io::stdin(), tokio::io::stdout()).await;
    cached.write_hits().map_err(|error| Outside(error.into()))?;
    ended.map_err(|error| Outside(error.into()))?;
    Ok(Exit::Done)
}
