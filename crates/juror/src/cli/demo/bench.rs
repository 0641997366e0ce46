//! `juror demo --bench`: benchmarks a scripted agent, all from inside the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command, FromArgMatches};
use serde_json::Value;

use super::super::bench::{self, BenchArgs};
use super::super::quoted;
use super::{put, scripted_agent, write_missing};
use crate::exit::{Exit, Outside};
use crate::output;

/// A file of the example: its path in the project, and in the folder it is written to.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../demo/", $name)))
    };
}

const FILES: [(&str, &str); 13] = [
    file!("queries.json"),
    file!("tools/Plants/plant_finder.json"),
    file!("tools/Travel/garden_visits.json"),
    file!("tools/Weather/garden_weather.json"),
    file!("tool_cache/Plants/plant_finder_for_Plants/search_by_name.json"),
    file!("tool_cache/Plants/plant_finder_for_Plants/where_it_grows.json"),
    file!("tool_cache/Travel/garden_visits_for_Travel/opening_hours.json"),
    file!("tool_cache/Travel/garden_visits_for_Travel/ticket_price.json"),
    file!("tool_cache/Weather/garden_weather_for_Weather/current.json"),
    file!("tool_cache/Weather/garden_weather_for_Weather/get_7_day_forecast.json"),
    file!("agents/baseline.py"),
    file!("agents/chat.py"),
    file!("agents/scripted.json"),
];

/// Printed first, so that nobody takes the agent for one with a model, or the guesses for verdicts.
const SCRIPTED: &str = "no model is asked: the agent follows a script, the tools reply from a \
    cache folder, and the heuristic guesses what is solved";

/// How many errors the script causes on purpose.
const N_ERRORS: u64 = 1;

/// Benchmarks the scripted agent; its files and the results stay in a folder of their own.
pub(super) fn run(program: &[OsString]) -> anyhow::Result<Exit> {
    let folder = new_folder()?;
    put(&folder, &FILES).map_err(|error| Outside(error.into()))?;
    let program: Vec<String> = program.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let words = words(&folder, &format!("command:{} demo --agent", program.join(" ")));
    output::print_note(SCRIPTED);
    output::print_note(&format!("juror {}\n", in_shell(&words)));
    let args = read(&words)?;
    let exit = bench::run(&args, [&["juror".to_owned()], &words[..]].concat())?;
    let results = std::fs::read(folder.join("results.json")).context("results.json")?;
    let results: Value = serde_json::from_slice(&results).context("results.json")?;
    output::print_data(&format!("\n{}", table(&results)?))?;
    if results["summary"]["error_count"] != N_ERRORS {
        return Ok(exit);
    }
    output::print_note("\n`juror bench` ends with exit code 3 where a query ended with an error.");
    output::print_note("Now try an agent that chooses by itself (it needs Python):");
    print_next(&folder);
    Ok(Exit::Done)
}

/// Writes the files without running an agent.
pub(super) fn write(folder: &Path) -> anyhow::Result<Exit> {
    let written = write_missing(folder, &FILES)?;
    output::print_note(&format!("{written}; try an agent (it needs Python) with"));
    print_next(folder);
    Ok(Exit::Done)
}

fn print_next(folder: &Path) {
    let script = folder.join("agents/baseline.py").display().to_string();
    let agent = format!("command:python3 {}", quoted(&script));
    let words = words(folder, &agent);
    output::print_note(&format!("  juror {}", in_shell(&words[..words.len() - KEPT_APART])));
}

/// How many arguments at the end say where the demo's own run is stored.
const KEPT_APART: usize = 8;

/// Returns the command line that benchmarks an agent.
fn words(folder: &Path, agent: &str) -> Vec<String> {
    let place = |name: &str| folder.join(name).display().to_string();
    let words = [
        "bench",
        "--queries",
        &place("queries.json"),
        "--tools",
        &place("tools"),
        "--cache",
        &place("tool_cache"),
        "--judge",
        "heuristic",
        "--agent",
        agent,
        "--name",
        "scripted",
        "--jobs",
        "1",
        "--run",
        &place("run"),
        "--output",
        &place("results.json"),
    ];
    words.map(str::to_owned).to_vec()
}

/// Quotes arguments for a shell, with two options per line.
fn in_shell(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let (command, options) = quoted.split_at(1);
    let lines = options.chunks(4).map(|line| line.join(" "));
    command.iter().cloned().chain(lines).collect::<Vec<_>>().join(" \\\n    ")
}

/// Parses the arguments of `juror bench`, ignoring options from the environment.
fn read(words: &[String]) -> anyhow::Result<BenchArgs> {
    let command = BenchArgs::augment_args(Command::new("bench")).mut_args(|arg| arg.env(None));
    Ok(BenchArgs::from_arg_matches(&command.try_get_matches_from(words)?)?)
}

/// Creates a new folder.
fn new_folder() -> anyhow::Result<PathBuf> {
    let place = std::env::temp_dir();
    for number in 0..1000 {
        let folder = place.join(format!("juror-demo-{}-{number}", std::process::id()));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let place = place.display().to_string();
                return Err(Outside(anyhow::Error::new(error).context(place)).into());
            }
        }
    }
    anyhow::bail!("{}: there are too many demos here", place.display())
}

/// Renders a table of the queries: the outcome of each, and what it shows.
fn table(results: &Value) -> anyhow::Result<String> {
    let script = scripted_agent::script()?;
    let row = |result: &Value| {
        let id = result["query_id"].to_string();
        let (scores, evaluation) = (&result["scores"], &result["evaluation"]);
        format!(
            "{id:<5}  {:<8}  {:>14.3}  {:>11}  {:<6}  {}\n",
            evaluation["answer_status"].as_str().unwrap_or_default(),
            scores["api_call_score"].as_f64().unwrap_or_default(),
            scores["other_calls"].as_u64().unwrap_or_default(),
            if evaluation["has_finish"] == true { "yes" } else { "no" },
            script.get(&id).map_or("", |part| &part.shows),
        )
    };
    let rows = results["results"].as_array().context("results")?.iter().map(row);
    let title = "query  status    API Call Score  other calls  Finish  what it shows\n".to_owned();
    Ok(std::iter::once(title).chain(rows).collect())
}
