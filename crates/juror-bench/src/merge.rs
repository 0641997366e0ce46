//! Takes the runs of all shards of a benchmark together, as the run that one process would have made.
//!
//! Nobody is asked: attempts, verdicts and counts are those of the shards. Statistics and summary are
//! computed anew from all results, in the order of the whole list.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use juror_compare::Statistics;
use juror_document::{Document, Format as Written};
use juror_files::load;
use juror_report::{Format, render_statistics};
use juror_run::missing;
use juror_runs::{
    Entry, Manifest, Resume, RunFile, RunKind, RunLog, RunLogError, RunReadError, Shard,
    ShardIdentity, StoredRun, Unjudged, differing_parts, short_hash,
};
use juror_score::statistics::CONFIDENCE;
use juror_score::{Score, ScoreTable, Scorecard, Verdict};
use juror_toolbench::judged::{PassRate, Said, Status};
use juror_toolbench::result::{Summary, read_result_file};
use serde_json::{Value, json};

use crate::attempt::{Attempt, AttemptId};

/// Why runs cannot be taken together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeRunsError {
    /// A run cannot be read.
    #[error(transparent)]
    Read(#[from] RunReadError),
    /// A journal cannot be read, or the new run cannot be written.
    #[error(transparent)]
    Log(#[from] RunLogError),
    /// A file of a run is not what it was.
    #[error("{}: {why}\n  hint: run the command of this shard again, with --fresh", folder.display())]
    Damaged {
        /// The run.
        folder: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A run is no shard of a benchmark.
    #[error("{}: {what}\n  hint: merge runs of juror bench --shard", folder.display())]
    NoShard {
        /// The run.
        folder: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A shard is not finished.
    #[error("{}: shard {shard} is not finished\n  hint: run its command again to resume it", folder.display())]
    Unfinished {
        /// The run.
        folder: PathBuf,
        /// Which shard.
        shard: Shard,
    },
    /// A shard belongs to another run.
    #[error("{}: this is a shard of another run than {}: not the same {differences}\n  hint: all shards need the same queries, agent, tools and settings", folder.display(), first.display())]
    Stranger {
        /// The run.
        folder: PathBuf,
        /// The first run.
        first: PathBuf,
        /// What differs.
        differences: String,
    },
    /// A shard is there twice.
    #[error("{}: shard {shard} is there already: {}\n  hint: name every shard once", folder.display(), other.display())]
    Twice {
        /// The run.
        folder: PathBuf,
        /// The other run of the same shard.
        other: PathBuf,
        /// Which shard.
        shard: Shard,
    },
    /// Shards are missing.
    #[error("{}\n  hint: merge when all shards are finished", missing(shards, *of))]
    Missing {
        /// Which.
        shards: Vec<u32>,
        /// Of how many.
        of: u32,
    },
    /// There are no runs.
    #[error("there is nothing to merge")]
    Nothing,
}

impl MergeRunsError {
    /// Returns whether something external failed, as opposed to the request being wrong.
    pub fn is_outside(&self) -> bool {
        matches!(
            self,
            MergeRunsError::Read(RunReadError::Io { .. })
                | MergeRunsError::Log(RunLogError::Io { .. })
        )
    }
}

/// The run of all shards.
pub struct MergedRun {
    /// How many attempts it has.
    pub n_attempts: usize,
    /// How many shards it was made from.
    pub n_shards: usize,
    /// Means with intervals and coverage.
    pub statistics: Statistics,
}

/// The run of a shard.
struct ShardRun {
    stored: StoredRun,
    own: ShardIdentity,
}

/// Takes the runs of all shards together, into a folder that has none yet. `command` is the command
/// line, for the record of the run.
pub fn merge_runs(
    folders: &[PathBuf],
    into: &Path,
    command: &[String],
) -> Result<MergedRun, MergeRunsError> {
    // A pattern such as `runs/*` finds what an earlier merge wrote, too.
    let shards = folders.iter().filter(|folder| !is_same(folder, into));
    let mut shards = shards.map(|folder| ShardRun::open(folder)).collect::<Result<Vec<_>, _>>()?;
    check(&shards)?;
    shards.sort_by_key(|run| run.own.shard.number);
    let whole = Whole::read(&shards)?;
    let log = RunLog::<Attempt>::open(into, whole.manifest(command), Resume::default(), Some)?;
    for attempt in &whole.attempts {
        log.append(attempt)?;
    }
    let statistics = whole.statistics();
    log.write(RunFile::Statistics, |out| {
        out.write_all(&render_statistics(&statistics, Format::Json))
    })?;
    log.write(RunFile::Results, |out| {
        whole.results.iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    log.write(RunFile::Aggregates, |out| writeln!(out, "{:#}", whole.aggregates(into)))?;
    log.complete(whole.results.len(), whole.unjudged())?;
    Ok(MergedRun { n_attempts: whole.results.len(), n_shards: shards.len(), statistics })
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other
        || one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one))
}

impl ShardRun {
    fn open(folder: &Path) -> Result<ShardRun, MergeRunsError> {
        let stored = StoredRun::open(folder)?;
        let folder = || folder.to_owned();
        if stored.manifest.kind != RunKind::Bench {
            let what = "this is a run of an evaluation";
            return Err(MergeRunsError::NoShard { folder: folder(), what });
        }
        let Some(own) = stored.manifest.shard() else {
            return Err(MergeRunsError::NoShard { folder: folder(), what: "this run is no shard" });
        };
        if !stored.manifest.is_complete {
            return Err(MergeRunsError::Unfinished { folder: folder(), shard: own.shard });
        }
        if let Some(why) = stored.damage_within() {
            return Err(MergeRunsError::Damaged { folder: folder(), why });
        }
        Ok(ShardRun { stored, own })
    }

    fn folder(&self) -> PathBuf {
        self.stored.folder.clone()
    }

    fn damaged(&self, why: impl Into<String>) -> MergeRunsError {
        MergeRunsError::Damaged { folder: self.folder(), why: why.into() }
    }

    /// Everything that must be the same for all shards.
    fn common(&self) -> Value {
        let mut identity = self.stored.manifest.identity.clone();
        if let Some(parts) = identity.as_object_mut() {
            parts.remove("queries");
            let ShardIdentity { shard, items, whole } = &self.own;
            parts.insert("shard".into(), json!(shard.of));
            parts.insert("queries".into(), json!({"whole list": whole, "number": items}));
            parts.insert("judge".into(), json!(self.stored.manifest.judge));
        }
        identity
    }

    /// The lines of the results, one for each attempt, in the order of the shard's queries.
    fn results(&self) -> Result<Vec<String>, MergeRunsError> {
        let path = self.stored.needed(RunFile::Results)?;
        let document =
            load(&path.to_string_lossy()).map_err(|error| self.damaged(error.to_string()))?;
        let lines: Vec<String> = document.json().lines().map(ToOwned::to_owned).collect();
        let n_wanted = self.own.shard.size_of(self.own.items) * self.n_trials();
        if lines.len() == n_wanted {
            Ok(lines)
        } else {
            let n = lines.len();
            Err(self.damaged(format!("results.jsonl has {n} results, and not {n_wanted}")))
        }
    }

    fn n_trials(&self) -> usize {
        self.stored.manifest.trials().and_then(|n| usize::try_from(n).ok()).unwrap_or(1)
    }

    fn aggregates(&self) -> Result<Value, MergeRunsError> {
        let path = self.stored.needed(RunFile::Aggregates)?;
        let document =
            load(&path.to_string_lossy()).map_err(|error| self.damaged(error.to_string()))?;
        serde_json::from_str(document.json())
            .map_err(|error| self.damaged(format!("aggregates.json: {error}")))
    }
}

/// Refuses strangers, overlaps and gaps.
fn check(shards: &[ShardRun]) -> Result<(), MergeRunsError> {
    let first = shards.first().ok_or(MergeRunsError::Nothing)?;
    let mut seen: BTreeMap<u32, &ShardRun> = BTreeMap::new();
    for run in shards {
        let differences = differing_parts(&first.common(), &run.common()).join(", ");
        if !differences.is_empty() {
            let (folder, first) = (run.folder(), first.folder());
            return Err(MergeRunsError::Stranger { folder, first, differences });
        }
        if let Some(other) = seen.insert(run.own.shard.number, run) {
            let (folder, other) = (run.folder(), other.folder());
            return Err(MergeRunsError::Twice { folder, other, shard: run.own.shard });
        }
    }
    let ShardIdentity { shard: Shard { of, .. }, items, .. } = first.own;
    // Shards beyond the end of the list are empty, and have no runs.
    let is_missing = |number: &u32| (*number as usize) <= items && !seen.contains_key(number);
    let shards: Vec<u32> = (1..=of).filter(is_missing).collect();
    if shards.is_empty() { Ok(()) } else { Err(MergeRunsError::Missing { shards, of }) }
}

/// Everything that the shards have, in the order of the whole list.
struct Whole<'s> {
    first: &'s Manifest,
    manifests: Vec<&'s Manifest>,
    results: Vec<String>,
    cards: Vec<Scorecard<'static>>,
    attempts: Vec<Attempt>,
    /// What each shard says about itself.
    told: Vec<Value>,
}

impl<'s> Whole<'s> {
    fn read(shards: &'s [ShardRun]) -> Result<Whole<'s>, MergeRunsError> {
        let first = shards.first().ok_or(MergeRunsError::Nothing)?;
        let n_trials = first.n_trials();
        let mut lines = Vec::new();
        let mut attempts: HashMap<AttemptId, Attempt> = HashMap::new();
        for run in shards {
            for (at, line) in run.results()?.into_iter().enumerate() {
                lines.push((run.own.shard.position(at / n_trials), at % n_trials, line));
            }
            let logged = RunLog::<Attempt>::read(&run.stored.folder)?.unwrap_or_default();
            attempts.extend(logged.into_iter().map(|line| (Attempt::id(&line), line)));
        }
        lines.sort_by_key(|(query, trial, _)| (*query, *trial));
        let results: Vec<String> = lines.into_iter().map(|(_, _, line)| line).collect();
        let cards = read_cards(&results).map_err(|why| first.damaged(why))?;
        let logged = cards.iter().filter_map(|card| {
            let (set, id) = (card.group.to_string(), card.id.to_string());
            attempts.remove(&(set, id, card.trial.unwrap_or(1)))
        });
        let attempts = logged.collect();
        let told = shards.iter().map(ShardRun::aggregates).collect::<Result<_, _>>()?;
        let manifests = shards.iter().map(|run| &run.stored.manifest).collect();
        Ok(Whole { first: &first.stored.manifest, manifests, results, cards, attempts, told })
    }

    /// The manifest that one run of all queries would have.
    fn manifest(&self, command: &[String]) -> Manifest {
        let mut identity = self.first.identity.clone();
        if let Some(parts) = identity.as_object_mut() {
            parts.remove("shard");
            parts.insert("queries".into(), json!(self.query_hashes()));
        }
        let mut manifest = Manifest::new(RunKind::Bench, &self.first.name, identity);
        manifest.judge.clone_from(&self.first.judge);
        manifest.settings.clone_from(&self.first.settings);
        let began = self.manifests.iter().map(|own| &own.began).min();
        manifest.began.clone_from(began.unwrap_or(&self.first.began));
        manifest.begun_by(command)
    }

    fn query_hashes(&self) -> BTreeMap<&str, &str> {
        self.manifests.iter().flat_map(|own| own.question_hashes()).collect()
    }

    fn statistics(&self) -> Statistics {
        let mut scores = ScoreTable::of_attempts();
        self.cards.iter().for_each(|card| scores.push_attempt(card));
        Statistics::of(&scores, CONFIDENCE)
    }

    fn unjudged(&self) -> Option<Unjudged> {
        let all = self.manifests.iter().filter_map(|own| own.unjudged.clone());
        let unjudged =
            all.reduce(|sum, own| Unjudged { answers: sum.answers + own.answers, ..sum })?;
        Some(Unjudged { of: self.cards.len() as u64, ..unjudged })
    }

    /// The summary, as one run of all queries would have it but for times.
    fn aggregates(&self, into: &Path) -> Value {
        let mut told = self.told.iter();
        let mut all = told.next().cloned().unwrap_or_default();
        for own in told {
            add_counts(&mut all["juror"], &own["juror"]);
            add(&mut all["metadata"]["overall_time"], &own["metadata"]["overall_time"]);
            let (mine, theirs) = (&all["metadata"]["timestamp"], &own["metadata"]["timestamp"]);
            if theirs.as_str() > mine.as_str() {
                all["metadata"]["timestamp"] = theirs.clone();
            }
        }
        let sets = self.sets();
        let config = &mut all["metadata"]["config"];
        config["num_queries"] = json!(self.cards.len());
        config["test_set"] = json!(sets.iter().map(|(set, _)| *set).collect::<Vec<_>>().join(","));
        all["summary"] = json!(Summary::of(&self.cards));
        let juror = &mut all["juror"];
        juror["run"] = json!(into.display().to_string());
        juror["data"]["queries"] = json!(self.hash_of_queries());
        juror["judge_noise"] = json!(self.judge_noise(juror["judge_repeats"].as_u64()));
        juror["agent_usd"] = json!(self.agent_usd());
        if sets.len() > 1 {
            let sets: BTreeMap<_, _> =
                sets.into_iter().map(|(set, cards)| (set, Summary::of(cards))).collect();
            juror["sets"] = json!(sets);
        }
        all
    }

    /// The sets in the order of the list, with their attempts.
    fn sets(&self) -> Vec<(&str, Vec<&Scorecard<'static>>)> {
        let mut sets: Vec<(&str, Vec<&Scorecard<'static>>)> = Vec::new();
        for card in &self.cards {
            match sets.iter_mut().find(|(set, _)| *set == card.group) {
                Some((_, own)) => own.push(card),
                None => sets.push((&card.group, vec![card])),
            }
        }
        sets
    }

    fn hash_of_queries(&self) -> String {
        let known = self.query_hashes();
        let mut seen = Vec::new();
        for card in &self.cards {
            let name = format!("{}/{}", card.group, card.id);
            if seen.last() != Some(&name) {
                seen.push(name);
            }
        }
        let hashes = seen.iter().filter_map(|name| known.get(name.as_str()).copied());
        short_hash(&hashes.collect::<Vec<_>>().join(" "))
    }

    fn judge_noise(&self, repeats: Option<u64>) -> f64 {
        let repeats = repeats.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
        let said: Vec<[Said; 1]> = self.cards.iter().map(|card| [said(card)]).collect();
        let said = said.iter().map(<[Said; 1]>::as_slice);
        PassRate::of_verdicts(said, repeats).unwrap_or_default().judge_noise
    }

    fn agent_usd(&self) -> Option<f64> {
        let prices = self.attempts.iter().filter_map(|attempt| attempt.usd);
        prices.reduce(|sum, usd| sum + usd).filter(|sum| sum.is_finite())
    }
}

fn read_cards(lines: &[String]) -> Result<Vec<Scorecard<'static>>, String> {
    let text = lines.join("\n").into_bytes();
    let document = Document::new("results.jsonl", text, Written::JsonLines)
        .map_err(|error| error.to_string())?;
    let (file, problems) = read_result_file(&document);
    if file.results.len() == lines.len() { Ok(file.results) } else { Err(problems.to_string()) }
}

/// What each run of the judge said about an attempt.
fn said(card: &Scorecard<'_>) -> Said {
    match card.finding("sopr_score").map(|finding| &finding.verdict) {
        Some(Verdict::Scored(Score::Repeats(runs))) => {
            runs.scores().iter().map(|score| score.and_then(Status::of_score)).collect()
        }
        Some(verdict) => vec![verdict.number().and_then(Status::of_score)],
        None => Vec::new(),
    }
}

/// Adds the counts of what happened during a run.
fn add_counts(sum: &mut Value, more: &Value) {
    for key in [
        "tool_replies",
        "equal_numbers",
        "kept_replies",
        "failed_calls",
        "claims_differ",
        "calls_from_text",
        "stopped",
        "agent_tokens",
        "judge_usd",
        "judge_errors",
        "judge_unusable",
    ] {
        if let Some(more) = more.get(key) {
            add(&mut sum[key], more);
        }
    }
}

/// Adds a number, or all numbers of an object by name.
fn add(sum: &mut Value, more: &Value) {
    match (&mut *sum, more) {
        (Value::Object(own), Value::Object(others)) => {
            for (name, other) in others {
                add(own.entry(name.clone()).or_insert(Value::Null), other);
            }
        }
        (_, Value::Null) => {}
        (Value::Null, _) => *sum = more.clone(),
        _ => {
            let whole = sum.as_u64().zip(more.as_u64()).map(|(a, b)| json!(a + b));
            let real = || json!(sum.as_f64().unwrap_or(0.0) + more.as_f64().unwrap_or(0.0));
            *sum = whole.unwrap_or_else(real);
        }
    }
}
