//! Documents and examples that are made from the code, kept equal to it; blocks of documents, run as
//! they are written; and links.
//!
//! `JUROR_BLESS=1 cargo test -p juror --test docs` writes what is made anew.

mod block;
mod commands;
mod links;
mod metrics;
mod page;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::Mutex;

use juror_scripted::{Script, Server};
use juror_testing::project;
use serde_json::Value;

use self::block::{Block, Fate, Note};
use self::page::{Reader, compare, parse, schema};

#[test]
fn the_page_of_metrics_is_fresh() {
    check("docs/metrics.md", &metrics::page());
}

#[test]
fn the_page_of_settings_is_fresh() {
    check("docs/settings.md", &settings::page(&schema("settings")));
}

#[test]
fn the_page_of_commands_is_fresh() {
    check("docs/commands.md", &commands::page());
}

/// Calls are known by what is asked in them, so a prompt that changes makes the replies stale.
#[test]
fn the_recorded_replies_of_the_example_are_fresh() {
    let script = fs::read_to_string(project("examples/verdicts.json")).expect("verdicts");
    let script: Script = serde_json::from_str(&script).expect("verdicts are a script");
    let n_generated = script.replies["generated_question"].len();
    let server = Server::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    // The server stands in for the provider's own models, by their own address.
    let settings = fs::read_to_string(project("examples/juror.yaml")).expect("settings");
    let provider = "    provider: openai\n";
    let settings = settings.replace(provider, &format!("{provider}    gateway: true\n"));
    fs::write(folder.path().join("juror.yaml"), settings).expect("written");
    let run = |line: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(line.split(' ').map(|word| match word.strip_prefix('@') {
                Some(name) => project("examples").join(name),
                None => word.into(),
            }))
            .current_dir(folder.path())
            .env_clear()
            .env("OPENAI_API_KEY", "sk-scripted")
            .env("OPENAI_BASE_URL", format!("{}/v1", server.address()))
            .output()
            .expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "juror {line}: {stderr}");
        String::from_utf8(output.stdout).expect("text")
    };
    // Questions are generated in the order of the script, so one call goes out at a time.
    let summary = run("eval @reference.yaml @responses.jsonl -c juror.yaml --cache kept \
         --cache-mode read-write --concurrency 1 --json");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    let calls = summary["calls"].as_array().expect("calls");
    let sent =
        |purpose: &str| &calls.iter().find(|row| row["purpose"] == purpose).expect("a row")["sent"];
    assert_eq!(*sent("generated_question"), n_generated, "the script lists as many as are asked");
    assert!(calls.iter().all(|row| row["failed"] == 0), "{calls:?}");
    let replies = run("cache export - --cache kept");
    let automatic: Vec<&str> = replies.lines().filter(|line| line.contains("automatic")).collect();
    assert!(automatic.is_empty(), "examples/verdicts.json lacks these: {automatic:#?}");
    check("examples/replies.jsonl", &replies);
}

/// How many blocks nothing runs, each with its reason: one more deserves a second look.
const N_NOT_RUN: usize = 79;

/// Names every block that nothing runs, with the reason.
#[test]
#[expect(clippy::print_stderr, reason = "a list for people who ask for it")]
fn every_block_is_run_or_says_why_not() {
    let mut counts: BTreeMap<Fate, usize> = BTreeMap::new();
    for name in links::documents() {
        let blocks = blocks_of(&name);
        for (at, block) in blocks.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &blocks[at]);
            let fate = block.fate(before);
            let fate =
                fate.unwrap_or_else(|| panic!("{block}: neither run nor marked: see block.rs"));
            *counts.entry(fate).or_default() += 1;
            if let Note::NoRun(reason) = &block.note {
                eprintln!("{block}: {reason}");
            }
            if let Some(test) = block.other_test() {
                let test = fs::read_to_string(project(test)).expect("the test is there");
                assert!(test.contains(&name), "{block}: its test does not name the page");
            }
        }
    }
    eprintln!("{counts:?}");
    assert_eq!(counts[&Fate::NotRun], N_NOT_RUN, "{counts:?}");
}

/// Each page has a folder of its own, with what its readers have.
#[test]
fn pages_run_as_they_are_written() {
    let pages = links::documents();
    let only = std::env::var("JUROR_PAGE").ok();
    let pages = pages.into_iter().filter(|page| only.as_ref().is_none_or(|only| only == page));
    let waiting = Mutex::new(pages);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let page = waiting.lock().expect("no page panics here").next();
                    let Some(page) = page else { return };
                    let blocks = blocks_of(&page);
                    if blocks.is_empty() {
                        continue;
                    }
                    run_page(&mut Reader::of(&blocks), &blocks.iter().collect::<Vec<_>>());
                }
            });
        }
    });
}

/// The page about comparing agents begins with variables that name the data of `StableToolBench`.
#[test]
fn agents_are_compared_where_data_lies_as_it_is_published() {
    let blocks = blocks_of("docs/comparing-agents.md");
    let on_example = |block: &&Block| block.text.contains("=try/queries.json");
    let published: Vec<&Block> = blocks.iter().filter(|block| !on_example(block)).collect();
    let mut reader = Reader::without_files();
    for (from, to) in [
        ("examples/queries.json", "solvable_queries/test_instruction/G1_instruction.json"),
        ("examples/tools", "server/tools"),
        ("examples/tool_cache", "server/tool_response_cache"),
    ] {
        reader.copy(from, &format!("StableToolBench/{to}"));
    }
    reader.run(&published);
}

#[test]
fn links_lead_somewhere() {
    let documents = links::documents();
    let broken: Vec<String> = documents.iter().flat_map(|name| links::broken(name)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_summary_of_the_site_names_every_page() {
    let summary = fs::read_to_string(project("docs/SUMMARY.md")).expect("the summary");
    let named: BTreeSet<String> = links::targets(&summary).into_iter().collect();
    let left_out: Vec<String> = links::documents()
        .into_iter()
        .filter_map(|name| match name.strip_prefix("docs/") {
            Some("SUMMARY.md") => None,
            Some(name) => Some(name.to_owned()),
            None => Some(format!("../{name}")),
        })
        .filter(|name| !named.contains(name))
        .collect();
    assert_eq!(left_out, [""; 0]);
}

/// Runs a page, and compares what is printed with what it shows.
fn run_page(reader: &mut Reader, blocks: &[&Block]) {
    let outputs = reader.run(blocks);
    for (at, block) in blocks.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| blocks[at]);
        match block.fate(before) {
            Some(Fate::Run) if block.language == "console" => compare(block, &outputs[at]),
            Some(Fate::Compared) if block.note == Note::Nothing => compare(block, &outputs[at - 1]),
            Some(Fate::Compared) => compare(block, &outputs[at]),
            Some(Fate::Read) => parse(block),
            _ => {}
        }
    }
}

fn blocks_of(name: &str) -> Vec<Block> {
    Block::all(name, &fs::read_to_string(project(name)).expect("the page"))
}

/// Compares a file of the project with what it should hold, or writes it anew.
fn check(name: &str, text: &str) {
    let path = project(name);
    if std::env::var_os("JUROR_BLESS").is_some() {
        fs::write(&path, text).expect("the project is writable");
    }
    let written = fs::read_to_string(&path).expect("the file is there");
    assert!(written == text, "{name} is stale: run with JUROR_BLESS=1");
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
