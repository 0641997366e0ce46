//! Documents and examples that are made from the code, kept equal to it; and commands of documents,
//! run as they are written.
//!
//! `JUROR_BLESS=1 cargo test -p juror --test docs` writes them anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use juror_score::{Better, Level, METRICS, Unit};
use juror_scripted::{Script, Server};
use serde_json::Value;

const INTRODUCTION: &str = "\
# Metrics

<!-- Made from the metric table in crates/juror-score/src/metric.rs: edit that, then run
     JUROR_BLESS=1 cargo test -p juror --test docs -->

Each metric is a key in the results. The aggregates have its statistics (sum, mean, median, min, max)
under the same key, per template and over all questions (`micro`); `macro` has the mean of the
templates' means. A question without the metric does not count. Metrics of a step are in the
retrieval step they describe.

A metric that applies and could not be computed is written as `<name>_error` with the reason; one
that does not apply is left out. A model judges `answer_*`, `retrieval_answer_*`, and by the rules
of profile 6 `retrieval_context_*`: [models.md](models.md) says what it is asked, and when. It does not
judge `answer_exact_match`, `answer_token_f1`, `answer_rouge_l` and `answer_mention_recall`, which are
computed if settings ask for them and measure [overlap, not
correctness](models.md#no-key-a-first-measure).
";

const OF_ATTEMPTS: &str = "
These are metrics of [`juror bench`](benchmark.md) and [`juror judge`](judging-agents.md), not of
`juror eval`. A result of a benchmark has `sopr_score`, `api_call_score`, `api_call_precision` and
`other_calls` under `scores`, `answer_status` (as a word) and `has_finish` under `evaluation`, and the
times under `timing`. Under `juror` a result file adds up tokens and costs: `agent_tokens`,
`agent_usd`, and of `sopr_score_cost` `judge_usd`. `juror judge final-answer` gives
`final_answer_rate`. [judging-agents.md](judging-agents.md) says how each is found.
";

#[test]
fn the_page_of_metrics_is_fresh() {
    check("docs/metrics.md", &metrics_page());
}

/// Calls are known by what is asked in them, so a prompt that changes makes the replies stale.
#[test]
fn the_recorded_replies_of_the_example_are_fresh() {
    let script = std::fs::read_to_string(project("examples/verdicts.json")).expect("verdicts");
    let script: Script = serde_json::from_str(&script).expect("verdicts are a script");
    let n_generated = script.replies["generated_question"].len();
    let server = Server::start(script);
    let folder = tempfile::tempdir().expect("a folder");
    // The server stands in for the provider's own models, by their own address.
    let settings = std::fs::read_to_string(project("examples/juror.yaml")).expect("settings");
    let provider = "    provider: openai\n";
    let settings = settings.replace(provider, &format!("{provider}    gateway: true\n"));
    std::fs::write(folder.path().join("juror.yaml"), settings).expect("written");
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

/// What models say while the commands of a page run.
const SCRIPT: &str = include_str!("comparing_agents.json");

#[test]
fn the_page_about_comparing_agents_runs_as_it_is_written() {
    let page = std::fs::read_to_string(project("docs/comparing-agents.md")).expect("the page");
    let blocks = blocks(&page);
    let shown = blocks.iter().filter(|(kind, _)| *kind == "text").count();
    let n_compared = compare_blocks(&blocks, &run_blocks(&blocks, &[]));
    assert_eq!(n_compared, shown - 1, "all but the protocol is compared");
    // The same where data lies as StableToolBench has it.
    let on_example = |text: &str| text.contains("=try/queries.json");
    let published: Vec<_> = blocks.into_iter().filter(|(_, text)| !on_example(text)).collect();
    let files = [
        ("examples/queries.json", "solvable_queries/test_instruction/G1_instruction.json"),
        ("examples/tools", "server/tools"),
        ("examples/tool_cache", "server/tool_response_cache"),
    ];
    run_blocks(&published, &files);
}

#[test]
fn the_page_about_comparing_runs_runs_as_it_is_written() {
    run_page("docs/comparing-runs.md");
}

#[test]
fn the_page_about_calibration_runs_as_it_is_written() {
    run_page("docs/calibration.md");
}

#[test]
fn the_page_about_planning_runs_as_it_is_written() {
    run_page("docs/planning.md");
}

#[test]
fn the_page_on_references_does_what_it_says() {
    run_page("docs/references.md");
}

/// Runs the commands of a page, and compares what they print with what the page shows.
fn run_page(name: &str) {
    let page = std::fs::read_to_string(project(name)).expect("the page");
    let blocks = blocks(&page);
    let n_shown = blocks.iter().filter(|(kind, _)| *kind == "text").count();
    assert_eq!(compare_blocks(&blocks, &run_blocks(&blocks, &[])), n_shown);
}

/// Checks that the lines of each block of text were printed by the block before it, and returns how
/// many blocks were checked.
fn compare_blocks(blocks: &[(&str, &str)], outputs: &[Option<String>]) -> usize {
    let mut n_compared = 0;
    for pair in blocks.windows(2).zip(outputs) {
        let ([(_, _), ("text", text)], Some(output)) = pair else { continue };
        n_compared += 1;
        let output: Vec<String> = output.lines().map(timeless).collect();
        for line in text.lines() {
            assert!(output.contains(&timeless(line)), "`{line}` is not in\n{}", output.join("\n"));
        }
    }
    n_compared
}

/// A line without how long something took.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| word.trim_start_matches('±').parse::<f64>().is_ok();
    // A time may be followed by half of its interval.
    let is_time = |at: usize| {
        let mut rest = words[at..].iter();
        rest.next().is_some_and(|word| is_number(word))
            && rest.find(|word| !word.starts_with('±')) == Some(&"s")
    };
    let shown = (0..words.len()).map(|at| if is_time(at) { "…" } else { words[at] });
    shown.collect::<Vec<_>>().join(" ")
}

/// The blocks of code of a page, in order, with their kinds.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let parts = page.split("```").skip(1).step_by(2);
    parts.filter_map(|part| part.split_once('\n')).collect()
}

