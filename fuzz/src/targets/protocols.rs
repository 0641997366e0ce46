//! What arrives over HTTP and MCP: requests to servers, and replies of servers.

use std::cell::RefCell;
use std::hint::black_box;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use juror_document::{Document, Format};
use juror_graph::{Endpoint, EndpointOptions, Graph, Query, QueryLimits, QueryOptions};
use juror_mcp::{Address, Client, ClientSetup, Headers, ToolHost, Transport, answer, serve_lines};
use juror_models::{
    Callable, ChatModel, ChatRequest, Conversation, Embedder, Message, ModelSpec, Provider, Secret,
    Width,
};
use juror_serve::{Limits, MatchNumbers, McpListing, Server, ServerSetup, StatusCode};
use juror_toolbench::pool::read_pool;
use juror_tools::{
    CacheFolder, Cached, CachedSetup, Catalog, MemoryBudget, PoolSetup, Source, ToolCall,
    VirtualTools, load_pools, read_entries,
};
use tokio::runtime::Runtime;

use super::loopback::{Replying, converse};
use super::{Target, document, seeds, shapes};

pub(super) fn all() -> Vec<Target> {
    vec![
        // References are put in place, up to a limit of what comes out.
        Target::new("openapi", seeds::openapi, pools)
            .hurt_by(&[shapes::deep_references])
            .within(300),
        Target::new("function-lists", seeds::function_lists, pools),
        Target::new("cassettes", seeds::cassettes, cassettes).in_memory(16 << 20),
        Target::new("cassette-lists", seeds::cassette_lists, cassette_lists),
        Target::new("mcp-requests", seeds::mcp_requests, mcp_requests),
        Target::new("mcp-lines", seeds::mcp_lines, mcp_lines),
        Target::new("mcp-replies", seeds::mcp_replies, mcp_replies).hurt_by(&[shapes::many_events]),
        Target::new("http-requests", seeds::http_requests, http_requests)
            .hurt_by(&[shapes::many_headers, shapes::long_path]),
        Target::new("endpoint-replies", seeds::endpoint_replies, endpoint_replies)
            .in_memory(64 << 20),
        Target::new("chat-replies", seeds::chat_replies, chat_replies)
            .in_memory(32 << 20)
            .hurt_by(&[shapes::many_events]),
    ]
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: Runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    }
    RUNTIME.with(|runtime| runtime.block_on(work))
}

/// Tools of a document, as agents are offered them.
fn pools(input: &[u8], _: &Path) {
    let Some(document) = document(input) else { return };
    let (tools, problems) = read_pool(&document, "input");
    black_box(problems.to_string());
    let catalog = Catalog::new(tools);
    let n_listed = catalog.n_apis().min(20);
    black_box((catalog.list(0..n_listed), catalog.list_tools(0..n_listed)));
    black_box((catalog.names().len(), catalog.find("weather in the garden", 3).len()));
}

/// A catalog of few tools, made from a document of them.
fn catalog() -> Arc<Catalog> {
    let openapi = seeds::openapi().swap_remove(0);
    let document = Document::new("pool.json", openapi, Format::Json).expect("a document");
    Arc::new(Catalog::new(read_pool(&document, "pool").0))
}

fn tools_of(setup: CachedSetup) -> Arc<VirtualTools> {
    let cached = Arc::new(Cached::new(setup, |_| {}));
    VirtualTools::new(cached, vec![Source::Cache], false, MemoryBudget::default())
}

/// The file of replies of a cassette: read, and asked for a reply.
fn cassettes(input: &[u8], folder: &Path) {
    let own = folder.join("Weather/garden_for_Weather");
    let path = own.join("current.json");
    let written = std::fs::create_dir_all(&own).and_then(|()| std::fs::write(&path, input));
    if written.is_err() {
        return;
    }
    let entries = read_entries(&path).map_err(|problem| black_box(problem.to_string()));
    let Ok(found) = CacheFolder::look_through(folder) else { return };
    let cassette = Some(folder.to_owned());
    let tools = tools_of(CachedSetup { folders: vec![found], cassette, ..CachedSetup::default() });
    let arguments = ["{}", "{\"q\": \"it's\", \"n\": 1.5}"];
    for arguments in
        arguments.into_iter().chain(entries.iter().flatten().take(1).map(|own| &*own.0))
    {
        if let Ok(call) = ToolCall::new("Weather", "garden", "current", arguments, "") {
            black_box(block_on(tools.call(call)).body.len());
        }
    }
    let _ = std::fs::remove_file(path);
}

