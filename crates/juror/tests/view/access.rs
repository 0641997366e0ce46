//! Who is answered, and who is not.

use crate::http::ask;
use crate::stage::Stage;

#[test]
fn pages_of_other_sites_are_refused() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("");
    let ask = |head: &str| ask(viewed.address(), head, "").status;
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(ask(&format!("GET / HTTP/1.1\r\nhost: {host}\r\n")), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example"] {
        assert_eq!(ask(&format!("GET / HTTP/1.1\r\nhost: {host}\r\n")), 403, "{host}");
        assert_eq!(ask(&format!("GET /events HTTP/1.1\r\nhost: {host}\r\n")), 403, "{host}");
    }
    let foreign = "GET / HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\n";
    assert_eq!(ask(foreign), 403);
    assert_eq!(ask("GET / HTTP/1.1\r\n"), 400, "no host");
    assert_eq!(
        ask("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n"),
        403,
        "no origin"
    );
    assert_eq!(viewed.post("/", "").status, 405);
    let allowed = stage.view("--allow-host juror.example");
    let reply =
        crate::http::ask(allowed.address(), "GET / HTTP/1.1\r\nhost: juror.example\r\n", "");
    assert_eq!(reply.status, 200);
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let stage = Stage::with_two_runs();
    stage.write("secret/run.json", &stage.read("runs/first/run.json"));
    let viewed = stage.view("");
    for path in [
        "/run/../secret",
        "/run/..%2Fsecret",
        "/run/%2e%2e/secret",
        "/run/..",
        "/run/first%2F..%2F..%2Fsecret",
        "/run/first/../../secret",
        "/run/",
        "/run/%00",
        "/run/%ff",
        "/compare?run=first&run=..%2Fsecret",
        "/secret",
        "//run/first",
    ] {
        assert_eq!(viewed.get(path).status, 404, "{path}");
    }
}

#[test]
fn a_token_is_asked_for_and_becomes_a_cookie() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("--token s3cret");
    let ask = |path: &str, header: &str| {
        ask(viewed.address(), &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{header}"), "")
    };
    for path in ["/", "/run/first", "/events", "/?token=wrong", "/run/first?token=s3cret"] {
        let reply = ask(path, "");
        assert_eq!(reply.status, 401, "{path}");
        assert!(!reply.body.contains("/run/"), "{path}");
    }
    assert_eq!(ask("/", "authorization: Bearer s3cret\r\n").status, 200);
    let reply = ask("/?token=s3cret", "");
    assert_eq!((reply.status, reply.header("location")), (303, "/"));
    let cookie = reply.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let own = cookie.split(';').next().expect("a pair");
    assert!(!own.contains("s3cret"), "{own}");
    assert_eq!(ask("/run/first", &format!("cookie: {own}\r\n")).status, 200);
    assert_eq!(ask("/", "cookie: juror_view=0\r\n").status, 401);
}

#[test]
fn heads_and_methods_have_limits() {
    let stage = Stage::new();
    let viewed = stage.view("");
    let long = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n", "x".repeat(100_000));
    let reply = std::panic::catch_unwind(|| ask(viewed.address(), &long, "").status);
    assert_ne!(reply.ok(), Some(200));
    let delete = "DELETE /run/x HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\n";
    assert_eq!(ask(viewed.address(), delete, "").status, 405);
    assert_eq!(viewed.get("/").status, 200, "others are still answered");
}

#[test]
fn anybody_may_ask_whether_the_viewer_is_up() {
    let stage = Stage::with_two_runs();
    let viewed = stage.view("--token s3cret");
    let reply = viewed.get("/health");
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"));
    assert!(!reply.body.contains("first"), "nothing of runs: {}", reply.body);
    let foreign = ask(viewed.address(), "GET /health HTTP/1.1\r\nhost: evil.example\r\n", "");
    assert_eq!(foreign.status, 403);
    assert_eq!(viewed.get("/health/").status, 401);
    let address = viewed.address().to_owned();
    let ended = stage.run(&format!("health http://{address}"));
    assert_eq!((ended.code, ended.stdout.trim()), (0, &*reply.body), "{ended:?}");
    viewed.stop();
    let ended = stage.run(&format!("health http://{address}"));
    assert_eq!((ended.code, &*ended.stdout), (3, ""), "{ended:?}");
    assert!(ended.stderr.contains(&format!("http://{address} does not answer")), "{ended:?}");
}
