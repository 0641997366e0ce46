//! What is told of a reference that was asked, in words.

use hashbrown::HashMap;
use juror_document::Document;
use juror_read::Dataset;

use crate::refresh::Refreshed;
use crate::review::Reviewed;

/// How many questions are named where there may be many.
const MOST_NAMED: usize = 5;

/// Names questions, the first of many.
fn named(ids: &[&str]) -> String {
    let more = if ids.len() > MOST_NAMED { ", …" } else { "" };
    format!("{}{more}", ids[..ids.len().min(MOST_NAMED)].join(", "))
}

/// Says which results are left as they are recorded, those with the same reason at once. `words` are for
/// one of them and for several.
pub fn left_in_words(
    (document, dataset): (&Document, &Dataset<'_>),
    reviewed: &Reviewed<'_>,
    refreshed: &Refreshed,
    words: [&str; 2],
) -> Vec<String> {
    let steps: Vec<_> = reviewed.steps().collect();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut reasons: Vec<(&str, Vec<usize>)> = Vec::new();
    for (at, why) in &refreshed.left {
        let position = *positions.entry(why).or_insert(reasons.len());
        match reasons.get_mut(position) {
            Some((_, all)) => all.push(*at),
            None => reasons.push((why, vec![*at])),
        }
    }
    let told = reasons.into_iter().map(|(why, all)| {
        let ((line, column), name) = (steps[all[0]].place, document.name());
        let ids: Vec<&str> =
            all.iter().map(|at| &*dataset.questions[steps[*at].step.question].id).collect();
        match ids.len() {
            1 => format!("{name}:{line}:{column}: {}: {why}", words[0]),
            n => format!(
                "{name}:{line}:{column}: {n} {}: {why}\n  questions: {}",
                words[1],
                named(&ids)
            ),
        }
    });
    told.collect()
}

/// Says that no step has a query.
pub fn no_queries(name: &str) -> String {
    format!(
        "{name}: no step has a query\n  hint: queries are the argument `query` of steps called `sparql_query`; `steps.kinds` in settings gives such steps other names"
    )
}

/// Says of which questions the answers may be out of date; `None` if there are none.
pub fn answers_in_doubt(ids: &[&str]) -> Option<String> {
    let (answers, its) = match ids.len() {
        0 => return None,
        1 => ("1 reference answer".to_owned(), "its question"),
        n => (format!("{n} reference answers"), "their questions"),
    };
    Some(format!(
        "{answers} may be out of date, since the results of {its} moved: {}\n  hint: compare `reference_answer` with the fresh results; `juror reference lint` finds some that disagree",
        named(ids)
    ))
}

/// Says of which questions the results have become empty; `None` if there are none.
pub fn emptied(
    dataset: &Dataset<'_>,
    reviewed: &Reviewed<'_>,
    refreshed: &Refreshed,
) -> Option<String> {
    let steps: Vec<_> = reviewed.steps().collect();
    let questions = refreshed.emptied.iter().map(|at| steps[*at].step.question);
    let ids: Vec<&str> = questions.map(|question| &*dataset.questions[question].id).collect();
    let results = match ids.len() {
        0 => return None,
        1 => "1 fresh result has no rows".to_owned(),
        n => format!("{n} fresh results have no rows"),
    };
    Some(format!(
        "{results}: {}\n  hint: a typo in a query or another graph than the one that was meant does that; an agent that finds nothing would be right",
        named(&ids)
    ))
}
