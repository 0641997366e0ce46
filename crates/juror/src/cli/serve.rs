//! `juror serve`: serves virtual tools over HTTP.

use std::fs::File;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::{Args, ValueEnum};
use juror_bench::{Tools, open_tools};
use juror_models::{Secret, Tell};
use juror_run::{Environment, PublicConfig, StopSignals};
use juror_serve::{Limits, Log, LogEvent, McpListing, Server, ServerSetup, StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;

use super::bench::error_of;
use super::model_args::{parse_count, parse_duration};
use super::tool_args::ToolArgs;
use super::{boolish, count};
use crate::exit::{Exit, Outside};
use crate::output;

const SERVER: &str = "Server";

const EXAMPLES: &str = "\
Examples:
  juror serve --tools toolenv/tools --cache tool_response_cache
      answer from a StableToolBench cache, offline
  juror serve --tools toolenv/tools --cache tool_response_cache \\
      --simulator mirror --model MirrorAPI --model-url http://127.0.0.1:12345/v1
      let a model answer what the cache does not know, and keep it
  juror serve --tools toolenv/tools --on-miss fail
      replay exactly what was kept
  juror serve --tools api.yaml --proxy http://127.0.0.1:9000 --cassette cassettes/api
      record what a real API answers; with --on-miss fail, replay it
  juror serve -c server/config.yml
      take over from the public server

Point an agent at http://127.0.0.1:8080/virtual, or over MCP at http://127.0.0.1:8080/mcp.
See docs/virtual-tools.md and docs/mcp.md.";

/// Answer tool calls of agents, the same way every time: from known replies, a model that plays
/// the tools, or the tools themselves.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    tools: ToolArgs,

    /// Address to listen at; any but a loopback address lets other machines in, and needs --token or
    /// --no-token.
    #[arg(long, help_heading = SERVER, value_name = "ADDRESS", default_value = "127.0.0.1", env = "JUROR_HOST", value_parser = parse_host)]
    host: IpAddr,

    /// Port to listen at; 0 takes a free one [default: 8080].
    #[arg(long, help_heading = SERVER, value_name = "PORT", env = "JUROR_PORT")]
    port: Option<u16>,

    /// Token that requests have to bring, as `Authorization: Bearer …`.
    #[arg(long, help_heading = SERVER, value_name = "TOKEN", env = "JUROR_TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// Answer other machines without a token.
    #[arg(long, help_heading = SERVER, env = "JUROR_NO_TOKEN", value_parser = boolish(), conflicts_with = "token")]
    no_token: bool,

    /// Host name that requests may ask for besides localhost and addresses of this machine; may be
    /// repeated. Other names are refused on loopback, and everywhere once one is named.
    #[arg(long, help_heading = SERVER, value_name = "NAME", env = "JUROR_ALLOW_HOST", value_delimiter = ',', value_parser = parse_name)]
    allow_host: Vec<String>,

    /// Longest request, in bytes.
    #[arg(long, help_heading = SERVER, value_name = "BYTES", default_value_t = 1 << 20, env = "JUROR_MAX_BODY")]
    max_body: usize,

    /// Connections at a time; others wait, and new ones close those that waited longest.
    #[arg(long, help_heading = SERVER, value_name = "N", default_value = "1024", env = "JUROR_MAX_CONNECTIONS", value_parser = parse_count::<std::num::NonZero<u16>>)]
    max_connections: std::num::NonZero<u16>,

    /// Seconds the head of a request may take, and a new connection until it asks anything.
    #[arg(long, help_heading = SERVER, value_name = "SECONDS", default_value = "10", env = "JUROR_HEAD_TIMEOUT", value_parser = parse_duration)]
    head_timeout: Duration,

    /// Seconds the body of a request may take.
    #[arg(long, help_heading = SERVER, value_name = "SECONDS", default_value = "30", env = "JUROR_BODY_TIMEOUT", value_parser = parse_duration)]
    body_timeout: Duration,

    /// Seconds a connection may be idle between requests.
    #[arg(long, help_heading = SERVER, value_name = "SECONDS", default_value = "600", env = "JUROR_IDLE_TIMEOUT", value_parser = parse_duration)]
    idle_timeout: Duration,

    /// Seconds a reply may take.
    #[arg(long, help_heading = SERVER, value_name = "SECONDS", default_value = "300", env = "JUROR_TIMEOUT", value_parser = parse_count::<std::num::NonZero<u32>>)]
    timeout: std::num::NonZero<u32>,

    /// How clients of MCP get to know tools: `list` lists all, page by page, `search` offers
    /// `search_tools` and `call_tool`, `auto` lists up to 128. A client chooses with /mcp?tools=….
    #[arg(long, help_heading = SERVER, value_name = "HOW", default_value = "auto", env = "JUROR_MCP_TOOLS")]
    mcp_tools: ListingArg,

    /// Which calls are logged, one line of JSON each; neither keys nor arguments are.
    #[arg(long, help_heading = SERVER, value_name = "WHICH", default_value = "misses", env = "JUROR_LOG")]
    log: LogArg,

    /// File to log to, in place of standard error.
    #[arg(long, help_heading = SERVER, value_name = "FILE", env = "JUROR_LOG_FILE")]
    log_file: Option<String>,

    /// Print errors only.
    #[arg(short, long, help_heading = SERVER, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogArg {
    /// Nothing.
    Off,
    /// Calls whose reply was not known, and requests that were refused.
    Misses,
    /// Every call.
    All,
}

