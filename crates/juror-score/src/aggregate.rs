//! Folds records into statistics per template, over all questions and over all templates.
//!
//! Shards of a dataset can be aggregated separately and merged with the same result.

use std::borrow::Cow;

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;
use juror_statistics::compensated_sum;

use crate::by_step::ByStep;
use crate::coverage::{Coverage, Traits};
use crate::kind_names::KindNames;
use crate::metric::{Level, QUESTION_METRICS};
use crate::profile::{ErrorResponses, Profile};
use crate::record::Record;
use crate::score_table::{GroupScores, ScoreColumn, ScoreTable, ScoredItem};
use crate::scorecard::Scorecard;
use crate::stats::{Number, Spread};
use crate::told_rules::{RuleTraces, ToldRules};
use crate::trajectory::Status;

/// A map in order of first appearance.
pub type Ordered<K, V> = IndexMap<K, V, DefaultHashBuilder>;

/// Statistics of a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregates {
    /// By template, in dataset order.
    pub per_template: Ordered<String, Summary>,
    /// Over all questions.
    pub micro: Summary,
    /// The mean over templates of each metric's mean.
    pub macro_means: Ordered<Cow<'static, str>, f64>,
}

/// Statistics of some questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many questions ended in an error.
    pub n_errors: usize,
    /// How many questions did not.
    pub n_successes: usize,
    /// The metrics that some question has, and those that are always written.
    pub metrics: Ordered<Cow<'static, str>, Spread>,
    /// How many questions each metric applies to and has a verdict on, in the same order.
    pub coverage: Vec<Coverage>,
    /// How often each kind of step was taken; `None` if the profile does not count them.
    pub steps: Option<StepCounts>,
    /// Whether to repeat the `retrieval_*` statistics beside the step counts.
    pub retrieval_in_steps: bool,
}

impl Summary {
    /// Returns the statistics of a metric.
    pub fn spread(&self, metric: &str) -> Option<&Spread> {
        self.metrics.get(metric)
    }

    /// Returns how many of the questions a metric applies to have a verdict on it.
    pub fn coverage(&self, metric: &str) -> Option<Coverage> {
        self.coverage.get(self.metrics.get_index_of(metric)?).copied()
    }
}

/// How often steps were taken, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepCounts {
    /// All of them.
    pub total: Ordered<String, usize>,
    /// At most once per question.
    pub once_per_sample: Ordered<String, usize>,
    /// Those that returned a SPARQL result without rows.
    pub empty_results: Ordered<String, usize>,
    /// Those that failed.
    pub errors: Ordered<String, usize>,
}

impl StepCounts {
    /// Returns the four counts with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Ordered<String, usize>)> {
        [
            ("total", &self.total),
            ("once_per_sample", &self.once_per_sample),
            ("empty_results", &self.empty_results),
            ("errors", &self.errors),
        ]
        .into_iter()
    }
}

/// The contribution of one question.
#[derive(Debug, Default)]
pub struct Observation<'o> {
    /// The id of the question; empty if it has none.
    pub id: &'o str,
    /// Its template.
    pub template: &'o str,
    /// Which of several answers to the question it is, from 1 on; `None` if it is the only one.
    pub trial: Option<u32>,
    /// Whether it ended in an error.
    pub is_error: bool,
    /// The traits that metrics may need.
    pub traits: Traits,
    /// Its values by metric.
    pub values: Vec<(&'o str, Number)>,
    /// The scores of all repeats, by metric, if a judge was asked several times.
    pub repeats: Vec<(&'o str, Vec<f64>)>,
    /// Its steps, in order.
    pub steps: Vec<ObservedStep<'o>>,
    /// What it shows of the rules it was made by.
    pub traces: RuleTraces,
}

/// The contribution of one step.
#[derive(Debug)]
pub struct ObservedStep<'o> {
    /// Its name.
    pub name: &'o str,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether it returned a SPARQL result without rows.
    pub is_empty: bool,
    /// Its values by metric; only those of retrieval steps count.
    pub values: Vec<(&'o str, Number)>,
}

/// Collects records; [`Aggregator::finish`] computes the statistics.
#[derive(Clone, Debug)]
pub struct Aggregator {
    profile: Profile,
    scores: ScoreTable,
    /// The steps of each template, by its position in the table.
    steps: Vec<StepTally>,
    told: ToldRules,
}

/// The steps taken in a template, by name.
#[derive(Clone, Debug, Default)]
pub struct StepTally {
    /// All of them.
    pub taken: Ordered<String, Taken>,
    /// Those that returned a SPARQL result without rows.
    pub empty_results: Ordered<String, Seen>,
    /// Those that failed.
    pub errors: Ordered<String, Seen>,
}

/// How often a kind of step was taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Over all questions, and where first.
    pub seen: Seen,
    /// At most once per question.
    pub once: usize,
    /// The number of the last question it was seen in, counted from 1.
    last: usize,
}

