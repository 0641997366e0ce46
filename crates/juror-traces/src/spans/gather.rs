//! Gathers the spans of traces, which may be spread over a file, and over files.
//!
//! Nothing tells that a trace is complete: a span may follow at the very end. So all traces are open
//! until all files are read. What is kept of a span is small, results that histories repeat are kept
//! once, and if too much is held, all of it moves to a file aside (a [`Spill`]).

use std::io::{self, Read, Seek, SeekFrom, Write};

use hashbrown::{HashMap, HashSet};
use juror_document::{map_in_shares, n_cores};

use super::assemble::transcripts;
use super::facts::{Kept, SpanFacts};
use crate::conversation::Conversation;
use crate::oddity::{Found, Oddities, Oddity};
use crate::rules::Rules;

/// Where held traces go if they become too many: usually a temporary file.
pub trait Spill: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Spill for T {}

/// How many bytes are held in memory before they are moved aside.
const MOST_HELD: usize = 64 << 20;

/// How many traces are put together at a time.
const AT_ONCE: usize = 256;

/// The traces that are open.
pub(crate) struct Gatherer {
    by_id: HashMap<Box<str>, u32>,
    traces: Vec<Trace>,
    held: usize,
    most_held: usize,
    spill: Option<Box<dyn Spill>>,
    spilled: u64,
}

#[derive(Default)]
struct Trace {
    /// Records that are kept, a line each.
    kept: Vec<u8>,
    /// The parts that were moved aside: where, and how long.
    aside: Vec<(u64, u32)>,
    /// What was recorded already, and when it was first.
    seen: HashMap<u64, u64>,
    latest_start: u64,
    n_repeated: u32,
    n_out_of_order: u32,
}

/// A span as it is kept: made where it is read, so that gathering only copies.
pub(crate) struct Packed {
    trace: Box<str>,
    /// The span, and the call that it is.
    lines: Vec<u8>,
    /// When it started, if it is a call.
    called: Option<u64>,
    calls: Vec<(u64, u64, Vec<u8>)>,
    /// Results; one that the same reader packed before is empty.
    results: Vec<(u64, Vec<u8>)>,
}

/// What was packed already, by one reader: a result that comes again is not written again.
#[derive(Default)]
pub(crate) struct PackedBefore(HashSet<(Box<str>, u64)>);

impl Packed {
    pub(crate) fn of(mut facts: SpanFacts, before: &mut PackedBefore) -> Packed {
        let trace = std::mem::take(&mut facts.trace).into_boxed_str();
        let calls = std::mem::take(&mut facts.calls);
        let results = std::mem::take(&mut facts.results);
        let tool = facts.tool.take();
        let called = tool.as_ref().and_then(|call| call.at);
        let mut lines = Vec::new();
        push_line(&mut lines, &Kept::Span(Box::new(facts)));
        if let Some(tool) = tool {
            push_line(&mut lines, &Kept::Tool(tool));
        }
        let line = |kept: &Kept| {
            let mut line = Vec::new();
            push_line(&mut line, kept);
            line
        };
        let calls = calls.into_iter().map(|call| {
            let at = call.value.at.unwrap_or(0);
            (call.key, at, line(&Kept::Call(call.key, Box::new(call.value))))
        });
        let calls = calls.collect();
        let results = results.into_iter().map(|result| {
            let is_new = before.0.insert((trace.clone(), result.key));
            let kept = is_new.then(|| line(&Kept::Result(Box::new(result.value))));
            (result.key, kept.unwrap_or_default())
        });
        let results = results.collect();
        Packed { trace, lines, called, calls, results }
    }
}

fn push_line(lines: &mut Vec<u8>, kept: &Kept) {
    // Values of JSON can always be written.
    if serde_json::to_writer(&mut *lines, kept).is_ok() {
        lines.push(b'\n');
    }
}

