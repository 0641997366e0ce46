//! Answers that are kept: a graph of the same version is not asked again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use juror_testing::{HttpReply, HttpServer};

use super::{Endpoint, Place, answer, changed_lines, example, query_of, without_one_triple};

const CHECK: &str = "reference check reference.yaml --graph graph.ttl";

/// A graph of which at most one triple may be loaded cannot be loaded.
const NOT_LOADED: &str = "--graph-triples 1";

const ALL_KNOWN: &str = "13 of 13 queries answered from the cache, .juror/graph\n";

impl Place {
    /// The files of kept answers.
    fn kept(&self) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(self.path(".juror/graph")).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

#[test]
fn a_graph_is_loaded_once_for_as_long_as_its_files_have_the_same_bytes() {
    let place = Place::with_example();
    let first = place.run(CHECK);
    assert!(first.code == 0 && !first.stderr.contains("cache"), "{first}");
    assert_eq!(place.run(&format!("{CHECK} {NOT_LOADED} --no-graph-cache")).code, 2);

    place.write("graph.ttl", &example("graph.ttl"));
    for line in [CHECK, &format!("{CHECK} {NOT_LOADED}")] {
        let again = place.run(line);
        assert_eq!((again.code, &*again.stdout), (0, &*first.stdout), "{again}");
        assert!(again.stderr.ends_with(ALL_KNOWN), "{again}");
    }
    let quiet = place.run(&format!("{CHECK} {NOT_LOADED} -q"));
    assert_eq!((quiet.code, quiet.stdout, quiet.stderr), (0, String::new(), String::new()));
    let json = format!("{CHECK} --json");
    assert_eq!(place.json(&json), place.json(&json), "times are those of the first check");

    place.write("graph.ttl", &without_one_triple());
    assert_eq!(place.run(&format!("{CHECK} {NOT_LOADED}")).code, 2);
    let moved = place.run(CHECK);
    assert!(moved.code == 1 && moved.stdout.ends_with("12 same, 1 changed\n"), "{moved}");
    assert!(!moved.stderr.contains("cache"), "{moved}");
    assert_eq!(place.kept().len(), 2);
}

#[test]
fn all_commands_that_ask_a_graph_share_what_is_known() {
    let place = Place::with_example();
    place.write("graph.ttl", &without_one_triple());
    let options = format!("--graph graph.ttl {NOT_LOADED}");
    let refresh = format!("reference refresh reference.yaml -o fresh.yaml {options}");
    let eval = format!("eval reference.yaml responses.jsonl --no-model {options}");
    assert_eq!(place.run(&refresh).code, 2);
    assert_eq!(place.run(&eval).code, 2);
    assert_eq!(place.run(CHECK).code, 1);
    for line in [refresh, eval] {
        let ended = place.run(&line);
        assert!(ended.code == 0 && ended.stderr.contains(ALL_KNOWN), "{line}: {ended}");
    }
    let changes = changed_lines(&place.read("reference.yaml"), &place.read("fresh.yaml"));
    assert!(changes.len() == 1 && changes[0].contains("cellar spleenwort"), "{changes:?}");

    // The query of another reference that is not known has the graph loaded.
    place.write("other.yaml", &place.read("fresh.yaml").replacen("SELECT ", "SELECT  ", 1));
    assert_eq!(place.run(&format!("reference check other.yaml {options}")).code, 2);
    let other = place.run("reference check other.yaml --graph graph.ttl");
    assert!(other.code == 0 && other.stderr.contains("12 of 13 queries"), "{other}");
    let again = place.run(&format!("reference check other.yaml {options}"));
    assert!(again.code == 0 && again.stderr.contains(ALL_KNOWN), "{again}");
    assert_eq!(place.kept().len(), 1);
}

#[test]
fn an_endpoint_is_asked_once_for_each_version_and_always_without_one() {
    let (place, endpoint) = (Place::with_example(), Endpoint::start(&example("graph.ttl")));
    let check = format!("reference check reference.yaml --graph {}", endpoint.url());
    let n_sent = |line: &str| {
        let before = endpoint.server.seen().len();
        let ended = place.run(line);
        assert_eq!(ended.code, 0, "{ended}");
        (endpoint.server.seen().len() - before, ended.stderr.contains(ALL_KNOWN))
    };
    assert_eq!(n_sent(&check), (13, false));
    assert_eq!(n_sent(&check), (13, false));
    assert!(!place.path(".juror").exists(), "nothing is kept without a version");
    let may = format!("{check} --graph-version 2026-05");
    assert_eq!(n_sent(&may), (13, false));
    assert_eq!(n_sent(&may), (0, true));
    assert_eq!(n_sent(&format!("{may} --no-graph-cache")), (13, false));
    assert_eq!(n_sent(&format!("{check} --graph-version 2026-06")), (13, false));

    let wrong = place.run(&format!("{CHECK} --graph-version 2026-05"));
    assert!(
        wrong.code == 2 && wrong.stderr.contains("--graph-version is for endpoints"),
        "{wrong}"
    );
}

#[test]
fn a_failure_is_not_kept_and_what_was_answered_beside_it_is() {
    let (place, is_down) = (Place::with_example(), Arc::new(AtomicBool::new(true)));
    let own = Arc::clone(&is_down);
    let server = HttpServer::start(move |request| {
        if own.load(Ordering::Relaxed) && query_of(request).contains("fern-vault") {
            return HttpReply::of(500, "text/plain", "out of memory");
        }
        answer(&example("graph.ttl"), request)
    });
    let url = server.url("/sparql");
    let check = format!("reference check reference.yaml --graph {url} --graph-version 1");
    let first = place.run(&check);
    assert!(first.code == 3 && first.stdout.contains(" fails\n"), "{first}");
    let n_failed = server.seen().iter().filter(|own| query_of(own).contains("fern-vault")).count();
    is_down.store(false, Ordering::Relaxed);
    let before = server.seen().len();
    let second = place.run(&check);
    assert!(second.code == 0 && second.stdout.ends_with("\n13 same\n"), "{second}");
    assert_eq!(server.seen().len() - before, n_failed);
    let told = format!("{} of 13 queries answered from the cache", 13 - n_failed);
    assert!(second.stderr.contains(&told), "{second}");
}

#[test]
fn what_is_no_longer_as_it_was_written_is_asked_for_again_with_a_word() {
    let place = Place::with_example();
    assert_eq!(place.run(CHECK).code, 0);
    let [file] = &place.kept()[..] else { panic!("one file") };
    let kept = std::fs::read_to_string(file).expect("answers");
    for bad in [kept.replace("frost", "hoar"), kept[..kept.len() / 2].into(), "foreign\n".into()] {
        std::fs::write(file, bad).expect("written");
        let told = place.run(CHECK);
        assert!(told.code == 0 && told.stdout.ends_with("\n13 same\n"), "{told}");
        assert!(told.stderr.contains("kept answers cannot be used"), "{told}");
        let again = place.run(&format!("{CHECK} {NOT_LOADED}"));
        assert!(again.code == 0 && again.stderr.ends_with(ALL_KNOWN), "{again}");
    }
    std::fs::write(file, "foreign\n").expect("written");
    let quiet = place.run(&format!("{CHECK} -q"));
    assert_eq!((quiet.code, quiet.stderr), (0, String::new()));
}

#[test]
fn a_folder_that_cannot_be_used_is_told_and_the_check_goes_on() {
    let place = Place::with_example();
    place.write(".juror", "a file");
    let ended = place.run(CHECK);
    assert!(ended.code == 0 && ended.stdout.ends_with("\n13 same\n"), "{ended}");
    assert!(ended.stderr.contains("answers cannot be kept"), "{ended}");
}
