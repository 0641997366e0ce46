//! Whether the results of a complete run are those that its manifest promises.

use std::borrow::Cow;
use std::collections::HashSet;

use juror_runs::{Manifest, RunKind};
use juror_score::{ScoreTable, ScoredItem};

/// Says what is wrong with the results of a run that is marked as complete: questions or results that
/// are gone, and questions that the run did not ask.
pub(crate) fn damage(run: &Manifest, scores: &ScoreTable) -> Option<String> {
    if !run.is_complete {
        return None;
    }
    let promised = run.question_hashes();
    let seen: HashSet<Cow<'_, str>> =
        scores.items().iter().map(|item| name(run.kind, scores, item)).collect();
    let lost: Vec<&str> = promised.keys().copied().filter(|name| !seen.contains(*name)).collect();
    if let Some(first) = lost.first() {
        let (n, n_all, noun) = (lost.len(), promised.len(), noun(run.kind));
        return Some(format!(
            "results.jsonl has no result of {n} of the run's {n_all} {noun}, such as `{first}`"
        ));
    }
    lost_rows(run, scores).or_else(|| {
        let is_other = |name: &&Cow<'_, str>| !promised.contains_key(&***name);
        let others = seen.iter().filter(is_other);
        let first = others.min().filter(|_| !promised.is_empty())?;
        let noun = noun(run.kind);
        Some(format!(
            "results.jsonl has results of {noun} that the run did not ask, such as `{first}`"
        ))
    })
}

/// Says that there are fewer or more results than were written, if that is so.
fn lost_rows(run: &Manifest, scores: &ScoreTable) -> Option<String> {
    let n = scores.items().len() as u64;
    let n_tried = run.trials().map(|trials| trials * run.question_hashes().len() as u64);
    let written = run.results.map(|results| results.rows).or(n_tried)?;
    (n != written).then(|| format!("results.jsonl has {n} results, and {written} were written"))
}

/// The name of a row's question, as manifests spell it.
fn name<'s>(kind: RunKind, scores: &'s ScoreTable, item: &'s ScoredItem) -> Cow<'s, str> {
    match kind {
        RunKind::Eval => Cow::Borrowed(&item.id),
        RunKind::Bench => Cow::Owned(format!("{}/{}", scores.group_of(item), item.id)),
    }
}

fn noun(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Eval => "questions",
        RunKind::Bench => "queries",
    }
}