/// How often something was seen, and where first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// How often.
    pub count: usize,
    /// The first row of the table that has it, and the step in it.
    pub first: (usize, usize),
}

impl Seen {
    /// Counts once more, at a place after those before.
    fn at(&mut self, place: (usize, usize)) {
        if self.count == 0 {
            self.first = place;
        }
        self.count += 1;
    }

    /// Counts what was seen in rows that come so many rows later.
    fn merge(&mut self, later: Seen, n_rows: usize) {
        if self.count == 0 {
            self.first = (later.first.0 + n_rows, later.first.1);
        }
        self.count += later.count;
    }
}

impl Aggregator {
    /// Creates an empty aggregator; `custom` names the outputs of custom evaluations.
    pub fn new(profile: &Profile, custom: &[String]) -> Aggregator {
        Aggregator::with_needs(profile, custom, &[])
    }

    /// Creates an empty aggregator that knows what each custom metric needs of a question.
    pub fn with_needs(profile: &Profile, custom: &[String], custom_needs: &[Traits]) -> Aggregator {
        let scores = ScoreTable::of_questions(custom, custom_needs);
        let (profile, steps, told) = (profile.clone(), Vec::new(), ToldRules::default());
        Aggregator { profile, scores, steps, told }
    }

    /// Returns the rules by which it collects.
    #[inline]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns which profile the results so far were made by, as far as they tell.
    #[inline]
    pub fn told_rules(&self) -> ToldRules {
        self.told
    }

    /// Returns the numbers collected so far.
    pub fn scores(&self) -> &ScoreTable {
        &self.scores
    }

    /// Returns the steps taken in each template, in the order of the groups of the table.
    pub fn steps(&self) -> &[StepTally] {
        &self.steps
    }

    /// Returns the numbers, without what else was collected.
    pub fn into_scores(self) -> ScoreTable {
        self.scores
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record<'_>) {
        // Copied first: the processor waits for the text of the question and for that of the
        // response, which are far apart in memory, at the same time.
        let id = Box::from(&*record.case.question.id);
        let card = Scorecard::of(record);
        let item = ScoredItem {
            id,
            group: 0,
            trial: card.trial.and_then(|trial| u32::try_from(trial).ok()),
            is_error: card.ending.is_error(),
            traits: Traits::of(&record.case, &self.profile),
        };
        let Some(mut entry) = self.begin(&card.group, item) else { return };
        card.each_number(|name, number| entry.add(name, number));
        for finding in card.judged.iter().filter(|finding| finding.step.is_none()) {
            finding.each_repeats(|name, scores| entry.scores.put_repeats(name, scores));
        }
        let findings = ByStep::new(card.findings(), |finding| finding.step);
        for (index, step) in record.case.trajectory.steps.iter().flatten().enumerate() {
            entry.count_step(&step.name, step.status == Status::Error, record.empty_results[index]);
            if entry.is_retrieval(&step.name) {
                for finding in findings.of(index) {
                    finding.each_number(|name, value| entry.add_real_of_step(&name, value));
                }
            }
        }
    }

