//! Converts JSON to Python's `str` or `repr` in one pass, writing each value as it is read.

use hashbrown::HashSet;
use indexmap::IndexMap;

use super::number;
use super::scan::{ScannedString, Scanner, Stuck};
use super::text::{Codes, quote_for, write_bare, write_quoted};

/// The text is not JSON that Python could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {offset}")]
pub struct NotJson {
    /// Where reading stopped.
    pub offset: usize,
}

/// How to write a string that is the whole value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Like `str`.
    Bare,
    /// Like `repr`.
    Quoted,
}

/// The order in which an object's entries are written.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum EntryOrder {
    /// As they come.
    #[default]
    Given,
    /// By key.
    Sorted,
}

/// How numbers are written.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum NumberForm {
    /// As Python does, which distinguishes `5` from `5.0`.
    #[default]
    AsPython,
    /// Equal numbers the same.
    ByValue,
}

/// How a value is written.
#[derive(Clone, Copy, Default)]
pub(super) struct ReprForm {
    pub(super) order: EntryOrder,
    pub(super) numbers: NumberForm,
}

/// The deepest nesting allowed; Python fails at about the same depth.
pub(super) const DEEPEST: usize = 900;

/// Up to this many keys are compared pairwise rather than hashed.
const FEW: usize = 8;

/// Appends a value.
pub(super) fn write(
    json: &str,
    out: &mut String,
    quoting: Quoting,
    form: ReprForm,
) -> Result<(), NotJson> {
    let mut writer = ReprWriter { scan: Scanner::new(json), out, entries: Vec::new(), form };
    let done = writer.document(quoting);
    done.map_err(|Stuck| NotJson { offset: writer.scan.at() })
}

struct ReprWriter<'a> {
    scan: Scanner<'a>,
    out: &'a mut String,
    /// Entries of the objects being written, the innermost object last.
    entries: Vec<EntrySpan>,
    form: ReprForm,
}

/// The offsets of an object's entry in the output.
#[derive(Clone, Copy)]
struct EntrySpan {
    key: usize,
    key_end: usize,
    value_end: usize,
}

impl EntrySpan {
    fn key(self, out: &str) -> &str {
        &out[self.key..self.key_end]
    }

    fn value(self, out: &str) -> &str {
        &out[self.key_end + ": ".len()..self.value_end]
    }
}

impl ReprWriter<'_> {
    fn document(&mut self, quoting: Quoting) -> Result<(), Stuck> {
        self.scan.skip_space();
        match (self.scan.peek(), quoting) {
            (Some(b'"'), Quoting::Bare) => {
                let text = self.scan.string()?;
                Codes(text.body).for_each(|code| write_bare(self.out, code));
            }
            _ => self.value(DEEPEST)?,
        }
        self.scan.skip_space();
        if self.scan.is_done() { Ok(()) } else { Err(Stuck) }
    }

    fn value(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.skip_space();
        match self.scan.peek().ok_or(Stuck)? {
            b'{' => self.object(depth.checked_sub(1).ok_or(Stuck)?),
            b'[' => self.list(depth.checked_sub(1).ok_or(Stuck)?),
            b'"' => self.quoted(),
            b't' => self.word("true", "True"),
            b'f' => self.word("false", "False"),
            b'n' => self.word("null", "None"),
            b'N' => self.word("NaN", "nan"),
            b'I' => self.word("Infinity", "inf"),
            b'-' if self.scan.goes_on_with("-I") => self.word("-Infinity", "-inf"),
            _ => {
                let number = self.scan.number()?;
                match self.form.numbers {
                    NumberForm::AsPython => number::write_number(number, self.out),
                    NumberForm::ByValue => number::write_by_value(number, self.out),
                }
                Ok(())
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.take(b'[')?;
        self.out.push('[');
        if !self.scan.next_is(b']') {
            loop {
                self.value(depth)?;
                if self.scan.next_is(b']') {
                    break;
                }
                self.scan.take(b',')?;
                self.out.push_str(", ");
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.take(b'{')?;
        let (start, first) = (self.out.len(), self.entries.len());
        self.out.push('{');
        if !self.scan.next_is(b'}') {
            loop {
                self.entry(depth)?;
                if self.scan.next_is(b'}') {
                    break;
                }
                self.scan.take(b',')?;
                self.out.push_str(", ");
            }
        }
        self.out.push('}');
        let order = self.form.order;
        if order == EntryOrder::Sorted || any_repeated(&self.entries[first..], self.out) {
            let merged = merge(&self.entries[first..], self.out, order);
            self.out.truncate(start);
            self.out.push_str(&merged);
        }
        self.entries.truncate(first);
        Ok(())
    }

    fn entry(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.skip_space();
        let key = self.out.len();
        self.quoted()?;
        let key_end = self.out.len();
        self.scan.take(b':')?;
        self.out.push_str(": ");
        self.value(depth)?;
        self.entries.push(EntrySpan { key, key_end, value_end: self.out.len() });
        Ok(())
    }

    fn quoted(&mut self) -> Result<(), Stuck> {
        let ScannedString { body, is_plain, has_single } = self.scan.string()?;
        if is_plain {
            let quote = quote_for(has_single, false);
            self.out.push(quote);
            self.out.push_str(body);
            self.out.push(quote);
            return Ok(());
        }
        let has = |wanted: char| Codes(body).any(|code| code == u32::from(wanted));
        let quote = quote_for(has('\''), has('"'));
        self.out.push(quote);
        Codes(body).for_each(|code| write_quoted(self.out, code, quote));
        self.out.push(quote);
        Ok(())
    }

    fn word(&mut self, json: &str, python: &str) -> Result<(), Stuck> {
        self.scan.word(json)?;
        self.out.push_str(python);
        Ok(())
    }
}

fn any_repeated(entries: &[EntrySpan], out: &str) -> bool {
    if entries.len() <= FEW {
        let repeated = |at: usize| entries[..at].iter().any(|e| e.key(out) == entries[at].key(out));
        return (1..entries.len()).any(repeated);
    }
    let mut seen = HashSet::with_capacity(entries.len());
    entries.iter().any(|entry| !seen.insert(entry.key(out)))
}

/// Writes an object anew, each key once, at its first position or sorted, with its last value.
fn merge(entries: &[EntrySpan], out: &str, order: EntryOrder) -> String {
    let mut last: IndexMap<&str, &str> =
        entries.iter().map(|e| (e.key(out), e.value(out))).collect();
    if order == EntryOrder::Sorted {
        last.sort_unstable_keys();
    }
    let written: Vec<String> = last.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", written.join(", "))
}
