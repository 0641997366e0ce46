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
    // A run that does not name its questions does not say how many results they should have.
    let n_asked = Some(run.question_hashes().len() as u64).filter(|n| *n > 0);
    let n_tried = || Some(run.trials()? * n_asked?);
    let written = run.results.as_ref().map(|results| results.rows).or_else(n_tried)?;
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

#[cfg(test)]
mod tests {
    use juror_score::Scorecard;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_benchmark_that_does_not_name_its_queries_is_not_damaged() {
        let mut run = Manifest::new(RunKind::Bench, "x", json!({"trials": 2}));
        run.is_complete = true;
        let scores = ScoreTable::of_attempts();
        assert_eq!(damage(&run, &scores), None);
        let mut scores = scores;
        scores.push_attempt(&Scorecard::of_attempt("set".to_owned(), "1".to_owned()));
        assert_eq!(damage(&run, &scores), None);
    }
}
