//! Names that the server answers to.

use serde_json::json;

use crate::stage::{Served, Stage, request};

fn ask(served: &Served, head: &str) -> (u16, String) {
    let body = request("Sky", "Now", json!({"city": "Oslo"})).to_string();
    let head = format!("{head}content-length: {}\r\n\r\n", body.len());
    let reply = served.client().ask(&head, body.as_bytes()).expect("a reply");
    (reply.status, reply.json()["error"].as_str().unwrap_or_default().to_owned())
}

fn call(served: &Served, host: &str) -> (u16, String) {
    // Pages that are asked for by a name of their own have that as their origin.
    ask(served, &format!("POST /virtual HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\n"))
}

#[test]
fn a_page_whose_name_resolves_to_this_machine_is_not_answered() {
    let stage = Stage::new();
    let served = stage.serve("--tools tools --cache cache");
    let port = served.address().rsplit(':').next().expect("a port");
    for host in ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"] {
        assert_eq!(call(&served, host).0, 200, "{host}");
        assert_eq!(call(&served, &format!("{host}:{port}")).0, 200, "{host}");
    }
    for host in ["evil.com", "localhost.evil.com", "127.0.0.1.evil.com"] {
        let refused = format!("The host `{host}` is not known here (--allow-host)");
        assert_eq!(call(&served, host), (403, refused));
        assert_eq!(call(&served, &format!("{host}:{port}")).0, 403);
        let health = format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\r\n");
        assert_eq!(served.client().ask(&health, b"").expect("a reply").status, 403);
    }
    let absolute = "POST http://evil.com/virtual HTTP/1.1\r\nhost: localhost\r\n";
    assert_eq!(ask(&served, absolute).0, 403);
    let none = (400, "The request names no host".to_owned());
    assert_eq!(ask(&served, "POST /virtual HTTP/1.1\r\n"), none);
    let two = "POST /virtual HTTP/1.1\r\nhost: localhost\r\nhost: evil.com\r\n";
    assert_eq!(ask(&served, two), (400, "The request names several hosts".to_owned()));
    assert_eq!(ask(&served, "POST /virtual HTTP/1.0\r\n").0, 200);
}

#[test]
fn more_names_are_answered_to_on_request() {
    let stage = Stage::new();
    let options = "--tools tools --cache cache --allow-host juror.example --allow-host proxy:8443";
    let served = stage.serve(options);
    for host in ["juror.example", "Juror.Example:99", "proxy:8443", "localhost"] {
        assert_eq!(call(&served, host).0, 200, "{host}");
    }
    for host in ["proxy", "proxy:80", "a.juror.example", "evil.com"] {
        assert_eq!(call(&served, host).0, 403, "{host}");
    }
    let mut command = stage.command("serve --port 0 --tools tools --cache cache");
    command.env("JUROR_ALLOW_HOST", "one.example,two.example");
    let served = stage.serve_command(command);
    assert_eq!(call(&served, "two.example").0, 200);
    let (code, _, said) = stage.run("serve --tools tools --allow-host http://x/");
    assert_eq!((code, said.contains("a host name is needed")), (2, true), "{said}");
}