/// The server whose list is recorded. Nothing listens there.
const RECORDED: &str = "mcp+http://127.0.0.1:9/mcp";

/// The name of its list in a cassette, which begins its hash.
const RECORDED_FILE: &str = "pool/a69b07488707edfc.json";

fn cassette_lists(input: &[u8], folder: &Path) {
    // Without a list the server is asked, which takes long and reads nothing of the input.
    let list = serde_json::from_slice::<serde_json::Value>(input).unwrap_or_default();
    if !list["tools"].is_array()
        || !list["serverInfo"]["name"].is_string()
        || !list["addressHash"].is_string()
    {
        return;
    }
    let own = folder.join("lists");
    let written = std::fs::create_dir_all(own.join("pool"))
        .and_then(|()| std::fs::write(own.join(RECORDED_FILE), input));
    if written.is_err() {
        return;
    }
    let setup = PoolSetup { client: client_setup(), cassette: Some(own), replays: true };
    match block_on(load_pools(&[RECORDED.to_owned()], &[], &setup)) {
        Ok((catalog, live)) => {
            black_box((catalog.list_tools(0..catalog.n_apis().min(20)), live.len()));
        }
        Err(error) => drop(black_box(error.to_string())),
    }
}

fn client_setup() -> ClientSetup {
    let (timeout, tell) = (Duration::from_secs(10), Arc::new(|_: &str| {}));
    ClientSetup { timeout, token: None, kept_back: Vec::new(), tell }
}

fn server() -> Arc<Server> {
    Server::new(ServerSetup {
        tools: tools_of(CachedSetup::default()),
        match_numbers: MatchNumbers::default(),
        unknown: StatusCode::OK,
        catalog: catalog(),
        opens_runs: true,
        token: None,
        allowed_hosts: Vec::new(),
        limits: Limits {
            idle: Duration::from_secs(5),
            head: Duration::from_secs(5),
            ..Limits::default()
        },
        mcp_listing: McpListing::default(),
        log: Arc::new(|_| {}),
    })
}

fn host() -> Arc<dyn ToolHost> {
    thread_local! {
        static HOST: RefCell<Option<Arc<dyn ToolHost>>> = const { RefCell::new(None) };
    }
    HOST.with(|host| host.borrow_mut().get_or_insert_with(|| server().mcp_tools()).clone())
}

/// Messages to the server: each gets a reply that is JSON, or none.
fn mcp_requests(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let name = text.get(..8);
    let headers = Headers { version: Some("2026-07-28"), method: Some("tools/call"), name };
    for transport in
        [Transport::Lines, Transport::Http(Headers::default()), Transport::Http(headers)]
    {
        let reply = block_on(answer(&*host(), transport, text));
        if let Some(body) = reply.body {
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&body).is_ok();
            assert!(is_json, "a reply is not JSON: {body:?}");
        }
    }
}

fn mcp_lines(input: &[u8], _: &Path) {
    let served = block_on(async { serve_lines(host(), input, tokio::io::sink()).await });
    drop(black_box(served));
}

thread_local! {
    static REPLYING: Replying = Replying::start();
}

/// Replies of other servers of MCP, as JSON or as events.
fn mcp_replies(input: &[u8], _: &Path) {
    let media_type =
        if input.len().is_multiple_of(2) { "application/json" } else { "text/event-stream" };
    let events = [b"data: ", input, b"\n\n"].concat();
    let body = if input.len() % 4 == 1 { &events } else { input };
    thread_local! {
        static CLIENT: RefCell<Option<Arc<Client>>> = const { RefCell::new(None) };
    }
    let url = REPLYING.with(Replying::url);
    let connect = || {
        let hello = br#"{"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}}"#;
        REPLYING.with(|server| server.reply_with("application/json", hello));
        let address = Address::read(&format!("mcp+{url}/mcp")).expect("an address");
        Arc::new(block_on(Client::connect(address, client_setup())).expect("a server"))
    };
    let client = CLIENT.with(|own| own.borrow_mut().get_or_insert_with(connect).clone());
    REPLYING.with(|server| server.reply_with(media_type, body));
    // A list that never ends is asked for thousands of pages.
    if !input.windows(10).any(|part| part.eq_ignore_ascii_case(b"nextcursor")) {
        drop(black_box(block_on(client.list()).map_err(|error| error.to_string())));
    }
    let called = block_on(client.call("t", "{}")).map_err(|error| error.to_string());
    black_box(called.map(|outcome| outcome.text()).ok());
}

