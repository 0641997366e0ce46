//! An agent without a model, which follows a script. Like every command that `juror bench` runs, it
//! exchanges lines of JSON and calls tools over HTTP.

use std::collections::BTreeMap;
use std::io::{BufRead, Read, Write};
use std::net::TcpStream;

use anyhow::Context;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const SCRIPT: &str = include_str!("../../../demo/agents/scripted.json");

/// The script for one query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// What the query demonstrates.
    pub(super) shows: String,
    /// The calls to make, in order. They are kept as written, since the order of arguments counts.
    calls: Vec<Box<RawValue>>,
    /// The final answer; `{/0/response/sky}` stands for a part of the replies.
    final_answer: String,
}

/// Returns the script, by query id.
pub(super) fn script() -> anyhow::Result<BTreeMap<String, Part>> {
    serde_json::from_str(SCRIPT).context("the script of the agent")
}

/// Answers queries until there are no more. A reply that lacks what the script needs ends the
/// agent, as it would end many others.
pub(super) fn run(input: impl BufRead, output: &mut impl Write) -> anyhow::Result<()> {
    let script = script()?;
    for line in input.lines() {
        let told: Value = serde_json::from_str(&line?)?;
        let said = match told["type"].as_str() {
            Some("setup") => json!({"type": "ready", "name": "scripted agent"}),
            _ => {
                let part = told["query_id"].as_str().and_then(|id| script.get(id));
                let part = part.context("the scripted agent knows the demo's queries only")?;
                let final_answer = answer(part, told["virtual_url"].as_str().unwrap_or_default())?;
                json!({"type": "answered", "query_id": told["query_id"], "final_answer": final_answer})
            }
        };
        writeln!(output, "{said}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(part: &Part, virtual_url: &str) -> anyhow::Result<String> {
    let replies = part.calls.iter().map(|call| post(virtual_url, call));
    fill(&part.final_answer, &Value::Array(replies.collect::<anyhow::Result<_>>()?))
}

/// Fills in the parts of replies that a text names.
fn fill(text: &str, replies: &Value) -> anyhow::Result<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{/") {
        let (path, after) = after.split_once('}').context("a `{/` without its `}`")?;
        let path = format!("/{path}");
        let lacks =
            || format!("the scripted agent needs `{path}` of its tools, who said {replies}");
        let part = replies.pointer(&path).with_context(lacks)?;
        filled.push_str(before);
        filled.push_str(&part.as_str().map_or_else(|| part.to_string(), str::to_owned));
        rest = after;
    }
    Ok(filled + rest)
}

/// Calls a tool. The server is on this machine, so a plain connection suffices, and no proxy may
/// interfere.
fn post(url: &str, call: &RawValue) -> anyhow::Result<Value> {
    let (host, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .context("tools are called at an address such as http://127.0.0.1:8080/virtual")?;
    let fields = call.get().strip_suffix('}').context("a call is an object")?;
    let body = format!(r#"{fields}, "strip": "", "toolbench_key": ""}}"#);
    let mut stream = TcpStream::connect(host)?;
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    let (_, body) = reply.split_once("\r\n\r\n").context("the tool server's reply is not HTTP")?;
    Ok(serde_json::from_str(body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_parts_of_replies() {
        let replies = json!([{"response": {"sky": "clear", "celsius": 11.5}}]);
        let check = |text: &str, filled: Option<&str>| {
            assert_eq!(fill(text, &replies).ok().as_deref(), filled, "{text}");
        };
        check("no parts", Some("no parts"));
        check("{/0/response/sky}, {/0/response/celsius}!", Some("clear, 11.5!"));
        check("{\"return_type\": \"x\"}", Some("{\"return_type\": \"x\"}"));
        check("{/1/response}", None);
        check("{/0", None);
    }

    #[test]
    fn it_speaks_by_lines_and_ends_at_what_it_does_not_know() {
        let mut said = Vec::new();
        let setup = "{\"type\": \"setup\", \"protocol\": 1}\n";
        run(setup.as_bytes(), &mut said).expect("it is ready");
        assert_eq!(said, b"{\"name\":\"scripted agent\",\"type\":\"ready\"}\n");
        let told = "{\"type\": \"answer\", \"query_id\": \"99\", \"virtual_url\": \"\"}\n";
        assert!(run(told.as_bytes(), &mut said).is_err());
    }
}
