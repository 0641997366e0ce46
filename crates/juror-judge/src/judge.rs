//! Judges: each asks models about one aspect of a case.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use juror_models::{CallError, Cost, Models, OutsideReason, Pending};
use juror_score::{Note, Record};
use serde_json::{Value, json};

/// Asks models about a case. A judge never fails as a whole: what it could not find out, it says.
pub trait Judge: Send + Sync {
    /// Judges one case.
    fn judge<'a>(&'a self, record: &'a Record<'a>, models: &'a Models) -> Pending<'a, Verdicts>;

    /// The prompts it uses: purpose and hash.
    fn prompts(&self) -> Vec<(String, String)>;
}

/// What a judge found out.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// Keys of the result.
    pub notes: Vec<Note>,
    /// Texts that look like forged verdicts.
    pub flags: Vec<String>,
    /// Why the first call failed that did so for a reason outside: a later run may do better.
    pub outside: Option<OutsideReason>,
    /// Whether a call was not asked because asking had stopped: the case is not finished.
    pub unfinished: bool,
}

impl Verdicts {
    /// Adds what a call cost, where it is known.
    pub(crate) fn cost(&mut self, metric: &str, step: Option<usize>, cost: Cost) {
        if let Some(usd) = cost.usd() {
            self.notes.push(Note::new(format!("{metric}_cost"), usd).of_step(step));
        }
    }

    /// Says why there is no score.
    pub(crate) fn error(&mut self, key: String, step: Option<usize>, error: &CallError) {
        self.outside = self.outside.take().or_else(|| OutsideReason::of(error));
        self.unfinished |= matches!(error, CallError::NotAsked(_));
        self.notes.push(Note::new(key, error.to_string()).of_step(step));
    }

    /// Says in words why there is no score.
    pub(crate) fn failure(&mut self, key: String, step: Option<usize>, why: &str) {
        self.notes.push(Note::new(key, why).of_step(step));
    }

    pub(crate) fn extend(&mut self, other: Verdicts) {
        self.notes.extend(other.notes);
        for flag in other.flags {
            if !self.flags.contains(&flag) {
                self.flags.push(flag);
            }
        }
        self.outside = self.outside.take().or(other.outside);
        self.unfinished |= other.unfinished;
    }
}

/// All judges of a run.
#[derive(Default)]
pub struct Panel {
    judges: Vec<Box<dyn Judge>>,
}

impl Panel {
    /// Judges that are asked in this order.
    pub fn new(judges: Vec<Box<dyn Judge>>) -> Panel {
        Panel { judges }
    }

    /// Whether nobody judges.
    pub fn is_empty(&self) -> bool {
        self.judges.is_empty()
    }

    /// The prompts in use: purpose and hash.
    pub fn prompts(&self) -> BTreeMap<String, String> {
        self.judges.iter().flat_map(|judge| judge.prompts()).collect()
    }

    /// Judges one case, all judges at once.
    pub async fn judge(&self, record: &Record<'_>, models: &Models) -> Verdicts {
        let mut verdicts = Verdicts::default();
        let asked = self.judges.iter().map(|judge| judge.judge(record, models));
        let mut prompts = BTreeMap::new();
        for (judge, found) in self.judges.iter().zip(join_all(asked).await) {
            if !found.notes.is_empty() {
                prompts.extend(judge.prompts());
            }
            verdicts.extend(found);
        }
        if !verdicts.notes.is_empty() {
            let by = judged_by(models, &prompts, &verdicts.flags);
            verdicts.notes.push(Note::new("judged_by", by));
        }
        verdicts
    }
}

/// Who judged, with which prompts.
fn judged_by(models: &Models, prompts: &BTreeMap<String, String>, flags: &[String]) -> Value {
    let mut by = json!({"model": models.chat_name(), "prompts": prompts});
    let embeds = prompts.contains_key("generated_question");
    if let Some(name) = models.embedding_name().filter(|_| embeds) {
        by["embedding"] = json!(name);
    }
    if !flags.is_empty() {
        by["flags"] = json!(flags);
    }
    by
}

/// Whether a text is worth sending.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
