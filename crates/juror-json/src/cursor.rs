//! A cursor that walks through JSON once, front to back, and takes values on the way.
//!
//! Recorded answers are large, and little of them is needed. Values that are taken are checked to
//! be valid JSON; values that are skipped are examined only as far as needed to find their end.
//! Trees of nodes come out as one flat list, built without recursion, so that deep nesting cannot
//! overflow the stack.

use std::borrow::Cow;

use crate::reader::{JsonReader, Undecided};
use crate::skip::length_of_nested;
use crate::string::unescape;

/// The text is not JSON, or a value is of another kind than expected.
#[derive(Debug)]
pub struct Lost;

/// The result of a cursor's methods.
pub type Taken<T> = Result<T, Lost>;

impl From<Undecided> for Lost {
    fn from(Undecided: Undecided) -> Lost {
        Lost
    }
}

/// The deepest value that can be taken. Python's writer does not go much deeper.
const DEEPEST: usize = 1000;

/// A position in a JSON text.
///
/// The cursor keeps no stack of what it entered: the caller alternates [`next_key`](Self::next_key)
/// or [`next_item`](Self::next_item) with exactly one value each time, entered, taken or skipped.
/// The one thing to remember is whether a comma is due before the next entry, and after an opening
/// bracket none is.
pub struct Cursor<'a> {
    reader: JsonReader<'a>,
    /// Whether an object or list was just opened, so that no comma is due.
    is_fresh: bool,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { reader: JsonReader::new(text), is_fresh: true }
    }

    /// Enters an object or list if it starts here with this bracket; returns whether it does.
    pub fn opens(&mut self, bracket: u8) -> bool {
        self.reader.skip_space();
        let opens = self.reader.next_is(bracket);
        self.is_fresh |= opens;
        opens
    }

    /// Whether an object or list starts here with this bracket.
    pub fn begins(&mut self, bracket: u8) -> bool {
        self.reader.skip_space();
        self.reader.peek().is_ok_and(|byte| byte == bracket)
    }

    /// Enters an object or list, or fails if none starts here with this bracket.
    pub fn enter(&mut self, bracket: u8) -> Taken<()> {
        if self.opens(bracket) { Ok(()) } else { Err(Lost) }
    }

    /// Moves to the value of an object's next field and returns its key. Returns `None` at the end
    /// of the object and leaves it.
    pub fn next_key(&mut self) -> Taken<Option<Cow<'a, str>>> {
        if !self.goes_on(b'}')? {
            return Ok(None);
        }
        self.reader.skip_space();
        let start = self.reader.at() + 1;
        self.reader.skip_string()?;
        let key = &self.reader.text()[start..self.reader.at() - 1];
        self.reader.take(b':')?;
        Ok(Some(unescape(key)))
    }

    /// Moves to the next item of a list. Returns `false` at the end of the list and leaves it.
    pub fn next_item(&mut self) -> Taken<bool> {
        self.goes_on(b']')
    }

    fn goes_on(&mut self, close: u8) -> Taken<bool> {
        self.reader.skip_space();
        let is_fresh = std::mem::replace(&mut self.is_fresh, false);
        if self.reader.next_is(close) {
            return Ok(false);
        }
        if !is_fresh {
            self.reader.take(b',')?;
        }
        Ok(true)
    }

    /// Skips a value and returns its text. Brackets are balanced and quotes closed, but nothing
    /// else is checked, so the text may not be valid JSON.
    pub fn pass(&mut self) -> Taken<&'a str> {
        self.reader.skip_space();
        let rest = &self.reader.text()[self.reader.at()..];
        let length = length_of_value(rest.as_bytes()).ok_or(Lost)?;
        self.reader.pass(length);
        self.is_fresh = false;
        Ok(&rest[..length])
    }

    /// Takes a value, checked to be valid JSON, verbatim.
    pub fn value(&mut self) -> Taken<&'a str> {
        self.reader.skip_space();
        let start = self.reader.at();
        self.reader.skip_value(DEEPEST)?;
        self.is_fresh = false;
        Ok(&self.reader.text()[start..self.reader.at()])
    }

    /// Reads an object and returns the wanted fields. If a field is repeated, the last one wins.
    pub fn fields<const N: usize>(&mut self, wanted: [&str; N]) -> Taken<[Option<&'a str>; N]> {
        self.enter(b'{')?;
        let mut fields = [None; N];
        self.read_fields(&mut fields, None, wanted)?;
        Ok(fields)
    }

    /// Reads the wanted fields of an entered object up to the list in the field `inside`, and
    /// enters that list. Returns `false` if the object ended without another such list.
    fn read_fields<const N: usize>(
        &mut self,
        fields: &mut [Option<&'a str>; N],
        inside: Option<&str>,
        wanted: [&str; N],
    ) -> Taken<bool> {
        while let Some(key) = self.next_key()? {
            if inside == Some(&*key) && self.opens(b'[') {
                return Ok(true);
            }
            match wanted.iter().position(|name| *name == key) {
                Some(at) => fields[at] = Some(self.value()?),
                None => drop(self.pass()?),
            }
        }
        Ok(false)
    }

    /// Returns the items of a list, unchecked as by [`pass`](Self::pass).
    pub fn items(&mut self) -> Taken<Vec<&'a str>> {
        self.enter(b'[')?;
        let mut items = Vec::new();
        while self.next_item()? {
            items.push(self.pass()?);
        }
        Ok(items)
    }

    /// Reads a tree, or a list of trees, into a flat list in depth-first order: each node comes
    /// before its children, which are in its field `inside`. Items that are not objects are
    /// skipped.
    ///
    /// The cursor enters a node when it starts and resumes it when its list of children ends,
    /// since fields may follow the list. `entered` holds the nodes that are still open, so its
    /// length is the depth of the next node.
    pub fn flatten<const N: usize>(
        &mut self,
        inside: &str,
        wanted: [&str; N],
    ) -> Taken<Vec<Nested<'a, N>>> {
        let text = self.reader.text();
        let mut nodes: Vec<Nested<'a, N>> = Vec::new();
        // Open nodes, innermost last: index and start of the text.
        let mut entered: Vec<(usize, usize)> = Vec::new();
        let is_list = self.opens(b'[');
        loop {
            if (entered.is_empty() && !is_list) || self.next_item()? {
                self.reader.skip_space();
                let start = self.reader.at();
                if !self.opens(b'{') {
                    self.value()?;
                    if is_list {
                        continue;
                    }
                    return Err(Lost);
                }
                entered.push((nodes.len(), start));
                nodes.push(Nested { depth: entered.len() - 1, fields: [None; N], text: "" });
            }
            // Either a node has just started, or the innermost one resumes after its children.
            let Some(&(index, start)) = entered.last() else { break };
            if !self.read_fields(&mut nodes[index].fields, Some(inside), wanted)? {
                nodes[index].text = &text[start..self.reader.at()];
                entered.pop();
                if entered.is_empty() && !is_list {
                    break;
                }
            }
        }
        Ok(nodes)
    }

    /// Checks that only whitespace follows.
    pub fn end(mut self) -> Taken<()> {
        self.reader.skip_space();
        if self.reader.at() == self.reader.text().len() { Ok(()) } else { Err(Lost) }
    }
}