    /// Adds one question.
    pub fn observe(&mut self, observation: &Observation<'_>) {
        let Observation { id, template, trial, is_error, traits, traces, .. } = *observation;
        let of_steps = || observation.steps.iter().any(|step| !step.values.is_empty());
        let has_numbers = is_error && (!observation.values.is_empty() || of_steps());
        self.told.add(traces, is_error, has_numbers);
        let item = ScoredItem { id: id.into(), group: 0, trial, is_error, traits };
        let Some(mut entry) = self.begin(template, item) else { return };
        for &(name, number) in &observation.values {
            entry.add(name, number);
        }
        for (name, scores) in &observation.repeats {
            entry.scores.put_repeats(name, scores.clone());
        }
        for step in &observation.steps {
            entry.count_step(step.name, step.is_error, step.is_empty);
            if entry.is_retrieval(step.name) {
                for &(name, number) in &step.values {
                    entry.add_of_step(name, number);
                }
            }
        }
    }

    /// Adds a question to its template. Returns `None` if nothing else of it enters the statistics.
    fn begin(&mut self, template: &str, item: ScoredItem) -> Option<Entry<'_>> {
        let is_error = item.is_error;
        let group = self.scores.push(template, item);
        if group == self.steps.len() {
            self.steps.push(StepTally::default());
        }
        if is_error && self.profile.statistics_of_errors == ErrorResponses::LeftOut {
            return None;
        }
        Some(Entry {
            number: self.scores.items().len(),
            steps: &mut self.steps[group],
            scores: &mut self.scores,
            names: &self.profile.kind_names,
            n_steps: 0,
            next: 0,
        })
    }

    /// Adds everything that another aggregator has collected, as if its records had been added
    /// here.
    pub fn merge(&mut self, other: Aggregator) {
        self.told.merge(other.told);
        let n_rows = self.scores.items().len();
        let groups = self.scores.append(other.scores);
        for (group, theirs) in groups.into_iter().zip(other.steps) {
            if group == self.steps.len() {
                self.steps.push(StepTally::default());
            }
            self.steps[group].merge(theirs, n_rows);
        }
    }

    /// Computes the statistics of everything added so far.
    pub fn finish(&self) -> Aggregates {
        let mut per_template: Ordered<String, Summary> = self
            .scores
            .groups()
            .zip(&self.steps)
            .map(|(id, steps)| (id.to_owned(), self.summary(Some(steps.counts()))))
            .collect();
        let mut all_steps = StepTally::default();
        self.steps.iter().for_each(|steps| all_steps.merge(steps.clone(), 0));
        let mut micro = self.summary(self.profile.micro_steps.then(|| all_steps.counts()));
        micro.retrieval_in_steps = false;
        for item in self.scores.items() {
            for summary in [&mut per_template[item.group as usize], &mut micro] {
                summary.n_errors += usize::from(item.is_error);
                summary.n_successes += usize::from(!item.is_error);
            }
        }
        let mut macro_means = Ordered::default();
        for ColumnSpreads { column, templates, all } in self.column_spreads() {
            let mut means = Vec::new();
            for (summary, own) in per_template.values_mut().zip(templates) {
                means.extend(summary.add(column, own).map(|spread| spread.mean));
            }
            micro.add(column, all);
            if column.is_always_written() || !means.is_empty() {
                macro_means.insert(column.name.clone(), mean_of(means));
            }
        }
        Aggregates { per_template, micro, macro_means }
    }

    fn summary(&self, steps: Option<StepCounts>) -> Summary {
        let retrieval_in_steps = self.profile.retrieval_in_steps;
        Summary { steps, retrieval_in_steps, ..Summary::default() }
    }

    /// Computes the statistics of each column that some question has or that is always written, in
    /// the order of the columns.
    fn column_spreads(&self) -> Vec<ColumnSpreads<'_>> {
        let spreads = self.scores.map_columns(|column| {
            column.is_written().then(|| ColumnSpreads::of(&self.scores, column))
        });
        spreads.into_iter().flatten().collect()
    }
}

