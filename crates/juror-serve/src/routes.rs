//! Routes requests, and answers calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use juror_json::python::{JsonStyle, dump_json, entries_of_json};
use juror_tools::{
    Failure, INPUT_ERROR, RawCall, Refusal, Served, ServedFrom, ToolCall, error_body,
};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::SemaphorePermit;

use crate::access::{Rejection, check_host, has_token};
use crate::open_connections::{ConnectionState, Phase};
use crate::recorder::{QueryAddress, RecordedCall};
use crate::response::{self, HttpResponse};
use crate::server::{LogEvent, Server};
use crate::url_parts::field;

/// How many APIs a search returns by default.
const DEFAULT_FOUND: usize = 10;

/// How many APIs a search returns at most.
const MOST_FOUND: usize = 1000;

/// The published servers' reply to an agent that addresses its user.
const CHAT: &str = r#"{"error":"","response":"Chat with user."}"#;

impl Server {
    pub(crate) async fn answer(
        self: &Arc<Server>,
        request: Request<Incoming>,
        connection: &ConnectionState,
    ) -> HttpResponse {
        connection.set(Phase::Working);
        let n_requests = self.metrics.requests.fetch_add(1, Ordering::Relaxed);
        let reply = self.answer_in_turn(request, connection).await;
        connection.replied(n_requests);
        reply
    }

    /// Answers a request when it is its turn; `/health` always.
    async fn answer_in_turn(
        self: &Arc<Server>,
        request: Request<Incoming>,
        connection: &ConnectionState,
    ) -> HttpResponse {
        let is_health = request.uri().path() == "/health";
        if let Err(Rejection { status, why }) =
            check_host(&request, connection.reached, &self.setup.allowed_hosts)
        {
            return self.refuse(status, &why);
        }
        if is_health {
            return self.health(request.method());
        }
        if self.setup.token.as_ref().is_some_and(|token| !has_token(&request, token)) {
            let mut reply = self.refuse(StatusCode::UNAUTHORIZED, "A bearer token is needed");
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return reply;
        }
        // A call takes its turn when its body has arrived, so that slow bodies do not block others.
        let path = request.uri().path();
        if path.ends_with("/virtual") || path.ends_with("/mcp") {
            return self.route(request, connection).await;
        }
        match self.slot(connection).await {
            Ok(_slot) => self.route(request, connection).await,
            Err(refusal) => refusal,
        }
    }

