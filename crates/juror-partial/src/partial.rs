//! The numbers of a part of an evaluation.

use std::collections::BTreeMap;

use juror_compare::item_scores;
use juror_score::{
    Aggregator, MetricInfo, Profile, Record, ScoreColumn, ScoredValue, Seen, Standing, StepTally,
    Traits,
};

use crate::merge_error::MergeError;
use crate::origin::Origin;
use crate::tally::Tally;

/// The numbers of a part of an evaluation, reduced to what its aggregates and statistics need.
///
/// Partials of any split of the same answers merge to the same bytes, in any order.
#[derive(Clone, Debug)]
pub struct Partial {
    pub(crate) rules: Rules,
    pub(crate) columns: Vec<Column>,
    /// How many answers every question was to get.
    pub(crate) n_owed: u32,
    /// By name.
    pub(crate) templates: BTreeMap<String, Template>,
    /// For each column, how often a judge gave these verdicts on an answer, by their bits.
    pub(crate) repeats: Vec<BTreeMap<Vec<u64>, u64>>,
    /// The answers that are one of several to their question, by template and id.
    pub(crate) trials: BTreeMap<(String, String), Vec<TrialRow>>,
    pub(crate) origin: Option<Origin>,
}

/// The rules by which the numbers were made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// 5 or 6; 0 for rules of the user's own.
    pub(crate) profile: u8,
    /// A hash of all of them.
    pub(crate) hash: [u8; 32],
    /// Whether statistics over all questions have step counts too.
    pub(crate) micro_steps: bool,
    /// Whether `retrieval_*` statistics are repeated beside step counts.
    pub(crate) retrieval_in_steps: bool,
}

/// A metric.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) info: Option<&'static MetricInfo>,
}

/// The answers of a template.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) first: Place,
    pub(crate) n_answers: u64,
    pub(crate) n_errors: u64,
    /// How many are the only answer to their question.
    pub(crate) n_alone: u64,
    /// By column.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) steps: Steps,
}

/// Where something comes first: the position of the answer, and the step in it. It only decides the
/// order in which templates and names of steps are written.
pub(crate) type Place = (u64, u64);

/// Without positions, names decide the order.
const NOWHERE: Place = (u64::MAX, 0);

/// The steps of a template, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) taken: BTreeMap<String, SeenAt>,
    /// How many answers have them.
    pub(crate) once: BTreeMap<String, SeenAt>,
    pub(crate) empty_results: BTreeMap<String, SeenAt>,
    pub(crate) errors: BTreeMap<String, SeenAt>,
}

/// How often something was seen, and where first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenAt {
    pub(crate) count: u64,
    pub(crate) first: Place,
}

/// One of several answers to a question. Fields are in the order by which answers are sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TrialRow {
    pub(crate) trial: u32,
    /// The metrics that apply to it.
    pub(crate) cells: Vec<Cell>,
}

/// A metric of an answer: the bits of its numbers, none if it is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) column: u32,
    pub(crate) values: Vec<u64>,
}

impl Rules {
    fn of(profile: &Profile) -> Rules {
        let number = match profile {
            own if *own == Profile::V5 => 5,
            own if *own == Profile::V6 => 6,
            _ => 0,
        };
        Rules {
            profile: number,
            hash: *blake3::hash(format!("{profile:?}").as_bytes()).as_bytes(),
            micro_steps: profile.micro_steps,
            retrieval_in_steps: profile.retrieval_in_steps,
        }
    }
}

/// Returns the name of a profile, for people.
pub(crate) fn rules_name(profile: u8) -> String {
    match profile {
        0 => "rules of your own".to_owned(),
        number => format!("profile {number}"),
    }
}

impl Column {
    fn of(column: &ScoreColumn) -> Column {
        Column { name: column.name.to_string(), info: column.info }
    }
}

impl Template {
    pub(crate) fn new(n_columns: usize) -> Template {
        Template {
            first: NOWHERE,
            n_answers: 0,
            n_errors: 0,
            n_alone: 0,
            tallies: vec![Tally::default(); n_columns],
            steps: Steps::default(),
        }
    }

    fn merge(&mut self, other: &Template) {
        self.first = self.first.min(other.first);
        self.n_answers += other.n_answers;
        self.n_errors += other.n_errors;
        self.n_alone += other.n_alone;
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.merge(theirs);
        }
        self.steps.merge(&other.steps);
    }
}

impl Steps {
    fn add(&mut self, tally: &StepTally, place_of: impl Fn((usize, usize)) -> Place) {
        let seen =
            |Seen { count, first }: Seen| SeenAt { count: count as u64, first: place_of(first) };
        for (name, taken) in &tally.taken {
            let total = seen(taken.seen);
            count(&mut self.taken, name, total);
            count(&mut self.once, name, SeenAt { count: taken.once as u64, ..total });
        }
        for (name, own) in &tally.empty_results {
            count(&mut self.empty_results, name, seen(*own));
        }
        for (name, own) in &tally.errors {
            count(&mut self.errors, name, seen(*own));
        }
    }

