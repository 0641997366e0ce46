//! Which question each row of a table answers, and what its answers come to.

use hashbrown::HashMap;
use juror_score::{ScoreColumn, ScoreTable, Standing};

use crate::join::QuestionName;
use crate::numbers::mean_of;
use crate::row_scores::item_scores;
use crate::statistics::Kind;

/// Which question or query each row of a table answers, as a number.
pub(crate) struct QuestionNumbers {
    /// The number of each row's question.
    pub(crate) of_items: Vec<u32>,
    /// The first row of each question.
    pub(crate) first_items: Vec<usize>,
    pub(crate) n_questions: usize,
}

impl QuestionNumbers {
    /// Rows of the same group and id answer the same question. A row without an id is a question of
    /// its own.
    pub(crate) fn of(table: &ScoreTable) -> QuestionNumbers {
        let mut known = HashMap::with_capacity(table.items().len());
        let mut first_items = Vec::new();
        let mut of_items = Vec::with_capacity(table.items().len());
        for (at, item) in table.items().iter().enumerate() {
            let next = u32::try_from(first_items.len()).unwrap_or(u32::MAX);
            let number = match &*item.id {
                "" => next,
                id => *known.entry((item.group, id)).or_insert(next),
            };
            if number == next {
                first_items.push(at);
            }
            of_items.push(number);
        }
        let n_questions = first_items.len();
        QuestionNumbers { of_items, first_items, n_questions }
    }

    pub(crate) fn name(&self, number: usize, table: &ScoreTable) -> QuestionName {
        let item = &table.items()[self.first_items[number]];
        QuestionName { group: table.group_of(item).to_owned(), id: item.id.to_string() }
    }

    pub(crate) fn names(&self, table: &ScoreTable) -> Vec<QuestionName> {
        (0..self.n_questions).map(|number| self.name(number, table)).collect()
    }

    /// Whether some question has several answers.
    pub(crate) fn has_trials(&self) -> bool {
        self.n_questions < self.of_items.len()
    }

    /// The cluster of each row: its template, or its query.
    pub(crate) fn clusters_of_rows(&self, table: &ScoreTable) -> Vec<u32> {
        match Kind::of(table.level()) {
            Kind::Eval => table.items().iter().map(|item| item.group).collect(),
            Kind::Bench => self.of_items.clone(),
        }
    }

    /// The cluster of a question: its template, or itself for queries.
    pub(crate) fn cluster(&self, question: usize, table: &ScoreTable) -> u32 {
        match Kind::of(table.level()) {
            Kind::Eval => table.items()[self.first_items[question]].group,
            Kind::Bench => u32::try_from(question).unwrap_or(u32::MAX),
        }
    }

    /// The score of each question that has one, as the mean over its answers.
    pub(crate) fn means(&self, column: &ScoreColumn) -> Vec<Option<f64>> {
        self.means_over(item_scores(column))
    }

    /// The scores of the questions of each group that has any.
    pub(crate) fn means_by_group(&self, table: &ScoreTable, column: &ScoreColumn) -> Vec<Vec<f64>> {
        let mut groups = vec![Vec::new(); table.groups().len()];
        for (mean, first) in self.means(column).into_iter().zip(&self.first_items) {
            groups[table.items()[*first].group as usize].extend(mean);
        }
        groups.retain(|means| !means.is_empty());
        groups
    }

    /// The same, from the scores of all rows.
    pub(crate) fn means_of_rows(&self, scores: &[Option<f64>]) -> Vec<Option<f64>> {
        let known = scores.iter().enumerate();
        self.means_over(known.filter_map(|(item, score)| Some((item, (*score)?))))
    }

    fn means_over(&self, scores: impl Iterator<Item = (usize, f64)>) -> Vec<Option<f64>> {
        self.scores(scores).iter().map(|scores| mean_of(scores)).collect()
    }

    /// The scores of each question, one for each answer that has one.
    pub(crate) fn scores(&self, scores: impl Iterator<Item = (usize, f64)>) -> Vec<Vec<f64>> {
        let mut of_questions: Vec<Vec<f64>> = vec![Vec::new(); self.n_questions];
        for (item, score) in scores {
            of_questions[self.of_items[item] as usize].push(score);
        }
        of_questions
    }

    /// The share of each question's answers that have a number; `None` if the metric applies to none
    /// of them.
    pub(crate) fn shares(&self, table: &ScoreTable, column: &ScoreColumn) -> Vec<Option<f64>> {
        let mut counts = vec![(0_usize, 0_usize); self.n_questions];
        for (item, standing) in table.standings(column).enumerate() {
            let (n_scored, n_applicable) = &mut counts[self.of_items[item] as usize];
            *n_scored += usize::from(standing == Standing::Scored);
            *n_applicable += usize::from(standing != Standing::NotApplicable);
        }
        let share = |(n_scored, n): (usize, usize)| (n > 0).then(|| n_scored as f64 / n as f64);
        counts.into_iter().map(share).collect()
    }
}
