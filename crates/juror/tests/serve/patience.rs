//! Clients that are slow, silent or many: nobody else is kept from being served.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{Gate, StandIn};
use crate::stage::{Served, Stage, request};

fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(served.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a limit");
    stream
}

/// All that a server says until it closes the connection.
fn rest(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    stream.read_to_end(&mut said).expect("the connection is closed in good order");
    String::from_utf8(said).expect("UTF-8")
}

/// A reply's status line, and the error in its body.
fn told(said: &str) -> (&str, String) {
    let (head, body) = said.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no reply: {said}"));
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {said}"));
    (head.lines().next().unwrap_or_default(), body["error"].as_str().unwrap_or_default().to_owned())
}

/// Sends a piece now and then, until the server says something.
fn drip(stream: &mut TcpStream, piece: &[u8]) -> String {
    // Waiting for a reply is what keeps the drops apart.
    stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a limit");
    let mut said = [0; 1];
    loop {
        match stream.read(&mut said) {
            Ok(0) => return String::new(),
            Ok(_) => break,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                stream.write_all(piece).expect("sent");
            }
            Err(error) => panic!("{error}"),
        }
    }
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a limit");
    format!("{}{}", char::from(said[0]), rest(stream))
}

#[test]
fn silent_connections_give_way_and_health_answers_always() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --max-connections 8");
    let mut silent: Vec<TcpStream> = (0..100).map(|_| connect(&served)).collect();
    assert_eq!(served.client().get("/health").status, 200);
    let reply = served.call(&request("Sky", "Now", json!({"city": "Oslo"})));
    assert_eq!(reply.json()["response"], "rain");
    // Those that came first went first.
    assert_eq!(rest(&mut silent[0]), "");
    let (_, said) = served.stop();
    assert!(said.contains("more than 8 connections are open (--max-connections)"), "{said}");
}

#[test]
fn idle_connections_give_way_and_requests_that_are_worked_on_do_not() {
    let (stage, gate) = (Stage::new(), Gate::default());
    let model = StandIn::model_behind(&gate, Vec::new(), r#"{"error": "", "response": "made up"}"#);
    let served = stage.serve(&format!(
        "--tools tools --cache cache --max-connections 2 --simulator chat --model m --model-url {}",
        model.url("/v1")
    ));
    let mut idle = connect(&served);
    let health = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    idle.write_all(health).expect("sent");
    idle.read_exact(&mut [0]).expect("a reply");
    let call = |city: &str| request("Sky", "Now", json!({"city": city})).to_string();
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..2)
            .map(|n| {
                let mut client = served.client();
                scope.spawn(move || client.post("/virtual", call(&n.to_string())).json())
            })
            .collect();
        while model.asked().len() < 2 {
            std::thread::yield_now();
        }
        // All are worked for: others wait, more than there is room for are told so.
        let waiting: Vec<_> = (0..100)
            .map(|n| {
                let (mut stream, body) = (connect(&served), call(&format!("w{n}")));
                let head = format!(
                    "POST /virtual HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
                stream
            })
            .collect();
        for _ in 0..100 {
            assert_eq!(served.client().get("/health").status, 200);
        }
        assert!(rest(&mut idle).contains("\"status\":\"ok\""));
        gate.open();
        for call in calls {
            assert_eq!(call.join().expect("a reply")["response"], "made up");
        }
        for mut waiting in waiting {
            let said = rest(&mut waiting);
            match told(&said) {
                ("HTTP/1.1 200 OK", _) => assert!(said.contains("made up"), "{said}"),
                (status, error) => {
                    assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
                    let wanted = "2 requests are worked on, and others wait (--max-connections)";
                    assert_eq!(error, wanted);
                }
            }
        }
    });
}

#[test]
fn bodies_that_are_waited_for_keep_nobody_from_being_served() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --max-connections 2 --body-timeout 1000");
    let head = "POST /virtual HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{";
    let slow: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = connect(&served);
            stream.write_all(head.as_bytes()).expect("sent");
            stream
        })
        .collect();
    for _ in 0..8 {
        assert_eq!(served.client().get("/health").status, 200);
        let reply = served.call(&request("Sky", "Now", json!({"city": "Oslo"})));
        assert_eq!(reply.json()["response"], "rain");
        assert_eq!(served.client().get("/tools").status, 200);
    }
    drop(slow);
}

#[test]
fn health_answers_though_file_handles_run_out() {
    let stage = Stage::new();
    let serve = "ulimit -n 40; exec \"$0\" serve --port 0 --tools tools --cache cache";
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", serve, env!("CARGO_BIN_EXE_juror")])
        .current_dir(stage.folder.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let served = stage.serve_command(command);
    let _silent: Vec<TcpStream> = (0..100).map(|_| connect(&served)).collect();
    assert_eq!(served.client().get("/health").status, 200);
}

#[test]
fn heads_have_to_come_in_time() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --head-timeout 0.3");
    assert_eq!(rest(&mut connect(&served)), "", "nothing was asked");
    for piece in [&b""[..], b"y"] {
        let mut slow = connect(&served);
        slow.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: y").expect("sent");
        let said = if piece.is_empty() { rest(&mut slow) } else { drip(&mut slow, piece) };
        let error = "The head of the request took over 0.3 s (--head-timeout)".to_owned();
        assert_eq!(told(&said), ("HTTP/1.1 408 Request Timeout", error));
    }
}

