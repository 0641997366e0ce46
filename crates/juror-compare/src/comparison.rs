//! Comparison of runs with a baseline, question by question: `juror.compare/1`.

use std::collections::BTreeMap;

use hashbrown::HashSet;
use indexmap::IndexSet;
use juror_score::statistics::{benjamini_hochberg, holm};
use juror_score::{Ordered, ScoreTable, metric};
use schemars::JsonSchema;
use serde::Serialize;

use crate::by_group::Groups;
use crate::calibration::CalibratedMetric;
use crate::flips::Flips;
use crate::gates::{Baseline, Gate, GateOutcome, GateVerdict, GatedRun, Gates, worst};
use crate::headline::{baseline_headline, headline_among};
use crate::join::{Joined, QuestionName};
use crate::metric_comparison::{Columns, MetricComparison};
use crate::run_facts::{Difference, RunFacts};
use crate::statistics::{ByMetric, Kind, Statistics};

/// Returns the JSON Schema of comparisons.
pub fn comparison_schema() -> serde_json::Value {
    schemars::schema_for!(Comparison).into()
}

/// A run as comparison sees it.
#[derive(Clone, Copy)]
pub struct ComparedRun<'r> {
    /// What identifies it.
    pub facts: &'r RunFacts,
    /// Its numbers.
    pub scores: &'r ScoreTable,
}

impl ComparedRun<'_> {
    /// The questions that the run was to answer, by its own word, and that are not among its rows:
    /// it was cut off, or its results were.
    pub fn unseen_questions(&self) -> Vec<QuestionName> {
        if self.facts.questions.is_empty() {
            return Vec::new();
        }
        let seen: HashSet<&str> = self.scores.items().iter().map(|item| &*item.id).collect();
        let groups = self.scores.items().iter().map(|item| (self.scores.group_of(item), &*item.id));
        let in_groups: HashSet<(&str, &str)> = groups.collect();
        let is_unseen = |(group, id): &&(String, String)| match group.as_str() {
            "" => !seen.contains(id.as_str()),
            group => !in_groups.contains(&(group, id.as_str())),
        };
        let unseen = self.facts.questions.keys().filter(is_unseen);
        let mut names: Vec<QuestionName> = unseen
            .map(|(group, id)| QuestionName { group: group.clone(), id: id.clone() })
            .collect();
        names.sort_by(|one, other| (&one.group, &one.id).cmp(&(&other.group, &other.id)));
        names
    }
}

/// What to compare, and what to put up with.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Compare the questions that are equal even if the references are not.
    pub allow_mismatch: bool,
    /// Compare what there is of runs that did not end.
    pub allow_incomplete: bool,
    /// Only these metrics; all that both runs have if there are none.
    pub metrics: Vec<String>,
    /// Compare within each template or set, too.
    pub by_group: bool,
    /// The conditions to check.
    pub gates: Gates,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions {
            confidence: juror_score::statistics::CONFIDENCE,
            allow_mismatch: false,
            allow_incomplete: false,
            metrics: Vec::new(),
            by_group: false,
            gates: Gates::default(),
        }
    }
}

/// Why two runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Incomparable {
    /// They differ in something that must be equal.
    #[error(
        "`{a}` and `{b}` cannot be compared: {} differ{}",
        names(differences),
        ending(differences)
    )]
    Differ {
        /// The baseline.
        a: String,
        /// The candidate.
        b: String,
        /// What differs.
        differences: Vec<Difference>,
    },
    /// A run did not end.
    #[error("`{0}` is not finished")]
    Incomplete(String),
    /// The results of a complete run are not those that it had.
    #[error("`{run}` is damaged: {damage}")]
    Damaged {
        /// The run.
        run: String,
        /// What is wrong.
        damage: String,
    },
    /// They have no question in common.
    #[error("`{a}` and `{b}` have no question in common")]
    NothingInCommon {
        /// The baseline.
        a: String,
        /// The candidate.
        b: String,
    },
    /// A metric was named that neither run has.
    #[error("no run has `{metric}`")]
    UnknownMetric {
        /// The metric.
        metric: String,
        /// Those that there are.
        known: Vec<String>,
    },
}

