//! Tells which recorded answers are judged.

use juror_bench::{Item, n_judged_queries, n_queries};
use juror_toolbench::answer::Answers;

use super::queries;
use crate::output;

/// Reports answers that belong to no query that counts, and queries with several answers.
pub(super) fn print_answers(items: &[Item<'_>], answers: &Answers<'_>, quiet: bool) {
    if quiet {
        return;
    }
    let n_taken = items.iter().filter(|item| item.was_asked).count();
    let n_others = answers.len().saturating_sub(n_taken);
    if n_others > 0 {
        let answers = super::count(n_others, "answer");
        output::warn(&format!("{answers} to other queries left out"));
    }
    let n_several = items.iter().filter(|item| item.trial == Some(1)).count();
    if n_several > 0 {
        let queries = super::queries(n_several);
        output::print_note(&format!(
            "{queries} with several answers: all are judged, and each query counts once, by their mean"
        ));
    }
}

/// Says how many queries a rate covers, if some have no verdict.
pub(super) fn over_judged(items: &[Item<'_>], is_judged: impl Fn(usize) -> bool) -> String {
    match (n_judged_queries(items, is_judged), n_queries(items)) {
        (n_judged, n_all) if n_judged == n_all => String::new(),
        (n_judged, n_all) => format!(", over {n_judged} of {}", queries(n_all)),
    }
}