#[test]
fn bodies_have_to_come_in_time() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --body-timeout 0.3");
    let head = "POST /virtual HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n{";
    for piece in [&b""[..], b" "] {
        let mut slow = connect(&served);
        slow.write_all(head.as_bytes()).expect("sent");
        let said = if piece.is_empty() { rest(&mut slow) } else { drip(&mut slow, piece) };
        let error = "The body took over 0.3 s (--body-timeout)".to_owned();
        assert_eq!(told(&said), ("HTTP/1.1 408 Request Timeout", error));
    }
}

#[test]
fn idle_connections_are_closed() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache --idle-timeout 0.3");
    let mut idle = connect(&served);
    idle.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("sent");
    assert_eq!(rest(&mut idle).matches("HTTP/1.1").count(), 1);
}

#[test]
fn a_request_that_is_no_request_is_told_so() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let with = |lines: &str| format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{lines}\r\n");
    let headers = |n: usize| with(&"x: y\r\n".repeat(n));
    let malformed = "The request is not valid HTTP/1.1";
    let check = |sent: &[u8], status: &str, error: &str| {
        let shown = String::from_utf8_lossy(&sent[..sent.len().min(60)]).into_owned();
        let mut stream = connect(&served);
        stream.write_all(sent).expect("sent");
        let said = rest(&mut stream);
        let (line, why) = told(&said);
        assert_eq!((line, why.as_str()), (&*format!("HTTP/1.1 {status}"), error), "{shown}");
    };
    for sent in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /health\r\n\r\n",
        b"GET /health HTTP/3.0\r\n\r\n",
        b"GET /hea lth HTTP/1.1\r\n\r\n",
        with("no colon\r\n").as_bytes(),
        with("a b: c\r\n").as_bytes(),
        with("x: \0\r\n").as_bytes(),
        with("content-length: many\r\n").as_bytes(),
        with("content-length: 1\r\ncontent-length: 2\r\n").as_bytes(),
    ] {
        check(sent, "400 Bad Request", malformed);
    }
    check(headers(100).as_bytes(), "400 Bad Request", "The request has more than 100 headers");
    let long = with(&format!("x: {}\r\n", "y".repeat(100_000)));
    let error = "The head of the request is longer than 65536 bytes";
    check(long.as_bytes(), "431 Request Header Fields Too Large", error);
    assert_eq!(served.client().ask(&headers(99), b"").expect("a reply").status, 200);
    // A client that is done sending in the middle of a head is told, too.
    let mut half = connect(&served);
    half.write_all(b"GET /health HT").expect("sent");
    half.shutdown(std::net::Shutdown::Write).expect("shut");
    assert_eq!(told(&rest(&mut half)).0, "HTTP/1.1 400 Bad Request");
    let body =
        "POST /virtual HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    check(body.as_bytes(), "400 Bad Request", "The request broke off");
}

#[test]
fn calls_that_were_abandoned_are_bounded_in_bytes() {
    let (stage, gate) = (Stage::new(), Gate::default());
    let model = StandIn::model_behind(&gate, Vec::new(), r#"{"error": "", "response": "made up"}"#);
    let served = stage.serve(&format!(
        "--tools tools --cache cache --in-flight 8 --simulator chat --model m --model-url {}",
        model.url("/v1")
    ));
    let mut client = served.client();
    let mut n_refused = || {
        let metrics = client.get("/metrics").body;
        let n_of = |name: &str| {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name)).expect("a count");
            line.trim().parse::<usize>().expect("a number")
        };
        n_of("juror_refused_total ") + n_of("juror_call_seconds_count{source=\"none\"} ")
    };
    let long =
        |n: usize| request("Sky", "Now", json!({"city": "x".repeat(900_000), "n": n})).to_string();
    for n in 0..20 {
        let body = long(n);
        let mut leaving = connect(&served);
        let head = format!(
            "POST /virtual HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        // A request that there is no room for may be refused before all of it is sent.
        let _ = leaving.write_all(format!("{head}{body}").as_bytes());
        while model.asked().len() + n_refused() <= n {
            std::thread::yield_now();
        }
    }
    let n_asked = model.asked().len();
    assert!((1..=3).contains(&n_asked), "{n_asked}");
    let refused = served.client().post("/virtual", long(99));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.json()["error"], "8 MB of calls are on their way (--in-flight)");
    gate.open();
    // What was abandoned is made all the same, and gives its room back.
    while served.client().post("/virtual", long(99)).status == 503 {
        std::thread::yield_now();
    }
    assert_eq!(served.client().post("/virtual", long(0)).header("juror-source"), Some("cache"));
}
