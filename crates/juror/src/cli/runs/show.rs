//! `juror runs show`: one run, with what decided it, its files, and how to resume it.

use clap::Args;
use juror_bench::look_at_run;
use juror_pages::ScoredRun;
use juror_report::{RunMean, about_run_means, visible};
use juror_run::{Settings, rules_name};
use juror_runs::{Headline, Manifest, RunFile, RunKind, StoredRun, WorkTree, find_run};
use serde_json::{Map, Value, json};

use super::super::{boolish, count, quoted};
use super::PlaceArgs;
use super::list::shown;
use crate::exit::Exit;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  juror runs show runs/monday
  juror runs show b71c2e              by the first characters of its id, among the runs kept here
  juror runs show main --json";

/// How many characters of a hash are shown.
const HASH_WIDTH: usize = 12;

/// Show one run: what decided it, its files, and how to resume it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// Folder or address of the run, or its name or id among the runs that are kept.
    #[arg(value_name = "RUN")]
    run: String,

    #[command(flatten)]
    place: PlaceArgs,

    /// Print it as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,
}

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let run = find_run(&args.run, &args.place.root(None)?)?;
    run.fetch_all()?;
    let damage = damage_of(&run);
    if args.json {
        let json = serde_json::to_string_pretty(&in_json(&run, damage.as_ref()))?;
        output::print_data(&format!("{json}\n"))?;
    } else {
        output::print_quoting(&in_words(&run, damage))?;
    }
    Ok(Exit::Done)
}

/// Returns what is wrong with the files of a run, all of which are read.
fn damage_of(run: &StoredRun) -> Option<String> {
    let is_whole = run.manifest.is_complete && run.lacks().is_empty();
    if !is_whole || run.results_path().is_none() {
        return run.damage();
    }
    match ScoredRun::read(&run.folder.display().to_string(), &Settings::default().plan()) {
        Ok(scored) => scored.facts.damage,
        Err(_) => Some("results.jsonl cannot be read: `juror validate` says why".into()),
    }
}

fn state(run: &StoredRun, damage: Option<&String>) -> &'static str {
    if damage.is_some() { "damaged" } else { run.state() }
}

fn in_json(run: &StoredRun, damage: Option<&String>) -> Value {
    let size = |(file, bytes): (RunFile, u64)| (file.name().to_owned(), json!(bytes));
    let files: Map<String, Value> = run.files().into_iter().map(size).collect();
    let n_done = look_at_run(&run.folder).ok().flatten().map(|state| state.n_done);
    json!({"folder": run.place(), "state": state(run, damage), "damage": damage,
        "n_done": n_done, "files": files, "lacks": run.lacks(), "run": run.manifest})
}

fn in_words(run: &StoredRun, damage: Option<String>) -> String {
    let manifest = &run.manifest;
    let (name, id) = (visible(&manifest.name), manifest.short_id());
    let title =
        format!("{name} · {id} · {} · {}\n", manifest.kind.word(), state(run, damage.as_ref()));
    let rows = [
        ("folder", Some(run.place())),
        ("began", Some(times(manifest))),
        ("juror", Some(manifest.juror.clone())),
        ("command", Some(in_shell(&manifest.command)).filter(|line| !line.is_empty())),
        ("commit", manifest.work_tree.as_ref().map(commit)),
    ];
    let headline = run.headline();
    let means: Vec<RunMean> = headline.means.iter().map(shown).collect();
    let rows = rows.into_iter().chain(decided_by(manifest));
    let rows = rows.chain([("done", Some(done(run))), ("scores", scores(&means, &headline))]);
    let rows = rows.chain(about_run_means(&means).into_iter().map(|note| ("", Some(note))));
    let rows = rows.chain([
        ("files", Some(files(run))),
        ("damage", damage),
        ("unjudged", manifest.unjudged.as_ref().map(ToString::to_string)),
        ("lacks", lacks(run)),
        ("resume", (!manifest.is_complete).then(|| how_to_resume(manifest))),
    ]);
    let rows = rows.filter_map(|(name, text)| Some(format!("{name:<10}{}\n", text?)));
    format!("{title}\n{}", rows.collect::<String>())
}

fn times(manifest: &Manifest) -> String {
    let second = |time: &str| time.get(..19).unwrap_or(time).replacen('T', " ", 1);
    let ended = manifest.ended.as_ref();
    let ended = ended.map(|ended| format!(", ended {} UTC", second(ended)));
    format!("{} UTC{}", second(&manifest.began), ended.unwrap_or_default())
}

