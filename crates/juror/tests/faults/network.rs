//! Networks that cut, delay and garble: between Juror and a model, an agent and its tools, Juror and a
//! database.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use juror_scripted::{Script, Server};
use juror_testing::{Ended, Mishap, Postgres, Proxy};
use serde_json::json;

use crate::eval::Outcome;
use crate::points::is_thorough;
use crate::serve;
use crate::stage::{CONCURRENCY, N_QUESTIONS, Stage};

const COMMAND: &str = "eval reference.json responses.jsonl -c juror.yaml --run run --cache cache \
     -o out.jsonl -a totals.json --timeout 2 -q";

fn address_of(server: &Server) -> String {
    server.address().replace("http://", "")
}

/// Judges with a model that is reached through a proxy.
fn judge_through(stage: &Stage, proxy: &Proxy) -> Ended {
    judge_with(stage, proxy, "")
}

fn judge_with(stage: &Stage, proxy: &Proxy, options: &str) -> Ended {
    let mut command = stage.command(&format!("{COMMAND} {options}"));
    Ended::of(command.env("OPENAI_BASE_URL", format!("http://{}/v1", proxy.address())))
}

/// What happens to a connection: to what is sent, and to what is replied.
fn mishaps() -> Vec<[Mishap; 2]> {
    let replied = [
        Mishap::Cut(0),
        Mishap::Cut(30),
        Mishap::Cut(250),
        Mishap::Garble(0),
        Mishap::Garble(200),
        Mishap::Delay(Duration::from_millis(20)),
        Mishap::Silence(100),
    ];
    let sent = [Mishap::Cut(0), Mishap::Cut(100), Mishap::Garble(0), Mishap::Garble(300)];
    let mut all: Vec<_> = replied.map(|mishap| [Mishap::None, mishap]).to_vec();
    all.extend(sent.map(|mishap| [mishap, Mishap::None]));
    if is_thorough() {
        let more = (1..60).flat_map(|n| [Mishap::Cut(n * 20), Mishap::Garble(n * 20)]);
        all.extend(more.flat_map(|mishap| [[mishap, Mishap::None], [Mishap::None, mishap]]));
    }
    all
}

#[test]
fn a_model_behind_a_broken_network_is_asked_again() {
    let stage = Stage::new();
    assert_eq!(judge_through(&stage, &clean(&stage)).code, 0);
    let whole = Outcome::of(&stage);
    for mishap in mishaps() {
        let stage = Stage::new();
        let first_only = move |number: usize| if number == 1 { mishap } else { [Mishap::None; 2] };
        let proxy = Proxy::start(&address_of(&stage.model), first_only);
        let mut ended = judge_through(&stage, &proxy);
        // A server that refuses what arrived is not asked again at once.
        if matches!(mishap[0], Mishap::Garble(_)) && ended.code == 3 {
            assert!(ended.stderr.contains("the model refuses the request"), "{mishap:?}: {ended}");
            ended = judge_with(&stage, &proxy, "--retry-errors");
        }
        assert_eq!(ended.code, 0, "{mishap:?}: {ended}");
        assert_eq!(Outcome::of(&stage), whole, "{mishap:?}");
        assert_eq!(stage.n_kept("cache"), N_QUESTIONS, "{mishap:?}");
    }
}

fn clean(stage: &Stage) -> Proxy {
    Proxy::start(&address_of(&stage.model), |_| [Mishap::None; 2])
}

#[test]
fn a_network_that_stays_broken_ends_the_run_which_is_resumed() {
    for mishap in [Mishap::Cut(0), Mishap::Cut(100), Mishap::Garble(0)] {
        let stage = Stage::new();
        let is_broken = Arc::new(AtomicBool::new(true));
        let own = Arc::clone(&is_broken);
        let now = move || if own.load(Ordering::Acquire) { mishap } else { Mishap::None };
        let proxy = Proxy::start(&address_of(&stage.model), move |_| [Mishap::None, now()]);
        let settings =
            crate::stage::SETTINGS.replace("concurrency: 2", "concurrency: 2, retries: 1");
        stage.write("juror.yaml", &settings);
        let ended = judge_through(&stage, &proxy);
        assert_eq!(ended.code, 3, "{mishap:?}: {ended}");
        assert!(ended.stderr.contains(&proxy.address()), "{mishap:?}: {ended}");
        stage.check_files();
        is_broken.store(false, Ordering::Release);
        let again = judge_with(&stage, &proxy, "--retry-errors");
        assert_eq!(again.code, 0, "{mishap:?}: {ended}\n{again}");
        assert_eq!(stage.n_kept("cache"), N_QUESTIONS);
    }
}

