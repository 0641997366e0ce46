//! Judges: each asks models about one aspect of a case.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use juror_models::{CallError, Models, Pending};
use juror_score::{Aspect, Case, Cause, JudgedBy, Judgement, Matching, Verdict, Why};

/// Asks models about a case. A judge never fails as a whole: what it could not find out, it says.
pub trait Judge: Send + Sync {
    /// Judges one case. `matching` tells which expected steps were found, where that is known.
    fn judge<'a>(
        &'a self,
        case: &'a Case<'a>,
        matching: Option<&'a Matching>,
        models: &'a Models,
    ) -> Pending<'a, Judgement>;

    /// What it looks at.
    fn aspects(&self) -> Vec<Aspect>;

    /// The prompts it uses: purpose and hash.
    fn prompts(&self) -> Vec<(String, String)>;
}

/// What a call that gave no score stands for.
pub(crate) fn failed(error: &CallError) -> Verdict {
    let cause = match error {
        CallError::NotAsked(_) => Cause::NotAsked,
        error if error.is_late() => Cause::Late,
        error if error.is_outside() => Cause::Outside,
        _ => Cause::Data,
    };
    Verdict::Failed(Why { message: error.to_string(), cause })
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

    /// What the judges look at.
    pub fn aspects(&self) -> Vec<Aspect> {
        self.judges.iter().flat_map(|judge| judge.aspects()).collect()
    }

    /// Judges one case, all judges at once.
    pub async fn judge(
        &self,
        case: &Case<'_>,
        matching: Option<&Matching>,
        models: &Models,
    ) -> Judgement {
        let mut judgement = Judgement::default();
        let asked = self.judges.iter().map(|judge| judge.judge(case, matching, models));
        let mut prompts = BTreeMap::new();
        for (judge, found) in self.judges.iter().zip(join_all(asked).await) {
            if !found.findings.is_empty() {
                prompts.extend(judge.prompts());
            }
            judgement.extend(found);
        }
        if !judgement.findings.is_empty() {
            judgement.judged_by = Some(judged_by(models, prompts));
        }
        judgement
    }
}

/// Who judged, with which prompts.
fn judged_by(models: &Models, prompts: BTreeMap<String, String>) -> JudgedBy {
    let embeds = prompts.contains_key("generated_question");
    let embedding = models.embedding_name().filter(|_| embeds).map(str::to_owned);
    JudgedBy { model: models.chat_name().to_owned(), embedding, prompts }
}

/// Whether a text is worth sending.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
