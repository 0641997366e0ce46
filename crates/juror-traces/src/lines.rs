//! Files of lines, read in blocks, the lines of a block on all cores.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::thread;

use juror_document::n_cores;
use serde_json::Value;

use crate::import::is_envelope;
use crate::rules::Rules;
use crate::spans::{Histories, Packed, PackedBefore, otlp_json};

/// How much is read at a time. Lines that are longer are read whole.
const BLOCK: usize = 8 << 20;

/// How much is looked at to see what a file is.
const HEAD: usize = 1 << 16;

/// Blocks with fewer bytes are not worth several threads.
const WORTH_THREADS: usize = 1 << 18;

/// A part of a file that ends with a line.
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_last: bool,
}

/// Cuts a file into blocks of whole lines.
pub(crate) struct Blocks<'s> {
    source: &'s mut dyn Read,
    held: Vec<u8>,
    is_over: bool,
}

impl<'s> Blocks<'s> {
    pub(crate) fn new(source: &'s mut dyn Read) -> Blocks<'s> {
        Blocks { source, held: Vec::new(), is_over: false }
    }

    /// Returns the beginning of the file.
    pub(crate) fn head(&mut self) -> io::Result<&[u8]> {
        self.fill(HEAD)?;
        Ok(&self.held[..self.held.len().min(HEAD)])
    }

    /// Returns everything that was not returned yet.
    pub(crate) fn rest(&mut self) -> io::Result<Vec<u8>> {
        self.source.read_to_end(&mut self.held)?;
        self.is_over = true;
        Ok(std::mem::take(&mut self.held))
    }

    /// Reads until as much is held, or the file ends.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let missing = wanted.saturating_sub(self.held.len());
        if missing > 0 && !self.is_over {
            let read = self.source.take(missing as u64).read_to_end(&mut self.held)?;
            self.is_over = read < missing;
        }
        Ok(())
    }

    /// Returns the next block; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Block>> {
        let mut wanted = BLOCK;
        loop {
            self.fill(wanted)?;
            if self.is_over {
                let bytes = std::mem::take(&mut self.held);
                return Ok((!bytes.is_empty()).then_some(Block { bytes, is_last: true }));
            }
            if let Some(end) = memchr::memrchr(b'\n', &self.held) {
                let rest = self.held.split_off(end + 1);
                let bytes = std::mem::replace(&mut self.held, rest);
                return Ok(Some(Block { bytes, is_last: false }));
            }
            wanted *= 2;
        }
    }
}

/// What a line is.
pub(crate) enum Line {
    Blank,
    /// Spans of OTLP, ready to be gathered.
    Spans {
        packed: Vec<Packed>,
        conventions: BTreeMap<&'static str, usize>,
        is_whole: bool,
    },
    Value(Value),
    /// Not JSON; whether it ends too early.
    Broken {
        text: String,
        is_eof: bool,
    },
}

/// Reads the lines of a block, in order.
pub(crate) fn read_lines(block: &[u8], first: usize, rules: &Rules) -> Vec<Line> {
    let lines: Vec<&[u8]> = block.split(|byte| *byte == b'\n').collect();
    // What follows the last line break is no line.
    let lines = if block.ends_with(b"\n") { &lines[..lines.len() - 1] } else { &lines[..] };
    let n_threads = n_cores();
    if n_threads == 1 || block.len() < WORTH_THREADS || lines.len() < 2 {
        return read_some(lines, first, rules);
    }
    let parts = shares(lines, n_threads);
    thread::scope(|scope| {
        let mut at = first;
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| {
                let start = at;
                at += part.len();
                scope.spawn(move || read_some(part, start, rules))
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}

/// Splits lines into parts of about as many bytes.
fn shares<'l, 'b>(lines: &'l [&'b [u8]], n_parts: usize) -> Vec<&'l [&'b [u8]]> {
    let size: usize = lines.iter().map(|line| line.len() + 1).sum();
    let share = size.div_ceil(n_parts);
    let (mut parts, mut start, mut held) = (Vec::new(), 0, 0);
    for (at, line) in lines.iter().enumerate() {
        held += line.len() + 1;
        if held >= share {
            parts.push(&lines[start..=at]);
            (start, held) = (at + 1, 0);
        }
    }
    if start < lines.len() {
        parts.push(&lines[start..]);
    }
    parts
}

fn read_some(lines: &[&[u8]], first: usize, rules: &Rules) -> Vec<Line> {
    let texts: Vec<Cow<'_, str>> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
    let mut known = Known::default();
    let mut found = Vec::with_capacity(lines.len());
    for (at, text) in texts.iter().enumerate() {
        found.push(read_line(text, first + at, rules, &mut known));
    }
    found
}

/// What the lines of a part have said already.
#[derive(Default)]
struct Known<'a> {
    packed: PackedBefore,
    histories: Histories<'a>,
}

fn read_line<'a>(text: &'a str, number: usize, rules: &Rules, known: &mut Known<'a>) -> Line {
    let text = text.trim_start_matches('\u{feff}').trim();
    let is_aside = |text: &str| {
        text.is_empty()
            || ["event:", "id:", "retry:", ":"].iter().any(|start| text.starts_with(start))
    };
    let text = text.strip_prefix("data:").map_or(text, str::trim);
    if is_aside(text) {
        return Line::Blank;
    }
    if is_envelope(text) {
        let mut packed = Vec::new();
        let mut conventions = BTreeMap::new();
        let read = otlp_json::read_envelope(
            text,
            &format!("{number}:"),
            rules,
            &mut known.histories,
            &mut |facts| {
                *conventions.entry(facts.convention).or_default() +=
                    usize::from(!facts.convention.is_empty());
                packed.push(Packed::of(facts, &mut known.packed));
            },
        );
        conventions.remove("");
        return Line::Spans { packed, conventions, is_whole: read.is_ok() };
    }
    match serde_json::from_str(text) {
        Ok(value) => Line::Value(value),
        Err(error) => Line::Broken { text: text.to_owned(), is_eof: error.is_eof() },
    }
}
