//! Who judges whether queries are solved, and what comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use juror_judge::PassRateJudge;
use juror_models::{Cost, Models};
use juror_toolbench::answer::Answer;
use juror_toolbench::judged::{GiveUp, Progress, Status, begin, guess_status};
use serde_json::{Value, json};

use crate::models::{no_model, pass_rate_judge};
use crate::settings::Settings;
use crate::setup_error::SetupError;

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
        models: Arc<Models>,
        /// How often it judges each answer.
        repeats: u32,
    },
    /// Rules that guess by the form of an answer.
    Heuristic,
    /// Nobody.
    Nobody,
}

impl SolveJudge {
    /// The judge that is asked for; by default the model, or nobody if there is none.
    pub fn new(
        word: Option<JudgeWord>,
        settings: &Settings,
        models: Option<&Arc<Models>>,
        repeats: Option<u32>,
    ) -> Result<SolveJudge, SetupError> {
        let models = match (word, models) {
            (Some(JudgeWord::Heuristic), _) => return Ok(SolveJudge::Heuristic),
            (Some(JudgeWord::Nobody), _) | (None, None) => return Ok(SolveJudge::Nobody),
            (Some(JudgeWord::Model), None) => return Err(no_model()),
            (_, Some(models)) => models.clone(),
        };
        let repeats = repeats.or(settings.judge.repeats.map(std::num::NonZero::get));
        let judge = pass_rate_judge(settings)?;
        Ok(SolveJudge::Model { judge, models, repeats: repeats.unwrap_or(1).max(1) })
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

    /// The prompts it is asked with, by purpose, and their hashes.
    pub fn prompts(&self) -> BTreeMap<String, String> {
        match self {
            SolveJudge::Model { judge, .. } => judge.prompts().into_iter().collect(),
            SolveJudge::Heuristic | SolveJudge::Nobody => BTreeMap::new(),
        }
    }

    /// What runs say of it.
    pub fn described(&self) -> Value {
        json!({"method": self.method(), "model": self.model(), "prompts": self.prompts(),
            "repeats": self.repeats()})
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
            return Verdict {
                statuses: judged.statuses(),
                status: judged.majority(),
                reason: judged.reason.clone().unwrap_or_default(),
                cost: judged.cost,
                failure: judged.failure(),
                is_unusable: judged.n_unusable() > 0,
            };
        }
        if let SolveJudge::Nobody = self {
            return Verdict { reason: "nobody judged it".into(), ..Verdict::default() };
        }
        let (status, reason) = match (begin(did, GiveUp::Said), did) {
            (Progress::Done(outcome), _) => {
                (outcome.status, outcome.basis.reason().unwrap_or_default())
            }
            (Progress::Ask(_), did) => {
                let text = did.map(Answer::final_text).unwrap_or_default();
                let status = guess_status(&text, did.is_some_and(Answer::has_finish), call_score);
                (status, "guessed by rules from the form of the answer".into())
            }
        };
        Verdict { statuses: vec![Some(status)], status: Some(status), reason, ..Verdict::default() }
    }
}

/// Whether an answer solves its query.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The status by each run of the judge; `None` if it could not be asked.
    pub statuses: Vec<Option<Status>>,
    /// The status by most of them; `None` if nobody judged, or could be asked.
    pub status: Option<Status>,
    /// Why.
    pub reason: String,
    /// What the judge cost.
    pub cost: Cost,
    /// What went wrong.
    pub failure: Option<String>,
    /// Whether a reply of the judge says nothing usable, and counts as unsure.
    pub is_unusable: bool,
}

impl Verdict {
    /// The mean score of the judge's runs; `None` if nobody judged, or could be asked.
    pub fn score(&self) -> Option<f64> {
        let scores: Vec<f64> = self.statuses.iter().flatten().map(|said| said.score()).collect();
        self.status.map(|_| scores.iter().sum::<f64>() / scores.len().max(1) as f64)
    }
}