#[test]
fn what_an_agent_did_not_receive_is_kept_for_when_it_asks_again() {
    let stage = serve::stage();
    let line = serve::command_line(&format!("{}/v1", stage.model.address()), "store");
    let serving = stage.serve(stage.command(&line)).expect("it serves");
    let mut received = Vec::new();
    for (number, mishap) in mishaps().into_iter().enumerate() {
        // A silent connection would only be waited for.
        if mishap.iter().any(|own| matches!(own, Mishap::Silence(_))) {
            continue;
        }
        let proxy = Proxy::start(&serving.address, move |_| mishap);
        received.extend(serve::call(&proxy.address(), number).map(|reply| (number, mishap, reply)));
    }
    // What was garbled on its way to the server is another request, or none.
    for (number, mishap, reply) in received.iter().filter(|(_, [sent, _], _)| *sent == Mishap::None)
    {
        let again = serve::call(&serving.address, *number).expect("a reply");
        let is_garbled = matches!(mishap[1], Mishap::Garble(_));
        assert!(is_garbled || again.body == reply.body, "{mishap:?}: {reply:?}, then {again:?}");
    }
    drop(serving);
    let n_asked = stage.model.seen().len();
    let again = stage.serve(stage.command(&line)).expect("it serves again");
    for (number, mishap) in mishaps().into_iter().enumerate() {
        let is_whole = mishap[0] == Mishap::None && !matches!(mishap[1], Mishap::Silence(_));
        if is_whole {
            assert_eq!(serve::call(&again.address, number).expect("a reply").status, 200);
        }
    }
    assert_eq!(stage.model.seen().len(), n_asked, "what was made for an agent is kept");
}

#[test]
fn a_reply_for_an_agent_that_is_gone_is_bought_once() {
    let mut stage = serve::stage();
    let slow: Script = serde_json::from_value(json!({"latency_ms": 100})).expect("a script");
    stage.model = Server::start(slow);
    let line = serve::command_line(&format!("{}/v1", stage.model.address()), "store");
    let serving = stage.serve(stage.command(&line)).expect("it serves");
    for number in 0..5 {
        let mut stream = TcpStream::connect(&serving.address).expect("a connection");
        let body = serve::body(number);
        let head = format!(
            "POST /virtual HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        while stage.model.seen().len() <= number {
            std::thread::yield_now();
        }
        drop(stream);
        let reply = serve::call(&serving.address, number).expect("a reply");
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(stage.model.seen().len(), number + 1, "the first request was not in vain");
    }
}

/// Judges with replies and a run in a database that is reached through a proxy.
fn judge_in(stage: &Stage, place: &str) -> Ended {
    let line = "eval reference.json responses.jsonl -c juror.yaml -o out.jsonl -a totals.json -q";
    let mut command = stage.command(line);
    Ended::of(command.args(["--cache", place, "--run", &format!("{place}&run=one")]))
}

#[test]
fn a_database_behind_a_broken_network_loses_nothing() {
    let Some(database) = Postgres::shared() else { return };
    let direct = database.address_with_password(database.password());
    let at = |port: &str, schema: &str| {
        let address = direct.replace(&format!(":{}/", database.port()), &format!(":{port}/"));
        address.replace("schema=tcp", &format!("schema={schema}"))
    };
    let (own_port, server) =
        (database.port().to_string(), format!("127.0.0.1:{}", database.port()));
    let stage = Stage::new();
    let ended = judge_in(&stage, &at(&own_port, "faults_whole"));
    assert_eq!(ended.code, 0, "{ended}");
    let whole = Outcome::of(&stage);
    let counted = {
        let proxy = Proxy::start(&server, |_| [Mishap::None; 2]);
        let port = proxy.address().rsplit(':').next().expect("a port").to_owned();
        assert_eq!(judge_in(&Stage::new(), &at(&port, "faults_counted")).code, 0);
        (proxy.n_connections(), proxy.n_bytes())
    };
    let (n_connections, [n_sent, n_replied]) = counted;
    let n_places = if is_thorough() { 60 } else { 6 };
    for place in 0..n_places {
        // Cuts and garbles at places all over each connection, sent and replied in turn.
        let connection = 1 + place % n_connections;
        let share = |all: usize| all * (place + 1) / (n_places + 1) / n_connections.max(1);
        let mishap = match place % 6 {
            0 => [Mishap::Cut(share(n_sent)), Mishap::None],
            1 => [Mishap::None, Mishap::Cut(share(n_replied))],
            2 => [Mishap::None, Mishap::Silence(share(n_replied))],
            3 => [Mishap::Silence(share(n_sent)), Mishap::None],
            4 => [Mishap::None, Mishap::Garble(share(n_replied))],
            _ => [Mishap::Garble(share(n_sent)), Mishap::None],
        };
        let plan =
            move |number: usize| if number == connection { mishap } else { [Mishap::None; 2] };
        let proxy = Proxy::start(&server, plan);
        let port = proxy.address().rsplit(':').next().expect("a port").to_owned();
        let (stage, schema) = (Stage::new(), format!("faults_{place}"));
        let told = format!("{mishap:?} of connection {connection}");
        let hurried = at(&port, &schema) + "&patience=1&connect_timeout=3";
        let first = judge_in(&stage, &hurried);
        assert!([0, 3].contains(&first.code), "{told}: {first}");
        stage.check_files();
        let rows = format!("SELECT count(*) FROM {schema}.replies");
        let has_tables =
            !database.sql(&format!("SELECT to_regclass('{schema}.replies')")).is_empty();
        let n_kept = if has_tables { database.sql(&rows).parse().expect("a number") } else { 0 };
        let n_asked = stage.model.seen().len();
        assert!(n_kept + CONCURRENCY >= n_asked, "{told}: {n_kept} of {n_asked} are kept\n{first}");
        let again = judge_in(&stage, &at(&own_port, &schema));
        let is_finished = again.code == 2 && again.stderr.contains("this run is finished");
        assert!(again.code == 0 || is_finished, "{told}: {first}\n{again}");
        assert!(stage.model.seen().len() <= n_asked + N_QUESTIONS - n_kept, "{told}: bought again");
        assert_eq!(Outcome::of(&stage), whole, "{told}: {first}\n{again}");
    }
}