    fn merge(&mut self, other: &Steps) {
        for (mine, theirs) in self.counts_mut().into_iter().zip(other.counts()) {
            for (name, seen) in theirs {
                count(mine, name, *seen);
            }
        }
    }

    /// The counts, in the order of files.
    pub(crate) fn counts(&self) -> [&BTreeMap<String, SeenAt>; 4] {
        [&self.taken, &self.once, &self.empty_results, &self.errors]
    }

    pub(crate) fn counts_mut(&mut self) -> [&mut BTreeMap<String, SeenAt>; 4] {
        [&mut self.taken, &mut self.once, &mut self.empty_results, &mut self.errors]
    }
}

fn count(counts: &mut BTreeMap<String, SeenAt>, name: &str, seen: SeenAt) {
    match counts.get_mut(name) {
        Some(known) => {
            known.count += seen.count;
            known.first = known.first.min(seen.first);
        }
        None => {
            counts.insert(name.to_owned(), seen);
        }
    }
}

impl Partial {
    /// The numbers of no answers. `custom` are the names of the metrics of custom evaluations.
    pub fn empty(profile: &Profile, custom: &[String]) -> Partial {
        Partial::of(&Aggregator::new(profile, custom))
    }

    /// The numbers of everything that was collected. Templates and names of steps are written in the
    /// order of their names.
    pub fn of(aggregator: &Aggregator) -> Partial {
        Partial::with_places(aggregator, |_| NOWHERE)
    }

    /// The same, where the position of each row is known in the whole list, by its number in the
    /// table. Templates and names of steps are then written in the order of the whole. No two rows
    /// have the same position.
    pub fn at(aggregator: &Aggregator, position_of: impl Fn(usize) -> u64) -> Partial {
        Partial::with_places(aggregator, |(row, step)| (position_of(row), step as u64))
    }

    /// The numbers of records. `custom` are the names of the metrics of custom evaluations, and
    /// `custom_needs` what each needs of a question, as far as that is known.
    pub fn of_records<'r, 'q: 'r>(
        profile: &Profile,
        (custom, custom_needs): (&[String], &[Traits]),
        records: impl IntoIterator<Item = &'r Record<'q>>,
    ) -> Partial {
        let mut aggregator = Aggregator::with_needs(profile, custom, custom_needs);
        records.into_iter().for_each(|record| aggregator.add(record));
        Partial::of(&aggregator)
    }

    /// Adds the numbers of another part. Refuses those of other rules, other metrics, another whole,
    /// and a shard that is here already; then nothing changes.
    pub fn merge(&mut self, other: &Partial) -> Result<(), MergeError> {
        self.check(other)?;
        if let (Some(mine), Some(theirs)) = (&mut self.origin, &other.origin) {
            mine.merge(theirs);
        }
        self.n_owed = self.n_owed.max(other.n_owed);
        for (name, theirs) in &other.templates {
            match self.templates.get_mut(name) {
                Some(mine) => mine.merge(theirs),
                None => {
                    self.templates.insert(name.clone(), theirs.clone());
                }
            }
        }
        for (mine, theirs) in self.repeats.iter_mut().zip(&other.repeats) {
            for (verdicts, count) in theirs {
                *mine.entry(verdicts.clone()).or_default() += count;
            }
        }
        for (question, rows) in &other.trials {
            self.trials.entry(question.clone()).or_default().extend(rows.iter().cloned());
        }
        Ok(())
    }

    fn check(&self, other: &Partial) -> Result<(), MergeError> {
        if self.rules != other.rules {
            return Err(MergeError::of_rules(self.rules.profile, other.rules.profile));
        }
        let names = |partial: &Partial| -> Vec<String> {
            partial.columns.iter().map(|column| column.name.clone()).collect()
        };
        if names(self) != names(other) {
            return Err(MergeError::OtherMetrics);
        }
        match (&self.origin, &other.origin) {
            (None, None) => Ok(()),
            (Some(mine), Some(theirs)) => mine.check(theirs),
            _ => Err(MergeError::NoShard),
        }
    }

    /// Says which shards of which whole these numbers are.
    #[must_use]
    pub fn from_shard(mut self, origin: Origin) -> Partial {
        self.origin = Some(origin);
        self
    }

    /// Returns which shards of which whole these numbers are, as far as that is known.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns how many answers there are.
    pub fn n_answers(&self) -> u64 {
        self.templates.values().map(|template| template.n_answers).sum()
    }

    /// Returns the rules by which the numbers were made, for people: `profile 5`.
    pub fn rules_name(&self) -> String {
        rules_name(self.rules.profile)
    }

    fn with_places(aggregator: &Aggregator, place_of: impl Fn((usize, usize)) -> Place) -> Partial {
        let table = aggregator.scores();
        let columns: Vec<Column> = table.columns().iter().map(Column::of).collect();
        let groups: Vec<&str> = table.groups().collect();
        let mut templates = vec![Template::new(columns.len()); groups.len()];
        for (row, item) in table.items().iter().enumerate() {
            let template = &mut templates[item.group as usize];
            template.first = template.first.min(place_of((row, 0)));
            template.n_answers += 1;
            template.n_errors += u64::from(item.is_error);
            template.n_alone += u64::from(!is_trial(item));
        }
        for (template, steps) in templates.iter_mut().zip(aggregator.steps()) {
            template.steps.add(steps, &place_of);
        }
        let mut rows = Rows::of(aggregator);
        for (at, column) in table.columns().iter().enumerate() {
            rows.add(at, column, &mut templates);
        }
        let names = groups.into_iter().map(ToOwned::to_owned);
        let repeats = table.columns().iter().map(|column| {
            let mut counts = BTreeMap::new();
            for verdicts in column.repeats() {
                let bits: Vec<u64> = verdicts.iter().map(|score| score.to_bits()).collect();
                *counts.entry(bits).or_default() += 1;
            }
            counts
        });
        Partial {
            rules: Rules::of(aggregator.profile()),
            n_owed: table.n_owed(),
            repeats: repeats.collect(),
            trials: rows.trials(),
            templates: names.zip(templates).collect(),
            columns,
            origin: None,
        }
    }
}

