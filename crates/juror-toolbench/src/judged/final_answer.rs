//! Final answer correctness: one question about the final answer, answered in free text.

use std::borrow::Cow;

use super::pass_rate::over;
use crate::answer::{Answer, Finish, read_finish};

/// Returns the text to show a judge: the answer the agent gave to `Finish`. Returns `None` if there
/// is none; the query is then unsolved, and no judge is asked.
pub fn text_to_judge<'a>(answer: Option<&'a Answer<'_>>) -> Option<Cow<'a, str>> {
    let text = match answer?.final_text() {
        Cow::Borrowed(text) => answered(text)?,
        Cow::Owned(text) => Cow::Owned(answered(&text)?.into_owned()),
    };
    (!text.is_empty()).then_some(text)
}

fn answered(text: &str) -> Option<Cow<'_, str>> {
    match read_finish(text) {
        Finish::Answered(text) => Some(text),
        Finish::GaveUp => None,
    }
}

/// Returns whether a judge's text says that the query is solved.
///
/// A line labelled as the status decides, or the line after the label. In a text without a label,
/// any word for unsolved outweighs any word for solved.
pub fn read_final_verdict(reply: &str) -> bool {
    labelled(reply).and_then(says).or_else(|| says(reply)).unwrap_or(false)
}

/// Returns the lines labelled as the status, each with whether it says solved.
pub fn labelled_verdicts(reply: &str) -> Vec<(&str, bool)> {
    let said = labels(reply).filter_map(|(line, said)| Some((line, says(said?)?)));
    said.collect()
}

/// Returns the text after the last label.
fn labelled(reply: &str) -> Option<&str> {
    labels(reply).last()?.1
}

/// Returns the labelled lines, each with the text after its label: on the same line, or else on the
/// next.
fn labels(reply: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut lines = reply.lines();
    std::iter::from_fn(move || {
        let (line, rest) = lines.find_map(|line| Some((line, after_label(line)?)))?;
        let is_said = rest.chars().any(char::is_alphanumeric);
        let next = || lines.clone().find(|line| !line.trim().is_empty());
        Some((line, if is_said { Some(rest) } else { next() }))
    })
}

fn after_label(line: &str) -> Option<&str> {
    let is_mark = |c: char| matches!(c, '*' | '#' | '-' | '_' | '"' | ' ' | '\t');
    let line = line.trim_start_matches(is_mark);
    let (label, rest) = line.split_at_checked("answer status".len())?;
    let rest = rest.trim_matches(is_mark);
    let is_label =
        label.eq_ignore_ascii_case("answer status") && (rest.is_empty() || rest.starts_with(':'));
    is_label.then_some(rest)
}

fn says(text: &str) -> Option<bool> {
    let text = text.to_lowercase();
    if text.contains("unsolved") {
        return Some(false);
    }
    text.contains("solved").then_some(true)
}

/// Returns the share of the selected queries that are solved.
pub fn final_answer_rate(verdicts: impl IntoIterator<Item = bool>, n_selected: usize) -> f64 {
    over(verdicts.into_iter().filter(|is_solved| *is_solved).count() as f64, n_selected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read() {
        let check = |reply: &str, is_solved: bool| {
            assert_eq!(read_final_verdict(reply), is_solved, "{reply}");
        };
        check("Answer Status: Solved\nReason: nothing is left unsolved", true);
        check("**Answer Status**\nSolved\nReason: nothing is left unsolved", true);
        check("Reason: it seems solved\nAnswer Status: Unsolved", false);
        check("\"answer status\": solved", true);
        check("Answer Status: Unsolved\nAnswer Status: Solved", true);
        check("Answer Status: maybe\nit is solved", true);
        check("unsolved Answer Status solved", false);
        check("Answer Status solved unsolved", false);
        check("resolved", true);
        check("", false);
        check("Answer Statué", false);
    }
}