/// Returns the length of the value at the start of `bytes`, without validating it.
fn length_of_value(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'{' | b'[' => length_of_nested(bytes),
        b'"' => length_of_string(bytes),
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'"' | ..=b' ');
            let length = bytes.iter().position(is_end).unwrap_or(bytes.len());
            (length > 0).then_some(length)
        }
    }
}

fn length_of_string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr(b'"', bytes.get(at..)?)?;
        let n_backslashes = bytes[1..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        at += 1;
        if n_backslashes % 2 == 0 {
            return Some(at);
        }
    }
}

/// Whether a text is one JSON object.
pub fn is_object(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.begins(b'{') && cursor.value().is_ok() && cursor.end().is_ok()
}

/// Returns the wanted fields of a text, or `None` if it is not one object.
pub fn fields_of<'a, const N: usize>(
    text: &'a str,
    wanted: [&str; N],
) -> Option<[Option<&'a str>; N]> {
    let mut cursor = Cursor::new(text);
    let fields = cursor.fields(wanted).ok()?;
    cursor.end().ok()?;
    Some(fields)
}

/// Returns the first field named `wanted`. What follows it in the text is not examined, so the text
/// should be known to be an object.
pub fn first_field<'a>(object: &'a str, wanted: &str) -> Option<&'a str> {
    let mut cursor = Cursor::new(object);
    cursor.enter(b'{').ok()?;
    while let Some(key) = cursor.next_key().ok()? {
        if key == wanted {
            return cursor.value().ok();
        }
        cursor.pass().ok()?;
    }
    None
}