/// Whether an answer is one of several to its question.
fn is_trial(item: &juror_score::ScoredItem) -> bool {
    item.trial.is_some() && !item.id.is_empty()
}

/// The rows of a table, sorted into tallies of templates and answers that are one of several.
struct Rows<'a> {
    aggregator: &'a Aggregator,
    /// For each row that is one of several answers, its metrics.
    of_trials: BTreeMap<usize, Vec<Cell>>,
}

impl<'a> Rows<'a> {
    fn of(aggregator: &'a Aggregator) -> Rows<'a> {
        let items = aggregator.scores().items().iter().enumerate();
        let trials = items.filter(|(_, item)| is_trial(item)).map(|(row, _)| (row, Vec::new()));
        Rows { aggregator, of_trials: trials.collect() }
    }

    /// Adds the numbers of a metric.
    fn add(&mut self, at: usize, column: &ScoreColumn, templates: &mut [Template]) {
        let table = self.aggregator.scores();
        let items = table.items();
        let column_number = u32::try_from(at).unwrap_or(u32::MAX);
        for (row, standing) in table.standings(column).enumerate() {
            if standing == Standing::NotApplicable {
                continue;
            }
            let tally = &mut templates[items[row].group as usize].tallies[at];
            let n_scored = usize::from(standing == Standing::Scored);
            tally.coverage.n_applicable += 1;
            tally.coverage.n_scored += n_scored;
            match self.of_trials.get_mut(&row) {
                Some(cells) => cells.push(Cell { column: column_number, values: Vec::new() }),
                None => {
                    tally.alone.n_applicable += 1;
                    tally.alone.n_scored += n_scored as u64;
                }
            }
        }
        let of_rows = column.values().chunk_by(|a, b| a.item == b.item);
        for (values, (row, score)) in of_rows.zip(item_scores(column)) {
            let tally = &mut templates[items[row].group as usize].tallies[at];
            for value in values {
                tally.series.push(value.number());
            }
            let plain = |value: &ScoredValue| value.value;
            if let Some(cells) = self.of_trials.get_mut(&row) {
                if let Some(cell) = cells.last_mut() {
                    cell.values = values.iter().map(|value| plain(value).to_bits()).collect();
                }
                continue;
            }
            tally.alone.n_solved += u64::from(score >= 1.0);
            if values.len() > 1 {
                tally.several.add(values.iter().map(plain), Some(score));
            }
        }
    }

    fn trials(self) -> BTreeMap<(String, String), Vec<TrialRow>> {
        let table = self.aggregator.scores();
        let mut trials: BTreeMap<_, Vec<TrialRow>> = BTreeMap::new();
        for (row, cells) in self.of_trials {
            let item = &table.items()[row];
            let question = (table.group_of(item).to_owned(), item.id.to_string());
            let trial = item.trial.unwrap_or(0);
            trials.entry(question).or_default().push(TrialRow { trial, cells });
        }
        trials
    }
}
