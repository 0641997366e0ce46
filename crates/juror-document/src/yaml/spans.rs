//! Finds where values of YAML begin and end, so that they can be replaced and the rest stays as it was
//! written.

use std::ops::Range;

use hashbrown::HashMap;
use libyaml_safer::{Event, EventData, MappingStyle, ScalarStyle, SequenceStyle};

use super::events;
use super::write::DEEPEST;
use crate::problem::{Path, Segment};

/// Where a value is written, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSpan {
    /// Its bytes in the file, without its anchor and tag, and without what follows it on the line.
    pub range: Range<usize>,
    /// How it is written.
    pub style: ValueStyle,
    /// The column of its key, or of the value itself in a list, counted from 0.
    pub column: usize,
    /// Whether it is inside of brackets, where indentation means nothing.
    pub in_flow: bool,
    /// Whether it has an anchor, by which aliases name it.
    pub has_anchor: bool,
    /// Of an alias, the path of the value that it names.
    pub target: Option<Path>,
    /// Where the first alias is that leads to it, if it is a part of a value that is written elsewhere.
    pub through: Option<usize>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueStyle {
    /// Without quotes.
    Plain,
    /// In single or double quotes.
    Quoted,
    /// After `|`.
    Literal,
    /// After `>`.
    Folded,
    /// A list or mapping in brackets.
    Flow,
    /// A list or mapping by indentation.
    Block,
    /// A name for a value that is written elsewhere.
    Alias,
}

/// How many aliases one after the other are followed.
const MOST_FOLLOWED: usize = 16;

/// Returns where each value is, through aliases too; `None` if a path leads nowhere, or through a merge key.
pub(crate) fn spans(yaml: &str, paths: &[Path]) -> Vec<Option<ValueSpan>> {
    let (mut spans, mut followed) = search(yaml, paths);
    for _ in 0..MOST_FOLLOWED {
        if followed.is_empty() {
            break;
        }
        let targets: Vec<Path> = followed.iter().map(|own| own.target.clone()).collect();
        let (found, further) = search(yaml, &targets);
        for (own, span) in followed.iter().zip(found) {
            spans[own.at] = span.map(|span| ValueSpan { through: Some(own.alias), ..span });
        }
        let further = further.into_iter().map(|next| {
            let first = &followed[next.at];
            Followed { at: first.at, alias: first.alias, target: next.target }
        });
        followed = further.collect();
    }
    spans
}

/// Searches the text once. Paths that lead through an alias are returned as they go on from what it names.
fn search(yaml: &str, paths: &[Path]) -> (Vec<Option<ValueSpan>>, Vec<Followed>) {
    let mut search = Search {
        yaml,
        paths,
        spans: vec![None; paths.len()],
        open: Vec::new(),
        end: 0,
        anchors: HashMap::new(),
        followed: Vec::new(),
    };
    for event in events(yaml) {
        let Ok(event) = event else { break };
        if search.open.len() > DEEPEST {
            break;
        }
        search.event(&event);
    }
    (search.spans, search.followed)
}

/// A path that leads through an alias.
struct Followed {
    /// The path, by position.
    at: usize,
    /// Where the alias is.
    alias: usize,
    /// The path as it goes on from the value that the alias names.
    target: Path,
}

struct Search<'p> {
    yaml: &'p str,
    paths: &'p [Path],
    spans: Vec<Option<ValueSpan>>,
    open: Vec<OpenNode>,
    /// Where the last value ends.
    end: usize,
    /// The values that have names so far.
    anchors: HashMap<String, Path>,
    followed: Vec<Followed>,
}

/// A list or mapping that contains the current event.
struct OpenNode {
    /// The paths that lead through it, and those that end here.
    through: Vec<usize>,
    ending: Vec<usize>,
    start: usize,
    column: usize,
    is_flow: bool,
    is_mapping: bool,
    has_anchor: bool,
    /// The index of the next item, or the key of the next value; `None` before a key.
    next: Option<Segment>,
    key_column: usize,
}