fn names(differences: &[Difference]) -> String {
    differences.iter().map(|what| what.name()).collect::<Vec<_>>().join(" and ")
}

fn ending(differences: &[Difference]) -> String {
    match differences {
        [Difference::Kind] => {
            "s: one has answers to questions, the other attempts of an agent".into()
        }
        _ => {
            let profiles = differences.iter().find_map(|what| what.profiles());
            profiles.map_or(String::new(), |profiles| format!(": {profiles}"))
        }
    }
}

/// A baseline, and how each candidate compares with it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    format: &'static str,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// The run that the others are compared with.
    pub baseline: RunFacts,
    /// The means of the baseline without the judge's errors, for metrics that have a calibration.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, CalibratedMetric>")]
    pub calibrated: ByMetric<CalibratedMetric>,
    /// The others, in order.
    pub candidates: Vec<CandidateComparison>,
    /// The worst verdict of all gates.
    pub verdict: GateVerdict,
}

/// How a candidate compares with the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CandidateComparison {
    /// The candidate.
    pub run: RunFacts,
    /// Questions that both runs have.
    pub questions: usize,
    /// Questions of the baseline alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_in_baseline: Vec<QuestionName>,
    /// Questions of the candidate alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_in_candidate: Vec<QuestionName>,
    /// How many answers each question was to have, in the baseline and in the candidate.
    pub trials: [usize; 2],
    /// Answers that failed or are missing, in the baseline and in the candidate.
    pub errors: [usize; 2],
    /// Those of them of which there is no result: questions that the run was to answer, and questions
    /// with fewer answers than others.
    pub missing: [usize; 2],
    /// Whether both were judged by the same judge, or by none, as far as that is known.
    pub same_judge: bool,
    /// The metrics that both have, in the order of the metric table.
    #[schemars(with = "BTreeMap<String, MetricComparison>")]
    pub metrics: ByMetric<MetricComparison>,
    /// How many of the questions that both runs have each template or set has.
    #[schemars(with = "BTreeMap<String, usize>")]
    pub groups: Ordered<String, usize>,
    /// The same within each template or set, where questions count as independent; empty unless asked
    /// for.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, MetricComparison>>")]
    pub by_group: Ordered<String, ByMetric<MetricComparison>>,
    /// The means of the candidate without the judge's errors, for metrics that have a calibration.
    /// Differences are of the judge's own scores.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, CalibratedMetric>")]
    pub calibrated: ByMetric<CalibratedMetric>,
    /// Metrics that are not compared, and why.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub left_out: ByMetric<String>,
    /// Questions whose score got worse or better, by the headline metric and by those of gates on
    /// questions.
    pub flips: Vec<Flips>,
    /// How the gates came out.
    pub gates: Vec<GateOutcome>,
    /// The worst verdict of its gates.
    pub verdict: GateVerdict,
}

impl CandidateComparison {
    /// The questions that changed by a metric, or by the headline metric; `None` if they were not
    /// compared by it.
    pub fn flips_of(&self, metric: Option<&str>) -> Option<&Flips> {
        self.flips.iter().find(|flips| metric.is_none_or(|metric| flips.metric == metric))
    }

    /// Whether different judges decided on a metric in the two runs.
    pub(crate) fn is_judged_apart(&self, name: &str) -> bool {
        !self.same_judge && metric(name).is_none_or(|info| info.is_judged)
    }
}

/// Compares candidates with a baseline.
pub fn compare<'r>(
    baseline: ComparedRun<'r>,
    candidates: &[ComparedRun<'r>],
    options: &'r CompareOptions,
) -> Result<Comparison, Incomparable> {
    let pairs = || candidates.iter().map(|candidate| Pair { a: baseline, b: *candidate, options });
    pairs().try_for_each(|pair| pair.check())?;
    check_metrics(baseline, candidates, &options.metrics)?;
    let mut compared: Vec<CandidateComparison> =
        pairs().map(|pair| pair.compare()).collect::<Result<_, _>>()?;
    adjust_for_candidates(&mut compared);
    for own in &mut compared {
        adjust_for_metrics(own, &options.gates);
    }
    Ok(Comparison {
        format: Comparison::FORMAT,
        confidence: options.confidence,
        baseline: baseline.facts.clone(),
        calibrated: ByMetric::default(),
        verdict: compared.iter().map(|own| own.verdict).max().unwrap_or(GateVerdict::Pass),
        candidates: compared,
    })
}

