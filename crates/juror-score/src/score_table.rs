//! The numbers of many judged things, by metric: what statistics, comparison and gates compute from.
//!
//! A row is an answer to a question or an agent's attempt at a query, and a column is a metric. A
//! cell has a number, or several if the steps of a question have one each; or it has none, and then
//! the table knows whether the metric applies to the row. Tables of parts of a run can be appended to
//! each other.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{iter, thread};

use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;
use juror_document::n_cores;

use crate::coverage::{Coverage, Traits};
use crate::finding::Verdict;
use crate::metric::{ATTEMPT_METRICS, Level, MetricInfo, QUESTION_METRICS};
use crate::scorecard::Scorecard;
use crate::stats::{Number, Series};

/// From this many numbers on, sorting them takes longer than starting threads.
const ENOUGH_FOR_THREADS: usize = 8192;

/// Rows of judged things, and a column for each metric.
#[derive(Clone, Debug)]
pub struct ScoreTable {
    level: Level,
    groups: IndexSet<String, DefaultHashBuilder>,
    items: Vec<ScoredItem>,
    columns: Vec<ScoreColumn>,
    n_owed: u32,
}

/// A row: one answer to a question, or one attempt at a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredItem {
    /// The id of the question or query, unique in its group; empty if it has none.
    pub id: Box<str>,
    /// The position of its template or set in [`ScoreTable::groups`].
    pub group: u32,
    /// Which of several answers it is, from 1 on; `None` if it is the only one.
    pub trial: Option<u32>,
    /// Whether it ended in an error, or there is no answer.
    pub is_error: bool,
    /// What the question has that metrics may need.
    pub traits: Traits,
}

/// A column: one metric.
#[derive(Clone, Debug, Default)]
pub struct ScoreColumn {
    /// The metric's name.
    pub name: Cow<'static, str>,
    /// Its row of the metric table; `None` for a metric of the user's own.
    pub info: Option<&'static MetricInfo>,
    needs: Traits,
    /// In the order of the rows.
    values: Vec<ScoredValue>,
    /// The rows to which it does not apply, whatever their traits, in order.
    exempt: Vec<u32>,
    /// The scores of all repeats, of each row that was judged several times.
    repeats: Vec<Vec<f64>>,
}

/// A number in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredValue {
    /// The position of the row.
    pub item: u32,
    // Beside the position, and not in a `Number`, so that the whole takes 16 bytes and not 24.
    whole: bool,
    /// The value of the number.
    pub value: f64,
}

impl ScoredValue {
    fn new(item: u32, number: Number) -> ScoredValue {
        ScoredValue { item, whole: number.whole, value: number.value }
    }

    /// The number.
    pub fn number(self) -> Number {
        Number { value: self.value, whole: self.whole }
    }
}

/// What is known about a row and a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is a number.
    Scored,
    /// The metric applies, and there is no number: an error of the system or of a judge.
    Missing,
    /// The metric does not apply.
    NotApplicable,
}

impl ScoreTable {
    /// An empty table for answers to questions. `custom` are the names of the metrics of custom
    /// evaluations, `custom_needs` what each needs of a question, as far as that is known.
    pub fn of_questions(custom: &[String], custom_needs: &[Traits]) -> ScoreTable {
        let needs = custom_needs.iter().copied().chain(iter::repeat(Traits::NONE));
        let own = custom.iter().zip(needs).map(|(name, needs)| {
            let name = Cow::Owned(name.clone());
            ScoreColumn { name, info: None, needs, ..ScoreColumn::default() }
        });
        ScoreTable::new(Level::Question, QUESTION_METRICS.iter().map(ScoreColumn::of).chain(own))
    }

    /// An empty table for agents' attempts.
    pub fn of_attempts() -> ScoreTable {
        ScoreTable::new(Level::Attempt, ATTEMPT_METRICS.iter().map(ScoreColumn::of))
    }

    fn new(level: Level, columns: impl Iterator<Item = ScoreColumn>) -> ScoreTable {
        let groups = IndexSet::default();
        ScoreTable { level, groups, items: Vec::new(), columns: columns.collect(), n_owed: 1 }
    }

    /// Says how many answers every question was to get, for a table that may have fewer rows.
    pub fn owe(&mut self, n_answers: u32) {
        self.n_owed = n_answers;
    }