impl Search<'_> {
    fn event(&mut self, event: &Event) {
        // The parser gets a line end more than the text may have.
        let [start, end] =
            [event.start_mark, event.end_mark].map(|mark| byte(mark.index).min(self.yaml.len()));
        let column = byte(event.start_mark.column);
        match &event.data {
            EventData::SequenceStart { anchor, style, .. } => {
                let is_flow = *style == SequenceStyle::Flow;
                let has_anchor = self.name(anchor.as_ref());
                self.open(start, column, is_flow, has_anchor, Some(Segment::Index(0)));
            }
            EventData::MappingStart { anchor, style, .. } => {
                let has_anchor = self.name(anchor.as_ref());
                self.open(start, column, *style == MappingStyle::Flow, has_anchor, None);
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                self.close(end);
            }
            EventData::Scalar { anchor, tag, value, style, .. } => {
                let has_properties = anchor.is_some() || tag.is_some();
                let start = if has_properties { self.after_properties(start, end) } else { start };
                let range = start..end.max(start);
                let (range, style) = match style {
                    ScalarStyle::Literal => (self.trimmed(range), ValueStyle::Literal),
                    ScalarStyle::Folded => (self.trimmed(range), ValueStyle::Folded),
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                        (range, ValueStyle::Quoted)
                    }
                    _ => (range, ValueStyle::Plain),
                };
                self.end = range.end;
                if self.is_before_key() {
                    self.key(Segment::Key(value.clone()), column);
                } else {
                    let has_anchor = self.name(anchor.as_ref());
                    self.value(range, column, style, has_anchor, None);
                }
            }
            EventData::Alias { anchor } => {
                self.end = end;
                if self.is_before_key() {
                    // No path has such a key.
                    self.key(Segment::Key(String::new()), column);
                } else {
                    self.alias(start, column, anchor);
                }
            }
            _ => {}
        }
    }

    fn is_before_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.next.is_none())
    }

    fn key(&mut self, key: Segment, column: usize) {
        let Some(open) = self.open.last_mut() else { return };
        open.next = Some(key);
        open.key_column = column;
    }

    /// Remembers which value an anchor names, and returns whether there is one.
    fn name(&mut self, anchor: Option<&String>) -> bool {
        if let Some(anchor) = anchor {
            let here = self.open.iter().filter_map(|open| open.next.clone()).collect();
            self.anchors.insert(anchor.clone(), Path(here));
        }
        anchor.is_some()
    }

    fn alias(&mut self, start: usize, column: usize, anchor: &str) {
        let target = self.anchors.get(anchor).cloned();
        let (_, through) = self.leading_here();
        let depth = self.open.len();
        for at in through {
            let Some(target) = &target else { continue };
            let rest = &self.paths[at].0[depth..];
            let target = Path([&target.0[..], rest].concat());
            self.followed.push(Followed { at, alias: start, target });
        }
        self.value(start..self.end, column, ValueStyle::Alias, false, target);
    }

    /// Returns where a value begins behind its anchor and tag.
    fn after_properties(&self, start: usize, end: usize) -> usize {
        let mut rest = self.yaml.get(start..end).unwrap_or_default();
        loop {
            let trimmed = rest.trim_start();
            rest = match trimmed.chars().next() {
                Some('&' | '!') => trimmed.trim_start_matches(|c: char| !c.is_whitespace()),
                Some('#') => trimmed.trim_start_matches(|c: char| c != '\n'),
                // A value that is empty ends with its anchor.
                None => return end - rest.len(),
                Some(_) => return end - trimmed.len(),
            };
        }
    }

    /// Leaves out the line ends after a block, which may be blank lines before the next value.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = self.yaml.get(range.clone()).unwrap_or_default();
        range.start..range.start + text.trim_end().len()
    }

    /// Returns the paths that lead to the value that comes, those that end there and the others.
    fn leading_here(&self) -> (Vec<usize>, Vec<usize>) {
        let depth = self.open.len();
        let paths: Vec<usize> = match self.open.last() {
            None => (0..self.paths.len()).collect(),
            Some(open) => {
                let leads_here =
                    |at: &&usize| self.paths[**at].0.get(depth - 1) == open.next.as_ref();
                open.through.iter().filter(leads_here).copied().collect()
            }
        };
        paths.into_iter().partition(|at| self.paths[*at].0.len() == depth)
    }

    fn open(
        &mut self,
        start: usize,
        column: usize,
        is_flow: bool,
        has_anchor: bool,
        next: Option<Segment>,
    ) {
        let (ending, through) = self.leading_here();
        let (column, is_mapping) = (self.column_or(column), next.is_none());
        self.open.push(OpenNode {
            through,
            ending,
            start,
            column,
            is_flow,
            is_mapping,
            has_anchor,
            next,
            key_column: 0,
        });
    }

    fn close(&mut self, end: usize) {
        let Some(node) = self.open.pop() else { return };
        if node.is_flow {
            self.end = end;
        }
        let style = if node.is_flow { ValueStyle::Flow } else { ValueStyle::Block };
        let range = node.start..self.end.max(node.start);
        let (column, in_flow, has_anchor) = (node.column, self.is_in_flow(), node.has_anchor);
        let (target, through) = (None, None);
        let span = ValueSpan { range, style, column, in_flow, has_anchor, target, through };
        for at in node.ending {
            self.spans[at] = Some(span.clone());
        }
        self.go_on();
    }

    fn value(
        &mut self,
        range: Range<usize>,
        column: usize,
        style: ValueStyle,
        has_anchor: bool,
        target: Option<Path>,
    ) {
        let (ending, _) = self.leading_here();
        let (column, in_flow, through) = (self.column_or(column), self.is_in_flow(), None);
        let span = ValueSpan { range, style, column, in_flow, has_anchor, target, through };
        for at in ending {
            self.spans[at] = Some(span.clone());
        }
        self.go_on();
    }

    fn is_in_flow(&self) -> bool {
        self.open.iter().any(|open| open.is_flow)
    }

    /// Returns the column of the key that was just read, or else that of the value.
    fn column_or(&self, column: usize) -> usize {
        match self.open.last() {
            Some(open) if open.is_mapping => open.key_column,
            _ => column,
        }
    }

    /// Moves on to the next item or key.
    fn go_on(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        open.next = match open.next.take() {
            Some(Segment::Index(index)) if !open.is_mapping => Some(Segment::Index(index + 1)),
            _ => None,
        };
    }
}