impl Comparison {
    /// The name of the format.
    pub const FORMAT: &'static str = "juror.compare/1";

    /// Adds the means without the judges' errors: those of the baseline, then those of each candidate.
    /// Metrics that are not compared are left out.
    pub fn add_calibrated(&mut self, runs: impl IntoIterator<Item = ByMetric<CalibratedMetric>>) {
        let mut runs = runs.into_iter();
        let is_compared = |metric: &String, own: &CandidateComparison| {
            own.metrics.contains_key(metric) || own.left_out.contains_key(metric)
        };
        if let Some(mut own) = runs.next() {
            own.retain(|metric, _| self.candidates.iter().any(|other| is_compared(metric, other)));
            self.calibrated = own;
        }
        for (candidate, mut own) in self.candidates.iter_mut().zip(runs) {
            own.retain(|metric, _| is_compared(metric, candidate));
            candidate.calibrated = own;
        }
    }
}

fn check_metrics(
    baseline: ComparedRun<'_>,
    candidates: &[ComparedRun<'_>],
    metrics: &[String],
) -> Result<(), Incomparable> {
    let has = |run: &ComparedRun<'_>, metric: &str| {
        run.scores.column(metric).is_some_and(|column| !column.values().is_empty())
    };
    let is_unknown = |metric: &&String| {
        !std::iter::once(&baseline).chain(candidates).any(|run| has(run, metric))
    };
    match metrics.iter().find(is_unknown) {
        None => Ok(()),
        Some(metric) => {
            let known = baseline.scores.columns().iter().filter(|own| !own.values().is_empty());
            let known = known.map(|column| column.name.to_string()).collect();
            Err(Incomparable::UnknownMetric { metric: metric.clone(), known })
        }
    }
}

/// A baseline and one candidate.
struct Pair<'r> {
    a: ComparedRun<'r>,
    b: ComparedRun<'r>,
    options: &'r CompareOptions,
}