    /// How many answers every question was to get, as far as that is known: at least one.
    pub fn n_owed(&self) -> u32 {
        self.n_owed
    }

    /// [`Level::Question`] or [`Level::Attempt`]: what the rows are.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The templates or sets, in order of first appearance.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }

    /// The name of a row's template or set.
    pub fn group_of(&self, item: &ScoredItem) -> &str {
        self.groups.get_index(item.group as usize).map_or("", String::as_str)
    }

    /// The rows.
    pub fn items(&self) -> &[ScoredItem] {
        &self.items
    }

    /// The columns: metrics of the table in its order, then the user's own.
    pub fn columns(&self) -> &[ScoreColumn] {
        &self.columns
    }

    /// The column of a metric.
    pub fn column(&self, name: &str) -> Option<&ScoreColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Computes something of each column, in the order of the columns, on all cores if there are
    /// numbers enough.
    pub fn map_columns<'t, T: Send>(&'t self, of: impl Fn(&'t ScoreColumn) -> T + Sync) -> Vec<T> {
        let n_values: usize = self.columns.iter().map(|column| column.values.len()).sum();
        if n_values < ENOUGH_FOR_THREADS {
            return self.columns.iter().map(of).collect();
        }
        // Columns differ in how many numbers they have, so a thread that is done takes the next one.
        let next = AtomicUsize::new(0);
        let take = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            Some((at, of(self.columns.get(at)?)))
        };
        let mut all = on_all_cores(self.columns.len(), || iter::from_fn(take).collect());
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, own)| own).collect()
    }

    /// What is known about a row and a metric. For many rows, [`ScoreTable::standings`] is faster.
    pub fn standing(&self, column: &ScoreColumn, item: usize) -> Standing {
        let at = column.values.partition_point(|value| (value.item as usize) < item);
        let has_value = column.values.get(at).is_some_and(|value| value.item as usize == item);
        self.standing_with(column, item, has_value)
    }

    /// What is known about each row and a metric, in the order of the rows.
    pub fn standings(&self, column: &ScoreColumn) -> impl Iterator<Item = Standing> {
        let mut values = column.values.iter().peekable();
        (0..self.items.len()).map(move |item| {
            let mut has_value = false;
            while values.next_if(|value| value.item as usize == item).is_some() {
                has_value = true;
            }
            self.standing_with(column, item, has_value)
        })
    }

    fn standing_with(&self, column: &ScoreColumn, item: usize, has_value: bool) -> Standing {
        let is_exempt = || column.exempt.binary_search(&row_number(item)).is_ok();
        if has_value {
            Standing::Scored
        } else if column.needs.are_in(self.items[item].traits) && !is_exempt() {
            Standing::Missing
        } else {
            Standing::NotApplicable
        }
    }

    /// Adds a row in a template or set, and returns the position of that group.
    pub(crate) fn push(&mut self, group: &str, item: ScoredItem) -> usize {
        let at = self.groups.get_index_of(group);
        let at = at.unwrap_or_else(|| self.groups.insert_full(group.to_owned()).0);
        self.items.push(ScoredItem { group: row_number(at), ..item });
        at
    }

    /// Adds a number to the last row.
    pub(crate) fn put(&mut self, column: usize, number: Number) {
        let item = row_number(self.items.len().saturating_sub(1));
        self.columns[column].values.push(ScoredValue::new(item, number));
    }

    /// Adds the scores of all repeats to the last row.
    pub(crate) fn put_repeats(&mut self, name: &str, scores: Vec<f64>) {
        if let Some(column) = self.columns.iter_mut().find(|column| column.name == name) {
            column.repeats.push(scores);
        }
    }

    /// Adds an agent's attempt.
    pub fn push_attempt(&mut self, card: &Scorecard<'_>) {
        let trial = card.trial.and_then(|trial| u32::try_from(trial).ok());
        let (id, is_error) = (Box::from(&*card.id), card.error().is_some());
        let item = ScoredItem { id, group: 0, trial, is_error, traits: Traits::NONE };
        self.push(&card.group, item);
        card.each_number(|name, number| {
            if let Some(at) = self.columns.iter().position(|column| column.name == name) {
                self.put(at, number);
            }
        });
        for finding in card.findings() {
            finding.each_repeats(|name, scores| self.put_repeats(name, scores));
        }
        let row = row_number(self.items.len() - 1);
        for column in &mut self.columns {
            if column.values.last().is_none_or(|value| value.item != row) && is_exempt(card, column)
            {
                column.exempt.push(row);
            }
        }
    }

    /// Appends the rows of another table with the same columns. Returns where each of its groups is
    /// now.
    pub fn append(&mut self, other: ScoreTable) -> Vec<usize> {
        let offset = row_number(self.items.len());
        self.n_owed = self.n_owed.max(other.n_owed);
        let place = |group| self.groups.insert_full(group).0;
        let groups: Vec<usize> = other.groups.into_iter().map(place).collect();
        let moved = |item: ScoredItem| {
            let group = row_number(groups[item.group as usize]);
            ScoredItem { group, ..item }
        };
        self.items.extend(other.items.into_iter().map(moved));
        for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
            let moved = |value: ScoredValue| ScoredValue { item: value.item + offset, ..value };
            mine.values.extend(theirs.values.into_iter().map(moved));
            mine.exempt.extend(theirs.exempt.into_iter().map(|item| item + offset));
            mine.repeats.extend(theirs.repeats);
        }
        groups
    }

    /// The numbers of a column by group, and how many rows of each group have one.
    pub(crate) fn by_group(&self, column: &ScoreColumn) -> Vec<GroupScores> {
        let mut groups = vec![GroupScores::default(); self.groups.len()];
        for value in &column.values {
            groups[self.items[value.item as usize].group as usize].series.push(value.number());
        }
        for (item, standing) in self.items.iter().zip(self.standings(column)) {
            let coverage = &mut groups[item.group as usize].coverage;
            coverage.n_scored += usize::from(standing == Standing::Scored);
            coverage.n_applicable += usize::from(standing != Standing::NotApplicable);
        }
        groups
    }
}

