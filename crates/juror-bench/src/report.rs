//! The files of a benchmark run: its results, and those of the public evaluation.

use std::collections::BTreeMap;
use std::time::Duration;

use juror_compare::{GateOutcome, GatedRun, Gates, Statistics};
use juror_models::Cost;
use juror_score::statistics::CONFIDENCE;
use juror_score::{ScoreTable, Scorecard};
use juror_toolbench::answer::{AnswersFile, Json, Recorded};
use juror_toolbench::judged::{Judgement, PassRate, Said};
use juror_toolbench::result::{Metadata, QueryResult, Report, Summary};
use juror_tools::Catalog;
use serde::Serialize;
use serde_json::{Value, json};

use crate::attempt::{Attempt, ServedCall, is_zero};
use crate::identity::Provenance;
use crate::judge::SolveJudge;
use crate::judged::Judged;
use crate::pool::Pool;

/// A finished run.
pub struct Results<'r> {
    /// The agent's name.
    pub name: String,
    /// How the agent was run: `config` in the result file.
    pub config: BTreeMap<String, Value>,
    /// The data behind the results.
    pub provenance: &'r Provenance,
    /// The run's folder, if it has one.
    pub run: Option<String>,
    /// The judge.
    pub judge: &'r SolveJudge,
    /// The judged attempts, in the order of the queries.
    pub judged: &'r [Judged<'r>],
    /// The duration of the whole run.
    pub took: Duration,
}

/// A result file with Juror's additions.
#[derive(Serialize)]
struct ResultFile<'a> {
    #[serde(flatten)]
    report: &'a Report<'a>,
    juror: Extras<'a>,
}

/// Juror's additions to a result file.
#[derive(Serialize)]
struct Extras<'a> {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    #[serde(flatten)]
    provenance: &'a Provenance,
    /// The hashes of the judge's prompts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    judge_prompts: BTreeMap<String, String>,
    /// How many calls each source answered.
    tool_replies: BTreeMap<String, usize>,
    /// How many known replies were matched by equal numbers in a different notation.
    #[serde(skip_serializing_if = "is_zero")]
    equal_numbers: usize,
    /// How many known replies were made earlier and kept, by origin.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    kept_replies: BTreeMap<String, usize>,
    /// How many calls have no reply because something external failed, by what failed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    failed_calls: BTreeMap<String, usize>,
    /// How many answers claim other calls than those received.
    #[serde(skip_serializing_if = "is_zero")]
    claims_differ: usize,
    /// How many calls of the built-in agent were parsed from text.
    #[serde(skip_serializing_if = "is_zero")]
    calls_from_text: usize,
    /// How often the built-in agent stopped before its steps ran out.
    #[serde(skip_serializing_if = "is_zero")]
    stopped: usize,
    /// `None` if the agent does not report them.
    agent_tokens: Option<u64>,
    agent_usd: Option<f64>,
    judge_repeats: u32,
    /// How much the judge's runs disagree.
    judge_noise: f64,
    judge_usd: Option<f64>,
    judge_errors: usize,
    /// How many answers have an unusable reply from the judge, which counts as unsure.
    #[serde(skip_serializing_if = "is_zero")]
    judge_unusable: usize,
    /// The summary of each set, if there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sets: BTreeMap<String, Summary>,
}

