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

/// Each step down keeps less.
const STEPS: [(Keep, Keep, &str); 5] = [
    (Keep::All, Keep::All, ""),
    (Keep::Little, Keep::All, "outputs of questions that are right are shortened"),
    (Keep::Little, Keep::Little, "all outputs are shortened"),
    (
        Keep::Nothing,
        Keep::Little,
        "details of questions that are right are left out, and other outputs are shortened",
    ),
    (Keep::Nothing, Keep::Nothing, "details of questions are left out"),
];

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
    loop {
        let made = maker.make_all(step);
        let size: usize = made.iter().map(|(piece, _)| piece.len()).sum();
        if size <= source.options.max_size || step + 1 == STEPS.len() {
            let note = (step > 0).then(|| note(STEPS[step].2, source.options.max_size));
            let (encoded, facts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
            return Chunks { encoded, facts: facts.concat(), note };
        }
        step += 1;
    }
}

fn note(what: &str, max_size: usize) -> String {
    let megabytes = max_size as f64 / 1e6;
    format!("To keep this file below {megabytes} MB (--max-size), {what}.")
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
        let is_small = |step: &usize| {
            let made = self.make(&sample, *step);
            let size: usize = made.iter().map(|(piece, _)| piece.len()).sum();
            size / SAMPLE * n_chunks <= self.source.options.max_size
        };
        (0..STEPS.len()).find(is_small).unwrap_or(STEPS.len() - 1)
    }

    fn make_all(&self, step: usize) -> Vec<Piece> {
        self.make(&(0..self.n_chunks()).collect::<Vec<_>>(), step)
    }

    /// Makes pieces on all cores, in order.
    fn make(&self, wanted: &[usize], step: usize) -> Vec<Piece> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut made = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(chunk) = wanted.get(at) else { return made };
                made.push((at, self.piece(*chunk, step)));
            }
        };
        let n_threads = thread::available_parallelism().map_or(1, usize::from).min(wanted.len());
        let mut made: Vec<(usize, Piece)> = thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, Vec<(usize, Piece)>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(join).collect()
        });
        made.sort_unstable_by_key(|(at, _)| *at);
        made.into_iter().map(|(_, piece)| piece).collect()
    }

    fn piece(&self, chunk: usize, step: usize) -> Piece {
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(self.rows.len());
        let mut details = Vec::with_capacity(range.len());
        let mut facts = Vec::with_capacity(range.len());
        for at in range {
            let (right, other, _) = STEPS[step];
            let keep = if self.is_right[at] { right } else { other };
            let detail = detail(self.source, &self.rows[at], keep);
            let shortened = if keep == Keep::All { 0 } else { flag::SHORTENED };
            facts.push(QuestionFacts {
                text: beginning(&detail.text),
                flags: detail.flags() | shortened,
            });
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
