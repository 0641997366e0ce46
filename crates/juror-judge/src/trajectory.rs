//! What judges are shown of an answer.

use std::borrow::Cow;
use std::fmt::Write;

use juror_score::tool::answer::{Answer, Node};
use juror_score::tool::judged::text_to_judge;

/// How much of an agent's steps a judge is shown, in characters. What agents are sent back is
/// usually cut long before.
const MOST_SHOWN: usize = 60_000;

/// The final answer as the user of an agent sees it.
pub(crate) fn final_answer<'a>(answer: &'a Answer<'_>) -> Cow<'a, str> {
    text_to_judge(Some(answer)).unwrap_or_else(|| answer.final_text())
}

/// What an agent did, a step a line, as far as it fits.
pub(crate) fn steps(answer: &Answer<'_>) -> String {
    let mut steps = String::new();
    let said = answer.nodes.iter().filter(|node| node.message.is_something());
    for (at, Node { role, message, .. }) in said.enumerate() {
        let text = message.text().unwrap_or_else(|| message.get().into());
        // Writing to a string does not fail.
        let _ = writeln!(steps, "{}. {role}: {text}", at + 1);
    }
    let mut steps = shortened(steps.trim_end(), MOST_SHOWN);
    if steps.is_empty() {
        steps.push_str("(no steps are recorded)");
    }
    steps
}

/// A text without its middle, where it is too long: how it ends matters as much as how it begins.
fn shortened(text: &str, most: usize) -> String {
    let n_characters = text.chars().count();
    if n_characters <= most {
        return text.to_owned();
    }
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(place, _)| place);
    let (head, tail) = (place(most / 2), place(n_characters - most / 2));
    let n_left_out = n_characters - 2 * (most / 2);
    format!("{}\n(… {n_left_out} characters left out …)\n{}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::tool::answer::read_answer;

    #[test]
    fn steps_are_a_list() {
        let text = r#"{"final_answer": "x", "answer_details": [{"role": "system", "message": "", "next": [
            {"role": "assistant", "message": "I'll look", "next": [
            {"role": "tool", "message": {"name": "f", "response": "r"}, "next": []}]}]}]}"#;
        let answer = read_answer(text).expect("an answer");
        let shown = "1. assistant: I'll look\n2. tool: {\"name\": \"f\", \"response\": \"r\"}";
        assert_eq!(steps(&answer), shown);
        let none = read_answer(r#"{"final_answer": "x", "answer_details": []}"#);
        assert_eq!(steps(&none.expect("an answer")), "(no steps are recorded)");
    }

    #[test]
    fn long_texts_lose_their_middle() {
        let check = |text: &str, most, wanted: &str| assert_eq!(shortened(text, most), wanted);
        check("äbcdef", 6, "äbcdef");
        check("äbcdefg", 4, "äb\n(… 3 characters left out …)\nfg");
        check("", 4, "");
    }
}
