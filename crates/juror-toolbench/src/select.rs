//! Selects the tools to give an agent: by a model, by a model's earlier choice, or by words.

use hashbrown::HashSet;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the key of a stored selection.
pub fn selection_key(query: &str, most: usize, model: &str) -> String {
    let hash = Sha256::digest(format!("{query}|max_tools={most}|model={model}"));
    hash.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// A tool to choose from: its sanitized and its original name.
pub type Named<'a> = (&'a str, &'a str);

/// A stored selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedSelection {
    /// The query it was made for.
    pub query: String,
    /// The chosen names.
    pub selected_tools: Vec<String>,
    /// The model that chose.
    pub model: String,
    /// The number asked for.
    pub max_tools: usize,
}

/// A selection, and whether to store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Sanitized names.
    pub names: Vec<String>,
    /// Whether to store it: it is new and not empty.
    pub is_new: bool,
}

/// What to select.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The query.
    pub query: &'a str,
    /// The model that chooses.
    pub model: &'a str,
    /// The number of tools.
    pub most: usize,
    /// How to split the query into words if the model's reply is useless.
    pub words: Words,
}

/// Selects tools, given by sanitized and original name.
///
/// Uses a stored selection if it was made for the same request, and asks for `reply` otherwise. If
/// the reply names no tool, ranks them by the words of the query.
pub fn select_tools(
    wanted: Wanted<'_>,
    tools: &[Named<'_>],
    cached: Option<&CachedSelection>,
    reply: impl FnOnce() -> String,
) -> Selection {
    if let Some(cached) = cached.filter(|cached| cached.is_for(wanted)) {
        let mut names = cached.resolve(tools);
        names.truncate(wanted.most);
        return Selection { names, is_new: false };
    }
    let known: Vec<&str> = tools.iter().map(|(sanitized, _)| *sanitized).collect();
    let mut names = read_selected_names(&reply(), &known).unwrap_or_default();
    names.truncate(wanted.most);
    if names.is_empty() {
        let ranked = rank_by_words(wanted.query, &known, wanted.most, wanted.words);
        names = ranked.into_iter().map(str::to_owned).collect();
    }
    let is_new = !names.is_empty();
    Selection { names, is_new }
}

impl CachedSelection {
    fn is_for(&self, wanted: Wanted<'_>) -> bool {
        self.query == wanted.query
            && self.model == wanted.model
            && self.max_tools == wanted.most
            && !self.selected_tools.is_empty()
    }

    /// Returns the names that still exist, looking for sanitized names first, then original ones.
    pub fn resolve(&self, tools: &[Named<'_>]) -> Vec<String> {
        let find = |name: &String| {
            let sanitized = tools.iter().find(|tool| tool.0 == name);
            sanitized.or_else(|| tools.iter().find(|tool| tool.1 == name))
        };
        self.selected_tools.iter().filter_map(find).map(|tool| tool.0.to_owned()).collect()
    }

    /// Returns whether most of the tools are gone, so that a new selection is better.
    pub fn is_stale(&self, tools: &[Named<'_>]) -> bool {
        self.resolve(tools).len() * 2 < self.selected_tools.len()
    }
}

/// Returns the known names in a model's list, or `None` if it is not a list. Reads a list that was
/// cut off as far as it goes.
pub fn read_selected_names(reply: &str, known: &[&str]) -> Option<Vec<String>> {
    let text = without_fence(reply.trim());
    let names = match serde_json::from_str::<Value>(text) {
        Ok(value) => texts_of(&value)?,
        Err(error) => rescue(text, &error)?,
    };
    let known: HashSet<&str> = known.iter().copied().collect();
    Some(names.into_iter().filter(|name| known.contains(name.as_str())).collect())
}

/// Removes the first and last line if they fence a code block.
fn without_fence(text: &str) -> &str {
    if !text.starts_with("```") {
        return text;
    }
    let inside = text.split_once('\n').map_or("", |(_, rest)| rest);
    inside.rsplit_once('\n').map_or("", |(inside, _)| inside)
}

fn texts_of(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter().filter_map(Value::as_str);
    Some(texts.map(str::to_owned).collect())
}

fn rescue(text: &str, error: &serde_json::Error) -> Option<Vec<String>> {
    if let Some(end) = text.rfind(']')
        && let Ok(value) = serde_json::from_str::<Value>(&text[..=end])
    {
        return texts_of(&value);
    }
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = text.floor_char_boundary((before + error.column()).min(text.len()));
    let names = quoted_texts(&text[..at]);
    (!names.is_empty()).then_some(names)
}

fn quoted_texts(text: &str) -> Vec<String> {
    let mut parts = text.split('"');
    let mut texts = Vec::new();
    // The parts alternate: outside quotes, inside, outside. An unclosed quote has no part after it.
    parts.next();
    while let (Some(inside), Some(_)) = (parts.next(), parts.next()) {
        texts.push(inside.to_owned());
    }
    texts
}

/// How to split a query into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// At spaces, keeping punctuation, as for public results.
    Spaced,
    /// Letters and digits only: `data?` becomes `data`.
    Letters,
}

/// Returns the names that contain the most words of a query, best first. Ties keep their order.
pub fn rank_by_words<'a>(
    query: &str,
    names: &[&'a str],
    most: usize,
    words: Words,
) -> Vec<&'a str> {
    let query = query.to_lowercase();
    let words: Vec<&str> = match words {
        Words::Spaced => query.split_whitespace().collect(),
        Words::Letters => query.split(|c: char| !c.is_alphanumeric()).collect(),
    };
    // A repeated word counts once.
    let words: HashSet<&str> = words.into_iter().filter(|word| word.chars().count() > 2).collect();
    let count = |name: &str| {
        let name = name.to_lowercase();
        words.iter().filter(|word| name.contains(**word)).count()
    };
    let mut ranked: Vec<(usize, &str)> = names.iter().map(|name| (count(name), *name)).collect();
    ranked.retain(|(count, _)| *count > 0);
    ranked.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    ranked.into_iter().take(most).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [Named<'static>; 3] = [("A_b", "A b"), ("C", "C"), ("data_x", "data x")];

    fn wanted(most: usize) -> Wanted<'static> {
        Wanted { query: "any data?", model: "m", most, words: Words::Letters }
    }

    fn cached(names: &[&str]) -> CachedSelection {
        CachedSelection {
            query: "any data?".into(),
            selected_tools: names.iter().map(|name| (*name).to_owned()).collect(),
            model: "m".into(),
            max_tools: 2,
        }
    }

    #[test]
    fn what_was_chosen_for_the_same_is_chosen_again() {
        let kept = cached(&["C", "A b", "gone"]);
        let selection = select_tools(wanted(2), &TOOLS, Some(&kept), || unreachable!());
        assert_eq!(selection, Selection { names: vec!["C".into(), "A_b".into()], is_new: false });
        assert!(!kept.is_stale(&TOOLS));
        assert!(cached(&["gone", "lost", "C"]).is_stale(&TOOLS));
        let other = select_tools(wanted(3), &TOOLS, Some(&kept), || "[\"C\"]".into());
        assert_eq!(other, Selection { names: vec!["C".into()], is_new: true });
    }

    #[test]
    fn words_choose_where_the_model_does_not() {
        let chosen = select_tools(wanted(2), &TOOLS, None, || "no idea".into());
        assert_eq!(chosen.names, ["data_x"]);
        assert_eq!(rank_by_words("any data?", &["data_x"], 2, Words::Spaced), [""; 0]);
    }

    #[test]
    fn lists_are_read_as_far_as_they_go() {
        let read = |reply: &str| read_selected_names(reply, &["A", "B"]);
        let both = Some(vec!["A".to_owned(), "B".to_owned()]);
        for reply in [
            "[\"A\", \"B\", \"Z\", 1]",
            "```json\n[\"A\", \"B\"]\n```",
            "[\"A\", \"B\"",
            "[\"A\", \"B\", \"unfin",
            "[\"A\", \"B\"] as asked",
        ] {
            assert_eq!(read(reply), both, "{reply}");
        }
        assert_eq!(read("{\"tools\": [\"A\"]}"), None);
        assert_eq!(read("none"), None);
    }
}
