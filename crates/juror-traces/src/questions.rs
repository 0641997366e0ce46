//! Which question a conversation is about.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::conversation::Conversation;

/// The questions of a reference.
#[derive(Debug, Default)]
pub struct Questions {
    ids: HashSet<String>,
    /// Ids by texts; `None` if several questions have the text.
    by_text: HashMap<String, Option<String>>,
}

/// How a conversation was joined to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JoinedBy {
    /// By the question's id.
    Id,
    /// By another id that is the question's: of a session, a conversation.
    OtherId,
    /// By the question's text.
    Text,
    /// It was not: no question of the reference is like it.
    Nothing,
}

impl Questions {
    /// Takes the ids and texts of a reference's questions.
    pub fn new<'q>(questions: impl IntoIterator<Item = (&'q str, &'q str)>) -> Questions {
        let mut all = Questions::default();
        for (id, text) in questions {
            all.ids.insert(id.to_owned());
            let known = all.by_text.entry(plain(text));
            known.and_modify(|known| *known = None).or_insert_with(|| Some(id.to_owned()));
        }
        all
    }

    /// Returns the id of the question that a conversation is about.
    fn find(&self, conversation: &Conversation) -> Option<(String, JoinedBy)> {
        let known = |id: &&String| self.ids.contains(id.as_str());
        if let Some(id) = conversation.question_id.as_ref().filter(known) {
            return Some((id.clone(), JoinedBy::Id));
        }
        if let Some(id) = conversation.other_ids.iter().find(known) {
            return Some((id.clone(), JoinedBy::OtherId));
        }
        let texts = conversation.questions.iter();
        let of_text = texts.filter_map(|text| self.by_text.get(&plain(text))).flatten().next();
        of_text.map(|id| (id.clone(), JoinedBy::Text))
    }
}

/// A text without differences in blanks.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Gives conversations the ids of questions, and numbers those of one question.
#[derive(Debug, Default)]
pub struct Joiner {
    questions: Option<Questions>,
    n_trials: BTreeMap<String, usize>,
    n_unnamed: usize,
}

/// What a conversation answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The id of the question.
    pub question_id: String,
    /// Which of several answers to it this is, from the second on.
    pub trial: Option<usize>,
    /// How it was found; without a reference, by id if the trace says one.
    pub by: JoinedBy,
}

impl Joiner {
    /// Joins by the questions of a reference, or without one.
    pub fn new(questions: Option<Questions>) -> Joiner {
        Joiner { questions, ..Joiner::default() }
    }

    /// Returns the question of the next conversation.
    pub fn join(&mut self, conversation: &Conversation) -> Joined {
        let found = match &self.questions {
            Some(questions) => questions.find(conversation),
            None => conversation.question_id.clone().map(|id| (id, JoinedBy::Id)),
        };
        let (question_id, by) = found.unwrap_or_else(|| self.stand_in(conversation));
        let n = self.n_trials.entry(question_id.clone()).or_default();
        *n += 1;
        let trial = (*n > 1).then_some(*n);
        Joined { question_id, trial, by }
    }

    fn stand_in(&mut self, conversation: &Conversation) -> (String, JoinedBy) {
        let has_reference = self.questions.is_some();
        if let Some(id) = &conversation.question_id {
            return (id.clone(), JoinedBy::Nothing);
        }
        if let Some(id) = conversation.other_ids.first() {
            return (id.clone(), if has_reference { JoinedBy::Nothing } else { JoinedBy::OtherId });
        }
        self.n_unnamed += 1;
        (format!("conversation-{}", self.n_unnamed), JoinedBy::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(id: Option<&str>, other: &[&str], text: &[&str]) -> Conversation {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Conversation {
            question_id: id.map(str::to_owned),
            other_ids: own(other),
            questions: own(text),
            ..Conversation::default()
        }
    }

    #[test]
    fn conversations_find_their_questions() {
        let questions =
            Questions::new([("q1", "How  warm is it?"), ("q2", "Same?"), ("q3", "Same?")]);
        let mut joiner = Joiner::new(Some(questions));
        let mut check =
            |conversation: Conversation, id: &str, trial: Option<usize>, by: JoinedBy| {
                assert_eq!(
                    joiner.join(&conversation),
                    Joined { question_id: id.to_owned(), trial, by }
                );
            };
        check(conversation(Some("q1"), &["q2"], &[]), "q1", None, JoinedBy::Id);
        check(conversation(Some("no"), &["x", "q2"], &[]), "q2", None, JoinedBy::OtherId);
        check(
            conversation(None, &["x"], &["Hello", "How warm is\nit?"]),
            "q1",
            Some(2),
            JoinedBy::Text,
        );
        check(conversation(None, &["x"], &["Same?"]), "x", None, JoinedBy::Nothing);
        check(conversation(None, &[], &[]), "conversation-1", None, JoinedBy::Nothing);
    }

    #[test]
    fn without_a_reference_the_trace_names_the_question() {
        let mut joiner = Joiner::new(None);
        assert_eq!(joiner.join(&conversation(Some("q1"), &[], &[])).by, JoinedBy::Id);
        assert_eq!(joiner.join(&conversation(None, &["s"], &[])).question_id, "s");
    }
}
