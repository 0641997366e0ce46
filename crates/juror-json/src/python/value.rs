//! From JSON to Python's spelling in one pass: what is read is written at once.

use hashbrown::HashSet;
use indexmap::IndexMap;

use super::number;
use super::scan::{Scanner, Stuck, Text};
use super::text::{Codes, quote_for, write_bare, write_quoted};

/// Why a text cannot be written as Python would: Python could not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {offset}")]
pub struct NotJson {
    /// Where reading stopped.
    pub offset: usize,
}

/// How a text that is the whole value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// As `str` does.
    Bare,
    /// As `repr` does.
    Quoted,
}

/// In which order an object's entries are written.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// As they come.
    #[default]
    Given,
    /// By key.
    Sorted,
}

/// How numbers are written.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Numbers {
    /// As Python does, which tells `5` from `5.0`.
    #[default]
    AsPython,
    /// Equal ones alike.
    ByValue,
}

/// How a value is written.
#[derive(Clone, Copy, Default)]
pub(super) struct Forms {
    pub(super) order: Order,
    pub(super) numbers: Numbers,
}

/// How deep a value may be; Python gives up at about the same depth.
pub(super) const DEEPEST: usize = 900;

/// Up to this many keys are compared with each other rather than hashed.
const FEW: usize = 8;

/// Appends a value.
pub(super) fn write(
    json: &str,
    out: &mut String,
    texts: Texts,
    forms: Forms,
) -> Result<(), NotJson> {
    let mut writer = Writer { scan: Scanner::new(json), out, entries: Vec::new(), forms };
    let done = writer.document(texts);
    done.map_err(|Stuck| NotJson { offset: writer.scan.at() })
}

type Written = Result<(), Stuck>;

struct Writer<'a> {
    scan: Scanner<'a>,
    out: &'a mut String,
    /// Entries of the objects that are open, the innermost last.
    entries: Vec<Entry>,
    forms: Forms,
}

/// Where an entry of an object stands in the output.
#[derive(Clone, Copy)]
struct Entry {
    key: usize,
    key_end: usize,
    value_end: usize,
}

impl Entry {
    fn key(self, out: &str) -> &str {
        &out[self.key..self.key_end]
    }

    fn value(self, out: &str) -> &str {
        &out[self.key_end + ": ".len()..self.value_end]
    }
}

impl Writer<'_> {
    fn document(&mut self, texts: Texts) -> Written {
        self.scan.skip_space();
        match (self.scan.peek(), texts) {
            (Some(b'"'), Texts::Bare) => {
                let text = self.scan.string()?;
                Codes(text.body).for_each(|code| write_bare(self.out, code));
            }
            _ => self.value(DEEPEST)?,
        }
        self.scan.skip_space();
        if self.scan.is_done() { Ok(()) } else { Err(Stuck) }
    }

    fn value(&mut self, depth: usize) -> Written {
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
                match self.forms.numbers {
                    Numbers::AsPython => number::write_number(number, self.out),
                    Numbers::ByValue => number::write_by_value(number, self.out),
                }
                Ok(())
            }
        }
    }

    fn list(&mut self, depth: usize) -> Written {
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

    fn object(&mut self, depth: usize) -> Written {
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
        let order = self.forms.order;
        if order == Order::Sorted || any_repeated(&self.entries[first..], self.out) {
            let merged = merge(&self.entries[first..], self.out, order);
            self.out.truncate(start);
            self.out.push_str(&merged);
        }
        self.entries.truncate(first);
        Ok(())
    }

    fn entry(&mut self, depth: usize) -> Written {
        self.scan.skip_space();
        let key = self.out.len();
        self.quoted()?;
        let key_end = self.out.len();
        self.scan.take(b':')?;
        self.out.push_str(": ");
        self.value(depth)?;
        self.entries.push(Entry { key, key_end, value_end: self.out.len() });
        Ok(())
    }

    fn quoted(&mut self) -> Written {
        let Text { body, is_plain, has_single } = self.scan.string()?;
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

    fn word(&mut self, json: &str, python: &str) -> Written {
        self.scan.word(json)?;
        self.out.push_str(python);
        Ok(())
    }
}

fn any_repeated(entries: &[Entry], out: &str) -> bool {
    if entries.len() <= FEW {
        let repeated = |at: usize| entries[..at].iter().any(|e| e.key(out) == entries[at].key(out));
        return (1..entries.len()).any(repeated);
    }
    let mut seen = HashSet::with_capacity(entries.len());
    entries.iter().any(|entry| !seen.insert(entry.key(out)))
}

/// An object with repeated keys: each stands where it first stood, with its last value.
fn merge(entries: &[Entry], out: &str, order: Order) -> String {
    let mut last: IndexMap<&str, &str> =
        entries.iter().map(|e| (e.key(out), e.value(out))).collect();
    if order == Order::Sorted {
        last.sort_unstable_keys();
    }
    let written: Vec<String> = last.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", written.join(", "))
}