/// A node of a tree, with the wanted fields verbatim.
#[derive(Clone, Copy, Debug)]
pub struct Nested<'a, const N: usize> {
    /// The number of ancestors.
    pub depth: usize,
    /// The wanted fields, in the requested order.
    pub fields: [Option<&'a str>; N],
    /// The node's whole text.
    pub text: &'a str,
}

/// Reads a text that is a tree, or a list of trees, into a flat list; see [`Cursor::flatten`].
pub fn flatten<'a, const N: usize>(
    text: &'a str,
    inside: &str,
    wanted: [&str; N],
) -> Taken<Vec<Nested<'a, N>>> {
    let mut cursor = Cursor::new(text);
    let nodes = cursor.flatten(inside, wanted)?;
    cursor.end()?;
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wanted_fields_are_taken() {
        let check = |text: &str, wanted: Option<[Option<&str>; 2]>| {
            assert_eq!(fields_of(text, ["a", "b"]), wanted, "{text}");
        };
        check(
            r#" {"a": [1, {"b": 2}], "c": {}, "b": "x"} "#,
            Some([Some(r#"[1, {"b": 2}]"#), Some("\"x\"")]),
        );
        check(r#"{"a": 1, "\u0061": 2}"#, Some([Some("2"), None]));
        check("{}", Some([None, None]));
        check(
            &format!("{{\"c\": {}1{}}}", "[".repeat(DEEPEST), "]".repeat(DEEPEST)),
            Some([None, None]),
        );
        for text in [
            "",
            "[]",
            "{",
            "{\"a\"}",
            "{\"a\": 1,}",
            "{\"a\": 1} 2",
            "{\"a\": [1,]}",
            "{,}",
            "{\"a\": 1 \"b\": 2}",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn the_first_field_of_a_name_is_found() {
        assert_eq!(first_field(r#"{"b": [1], "a": 2, "a": 3}"#, "a"), Some("2"));
        assert_eq!(first_field(r#"{"b": {"a": 1}}"#, "a"), None);
        assert_eq!(first_field("[]", "a"), None);
    }

    fn depths(text: &str) -> Option<String> {
        let nodes = flatten(text, "in", ["n"]).ok()?;
        let shown =
            |node: &Nested<'_, 1>| format!("{}{}", node.depth, node.fields[0].unwrap_or("-"));
        Some(nodes.iter().map(shown).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn trees_become_flat_lists() {
        let check =
            |text: &str, shown: Option<&str>| assert_eq!(depths(text).as_deref(), shown, "{text}");
        check(r#"[{"n": 1, "in": [{"n": 2}, {"in": [], "n": 3}]}, {"n": 4}]"#, Some("01 12 13 04"));
        check(r#"{"in": [{"n": 2, "in": [{"n": 3}]}], "n": 1}"#, Some("01 12 23"));
        check(r#"[5, {"n": 1, "in": null}, null, {"in": [[], {}]}]"#, Some("01 0- 1-"));
        check("[]", Some(""));
        check("{}", Some("0-"));
        for text in
            ["", "5", "[", "[{]", "[{}", "[{}}", "[{} {}]", "[{},]", "{} {}", "[{\"in\": [}]"]
        {
            check(text, None);
        }
        let deep = |n: usize| "{\"in\":[".repeat(n) + &"]}".repeat(n);
        assert_eq!(flatten(&deep(100_000), "in", [""]).expect("a tree").len(), 100_000);
    }

    #[test]
    fn a_node_knows_its_text() {
        let nodes = flatten(r#"[ {"in": [ {"n": 1} ]} ]"#, "in", []).expect("a tree");
        let texts: Vec<&str> = nodes.iter().map(|node| node.text).collect();
        assert_eq!(texts, [r#"{"in": [ {"n": 1} ]}"#, r#"{"n": 1}"#]);
    }

    proptest! {
        #[test]
        fn only_json_is_walked(text in r#"([\[\]{},: ]|"in"|"n"|1|null){0,14}"#) {
            if flatten(&text, "in", ["n"]).is_ok() {
                prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{text}");
            }
        }
    }
}
