//! The tool server that agents call, and the record of calls it served.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fmt, io};

use juror_document::{Notice, Phrase, option, phrase};
use juror_models::{Secret, Tell, http_client, innermost};
use juror_run::Settings;
use juror_runs::hidden::without_credentials;
use juror_serve::{
    Limits, LogEvent, MatchNumbers, McpListing, Server, ServerSetup, StatusCode, random_secret,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::agent::on_one_line;
use crate::attempt::ServedCall;
use crate::known_replies::has_anything;
use crate::tools::Tools;

/// A server of virtual tools, in this process or elsewhere.
pub struct Serving {
    /// The base URL, such as `http://127.0.0.1:8080`.
    address: String,
    /// The name of this run on the server.
    run: String,
    /// Proves to the server that the run is ours. Agents never receive it.
    key: Secret,
    client: reqwest::Client,
    /// The token that the server requires, if other machines can reach it.
    token: Option<Secret>,
    /// The server, if it runs in this process.
    server: Option<Arc<Server>>,
    /// How many queries have been opened.
    n_opened: AtomicU64,
}

/// A query whose agent can call tools.
pub struct OpenQuery {
    /// The query's name on the server.
    name: String,
    /// The URL at which the agent calls tools.
    pub url: String,
}

/// The server's response to opening a query.
#[derive(Deserialize)]
struct Opened {
    /// The path at which tools are called, without the server's address.
    r#virtual: String,
}

#[derive(Deserialize)]
struct Calls {
    calls: Vec<ServedCall>,
}

/// How long an external server may take to forget a run.
const LONGEST_END: Duration = Duration::from_secs(5);

/// The maximum length of a quoted refusal, in characters.
const LONGEST_WHY: usize = 300;

/// Why an external server does not do what it was asked.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// It cannot be reached, or its response cannot be understood.
    Unreached(String),
    /// It refuses.
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// The reason the server gives, if any.
        why: Option<String>,
    },
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::Unreached(why) => f.write_str(why),
            NoAnswer::Refused { status, why } => {
                write!(f, "the server answers with status {}", status.as_u16())?;
                why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
            }
        }
    }
}

impl NoAnswer {
    /// Returns what to do about a server that does not even report its health, which it does for
    /// anyone who uses a host name that it accepts.
    fn hint_on_health(&self) -> Phrase {
        match self {
            NoAnswer::Refused { status: StatusCode::FORBIDDEN, .. } => phrase![
                "start `juror serve` with --allow-host and the host of ",
                option("server"),
                ", or name it by an address of its machine"
            ],
            _ => phrase!["start `juror serve` first, or leave ", option("server"), " out"],
        }
    }
}

/// Extracts the reason from the body of a refusal.
fn said_in(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let refusal: Refusal = serde_json::from_slice(body).ok()?;
    // The response may come from anyone, so it must not control the terminal.
    let plain = refusal.error.chars().map(|c| if c.is_control() { ' ' } else { c });
    let why: String = plain.take(LONGEST_WHY).collect();
    (!why.trim().is_empty()).then_some(why)
}

