//! Which question each row of a table answers, and what its answers come to.

use hashbrown::{HashMap, HashSet};
use juror_score::{Coverage, ScoreColumn, ScoreTable, Standing};

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
    /// How many rows each question has.
    n_answers: Vec<usize>,
    /// How many it should have: as many as were to be made, as the question with most trials has, or as
    /// every question has.
    pub(crate) n_owed: usize,
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
        let mut n_answers = vec![0; n_questions];
        for question in &of_items {
            n_answers[*question as usize] += 1;
        }
        let n_had_by_all = n_answers.iter().copied().min().unwrap_or(0);
        let n_owed = n_had_by_all.max(most_trials(table, &of_items)).max(table.n_owed() as usize);
        QuestionNumbers { of_items, first_items, n_questions, n_answers, n_owed }
    }

    /// How many answers to a question there are no rows of.
    pub(crate) fn n_missing_of(&self, question: usize) -> usize {
        self.n_owed.saturating_sub(self.n_answers[question])
    }

    /// The share of the answers to a question that there are rows of.
    pub(crate) fn share_of(&self, question: usize) -> f64 {
        let n_answers = self.n_answers[question];
        n_answers as f64 / self.n_owed.max(n_answers) as f64
    }

    /// How many answers to all of the questions there are no rows of.
    pub(crate) fn n_missing(&self) -> usize {
        (0..self.n_questions).map(|question| self.n_missing_of(question)).sum()
    }

    pub(crate) fn name(&self, number: usize, table: &ScoreTable) -> QuestionName {
        let item = &table.items()[self.first_items[number]];
        QuestionName { group: table.group_of(item).to_owned(), id: item.id.to_string() }
    }

    /// The numbers of questions by name, or by id alone where the name has no group; `None` for those
    /// that are not here.
    pub(crate) fn find(&self, names: &[QuestionName], table: &ScoreTable) -> Vec<Option<usize>> {
        if names.is_empty() {
            return Vec::new();
        }
        let mut known: HashMap<(&str, &str), usize> = HashMap::new();
        for (number, first) in self.first_items.iter().enumerate() {
            let item = &table.items()[*first];
            known.insert((table.group_of(item), &item.id), number);
            known.entry(("", &item.id)).or_insert(number);
        }
        names.iter().map(|name| known.get(&(&*name.group, &*name.id)).copied()).collect()
    }

    pub(crate) fn names(&self, table: &ScoreTable) -> Vec<QuestionName> {
        (0..self.n_questions).map(|number| self.name(number, table)).collect()
    }

    /// Whether some question has several answers, or was to have them.
    pub(crate) fn has_trials(&self) -> bool {
        self.n_owed > 1 || self.n_answers.iter().any(|n| *n > 1)
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
        if self.n_questions < self.of_items.len() {
            return self.scores(scores).iter().map(|scores| mean_of(scores)).collect();
        }
        // Every row is a question of its own, whose mean is its score.
        let mut means = vec![None; self.n_questions];
        for (item, score) in scores {
            means[self.of_items[item] as usize] = Some(score);
        }
        means
    }

    /// The scores of each question, one for each answer that has one.
    pub(crate) fn scores(&self, scores: impl Iterator<Item = (usize, f64)>) -> Vec<Vec<f64>> {
        let mut of_questions: Vec<Vec<f64>> = vec![Vec::new(); self.n_questions];
        for (item, score) in scores {
            of_questions[self.of_items[item] as usize].push(score);
        }
        of_questions
    }

    /// How many answers to each question have a number. Answers that are missing count, unless the
    /// metric applies to none that there are.
    pub(crate) fn coverage(&self, table: &ScoreTable, column: &ScoreColumn) -> Vec<Coverage> {
        let mut counts = vec![Coverage::default(); self.n_questions];
        for (item, standing) in table.standings(column).enumerate() {
            let own = &mut counts[self.of_items[item] as usize];
            own.n_scored += usize::from(standing == Standing::Scored);
            own.n_applicable += usize::from(standing != Standing::NotApplicable);
        }
        for (question, own) in counts.iter_mut().enumerate().filter(|(_, own)| own.n_applicable > 0)
        {
            own.n_applicable += self.n_missing_of(question);
        }
        counts
    }

    /// The share of each question's answers that have a number; `None` if the metric applies to none
    /// of them.
    pub(crate) fn shares(&self, table: &ScoreTable, column: &ScoreColumn) -> Vec<Option<f64>> {
        let share = |own: Coverage| {
            (own.n_applicable > 0).then(|| own.n_scored as f64 / own.n_applicable as f64)
        };
        self.coverage(table, column).into_iter().map(share).collect()
    }
}

/// How many trials the question with most of them has. A row that is there twice is no trial.
fn most_trials(table: &ScoreTable, of_items: &[u32]) -> usize {
    let rows = table.items().iter().zip(of_items);
    let trials = rows.filter_map(|(item, question)| Some((*question, item.trial?)));
    let mut n_trials: HashMap<u32, usize> = HashMap::new();
    for (question, _) in trials.collect::<HashSet<_>>() {
        *n_trials.entry(question).or_default() += 1;
    }
    n_trials.into_values().max().unwrap_or(0)
}
