//! Requests about runs: queries are opened, their calls made, told and forgotten.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::HeaderName;
use hyper::{Method, Request, StatusCode};
use juror_models::Secret;
use serde::Serialize;
use serde_json::json;

use crate::query::decoded;
use crate::reply::{self, Reply};
use crate::runs::{Address, NoRun, RecordedCall, unguessable};
use crate::seats::Seat;
use crate::server::Server;

/// The key of a run, in requests of who opened it.
const RUN_KEY: HeaderName = HeaderName::from_static("juror-run-key");

/// The longest name of a run or a query, in bytes.
const LONGEST_NAME: usize = 200;

const NOT_OPENED: &str =
    "Calls are recorded at addresses that were given out: ask for one with POST /runs/RUN/QUERY";

/// The calls of a query.
#[derive(Serialize)]
struct Calls<'c> {
    run: &'c str,
    query: &'c str,
    calls: &'c [RecordedCall],
}

impl Server {
    /// Answers a request for something below `/runs`.
    pub(crate) async fn answer_of_runs(
        self: &Arc<Server>,
        request: Request<Incoming>,
        seat: &Seat,
    ) -> Reply {
        let path = request.uri().path().trim_start_matches('/').to_owned();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let Some(names) = parts.iter().map(|part| name(part)).collect::<Option<Vec<_>>>() else {
            return self.refuse(StatusCode::BAD_REQUEST, "No usable names of run and query");
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let key = || key_of(&request).ok_or(NoRun::NoKey);
        let done = match (request.method(), names.as_slice()) {
            (_, [run, query, part, "virtual"]) => {
                let address = Address::new(run, query, part);
                return self.call(request, Some(address), seat).await;
            }
            (_, [_, _, "virtual"]) => return self.refuse(StatusCode::NOT_FOUND, NOT_OPENED),
            (&Method::POST, [run, query]) if self.setup.opens_runs => {
                let key = key_of(&request).map_or_else(unguessable, Ok);
                key.and_then(|key| {
                    let part = self.runs.open(run, query, &key)?;
                    let at = format!("/runs/{}/{}", parts[0], parts[1]);
                    Ok(json!({"run": run, "query": query, "key": key.expose(),
                        "virtual": format!("{at}/{}/virtual", part.expose()),
                        "calls": format!("{at}/calls")}))
                })
            }
            (&Method::GET, [run, query, "calls"]) => {
                match key().and_then(|key| self.runs.calls(run, query, &key)) {
                    Ok(calls) => return told(run, query, &calls),
                    Err(why) => Err(why),
                }
            }
            (&Method::DELETE, [run, query]) => key().and_then(|key| {
                let calls = self.runs.close(run, query, &key)?;
                Ok(json!({"run": run, "query": query, "forgotten_calls": calls.len()}))
            }),
            (&Method::DELETE, [run]) => key().and_then(|key| {
                Ok(json!({"run": run, "forgotten_queries": self.runs.forget(run, &key)?}))
            }),
            (_, [_] | [_, _] | [_, _, "calls"]) => {
                return self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            }
            _ => return self.refuse(StatusCode::NOT_FOUND, "Not Found"),
        };
        match done {
            Ok(value) => reply::json(StatusCode::OK, &value),
            Err(why) => self.refuse_of_runs(why),
        }
    }

    /// Says why something of a run is not done.
    pub(crate) fn refuse_of_runs(&self, why: NoRun) -> Reply {
        let status = match why {
            NoRun::NoKey | NoRun::OfAnother => StatusCode::FORBIDDEN,
            NoRun::Unknown => StatusCode::NOT_FOUND,
            NoRun::BadKey => StatusCode::BAD_REQUEST,
            NoRun::Full => StatusCode::INSUFFICIENT_STORAGE,
            NoRun::NoChance => StatusCode::INTERNAL_SERVER_ERROR,
        };
        self.refuse(status, &why.to_string())
    }
}

/// The key that a request brings.
fn key_of(request: &Request<Incoming>) -> Option<Secret> {
    request.headers().get(RUN_KEY)?.to_str().ok().map(Secret::new)
}

fn name(part: &str) -> Option<String> {
    decoded(part).filter(|name| (1..=LONGEST_NAME).contains(&name.len()))
}

fn told(run: &str, query: &str, calls: &[RecordedCall]) -> Reply {
    // Texts, numbers and JSON as it came can always be written.
    let body = serde_json::to_vec(&Calls { run, query, calls }).unwrap_or_default();
    reply::json_bytes(StatusCode::OK, Bytes::from(body))
}
