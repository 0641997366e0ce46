//! Judges which of two agents answered a query better.

use futures_util::future::join_all;
use juror_models::{CallError, ChatCall, Cost, Models, Schema};
use juror_toolbench::answer::Answer;
use juror_toolbench::judged::{Contest, Round, Side, Vote, first_shown};

use serde_json::Value;

use crate::pass_rate::{PassRateJudge, reason_of};
use crate::reply::{JudgedTexts, read_verdict, text};
use crate::template::{Template, TemplateError};
use crate::trajectory;

const PURPOSE: &str = "better_answer";

/// The placeholders that the prompt may use.
pub(crate) const PLACES: &[&str] = &["query", "agent_0", "agent_1"];

/// The built-in prompt.
pub(crate) const PROMPT: &str = include_str!("../prompts/better_answer.md");

/// Judges which of two answers is better: by whether each solves the query, and if that does not
/// decide, by asking for a preference.
pub struct PreferenceJudge {
    template: Template,
    statuses: PassRateJudge,
}

/// The outcome of comparing two answers.
#[derive(Clone, Debug, Default)]
pub struct Preferred {
    /// The vote of each round; `None` if the round failed.
    pub votes: Vec<Option<Vote>>,
    /// The reason of the first round that was asked, or what went wrong.
    pub reason: Option<String>,
    /// The cost of all replies.
    pub cost: Cost,
    /// Whether a call failed with an external cause; a later attempt may succeed.
    pub failed_outside: bool,
    /// Whether a call was not made, because asking was stopped or calls are only counted.
    pub unfinished: bool,
}

impl Preferred {
    /// The same vote in every round, without asking.
    fn decided(vote: Vote, rounds: u32) -> Preferred {
        Preferred { votes: vec![Some(vote); rounds as usize], ..Preferred::default() }
    }

    /// Whether there is a verdict. There is none if no round could be asked.
    pub fn is_judged(&self) -> bool {
        let could_not_ask = self.failed_outside || self.unfinished;
        !could_not_ask || self.votes.iter().any(Option::is_some)
    }

    /// The number of rounds without a vote.
    pub fn n_failed(&self) -> usize {
        self.votes.iter().filter(|vote| vote.is_none()).count()
    }
}

impl PreferenceJudge {
    /// Creates a judge with a prompt of Juror's format. `statuses` judges whether an answer solves
    /// its query.
    pub fn new(prompt: &str, statuses: PassRateJudge) -> Result<PreferenceJudge, TemplateError> {
        Ok(PreferenceJudge { template: Template::read(prompt, PLACES)?, statuses })
    }

    /// The prompts that it uses: purpose and hash.
    pub fn prompts(&self) -> Vec<(String, String)> {
        let mut prompts = vec![(PURPOSE.to_owned(), self.template.hash().to_owned())];
        prompts.extend(self.statuses.prompts());
        prompts
    }

    /// Compares two answers in several rounds, concurrently. `at` is the index of the query in its
    /// run; together with the round, it decides whose answer is shown first.
    ///
    /// If the contest does not say whether the answers solve the query, each is judged once.
    pub async fn judge(
        &self,
        query: &str,
        contest: Contest<'_>,
        at: usize,
        models: &Models,
        rounds: u32,
    ) -> Preferred {
        let mut preferred = Preferred::default();
        let contest = match contest.begin() {
            Round::NeedsStatuses => {
                self.with_statuses(query, contest, models, &mut preferred).await
            }
            Round::Decided(_) | Round::Ask => contest,
        };
        let (reference, candidate) = match (contest.begin(), contest.reference, contest.candidate) {
            (Round::Ask, Some(reference), Some(candidate)) => (reference, candidate),
            (Round::Decided(vote), ..) => {
                preferred.votes = Preferred::decided(vote, rounds).votes;
                return preferred;
            }
            // The statuses could not be judged.
            _ => {
                preferred.votes = vec![None; rounds as usize];
                return preferred;
            }
        };
        let shown = [reference, candidate].map(shown);
        let asked = (0..rounds).map(|round| self.round(query, &shown, at, round, models));
        for (vote, reason, cost) in join_all(asked).await {
            preferred.cost = preferred.cost.plus(cost);
            preferred.note(vote.as_ref().err());
            preferred.reason = preferred.reason.or(reason);
            preferred.votes.push(vote.ok());
        }
        preferred
    }

