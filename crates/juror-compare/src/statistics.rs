//! The statistics of a run: `juror.statistics/1`.

use std::collections::BTreeMap;

use juror_score::statistics::{Interval, MacroMean, TemplateMean, macro_mean, macro_of_means};
use juror_score::{Level, Ordered, ScoreColumn, ScoreTable, metric};
use schemars::JsonSchema;
use serde::Serialize;

use crate::calibration::CalibratedMetric;
use crate::comparison::ComparedRun;
use crate::estimate::{Caution, ClusterNoun, has_width};
use crate::judge_repeats::JudgeStatistics;
use crate::metric_statistics::{MetricStatistics, Numbers, RowCounts};
use crate::question_numbers::QuestionNumbers;
use crate::trials::{TrialStatistics, trial_statistics};

/// Returns the JSON Schema of statistics.
pub fn statistics_schema() -> serde_json::Value {
    schemars::schema_for!(Statistics).into()
}

/// Statistics by the name of the metric, in the order of the metric table.
pub type ByMetric<T> = Ordered<String, T>;

/// The statistics of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Statistics {
    format: &'static str,
    /// What the rows are: answers to questions, or attempts at queries.
    pub kind: Kind,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// The number of distinct questions or queries.
    pub questions: usize,
    /// The number of rows: more than questions if there are several answers to some.
    pub answers: usize,
    /// Rows that ended in an error, or have no answer.
    pub errors: usize,
    /// Answers of which there is no row: their questions have none, fewer than others, or fewer than
    /// were to be made.
    pub missing: usize,
    /// Over all rows.
    #[schemars(with = "BTreeMap<String, MetricStatistics>")]
    pub micro: ByMetric<MetricStatistics>,
    /// Metrics that apply to some rows and have no mean; empty in most runs.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, WithoutMean>")]
    pub without_mean: ByMetric<WithoutMean>,
    /// Means over the means of templates or sets.
    #[serde(rename = "macro")]
    #[schemars(with = "BTreeMap<String, MacroStatistics>")]
    pub macro_means: ByMetric<MacroStatistics>,
    /// By template or set, in order.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, MetricStatistics>>")]
    pub groups: Ordered<String, ByMetric<MetricStatistics>>,
    /// How often a question with several answers is solved; empty without trials.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, TrialStatistics>")]
    pub trials: ByMetric<TrialStatistics>,
    /// How far verdicts of the judge on the same answer differ; empty unless it was asked several
    /// times.
    #[schemars(with = "BTreeMap<String, JudgeStatistics>")]
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    pub judge: ByMetric<JudgeStatistics>,
    /// Means without the judge's errors, for metrics that have a calibration.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    #[schemars(with = "BTreeMap<String, CalibratedMetric>")]
    pub calibrated: ByMetric<CalibratedMetric>,
}

/// A metric that applies to some rows, and of which there is no mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WithoutMean {
    /// Rows with a number.
    pub n_scored: usize,
    /// Rows to which the metric applies, but which have no number.
    pub n_error: usize,
    /// Why there is no mean.
    pub why: NoMean,
}

/// Why there is no mean of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoMean {
    /// All answers failed or are missing.
    AllFailed,
    /// The numbers are too large to add up.
    TooLarge,
}

impl WithoutMean {
    /// Says why a metric has no mean, if it should have one. Whether judges were to judge is not known
    /// here, but steps are always compared.
    pub fn of(metric: &str, rows: RowCounts, all_failed: bool) -> Option<WithoutMean> {
        let RowCounts { n_scored, n_error, .. } = rows;
        let why = match (n_scored, n_error) {
            (1.., _) => NoMean::TooLarge,
            (0, 1..) if all_failed && metric == "steps_score" => NoMean::AllFailed,
            _ => return None,
        };
        Some(WithoutMean { n_scored, n_error, why })
    }

    /// The share of the rows to which the metric applies that have a number.
    pub fn coverage(self) -> f64 {
        self.n_scored as f64 / (self.n_scored + self.n_error).max(1) as f64
    }