fn in_shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn commit(work_tree: &WorkTree) -> String {
    let changed = match work_tree.changed {
        Some(true) => ", with changes",
        Some(false) => "",
        None => ", perhaps with changes",
    };
    format!("{}{changed}", work_tree.commit)
}

/// Returns what decided the outcome, in short.
fn decided_by(manifest: &Manifest) -> Vec<(&'static str, Option<String>)> {
    let identity = &manifest.identity;
    let n = manifest.question_hashes().len();
    match manifest.kind {
        RunKind::Eval => vec![
            ("reference", input(&identity["reference"], (n > 0).then(|| questions(manifest, n)))),
            ("responses", input(&identity["responses"], None)),
            ("judge", Some(judges(manifest))),
            ("rules", manifest.rules().map(|rules| rules_name(rules).to_owned())),
        ],
        RunKind::Bench => {
            let text = |key: &str| identity[key].as_str().map(ToOwned::to_owned);
            let queries = if n == 1 { "query" } else { "queries" };
            vec![
                ("agent", text("agent")),
                ("method", text("method")),
                ("model", identity["model"]["model"].as_str().map(ToOwned::to_owned)),
                ("pool", text("pool")),
                ("queries", Some(format!("{n} {queries}"))),
                ("trials", identity["trials"].as_u64().map(|trials| trials.to_string())),
                ("tools", text("tools")),
                ("judge", Some(judge_of_agents(manifest))),
            ]
        }
    }
}

/// Returns how many questions were to be answered, and of how many if some were left out.
fn questions(manifest: &Manifest, n: usize) -> String {
    match manifest.identity["reference"]["left_out"].as_u64() {
        Some(n_left_out) => format!("{n} of {} questions", n as u64 + n_left_out),
        None => count(n, "question"),
    }
}

fn input(input: &Value, more: Option<String>) -> Option<String> {
    let (name, hash) = (input["name"].as_str()?, input["hash"].as_str()?);
    let hash = hash.get(..HASH_WIDTH).unwrap_or(hash);
    let more = more.map(|more| format!(", {more}")).unwrap_or_default();
    Some(format!("{name}{more}, {hash}"))
}

fn judges(manifest: &Manifest) -> String {
    let Some(judge) = manifest.judge() else { return "no model".into() };
    let model = |key: &str| judge[key]["model"].as_str().map(ToOwned::to_owned);
    let models: Vec<String> = [model("chat"), model("embedding")].into_iter().flatten().collect();
    let n_prompts = judge["prompts"].as_object().map_or(0, Map::len);
    format!("{}, {}", models.join(" and "), count(n_prompts, "prompt"))
}

fn judge_of_agents(manifest: &Manifest) -> String {
    let Some(judge) = manifest.judge() else { return "unknown".into() };
    let by = judge["model"].as_str().or(judge["method"].as_str()).unwrap_or("unknown").to_owned();
    match judge["repeats"].as_u64() {
        Some(repeats) if repeats > 1 => format!("{by}, {repeats} times"),
        _ => by,
    }
}

/// Returns how many items the journal has.
fn done(run: &StoredRun) -> String {
    let n_done = match look_at_run(&run.folder) {
        Ok(state) => state.map_or(0, |state| state.n_done),
        Err(error) => return error.problem(),
    };
    match run.manifest.kind {
        RunKind::Eval => format!("{} judged by models", count(n_done, "question")),
        RunKind::Bench => format!("{} at queries", count(n_done, "attempt")),
    }
}

fn scores(means: &[RunMean], headline: &Headline) -> Option<String> {
    let mean = |own: &RunMean| format!("{} {}", own.metric, own.text());
    let mut words: Vec<String> = means.iter().map(mean).collect();
    words.extend(headline.usd.map(|usd| format!("{usd:.4} USD")));
    (!words.is_empty()).then(|| words.join(" · "))
}

fn files(run: &StoredRun) -> String {
    let size = |(file, bytes): (RunFile, u64)| format!("{} {}", file.name(), in_bytes(bytes));
    run.files().into_iter().map(size).collect::<Vec<_>>().join(" · ")
}

fn in_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn lacks(run: &StoredRun) -> Option<String> {
    let lacks = run.lacks();
    let again = "to compare it, judge the same inputs again";
    (!lacks.is_empty())
        .then(|| format!("{}: an earlier release stored the run; {again}", lacks.join(", ")))
}

fn how_to_resume(manifest: &Manifest) -> String {
    if manifest.command.is_empty() {
        return "run what began it again".into();
    }
    let has_keys = manifest.command.iter().any(|word| word.contains("***"));
    let keys = if has_keys { ", with the keys in place of ***" } else { "" };
    format!("run the command again{keys}")
}