    /// Adds the statuses of both answers to a contest, if they can be judged.
    async fn with_statuses<'c>(
        &self,
        query: &str,
        contest: Contest<'c>,
        models: &Models,
        preferred: &mut Preferred,
    ) -> Contest<'c> {
        let both = [contest.reference, contest.candidate];
        let judged =
            join_all(both.map(|answer| self.statuses.judge(query, answer, models, 1))).await;
        for one in &judged {
            preferred.cost = preferred.cost.plus(one.cost);
            preferred.failed_outside |= one.outside.is_some();
            preferred.unfinished |= one.unfinished;
        }
        match (judged[0].majority(), judged[1].majority()) {
            (Some(reference), Some(candidate)) => {
                Contest { statuses: Some((reference, candidate)), ..contest }
            }
            _ => {
                let unasked = judged.iter().find(|one| one.n_unasked() > 0);
                preferred.reason = unasked.and_then(|one| one.reason.clone());
                contest
            }
        }
    }

    async fn round(
        &self,
        query: &str,
        shown: &[String; 2],
        at: usize,
        round: u32,
        models: &Models,
    ) -> (Result<Vote, CallError>, Option<String>, Cost) {
        let first = first_shown(at, round as usize);
        let [reference, candidate] = shown;
        let (zero, one) = match first {
            Side::Reference => (reference, candidate),
            Side::Candidate => (candidate, reference),
        };
        let prompt = self.template.fill(&[("query", query), ("agent_0", zero), ("agent_1", one)]);
        // Two rounds, one for each order, make one repeat. So the key of a call does not depend on
        // which order came first.
        let call = ChatCall { repeat: round / 2, ..ChatCall::new(PURPOSE, prompt, Some(schema())) };
        let reply = models
            .ask(&call, |reply| read_vote(reply, &JudgedTexts::of(&call.prompt), first))
            .await;
        let reason = reason_of(&reply.outcome);
        (reply.outcome.map(|(vote, _)| vote), reason, reply.cost)
    }
}

impl Preferred {
    fn note(&mut self, error: Option<&CallError>) {
        self.failed_outside |= error.is_some_and(CallError::is_outside);
        self.unfinished |= matches!(error, Some(CallError::NotAsked(_) | CallError::OnlyCounted));
    }
}

/// Renders an agent's steps and final answer. The answer is on one line as well, so that it cannot
/// imitate further steps.
fn shown(answer: &Answer<'_>) -> String {
    let final_answer = trajectory::on_one_line(&trajectory::final_answer(answer));
    format!("{}\n\nFinal answer: {final_answer}", trajectory::steps(answer))
}

fn schema() -> Schema {
    Schema::object([("reason", Schema::text()), ("index", Schema::bit())])
}

fn read_vote(
    reply: &str,
    judged_texts: &JudgedTexts<'_>,
    first: Side,
) -> Result<(Vote, String), String> {
    let read = |value: &Value| {
        let index = value.get("index").ok_or("`index` is missing")?;
        let vote = index.as_u64().and_then(|index| Vote::of_index(index, first));
        let vote = vote.ok_or_else(|| format!("`index` is {index}, not 0 or 1"))?;
        Ok((vote, text(value, "reason").to_owned()))
    };
    read_verdict(reply, judged_texts, read, |(one, _), (other, _)| one == other).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass_rate::{DETAILED_PROMPT, STATUS_PROMPT};

    #[test]
    fn an_index_means_who_was_shown_there() {
        let check = |reply: &str, first, wanted: Option<Side>| {
            let found = read_vote(reply, &JudgedTexts::default(), first).ok().map(|(vote, _)| vote);
            assert_eq!(found, wanted.map(Vote::For), "{reply}");
        };
        check(r#"{"index": 0}"#, Side::Reference, Some(Side::Reference));
        check(r#"{"index": 0}"#, Side::Candidate, Some(Side::Candidate));
        check(r#"{"index": 1, "reason": "r"}"#, Side::Candidate, Some(Side::Reference));
        check(r#"{"index": 2}"#, Side::Candidate, None);
        check(r#"{"index": "0"}"#, Side::Candidate, None);
        check(r#"{"reason": "0"}"#, Side::Candidate, None);
        check("0", Side::Candidate, None);
    }

    #[test]
    fn the_prompt_has_its_places() {
        let statuses = PassRateJudge::new(STATUS_PROMPT, DETAILED_PROMPT).expect("prompts");
        assert!(PreferenceJudge::new(PROMPT, statuses).is_ok());
    }
}
