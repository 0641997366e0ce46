//! From a request to its reply.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use juror_json::python::{JsonStyle, dump_json, entries_of_json};
use juror_tools::{Asked, Failure, INPUT_ERROR, Refusal, Served, ServedFrom, ToolCall, error_body};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::SemaphorePermit;

use crate::callers::{TurnedAway, brings, look_at};
use crate::query::field;
use crate::reply::{self, Reply};
use crate::runs::{Address, RecordedCall};
use crate::seats::{Phase, Seat};
use crate::server::{LogEvent, Server};

/// How many APIs a search gives when it does not say.
const DEFAULT_FOUND: usize = 10;

/// The most that a search gives.
const MOST_FOUND: usize = 1000;

/// What the published servers say to a word to the user.
const CHAT: &str = r#"{"error":"","response":"Chat with user."}"#;

impl Server {
    /// Answers a request.
    pub(crate) async fn answer(
        self: &Arc<Server>,
        request: Request<Incoming>,
        seat: &Seat,
    ) -> Reply {
        seat.set(Phase::Working);
        let n_requests = self.metrics.requests.fetch_add(1, Ordering::Relaxed);
        let reply = self.answer_in_turn(request, seat).await;
        seat.replied(n_requests);
        reply
    }

    /// Answers a request when there is a place for it; how the server is, in any case.
    async fn answer_in_turn(self: &Arc<Server>, request: Request<Incoming>, seat: &Seat) -> Reply {
        let is_health = request.uri().path() == "/health";
        if let Err(TurnedAway { status, why }) =
            look_at(&request, seat.reached, &self.setup.allowed_hosts)
        {
            return self.refuse(status, &why);
        }
        if is_health {
            return self.health(request.method());
        }
        if self.setup.token.as_ref().is_some_and(|token| !brings(&request, token)) {
            let mut reply = self.refuse(StatusCode::UNAUTHORIZED, "A bearer token is needed");
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return reply;
        }
        // A call takes its place when its body is there, so that slow bodies keep nobody waiting.
        if request.uri().path().ends_with("/virtual") {
            return self.route(request, seat).await;
        }
        match self.place(seat).await {
            Ok(_place) => self.route(request, seat).await,
            Err(refusal) => refusal,
        }
    }