/// How clients of MCP get to know tools.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ListingArg {
    Auto,
    List,
    Search,
}

impl From<ListingArg> for McpListing {
    fn from(listing: ListingArg) -> McpListing {
        match listing {
            ListingArg::Auto => McpListing::Auto,
            ListingArg::List => McpListing::List,
            ListingArg::Search => McpListing::Search,
        }
    }
}

pub(super) fn parse_host(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(IpAddr::from([127, 0, 0, 1]));
    }
    text.parse().map_err(|_| "an IP address is needed, such as 127.0.0.1 or 0.0.0.0".to_owned())
}

pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && !text.contains(['/', '@', ' ', '*']);
    let name = is_name.then(|| text.to_owned());
    name.ok_or_else(|| "a host name is needed, such as juror.example or juror.example:8080".into())
}

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.token.as_ref().is_none_or(|token| !token.trim().is_empty()),
        "the token is empty\n  hint: leave --token and JUROR_TOKEN out to ask for none"
    );
    anyhow::ensure!(
        args.host.is_loopback() || args.token.is_some() || args.no_token,
        "--host {}: other machines could call these tools\n  hint: ask for a token with --token, or let everybody in with --no-token",
        args.host
    );
    anyhow::ensure!(args.max_body > 0, "--max-body is 0: no request would be short enough");
    let environment = Environment::read(output::warn);
    let (settings, public) = args.tools.settings(&environment)?;
    anyhow::ensure!(
        juror_bench::has_anything(&settings.tools),
        "nothing to serve\n  hint: name a folder of tool files with --tools, known replies with --cache, or both"
    );
    let log = log(args, &public)?;
    let tell: Tell = {
        let log = log.clone();
        Arc::new(move |text: &str| log(&LogEvent::Trouble(text)))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Outside(error.into()))?;
    runtime.block_on(async {
        let tools = open_tools(&settings, &environment, &tell).await.map_err(error_of)?;
        for problem in &tools.problems {
            output::warn(&problem.to_string());
        }
        let port = args.port.or(public.port).unwrap_or(8080);
        let address = SocketAddr::new(args.host, port);
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Outside(anyhow::anyhow!(
                "cannot listen at {address}: {error}\n  hint: choose another port with --port"
            ))
        })?;
        serve(args, tools, listener, log).await
    })
}

