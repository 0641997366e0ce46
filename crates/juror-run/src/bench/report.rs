//! The files of a benchmark run: its results, and those of the public evaluation.

use std::collections::BTreeMap;
use std::time::Duration;

use juror_models::Cost;
use juror_score::Scorecard;
use juror_toolbench::answer::{AnswersFile, Json, Recorded};
use juror_toolbench::judged::{Judgement, PassRate, Said};
use juror_toolbench::result::{Metadata, QueryResult, Report, Summary};
use juror_tools::Catalog;
use serde::Serialize;
use serde_json::{Value, json};

use super::attempt::{Attempt, ServedCall, is_zero};
use super::identity::Provenance;
use super::judge::SolveJudge;
use super::judged::Judged;
use super::pool::Pool;

/// A run that has ended.
pub struct Results<'r> {
    /// The agent.
    pub name: String,
    /// How it was tried: `config` in the result file.
    pub config: BTreeMap<String, Value>,
    /// What the results rest on.
    pub provenance: &'r Provenance,
    /// The folder of the run, if it has one.
    pub run: Option<String>,
    /// Who judged.
    pub judge: &'r SolveJudge,
    /// The judged attempts, in the order of the queries.
    pub judged: &'r [Judged<'r>],
    /// How long all of it took.
    pub took: Duration,
}

/// A result file with what Juror adds to it.
#[derive(Serialize)]
struct ResultFile<'a> {
    #[serde(flatten)]
    report: &'a Report<'a>,
    juror: Extras<'a>,
}

/// What Juror adds to a result file.
#[derive(Serialize)]
struct Extras<'a> {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    #[serde(flatten)]
    provenance: &'a Provenance,
    /// The prompts of the judge, by their hashes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    judge_prompts: BTreeMap<String, String>,
    /// How many calls were answered by which source.
    tool_replies: BTreeMap<String, usize>,
    /// How many known replies are to equal numbers that are written differently.
    #[serde(skip_serializing_if = "is_zero")]
    equal_numbers: usize,
    /// How many known replies were made earlier and kept, by who made them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    kept_replies: BTreeMap<String, usize>,
    /// How many calls have no reply because something outside failed, by what failed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    failed_calls: BTreeMap<String, usize>,
    /// How many agents' answers claim other calls than those that arrived.
    #[serde(skip_serializing_if = "is_zero")]
    claims_differ: usize,
    /// How many calls of the built-in agent were read from text.
    #[serde(skip_serializing_if = "is_zero")]
    calls_from_text: usize,
    /// How often the built-in agent was stopped before its steps ran out.
    #[serde(skip_serializing_if = "is_zero")]
    stopped: usize,
    /// `None` if the agent does not report them.
    agent_tokens: Option<u64>,
    agent_usd: Option<f64>,
    judge_repeats: u32,
    /// How much the judge's runs differ.
    judge_noise: f64,
    judge_usd: Option<f64>,
    judge_errors: usize,
    /// How many answers have an unusable reply of the judge, which counts as unsure.
    #[serde(skip_serializing_if = "is_zero")]
    judge_unusable: usize,
    /// The summary of each set, if there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sets: BTreeMap<String, Summary>,
}

impl Results<'_> {
    /// A text of the config; empty if there is none.
    pub fn config_text(&self, key: &str) -> String {
        let value = self.config.get(key);
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// The result file as the document describes it.
    pub fn report(&self) -> Report<'_> {
        let mut config = self.config.clone();
        config.insert("num_queries".into(), json!(self.judged.len()));
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
        Report::new(metadata, self.judged.iter().map(result).collect())
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

    /// The text of the result file, with what Juror adds.
    pub fn to_json(&self, report: &Report<'_>) -> serde_json::Result<Vec<u8>> {
        let file = ResultFile { report, juror: self.extras(report) };
        let mut bytes = serde_json::to_vec_pretty(&file)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The summary alone, for machines.
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

    /// How many calls were answered by which source; `none` are those without a reply.
    pub fn tool_replies(&self) -> BTreeMap<String, usize> {
        count(self.calls().map(|call| &call.source))
    }

    /// How many known replies are to equal numbers that are written differently.
    pub fn n_equal_numbers(&self) -> usize {
        let by_numbers = |word: &String| word.contains("numbers");
        self.calls().filter(|call| call.found_by.as_ref().is_some_and(by_numbers)).count()
    }

    /// How many known replies were made earlier and kept in a store, by who made them.
    pub fn kept_replies(&self) -> BTreeMap<String, usize> {
        count(self.calls().filter_map(|call| call.kept_from.as_ref()))
    }

    /// How many calls have no reply because something outside failed, by what failed.
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

    /// Tokens of the agent's models; 0 if they are not known.
    pub fn agent_tokens(&self) -> u64 {
        self.attempts().map(|attempt| attempt.tokens).sum()
    }

    /// What the agent's models cost, if that is known.
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

    /// How many attempts have no verdict.
    pub fn n_unjudged(&self) -> usize {
        self.judged.iter().filter(|own| !own.solves.is_judged()).count()
    }

    /// What the judge cost.
    pub fn judge_cost(&self) -> Cost {
        self.judged.iter().fold(Cost::default(), |sum, own| sum.plus(own.solves.cost))
    }

    /// The solve rate, and how much the judge's runs differ.
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

    /// The summary of each set; empty if there is only one set.
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

    /// The judgements, as the public evaluation writes them down.
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
        // There, an attempt without a verdict would count as unsolved.
        let judged = self.judged.iter().filter(|own| own.solves.is_judged());
        judged.map(judgement).collect()
    }

    /// The answers, as the public evaluation reads them.
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

/// How often each text comes up.
fn count<'t>(texts: impl Iterator<Item = &'t String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text.clone()).or_default() += 1;
    }
    counts
}

/// An answer with its query and what the agent was offered.
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