fn byte(mark: u64) -> usize {
    usize::try_from(mark).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(yaml: &str, path: &Path) -> ValueSpan {
        spans(yaml, std::slice::from_ref(path)).remove(0).expect("a value")
    }

    #[test]
    fn a_value_is_where_it_is_written() {
        let yaml = "# é\n- a: plain # why\n  b: |-\n    one\n      two\n\n  # after\n  c: {d: 'x y', e: [1, 2]}\n  f:\n    g: \"é\\\n      z\"\n  h:\n  i: *x\n";
        let at =
            |keys: &[&str]| keys.iter().fold(Path::default().index(0), |path, key| path.key(key));
        let rows = [
            (at(&["a"]), "plain", ValueStyle::Plain, 2, false),
            (at(&["b"]), "|-\n    one\n      two", ValueStyle::Literal, 2, false),
            (at(&["c"]), "{d: 'x y', e: [1, 2]}", ValueStyle::Flow, 2, false),
            (at(&["c", "d"]), "'x y'", ValueStyle::Quoted, 6, true),
            (at(&["c", "e"]).index(1), "2", ValueStyle::Plain, 20, true),
            (at(&["f"]), "g: \"é\\\n      z\"", ValueStyle::Block, 2, false),
            (at(&["h"]), "", ValueStyle::Plain, 2, false),
            (at(&["i"]), "*x", ValueStyle::Alias, 2, false),
        ];
        for (path, text, style, column, in_flow) in rows {
            let span = span(yaml, &path);
            assert_eq!(&yaml[span.range.clone()], text, "{path}");
            assert_eq!((span.style, span.in_flow), (style, in_flow), "{path}");
            if !in_flow {
                assert_eq!(span.column, column, "{path}");
            }
        }
        assert_eq!(spans(yaml, &[at(&["none"]), at(&["a", "b"])]), [None, None]);
    }

    #[test]
    fn anchors_stay_outside_and_aliases_are_followed() {
        let yaml = "- a: &x !!str 'one'\n  b: &y # why\n    c: &z |-\n      two\n    d: &e\n- f: *x\n  *x : g\n  b: *y\n- *y\n";
        let path = |first: usize, keys: &[&str]| {
            keys.iter().fold(Path::default().index(first), |path, key| path.key(key))
        };
        let alias = |text: &str| yaml.find(text).expect("an alias") + text.len() - 2;
        let rows = [
            (path(0, &["a"]), "'one'", true, None),
            (path(0, &["b", "c"]), "|-\n      two", true, None),
            (path(0, &["b", "d"]), "", true, None),
            (path(1, &["b"]), "*y", false, None),
            (path(1, &["b", "c"]), "|-\n      two", true, Some(alias("b: *y"))),
            (path(2, &["c"]), "|-\n      two", true, Some(alias("- *y"))),
        ];
        for (path, text, has_anchor, through) in rows {
            let span = span(yaml, &path);
            assert_eq!(&yaml[span.range.clone()], text, "{path}");
            assert_eq!((span.has_anchor, span.through), (has_anchor, through), "{path}");
        }
        assert_eq!(span(yaml, &path(1, &["f"])).target, Some(path(0, &["a"])));
        assert_eq!(spans(yaml, &[path(2, &["none"])]), [None]);
    }

    #[test]
    fn a_value_that_is_missing_at_the_end_is_inside_of_the_file() {
        for yaml in ["? é", "a: é\nb:", "- [é, {b: c", "- a\n-"] {
            let paths = [Path::default(), Path::default().key("é"), Path::default().key("b")];
            for span in spans(yaml, &paths).into_iter().flatten() {
                assert!(yaml.get(span.range.clone()).is_some(), "{span:?} of {yaml:?}");
            }
        }
    }

    #[test]
    fn a_block_at_the_end_of_a_file_ends_with_its_last_line() {
        for yaml in ["a: |\n  x\n\n\n", "a: |\n  x", "a: >-\n  x\n# the end\n"] {
            let span = span(yaml, &Path::default().key("a"));
            assert!(yaml[span.range].ends_with("\n  x"), "{yaml:?}");
        }
    }
}