impl Pair<'_> {
    fn check(&self) -> Result<(), Incomparable> {
        let mut differences = self.a.facts.differences(self.b.facts);
        if self.options.allow_mismatch {
            differences.retain(|what| *what == Difference::Kind);
        }
        if !differences.is_empty() {
            let (a, b) = (self.a.facts.source.clone(), self.b.facts.source.clone());
            return Err(Incomparable::Differ { a, b, differences });
        }
        if self.options.allow_incomplete {
            return Ok(());
        }
        [self.a, self.b].into_iter().try_for_each(|run| check_whole(run.facts))
    }

    fn compare(&self) -> Result<CandidateComparison, Incomparable> {
        let (a, b) = (self.a.scores, self.b.scores);
        let by_template = self.a.facts.kind == Kind::Eval;
        let unseen = [self.a, self.b].map(|run| run.unseen_questions());
        let joined = Joined::of(a, b, by_template, |name| self.is_same_question(name));
        let joined = joined.without([&unseen[0], &unseen[1]], [a, b]);
        if joined.is_empty() {
            let (a, b) = (self.a.facts.source.clone(), self.b.facts.source.clone());
            return Err(Incomparable::NothingInCommon { a, b });
        }
        let groups = Groups::of(&joined, a);
        let n_failed =
            |table: &ScoreTable| table.items().iter().filter(|item| item.is_error).count();
        let missing = [(&joined.a, &unseen[0]), (&joined.b, &unseen[1])]
            .map(|(numbers, unseen)| numbers.n_missing() + unseen.len() * numbers.n_owed);
        let mut compared = CandidateComparison {
            run: self.b.facts.clone(),
            questions: joined.len(),
            only_in_baseline: joined.only_in_a.clone(),
            only_in_candidate: joined.only_in_b.clone(),
            trials: [joined.a.n_owed, joined.b.n_owed],
            errors: [n_failed(a) + missing[0], n_failed(b) + missing[1]],
            missing,
            same_judge: self.a.facts.has_judge_of(self.b.facts) != Some(false),
            metrics: ByMetric::default(),
            groups: groups.sizes(),
            by_group: Ordered::default(),
            calibrated: ByMetric::default(),
            left_out: ByMetric::default(),
            flips: Vec::new(),
            gates: Vec::new(),
            verdict: GateVerdict::Pass,
        };
        self.compare_metrics(&joined, &mut compared);
        if self.options.by_group {
            compared.by_group = self.by_group(&joined, &groups, &compared);
        }
        compared.flips = self.flips(&joined, &compared);
        if !self.options.gates.gates.is_empty() {
            self.check_gates(&joined, &unseen[1], &mut compared);
        }
        Ok(compared)
    }

    /// Checks the gates. Questions that the candidate was to answer and lacks count as errors, and so
    /// do those that the baseline has, unless the user wants what they have in common alone.
    fn check_gates(
        &self,
        joined: &Joined,
        unseen: &[QuestionName],
        compared: &mut CandidateComparison,
    ) {
        let CompareOptions { confidence, allow_mismatch, gates, .. } = self.options;
        let statistics = Statistics::of(self.b.scores, *confidence);
        let mut missing = unseen.to_vec();
        if !*allow_mismatch {
            let known: HashSet<String> = missing.iter().map(|name| name.id.clone()).collect();
            let is_new = |name: &&QuestionName| !known.contains(&name.id);
            missing.extend(joined.only_in_a.iter().filter(is_new).cloned());
        }
        let scores = self.a.scores;
        let run = GatedRun::new(&statistics, self.b.scores).without(&missing).against(Baseline {
            scores,
            joined,
            in_common_alone: *allow_mismatch,
        });
        compared.gates = gates.check_change(run, compared);
        compared.verdict = worst(&compared.gates);
    }

    /// Whether both runs asked the same question by this name, as far as that is known.
    fn is_same_question(&self, name: &QuestionName) -> bool {
        let QuestionName { group, id } = name;
        let [a, b] = [self.a, self.b].map(|run| run.facts.question_hash(group, id));
        a.is_none() || b.is_none() || a == b
    }

    /// The metric by which gates look at questions if they name none.
    fn headline(&self, compared: &CandidateComparison) -> Option<&'static str> {
        baseline_headline(self.a.scores, |metric| compared.is_judged_apart(metric))
    }

    /// The metrics to compare, of all that a run has: those that the user wants, and those that gates
    /// need.
    fn wanted(&self, compared: &CandidateComparison) -> Vec<&str> {
        let CompareOptions { metrics, gates, .. } = self.options;
        let headline = self.headline(compared);
        let is_gated = |name: &str| {
            let names =
                |gate: &Gate| gate.metric() == Some(name) || gate.flips_by(headline) == Some(name);
            gates.gates.iter().any(names)
        };
        let is_wanted = |name: &str| {
            metrics.is_empty() || metrics.iter().any(|known| known == name) || is_gated(name)
        };
        let columns = self.a.scores.columns().iter().chain(self.b.scores.columns());
        let known = columns.filter(|column| !column.values().is_empty());
        let names: IndexSet<&str> = known.map(|column| &*column.name).collect();
        names.into_iter().filter(|name| is_wanted(name)).collect()
    }

    fn compare_metrics(&self, joined: &Joined, compared: &mut CandidateComparison) {
        for name in self.wanted(compared) {
            match self.compare_metric(name, joined, compared) {
                Ok(comparison) => drop(compared.metrics.insert(name.to_owned(), comparison)),
                Err(why) => drop(compared.left_out.insert(name.to_owned(), why.to_owned())),
            }
        }
    }

    fn compare_metric(
        &self,
        name: &str,
        joined: &Joined,
        compared: &CandidateComparison,
    ) -> Result<MetricComparison, &'static str> {
        if compared.is_judged_apart(name) {
            return Err("the runs were judged by different judges");
        }
        let columns = [self.a, self.b].map(|run| run.scores.column(name));
        let [a, b] = columns.map(|column| column.filter(|own| !own.values().is_empty()));
        match (a, b) {
            (Some(a), Some(b)) => {
                let columns = Columns { a: (self.a.scores, a), b: (self.b.scores, b) };
                let comparison = columns.compare(joined, self.options.confidence);
                comparison.ok_or_else(|| match joined.scores(a, b).at.len() {
                    0 => "no question has a number in both runs",
                    _ => "the numbers are too large to add up",
                })
            }
            (Some(_), None) => Err("the second run does not have it"),
            (None, _) => Err("the first run does not have it"),
        }
    }

    /// Compares the metrics that were compared as a whole within each group.
    fn by_group(
        &self,
        joined: &Joined,
        groups: &Groups,
        compared: &CandidateComparison,
    ) -> Ordered<String, ByMetric<MetricComparison>> {
        let mut by_group: Ordered<String, ByMetric<MetricComparison>> =
            groups.names().map(|name| (name.clone(), ByMetric::default())).collect();
        for name in compared.metrics.keys() {
            let (a, b) = (self.a.scores.column(name), self.b.scores.column(name));
            let (Some(a), Some(b)) = (a, b) else { continue };
            let columns = Columns { a: (self.a.scores, a), b: (self.b.scores, b) };
            let found = columns.compare_groups(joined, groups, self.options.confidence);
            for (own, found) in by_group.values_mut().zip(found) {
                own.extend(found.map(|found| (name.clone(), found)));
            }
        }
        by_group
    }

    /// The flips by the headline metric, and by the metrics that gates on questions name, of those
    /// that were compared.
    fn flips(&self, joined: &Joined, compared: &CandidateComparison) -> Vec<Flips> {
        let is_compared = |name: &str| compared.metrics.contains_key(name);
        let wanted = self.options.metrics.first().map(String::as_str);
        let first = wanted.or_else(|| headline_among(is_compared));
        let headline = self.headline(compared);
        let gates = self.options.gates.gates.iter();
        let of_gates = gates.filter_map(|gate| gate.flips_by(headline));
        let mut flips: Vec<Flips> = Vec::new();
        for metric in first.into_iter().chain(of_gates).filter(|name| is_compared(name)) {
            if !flips.iter().any(|known| known.metric == metric) {
                flips.extend(Flips::of(metric, self.a.scores, self.b.scores, joined));
            }
        }
        flips
    }
}