impl Results<'_> {
    /// Returns a text of the config; empty if it has no such key.
    pub fn config_text(&self, key: &str) -> String {
        let value = self.config.get(key);
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Builds the result file as documented.
    pub fn report(&self) -> Report<'_> {
        self.report_of(self.judged.iter().collect())
    }

    /// Builds the result file of the attempts that are done.
    pub(super) fn report_of_done(&self) -> Report<'_> {
        self.report_of(self.judged.iter().filter(|own| own.is_done()).collect())
    }

    fn report_of<'e>(&'e self, judged: Vec<&'e Judged<'_>>) -> Report<'e> {
        let mut config = self.config.clone();
        config.insert("num_queries".into(), json!(judged.len()));
        config.insert("evaluator_model".into(), json!(self.judge.model()));
        config.insert("evaluation_method".into(), json!(self.judge.method()));
        let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
        let metadata = Metadata {
            framework: self.name.clone(),
            config,
            overall_time: self.took.as_secs_f64(),
            timestamp: now.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        };
        let names_set = self.has_sets();
        let result = |own| self.result(own, names_set);
        Report::new(metadata, judged.into_iter().map(result).collect())
    }

    fn result<'e>(&'e self, own: &'e Judged<'_>, names_set: bool) -> QueryResult<'e> {
        let attempt = own.attempt.as_ref();
        QueryResult {
            query: &own.selected.query,
            card: own.card(),
            names_set,
            answer: own.answer.as_deref(),
            called: &own.called,
            claimed: own.claimed(),
            calls_from_text: attempt.map_or(0, |attempt| attempt.calls_from_text),
            stopped: attempt.and_then(|attempt| attempt.stopped.as_deref()),
            method: self.judge.method(),
        }
    }

    /// Renders the result file, with Juror's additions.
    pub fn to_json(&self, report: &Report<'_>) -> serde_json::Result<Vec<u8>> {
        let file = ResultFile { report, juror: self.extras(report) };
        let mut bytes = serde_json::to_vec_pretty(&file)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Returns the summary alone, for machines.
    pub fn summary_json(&self, report: &Report<'_>) -> Value {
        json!({"metadata": report.metadata, "summary": report.summary,
            "juror": self.extras(report)})
    }

    fn attempts(&self) -> impl Iterator<Item = &Attempt> {
        self.judged.iter().filter_map(|own| own.attempt.as_ref())
    }

    fn calls(&self) -> impl Iterator<Item = &ServedCall> {
        self.attempts().flat_map(|attempt| &attempt.calls)
    }

    /// Counts the calls by source; `none` are those without a reply.
    pub fn tool_replies(&self) -> BTreeMap<String, usize> {
        count(self.calls().map(|call| &call.source))
    }

    /// Counts the known replies matched by equal numbers in a different notation.
    pub fn n_equal_numbers(&self) -> usize {
        let by_numbers = |word: &String| word.contains("numbers");
        self.calls().filter(|call| call.found_by.as_ref().is_some_and(by_numbers)).count()
    }

    /// Counts the known replies that were made earlier and kept in a store, by origin.
    pub fn kept_replies(&self) -> BTreeMap<String, usize> {
        count(self.calls().filter_map(|call| call.kept_from.as_ref()))
    }

    /// Counts the calls without a reply because something external failed, by what failed.
    pub fn failed_calls(&self) -> BTreeMap<String, usize> {
        count(self.calls().filter_map(|call| call.failed.as_ref()))
    }

    pub(super) fn calls_from_text(&self) -> usize {
        self.attempts().map(|attempt| attempt.calls_from_text).sum()
    }

    pub(super) fn n_stopped(&self) -> usize {
        self.attempts().filter(|attempt| attempt.stopped.is_some()).count()
    }

    pub(super) fn n_claims_that_differ(&self) -> usize {
        self.judged.iter().filter(|own| !own.claimed().is_empty()).count()
    }

    /// Returns the tokens used by the agent's models; 0 if unknown.
    pub fn agent_tokens(&self) -> u64 {
        self.attempts().map(|attempt| attempt.tokens).sum()
    }

    /// Returns the cost of the agent's models, if known.
    pub fn agent_usd(&self) -> Option<f64> {
        let prices = self.attempts().filter_map(|attempt| attempt.usd);
        prices.reduce(|sum, usd| sum + usd).filter(|sum| sum.is_finite())
    }

    fn extras(&self, report: &Report<'_>) -> Extras<'_> {
        Extras {
            version: env!("CARGO_PKG_VERSION"),
            run: self.run.as_deref(),
            provenance: self.provenance,
            judge_prompts: self.judge.prompts(),
            tool_replies: self.tool_replies(),
            equal_numbers: self.n_equal_numbers(),
            kept_replies: self.kept_replies(),
            failed_calls: self.failed_calls(),
            claims_differ: self.n_claims_that_differ(),
            calls_from_text: self.calls_from_text(),
            stopped: self.n_stopped(),
            agent_tokens: Some(self.agent_tokens()).filter(|tokens| *tokens > 0),
            agent_usd: self.agent_usd(),
            judge_repeats: self.judge.repeats(),
            judge_noise: self.pass_rate().judge_noise,
            judge_usd: self.judge_cost().usd(),
            judge_errors: self.judged.iter().filter(|own| own.solves.failure.is_some()).count(),
            judge_unusable: self.judged.iter().filter(|own| own.solves.is_unusable).count(),
            sets: self.sets(report),
        }
    }

    /// Counts the attempts without a verdict.
    pub fn n_unjudged(&self) -> usize {
        self.judged.iter().filter(|own| !own.solves.is_judged()).count()
    }

    /// Returns the cost of judging.
    pub fn judge_cost(&self) -> Cost {
        self.judged.iter().fold(Cost::default(), |sum, own| sum.plus(own.solves.cost))
    }

    /// Returns the solve rate, and how much the judge's runs disagree.
    pub fn pass_rate(&self) -> PassRate {
        let said: Vec<[Said; 1]> =
            self.judged.iter().map(|own| [own.solves.statuses.clone()]).collect();
        let said = said.iter().map(<[Said; 1]>::as_slice);
        PassRate::of_verdicts(said, self.judge.repeats() as usize).unwrap_or_default()
    }

    fn has_sets(&self) -> bool {
        let first = self.judged.first().map(|own| &own.selected.set);
        self.judged.iter().any(|own| Some(&own.selected.set) != first)
    }

    /// Returns the summary of each set; empty if there is only one set.
    pub fn sets(&self, report: &Report<'_>) -> BTreeMap<String, Summary> {
        if !self.has_sets() {
            return BTreeMap::new();
        }
        let mut sets: BTreeMap<&str, Vec<&Scorecard<'_>>> = BTreeMap::new();
        for QueryResult { card, .. } in &report.results {
            sets.entry(&card.group).or_default().push(card);
        }
        sets.into_iter().map(|(set, cards)| (set.to_owned(), Summary::of(cards))).collect()
    }

    /// Returns the judgements, in the format of the public evaluation.
    pub fn judgements(&self, catalog: &Catalog, pool: Pool) -> Vec<Judgement> {
        let by = self.judge.model().unwrap_or(self.judge.method());
        let judgement = |own: &Judged<'_>| {
            let id = &own.selected.id;
            let steps = recorded(own, catalog, pool).map(|recorded| Judgement::of(id, &recorded));
            let mut judgement = Judgement {
                id: id.clone(),
                query: own.selected.query.text.clone(),
                judged_by: Some(by.to_owned()),
                reason: Some(own.solves.reason.clone()).filter(|reason| !reason.is_empty()),
                ..steps.unwrap_or_default()
            };
            judgement.extend(own.solves.statuses.iter().copied());
            judgement
        };
        // The public evaluation would count an attempt without a verdict as unsolved.
        let judged = self.judged.iter().filter(|own| own.solves.is_judged());
        judged.map(judgement).collect()
    }

    /// Renders the answers in the format that the public evaluation reads.
    pub fn converted(&self, catalog: &Catalog, pool: Pool) -> String {
        let mut file = AnswersFile::default();
        for own in self.judged {
            if let Some(recorded) = recorded(own, catalog, pool) {
                file.push(&own.selected.id, &recorded);
            }
        }
        file.finish()
    }
}

