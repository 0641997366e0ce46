//! Finds where values of YAML begin and end, so that they can be replaced and the rest stays as it was
//! written.

use std::ops::Range;

use libyaml_safer::{Event, EventData, MappingStyle, ScalarStyle, SequenceStyle};

use super::events;
use super::write::DEEPEST;
use crate::problem::{Path, Segment};

/// Where a value is written, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSpan {
    /// Its bytes in the file, without what follows it on the line.
    pub range: Range<usize>,
    /// How it is written.
    pub style: ValueStyle,
    /// The column of its key, or of the value itself in a list, counted from 0.
    pub column: usize,
    /// Whether it is inside of brackets, where indentation means nothing.
    pub in_flow: bool,
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

/// Returns where each value is; `None` if a path leads nowhere, or through an alias.
pub(crate) fn spans(yaml: &str, paths: &[Path]) -> Vec<Option<ValueSpan>> {
    let mut search =
        Search { yaml, paths, spans: vec![None; paths.len()], open: Vec::new(), end: 0 };
    for event in events(yaml) {
        let Ok(event) = event else { break };
        if search.open.len() > DEEPEST {
            break;
        }
        search.event(&event);
    }
    search.spans
}

struct Search<'p> {
    yaml: &'p str,
    paths: &'p [Path],
    spans: Vec<Option<ValueSpan>>,
    open: Vec<OpenNode>,
    /// Where the last value ends.
    end: usize,
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
            EventData::SequenceStart { style, .. } => {
                let is_flow = *style == SequenceStyle::Flow;
                self.open(start, column, is_flow, Some(Segment::Index(0)));
            }
            EventData::MappingStart { style, .. } => {
                self.open(start, column, *style == MappingStyle::Flow, None);
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                self.close(end);
            }
            EventData::Scalar { value, style, .. } => {
                let is_key = self.open.last().is_some_and(|open| open.next.is_none());
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
                match self.open.last_mut().filter(|_| is_key) {
                    Some(open) => {
                        open.next = Some(Segment::Key(value.clone()));
                        open.key_column = column;
                    }
                    None => self.value(range, column, style),
                }
            }
            EventData::Alias { .. } => {
                self.end = end;
                self.value(start..self.end, column, ValueStyle::Alias);
            }
            _ => {}
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

    fn open(&mut self, start: usize, column: usize, is_flow: bool, next: Option<Segment>) {
        let (ending, through) = self.leading_here();
        let column = self.column_or(column);
        let (is_mapping, key_column) = (next.is_none(), 0);
        let node =
            OpenNode { through, ending, start, column, is_flow, is_mapping, next, key_column };
        self.open.push(node);
    }

    fn close(&mut self, end: usize) {
        let Some(node) = self.open.pop() else { return };
        if node.is_flow {
            self.end = end;
        }
        let style = if node.is_flow { ValueStyle::Flow } else { ValueStyle::Block };
        let range = node.start..self.end.max(node.start);
        for at in node.ending {
            let in_flow = self.is_in_flow();
            self.spans[at] =
                Some(ValueSpan { range: range.clone(), style, column: node.column, in_flow });
        }
        self.go_on();
    }

    fn value(&mut self, range: Range<usize>, column: usize, style: ValueStyle) {
        let (ending, _) = self.leading_here();
        let (column, in_flow) = (self.column_or(column), self.is_in_flow());
        for at in ending {
            self.spans[at] = Some(ValueSpan { range: range.clone(), style, column, in_flow });
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