/// The numbers of a metric in one template or set.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupScores {
    pub(crate) series: Series,
    pub(crate) coverage: Coverage,
}

impl GroupScores {
    /// Adds the numbers of another group.
    pub(crate) fn merge(&mut self, other: &GroupScores) {
        self.series.extend(&other.series);
        self.coverage.n_scored += other.coverage.n_scored;
        self.coverage.n_applicable += other.coverage.n_applicable;
    }
}

impl ScoreColumn {
    fn of(info: &'static MetricInfo) -> ScoreColumn {
        let (name, needs) = (Cow::Borrowed(info.name), info.needs);
        ScoreColumn { name, info: Some(info), needs, ..ScoreColumn::default() }
    }

    /// Whether its statistics are written even if no row has a number.
    pub(crate) fn is_always_written(&self) -> bool {
        self.info.is_some_and(|info| info.always)
    }

    /// Whether its statistics are written.
    pub(crate) fn is_written(&self) -> bool {
        self.is_always_written() || !self.values.is_empty()
    }

    /// The scores of all repeats, of each row that was judged several times.
    pub fn repeats(&self) -> &[Vec<f64>] {
        &self.repeats
    }

    /// The numbers, in the order of the rows.
    pub fn values(&self) -> &[ScoredValue] {
        &self.values
    }
}

/// Whether a metric without a number does not apply to an attempt, as opposed to being missing.
///
/// Usage that nobody reported is no error, and neither is a metric that was not asked for.
fn is_exempt(card: &Scorecard<'_>, column: &ScoreColumn) -> bool {
    match card.finding(&column.name).map(|finding| &finding.verdict) {
        Some(Verdict::NotApplicable(_)) => true,
        Some(Verdict::Failed(_) | Verdict::Scored(_)) => false,
        None => card.error().is_none(),
    }
}

/// Does the same work on as many threads as there are cores, at most `n_most`, and puts together what
/// each of them returns.
fn on_all_cores<T: Send>(n_most: usize, work: impl Fn() -> Vec<T> + Sync) -> Vec<T> {
    let n_threads = n_cores().min(n_most);
    thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(&work)).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}

