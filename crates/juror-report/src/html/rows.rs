//! The questions of a page, and where each run answers them.

use hashbrown::HashMap;
use juror_score::ScoreTable;

/// A question of a page.
#[derive(Debug)]
pub(crate) struct QuestionRow<'r> {
    /// Its template or set.
    pub(crate) group: &'r str,
    /// Its id.
    pub(crate) id: &'r str,
    /// For each run, the rows of its answers, in order; empty if the run does not have it.
    pub(crate) answers: Vec<Vec<usize>>,
}

/// All questions: those of the first run in its order, then those that only later runs have.
pub(crate) fn question_rows<'r>(runs: &[&'r ScoreTable]) -> Vec<QuestionRow<'r>> {
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    let mut rows: Vec<QuestionRow<'r>> = Vec::new();
    for (run, scores) in runs.iter().enumerate() {
        for (at, item) in scores.items().iter().enumerate() {
            let (group, id) = (scores.group_of(item), &*item.id);
            let row = *places.entry((group, id)).or_insert_with(|| {
                rows.push(QuestionRow { group, id, answers: vec![Vec::new(); runs.len()] });
                rows.len() - 1
            });
            rows[row].answers[run].push(at);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{Aggregator, Observation, Profile};

    fn table(items: &[(&str, &str)]) -> ScoreTable {
        let mut aggregator = Aggregator::new(&Profile::V5, &[]);
        for (template, id) in items {
            aggregator.observe(&Observation { id, template, ..Observation::default() });
        }
        aggregator.into_scores()
    }

    #[test]
    fn questions_of_all_runs_are_joined_by_template_and_id() {
        let a = table(&[("t", "1"), ("t", "2"), ("t", "2"), ("u", "1")]);
        let b = table(&[("t", "2"), ("t", "3")]);
        let rows = question_rows(&[&a, &b]);
        let shown: Vec<_> = rows.iter().map(|row| (row.group, row.id, &row.answers[..])).collect();
        assert_eq!(
            shown,
            [
                ("t", "1", &[vec![0], vec![]][..]),
                ("t", "2", &[vec![1, 2], vec![0]][..]),
                ("u", "1", &[vec![3], vec![]][..]),
                ("t", "3", &[vec![], vec![1]][..]),
            ]
        );
    }
}
