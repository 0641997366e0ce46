//! Who judges whether queries are solved, and what comes of it.

use std::sync::Arc;

use juror_judge::{Cost, Models, PassRateJudge};
use juror_score::tool::answer::Answer;
use juror_score::tool::judged::{GiveUp, Progress, Status, begin, guess_status};

use crate::models::{AskOptions, Environment, SetupError, models_for, pass_rate_judge};
use crate::settings::Settings;

/// Who judges, as users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeWord {
    /// The model of `llm.generation`.
    Model,
    /// Rules that guess by the form of an answer.
    Heuristic,
    /// Nobody.
    Nobody,
}

/// Who judges whether queries are solved.
pub enum SolveJudge {
    /// A model.
    Model {
        /// What it is asked.
        judge: PassRateJudge,
        /// The model.
        models: Box<Models>,
        /// How often it judges each answer.
        repeats: u32,
    },
    /// Rules that guess by the form of an answer.
    Heuristic,
    /// Nobody.
    Nobody,
}

impl SolveJudge {
    /// The judge that is asked for; without a word the model, or nobody where none is configured.
    pub fn new(
        word: Option<JudgeWord>,
        settings: &Settings,
        environment: Environment<'_>,
        repeats: Option<u32>,
        tell: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<SolveJudge, SetupError> {
        let has_model = settings.llm.as_ref().is_some_and(|llm| llm.generation.is_some())
            || environment("OPENAI_API_KEY").is_some();
        match word {
            Some(JudgeWord::Nobody) => Ok(SolveJudge::Nobody),
            Some(JudgeWord::Heuristic) => Ok(SolveJudge::Heuristic),
            None if !has_model => Ok(SolveJudge::Nobody),
            None | Some(JudgeWord::Model) => {
                let (models, _) = models_for(settings, environment, AskOptions::default(), tell)?;
                let repeats = repeats.or(settings.judge.repeats.map(std::num::NonZero::get));
                let judge = pass_rate_judge(settings)?;
                Ok(SolveJudge::Model {
                    judge,
                    models: Box::new(models),
                    repeats: repeats.unwrap_or(1).max(1),
                })
            }
        }
    }

    /// How statuses are found, in a word.
    pub fn method(&self) -> &'static str {
        match self {
            SolveJudge::Model { .. } => "model",
            SolveJudge::Heuristic => "heuristic",
            SolveJudge::Nobody => "none",
        }
    }

    /// The model, if one judges.
    pub fn model(&self) -> Option<&str> {
        match self {
            SolveJudge::Model { models, .. } => Some(models.chat_name()),
            SolveJudge::Heuristic | SolveJudge::Nobody => None,
        }
    }

    /// How often each answer is judged.
    pub fn repeats(&self) -> u32 {
        match self {
            SolveJudge::Model { repeats, .. } => *repeats,
            SolveJudge::Heuristic | SolveJudge::Nobody => 1,
        }
    }

    /// Whether an answer solves its query, and why.
    pub(super) async fn verdict(
        &self,
        query: &str,
        did: Option<&Answer<'_>>,
        call_score: f64,
    ) -> Verdict {
        if let SolveJudge::Model { judge, models, repeats } = self {
            let judged = judge.judge(query, did, models, *repeats).await;
            let failure = judged.failure().map(|why| format!("the judge gave no verdict: {why}"));
            return Verdict {
                statuses: judged.statuses.iter().map(|outcome| outcome.status).collect(),
                status: judged.majority(),
                reason: judged.reason.clone().unwrap_or_default(),
                cost: judged.cost,
                failure,
            };
        }
        let (status, reason) = match (begin(did, GiveUp::Said), did, self) {
            (Progress::Done(outcome), ..) => {
                (outcome.status, outcome.basis.reason().unwrap_or_default())
            }
            (Progress::Ask(_), Some(did), SolveJudge::Heuristic) => {
                let status = guess_status(&did.final_text(), did.has_finish(), call_score);
                (status, "guessed by rules from the form of the answer".into())
            }
            (Progress::Ask(_), ..) => (Status::Unsure, "nobody judged it".into()),
        };
        Verdict { statuses: vec![status], status, reason, ..Verdict::default() }
    }
}

/// Whether an answer solves its query.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What each run of the judge came to.
    pub statuses: Vec<Status>,
    /// What most of them came to.
    pub status: Status,
    /// Why.
    pub reason: String,
    /// What the judge cost.
    pub cost: Cost,
    /// What went wrong.
    pub failure: Option<String>,
}

impl Default for Verdict {
    fn default() -> Verdict {
        Verdict {
            statuses: Vec::new(),
            status: Status::Unsure,
            reason: String::new(),
            cost: Cost::default(),
            failure: None,
        }
    }
}

impl Verdict {
    /// The mean score of the judge's runs.
    pub fn score(&self) -> f64 {
        let sum: f64 = self.statuses.iter().map(|status| status.score()).sum();
        sum / self.statuses.len().max(1) as f64
    }
}
