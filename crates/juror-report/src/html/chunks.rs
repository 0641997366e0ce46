//! The details of all questions, in compressed pieces of some questions each.
//!
//! Pieces are made on all cores. If the page would become too large, details are shortened: first
//! those of questions that are right, since they are looked at least.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::detail::{Keep, detail};
use super::index::{beginning, flag};
use super::page::PageSource;
use super::rows::QuestionRow;

/// How many questions a piece has.
pub(crate) const CHUNK: usize = 64;

/// How hard pieces are compressed: one step further takes a fifth more time, and saves a twelfth of
/// the size.
const LEVEL: Compression = Compression::new(2);

/// How many pieces are tried to estimate the size of all.
const SAMPLE: usize = 8;

/// Each step down keeps less, of questions that are right and of others.
const STEPS: [(Keep, Keep, &str); 7] = [
    (Keep::All, Keep::All, ""),
    (
        Keep::NoCalls,
        Keep::All,
        "prompts and replies of judges are left out of questions that are right",
    ),
    (Keep::NoCalls, Keep::NoCalls, "prompts and replies of judges are left out"),
    (Keep::Little, Keep::NoCalls, "outputs of questions that are right are shortened"),
    (Keep::Little, Keep::Little, "all outputs are shortened"),
    (
        Keep::Nothing,
        Keep::Little,
        "details of questions that are right are left out, and other outputs are shortened",
    ),
    (Keep::Nothing, Keep::Nothing, "details of questions are left out"),
];

/// The step at which prompts and replies are gone, and outputs are still there.
const NO_CALLS: usize = 2;

/// The pieces, and what the index says of each question.
pub(crate) struct Chunks {
    /// Each piece, compressed and in base64.
    pub(crate) encoded: Vec<String>,
    /// In the order of the questions.
    pub(crate) facts: Vec<QuestionFacts>,
    /// What was shortened or left out, if anything.
    pub(crate) note: Option<String>,
}

/// What the index says of a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuestionFacts {
    /// The beginning of its text.
    pub(crate) text: String,
    /// Bits of [`flag`].
    pub(crate) flags: u8,
}

/// Makes all pieces, within the size that the page may have.
pub(crate) fn chunks(
    source: &PageSource<'_>,
    rows: &[QuestionRow<'_>],
    is_right: &[bool],
) -> Chunks {
    let maker = Maker { source, rows, is_right };
    let mut step = maker.first_step();
    let max_size = source.options.max_size;
    loop {
        let is_last = step + 1 == STEPS.len();
        let limit = if is_last { usize::MAX } else { max_size };
        if let Some(made) = maker.make_all(step, limit) {
            let note = (step > 0).then(|| maker.note(step));
            let (encoded, facts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
            return Chunks { encoded, facts: facts.concat(), note };
        }
        step = maker.after(step);
    }
}

type Piece = (String, Vec<QuestionFacts>);

struct Maker<'m> {
    source: &'m PageSource<'m>,
    rows: &'m [QuestionRow<'m>],
    is_right: &'m [bool],
}

impl Maker<'_> {
    fn n_chunks(&self) -> usize {
        self.rows.len().div_ceil(CHUNK)
    }

    /// The first step whose pieces are small enough, judged by some of them.
    fn first_step(&self) -> usize {
        let n_chunks = self.n_chunks();
        if n_chunks <= SAMPLE {
            return 0;
        }
        let stride = n_chunks / SAMPLE;
        let sample: Vec<usize> = (0..SAMPLE).map(|at| at * stride).collect();
        let share = self.source.options.max_size / n_chunks * SAMPLE;
        let is_small = |step: &usize| self.make(&sample, *step, share).is_some();
        let steps = std::iter::successors(Some(0), |step| Some(self.after(*step)));
        steps.take_while(|step| *step < STEPS.len()).find(is_small).unwrap_or(STEPS.len() - 1)
    }

    /// The step after another: without judges there are no prompts to leave out.
    fn after(&self, step: usize) -> usize {
        if step == 0 && !self.source.has_judges() { NO_CALLS + 1 } else { step + 1 }
    }

    /// What a step leaves out, in words.
    fn note(&self, step: usize) -> String {
        let megabytes = self.source.options.max_size as f64 / 1e6;
        let calls = match step {
            0..=NO_CALLS => "",
            _ if self.source.has_judges() => "prompts and replies of judges are left out, and ",
            _ => "",
        };
        let what = STEPS[step].2;
        format!("To keep this file below {megabytes} MB (--max-size), {calls}{what}.")
    }

    fn make_all(&self, step: usize, limit: usize) -> Option<Vec<Piece>> {
        self.make(&(0..self.n_chunks()).collect::<Vec<_>>(), step, limit)
    }

    /// Makes pieces on all cores, in order. Returns `None` as soon as they are larger than the limit.
    fn make(&self, wanted: &[usize], step: usize, limit: usize) -> Option<Vec<Piece>> {
        let (next, size) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let mut made = Vec::new();
            while size.load(Ordering::Relaxed) <= limit {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(chunk) = wanted.get(at) else { break };
                let piece = self.piece(*chunk, step);
                size.fetch_add(piece.0.len(), Ordering::Relaxed);
                made.push((at, piece));
            }
            made
        };
        let n_threads = thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
        let mut made: Vec<(usize, Piece)> = thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, Vec<(usize, Piece)>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(join).collect()
        });
        if size.into_inner() > limit {
            return None;
        }
        made.sort_unstable_by_key(|(at, _)| *at);
        Some(made.into_iter().map(|(_, piece)| piece).collect())
    }

    fn piece(&self, chunk: usize, step: usize) -> Piece {
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(self.rows.len());
        let mut details = Vec::with_capacity(range.len());
        let mut facts = Vec::with_capacity(range.len());
        for at in range {
            let (right, other, _) = STEPS[step];
            let keep = if self.is_right[at] { right } else { other };
            let (detail, flags) = detail(self.source, &self.rows[at], keep);
            // Verdicts say by themselves that their calls are left out.
            let is_whole = matches!(keep, Keep::All | Keep::NoCalls);
            let shortened = if is_whole { 0 } else { flag::SHORTENED };
            let text = beginning(&detail.text);
            facts.push(QuestionFacts { text, flags: flags | shortened });
            details.push(detail);
        }
        (encode(&details), facts)
    }
}

/// Compresses a value as JSON, in base64.
pub(crate) fn encode(value: &impl Serialize) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), LEVEL);
    // Neither serializing plain data nor writing to memory fails.
    let _ = gzip.write_all(&serde_json::to_vec(value).unwrap_or_default());
    STANDARD.encode(gzip.finish().unwrap_or_default())
}