    /// Says why there is no mean, without a full stop.
    pub fn reason(self, kind: Kind) -> &'static str {
        match (self.why, kind) {
            (NoMean::TooLarge, _) => "the numbers are too large to add up",
            (NoMean::AllFailed, Kind::Eval) => "all answers failed or are missing",
            (NoMean::AllFailed, Kind::Bench) => "all attempts failed or are missing",
        }
    }
}

/// What a run consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Answers to questions.
    Eval,
    /// Attempts of an agent at queries.
    Bench,
}

/// The mean of the means of templates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MacroStatistics {
    /// How many templates have a number.
    pub n: usize,
    /// The mean of their means.
    pub mean: f64,
    /// Its standard error if the templates are a sample of others like them.
    pub se: Option<f64>,
    /// Its interval in that case.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// Its standard error if these templates are all that matter, and each of their questions could
    /// have been another.
    pub se_fixed: Option<f64>,
    /// What to keep in mind, or why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<Caution>,
}

impl Kind {
    pub(crate) fn of(level: Level) -> Kind {
        match level {
            Level::Attempt => Kind::Bench,
            Level::Question | Level::Step => Kind::Eval,
        }
    }

    /// Whether its rows can have a metric: any of the user's own, and those of the table that are meant
    /// for them.
    pub fn can_have(self, name: &str) -> bool {
        metric(name).is_none_or(|info| Kind::of(info.level) == self)
    }

    /// What the clusters of all rows are called.
    pub fn cluster_noun(self) -> ClusterNoun {
        match self {
            Kind::Eval => ClusterNoun("template"),
            Kind::Bench => ClusterNoun("query"),
        }
    }
}

impl Statistics {
    /// The name of the format.
    pub const FORMAT: &'static str = "juror.statistics/1";

    /// Computes the statistics of a run. Questions that it was to answer and has no row of count as
    /// missing.
    pub fn of_run(run: ComparedRun<'_>, confidence: f64) -> Statistics {
        Statistics::with_unseen(run.scores, run.unseen_questions().len(), confidence)
    }

    /// Computes the statistics of all rows.
    pub fn of(table: &ScoreTable, confidence: f64) -> Statistics {
        Statistics::with_unseen(table, 0, confidence)
    }

    /// The statistics of no rows, to be filled.
    pub fn empty(kind: Kind, confidence: f64) -> Statistics {
        Statistics {
            format: Statistics::FORMAT,
            kind,
            confidence,
            questions: 0,
            answers: 0,
            errors: 0,
            missing: 0,
            micro: ByMetric::default(),
            without_mean: ByMetric::default(),
            macro_means: ByMetric::default(),
            groups: Ordered::default(),
            trials: ByMetric::default(),
            judge: ByMetric::default(),
            calibrated: ByMetric::default(),
        }
    }

    fn with_unseen(table: &ScoreTable, n_unseen: usize, confidence: f64) -> Statistics {
        let questions = QuestionNumbers::of(table);
        let n_unseen = n_unseen * questions.n_owed.max(1);
        let mut all = Statistics {
            questions: questions.n_questions,
            answers: table.items().len(),
            errors: table.items().iter().filter(|item| item.is_error).count(),
            missing: questions.n_missing() + n_unseen,
            groups: table.groups().map(|group| (group.to_owned(), ByMetric::default())).collect(),
            ..Statistics::empty(Kind::of(table.level()), confidence)
        };
        let all_failed = all.errors == all.answers;
        let clusters = questions.clusters_of_rows(table);
        let rows = Rows { table, questions, clusters, n_unseen, all_failed, confidence };
        let columns = table.map_columns(|column| rows.statistics(column));
        for (column, own) in table.columns().iter().zip(columns) {
            all.add(&column.name, own);
        }
        all
    }

    /// Adds what is known about a metric.
    fn add(&mut self, name: &str, own: Result<OfColumn, Option<WithoutMean>>) {
        let named = || name.to_owned();
        match own {
            Ok(own) => {
                self.micro.insert(named(), own.micro);
                self.macro_means.extend(own.over_groups.map(|own| (named(), own)));
                for (group, own) in self.groups.values_mut().zip(own.groups) {
                    group.extend(own.map(|own| (named(), own)));
                }
                self.trials.extend(own.trials.map(|own| (named(), own)));
                self.judge.extend(own.judge.map(|own| (named(), own)));
            }
            Err(without) => self.without_mean.extend(without.map(|own| (named(), own))),
        }
    }

