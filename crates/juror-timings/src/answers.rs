//! Recorded answers of agents.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, ensure};
use juror_document::{Document, Format};
use juror_score::{Reason, Scorecard, Verdict};
use juror_toolbench::answer::{Answers, Thoughts, convert, read_answers, write_answers};
use juror_toolbench::judged::{GiveUp, Progress, Status, begin};
use juror_toolbench::result::{Summary, call_findings, status_findings};
use juror_toolbench::{CallScore, Query, Registry, called_apis, read_queries};

use crate::clock::{processor_seconds, timed};

/// Returns the result of some work and its processor time, which other programs do not affect.
fn measured<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = processor_seconds();
    let (done, seconds) = timed(work);
    (done, start.zip(processor_seconds()).map_or(seconds, |(start, end)| end - start))
}

/// The number of texts in memory; more than the processor caches can hold.
const N_TEXTS: usize = 600;

/// Times the work on recorded answers: converting logs, writing and reading answers, scoring calls and
/// summarising results. On one thread, from text in memory, in processor time.
pub(crate) fn run(logs: &str, queries: &str, n_answers: usize) -> anyhow::Result<()> {
    let logs = read_logs(Path::new(logs), N_TEXTS.min(n_answers))?;
    let each = || logs.iter().cycle().take(n_answers);
    let bytes: usize = each().map(|(_, log)| log.json().len()).sum();
    let converted = |log| convert(log, "CoT@1", Thoughts::Dropped);
    let (n_failed, convert_seconds) =
        measured(|| each().filter(|(_, log)| black_box(converted(log)).is_err()).count());
    ensure!(n_failed == 0, "{n_failed} logs cannot be converted");
    let mut answers = Vec::with_capacity(logs.len());
    for (id, log) in &logs {
        answers.push((Cow::Borrowed(id.as_str()), converted(log)?));
    }
    let n_rounds = n_answers.div_ceil(answers.len());
    let (written, write_seconds) =
        measured(|| (0..n_rounds).map(|_| black_box(write_answers(&answers)).len()).sum::<usize>());
    let file = write_answers(&answers).into_bytes();
    let file = Document::new("answers.json", file, Format::Json)?;
    let queries = Document::new("queries.json", std::fs::read(queries)?, Format::Json)?;
    let queries = read_queries(&queries).0;
    let ((), read_seconds) =
        measured(|| (0..n_rounds).for_each(|_| drop(black_box(read_answers(&file)))));
    let (read, problems) = read_answers(&file);
    ensure!(problems.is_empty() && read.len() == answers.len(), "{problems}");
    let (summary, score_seconds) = measured(|| score_all(&read, n_answers, &queries));
    println!("answers: {n_answers}");
    println!("megabytes: {:.1}", bytes as f64 / 1e6);
    println!("megabytes_written: {:.1}", written as f64 / 1e6);
    println!("average_api_call_score: {:.4}", summary.average_api_call_score);
    println!("convert_seconds: {convert_seconds:.6}");
    println!("write_seconds: {write_seconds:.6}");
    println!("read_seconds: {read_seconds:.6}");
    println!("score_seconds: {score_seconds:.6}");
    Ok(())
}

/// Reads the logs of a folder repeatedly, each into a text of its own, with the ids of their queries.
fn read_logs(folder: &Path, n_texts: usize) -> anyhow::Result<Vec<(String, Document)>> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        logs.push((name, std::fs::read(&path)?));
    }
    ensure!(!logs.is_empty(), "{} has no logs", folder.display());
    let log = |(name, bytes): &(String, Vec<u8>)| {
        let id = name.split('_').next().unwrap_or_default().to_owned();
        Ok((id, Document::new(name, bytes.clone(), Format::Json)?))
    };
    logs.iter().cycle().take(n_texts).map(log).collect()
}

fn score_all(answers: &Answers<'_>, n_answers: usize, queries: &[Query]) -> Summary {
    let mut by_id: HashMap<String, (&Query, Registry)> = HashMap::new();
    for query in queries {
        by_id.insert(query.id_text().unwrap_or_default(), (query, query.registry()));
    }
    let mut results = Vec::with_capacity(n_answers);
    for (id, recorded) in answers.iter().cycle().take(n_answers) {
        let Some((query, registry)) = by_id.get(&**id) else { continue };
        let called = called_apis(&recorded.answer, &[registry]);
        let has_verdict = matches!(begin(Some(&recorded.answer), GiveUp::Said), Progress::Ask(_));
        let status = if has_verdict { Status::Solved } else { Status::Unsolved };
        let calls = CallScore::of(&called, &query.gold);
        let unjudged = Verdict::NotApplicable(Reason::NotJudged);
        results.push(Scorecard {
            computed: call_findings(&calls, recorded.answer.has_finish()).into(),
            judged: status_findings(&[Some(status)], unjudged, 0.0).into(),
            ..Scorecard::of_attempt("", &**id)
        });
    }
    Summary::of(&results)
}
