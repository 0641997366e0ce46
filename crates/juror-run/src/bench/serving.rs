//! Where agents call tools, and which calls were served.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{fmt, io};

use juror_document::{Notice, Phrase, option, phrase};
use juror_models::{Secret, Tell, http_client, innermost};
use juror_serve::{Limits, LogEvent, MatchNumbers, Server, ServerSetup, StatusCode, random_secret};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde::Deserialize;
use tokio::net::TcpListener;

use super::agent::on_one_line;
use super::attempt::ServedCall;
use crate::address::without_credentials;
use crate::settings::Settings;
use crate::tools::Tools;

/// A server of virtual tools: in this process, or elsewhere.
pub struct Serving {
    /// Such as `http://127.0.0.1:8080`.
    address: String,
    /// What this run is called there.
    run: String,
    /// Proves that the run is ours. Agents do not get it.
    key: Secret,
    client: reqwest::Client,
    /// What it asks for, if it is elsewhere.
    token: Option<Secret>,
    /// The server, if it is in this process.
    server: Option<Arc<Server>>,
    /// How many queries were opened.
    n_opened: AtomicU64,
}

/// A query whose agent can call tools.
pub struct OpenQuery {
    /// What it is called there.
    name: String,
    /// Where its agent calls tools.
    pub url: String,
}

/// A query that was opened.
#[derive(Deserialize)]
struct Opened {
    /// Where it calls tools, without the server's address.
    r#virtual: String,
}

#[derive(Deserialize)]
struct Calls {
    calls: Vec<ServedCall>,
}

/// How long a server elsewhere may take to forget a run.
const LONGEST_END: Duration = Duration::from_secs(5);

/// The longest part of a refusal that is shown, in characters.
const LONGEST_WHY: usize = 300;

