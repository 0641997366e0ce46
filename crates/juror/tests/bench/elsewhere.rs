//! Runs whose tools another process serves.

use std::io::{Read, Write};
use std::net::TcpStream;

use juror_scripted::{Script, Server};
use juror_testing::Serving;

use crate::stage::{Stage, agent};

/// How many runs a server has not forgotten.
fn n_runs(served: &Serving) -> String {
    let place = &served.address;
    let mut stream = TcpStream::connect(place).expect("the server");
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {place}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    let line = reply.lines().find_map(|line| line.strip_prefix("juror_open_runs "));
    line.expect("a count of runs").to_owned()
}

#[test]
fn a_server_that_refuses_says_why() {
    let stage = Stage::new();
    let agent = agent(&stage, "say(task, final_answer='x')");
    let served = stage.serve();
    // A name that leads to the server, which does not know it.
    let url = served.url();
    let through = [("HTTP_PROXY", &*url)];
    let options = "--judge none --limit 1 --server http://juror.example:8080";
    let refused = stage.bench_with(&agent, options, &through);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let why = "http://juror.example:8080: no tools are served here: the server answers with status 403: The host `juror.example:8080` is not known here (--allow-host)";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    let hint = "hint: start `juror serve` with --allow-host and the host of --server";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    assert!(!refused.stderr.contains("start `juror serve` first"), "{}", refused.stderr);

    let served = stage.serve_with("--allow-host juror.example");
    let url = served.url();
    let through = [("HTTP_PROXY", &*url)];
    let ended = stage.bench_with(&agent, options, &through);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn a_server_elsewhere_forgets_a_run_that_is_over() {
    let stage = Stage::new();
    let served = stage.serve();
    let options = format!("--judge none --fresh --server {}", served.url());
    let body = "call(task, 'Weather', 'garden_weather', 'current', garden='Thornfold')\n\
        say(task, final_answer='x')";
    let ended = stage.bench(&agent(&stage, body), &options);
    assert_eq!((ended.code, &n_runs(&served)[..]), (0, "0"), "{}", ended.stderr);
    // The agent cannot be started, or its model cannot be asked.
    let ended = stage.bench("command:false", &options);
    assert_eq!((ended.code, &n_runs(&served)[..]), (2, "0"), "{}", ended.stderr);
    let model = Server::start(Script { key: Some("another".into()), ..Script::default() });
    let address = format!("{}/v1", model.address());
    let variables = [("OPENAI_API_KEY", "sk-x"), ("OPENAI_BASE_URL", address.as_str())];
    let ended = stage.bench_with("chat", &format!("{options} --pool own"), &variables);
    assert!(ended.stderr.contains("stopped: "), "{}", ended.stderr);
    assert_eq!((ended.code, &n_runs(&served)[..]), (3, "0"), "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn a_server_elsewhere_forgets_a_run_that_is_interrupted() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let stage = Stage::new();
    let served = stage.serve();
    let waits = agent(&stage, "print('asked', file=sys.stderr, flush=True)\ntime.sleep(300)");
    let options = format!("--judge none --server {}", served.url());
    let mut command = stage.command(&waits, &options);
    let mut juror = command.stderr(Stdio::piped()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    assert!(said.any(|line| line.is_ok_and(|line| line == "asked")));
    assert_eq!(n_runs(&served), "1");
    let sent = Command::new("kill").args(["-INT", &juror.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    assert_eq!(juror.wait().expect("ended").code(), Some(3), "{rest:?}");
    assert_eq!(n_runs(&served), "0");
}

#[test]
fn a_call_that_a_limit_refuses_is_told_as_failed() {
    let stage = Stage::new();
    // As long as it is known and as long as it is kept, the call does not fit into one megabyte.
    let body = "import urllib.error\n\
        try: call(task, 'Weather', 'garden_weather', 'current', garden='x' * 600_000)\n\
        except urllib.error.HTTPError as error: open('status.txt', 'w').write(str(error.code))\n\
        say(task, final_answer='x')";
    let agent = agent(&stage, body);
    let ended = stage.bench(&agent, "--judge none --limit 1 --in-flight 1");
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    let told = "1 of 1 calls got no reply because the source of replies failed: 1 MB of calls are on their way (--in-flight)";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(stage.path("status.txt")).expect("a status"), "503");
    let failed = &stage.results()["juror"]["failed_calls"];
    assert_eq!(failed["1 MB of calls are on their way (--in-flight)"], 1, "{failed}");
    let roomy = stage.bench(&agent, "--judge none --limit 1 --fresh");
    assert_eq!(roomy.code, 0, "{}", roomy.stderr);
}
