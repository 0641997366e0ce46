//! Calls real tools behind MCP servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use juror_json::python::{JsonStyle, dump_json, entries_of_json};
use juror_mcp::{Address, BadAddress, Client, ClientError, ClientSetup, Outcome};
use juror_models::{Pending, Secret, Secrets};
use juror_store::Origin;
use juror_toolbench::names::standardize;
use juror_toolbench::pool::PoolKind;
use serde_json::json;

use crate::call::ToolCall;
use crate::catalog::{Catalog, LivePool};
use crate::real::no_reply;
use crate::simulator::CoolDown;
use crate::source::{NoReply, SourceReply, ToolSource};

/// After so many failures in a row a server is left alone for a while.
const MOST_FAILURES: u32 = 10;

/// Calls the tools of one server.
pub struct McpSource {
    client: Arc<Client>,
    catalog: Arc<Catalog>,
    /// The tool of the catalog that the server is; any of the right kind if unknown.
    tool: Option<String>,
    /// What replies must not repeat.
    secrets: Secrets,
    cool_down: CoolDown,
    /// How often it could not be reached in a row.
    n_failures: AtomicU32,
}

impl ToolSource for McpSource {
    fn name(&self) -> &'static str {
        "real"
    }

    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<SourceReply, NoReply>> {
        Box::pin(async move {
            let name = self.tool_name(call)?;
            if !self.cool_down.is_over() {
                let why = "the server could not be reached lately, and is left alone";
                return Err(no_reply(why).unasked());
            }
            let arguments = without_key(&call.input);
            let reply = match self.client.call(&name, &arguments).await {
                Ok(outcome) => reply_of(&outcome.without(&self.secrets)),
                Err(ClientError::Refused(error)) if error.is_about_arguments() => {
                    let message = self.secrets.redact(error.message);
                    format!("{{\"error\":{},\"response\":\"\"}}", json!(message))
                }
                Err(error) => return Err(self.failed(&error)),
            };
            self.n_failures.store(0, Ordering::Relaxed);
            Ok(SourceReply { reply, origin: Origin::Real, model: None })
        })
    }
}

impl McpSource {
    /// Creates the source for an address. A server whose tools are in the catalog is the same one,
    /// and answers for those alone.
    pub fn new(
        address: &str,
        setup: &ClientSetup,
        live: &[LivePool],
        catalog: &Arc<Catalog>,
    ) -> Result<McpSource, BadAddress> {
        let pool = live.iter().find(|pool| pool.address == address);
        let client = match pool.and_then(|pool| pool.client.clone()) {
            Some(client) => client,
            None => Arc::new(Client::new(Address::read(address)?, setup.clone())),
        };
        Ok(McpSource {
            client,
            catalog: catalog.clone(),
            tool: pool.map(|pool| pool.tool.clone()),
            secrets: Secrets::new(setup.token.iter().map(Secret::expose)),
            cool_down: CoolDown::default(),
            n_failures: AtomicU32::new(0),
        })
    }

    /// Returns the server's name of the tool that is called.
    fn tool_name(&self, call: &ToolCall) -> Result<String, NoReply> {
        let unknown = || no_reply(format!("no list of tools has {} of {}", call.api, call.tool));
        let (tool, api) = self.catalog.requested_api(&call.names).ok_or_else(unknown)?;
        let kind = api.described.as_ref().map(|described| described.kind);
        let is_own =
            self.tool.as_ref().is_none_or(|own| standardize(own) == standardize(&tool.name));
        match kind {
            Some(PoolKind::Mcp | PoolKind::Functions) if is_own => Ok(api.name.clone()),
            _ => Err(no_reply(format!("{} is not a tool of {}", call.api, self.client.address()))),
        }
    }

    fn failed(&self, error: &ClientError) -> NoReply {
        match error {
            ClientError::Refused(error) => no_reply(self.secrets.redact(error.to_string())),
            ClientError::Unreachable(why) => {
                if self.n_failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
                    self.n_failures.store(0, Ordering::Relaxed);
                    self.cool_down.begin();
                }
                no_reply(self.secrets.redact(why.clone())).unasked()
            }
        }
    }
}

/// The reply of a tool in the form that agents know.
fn reply_of(outcome: &Outcome) -> String {
    let response = dump_json(&outcome.response, JsonStyle::Compact);
    let response = response.unwrap_or_else(|_| json!(outcome.response).to_string());
    if outcome.is_error {
        return format!("{{\"error\":{},\"response\":\"\"}}", json!(outcome.text()));
    }
    format!("{{\"error\":\"\",\"response\":{response}}}")
}

/// The arguments as standard JSON, without the key of the caller.
fn without_key(input: &str) -> String {
    let wire = dump_json(input, JsonStyle::Wire).unwrap_or_else(|_| "{}".to_owned());
    let Ok(entries) = entries_of_json(&wire) else { return "{}".to_owned() };
    let kept = entries.iter().filter(|(name, _)| name != "toolbench_key");
    let kept: Vec<String> = kept.map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", kept.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_have_the_form_that_agents_know() {
        let reply =
            |response: &str, is_error| reply_of(&Outcome { response: response.into(), is_error });
        assert_eq!(reply("\"sunny\"", false), r#"{"error":"","response":"sunny"}"#);
        assert_eq!(reply("\"no city\"", true), r#"{"error":"no city","response":""}"#);
        assert_eq!(reply("[{\"a\": 1}]", false), r#"{"error":"","response":[{"a":1}]}"#);
    }

    #[test]
    fn the_key_of_the_caller_stays_here() {
        assert_eq!(without_key(r#"{"a": 1, "toolbench_key": "k"}"#), r#"{"a":1}"#);
        assert_eq!(without_key("{}"), "{}");
    }
}