/// The numbers of a run, and their statistics.
pub struct BenchTotals {
    /// A row per attempt.
    pub scores: ScoreTable,
    /// Means with intervals and coverage.
    pub statistics: Statistics,
}

impl BenchTotals {
    /// Computes them from the results of a report.
    pub fn of(report: &Report<'_>) -> BenchTotals {
        let mut scores = ScoreTable::of_attempts();
        report.results.iter().for_each(|result| scores.push_attempt(&result.card));
        BenchTotals { statistics: Statistics::of(&scores, CONFIDENCE), scores }
    }

    /// Checks gates.
    pub fn check(&self, gates: &Gates) -> Vec<GateOutcome> {
        gates.check(GatedRun::new(&self.statistics, &self.scores))
    }
}

/// Counts the occurrences of each text.
fn count<'t>(texts: impl Iterator<Item = &'t String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text.clone()).or_default() += 1;
    }
    counts
}

/// Returns an answer with its query and the functions that the agent was offered.
fn recorded(own: &Judged<'_>, catalog: &Catalog, pool: Pool) -> Option<Recorded<'static>> {
    let listed = pool.functions(catalog, &own.selected.query);
    let available_tools = listed.as_ref().and_then(|listed| Json::parse(listed.get()));
    Some(Recorded {
        set: None,
        error: None,
        query: Json::of_text(&own.selected.query.text),
        available_tools: available_tools.unwrap_or(Json::NO_ITEMS).into_owned(),
        answer: own.answer.as_deref()?.clone(),
    })
}
