//! Events as lines of a log.

use serde_json::{Value, json};

use crate::server::LogEvent;

/// The maximum length of a logged name, in characters: callers can send anything.
const LONGEST_NAME: usize = 200;

/// The maximum length of Juror's own messages in the log. Paths and hints fit; quoted text was cut
/// before.
const LONGEST_WORDS: usize = 4000;

/// Truncates a text.
fn cut(text: &str, most: usize) -> String {
    let shown: String = text.chars().take(most).collect();
    match text.len() - shown.len() {
        0 => shown,
        n_more => format!("{shown}… and {n_more} more bytes"),
    }
}

/// The maximum number of problems logged for one call.
const MOST_TROUBLES: usize = 8;

impl LogEvent<'_> {
    /// Returns the event as a line of a log, with the time of it.
    pub fn to_json(&self, time: &str) -> Value {
        let name = |text: &str| cut(text, LONGEST_NAME);
        let words = |text: &str| cut(text, LONGEST_WORDS);
        match self {
            LogEvent::Served { category, tool, api, source, found_by, took, troubles } => {
                let seconds = took.as_secs_f64();
                let mut line = json!({"time": time, "event": "call", "category": name(category),
                    "tool_name": name(tool), "api_name": name(api), "source": source,
                    "seconds": seconds});
                if let Some(found_by) = found_by {
                    line["match"] = json!(found_by);
                }
                if !troubles.is_empty() {
                    let shown = troubles.iter().take(MOST_TROUBLES);
                    // They share the limit of one text, so that no line exceeds it.
                    let most = LONGEST_WORDS / shown.len();
                    line["troubles"] = shown.map(|trouble| cut(trouble, most)).collect();
                }
                if troubles.len() > MOST_TROUBLES {
                    line["more_troubles"] = json!(troubles.len() - MOST_TROUBLES);
                }
                line
            }
            LogEvent::Refused { why, status } => {
                json!({"time": time, "event": "refused", "why": words(why), "status": status})
            }
            LogEvent::Trouble(text) => {
                json!({"time": time, "event": "trouble", "what": words(text)})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn our_own_words_are_logged_whole_while_names_and_many_troubles_are_cut() {
        let hint = format!("/{}/tools.sqlite: gone\n  hint: see there", "folder/".repeat(100));
        assert_eq!(LogEvent::Trouble(&hint).to_json("now")["what"], hint);
        let refused = LogEvent::Refused { why: &hint, status: 500 }.to_json("now");
        assert_eq!(refused["why"], hint);
        let long = "x".repeat(100_000);
        let served = |troubles: &[String]| {
            LogEvent::Served {
                category: &long,
                tool: &long,
                api: &long,
                source: "none",
                found_by: None,
                took: Duration::ZERO,
                troubles,
            }
            .to_json("now")
        };
        let troubles: Vec<String> = (0..11).map(|n| format!("{n} {hint}")).collect();
        assert_eq!(served(&troubles[..5])["troubles"], json!(troubles[..5]));
        let line = served(&troubles);
        let shown = line["troubles"].as_array().expect("troubles");
        assert_eq!((shown.len(), &line["more_troubles"]), (8, &json!(3)));
        assert_eq!(shown[7], cut(&troubles[7], LONGEST_WORDS / 8), "they share one limit");
        let cut = format!("{}… and 99800 more bytes", "x".repeat(200));
        assert_eq!((&line["category"], &line["api_name"]), (&json!(cut), &json!(cut)));
    }
}