/// Positions are stored in 32 bits: a table has fewer rows than that.
fn row_number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Aspect, Finding, Reason};

    fn number(value: f64) -> Number {
        Number::real(value).expect("a number")
    }

    fn item(id: &str, traits: Traits) -> ScoredItem {
        ScoredItem { id: id.into(), group: 0, trial: None, is_error: false, traits }
    }

    const WITH_STEPS: Traits = Traits { steps: true, ..Traits::NONE };

    /// Three questions, of which the first has a score and the last expects no steps.
    fn questions() -> ScoreTable {
        let mut table = ScoreTable::of_questions(&["taste".into()], &[]);
        let at = table.columns.iter().position(|column| column.name == "steps_score");
        table.push("a", item("1", WITH_STEPS));
        table.put(at.expect("a column"), number(0.5));
        table.push("b", item("2", WITH_STEPS));
        table.push("a", item("3", Traits::NONE));
        table
    }

    #[test]
    fn a_metric_without_a_number_is_missing_or_does_not_apply() {
        use Standing::{Missing, NotApplicable, Scored};
        let table = questions();
        let column = table.column("steps_score").expect("a column");
        let standings: Vec<Standing> = table.standings(column).collect();
        assert_eq!(standings, [Scored, Missing, NotApplicable]);
        for (at, standing) in standings.into_iter().enumerate() {
            assert_eq!(table.standing(column, at), standing);
        }
        let own = table.column("taste").expect("the user's own");
        assert!(table.standings(own).all(|standing| standing == Missing));
    }

    #[test]
    fn groups_have_their_numbers_and_coverage() {
        let table = questions();
        let mut groups = table.by_group(table.column("steps_score").expect("a column"));
        let coverage: Vec<_> = groups
            .iter()
            .map(|group| (group.coverage.n_scored, group.coverage.n_applicable))
            .collect();
        assert_eq!(coverage, [(1, 1), (0, 1)]);
        assert_eq!(groups[0].series.spread().mean, 0.5);
    }

    #[test]
    fn appended_rows_keep_their_groups_and_numbers() {
        let mut other = ScoreTable::of_questions(&["taste".into()], &[]);
        let taste = other.columns.len() - 1;
        other.push("c", item("4", Traits::NONE));
        other.push("b", item("5", Traits::NONE));
        other.put(taste, number(1.0));
        let mut table = questions();
        assert_eq!(table.append(other), [2, 1]);
        assert_eq!(table.groups().collect::<Vec<_>>(), ["a", "b", "c"]);
        let groups: Vec<&str> = table.items().iter().map(|item| table.group_of(item)).collect();
        assert_eq!(groups, ["a", "b", "a", "c", "b"]);
        let taste = table.column("taste").expect("the user's own");
        assert_eq!(taste.values(), [ScoredValue::new(4, number(1.0))]);
    }

    #[test]
    fn an_attempt_says_itself_what_does_not_apply() {
        use Standing::{Missing, NotApplicable, Scored};

        use crate::trajectory::Ending;
        let calls = Aspect::Metric("api_call_score");
        let none_right = Finding::new(calls, Verdict::NotApplicable(Reason::NoRightApis));
        let failed = Finding::new(Aspect::Metric("sopr_score"), Verdict::failed("no reply"));
        let solved = Finding::new(Aspect::Metric("sopr_score"), Verdict::scored(1.0));
        let mut table = ScoreTable::of_attempts();
        table.push_attempt(&Scorecard {
            trial: Some(2),
            computed: vec![none_right].into(),
            judged: vec![failed].into(),
            ..Scorecard::of_attempt("G1", "7")
        });
        table.push_attempt(&Scorecard {
            judged: vec![solved].into(),
            ..Scorecard::of_attempt("G1", "8")
        });
        let ending = Ending::Failed("it crashed".into());
        table.push_attempt(&Scorecard { ending, ..Scorecard::of_attempt("G1", "9") });
        let standings = |name| -> Vec<Standing> {
            table.standings(table.column(name).expect("a column")).collect()
        };
        assert_eq!(standings("sopr_score"), [Missing, Scored, Missing]);
        assert_eq!(standings("api_call_score"), [NotApplicable, NotApplicable, Missing]);
        assert_eq!(standings("agent_tokens"), [NotApplicable, NotApplicable, Missing]);
        assert_eq!(table.items()[0].trial, Some(2));
    }
}