    /// A place for a request that is worked on; none if the connection is asked to end meanwhile.
    async fn place(&self, seat: &Seat) -> Result<SemaphorePermit<'_>, Reply> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(place);
        }
        seat.set(Phase::Queued);
        let place = tokio::select! {
            place = self.places.acquire() => place.ok(),
            _ = seat.told() => None,
        };
        seat.set(Phase::Working);
        place.ok_or_else(|| {
            let most = self.setup.limits.connections;
            let why = format!("{most} requests are worked on, and others wait (--max-connections)");
            reply::closing(self.refuse(StatusCode::SERVICE_UNAVAILABLE, &why))
        })
    }

    fn health(&self, method: &Method) -> Reply {
        match *method {
            Method::GET | Method::HEAD => reply::json_bytes(StatusCode::OK, self.health.clone()),
            _ => self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
        }
    }

    async fn route(self: &Arc<Server>, request: Request<Incoming>, seat: &Seat) -> Reply {
        let path = request.uri().path();
        if path == "/virtual" {
            return self.call(request, None, seat).await;
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let query = request.uri().query().unwrap_or_default().to_owned();
        match (request.method(), parts.as_slice()) {
            (_, ["runs", _, ..]) => self.answer_of_runs(request, seat).await,
            (&Method::GET, ["tools"]) => self.aside(move |server| server.list(&query)).await,
            (&Method::GET, ["tools", "search"]) => {
                self.aside(move |server| server.search(&query)).await
            }
            (&Method::GET, ["metrics"]) => {
                let (tools, n_apis) = (&self.setup.tools, self.setup.catalog.n_apis());
                reply::text(self.metrics.render(tools.counts(), n_apis, self.runs.len()))
            }
            (_, ["tools" | "metrics"] | ["tools", "search"]) => {
                self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
            }
            _ => self.refuse(StatusCode::NOT_FOUND, "Not Found"),
        }
    }

    /// Does what may take a moment where nobody else waits for it.
    async fn aside(
        self: &Arc<Server>,
        work: impl FnOnce(&Server) -> Reply + Send + 'static,
    ) -> Reply {
        let server = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&server)).await;
        done.unwrap_or_else(|_| {
            self.refuse(StatusCode::INTERNAL_SERVER_ERROR, "Juror failed to answer")
        })
    }

    pub(crate) fn refuse(&self, status: StatusCode, why: &str) -> Reply {
        self.metrics.refused();
        (self.setup.log)(&LogEvent::Refused { why, status: status.as_u16() });
        reply::problem(status, why)
    }

    pub(crate) async fn call(
        self: &Arc<Server>,
        request: Request<Incoming>,
        of: Option<Address>,
        seat: &Seat,
    ) -> Reply {
        if request.method() != Method::POST {
            return self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
        }
        if let Some(Err(why)) = of.as_ref().map(|of| self.runs.check(of)) {
            return self.refuse_of_runs(why);
        }
        let numbers = self.setup.match_numbers.of(&request);
        let (body, held) = match self.body(request, seat).await {
            Ok(read) => read,
            Err(refusal) => return refusal,
        };
        let _place = match self.place(seat).await {
            Ok(place) => place,
            Err(refusal) => return refusal,
        };
        let start = Instant::now();
        let mut call = match ToolCall::read(&body) {
            Ok(call) => call,
            Err(refusal) => return self.refuse_call(refusal, of),
        };
        call.numbers = numbers;
        match self.setup.tools.at_once(&call) {
            Some(served) => self.deliver(&call, &served, of, start),
            None => {
                let Some(held) = held.or_else(|| self.setup.tools.room().take(body.len())) else {
                    let served = Served::busy(&self.setup.tools.room().full());
                    return self.deliver(&call, &served, of, start);
                };
                drop(body);
                // In a task of its own, so that the call is counted though its caller leaves.
                let server = self.clone();
                let made = tokio::spawn(async move {
                    let made = server.make(call, of, start).await;
                    drop(held);
                    made
                });
                made.await.unwrap_or_else(|_| {
                    self.refuse(StatusCode::INTERNAL_SERVER_ERROR, "Juror failed to answer")
                })
            }
        }
    }

    /// Waits for a reply that is not at hand.
    async fn make(&self, call: ToolCall, of: Option<Address>, start: Instant) -> Reply {
        let (limit, call) = (self.setup.limits.reply, Arc::new(call));
        let served = tokio::time::timeout(limit, self.setup.tools.call(call.clone())).await;
        let served = served.unwrap_or_else(|_| {
            let troubles = vec![format!("no reply within {} s", limit.as_secs())];
            Served::failed(Failure::Late, "No reply in time", troubles)
        });
        self.deliver(&call, &served, of, start)
    }

    fn deliver(
        &self,
        call: &ToolCall,
        served: &Served,
        of: Option<Address>,
        start: Instant,
    ) -> Reply {
        self.tell(call, served, of, start.elapsed());
        let status = match served.failure {
            None => StatusCode::OK,
            Some(Failure::Unknown | Failure::Unasked) => self.setup.unknown,
            Some(Failure::LookUp | Failure::Bug) => StatusCode::INTERNAL_SERVER_ERROR,
            Some(Failure::NotKept) => StatusCode::INSUFFICIENT_STORAGE,
            Some(Failure::Late) => StatusCode::GATEWAY_TIMEOUT,
            Some(Failure::Busy) => StatusCode::SERVICE_UNAVAILABLE,
        };
        reply::served(status, served)
    }

    /// Counts a call, records it and lets the log know.
    fn tell(&self, call: &ToolCall, served: &Served, of: Option<Address>, took: Duration) {
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
            tool_input: shown_input(&call.input),
            reply: served.body.clone(),
            source: served.from.as_str(),
            found_by: served.found_by(),
            kept_from: served.kept_from(),
            failed: served.failed_outside(),
            seconds: took.as_secs_f64(),
        };
        self.runs.record(&address, recorded);
    }

    fn refuse_call(&self, refusal: Refusal, of: Option<Address>) -> Reply {
        match refusal {
            Refusal::ChatWithUser(asked) => {
                let body = Bytes::from_static(CHAT.as_bytes());
                self.record_refused(asked, body.clone(), of);
                reply::json_bytes(StatusCode::OK, body)
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
                let why = "the request is not made as requests are";
                (self.setup.log)(&LogEvent::Refused { why, status: status.as_u16() });
                reply::json_bytes(status, Bytes::from(detail))
            }
        }
    }

    /// Records what was asked for of a query's calls though it was no call.
    fn record_refused(&self, asked: Asked, reply: Bytes, of: Option<Address>) {
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
            seconds: 0.0,
        };
        self.runs.record(&address, recorded);
    }

    fn list(&self, query: &str) -> Reply {
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
        reply::json_bytes(StatusCode::OK, body)
    }

    fn search(&self, query: &str) -> Reply {
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
        reply::json_bytes(StatusCode::OK, self.setup.catalog.list_found(&wanted, most).into())
    }
}

/// Arguments as they are recorded: JSON that every reader knows, without the caller's key.
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
