//! The calls to models that led to verdicts: what was asked, and what they replied.

use juror_read::ResultCase;
use serde::Serialize;

use super::page::AnswerText;

/// The most characters of a message or a reply that a page keeps.
const MOST_CHARACTERS: usize = 20_000;

/// Finds the calls that led to verdicts. Pages are made on several threads.
pub trait JudgeCalls: Sync {
    /// Returns the calls of each finding of an answer, in the order of its judgement.
    fn of_answer(&self, result: &ResultCase<'_>) -> Vec<VerdictCalls>;

    /// Returns the calls that decided whether an attempt solves its query.
    fn of_attempt(&self, text: &AnswerText<'_>) -> VerdictCalls;
}

/// The calls of a verdict, or in words why they are not to be had.
pub type VerdictCalls = Result<Vec<JudgeCall>, String>;

/// A call of a judge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeCall {
    purpose: String,
    model: String,
    repeat: u32,
    messages: Vec<CallText>,
    reply: CallText,
    tokens: (u64, u64),
    usd: Option<f64>,
}

/// A message or a reply.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CallText {
    role: String,
    text: String,
    /// How many characters the page leaves out.
    more: usize,
}

impl JudgeCall {
    /// Creates a call without messages.
    pub fn new(purpose: String, model: String, repeat: u32) -> JudgeCall {
        let (messages, reply) = (Vec::new(), CallText::new("reply", ""));
        JudgeCall { purpose, model, repeat, messages, reply, tokens: (0, 0), usd: None }
    }

    /// Adds a message that was sent.
    #[must_use]
    pub fn message(mut self, role: &str, text: &str) -> JudgeCall {
        self.messages.push(CallText::new(role, text));
        self
    }

    /// Sets what came back, named by its role; the tokens sent and written; the price in US dollars.
    #[must_use]
    pub fn reply(
        self,
        (role, text): (&str, &str),
        tokens: (u64, u64),
        usd: Option<f64>,
    ) -> JudgeCall {
        JudgeCall { reply: CallText::new(role, text), tokens, usd, ..self }
    }
}

impl CallText {
    fn new(role: &str, text: &str) -> CallText {
        let end = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(end, _)| end);
        let more = text[end..].chars().count();
        CallText { role: role.to_owned(), text: text[..end].to_owned(), more }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let call = JudgeCall::new("claims".into(), "m".into(), 0)
            .message("user", &"é".repeat(MOST_CHARACTERS + 3))
            .reply(("reply", "short"), (1, 2), None);
        assert_eq!((call.messages[0].more, call.reply.more), (3, 0));
        assert_eq!(call.messages[0].text.chars().count(), MOST_CHARACTERS);
    }
}
