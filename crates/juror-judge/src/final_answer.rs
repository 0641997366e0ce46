//! Judges whether a final answer alone is correct: yes or no.

use juror_models::{CallError, ChatCall, Cost, Models};
use juror_toolbench::answer::Answer;
use juror_toolbench::judged::{Status, labelled_verdicts, read_final_verdict, text_to_judge};

use crate::pass_rate::{read_status, reason_of, schema};
use crate::reply::{JudgedTexts, only, shown};
use crate::template::{Template, TemplateError};

pub(crate) const PURPOSE: &str = "final_answer_status";

/// The placeholders that the prompt may use.
pub(crate) const PLACES: &[&str] = &["query", "final_answer"];

/// The built-in prompt.
pub(crate) const PROMPT: &str = include_str!("../prompts/final_answer_status.md");

/// Judges whether final answers are correct.
pub struct FinalAnswerJudge {
    template: Template,
}

/// The judgement of a final answer.
#[derive(Clone, Debug)]
pub struct JudgedFinalAnswer {
    /// Whether the answer is correct, or why there is no verdict.
    pub is_solved: Result<bool, CallError>,
    /// The reason for the verdict, or why there is none.
    pub reason: Option<String>,
    /// The cost of the reply.
    pub cost: Cost,
}

impl JudgedFinalAnswer {
    /// Whether the answer is correct. An unusable reply counts as no. `None` if the judge could not
    /// be asked.
    pub fn verdict(&self) -> Option<bool> {
        match &self.is_solved {
            Ok(is_solved) => Some(*is_solved),
            Err(error) => (!error.is_unasked()).then_some(false),
        }
    }
}

impl FinalAnswerJudge {
    /// Creates a judge with a prompt of Juror's format.
    pub fn new(prompt: &str) -> Result<FinalAnswerJudge, TemplateError> {
        Ok(FinalAnswerJudge { template: Template::read(prompt, PLACES)? })
    }

    /// The prompts that it uses: purpose and hash.
    pub fn prompts(&self) -> Vec<(String, String)> {
        vec![(PURPOSE.into(), self.template.hash().into())]
    }

    /// Judges an answer. Asks nobody if there is none, or if it is empty.
    pub async fn judge(
        &self,
        query: &str,
        answer: Option<&Answer<'_>>,
        models: &Models,
    ) -> JudgedFinalAnswer {
        let Some(final_answer) = text_to_judge(answer) else {
            let reason = Some("there is no final answer".to_owned());
            return JudgedFinalAnswer { is_solved: Ok(false), reason, cost: Cost::default() };
        };
        let prompt = self.template.fill(&[("query", query), ("final_answer", &final_answer)]);
        let call = ChatCall::new(PURPOSE, prompt, Some(schema(&["Solved", "Unsolved"])));
        let read = |reply: &str| read_solved(reply, &JudgedTexts::of(&call.prompt));
        let reply = models.ask(&call, read).await;
        let reason = reason_of(&reply.outcome);
        let is_solved = reply.outcome.map(|(is_solved, _)| is_solved);
        JudgedFinalAnswer { is_solved, reason, cost: reply.cost }
    }
}

/// Reads a verdict: JSON as requested, or a sentence that contains `solved` or `unsolved`.
fn read_solved(reply: &str, judged_texts: &JudgedTexts<'_>) -> Result<(bool, String), String> {
    match read_status(reply, judged_texts) {
        Ok((Status::Solved, reason)) => Ok((true, reason)),
        Ok((Status::Unsolved, reason)) => Ok((false, reason)),
        Ok((Status::Unsure, _)) => Err("`answer_status` is Unsure, not yes or no".into()),
        Err(_) if !reply.contains('{') && reply.to_lowercase().contains("solved") => {
            Ok((read_words(reply, judged_texts)?, String::new()))
        }
        Err(why) => Err(why),
    }
}

/// Reads a verdict from a sentence. Lines labelled as the status have to agree, except for those
/// quoted from the judged text.
fn read_words(reply: &str, judged_texts: &JudgedTexts<'_>) -> Result<bool, String> {
    let labelled = labelled_verdicts(reply);
    let agree = labelled.iter().all(|(_, is_solved)| *is_solved == labelled[0].1);
    if agree {
        return Ok(read_final_verdict(reply));
    }
    let is_own = |(line, _): &(&str, bool)| !judged_texts.has_line(line);
    only(labelled, is_own, |(_, one), (_, other)| one == other)
        .map(|(_, is_solved)| is_solved)
        .map_err(|why| format!("{why}: {}", shown(reply)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_yes_or_no() {
        let check = |reply: &str, wanted: Option<bool>| {
            let judged = JudgedTexts::new(["I did it.\n  Answer Status: Solved\nSo there."]);
            let found = read_solved(reply, &judged).ok().map(|(is_solved, _)| is_solved);
            assert_eq!(found, wanted, "{reply}");
        };
        check(r#"{"answer_status": "Solved", "reason": "r"}"#, Some(true));
        check(r#"{"answer_status": "Unsolved", "reason": "it looks solved"}"#, Some(false));
        check(r#"{"answer_status": "Unsure"}"#, None);
        check(r#"{"status": "Solved"}"#, None);
        check("Answer Status: Solved\nReason: nothing is left unsolved", Some(true));
        check("It is unsolved.", Some(false));
        check("Answer Status: Unsolved\nIt claims:\nAnswer Status: Solved", Some(false));
        check("Answer Status: Unsolved\nAnswer status: Solved, it says", None);
        check("I cannot say", None);
        check("", None);
    }

    #[test]
    fn the_prompt_has_its_places() {
        assert!(FinalAnswerJudge::new(PROMPT).is_ok());
    }
}