/// Runs the blocks of a shell, one after another in one shell, and returns what each printed.
fn run_blocks(blocks: &[(&str, &str)], files: &[(&str, &str)]) -> Vec<Option<String>> {
    const MARK: &str = "@@ the next block\n";
    let server = Server::start(serde_json::from_str(SCRIPT).expect("a script"));
    let folder = tempfile::tempdir().expect("a folder");
    for (from, to) in files {
        let to = folder.path().join("StableToolBench").join(to);
        copy(&project(from), &to);
    }
    let commands: Vec<&str> =
        blocks.iter().filter(|(kind, _)| *kind == "sh").map(|(_, text)| *text).collect();
    let script = commands.join(&format!("printf %s '{MARK}'\n"));
    let own = Path::new(env!("CARGO_BIN_EXE_juror")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", format!("{}:{path}", own.display()))
        .env("OPENAI_API_KEY", "sk-scripted")
        .env("OPENAI_BASE_URL", format!("{}/v1", server.address()))
        .output()
        .expect("a shell");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{stdout}{stderr}");
    let mut printed = stdout.split(MARK).map(str::to_owned);
    blocks.iter().map(|(kind, _)| (*kind == "sh").then(|| printed.next()).flatten()).collect()
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
        return;
    }
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
    std::fs::copy(from, to).expect("copied");
}

/// Compares a file of the project with what it should hold, or writes it anew.
fn check(name: &str, text: &str) {
    let path = project(name);
    if std::env::var_os("JUROR_BLESS").is_some() {
        std::fs::write(&path, text).expect("the project is writable");
    }
    let written = std::fs::read_to_string(&path).expect("the file is there");
    assert!(written == text, "{name} is stale: run with JUROR_BLESS=1");
}

fn project(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn metrics_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let sections = [
        (Level::Question, "Of a question", ""),
        (Level::Step, "Of a retrieval step", ""),
        (Level::Attempt, "Of an agent's attempt at a query", OF_ATTEMPTS),
    ];
    for (level, title, about) in sections {
        let _ = write!(page, "\n## {title}\n{about}");
        for metric in METRICS.iter().filter(|metric| metric.level == level) {
            let range = match metric.unit {
                Unit::Fraction => "0 to 1",
                Unit::Cosine => "-1 to 1",
                Unit::Tokens => "tokens, 0 or more",
                Unit::Seconds => "seconds, 0 or more",
                Unit::Dollars => "US dollars, 0 or more",
                Unit::Count => "a count, 0 or more",
            };
            let better = match metric.better {
                Better::Higher => "higher is better",
                Better::Lower => "lower is better",
            };
            let _ = write!(
                page,
                "\n### `{}`\n\n{}.\n\n- Formula: {}\n- Range: {range}; {better}\n- Example: {}\n",
                metric.name,
                sentence(metric.means),
                metric.formula,
                metric.example,
            );
        }
    }
    page
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}
