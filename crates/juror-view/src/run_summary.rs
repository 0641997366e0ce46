//! What lists and histories know of a run, from its small files alone.

use std::collections::BTreeMap;
use std::path::Path;

use juror_run::scoring_rules;
use juror_runs::{Headline, HeadlineMean, RunFile, RunKind, RunReadError, StoredRun, short_hash};
use serde::{Deserialize, Deserializer};

/// The files that a summary is read from.
pub(crate) const FILES: [RunFile; 4] =
    [RunFile::Manifest, RunFile::Statistics, RunFile::Aggregates, RunFile::Results];

/// What is known of a run without reading its results.
#[derive(Debug)]
pub(crate) struct RunSummary {
    /// A hash of everything that decides the outcome.
    pub(crate) identity: String,
    pub(crate) name: String,
    pub(crate) kind: RunKind,
    pub(crate) began: String,
    pub(crate) is_complete: bool,
    /// Whether it is complete, and its files are not those that it wrote.
    pub(crate) is_damaged: bool,
    /// The number of questions or queries.
    pub(crate) n: Option<u64>,
    /// How many lines the journal has in the end: one for each answer.
    pub(crate) n_all: Option<u64>,
    /// The means of all metrics.
    pub(crate) means: BTreeMap<String, Mean>,
    pub(crate) usd: Option<f64>,
    /// What began it, to go on with it.
    pub(crate) command: Vec<String>,
    /// Runs can be compared if these are equal, as far as both are known.
    pub(crate) reference: Option<String>,
    pub(crate) rules: Option<String>,
    pub(crate) judge: Option<String>,
}

/// The mean of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct Mean {
    /// How many numbers it is of, if that is known.
    #[serde(default, rename = "n_scored")]
    pub(crate) n: Option<u64>,
    pub(crate) mean: f64,
    #[serde(default)]
    pub(crate) interval: Option<[f64; 2]>,
    /// Whether the interval is from few templates or queries.
    #[serde(default, rename = "caution", deserialize_with = "is_few")]
    pub(crate) is_of_few: bool,
}

fn is_few<'de, D: Deserializer<'de>>(caution: D) -> Result<bool, D::Error> {
    Ok(Option::<String>::deserialize(caution)?.is_some_and(|caution| caution == "few_clusters"))
}

/// The part of `statistics.json` that is needed. Another release may have stored more.
#[derive(Deserialize)]
struct StatisticsFile {
    micro: BTreeMap<String, Mean>,
}

impl RunSummary {
    pub(crate) fn read(folder: &Path) -> Result<RunSummary, RunReadError> {
        let run = StoredRun::open(folder)?;
        let Headline { n, means, usd } = run.headline();
        let means = means_in(&run).unwrap_or_else(|| {
            let mean = |own: HeadlineMean| {
                let HeadlineMean { metric, mean, interval, is_of_few } = own;
                (metric.to_owned(), Mean { n: None, mean, interval, is_of_few })
            };
            means.into_iter().map(mean).collect()
        });
        let is_damaged = run.damage().is_some();
        let manifest = run.manifest;
        let trials = manifest.identity.get("trials").and_then(serde_json::Value::as_u64);
        let n_listed = Some(manifest.question_hashes().len() as u64).filter(|n| *n > 0);
        Ok(RunSummary {
            n,
            n_all: n_listed.map(|n| n * trials.unwrap_or(1)),
            means,
            usd,
            reference: manifest.reference_hash(),
            rules: manifest.rules().map(|rules| short_hash(&scoring_rules(rules).to_string())),
            judge: manifest.judge().map(|judge| short_hash(&judge.to_string())),
            identity: manifest.id,
            name: manifest.name,
            kind: manifest.kind,
            began: manifest.began,
            is_complete: manifest.is_complete,
            is_damaged,
            command: manifest.command,
        })
    }

    /// Whether it ended, and its files are those that it wrote.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_complete && !self.is_damaged
    }

    /// The time it began for people, to the minute.
    pub(crate) fn minute(&self) -> String {
        self.began.get(..16).unwrap_or(&self.began).replacen('T', " ", 1)
    }
}

fn means_in(run: &StoredRun) -> Option<BTreeMap<String, Mean>> {
    let text = juror_files::read_plain(&run.statistics_path()?).ok()?;
    let file: StatisticsFile = serde_json::from_slice(&text).ok()?;
    Some(file.micro)
}