/// Refuses a run that does not have all of its results.
fn check_whole(run: &RunFacts) -> Result<(), Incomparable> {
    let source = || run.source.clone();
    match &run.damage {
        _ if !run.is_complete => Err(Incomparable::Incomplete(source())),
        Some(damage) => Err(Incomparable::Damaged { run: source(), damage: damage.clone() }),
        None => Ok(()),
    }
}

/// Holm's adjustment of each metric over the candidates, since each of them had its chance.
fn adjust_for_candidates(compared: &mut [CandidateComparison]) {
    let names: IndexSet<String> =
        compared.iter().flat_map(|own| own.metrics.keys().cloned()).collect();
    for name in names {
        let mut own: Vec<&mut MetricComparison> =
            compared.iter_mut().filter_map(|one| one.metrics.get_mut(&name)).collect();
        own.retain(|metric| metric.p.is_some());
        let p: Vec<f64> = own.iter().filter_map(|metric| metric.p).collect();
        for (metric, adjusted) in own.into_iter().zip(holm(&p)) {
            metric.p_holm = Some(adjusted);
        }
    }
}

/// Benjamini and Hochberg's adjustment over the metrics of a candidate that no gate is about, for
/// information. Those of gates were chosen before anybody looked.
fn adjust_for_metrics(compared: &mut CandidateComparison, gates: &Gates) {
    let is_gated = |name: &str| gates.gates.iter().any(|gate| gate.metric() == Some(name));
    let is_looked_at =
        |name: &str, metric: &MetricComparison| metric.p.is_some() && !is_gated(name);
    let own = compared.metrics.iter_mut().filter(|(name, metric)| is_looked_at(name, metric));
    let mut own: Vec<&mut MetricComparison> = own.map(|(_, metric)| metric).collect();
    let p: Vec<f64> = own.iter().filter_map(|metric| metric.p).collect();
    for (metric, adjusted) in own.iter_mut().zip(benjamini_hochberg(&p)) {
        metric.p_benjamini_hochberg = Some(adjusted);
    }
}