    /// Returns the statistics of a metric over all rows.
    pub fn metric(&self, name: &str) -> Option<&MetricStatistics> {
        self.micro.get(name)
    }
}

/// The rows that statistics are computed of.
struct Rows<'t> {
    table: &'t ScoreTable,
    questions: QuestionNumbers,
    /// The cluster of each row.
    clusters: Vec<u32>,
    /// Answers that have no row, of questions that have none.
    n_unseen: usize,
    all_failed: bool,
    confidence: f64,
}

/// Everything that is known about a metric that has a mean.
struct OfColumn {
    micro: MetricStatistics,
    over_groups: Option<MacroStatistics>,
    /// In the order of the groups.
    groups: Vec<Option<MetricStatistics>>,
    trials: Option<TrialStatistics>,
    judge: Option<JudgeStatistics>,
}

impl Rows<'_> {
    /// Computes the statistics of a metric. If it has no mean and should have one, says why.
    fn statistics(&self, column: &ScoreColumn) -> Result<OfColumn, Option<WithoutMean>> {
        let Rows { table, questions, confidence, .. } = self;
        if column.values().is_empty() && !self.all_failed {
            // Most runs use few of the metrics: their rows need not be counted to know that.
            return Err(None);
        }
        let micro = Numbers::of_all(table, column, &self.clusters, questions);
        let micro = micro.with_errors(self.n_unseen);
        let counts = micro.rows;
        let Some(micro) = micro.statistics(column, *confidence) else {
            return Err(WithoutMean::of(&column.name, counts, self.all_failed));
        };
        let groups = Numbers::by_group(table, column, questions);
        let has_numbers: Vec<bool> = groups.iter().map(|group| !group.values.is_empty()).collect();
        let of_group = |numbers: Numbers| numbers.statistics(column, *confidence);
        let groups: Vec<_> = groups.into_iter().map(of_group).collect();
        let with_numbers = groups.iter().zip(&has_numbers).filter(|(_, has)| **has);
        // A group whose numbers are too large to add up has no mean, and neither have all together.
        let means = with_numbers.map(|(own, _)| Some(own.as_ref()?.mean)).collect::<Option<_>>();
        let by_question = questions.means_by_group(table, column);
        Ok(OfColumn {
            micro,
            over_groups: means.and_then(|means| macro_statistics(means, &by_question, *confidence)),
            groups,
            trials: trial_statistics(table, column, questions, *confidence),
            judge: JudgeStatistics::of(column.repeats()),
        })
    }
}

/// The mean of the means of groups. Answers to one question, and its steps, are not independent, so that
/// the error of fixed groups is that of the questions' means.
fn macro_statistics(
    means: Vec<f64>,
    by_question: &[Vec<f64>],
    confidence: f64,
) -> Option<MacroStatistics> {
    let of_group = |mean| TemplateMean { mean, squared_error: None };
    let estimate = macro_of_means(&means.into_iter().map(of_group).collect::<Vec<_>>())?;
    let of_questions = macro_mean(by_question);
    Some(MacroStatistics::new(&estimate, of_questions.as_ref(), confidence))
}

impl MacroStatistics {
    /// Puts together the mean over groups of their values, and that over the means of their questions,
    /// which has the error of fixed groups.
    pub fn new(
        estimate: &MacroMean,
        of_questions: Option<&MacroMean>,
        confidence: f64,
    ) -> MacroStatistics {
        let interval = estimate.interval(confidence).filter(has_width);
        MacroStatistics {
            n: estimate.n_templates,
            mean: estimate.mean,
            se: estimate.se_sample.filter(|_| interval.is_some()),
            interval,
            se_fixed: of_questions.and_then(|own| own.se_fixed).filter(|se| *se > 0.0),
            caution: Caution::of_clusters(estimate.n_templates, interval),
        }
    }
}
