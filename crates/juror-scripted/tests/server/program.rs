//! Tests the program.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_juror-scripted");

#[test]
fn the_program_tells_where_it_listens() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script.json");
    std::fs::write(&script, r#"{"latency_ms": 1}"#).unwrap();
    let mut program = Command::new(PROGRAM).arg(&script).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let connected = TcpStream::connect(line.trim().trim_start_matches("http://"));
    program.kill().unwrap();
    program.wait().unwrap();
    assert!(connected.is_ok(), "{line}");
}

#[test]
fn the_program_refuses_a_wrong_script() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong.json");
    std::fs::write(&script, r#"{"latency": 1}"#).unwrap();
    let output = Command::new(PROGRAM).arg(&script).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown field `latency`"));
}