async fn serve(
    args: &ServeArgs,
    tools: Tools,
    listener: TcpListener,
    log: Log,
) -> anyhow::Result<Exit> {
    let stop = stop_signal(args.quiet)?;
    let address = listener.local_addr()?;
    if !args.quiet {
        say_what_is_served(&tools, address);
    }
    let limits = Limits {
        body: args.max_body,
        connections: usize::from(args.max_connections.get()),
        idle: args.idle_timeout,
        head: args.head_timeout,
        receiving: args.body_timeout,
        reply: Duration::from_secs(u64::from(args.timeout.get())),
        ..Limits::default()
    };
    let server = Server::new(ServerSetup {
        tools: tools.virtual_tools,
        match_numbers: tools.match_numbers.unwrap_or_default(),
        unknown: if tools.replays { StatusCode::NOT_FOUND } else { StatusCode::OK },
        catalog: tools.catalog,
        opens_runs: true,
        token: args.token.as_deref().map(Secret::new),
        allowed_hosts: args.allow_host.clone(),
        limits,
        mcp_listing: args.mcp_tools.into(),
        log,
    });
    // Scripts that let the system choose the port read it from here.
    output::print_data(&format!("http://{address}\n"))?;
    server.serve(listener, stop).await;
    if !args.quiet {
        output::print_note("stopped");
    }
    Ok(Exit::Done)
}

/// Completes when the user or the system asks the server to stop.
pub(super) fn stop_signal(quiet: bool) -> anyhow::Result<impl Future<Output = ()>> {
    let mut signals = StopSignals::listen()?;
    Ok(async move {
        signals.next().await;
        tokio::spawn(async move {
            if !quiet {
                output::print_note(
                    "stopping: calls on their way are waited for (Ctrl-C again to end now)",
                );
            }
            signals.next().await;
            std::process::exit(Exit::OutsideFailed as i32);
        });
    })
}

fn say_what_is_served(tools: &Tools, address: SocketAddr) {
    let mut parts = vec![count(tools.catalog.n_apis(), "API")];
    if tools.n_cached_apis > 0 {
        parts.push(format!("cache folder with replies of {}", count(tools.n_cached_apis, "API")));
    }
    if let Some(store) = &tools.store {
        parts.push(format!("{} kept replies in {}", tools.n_kept, store));
    }
    parts.push(format!("sources: {}", tools.virtual_tools.source_names().join(", ")));
    output::print_note(&parts.join(" · "));
    output::print_note(&format!("serving at http://{address}/virtual (Ctrl-C to stop)"));
}

fn log(args: &ServeArgs, public: &PublicConfig) -> anyhow::Result<Log> {
    let file = args.log_file.as_ref().or(public.log_file.as_ref());
    let file = match file.filter(|name| !name.is_empty()) {
        None => None,
        Some(name) => {
            if let Some(folder) = std::path::Path::new(name).parent() {
                // If this fails, opening the file reports why.
                let _ = std::fs::create_dir_all(folder);
            }
            let file = File::options().create(true).append(true).open(name);
            Some(Mutex::new(
                file.map_err(|error| anyhow::anyhow!("{name}: cannot log to it: {error}"))?,
            ))
        }
    };
    let which = args.log;
    Ok(Arc::new(move |event: &LogEvent<'_>| {
        let is_wanted = match event {
            LogEvent::Served { source, troubles, .. } => match which {
                LogArg::Off => false,
                LogArg::Misses => *source != "cache" || !troubles.is_empty(),
                LogArg::All => true,
            },
            LogEvent::Refused { .. } => which != LogArg::Off,
            _ => true,
        };
        if is_wanted {
            let time = jiff::Timestamp::now().to_string();
            write_line(file.as_ref(), &event.to_json(&time));
        }
    }))
}

fn write_line(file: Option<&Mutex<File>>, line: &Value) {
    match file {
        None => output::print_note(&line.to_string()),
        Some(file) => {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // A log that cannot be written must not stop the server.
            let _ = writeln!(file, "{line}");
        }
    }
}
