//! Histories of prompts: each prompt of a conversation repeats the one before and goes on. What was
//! read already need not be read again.

use hashbrown::HashMap;

use super::facts::SpanFacts;

/// How many prompts of a trace are remembered: agents within agents take turns.
const REMEMBERED: usize = 4;

/// The prompts of traces, as they stand in the text.
#[derive(Default)]
pub(crate) struct Histories<'a> {
    by_trace: HashMap<Box<str>, History<'a>>,
}

#[derive(Default)]
struct History<'a> {
    prompts: Vec<&'a str>,
    /// Calls without ids are told apart by counting them from the start, so all must be read.
    has_unnamed: bool,
}

impl<'a> Histories<'a> {
    /// Remembers a prompt, a JSON string of a list. Returns the list without what an earlier prompt
    /// has, or `None` if there is none to leave out.
    pub(crate) fn news(&mut self, trace: &str, prompt: &'a str) -> Option<String> {
        let history = match self.by_trace.get_mut(trace) {
            Some(history) => history,
            None => self.by_trace.entry(trace.into()).or_default(),
        };
        let inside = |prompt: &'a str| prompt.strip_prefix('"')?.trim_end().strip_suffix("]\"");
        let mine = inside(prompt)?;
        let earlier = history
            .prompts
            .iter()
            .position(|known| inside(known).is_some_and(|known| goes_on(mine, known)));
        let news = earlier.filter(|_| !history.has_unnamed).and_then(|at| {
            let known = inside(history.prompts[at])?;
            Some(format!(
                "[{}]",
                juror_json::unescape(mine[known.len()..].trim_start_matches([',', ' ']))
            ))
        });
        match earlier {
            Some(at) => history.prompts[at] = prompt,
            None => {
                if history.prompts.len() == REMEMBERED {
                    history.prompts.remove(0);
                }
                history.prompts.push(prompt);
            }
        }
        news
    }

    /// Takes note of calls without ids.
    pub(crate) fn note(&mut self, facts: &SpanFacts) {
        let is_unnamed = facts.calls.iter().any(|call| call.value.id.is_none())
            || facts.results.iter().any(|result| result.value.id.is_none());
        if let Some(history) = self.by_trace.get_mut(facts.trace.as_str()).filter(|_| is_unnamed) {
            history.has_unnamed = true;
        }
    }
}

/// Whether a prompt repeats another, and an item follows.
fn goes_on(mine: &str, known: &str) -> bool {
    let rest = mine.strip_prefix(known);
    known.ends_with('}') && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_read() {
        let mut histories = Histories::default();
        let prompts = [
            r#""[{\"a\":1}]""#,
            r#""[{\"a\":1}, {\"b\":\"x\"}]""#,
            r#""[{\"c\":1}]""#,
            r#""[{\"a\":1}, {\"b\":\"x\"}]""#,
        ];
        let news: Vec<Option<String>> =
            prompts.iter().map(|prompt| histories.news("t", prompt)).collect();
        assert_eq!(news, [None, Some("[{\"b\":\"x\"}]".to_owned()), None, Some("[]".to_owned())]);
        assert_eq!(histories.news("u", prompts[1]), None, "another trace");
        assert_eq!(histories.news("t", "7"), None, "no list");
    }
}