    /// Waits for a turn. Fails if the connection is asked to close in the meantime.
    pub(crate) async fn slot(
        &self,
        connection: &ConnectionState,
    ) -> Result<SemaphorePermit<'_>, HttpResponse> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        connection.set(Phase::Queued);
        let slot = tokio::select! {
            slot = self.slots.acquire() => slot.ok(),
            _ = connection.close_requested() => None,
        };
        connection.set(Phase::Working);
        slot.ok_or_else(|| {
            let most = self.setup.limits.connections;
            let why = format!("{most} requests are worked on, and others wait (--max-connections)");
            response::closing(self.refuse(StatusCode::SERVICE_UNAVAILABLE, &why))
        })
    }

    fn health(&self, method: &Method) -> HttpResponse {
        match *method {
            Method::GET | Method::HEAD => response::json_bytes(StatusCode::OK, self.health.clone()),
            _ => self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
        }
    }

    async fn route(
        self: &Arc<Server>,
        request: Request<Incoming>,
        connection: &ConnectionState,
    ) -> HttpResponse {
        let path = request.uri().path();
        if path == "/virtual" {
            return self.call(request, None, connection).await;
        }
        if path == "/mcp" {
            return self.answer_mcp(request, None, connection).await;
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let query = request.uri().query().unwrap_or_default().to_owned();
        match (request.method(), parts.as_slice()) {
            (_, ["runs", _, ..]) => self.answer_runs(request, connection).await,
            (&Method::GET, ["tools"]) => self.aside(move |server| server.list(&query)).await,
            (&Method::GET, ["tools", "search"]) => {
                self.aside(move |server| server.search(&query)).await
            }
            (&Method::GET, ["metrics"]) => {
                let (tools, n_apis) = (&self.setup.tools, self.setup.catalog.n_apis());
                response::text(self.metrics.render(tools.counts(), n_apis, self.recorder.len()))
            }
            (_, ["tools" | "metrics"] | ["tools", "search"]) => {
                self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
            }
            _ => self.refuse(StatusCode::NOT_FOUND, "Not Found"),
        }
    }

    /// Runs work that may block on another thread.
    async fn aside(
        self: &Arc<Server>,
        work: impl FnOnce(&Server) -> HttpResponse + Send + 'static,
    ) -> HttpResponse {
        let server = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&server)).await;
        done.unwrap_or_else(|_| {
            self.refuse(StatusCode::INTERNAL_SERVER_ERROR, "Juror failed to answer")
        })
    }

    pub(crate) fn refuse(&self, status: StatusCode, why: &str) -> HttpResponse {
        self.metrics.refused();
        (self.setup.log)(&LogEvent::Refused { why, status: status.as_u16() });
        response::problem(status, why)
    }

    pub(crate) async fn call(
        self: &Arc<Server>,
        request: Request<Incoming>,
        of: Option<QueryAddress>,
        connection: &ConnectionState,
    ) -> HttpResponse {
        if request.method() != Method::POST {
            return self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
        }
        if let Some(Err(why)) = of.as_ref().map(|of| self.recorder.check(of)) {
            return self.refuse_run(why);
        }
        let numbers = self.setup.match_numbers.of(&request);
        let (body, reservation) = match self.body(request, connection).await {
            Ok(read) => read,
            Err(refusal) => return refusal,
        };
        let _slot = match self.slot(connection).await {
            Ok(slot) => slot,
            Err(refusal) => return refusal,
        };
        let start = Instant::now();
        let mut call = match ToolCall::read(&body) {
            Ok(call) => call,
            Err(refusal) => return self.refuse_call(refusal, of),
        };
        call.numbers = numbers;
        let call = call.ruled_by(self.setup.tools.rules());
        match self.setup.tools.at_once(&call) {
            Some(served) => self.deliver(&call, &served, of, start),
            None => {
                let Some(reservation) =
                    reservation.or_else(|| self.setup.tools.budget().reserve(body.len()))
                else {
                    let served = Served::busy(&self.setup.tools.budget().full_message());
                    return self.deliver(&call, &served, of, start);
                };
                drop(body);
                // In a task of its own, so that the call is recorded even if its caller leaves.
                let server = self.clone();
                let made = tokio::spawn(async move {
                    let made = server.make(call, of, start).await;
                    drop(reservation);
                    made
                });
                made.await.unwrap_or_else(|_| {
                    self.refuse(StatusCode::INTERNAL_SERVER_ERROR, "Juror failed to answer")
                })
            }
        }
    }

    /// Waits for a reply that is not in memory.
    async fn make(&self, call: ToolCall, of: Option<QueryAddress>, start: Instant) -> HttpResponse {
        let call = Arc::new(call);
        let served = self.in_time(&call).await;
        self.deliver(&call, &served, of, start)
    }

    /// Waits for a reply, as long as it may take.
    pub(crate) async fn in_time(&self, call: &Arc<ToolCall>) -> Served {
        let limit = self.setup.limits.reply;
        let served = tokio::time::timeout(limit, self.setup.tools.call(call.clone())).await;
        served.unwrap_or_else(|_| {
            let troubles = vec![format!("no reply within {} s", limit.as_secs())];
            Served::failed(Failure::Late, "No reply in time", troubles)
        })
    }

    fn deliver(
        &self,
        call: &ToolCall,
        served: &Served,
        of: Option<QueryAddress>,
        start: Instant,
    ) -> HttpResponse {
        self.tell(call, served, of, start.elapsed());
        let status = match served.failure {
            None => StatusCode::OK,
            Some(Failure::Unknown | Failure::Unasked) => self.setup.unknown,
            Some(Failure::LookUp | Failure::Bug) => StatusCode::INTERNAL_SERVER_ERROR,
            Some(Failure::NotKept) => StatusCode::INSUFFICIENT_STORAGE,
            Some(Failure::Late) => StatusCode::GATEWAY_TIMEOUT,
            Some(Failure::Busy) => StatusCode::SERVICE_UNAVAILABLE,
        };
        response::served(status, served)
    }

    /// Counts, records and logs a call.
    pub(crate) fn tell(
        &self,
        call: &ToolCall,
        served: &Served,
        of: Option<QueryAddress>,
        took: Duration,
    ) {
        self.metrics.served(served.from, took);
        (self.setup.log)(&LogEvent::Served {
            category: &call.category,
            tool: &call.tool,
            api: &call.api,
            source: served.from.as_str(),
            found_by: served.found_by(),
            took,
            troubles: &served.troubles,
        });
        let Some(address) = of else { return };
        let recorded = RecordedCall {
            category: call.category.clone(),
            tool_name: call.tool.clone(),
            api_name: call.api.clone(),
            tool_input: shown_input(call.shown_input()),
            reply: served.body.clone(),
            source: served.from.as_str(),
            found_by: served.found_by(),
            kept_from: served.kept_from(),
            failed: served.failed_outside(),
            fault: served.fault,
            seconds: took.as_secs_f64(),
        };
        self.recorder.record(&address, recorded);
    }

    fn refuse_call(&self, refusal: Refusal, of: Option<QueryAddress>) -> HttpResponse {
        match refusal {
            Refusal::ChatWithUser(asked) => {
                let body = Bytes::from_static(CHAT.as_bytes());
                self.record_refused(asked, body.clone(), of);
                response::json_bytes(StatusCode::OK, body)
            }
            Refusal::Input(asked) => {
                self.record_refused(asked, error_body(INPUT_ERROR), of);
                self.refuse(StatusCode::OK, INPUT_ERROR)
            }
            Refusal::NotText => {
                self.refuse(StatusCode::BAD_REQUEST, "There was an error parsing the body")
            }
            Refusal::Malformed(detail) => {
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                self.metrics.refused();
                let why = "the request is malformed";
                (self.setup.log)(&LogEvent::Refused { why, status: status.as_u16() });
                response::json_bytes(status, Bytes::from(detail))
            }
        }
    }

    /// Records a request that was not a proper call.
    pub(crate) fn record_refused(&self, asked: RawCall, reply: Bytes, of: Option<QueryAddress>) {
        let Some(address) = of else { return };
        let recorded = RecordedCall {
            category: asked.category,
            tool_name: asked.tool,
            api_name: asked.api,
            tool_input: RawValue::from_string(asked.input).unwrap_or_default(),
            reply,
            source: ServedFrom::Nowhere.as_str(),
            found_by: None,
            kept_from: None,
            failed: None,
            fault: None,
            seconds: 0.0,
        };
        self.recorder.record(&address, recorded);
    }

    fn list(&self, query: &str) -> HttpResponse {
        let number = |name: &str| field(query, name).map(|text| text.parse::<usize>());
        let catalog = &self.setup.catalog;
        let n_apis = catalog.n_apis();
        let body = match (number("offset"), number("limit")) {
            (None, None) => self.all_tools.get_or_init(|| catalog.list(0..n_apis).into()).clone(),
            (Some(Err(_)), _) | (_, Some(Err(_))) => {
                let why = "`offset` and `limit` are whole numbers";
                return self.refuse(StatusCode::BAD_REQUEST, why);
            }
            (offset, limit) => {
                let or = |number: Option<_>, other| number.and_then(Result::ok).unwrap_or(other);
                let (offset, limit) = (or(offset, 0), or(limit, usize::MAX));
                catalog.list(offset..offset.saturating_add(limit).min(n_apis)).into()
            }
        };
        response::json_bytes(StatusCode::OK, body)
    }

    fn search(&self, query: &str) -> HttpResponse {
        let Some(wanted) = field(query, "q") else {
            let why = "`q` is missing or no text: what to search for";
            return self.refuse(StatusCode::BAD_REQUEST, why);
        };
        let most = match field(query, "k").map(|text| text.parse::<usize>()) {
            None => DEFAULT_FOUND,
            Some(Ok(most)) => most.min(MOST_FOUND),
            Some(Err(_)) => {
                return self.refuse(StatusCode::BAD_REQUEST, "`k` is a whole number");
            }
        };
        response::json_bytes(StatusCode::OK, self.setup.catalog.list_found(&wanted, most).into())
    }
}

/// Renders arguments for a record: standard JSON, without the caller's key.
fn shown_input(input: &str) -> Box<RawValue> {
    let wire = dump_json(input, JsonStyle::Wire).unwrap_or_default();
    let without_key = || {
        let entries = entries_of_json(&wire).ok()?;
        if !entries.iter().any(|(key, _)| key == "toolbench_key") {
            return None;
        }
        let kept = entries.iter().filter(|(key, _)| key != "toolbench_key");
        let kept = kept.map(|(key, value)| format!("{}:{value}", json!(key)));
        Some(format!("{{{}}}", kept.collect::<Vec<_>>().join(",")))
    };
    let shown = without_key().unwrap_or_else(|| wire.clone());
    RawValue::from_string(shown).unwrap_or_else(|_| to_raw_value(&wire).unwrap_or_default())
}
