//! `juror-scripted SCRIPT.json [--port N]`: a model server that follows a script.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program tells where it listens")]

use std::process::ExitCode;

use juror_scripted::{Script, Server};

const USAGE: &str = "usage: juror-scripted SCRIPT.json [--port N]";

fn main() -> ExitCode {
    match start() {
        Ok(server) => {
            println!("{}", server.address());
            // The server has its own thread.
            loop {
                std::thread::park();
            }
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<Server, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (path, port) = match arguments.as_slice() {
        [path] => (path, "0"),
        [path, "--port", port] | ["--port", port, path] => (path, *port),
        _ => return Err(USAGE.to_owned()),
    };
    let port = port.parse().map_err(|error| format!("port `{port}`: {error}"))?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let script: Script = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    Server::start_on(script, port).map_err(|error| format!("port {port}: {error}"))
}