impl Serving {
    /// Starts a tool server in this process, on a free port; `run` is the name of the run on it. If
    /// other machines can reach it, it requires a token that only agents are given.
    pub async fn start(
        tools: &Tools,
        run: String,
        host: IpAddr,
        tell: Tell,
    ) -> io::Result<Serving> {
        let listener = TcpListener::bind((host, 0)).await?;
        let is_open = !host.is_loopback();
        let token = is_open.then(random_secret).transpose().map_err(io::Error::other)?;
        let address = format!("http://{}", listener.local_addr()?);
        let log = Arc::new(move |event: &LogEvent<'_>| {
            if let LogEvent::Trouble(text) = event {
                tell(text);
            }
        });
        let server = Server::new(ServerSetup {
            tools: tools.virtual_tools.clone(),
            // All clients of this server call tools handed out by Juror.
            match_numbers: tools.match_numbers.unwrap_or(MatchNumbers::Always),
            unknown: if tools.replays { StatusCode::NOT_FOUND } else { StatusCode::OK },
            catalog: tools.catalog.clone(),
            opens_runs: false,
            token: token.clone(),
            allowed_hosts: Vec::new(),
            limits: Limits::default(),
            mcp_listing: McpListing::default(),
            log,
        });
        tokio::spawn(server.clone().serve(listener, std::future::pending()));
        let client = http_client().map_err(io::Error::other)?;
        let key = random_secret().map_err(io::Error::other)?;
        let (server, n_opened) = (Some(server), AtomicU64::new(0));
        Ok(Serving { address, run, key, client, token, server, n_opened })
    }

    /// Connects to a running server. It records the calls of all its clients, so this run needs a
    /// name of its own there.
    pub async fn elsewhere(
        address: &str,
        token: Option<Secret>,
        run: &str,
    ) -> Result<Serving, Notice> {
        let address = address.trim_end_matches('/').to_owned();
        let now = jiff::Timestamp::now().as_nanosecond();
        let run = format!("{run}-{}-{now:x}", std::process::id());
        let key = random_secret().map_err(|error| error.to_string())?;
        let (client, n_opened) = (http_client()?, AtomicU64::new(0));
        let serving = Serving { address, run, key, client, token, server: None, n_opened };
        let health = serving.read(Method::GET, &format!("{}/health", serving.address)).await;
        // The user may have put a password into the address.
        let shown = without_credentials(&serving.address);
        health.map_err(|why| {
            Notice::new(format!("{shown}: no tools are served here: {why}"))
                .hint(why.hint_on_health())
        })?;
        let tools = serving.read(Method::GET, &format!("{}?limit=0", serving.tools_url())).await;
        if let Err(NoAnswer::Refused { status: StatusCode::UNAUTHORIZED, .. }) = tools {
            let wants =
                if serving.token.is_some() { "takes another token" } else { "asks for a token" };
            let problem = format!("{shown}: the server of tools {wants}");
            return Err(Notice::new(problem).hint(phrase![
                "give the one that it was started with by ",
                option("server-token"),
                " env:NAME or JUROR_SERVER_TOKEN"
            ]));
        }
        // A run that fails to start leaves nothing behind on the server.
        serving.begin().await.map_err(|why| {
            Notice::new(format!("{shown}: no calls can be recorded here: {why}"))
                .hint("serve the tools with `juror serve` of this release")
        })?;
        serving.end().await;
        Ok(serving)
    }

    /// Claims the run on an external server until it ends. Otherwise an agent that learns its name
    /// could open it while none of its queries is open.
    pub(super) async fn begin(&self) -> Result<(), NoAnswer> {
        match self.server {
            Some(_) => Ok(()),
            None => self.open_there("-").await.map(drop),
        }
    }

    /// Tells an external server to forget the run and all of its open queries.
    pub(super) async fn end(&self) {
        if self.server.is_none() {
            let url = self.run_url();
            let forget = self.read(Method::DELETE, &url);
            // All answers are known by now, so a server that is gone or slow does no harm.
            let _ = tokio::time::timeout(LONGEST_END, forget).await;
        }
    }

    async fn read(&self, method: Method, url: &str) -> Result<Vec<u8>, NoAnswer> {
        let unreached = |error: reqwest::Error| NoAnswer::Unreached(innermost(&error));
        let mut request = self.client.request(method, url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose());
        }
        request = request.header("juror-run-key", self.key.expose());
        let response = request.send().await.map_err(unreached)?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(unreached)?;
        if !status.is_success() {
            let why = said_in(&bytes).map(|why| self.without_keys(&why));
            return Err(NoAnswer::Refused { status, why });
        }
        Ok(bytes.to_vec())
    }

    /// Removes the keys that were sent to the server from its response.
    fn without_keys(&self, said: &str) -> String {
        let said = self.key.redact(said);
        self.token.as_ref().map_or(said.clone(), |token| token.redact(&said))
    }

    /// Returns the HTTP client for calls to the server.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Returns the token that calls must carry, if the server requires one.
    pub fn token(&self) -> Option<&Secret> {
        self.token.as_ref()
    }

    /// Returns the URL that lists all APIs.
    pub fn tools_url(&self) -> String {
        format!("{}/tools", self.address)
    }

    /// Opens a query for its agent. Part of the URL cannot be guessed, so that nobody else calls
    /// it.
    pub async fn open(&self, set: &str, id: &str) -> Result<OpenQuery, String> {
        // Queries of different sets may share an id, as may two queries of one set.
        let name = format!("{set}.{id}.{}", self.n_opened.fetch_add(1, Ordering::Relaxed) + 1);
        let url = self.open_named(&name).await?;
        Ok(OpenQuery { name, url })
    }

    /// Opens a query once more: its calls so far are forgotten, and its former URL records no more.
    pub async fn renew(&self, query: &OpenQuery) -> Result<String, String> {
        self.open_named(&query.name).await
    }

    /// Opens a query by its name on the server, and returns the URL for its calls.
    async fn open_named(&self, name: &str) -> Result<String, String> {
        let Some(server) = &self.server else {
            return self.open_there(name).await.map_err(|why| why.to_string());
        };
        let seal = server.recorder().open(&self.run, name, &self.key);
        let seal = seal.map_err(|error| error.to_string())?;
        Ok(format!("{}/{}/virtual", self.query_url(name), seal.expose()))
    }

    async fn open_there(&self, query: &str) -> Result<String, NoAnswer> {
        let bytes = self.read(Method::POST, &self.query_url(query)).await?;
        let opened: Opened = serde_json::from_slice(&bytes)
            .map_err(|error| NoAnswer::Unreached(format!("its reply cannot be read: {error}")))?;
        Ok(format!("{}{}", self.address, opened.r#virtual))
    }

    fn run_url(&self) -> String {
        format!("{}/runs/{}", self.address, escaped(&self.run))
    }

    fn query_url(&self, query: &str) -> String {
        format!("{}/{}", self.run_url(), escaped(query))
    }

    /// Closes a query and returns the calls served for it. Later calls are not counted as its
    /// agent's.
    pub async fn close(&self, query: OpenQuery) -> Result<Vec<ServedCall>, String> {
        let query = query.name;
        if let Some(server) = &self.server {
            let calls = server.recorder().close(&self.run, &query, &self.key);
            let calls = calls.map_err(|error| error.to_string())?;
            return Ok(calls.into_iter().map(served).collect());
        }
        let url = self.query_url(&query);
        let bytes = self.read(Method::GET, &format!("{url}/calls")).await;
        let bytes = bytes.map_err(|why| why.to_string())?;
        let calls: Calls = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        // Its calls are known even if it cannot be closed.
        let _ = self.read(Method::DELETE, &url).await;
        Ok(calls.calls)
    }
}

/// Warns about options that have no effect because an external server answers calls by its own
/// settings.
pub(super) fn ignored_by_server(options: &[&'static str]) -> Option<Notice> {
    (!options.is_empty()).then(|| {
        let problem =
            phrase!["the server of ", option("server"), " answers calls by its own settings: "];
        Notice::new(problem.then(Phrase::options(options)).then(" have no effect here"))
            .hint("leave them out, or give them to `juror serve`")
    })
}

/// Warns about a token that has no effect because the server in this process requires none.
pub(super) fn unused_token() -> Notice {
    Notice::new(phrase![option("server-token"), " has no effect without ", option("server")])
        .hint(phrase!["name the server that asks for it with ", option("server")])
}

/// Warns about settings that leave agents without any tool to call.
pub(super) fn without_tools(settings: &Settings) -> Option<Notice> {
    let problem = "there are no tools and no known replies, so that agents have nothing to call";
    (!has_anything(&settings.tools)).then(|| {
        Notice::new(problem).hint(phrase![
            "name a folder of tool files with ",
            option("tools"),
            ", known replies with ",
            option("cache"),
            ", or both"
        ])
    })
}

fn served(call: juror_serve::RecordedCall) -> ServedCall {
    ServedCall {
        category: call.category,
        tool_name: call.tool_name,
        api_name: call.api_name,
        tool_input: on_one_line(call.tool_input.get()),
        reply: on_one_line(&String::from_utf8_lossy(&call.reply)),
        source: call.source.to_owned(),
        found_by: call.found_by.map(str::to_owned),
        kept_from: call.kept_from.map(str::to_owned),
        failed: call.failed,
        fault: call.fault.map(str::to_owned),
    }
}

/// Escapes every character that could end a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

fn escaped(part: &str) -> String {
    utf8_percent_encode(part, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_refusal_is_told_without_the_keys_that_it_repeats() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://me:pass@{}", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a request");
            let mut request = [0; 4096];
            let n = stream.read(&mut request).expect("a head");
            let head = String::from_utf8_lossy(&request[..n]).replace("\r\n", " ");
            let body = serde_json::json!({"error": head}).to_string();
            let reply = format!("HTTP/1.1 403 No\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(reply.as_bytes()).expect("replied");
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let token = Secret::new("hush-hush");
        let serving = Serving::elsewhere(&address, Some(token), "r");
        let refused = runtime.expect("a runtime").block_on(serving).err().expect("refused");
        let refused = refused.to_string();
        server.join().expect("served");
        assert!(refused.contains("Bearer ***") || refused.contains("bearer ***"), "{refused}");
        assert!(refused.contains("juror-run-key: ***"), "{refused}");
        assert!(!refused.contains("hush") && !refused.contains("pass"), "{refused}");
        assert!(refused.contains("--allow-host"), "{refused}");
    }
}
