//! What is written of a run: the result file, and the files that the public evaluation has.

use std::collections::BTreeMap;
use std::time::Duration;

use juror_document::{Notice, option_as, phrase};
use juror_models::Cost;
use juror_toolbench::answer::{AnswersFile, Json, Recorded};
use juror_toolbench::judged::{Judgement, PassRate, Said};
use juror_toolbench::result::{Evaluated, Evaluation, Metadata, Report, Summary};
use juror_tools::Catalog;
use serde::Serialize;
use serde_json::{Value, json};

use super::identity::Provenance;
use super::journal::{Attempted, is_zero};
use super::judge::SolveJudge;
use super::judged::Judged;
use super::pool::Pool;

/// A run that has ended.
pub struct Results<'r> {
    /// What was tried.
    pub name: String,
    /// How: what results say under `config`.
    pub config: BTreeMap<String, Value>,
    /// What it rests on.
    pub provenance: &'r Provenance,
    /// The folder it is kept in, where it is.
    pub run: Option<String>,
    /// Who judged.
    pub judge: &'r SolveJudge,
    /// What became of each query.
    pub judged: &'r [Judged<'r>],
    /// How long all of it took.
    pub took: Duration,
}

/// A result file with what only Juror tells.
#[derive(Serialize)]
struct ResultFile<'a> {
    #[serde(flatten)]
    report: &'a Report<'a>,
    juror: Extras<'a>,
}

/// What only Juror tells.
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
    /// How many calls were answered from where.
    tool_replies: BTreeMap<String, usize>,
    /// How many of those that were known are to equal numbers that are written otherwise.
    #[serde(skip_serializing_if = "is_zero")]
    equal_numbers: usize,
    /// How many of those that were known were made earlier and kept, by who made them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    kept_replies: BTreeMap<String, usize>,
    /// How many calls have no reply because something outside failed, by what that was.
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
    /// Nothing where the agent does not tell.
    agent_tokens: Option<u64>,
    agent_usd: Option<f64>,
    judge_repeats: u32,
    /// How much the judge's runs differ.
    judge_noise: f64,
    judge_usd: Option<f64>,
    judge_errors: usize,
    /// How many answers have a reply of the judge that says nothing usable, and counts as unsure.
    #[serde(skip_serializing_if = "is_zero")]
    judge_unusable: usize,
    /// What is summed up of each set, where there are several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sets: BTreeMap<String, Summary>,
}

