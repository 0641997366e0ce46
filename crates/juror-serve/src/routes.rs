//! From a request to its reply.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, StatusCode};
use juror_tools::{From, OnMiss, Refusal, Served, ToolCall, error_body};
use serde_json::json;
use serde_json::value::RawValue;

use crate::query::{decoded, field};
use crate::reply::{self, Reply};
use crate::runs::RecordedCall;
use crate::server::{Event, Server};

/// How many APIs a search gives when it does not say.
const DEFAULT_FOUND: usize = 10;

/// The most that a search gives.
const MOST_FOUND: usize = 1000;

/// The longest name of a run or a query, in bytes.
const LONGEST_NAME: usize = 200;

/// What the published servers say of arguments they cannot read.
const INPUT_ERROR: &str = "Tool input parse error...\n";

/// What they say to a word to the user.
const CHAT: &str = r#"{"error":"","response":"Chat with user."}"#;

/// The run and query that a call belongs to.
struct Belongs {
    run: String,
    query: String,
}

impl Server {
    /// Answers a request; a reply that takes too long becomes a problem.
    pub(crate) async fn answer(self: &Arc<Server>, request: Request<Incoming>) -> Reply {
        self.metrics.requests.fetch_add(1, Ordering::Relaxed);
        let path = request.uri().path();
        if path != "/health" && !self.lets_in(&request) {
            let mut reply = self.refuse(StatusCode::UNAUTHORIZED, "A bearer token is needed");
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return reply;
        }
        if path == "/virtual" {
            return self.call(request, None).await;
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let query = request.uri().query().unwrap_or_default();
        match (request.method(), parts.as_slice()) {
            (_, ["runs", run, query, "virtual"]) => match belongs(run, query) {
                Some(belongs) => self.call(request, Some(belongs)).await,
                None => self.refuse(StatusCode::BAD_REQUEST, "No usable names of run and query"),
            },
            (&Method::GET, ["runs", run, query, "calls"]) => match belongs(run, query) {
                Some(belongs) => self.calls(&belongs),
                None => self.refuse(StatusCode::BAD_REQUEST, "No usable names of run and query"),
            },
            (&Method::GET, ["tools"]) => self.list(query),
            (&Method::GET, ["tools", "search"]) => self.search(query),
            (&Method::GET, ["health"]) => reply::json_bytes(StatusCode::OK, self.health.clone()),
            (&Method::GET, ["metrics"]) => {
                let (tools, n_apis) = (&self.setup.tools, self.setup.listing.len());
                let any_order = tools.cached().n_any_order();
                reply::text(self.metrics.render(tools.counts(), any_order, n_apis))
            }
            (
                _,
                ["tools" | "health" | "metrics"] | ["tools", "search"] | ["runs", _, _, "calls"],
            ) => self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
            _ => self.refuse(StatusCode::NOT_FOUND, "Not Found"),
        }
    }

    fn lets_in(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.setup.token else { return true };
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = given.and_then(|given| given.strip_prefix(b"Bearer "));
        given.is_some_and(|given| is_equal(given, token.as_bytes()))
    }

    fn refuse(&self, status: StatusCode, why: &str) -> Reply {
        self.metrics.refused();
        (self.setup.log)(&Event::Refused { why, status: status.as_u16() });
        reply::problem(status, why)
    }

    async fn call(self: &Arc<Server>, request: Request<Incoming>, of: Option<Belongs>) -> Reply {
        if request.method() != Method::POST {
            return self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
        }
        let body = match self.body(request).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        let start = Instant::now();
        let call = match ToolCall::read(&body) {
            Ok(call) => call,
            Err(refusal) => return self.refuse_call(refusal),
        };
        if of.as_ref().is_some_and(|of| !self.runs.has_room(&of.run, &of.query)) {
            let why = "No more calls can be recorded for this query";
            return self.refuse(StatusCode::INSUFFICIENT_STORAGE, why);
        }
        match self.setup.tools.at_once(&call) {
            Some(served) => self.deliver(&call, &served, of, start),
            None => self.make(call, of, start).await,
        }
    }

    /// Waits for a reply that is not at hand.
    async fn make(
        self: &Arc<Server>,
        call: ToolCall,
        of: Option<Belongs>,
        start: Instant,
    ) -> Reply {
        let limit = self.setup.limits.reply;
        let served = self.setup.tools.call(call.clone());
        match tokio::time::timeout(limit, served).await {
            Ok(served) => self.deliver(&call, &served, of, start),
            Err(_) => {
                let served = Served {
                    body: error_body("No reply in time"),
                    from: From::Nowhere,
                    origin: None,
                    troubles: Arc::from([format!("no reply within {} s", limit.as_secs())]),
                    not_kept: false,
                };
                self.tell(&call, &served, of, start.elapsed());
                reply::served(StatusCode::GATEWAY_TIMEOUT, &served)
            }
        }
    }

    fn deliver(
        &self,
        call: &ToolCall,
        served: &Served,
        of: Option<Belongs>,
        start: Instant,
    ) -> Reply {
        self.tell(call, served, of, start.elapsed());
        let status = match served.from {
            From::Nowhere if served.not_kept => StatusCode::INSUFFICIENT_STORAGE,
            From::Nowhere if self.setup.on_miss == OnMiss::Fail => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        };
        reply::served(status, served)
    }

    /// Counts a call, records it and lets the log know.
    fn tell(&self, call: &ToolCall, served: &Served, of: Option<Belongs>, took: Duration) {
        self.metrics.served(served.from, took);
        (self.setup.log)(&Event::Served {
            category: &call.category,
            tool: &call.tool,
            api: &call.api,
            source: served.from.as_str(),
            took,
            troubles: &served.troubles,
        });
        let Some(Belongs { run, query }) = of else { return };
        let input = RawValue::from_string(call.input.clone());
        let recorded = RecordedCall {
            category: call.category.clone(),
            tool_name: call.tool.clone(),
            api_name: call.api.clone(),
            tool_input: input.unwrap_or_default(),
            reply: served.body.clone(),
            source: served.from.as_str(),
            seconds: took.as_secs_f64(),
        };
        self.runs.record(&run, &query, recorded);
    }

    fn refuse_call(&self, refusal: Refusal) -> Reply {
        match refusal {
            Refusal::ChatWithUser => {
                reply::json_bytes(StatusCode::OK, Bytes::from_static(CHAT.as_bytes()))
            }
            Refusal::Input => self.refuse(StatusCode::OK, INPUT_ERROR),
            Refusal::NotText => {
                self.refuse(StatusCode::BAD_REQUEST, "There was an error parsing the body")
            }
            Refusal::Malformed(detail) => {
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                self.metrics.refused();
                let why = "the request is not made as requests are";
                (self.setup.log)(&Event::Refused { why, status: status.as_u16() });
                reply::json_bytes(status, Bytes::from(detail))
            }
        }
    }

    async fn body(&self, request: Request<Incoming>) -> Result<Bytes, Reply> {
        let limits = &self.setup.limits;
        let body = Limited::new(request.into_body(), limits.body).collect();
        match tokio::time::timeout(limits.sending, body).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let why = format!("The request is longer than {} bytes", limits.body);
                Err(self.refuse(StatusCode::PAYLOAD_TOO_LARGE, &why))
            }
            Ok(Err(_)) => Err(self.refuse(StatusCode::BAD_REQUEST, "The request broke off")),
            Err(_) => Err(self.refuse(StatusCode::REQUEST_TIMEOUT, "The request took too long")),
        }
    }

    fn calls(&self, of: &Belongs) -> Reply {
        let calls = self.runs.calls(&of.run, &of.query);
        let body = json!({"run": of.run, "query": of.query, "calls": calls});
        reply::json(StatusCode::OK, &body)
    }

    fn list(&self, query: &str) -> Reply {
        let number = |name: &str| field(query, name).map(|text| text.parse::<usize>());
        let listing = &self.setup.listing;
        let body = match (number("offset"), number("limit")) {
            (None, None) => listing.all(),
            (Some(Err(_)), _) | (_, Some(Err(_))) => {
                let why = "`offset` and `limit` are whole numbers";
                return self.refuse(StatusCode::BAD_REQUEST, why);
            }
            (offset, limit) => {
                let or = |number: Option<_>, other| number.and_then(Result::ok).unwrap_or(other);
                listing.some(or(offset, 0), or(limit, usize::MAX))
            }
        };
        reply::json_bytes(StatusCode::OK, body)
    }

    fn search(&self, query: &str) -> Reply {
        let Some(wanted) = field(query, "q") else {
            return self.refuse(StatusCode::BAD_REQUEST, "`q` is missing: what to search for");
        };
        let most = match field(query, "k").map(|text| text.parse::<usize>()) {
            None => DEFAULT_FOUND,
            Some(Ok(most)) => most.min(MOST_FOUND),
            Some(Err(_)) => {
                return self.refuse(StatusCode::BAD_REQUEST, "`k` is a whole number");
            }
        };
        reply::json_bytes(StatusCode::OK, self.setup.listing.search(&wanted, most))
    }
}

fn belongs(run: &str, query: &str) -> Option<Belongs> {
    let name = |part: &str| decoded(part).filter(|name| (1..=LONGEST_NAME).contains(&name.len()));
    Some(Belongs { run: name(run)?, query: name(query)? })
}

/// Compares without telling by the time taken where two texts differ.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
