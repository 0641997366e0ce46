//! Routes below `/runs`: opening queries, making calls, and reading and deleting records of calls.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{Method, Request, StatusCode};
use juror_models::Secret;
use serde::Serialize;
use serde_json::json;

use crate::open_connections::ConnectionState;
use crate::recorder::{QueryAddress, RecordedCall, RunError, random_secret};
use crate::response::{self, HttpResponse};
use crate::server::Server;
use crate::url_parts::decoded;

/// The header with the key of a run.
const RUN_KEY: HeaderName = HeaderName::from_static("juror-run-key");

/// The longest name of a run or query, in bytes.
const LONGEST_NAME: usize = 200;

const NOT_OPENED: &str =
    "Calls are recorded at addresses that were given out: ask for one with POST /runs/RUN/QUERY";

#[derive(Serialize)]
struct CallsOfQuery<'c> {
    run: &'c str,
    query: &'c str,
    calls: &'c [RecordedCall],
}

impl Server {
    /// Answers a request below `/runs`.
    pub(crate) async fn answer_runs(
        self: &Arc<Server>,
        request: Request<Incoming>,
        connection: &ConnectionState,
    ) -> HttpResponse {
        let path = request.uri().path().trim_start_matches('/').to_owned();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let Some(names) = parts.iter().map(|part| name(part)).collect::<Option<Vec<_>>>() else {
            return self.refuse(StatusCode::BAD_REQUEST, "No usable names of run and query");
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let key = || key_of(&request).ok_or(RunError::NoKey);
        let done = match (request.method(), names.as_slice()) {
            (_, [run, query, seal, "virtual"]) => {
                let address = QueryAddress::new(run, query, seal);
                return self.call(request, Some(address), connection).await;
            }
            (_, [run, query, seal, "mcp"]) => {
                let address = QueryAddress::new(run, query, seal);
                return self.answer_mcp(request, Some(address), connection).await;
            }
            (_, [_, _, "virtual" | "mcp"]) => {
                return self.refuse(StatusCode::NOT_FOUND, NOT_OPENED);
            }
            (&Method::POST, [run, query]) if self.setup.opens_runs => {
                let key = key_of(&request).map_or_else(random_secret, Ok);
                key.and_then(|key| {
                    let seal = self.recorder.open(run, query, &key)?;
                    let at = format!("/runs/{}/{}", parts[0], parts[1]);
                    Ok(json!({"run": run, "query": query, "key": key.expose(),
                        "virtual": format!("{at}/{}/virtual", seal.expose()),
                        "mcp": format!("{at}/{}/mcp", seal.expose()),
                        "calls": format!("{at}/calls")}))
                })
            }
            (&Method::GET, [run, query, "calls"]) => {
                match key().and_then(|key| self.recorder.calls(run, query, &key)) {
                    Ok(calls) => return told(run, query, &calls),
                    Err(why) => Err(why),
                }
            }
            (&Method::DELETE, [run, query]) => key().and_then(|key| {
                let calls = self.recorder.close(run, query, &key)?;
                Ok(json!({"run": run, "query": query, "forgotten_calls": calls.len()}))
            }),
            (&Method::DELETE, [run]) => key().and_then(|key| {
                Ok(json!({"run": run, "forgotten_queries": self.recorder.forget(run, &key)?}))
            }),
            (_, [_] | [_, _] | [_, _, "calls"]) => {
                return self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            }
            _ => return self.refuse(StatusCode::NOT_FOUND, "Not Found"),
        };
        match done {
            Ok(value) => response::json(StatusCode::OK, &value),
            Err(why) => self.refuse_run(why),
        }
    }

    /// Turns an error into a response.
    pub(crate) fn refuse_run(&self, why: RunError) -> HttpResponse {
        let status = match why {
            RunError::NoKey | RunError::OfAnother => StatusCode::FORBIDDEN,
            RunError::Unknown => StatusCode::NOT_FOUND,
            RunError::BadKey => StatusCode::BAD_REQUEST,
            RunError::Full => StatusCode::INSUFFICIENT_STORAGE,
            RunError::NoChance => StatusCode::INTERNAL_SERVER_ERROR,
        };
        self.refuse(status, &why.to_string())
    }
}

fn key_of(request: &Request<Incoming>) -> Option<Secret> {
    request.headers().get(RUN_KEY)?.to_str().ok().map(Secret::new)
}

fn name(part: &str) -> Option<String> {
    decoded(part).filter(|name| (1..=LONGEST_NAME).contains(&name.len()))
}

fn told(run: &str, query: &str, calls: &[RecordedCall]) -> HttpResponse {
    // Serializing strings, numbers and raw JSON does not fail.
    let body = serde_json::to_vec(&CallsOfQuery { run, query, calls }).unwrap_or_default();
    response::json_bytes(StatusCode::OK, Bytes::from(body))
}
