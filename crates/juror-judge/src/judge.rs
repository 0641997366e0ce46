//! The `Judge` trait, and panels of judges.

use std::collections::BTreeMap;
use std::num::NonZero;

use futures_util::future::join_all;
use juror_models::{Answer, CallError, ChatCall, Cost, Models, Pending, Tape, TapedCall};
use juror_score::{Aspect, Case, Cause, Finding, JudgedBy, Judgement, Matching, Verdict, Why};

use crate::purpose::embeds;
use crate::retrieval::is_asked_for;

/// How many equal calls one judging of a case can make before their numbers run into those of the
/// next repeat.
const MOST_ALIKE: u32 = 1 << 16;

/// Which of several repeats of the same judging it is. Each asks anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeat(u32);

impl Repeat {
    /// The first of them, or the only one.
    pub const FIRST: Repeat = Repeat(0);

    /// Returns a text that no other repeat has, to count calls that depend on replies.
    pub(crate) fn told_apart(self, text: &str) -> String {
        match self.0 {
            0 => text.to_owned(),
            number => format!("{text} {number}"),
        }
    }

    /// Returns a call as this repeat makes it. A reply to another repeat does not answer it.
    pub(crate) fn of(self, call: ChatCall) -> ChatCall {
        let repeat = self.0.saturating_mul(MOST_ALIKE).saturating_add(call.repeat);
        ChatCall { repeat, ..call }
    }
}

/// Asks models about an aspect of a case. A judge does not fail as a whole: what it could not find
/// out is a failed finding.
pub trait Judge: Send + Sync {
    /// Judges a case. `matching` says which expected steps were found, if that is known.
    fn judge<'a>(
        &'a self,
        case: &'a Case<'a>,
        matching: Option<&'a Matching>,
        models: &'a Models,
        repeat: Repeat,
    ) -> Pending<'a, Judgement>;

    /// The aspects that it judges.
    fn aspects(&self) -> Vec<Aspect>;

    /// The prompts that it uses: purpose and hash.
    fn prompts(&self) -> Vec<(String, String)>;
}

/// Turns the error of a call into a verdict.
pub(crate) fn failed(error: &CallError) -> Verdict {
    let cause = match error {
        CallError::NotAsked(_) => Cause::NotAsked,
        error if error.is_late() => Cause::Late,
        error if error.is_outside() => Cause::Outside,
        _ => Cause::Data,
    };
    Verdict::Failed(Why { message: error.to_string(), cause })
}

/// Waits for several answers. Returns their outcomes, or the first error, and the total cost.
pub(crate) async fn collect<T>(
    asked: impl IntoIterator<Item = impl Future<Output = Answer<T>>>,
) -> (Result<Vec<T>, CallError>, Cost) {
    let mut cost = Cost::default();
    let mut outcomes = Vec::new();
    for answer in join_all(asked).await {
        cost = cost.plus(answer.cost);
        outcomes.push(answer.outcome);
    }
    (outcomes.into_iter().collect(), cost)
}

/// All judges of a run.
#[derive(Default)]
pub struct Panel {
    judges: Vec<Box<dyn Judge>>,
    /// How often each of them judges a case, after the first time.
    n_further: u32,
}

impl Panel {
    /// Creates a panel. Findings come in the order of the judges.
    pub fn new(judges: Vec<Box<dyn Judge>>) -> Panel {
        Panel { judges, n_further: 0 }
    }

    /// Makes every judge judge a case this often.
    #[must_use]
    pub fn repeated(self, times: NonZero<u32>) -> Panel {
        Panel { n_further: times.get() - 1, ..self }
    }

    /// Returns how often each judge judges a case.
    pub fn repeats(&self) -> u32 {
        self.n_further + 1
    }

    /// Whether there are no judges.
    pub fn is_empty(&self) -> bool {
        self.judges.is_empty()
    }

    /// The prompts in use: purpose and hash.
    pub fn prompts(&self) -> BTreeMap<String, String> {
        self.judges.iter().flat_map(|judge| judge.prompts()).collect()
    }

    /// The aspects that are judged.
    pub fn aspects(&self) -> Vec<Aspect> {
        self.judges.iter().flat_map(|judge| judge.aspects()).collect()
    }

    /// Lets all judges judge a case, concurrently, as often as they are to.
    pub async fn judge(
        &self,
        case: &Case<'_>,
        matching: Option<&Matching>,
        models: &Models,
    ) -> Judgement {
        let mut judgement = Judgement::default();
        let asked = self.judges.iter().map(|judge| {
            let repeats = (0..=self.n_further).map(Repeat);
            join_all(repeats.map(|repeat| judge.judge(case, matching, models, repeat)))
        });
        let mut prompts = BTreeMap::new();
        for (judge, repeats) in self.judges.iter().zip(join_all(asked).await) {
            let found = Judgement::of_repeats(repeats);
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

    /// Judges a case like [`judge`](Self::judge), one judge and one repeat after the other, so that
    /// it is known which calls led to which finding. `tape` is that of the models.
    pub async fn retrace(
        &self,
        case: &Case<'_>,
        matching: Option<&Matching>,
        models: &Models,
        tape: &Tape,
    ) -> Vec<Retraced> {
        let mut all = Vec::new();
        for judge in &self.judges {
            let (mut repeats, mut calls) = (Vec::new(), Vec::new());
            for repeat in 0..=self.n_further {
                tape.take();
                repeats.push(judge.judge(case, matching, models, Repeat(repeat)).await);
                let taped = tape.take();
                // A judge that asks nothing asks nothing again, and what is not kept cannot be shown.
                let is_last = taped.is_empty() || taped.iter().any(|call| call.reply.is_none());
                calls.extend(taped.into_iter().map(|call| TapedCall { repeat, ..call }));
                if is_last {
                    break;
                }
            }
            for finding in Judgement::of_repeats(repeats).findings {
                let is_own = |call: &TapedCall| {
                    call.step == finding.step && is_asked_for(&call.purpose, finding.aspect.name())
                };
                let own = calls.extract_if(.., |call| is_own(call)).collect();
                all.push(Retraced { finding, calls: own });
            }
        }
        all
    }
}

/// A finding, and the calls that led to it.
#[derive(Debug)]
pub struct Retraced {
    /// What was found.
    pub finding: Finding,
    /// The calls. Their `repeat` is the number of the judging, counted from 0.
    pub calls: Vec<TapedCall>,
}

/// Which models judged, with which prompts.
fn judged_by(models: &Models, prompts: BTreeMap<String, String>) -> JudgedBy {
    let embeds = prompts.keys().any(|purpose| embeds(purpose));
    let embedding = models.embedding_name().filter(|_| embeds).map(str::to_owned);
    JudgedBy { model: models.chat_name().to_owned(), embedding, prompts }
}

/// Whether a text is not worth sending.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
