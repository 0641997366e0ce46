//! Texts with names in braces.

use juror_graph::is_name;

/// A text with names in braces, such as `Which taxa grow in the {house_name}?`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextPattern {
    /// The text before each name, and the name.
    parts: Vec<(String, String)>,
    end: String,
}

impl TextPattern {
    /// Finds all names. A brace that begins none is a brace.
    pub(crate) fn parse(text: &str) -> TextPattern {
        let mut parts = Vec::new();
        let (mut before, mut rest) = (String::new(), text);
        while let Some((head, tail)) = rest.split_once('{') {
            before.push_str(head);
            match tail.split_once('}').filter(|(name, _)| is_name(name)) {
                Some((name, after)) => {
                    parts.push((std::mem::take(&mut before), name.to_owned()));
                    rest = after;
                }
                None => {
                    before.push('{');
                    rest = tail;
                }
            }
        }
        before.push_str(rest);
        TextPattern { parts, end: before }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(_, name)| name.as_str())
    }

    /// Puts texts in place of names. A name without a text stays as it is.
    pub(crate) fn fill(&self, text_of: impl Fn(&str) -> Option<String>) -> String {
        let mut out = String::new();
        for (before, name) in &self.parts {
            out.push_str(before);
            out.push_str(&text_of(name).unwrap_or_else(|| format!("{{{name}}}")));
        }
        out.push_str(&self.end);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_other_braces_stay() {
        let pattern = TextPattern::parse("{ {a} {b c} {1} {{d}} {a}{e");
        assert_eq!(pattern.names().collect::<Vec<_>>(), ["a", "d", "a"]);
        let filled = pattern.fill(|name| (name == "a").then(|| "{d}".to_owned()));
        assert_eq!(filled, "{ {d} {b c} {1} {{d}} {d}{e");
    }
}