/// Why a server elsewhere does not do what is asked.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// It cannot be reached, or not be understood.
    Unreached(String),
    /// It says no.
    Refused {
        /// How it says so.
        status: StatusCode,
        /// In its own words, if it has any.
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
    /// What to do about a server that does not even tell its health, which it tells everyone who
    /// asks for it by a name that it knows.
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

/// What the body of a refusal says in words.
fn said_in(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let refusal: Refusal = serde_json::from_slice(body).ok()?;
    // Whoever answers there may be anyone.
    let plain = refusal.error.chars().map(|c| if c.is_control() { ' ' } else { c });
    let why: String = plain.take(LONGEST_WHY).collect();
    (!why.trim().is_empty()).then_some(why)
}

impl Serving {
    /// A server of tools in this process, on a free port; `run` is what the run is called there.
    pub async fn start(tools: &Tools, run: String, tell: Tell) -> io::Result<Serving> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let log = Arc::new(move |event: &LogEvent<'_>| {
            if let LogEvent::Trouble(text) = event {
                tell(text);
            }
        });
        let server = Server::new(ServerSetup {
            tools: tools.virtual_tools.clone(),
            // Everyone here calls tools that a run of juror's gave out.
            match_numbers: tools.match_numbers.unwrap_or(MatchNumbers::Always),
            unknown: if tools.replays { StatusCode::NOT_FOUND } else { StatusCode::OK },
            catalog: tools.catalog.clone(),
            opens_runs: false,
            token: None,
            allowed_hosts: Vec::new(),
            limits: Limits::default(),
            log,
        });
        tokio::spawn(server.clone().serve(listener, std::future::pending()));
        let client = http_client().map_err(io::Error::other)?;
        let key = random_secret().map_err(io::Error::other)?;
        let (server, n_opened) = (Some(server), AtomicU64::new(0));
        Ok(Serving { address, run, key, client, token: None, server, n_opened })
    }

    /// A server that runs already. It keeps the calls of all who ever asked it, so that this run
    /// needs a name of its own there.
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
        // Users may have put a password into it.
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
        // Nothing is left there by a run that does not begin.
        serving.begin().await.map_err(|why| {
            Notice::new(format!("{shown}: no calls can be recorded here: {why}"))
                .hint("serve the tools with `juror serve` of this release")
        })?;
        serving.end().await;
        Ok(serving)
    }

    /// Makes the run ours on a server elsewhere, until it ends: an agent that hears its name could
    /// open it otherwise while none of its queries is open.
    pub(super) async fn begin(&self) -> Result<(), NoAnswer> {
        match self.server {
            Some(_) => Ok(()),
            None => self.open_there("-").await.map(drop),
        }
    }

    /// Has a server elsewhere forget the run and all of its queries that are still open.
    pub(super) async fn end(&self) {
        if self.server.is_none() {
            let url = self.run_url();
            let forget = self.read(Method::DELETE, &url);
            // The answers are known by now, so a server that is gone or slow does no harm.
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

    /// What a server says, without the keys that it was asked with.
    fn without_keys(&self, said: &str) -> String {
        let said = self.key.redact(said);
        self.token.as_ref().map_or(said.clone(), |token| token.redact(&said))
    }

    /// What calls it.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// The token that calls have to bring, if the server asks for one.
    pub fn token(&self) -> Option<&Secret> {
        self.token.as_ref()
    }

    /// Where all APIs are listed.
    pub fn tools_url(&self) -> String {
        format!("{}/tools", self.address)
    }

    /// Opens a query for its agent. A part of the address cannot be guessed, so that no one else calls
    /// there.
    pub async fn open(&self, set: &str, id: &str) -> Result<OpenQuery, String> {
        // Queries of several sets may have the same id, as may two of one set.
        let name = format!("{set}.{id}.{}", self.n_opened.fetch_add(1, Ordering::Relaxed) + 1);
        let url = match &self.server {
            None => self.open_there(&name).await.map_err(|why| why.to_string())?,
            Some(server) => {
                let seal = server.runs().open(&self.run, &name, &self.key);
                let seal = seal.map_err(|error| error.to_string())?;
                format!("{}/{}/virtual", self.query_url(&name), seal.expose())
            }
        };
        Ok(OpenQuery { name, url })
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

    /// The calls that were served for a query. It is closed: what comes later is not its agent's.
    pub async fn close(&self, query: OpenQuery) -> Result<Vec<ServedCall>, String> {
        let query = query.name;
        if let Some(server) = &self.server {
            let calls = server.runs().close(&self.run, &query, &self.key);
            let calls = calls.map_err(|error| error.to_string())?;
            return Ok(calls.into_iter().map(served).collect());
        }
        let url = self.query_url(&query);
        let bytes = self.read(Method::GET, &format!("{url}/calls")).await;
        let bytes = bytes.map_err(|why| why.to_string())?;
        let calls: Calls = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        // If it cannot be closed, its calls are known all the same.
        let _ = self.read(Method::DELETE, &url).await;
        Ok(calls.calls)
    }
}

/// A warning about options that have no effect, since a server elsewhere answers calls by its own
/// settings.
pub(super) fn ignored_by_server(options: &[&'static str]) -> Option<Notice> {
    (!options.is_empty()).then(|| {
        let problem =
            phrase!["the server of ", option("server"), " answers calls by its own settings: "];
        Notice::new(problem.then(Phrase::options(options)).then(" say nothing here"))
            .hint("leave them out, or give them to `juror serve`")
    })
}

/// A warning about a token that has no effect, since the server in this process asks for none.
pub(super) fn unused_token() -> Notice {
    Notice::new(phrase![option("server-token"), " says nothing without ", option("server")])
        .hint(phrase!["name the server that asks for it with ", option("server")])
}

/// A warning about settings that give agents nothing to call.
pub(super) fn without_tools(settings: &Settings) -> Option<Notice> {
    let problem = "there are no tools and no known replies, so that agents have nothing to call";
    (!settings.tools.has_anything()).then(|| {
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
    }
}

/// Escapes every character that could end a segment of a path.
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
