//! The score of each row of a table by one metric.

use juror_score::{ScoreColumn, ScoreTable, Standing};

use crate::numbers::mean_of;

/// The score of each row that has one. Scores of several steps count by what the metric makes of
/// them: their mean, or their sum for costs.
pub fn item_scores(column: &ScoreColumn) -> impl Iterator<Item = (usize, f64)> {
    column.values().chunk_by(|a, b| a.item == b.item).filter_map(|values| {
        let numbers = values.iter().map(|value| value.value);
        let score = match column.info {
            Some(info) => info.of_steps(numbers),
            None => mean_of(&numbers.collect::<Vec<_>>()),
        };
        Some((values[0].item as usize, score?))
    })
}

/// The score of each row; `None` without one.
pub(crate) fn row_scores(table: &ScoreTable, column: &ScoreColumn) -> Vec<Option<f64>> {
    filled(vec![None; table.items().len()], column)
}

/// The score of each row, that of an error as given; `None` if the metric does not apply.
pub(crate) fn scores_or(
    error: f64,
    (table, column): (&ScoreTable, &ScoreColumn),
) -> Vec<Option<f64>> {
    let unscored = |standing: Standing| (standing != Standing::NotApplicable).then_some(error);
    filled(table.standings(column).map(unscored).collect(), column)
}

fn filled(mut scores: Vec<Option<f64>>, column: &ScoreColumn) -> Vec<Option<f64>> {
    for (item, score) in item_scores(column) {
        scores[item] = Some(score);
    }
    scores
}