impl Gatherer {
    pub(crate) fn new(spill: Option<Box<dyn Spill>>) -> Gatherer {
        Gatherer {
            by_id: HashMap::new(),
            traces: Vec::new(),
            held: 0,
            most_held: MOST_HELD,
            spill,
            spilled: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn holding(most_held: usize, spill: Box<dyn Spill>) -> Gatherer {
        Gatherer { most_held, ..Gatherer::new(Some(spill)) }
    }

    /// Adds a span to its trace.
    pub(crate) fn add(&mut self, packed: Packed) -> io::Result<()> {
        let next =
            u32::try_from(self.traces.len()).map_err(|_| io::Error::other("too many traces"))?;
        let at = *self.by_id.entry(packed.trace).or_insert(next);
        if at == next {
            self.traces.push(Trace::default());
        }
        let trace = &mut self.traces[at as usize];
        let before = trace.kept.capacity();
        trace.add(&packed.lines, packed.called, packed.calls, packed.results);
        self.held += trace.kept.capacity() - before;
        if self.held > self.most_held { self.move_aside() } else { Ok(()) }
    }

    fn move_aside(&mut self) -> io::Result<()> {
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let mut out = io::BufWriter::with_capacity(1 << 20, spill);
        out.seek(SeekFrom::Start(self.spilled))?;
        for trace in self.traces.iter_mut().filter(|trace| !trace.kept.is_empty()) {
            let kept = std::mem::take(&mut trace.kept);
            out.write_all(&kept)?;
            let length =
                u32::try_from(kept.len()).map_err(|_| io::Error::other("a trace is too long"))?;
            trace.aside.push((self.spilled, length));
            self.spilled += u64::from(length);
        }
        out.flush()?;
        self.held = 0;
        Ok(())
    }

    /// Puts all traces together, in the order in which they were first seen.
    pub(crate) fn finish(
        mut self,
        rules: &Rules,
        each: &mut dyn FnMut(Conversation),
    ) -> io::Result<()> {
        let mut ids = vec![Box::<str>::default(); self.traces.len()];
        for (id, at) in std::mem::take(&mut self.by_id) {
            ids[at as usize] = id;
        }
        let traces = std::mem::take(&mut self.traces);
        let mut all = ids.into_iter().zip(traces);
        loop {
            let mut group: Vec<Whole> = Vec::with_capacity(AT_ONCE);
            for (id, trace) in all.by_ref().take(AT_ONCE) {
                group.push(self.whole(id, &trace)?);
            }
            if group.is_empty() {
                return Ok(());
            }
            conversations(&group, rules).into_iter().for_each(&mut *each);
        }
    }

    fn whole(&mut self, id: Box<str>, trace: &Trace) -> io::Result<Whole> {
        let mut kept = Vec::new();
        if let Some(spill) = &mut self.spill {
            for (start, length) in &trace.aside {
                let from = kept.len();
                kept.resize(from + *length as usize, 0);
                spill.seek(SeekFrom::Start(*start))?;
                spill.read_exact(&mut kept[from..])?;
            }
        }
        kept.extend_from_slice(&trace.kept);
        Ok(Whole { id, kept, n_repeated: trace.n_repeated, n_out_of_order: trace.n_out_of_order })
    }
}

impl Trace {
    fn add(
        &mut self,
        lines: &[u8],
        called: Option<u64>,
        calls: Vec<(u64, u64, Vec<u8>)>,
        results: Vec<(u64, Vec<u8>)>,
    ) {
        if let Some(start) = called {
            self.n_out_of_order += u32::from(start < self.latest_start);
            self.latest_start = self.latest_start.max(start);
        }
        self.kept.extend_from_slice(lines);
        for (key, at, line) in calls {
            // The earliest span that contains a request shows when the request was made.
            let known = self.seen.get(&key).copied();
            self.n_repeated += u32::from(known.is_some());
            if known.is_none_or(|known| at < known) {
                self.seen.insert(key, at);
                self.kept.extend_from_slice(&line);
            }
        }
        for (key, line) in results {
            if self.seen.insert(key, 0).is_none() {
                self.kept.extend_from_slice(&line);
            } else {
                self.n_repeated += 1;
            }
        }
    }
}

/// Everything that is kept of a trace.
struct Whole {
    id: Box<str>,
    kept: Vec<u8>,
    n_repeated: u32,
    n_out_of_order: u32,
}

/// Puts traces together on all cores, in order.
fn conversations(group: &[Whole], rules: &Rules) -> Vec<Conversation> {
    let size: usize = group.iter().map(|whole| whole.kept.len()).sum();
    // Small traces are not worth a thread.
    let n_threads = if size < 1 << 16 { 1 } else { n_cores() };
    let conversations = map_in_shares(group, n_threads, |whole| whole.conversations(rules));
    conversations.into_iter().flatten().collect()
}

impl Whole {
    fn conversations(&self, rules: &Rules) -> Vec<Conversation> {
        let lines = self.kept.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let kept: Vec<Kept> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let mut found = transcripts(&self.id, kept);
        if let Some(first) = found.first_mut() {
            let mut oddities = Oddities::default();
            let odd = [
                (Oddity::RepeatedHistory, self.n_repeated),
                (Oddity::OutOfOrder, self.n_out_of_order),
            ];
            for (oddity, n) in odd.into_iter().filter(|(_, n)| *n > 0) {
                oddities
                    .add_all(oddity, &Found { n: n as usize, first: format!("trace {}", self.id) });
            }
            first.oddities.merge(&oddities);
        }
        found.into_iter().map(|transcript| transcript.settle(rules)).collect()
    }
}