/// The statistics of a metric.
struct ColumnSpreads<'t> {
    column: &'t ScoreColumn,
    /// In the order of the templates.
    templates: Vec<(Spread, Coverage)>,
    all: (Spread, Coverage),
}

impl<'t> ColumnSpreads<'t> {
    fn of(scores: &ScoreTable, column: &'t ScoreColumn) -> ColumnSpreads<'t> {
        let mut all = GroupScores::default();
        let mut templates = Vec::new();
        for mut own in scores.by_group(column) {
            templates.push((own.series.spread(), own.coverage));
            all.merge(&own);
        }
        ColumnSpreads { column, templates, all: (all.series.spread(), all.coverage) }
    }
}

/// The mean of some means, which does not depend on their order; 0 if there is none.
fn mean_of(mut means: Vec<f64>) -> f64 {
    means.sort_unstable_by(f64::total_cmp);
    compensated_sum(&means) / means.len().max(1) as f64
}

impl Summary {
    /// Adds the statistics of a metric, unless no question has it and it need not be written.
    fn add(&mut self, column: &ScoreColumn, own: (Spread, Coverage)) -> Option<Spread> {
        let (spread, coverage) = own;
        if !column.is_always_written() && spread.n == 0 {
            return None;
        }
        self.metrics.insert(column.name.clone(), spread);
        self.coverage.push(coverage);
        Some(spread)
    }
}

/// A question being added.
struct Entry<'t> {
    scores: &'t mut ScoreTable,
    steps: &'t mut StepTally,
    names: &'t KindNames,
    /// The number of the question, counted from 1.
    number: usize,
    /// How many of its steps were counted.
    n_steps: usize,
    /// Where the next value probably belongs.
    next: usize,
}

impl Entry<'_> {
    /// Adds a value of the question.
    fn add(&mut self, name: &str, value: Number) {
        if let Some(at) = self.place_of(name, Level::Question, self.next) {
            self.scores.put(at, value);
            self.next = at + 1;
        }
    }

    /// Adds a value of a retrieval step.
    fn add_of_step(&mut self, name: &str, value: Number) {
        let at = self.place_of(name, Level::Step, 0);
        if let Some(at) = at.filter(|at| *at < QUESTION_METRICS.len()) {
            self.scores.put(at, value);
        }
    }

    fn add_real_of_step(&mut self, name: &str, value: f64) {
        if let Some(number) = Number::real(value) {
            self.add_of_step(name, number);
        }
    }

    /// Finds the column of a metric. Values nearly always come in the order of the columns, so the
    /// search begins at the next one.
    fn place_of(&self, name: &str, level: Level, next: usize) -> Option<usize> {
        let columns = self.scores.columns();
        let is_it = |column: &ScoreColumn| {
            column.name == name && column.info.is_none_or(|info| info.level == level)
        };
        let next = next.min(columns.len());
        let after = || Some(next + columns[next..].iter().position(is_it)?);
        after().or_else(|| columns[..next].iter().position(is_it))
    }

    /// Returns whether the values of a step of this name count.
    fn is_retrieval(&self, name: &str) -> bool {
        self.names.is_retrieval(name)
    }

    /// Counts a step.
    fn count_step(&mut self, name: &str, is_error: bool, is_empty: bool) {
        let place = (self.number - 1, self.n_steps);
        self.n_steps += 1;
        let taken = count_of(&mut self.steps.taken, name);
        taken.seen.at(place);
        if taken.last != self.number {
            taken.last = self.number;
            taken.once += 1;
        }
        if is_error {
            count_of(&mut self.steps.errors, name).at(place);
        } else if is_empty {
            count_of(&mut self.steps.empty_results, name).at(place);
        }
    }
}

