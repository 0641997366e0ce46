//! Pairs the questions of two runs.

use hashbrown::HashMap;
use juror_score::{ScoreColumn, ScoreTable};

use schemars::JsonSchema;

use crate::estimate::n_distinct;
use crate::question_numbers::QuestionNumbers;

/// The questions that two runs have in common.
pub struct Joined {
    pub(crate) pairs: Vec<JoinedQuestion>,
    /// The cluster of each pair: its template, or itself for queries.
    clusters: Vec<u32>,
    pub(crate) a: QuestionNumbers,
    pub(crate) b: QuestionNumbers,
    /// Questions of the first run alone.
    pub only_in_a: Vec<QuestionName>,
    /// Questions of the second run alone.
    pub only_in_b: Vec<QuestionName>,
    /// Questions that each run was to answer and has no row of.
    pub(crate) unseen: [Vec<UnseenQuestion>; 2],
}

/// A question that a run was to answer and has no row of: its number in the other run, if that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnseenQuestion(pub(crate) Option<usize>);

/// A question that both runs have, by its number in each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinedQuestion {
    pub(crate) a: usize,
    pub(crate) b: usize,
}

/// A question by its template or set, and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, JsonSchema)]
pub struct QuestionName {
    /// The template or set.
    pub group: String,
    /// The id.
    pub id: String,
}

/// The scores of both runs on the questions that both have a score for.
#[derive(Clone, Debug, Default)]
pub struct PairedScores {
    /// The position of each pair among all joined questions.
    pub at: Vec<usize>,
    /// The scores of the first run.
    pub a: Vec<f64>,
    /// The scores of the second run.
    pub b: Vec<f64>,
    /// The cluster of each pair.
    pub clusters: Vec<u32>,
}

impl PairedScores {
    /// The clusters, if one of them has several questions.
    pub fn real_clusters(&self) -> Option<&[u32]> {
        (n_distinct(&self.clusters) < self.clusters.len()).then_some(&*self.clusters)
    }

    /// The differences, second minus first.
    pub fn differences(&self) -> Vec<f64> {
        self.a.iter().zip(&self.b).map(|(a, b)| b - a).collect()
    }
}

impl Joined {
    /// Pairs questions of the same group and id, unless `is_same` tells them apart. `by_template`
    /// says whether questions of a group belong together.
    pub fn of(
        a: &ScoreTable,
        b: &ScoreTable,
        by_template: bool,
        is_same: impl Fn(&QuestionName) -> bool,
    ) -> Joined {
        let (numbers_a, numbers_b) = (QuestionNumbers::of(a), QuestionNumbers::of(b));
        let (names_a, mut names_b) = (numbers_a.names(a), by_name(numbers_b.names(b)));
        let mut joined = Joined {
            pairs: Vec::new(),
            clusters: Vec::new(),
            a: numbers_a,
            b: numbers_b,
            only_in_a: Vec::new(),
            only_in_b: Vec::new(),
            unseen: [Vec::new(), Vec::new()],
        };
        let mut groups: HashMap<String, u32> = HashMap::new();
        for (number, name) in names_a.into_iter().enumerate() {
            let can_join = !name.id.is_empty() && is_same(&name);
            let other = if can_join { names_b.remove(&name) } else { None };
            let Some(other) = other else {
                joined.only_in_a.push(name);
                continue;
            };
            let key = if by_template { name.group } else { number.to_string() };
            let next = u32::try_from(groups.len()).unwrap_or(u32::MAX);
            joined.clusters.push(*groups.entry(key).or_insert(next));
            joined.pairs.push(JoinedQuestion { a: number, b: other });
        }
        joined.only_in_b = names_b.into_keys().collect();
        joined.only_in_b.sort_unstable();
        joined
    }

    /// The same, knowing which questions each run was to answer and has no row of.
    #[must_use]
    pub(crate) fn without(
        self,
        [a, b]: [&[QuestionName]; 2],
        [table_a, table_b]: [&ScoreTable; 2],
    ) -> Joined {
        let unseen = [self.b.find(a, table_b), self.a.find(b, table_a)];
        Joined { unseen: unseen.map(|own| own.into_iter().map(UnseenQuestion).collect()), ..self }
    }

    /// The number of questions that both runs have.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether they have none in common.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The name of a joined question; `table` is the first run's.
    pub fn name(&self, at: usize, table: &ScoreTable) -> QuestionName {
        self.a.name(self.pairs[at].a, table)
    }

    /// The first rows of a joined question in the two tables.
    pub fn rows(&self, at: usize) -> (usize, usize) {
        let JoinedQuestion { a, b } = self.pairs[at];
        (self.a.first_items[a], self.b.first_items[b])
    }

    /// The scores of the questions that both runs have a score for. Several answers to a question
    /// count by their mean.
    pub fn scores(&self, a: &ScoreColumn, b: &ScoreColumn) -> PairedScores {
        let (a, b) = (self.a.means(a), self.b.means(b));
        let mut scores = PairedScores::default();
        for (at, pair) in self.pairs.iter().enumerate() {
            if let (Some(a), Some(b)) = (a[pair.a], b[pair.b]) {
                scores.at.push(at);
                scores.a.push(a);
                scores.b.push(b);
                scores.clusters.push(self.clusters[at]);
            }
        }
        scores
    }

    /// The numbers of the questions of the first run alone.
    pub(crate) fn alone_in_a(&self) -> impl Iterator<Item = usize> {
        alone(self.a.n_questions, self.pairs.iter().map(|pair| pair.a))
    }

    /// The numbers of the questions of the second run alone.
    pub(crate) fn alone_in_b(&self) -> impl Iterator<Item = usize> {
        alone(self.b.n_questions, self.pairs.iter().map(|pair| pair.b))
    }

    /// The scores of each joined question in both runs, from those of all rows of the two tables.
    pub(crate) fn both(
        &self,
        a: &[Option<f64>],
        b: &[Option<f64>],
    ) -> Vec<(Option<f64>, Option<f64>)> {
        let (a, b) = (self.a.means_of_rows(a), self.b.means_of_rows(b));
        self.pairs.iter().map(|pair| (a[pair.a], b[pair.b])).collect()
    }
}

/// The numbers of the questions that are not among those paired.
fn alone(n_questions: usize, paired: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    let mut is_paired = vec![false; n_questions];
    paired.for_each(|question| is_paired[question] = true);
    (0..n_questions).filter(move |question| !is_paired[*question])
}

fn by_name(names: Vec<QuestionName>) -> HashMap<QuestionName, usize> {
    names.into_iter().enumerate().map(|(number, name)| (name, number)).collect()
}
