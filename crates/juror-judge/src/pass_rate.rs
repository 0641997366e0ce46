//! Judges whether an agent's answer solves its query.

use futures_util::future::join_all;
use juror_models::{CallError, ChatCall, Cost, Models, OutsideReason, Schema};
use juror_toolbench::answer::Answer;
use juror_toolbench::judged::{
    Ask, Basis, GiveUp, Outcome, Progress, Status, begin, go_on, majority,
};

use serde_json::Value;

use crate::reply::{JudgedTexts, imitates_verdict, read_verdict, text};
use crate::template::{Template, TemplateError};
use crate::trajectory;

pub(crate) const STATUS: &str = "answer_status";
pub(crate) const DETAILED: &str = "answer_status_detailed";

/// The placeholders that the prompts may use.
pub(crate) const STATUS_PLACES: &[&str] = &["query", "final_answer"];
pub(crate) const DETAILED_PLACES: &[&str] = &["query", "steps", "final_answer"];

/// The built-in prompts.
pub(crate) const STATUS_PROMPT: &str = include_str!("../prompts/answer_status.md");
pub(crate) const DETAILED_PROMPT: &str = include_str!("../prompts/answer_status_detailed.md");

/// Judges whether answers solve their queries: by the final answer, and if that is unclear, by
/// everything the agent did.
pub struct PassRateJudge {
    status: Template,
    detailed: Template,
}

/// The judgement of an answer, over several runs.
#[derive(Clone, Debug, Default)]
pub struct JudgedAnswer {
    /// The outcome of each run, or why it could not be asked. An unusable reply counts as unsure,
    /// with the reason.
    pub runs: Vec<Result<Outcome, String>>,
    /// The reason of the first run that agrees with the majority, or what went wrong.
    pub reason: Option<String>,
    /// The cost of all replies.
    pub cost: Cost,
    /// Whether the answer imitates a verdict.
    pub imitates_verdict: bool,
    /// The first failure with an external cause; a later attempt may succeed.
    pub outside: Option<OutsideReason>,
    /// Whether a run was not asked, because asking was stopped or calls are only counted.
    pub unfinished: bool,
}

impl JudgedAnswer {
    /// The status of each run; `None` if it could not be asked.
    pub fn statuses(&self) -> Vec<Option<Status>> {
        self.runs.iter().map(|run| run.as_ref().ok().map(|outcome| outcome.status)).collect()
    }

    /// The status of most runs; a tie is unsure. `None` if no run could be asked.
    pub fn majority(&self) -> Option<Status> {
        let statuses: Vec<Status> = self.statuses().into_iter().flatten().collect();
        (!statuses.is_empty()).then(|| majority(&statuses))
    }

    /// The number of runs that could not be asked.
    pub(crate) fn n_unasked(&self) -> usize {
        self.runs.iter().filter(|run| run.is_err()).count()
    }

    /// The number of runs with an unusable reply.
    pub fn n_unusable(&self) -> usize {
        let is_unusable = |outcome: &&Outcome| matches!(outcome.basis, Basis::Failed(_));
        self.runs.iter().flatten().filter(is_unusable).count()
    }

    /// Why the first run without a verdict has none.
    pub fn failure(&self) -> Option<String> {
        self.runs.iter().find_map(|run| match run {
            Err(why) => Some(not_asked(why)),
            Ok(outcome) if matches!(outcome.basis, Basis::Failed(_)) => outcome.basis.reason(),
            Ok(_) => None,
        })
    }
}

/// The reason of a run that could not be asked.
fn not_asked(why: &str) -> String {
    format!("the judge could not be asked: {why}")
}

/// Returns the reason in a reply, or why there is no verdict.
pub(crate) fn reason_of<T>(outcome: &Result<(T, String), CallError>) -> Option<String> {
    match outcome {
        Ok((_, reason)) => Some(reason.clone()).filter(|reason| !reason.is_empty()),
        Err(error) if error.is_unasked() => Some(not_asked(&error.to_string())),
        Err(error) => Some(format!("the judge gave no verdict: {error}")),
    }
}

/// One run of a judge over an answer.
struct JudgeRun {
    outcome: Result<Outcome, String>,
    reason: Option<String>,
    cost: Cost,
    error: Option<CallError>,
}

impl PassRateJudge {
    /// Creates a judge with prompts of Juror's format: for the final answer, and for everything the
    /// agent did.
    pub fn new(status: &str, detailed: &str) -> Result<PassRateJudge, TemplateError> {
        Ok(PassRateJudge {
            status: Template::read(status, STATUS_PLACES)?,
            detailed: Template::read(detailed, DETAILED_PLACES)?,
        })
    }

    /// The prompts that it uses: purpose and hash.
    pub fn prompts(&self) -> Vec<(String, String)> {
        let prompt =
            |name: &str, template: &Template| (name.to_owned(), template.hash().to_owned());
        vec![prompt(STATUS, &self.status), prompt(DETAILED, &self.detailed)]
    }

