//! `juror runs`: a list of runs.

use std::path::Path;

use clap::Args;
use juror_files::reason;
use juror_report::{RunMean, RunRow, runs_table};
use juror_runs::{
    Headline, HeadlineMean, RunReadError, StoredRun, shown as shown_root, stored_runs,
};
use juror_score::statistics::Interval;
use serde_json::{Map, Value, json};

use super::super::boolish;
use super::{PlaceArgs, minute};
use crate::exit::Exit;
use crate::output;

#[derive(Args)]
pub(super) struct ListArgs {
    /// Folder of runs, the folder of one run, or the address of a database.
    #[arg(value_name = "FOLDER")]
    folder: Option<String>,

    #[command(flatten)]
    place: PlaceArgs,

    /// Print the list as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,
}

pub(super) fn run(args: &ListArgs) -> anyhow::Result<Exit> {
    let root = args.place.root(args.folder.as_ref())?;
    let runs = readable(&root)?;
    if args.json {
        let list: Vec<Value> = runs.iter().map(in_json).collect();
        output::print_data(&format!("{}\n", serde_json::to_string_pretty(&list)?))?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        output::print_note(&format!("{}: there are no runs here", shown_root(&root).display()));
        return Ok(Exit::Done);
    }
    let rows: Vec<RunRow> = runs.iter().map(row).collect();
    output::print_data(&runs_table(&rows, output::palette()))?;
    for run in &runs {
        let unjudged = run.manifest.unjudged.as_ref().map(ToString::to_string);
        for problem in run.damage().into_iter().chain(unjudged) {
            output::warn(&format!("{}: {problem}", run.place()));
        }
    }
    Ok(Exit::Done)
}

/// Returns the runs in a folder, oldest first; warns of those that cannot be read.
pub(super) fn readable(root: &Path) -> anyhow::Result<Vec<StoredRun>> {
    let runs = stored_runs(root).map_err(|error| match error {
        RunReadError::Io { path, error } => anyhow::anyhow!(
            "{}: {}\n  hint: name the folder of runs, or keep a run with juror eval --run FOLDER",
            path.display(),
            reason(&error)
        ),
        other => other.into(),
    })?;
    let mut readable = Vec::new();
    for run in runs {
        match run {
            Ok(run) => readable.push(run),
            Err(error) => output::warn(&error.to_string()),
        }
    }
    Ok(readable)
}

fn row(run: &StoredRun) -> RunRow {
    let Headline { n, means, usd } = run.headline();
    RunRow {
        folder: run.place(),
        name: run.manifest.name.clone(),
        began: minute(&run.manifest.began),
        kind: run.manifest.kind.word(),
        n,
        means: means.iter().map(shown).collect(),
        usd,
        state: run.state(),
    }
}

/// Returns a mean as lists show it.
pub(super) fn shown(own: &HeadlineMean) -> RunMean {
    let HeadlineMean { metric, mean, interval, is_of_few } = *own;
    let interval = interval.map(|[low, high]| Interval { low, high });
    RunMean { metric, mean, interval, is_of_few }
}

fn in_json(run: &StoredRun) -> Value {
    let Headline { n, means, usd } = run.headline();
    let by_name = |value: fn(&HeadlineMean) -> Option<Value>| -> Map<String, Value> {
        means.iter().filter_map(|own| Some((own.metric.to_owned(), value(own)?))).collect()
    };
    let intervals = by_name(|own| own.interval.map(|interval| json!(interval)));
    let means = by_name(|own| Some(json!(own.mean)));
    let manifest = &run.manifest;
    json!({"folder": run.place(), "id": manifest.id, "name": manifest.name,
        "kind": manifest.kind, "began": manifest.began, "ended": manifest.ended,
        "state": run.state(), "damage": run.damage(), "unjudged": manifest.unjudged, "n": n, "means": means, "intervals": intervals, "usd": usd})
}