/// The address of a server of tools that runs on a thread of its own.
fn serving() -> SocketAddr {
    static ADDRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("its address");
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                server().serve(listener, std::future::pending()).await;
            });
        });
        address
    });
    *ADDRESS
}

/// The bytes of requests. The server answers or refuses, and goes on.
fn http_requests(input: &[u8], _: &Path) {
    let reply = converse(serving(), input);
    assert!(reply.is_empty() || reply.starts_with(b"HTTP/1."), "no reply of HTTP: {reply:?}");
}

/// Replies of SPARQL endpoints.
fn endpoint_replies(input: &[u8], _: &Path) {
    const WELL: &[u8] = br#"{"head": {}, "boolean": true}"#;
    thread_local! {
        static ASKED: RefCell<Option<Arc<(Graph, Query)>>> = const { RefCell::new(None) };
    }
    let connect = || {
        let url = REPLYING.with(Replying::url);
        let options = EndpointOptions { first_wait: Duration::ZERO, ..EndpointOptions::default() };
        let endpoint = Endpoint::new(&url, options).expect("an endpoint");
        let query = Query::parse("SELECT * { ?s ?p ?o }", &QueryOptions::default());
        Arc::new((Graph::Endpoint(endpoint), query.expect("a query")))
    };
    let asked = ASKED.with(|own| own.borrow_mut().get_or_insert_with(connect).clone());
    let limits = QueryLimits { cells: 1 << 18, ..QueryLimits::default() };
    let media_types = [
        "application/sparql-results+json",
        "application/sparql-results+xml",
        "text/tab-separated-values",
        "text/plain",
    ];
    REPLYING.with(|server| server.reply_with(media_types[input.len() % 4], input));
    match asked.0.ask(&asked.1, &limits) {
        Ok(answer) => drop(black_box(answer.is_empty())),
        Err(failure) => {
            black_box((failure.to_string(), failure.hint()));
            // An endpoint is given up after some failures in a row.
            REPLYING.with(|server| server.reply_with(media_types[0], WELL));
            let again = asked.0.ask(&asked.1, &limits);
            assert!(again.is_ok(), "the endpoint was given up: {again:?}");
        }
    }
}

/// A chat model of each protocol, and an embedder.
struct Asked {
    models: Vec<Box<dyn ChatModel>>,
    embedder: Box<dyn Embedder>,
}

impl Asked {
    fn connect() -> Asked {
        let url = REPLYING.with(Replying::url);
        let spec = |name: &str, stream: bool| ModelSpec {
            provider: Provider::of(name).expect("a provider"),
            model: "m".into(),
            key: Some(Secret::new("sk-of-this-soak")),
            address: url.clone(),
            is_gateway: false,
            api_version: None,
            stream,
            headers: Vec::new(),
            parameters: serde_json::Map::new(),
            timeout: Duration::from_secs(10),
            width: Width::fixed(1),
            is_paid: false,
        };
        let tell = || Arc::new(|_: &str| {});
        let kinds = ["openai", "anthropic", "gemini"].map(|name| [(name, false), (name, true)]);
        let models = kinds.into_iter().flatten();
        let models = models.map(|(name, stream)| spec(name, stream).chat_model(tell()));
        let models = models.map(|model| model.expect("a model")).collect();
        let embedder = spec("openai", false).embedder(tell()).expect("an embedder");
        Asked { models, embedder }
    }
}

/// Replies of providers of models.
fn chat_replies(input: &[u8], _: &Path) {
    thread_local! {
        static ASKED: Asked = Asked::connect();
    }
    ASKED.with(|asked| {
        REPLYING.with(|server| server.reply_with("application/json", input));
        let model = &asked.models[input.len() % asked.models.len()];
        let request = ChatRequest {
            purpose: "answer_claims".into(),
            system: None,
            user: "?".into(),
            schema: None,
        };
        let talk = Conversation {
            purpose: "agent".into(),
            messages: vec![Arc::new(Message::user("?"))],
            functions: Vec::<Callable>::new(),
            repeat: 0,
        };
        let said = block_on(model.chat(&request)).map_err(|error| error.to_string());
        black_box(said.is_ok());
        let turn = block_on(model.converse(&talk)).map_err(|error| error.to_string());
        black_box(turn.is_ok());
        if input.len().is_multiple_of(4) {
            let texts = ["a".to_owned()];
            drop(black_box(
                block_on(asked.embedder.embed(&texts)).map_err(|error| error.to_string()),
            ));
        }
    });
}