impl Results<'_> {
    /// A text of the config; empty where there is none.
    pub fn config_text(&self, key: &str) -> String {
        let value = self.config.get(key);
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// The result file as the document has it.
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
        let has_sets = self.has_sets();
        let evaluation = |own| self.evaluation(own, has_sets);
        Report::new(metadata, self.judged.iter().map(evaluation).collect())
    }

    fn evaluation<'e>(&'e self, own: &'e Judged<'_>, has_sets: bool) -> Evaluation<'e> {
        Evaluation {
            query: &own.selected.query,
            answer: own.answer.as_deref(),
            status: own.verdict.status,
            sopr_score: own.verdict.score(),
            id: &own.selected.id,
            set: has_sets.then_some(&own.selected.set),
            trial: own.selected.trial,
            calls: own.calls,
            called: &own.called,
            claimed: own.claimed(),
            calls_from_text: own
                .attempted
                .as_ref()
                .map_or(0, |attempted| attempted.calls_from_text),
            stopped: own.attempted.as_ref().and_then(|attempted| attempted.stopped.as_deref()),
            method: self.judge.method(),
            reason: own.verdict.reason.clone(),
            error: own.error().cloned(),
            evaluation_seconds: own.seconds,
            answer_seconds: own.attempted.as_ref().and_then(|attempted| attempted.seconds),
        }
    }

    /// The text of the result file, with what only Juror tells.
    pub fn to_json(&self, report: &Report<'_>) -> serde_json::Result<Vec<u8>> {
        let file = ResultFile { report, juror: self.extras(report) };
        let mut bytes = serde_json::to_vec_pretty(&file)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// What is summed up, for machines.
    pub fn summary_json(&self, report: &Report<'_>) -> Value {
        json!({"metadata": report.metadata, "summary": report.summary,
            "juror": self.extras(report)})
    }

    fn attempted(&self) -> impl Iterator<Item = &Attempted> {
        self.judged.iter().filter_map(|own| own.attempted.as_ref())
    }

    /// How many calls were answered from where; `none` are those without a reply.
    pub fn tool_replies(&self) -> BTreeMap<String, usize> {
        let mut replies = BTreeMap::new();
        for call in self.attempted().flat_map(|attempted| &attempted.calls) {
            *replies.entry(call.source.clone()).or_default() += 1;
        }
        replies
    }

    fn calls_from_text(&self) -> usize {
        self.attempted().map(|attempted| attempted.calls_from_text).sum()
    }

    /// What the user should know about the run.
    pub fn warnings(&self) -> Vec<Notice> {
        let warnings = [
            self.warning_of_kept_replies(),
            self.warning_of_failed_calls(),
            self.warning_of_claims(),
            self.warning_of_text(),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// A word on models that do not call functions as their server should.
    fn warning_of_text(&self) -> Option<Notice> {
        let (n_calls, n_all) = (self.calls_from_text(), self.judged.len());
        let n_stopped = self.attempted().filter(|attempted| attempted.stopped.is_some()).count();
        let calls = format!("{n_calls} calls were read from the text of the model's replies");
        let stopped =
            format!("{n_stopped} of {n_all} queries were stopped, as the model called nothing");
        let words = match (n_calls, n_stopped) {
            (0, 0) => return None,
            (_, 0) => calls,
            (0, _) => stopped,
            _ => format!("{calls}, and {stopped}"),
        };
        Some(Notice::new(words).hint("see whether its server is set up for function calling"))
    }

    /// How many of the replies that were known are to equal numbers that are written otherwise.
    pub fn n_equal_numbers(&self) -> usize {
        let calls = self.attempted().flat_map(|attempted| &attempted.calls);
        let by_numbers = |word: &String| word.contains("numbers");
        calls.filter(|call| call.found_by.as_ref().is_some_and(by_numbers)).count()
    }

    /// How many of the known replies were made earlier and kept in a store, by who made them.
    pub fn kept_replies(&self) -> BTreeMap<String, usize> {
        let mut kept = BTreeMap::new();
        let calls = self.attempted().flat_map(|attempted| &attempted.calls);
        for who in calls.filter_map(|call| call.kept_from.clone()) {
            *kept.entry(who).or_default() += 1;
        }
        kept
    }

    /// A word on replies that a model made in an earlier run, where this one asks no such model:
    /// nobody would think of them.
    fn warning_of_kept_replies(&self) -> Option<Notice> {
        let n_simulated = *self.kept_replies().get("simulator")?;
        if self.provenance.may_simulate() {
            return None;
        }
        let n_all: usize = self.tool_replies().values().sum();
        let problem = format!(
            "{n_simulated} of {n_all} calls were answered by what a simulator said in an earlier run"
        );
        Some(Notice::new(problem).hint(phrase![
            "the store comes before other known replies; name another with ",
            option_as("store", "tools.store"),
            " to leave them out"
        ]))
    }

    /// How many calls have no reply because something outside failed, by what that was.
    pub fn failed_calls(&self) -> BTreeMap<String, usize> {
        let mut failed = BTreeMap::new();
        let calls = self.attempted().flat_map(|attempted| &attempted.calls);
        for why in calls.filter_map(|call| call.failed.clone()) {
            *failed.entry(why).or_default() += 1;
        }
        failed
    }

    /// A word on sources of replies that are down: no agent is to blame for them.
    fn warning_of_failed_calls(&self) -> Option<Notice> {
        let failed = self.failed_calls();
        let (why, _) = failed.iter().max_by_key(|(_, n_calls)| **n_calls)?;
        let n_failed: usize = failed.values().sum();
        let n_all: usize = self.tool_replies().values().sum();
        let more = match failed.len() - 1 {
            0 => String::new(),
            n_more => format!(", and {n_more} more reasons"),
        };
        let problem = format!(
            "{n_failed} of {n_all} calls have no reply, as what gives replies failed: {why}{more}"
        );
        let hint = "the scores blame the agent for it: see to the source, then try the agent anew";
        Some(Notice::new(problem).hint(hint))
    }

    fn n_claims_that_differ(&self) -> usize {
        self.judged.iter().filter(|own| !own.claimed().is_empty()).count()
    }

    /// A word on agents that claim other calls than those that arrived.
    fn warning_of_claims(&self) -> Option<Notice> {
        let (n, n_all) = (self.n_claims_that_differ(), self.judged.len());
        (n > 0).then(|| {
            let problem = format!(
                "{n} of {n_all} answers claim other calls than those that arrived; what arrived counts"
            );
            Notice::new(problem).hint("see `called_apis` and `claimed_apis` in the results")
        })
    }

    /// Tokens of the agent's models, where it tells them.
    pub fn agent_tokens(&self) -> u64 {
        self.attempted().map(|attempted| attempted.tokens).sum()
    }

    /// What the agent's models cost, where that is known.
    pub fn agent_usd(&self) -> Option<f64> {
        let prices = self.attempted().filter_map(|attempted| attempted.usd);
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
            stopped: self.attempted().filter(|attempted| attempted.stopped.is_some()).count(),
            agent_tokens: Some(self.agent_tokens()).filter(|tokens| *tokens > 0),
            agent_usd: self.agent_usd(),
            judge_repeats: self.judge.repeats(),
            judge_noise: self.pass_rate().judge_noise,
            judge_usd: self.judge_cost().usd(),
            judge_errors: self.judged.iter().filter(|own| own.verdict.failure.is_some()).count(),
            judge_unusable: self.judged.iter().filter(|own| own.verdict.is_unusable).count(),
            sets: self.sets(report),
        }
    }

    /// How many answers have no verdict.
    pub fn n_unjudged(&self) -> usize {
        self.judged.iter().filter(|own| own.verdict.status.is_none()).count()
    }

    /// What the judge cost.
    pub fn judge_cost(&self) -> Cost {
        self.judged.iter().fold(Cost::default(), |sum, own| sum.plus(own.verdict.cost))
    }

    /// The solvable pass rate, and how much the judge's runs differ.
    pub fn pass_rate(&self) -> PassRate {
        let said: Vec<[Said; 1]> =
            self.judged.iter().map(|own| [own.verdict.statuses.clone()]).collect();
        let said = said.iter().map(<[Said; 1]>::as_slice);
        PassRate::of_verdicts(said, self.judge.repeats() as usize).unwrap_or_default()
    }

    fn has_sets(&self) -> bool {
        let first = self.judged.first().map(|own| &own.selected.set);
        self.judged.iter().any(|own| Some(&own.selected.set) != first)
    }

    /// What is summed up of each set, where there are several.
    pub fn sets(&self, report: &Report<'_>) -> BTreeMap<String, Summary> {
        if !self.has_sets() {
            return BTreeMap::new();
        }
        let mut sets: BTreeMap<&str, Vec<Evaluated>> = BTreeMap::new();
        for (own, evaluation) in self.judged.iter().zip(&report.results) {
            sets.entry(&own.selected.set).or_default().push(evaluation.evaluated());
        }
        sets.into_iter().map(|(set, results)| (set.to_owned(), Summary::of(&results))).collect()
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
                reason: Some(own.verdict.reason.clone()).filter(|reason| !reason.is_empty()),
                ..steps.unwrap_or_default()
            };
            judgement.extend(own.verdict.statuses.iter().copied());
            judgement
        };
        // What nobody could be asked about would count as unsolved there.
        let judged = self.judged.iter().filter(|own| own.verdict.status.is_some());
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
