//! Judges whether queries are solved.

use std::collections::BTreeMap;
use std::sync::Arc;

use juror_judge::{JudgedAnswer, PassRateJudge};
use juror_models::{Cost, Models};
use juror_run::{Settings, SetupError, no_model, pass_rate_judge};
use juror_score::{Cause, Finding, JudgedBy, Reason, Verdict, Why};
use juror_toolbench::answer::Answer;
use juror_toolbench::judged::{GiveUp, Progress, Said, begin, guess_status};
use juror_toolbench::result::status_findings;
use serde_json::{Value, json};

/// The judge, as the user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeWord {
    /// The model of `llm.judge` or `llm.generation`.
    Model,
    /// Rules that guess from the form of an answer.
    Heuristic,
    /// No judge.
    Nobody,
}

/// Judges whether queries are solved.
pub enum SolveJudge {
    /// A model.
    Model {
        /// The judge's prompts and rules.
        judge: PassRateJudge,
        /// The model.
        models: Arc<Models>,
        /// What affects the model's verdicts: its name, its parameters, and its address.
        identity: Value,
        /// How often each answer is judged.
        repeats: u32,
    },
    /// Rules that guess from the form of an answer.
    Heuristic,
    /// No judge.
    Nobody,
}

impl SolveJudge {
    /// Creates the judge that the user names; by default the model, which comes with what affects
    /// its verdicts, or no judge if there is none.
    pub fn new(
        word: Option<JudgeWord>,
        settings: &Settings,
        model: Option<(&Arc<Models>, &Value)>,
        repeats: Option<u32>,
    ) -> Result<SolveJudge, SetupError> {
        let (models, identity) = match (word, model) {
            (Some(JudgeWord::Heuristic), _) => return Ok(SolveJudge::Heuristic),
            (Some(JudgeWord::Nobody), _) | (None, None) => return Ok(SolveJudge::Nobody),
            (Some(JudgeWord::Model), None) => return Err(no_model()),
            (_, Some((models, identity))) => (models.clone(), identity.clone()),
        };
        let repeats = repeats.or(settings.judge.repeats.map(std::num::NonZero::get));
        let (judge, repeats) = (pass_rate_judge(settings)?, repeats.unwrap_or(1).max(1));
        Ok(SolveJudge::Model { judge, models, identity, repeats })
    }

    /// Returns the name of the judging method, as results have it.
    pub fn method(&self) -> &'static str {
        match self {
            SolveJudge::Model { .. } => "model",
            SolveJudge::Heuristic => "heuristic",
            SolveJudge::Nobody => "none",
        }
    }

    /// Returns the judging model, if any.
    pub fn model(&self) -> Option<&str> {
        match self {
            SolveJudge::Model { models, .. } => Some(models.chat_name()),
            SolveJudge::Heuristic | SolveJudge::Nobody => None,
        }
    }

    /// Returns the hashes of the judge's prompts, by purpose.
    pub fn prompts(&self) -> BTreeMap<String, String> {
        match self {
            SolveJudge::Model { judge, .. } => judge.prompts().into_iter().collect(),
            SolveJudge::Heuristic | SolveJudge::Nobody => BTreeMap::new(),
        }
    }

    /// Returns who judges, as evaluations say it; rules are known by their name.
    pub fn judged_by(&self) -> Option<JudgedBy> {
        let model = match self {
            SolveJudge::Nobody => return None,
            SolveJudge::Model { .. } | SolveJudge::Heuristic => {
                self.model().unwrap_or(self.method()).to_owned()
            }
        };
        Some(JudgedBy { model, embedding: None, prompts: self.prompts() })
    }

    /// Describes the judge for the manifest of a run, as evaluations describe theirs.
    pub fn described(&self) -> Value {
        let mut described = match self {
            SolveJudge::Model { identity, .. } => identity.clone(),
            SolveJudge::Heuristic | SolveJudge::Nobody => json!({"model": null}),
        };
        described["method"] = self.method().into();
        described["prompts"] = json!(self.prompts());
        described["repeats"] = self.repeats().into();
        described
    }

    /// Returns how often each answer is judged.
    pub fn repeats(&self) -> u32 {
        match self {
            SolveJudge::Model { repeats, .. } => *repeats,
            SolveJudge::Heuristic | SolveJudge::Nobody => 1,
        }
    }

    /// Judges whether an answer solves its query, and why.
    pub(super) async fn solves(
        &self,
        query: &str,
        answer: Option<&Answer<'_>>,
        call_score: f64,
    ) -> Solves {
        match self {
            SolveJudge::Model { judge, models, repeats, .. } => {
                Solves::of(judge.judge(query, answer, models, *repeats).await)
            }
            SolveJudge::Heuristic => guess(answer, call_score),
            SolveJudge::Nobody => Solves { reason: "nobody judged it".into(), ..Solves::default() },
        }
    }
}

/// Guesses a status from the form of an answer; some forms decide it outright.
fn guess(answer: Option<&Answer<'_>>, call_score: f64) -> Solves {
    let (status, reason) = match begin(answer, GiveUp::Said) {
        Progress::Done(outcome) => (outcome.status, outcome.basis.reason().unwrap_or_default()),
        Progress::Ask(_) => {
            let text = answer.map(Answer::final_text).unwrap_or_default();
            let status = guess_status(&text, answer.is_some_and(Answer::has_finish), call_score);
            (status, "guessed by rules from the form of the answer".into())
        }
    };
    Solves { statuses: vec![Some(status)], reason, ..Solves::default() }
}

/// A judge's verdict on whether an answer solves its query.
#[derive(Clone, Debug, Default)]
pub struct Solves {
    /// The status found by each run of the judge; `None` if it could not be asked.
    pub statuses: Said,
    /// The reason; empty if the judge gave none.
    pub reason: String,
    /// The cost of judging.
    pub cost: Cost,
    /// The failure, even if there is a status: an unusable reply counts as unsure.
    pub failure: Option<Why>,
    /// Whether any reply of the judge is unusable.
    pub is_unusable: bool,
}

impl Solves {
    fn of(judged: JudgedAnswer) -> Solves {
        let cause = match &judged.outside {
            _ if judged.unfinished => Cause::NotAsked,
            Some(outside) if outside.is_late => Cause::Late,
            Some(_) => Cause::Outside,
            None => Cause::Data,
        };
        Solves {
            statuses: judged.statuses(),
            failure: judged.failure().map(|message| Why { message, cause }),
            is_unusable: judged.n_unusable() > 0,
            reason: judged.reason.unwrap_or_default(),
            cost: judged.cost,
        }
    }

    /// Returns whether there is any status.
    pub fn is_judged(&self) -> bool {
        self.statuses.iter().any(Option::is_some)
    }

    /// Returns the verdict as findings; judging took this many seconds.
    pub(super) fn findings(&self, seconds: f64) -> Vec<Finding> {
        let not_judged = Verdict::NotApplicable(Reason::NotJudged);
        let otherwise = self.failure.clone().map_or(not_judged, Verdict::Failed);
        let mut findings = status_findings(&self.statuses, otherwise, seconds);
        if let Some(sopr) = findings.first_mut() {
            sopr.reason = Some(self.reason.clone()).filter(|reason| !reason.is_empty());
            sopr.cost = self.cost.usd();
        }
        findings
    }
}
