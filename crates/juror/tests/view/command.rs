//! The command: what it says, and what it refuses.

use std::net::TcpListener;

use crate::stage::Stage;

#[test]
fn the_help_names_every_option() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.run("view --help").stdout);
}

#[test]
fn what_cannot_be_served_is_said_with_a_hint() {
    let stage = Stage::new();
    stage.write("file", "");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    for (line, code, part) in [
        ("view nowhere".to_owned(), 2, "hint: name the folder of runs"),
        ("view file".to_owned(), 2, "hint: name the folder of runs"),
        (format!("view runs --port {port}"), 3, "hint: choose another port with --port"),
        ("view runs --host 0.0.0.0".to_owned(), 2, "hint: ask for a token with --token"),
        ("view runs --token=".to_owned(), 2, "the token is empty"),
        ("view runs --host example.com".to_owned(), 2, "an IP address is needed"),
    ] {
        let ended = stage.run(&line);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{line}: {ended:?}");
        assert!(ended.stderr.contains(part), "{line}: {}", ended.stderr);
    }
}

#[test]
fn the_usual_folder_is_shown_if_none_is_named() {
    let stage = Stage::with_two_runs();
    let mut command = stage.command("view --port 0");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("juror starts");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("its output");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).expect("a line");
    child.kill().expect("killed");
    let ended = child.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(line.starts_with("http://127.0.0.1:"), "{line}");
    assert!(said.starts_with("runs · 2 runs\nshowing them at http://127.0.0.1:"), "{said}");
}