impl StepTally {
    /// Adds the steps of rows that come so many rows later.
    fn merge(&mut self, other: StepTally, n_rows: usize) {
        for (name, theirs) in other.taken {
            let mine = count_of(&mut self.taken, &name);
            mine.seen.merge(theirs.seen, n_rows);
            mine.once += theirs.once;
            // No later question has this number.
            mine.last = 0;
        }
        for (name, theirs) in other.errors {
            count_of(&mut self.errors, &name).merge(theirs, n_rows);
        }
        for (name, theirs) in other.empty_results {
            count_of(&mut self.empty_results, &name).merge(theirs, n_rows);
        }
    }

    fn counts(&self) -> StepCounts {
        let counts = |of: fn(&Taken) -> usize| {
            self.taken.iter().map(|(name, taken)| (name.clone(), of(taken))).collect()
        };
        let seen = |all: &Ordered<String, Seen>| {
            all.iter().map(|(name, seen)| (name.clone(), seen.count)).collect()
        };
        StepCounts {
            total: counts(|taken| taken.seen.count),
            once_per_sample: counts(|taken| taken.once),
            empty_results: seen(&self.empty_results),
            errors: seen(&self.errors),
        }
    }
}

fn count_of<'c, T: Default>(counts: &'c mut Ordered<String, T>, name: &str) -> &'c mut T {
    // Most templates have few names of steps, which are compared sooner than hashed. Looked up by
    // index, since the borrow checker would not let a reference found here be returned.
    let at = match counts.len() {
        0..=8 => counts.keys().position(|known| known == name),
        _ => counts.get_index_of(name),
    };
    let at = at.unwrap_or_else(|| counts.insert_full(name.to_owned(), T::default()).0);
    &mut counts[at]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{QuestionBuilder, StepBuilder, TrajectoryBuilder};
    use crate::finding::{Aspect, Finding, Judgement, Verdict};
    use crate::record::{Case, score};

    #[test]
    fn metrics_of_attempts_are_none_of_questions() {
        let sopr = ("sopr_score", Number { value: 1.0, whole: false });
        let observation =
            Observation { template: "t", values: vec![sopr], ..Observation::default() };
        let metrics = |custom: &[String]| {
            let mut aggregator = Aggregator::new(&Profile::V5, custom);
            aggregator.observe(&observation);
            aggregator.finish().micro.metrics
        };
        let names = |metrics: &Ordered<Cow<'static, str>, Spread>| {
            metrics.keys().map(AsRef::as_ref).collect::<Vec<&str>>().join(" ")
        };
        let always = "input_tokens output_tokens total_tokens elapsed_sec";
        assert_eq!(names(&metrics(&[])), always);
        let own = metrics(&["sopr_score".to_owned()]);
        assert_eq!(names(&own), format!("{always} sopr_score"), "a user's own may be called so");
        assert_eq!(own["sopr_score"].mean, 1.0);
    }

    #[test]
    fn each_of_many_steps_counts_with_its_own_findings() {
        let n_steps = 30_000;
        let step = || StepBuilder::new("retrieval").output("x");
        let trajectory = (0..n_steps).fold(TrajectoryBuilder::new(), |all, _| all.step(step()));
        let question = QuestionBuilder::new("q", "Q").template("t");
        let (question, trajectory) = (question.build(), trajectory.build());
        let case = Case { question: &question, trajectory: &trajectory };
        let aspect = Aspect::Metric("retrieval_context_recall");
        let finding = |at| Finding::new(aspect.clone(), Verdict::scored(0.5)).of_step(at);
        let findings = (0..n_steps).map(finding).collect();
        let judgement = Judgement { findings, ..Judgement::default() };
        let mut aggregator = Aggregator::new(&Profile::V6, &[]);
        aggregator.add(&score(&case, &Profile::V6).with(&judgement));
        let micro = aggregator.finish().micro;
        let recall = &micro.metrics["retrieval_context_recall"];
        assert_eq!((recall.n, recall.sum), (n_steps, 0.5 * n_steps as f64));
    }
}
