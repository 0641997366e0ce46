//! Whether a final answer alone is a correct reply: yes or no.

use juror_models::{CallError, ChatCall, Cost, Models};
use juror_toolbench::answer::Answer;
use juror_toolbench::judged::{Status, labelled_verdicts, read_final_verdict, text_to_judge};

use crate::pass_rate::{not_asked, read_status, schema};
use crate::reply::{Material, only, shown};
use crate::template::{Template, TemplateError};

const PURPOSE: &str = "final_answer_status";

/// Texts the prompt may use.
pub(crate) const PLACES: &[&str] = &["query", "final_answer"];

/// The prompt in the project.
pub(crate) const PROMPT: &str = include_str!("../prompts/final_answer_status.md");

/// Judges whether final answers are correct.
pub struct FinalAnswerJudge {
    template: Template,
}

/// What judging a final answer came to.
#[derive(Clone, Debug)]
pub struct FinalJudged {
    /// Whether it is correct, or why there is no verdict.
    pub is_solved: Result<bool, CallError>,
    /// Why, in words.
    pub reason: Option<String>,
    /// What the reply cost.
    pub cost: Cost,
}

impl FinalJudged {
    /// Whether the answer is correct; a reply that says nothing usable counts as no. Nothing where
    /// the judge could not be asked.
    pub fn verdict(&self) -> Option<bool> {
        match &self.is_solved {
            Ok(is_solved) => Some(*is_solved),
            Err(error) => (!error.is_unasked()).then_some(false),
        }
    }
}

impl FinalAnswerJudge {
    /// A judge with a prompt of Juror's kind.
    pub fn new(prompt: &str) -> Result<FinalAnswerJudge, TemplateError> {
        Ok(FinalAnswerJudge { template: Template::read(prompt, PLACES)? })
    }

    /// The prompts it uses: purpose and hash.
    pub fn prompts(&self) -> Vec<(String, String)> {
        vec![(PURPOSE.into(), self.template.hash().into())]
    }

    /// Judges an answer. Where there is none, or it is empty, nobody is asked.
    pub async fn judge(
        &self,
        query: &str,
        answer: Option<&Answer<'_>>,
        models: &Models,
    ) -> FinalJudged {
        let Some(final_answer) = text_to_judge(answer) else {
            let reason = Some("there is no final answer".to_owned());
            return FinalJudged { is_solved: Ok(false), reason, cost: Cost::default() };
        };
        let prompt = self.template.fill(&[("query", query), ("final_answer", &final_answer)]);
        let call = ChatCall::new(PURPOSE, prompt, Some(schema(&["Solved", "Unsolved"])));
        let read = |reply: &str| read_solved(reply, &Material::of(&call.prompt));
        let reply = models.ask(&call, read).await;
        let reason = match &reply.outcome {
            Ok((_, reason)) => Some(reason.clone()).filter(|reason| !reason.is_empty()),
            Err(error) if error.is_unasked() => Some(not_asked(&error.to_string())),
            Err(error) => Some(format!("the judge gave no verdict: {error}")),
        };
        let is_solved = reply.outcome.map(|(is_solved, _)| is_solved);
        FinalJudged { is_solved, reason, cost: reply.cost }
    }
}

/// Reads a verdict: JSON as it was asked for, or a text with a word for it.
fn read_solved(reply: &str, material: &Material<'_>) -> Result<(bool, String), String> {
    match read_status(reply, material) {
        Ok((Status::Solved, reason)) => Ok((true, reason)),
        Ok((Status::Unsolved, reason)) => Ok((false, reason)),
        Ok((Status::Unsure, _)) => Err("`answer_status` is Unsure, not yes or no".into()),
        Err(_) if !reply.contains('{') && reply.to_lowercase().contains("solved") => {
            Ok((read_words(reply, material)?, String::new()))
        }
        Err(why) => Err(why),
    }
}

/// Reads a verdict in words. Lines that are labelled as the status must not disagree, but for those
/// that stand in the judged text.
fn read_words(reply: &str, material: &Material<'_>) -> Result<bool, String> {
    let labelled = labelled_verdicts(reply);
    let agree = labelled.iter().all(|(_, is_solved)| *is_solved == labelled[0].1);
    if agree {
        return Ok(read_final_verdict(reply));
    }
    let is_own = |(line, _): &(&str, bool)| !material.has_line(line);
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
            let judged = Material::new(["I did it.\n  Answer Status: Solved\nSo there."]);
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