    /// Judges an answer, which may be missing, `repeats` times concurrently.
    pub async fn judge(
        &self,
        query: &str,
        answer: Option<&Answer<'_>>,
        models: &Models,
        repeats: u32,
    ) -> JudgedAnswer {
        let runs = (0..repeats).map(|repeat| self.run(query, answer, models, repeat));
        let runs = join_all(runs).await;
        let mut judged = JudgedAnswer::default();
        for run in &runs {
            judged.runs.push(run.outcome.clone());
            judged.cost = judged.cost.plus(run.cost);
            let outside = || run.error.as_ref().and_then(OutsideReason::of);
            judged.outside = judged.outside.take().or_else(outside);
            judged.unfinished |=
                matches!(run.error, Some(CallError::NotAsked(_) | CallError::OnlyCounted));
        }
        let majority = judged.majority();
        let says_so = |run: &&JudgeRun| run.outcome.as_ref().ok().map(|own| own.status) == majority;
        let speaker = runs.iter().find(says_so).or(runs.first());
        judged.reason = speaker.and_then(|run| run.reason.clone());
        judged.imitates_verdict =
            answer.is_some_and(|answer| imitates_verdict(&answer.final_text()));
        judged
    }

    async fn run(
        &self,
        query: &str,
        answer: Option<&Answer<'_>>,
        models: &Models,
        repeat: u32,
    ) -> JudgeRun {
        let mut progress = begin(answer, GiveUp::Said);
        let (mut said, mut cost, mut error) = (None, Cost::default(), None);
        loop {
            let (ask, answer) = match (progress, answer) {
                (Progress::Ask(ask), Some(answer)) => (ask, answer),
                (Progress::Done(outcome), _) => {
                    let reason = outcome.basis.reason().or(said);
                    return JudgeRun { outcome: Ok(outcome), reason, cost, error };
                }
                (Progress::Ask(_), None) => {
                    // Unreachable: nothing is asked without an answer.
                    let outcome = Outcome { status: Status::Unsolved, basis: Basis::Missing };
                    let reason = outcome.basis.reason();
                    return JudgeRun { outcome: Ok(outcome), reason, cost, error };
                }
            };
            let call = self.call(ask, query, answer, repeat);
            let read = |reply: &str| read_status(reply, &JudgedTexts::of(&call.prompt));
            let reply = models.ask(&call, read).await;
            cost = cost.plus(reply.cost);
            progress = match reply.outcome {
                Ok((status, reason)) => {
                    said = Some(reason).filter(|reason| !reason.is_empty());
                    go_on(ask, Ok(status))
                }
                Err(why) if why.is_unasked() => {
                    let (outcome, reason) = (Err(why.to_string()), not_asked(&why.to_string()));
                    return JudgeRun { outcome, reason: Some(reason), cost, error: Some(why) };
                }
                Err(why) => {
                    let progress = go_on(ask, Err(why.to_string()));
                    error = Some(why);
                    progress
                }
            };
        }
    }

    fn call(&self, ask: Ask, query: &str, answer: &Answer<'_>, repeat: u32) -> ChatCall {
        let final_answer = trajectory::final_answer(answer);
        let texts = [("query", query), ("final_answer", &final_answer)];
        let (purpose, prompt) = match ask {
            Ask::Status => (STATUS, self.status.fill(&texts)),
            Ask::Detailed => {
                let steps = trajectory::steps(answer);
                let [query, final_answer] = texts;
                (DETAILED, self.detailed.fill(&[query, ("steps", &steps), final_answer]))
            }
        };
        let schema = schema(&["Solved", "Unsure", "Unsolved"]);
        ChatCall { repeat, ..ChatCall::new(purpose, prompt, Some(schema)) }
    }
}

/// The schema of a reply with a status.
pub(crate) fn schema(statuses: &[&str]) -> Schema {
    Schema::object([("reason", Schema::text()), ("answer_status", Schema::word(statuses))])
}

/// Reads a status and its reason.
pub(crate) fn read_status(
    reply: &str,
    judged_texts: &JudgedTexts<'_>,
) -> Result<(Status, String), String> {
    let read = |value: &Value| {
        let word = value.get("answer_status").ok_or("`answer_status` is missing")?;
        let status = word.as_str().and_then(Status::of_reply);
        let status = status.ok_or_else(|| format!("`answer_status` is {word}, not a status"))?;
        Ok((status, text(value, "reason").to_owned()))
    };
    read_verdict(reply, judged_texts, read, |(one, _), (other, _)| one == other).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_or_told() {
        let check = |reply: &str, wanted: Result<Status, &str>| {
            let found = read_status(reply, &JudgedTexts::default()).map(|(status, _)| status);
            match wanted {
                Ok(status) => assert_eq!(found, Ok(status), "{reply}"),
                Err(why) => assert!(found.is_err_and(|error| error.starts_with(why)), "{reply}"),
            }
        };
        check(r#"{"answer_status": "Solved", "reason": "r"}"#, Ok(Status::Solved));
        check(r#"{"answer_status": "AnswerStatus.Unsure"}"#, Ok(Status::Unsure));
        check("Well: {\"answer_status\": \"unsolved\"}", Ok(Status::Unsolved));
        check(r#"{"answer_status": "Perhaps"}"#, Err("`answer_status` is \"Perhaps\""));
        check(r#"{"answer_status": 1}"#, Err("`answer_status` is 1"));
        check(r#"{"reason": "r"}"#, Err("`answer_status` is missing"));
        check("Solved", Err("the reply holds no JSON"));
        check("", Err("the reply is empty"));
    }

    #[test]
    fn the_prompts_have_their_places() {
        assert!(PassRateJudge::new(STATUS_PROMPT, DETAILED_PROMPT).is_ok());
        assert!(PassRateJudge::new(DETAILED_PROMPT, STATUS_PROMPT).is_err());
    }
}
