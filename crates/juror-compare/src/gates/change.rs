//! Checks gates against the change from one run to another.

use juror_score::Better;
use juror_score::statistics::{GateLevel, Interval, MarginVerdict, margin_verdict};

use super::flips::{Named, check_flips};
use super::level::GatedRun;
use super::unchecked::RunCount;
use super::{Answer, ChangeLimit, Condition, Found, Gate, GateOutcome, Gates, Margin};
use crate::comparison::CandidateComparison;
use crate::estimate::{Caution, ClusterNoun, Numbered};
use crate::metric_comparison::MetricComparison;

impl Gates {
    /// Checks every gate: those on levels against the candidate alone, those on changes against
    /// both runs.
    pub fn check_change(
        &self,
        candidate: GatedRun<'_>,
        change: &CandidateComparison,
    ) -> Vec<GateOutcome> {
        let check = |gate: &Gate| match &gate.condition {
            Condition::Change { metric, limit } => {
                self.check_metric(candidate, change, metric, *limit)
            }
            Condition::Questions { ids, metric, may_break } => {
                let metric = metric.as_deref().or_else(|| change.headline_of(candidate.baseline));
                check_flips(candidate, change, Named { ids, metric }, *may_break)
            }
            Condition::Level { .. } | Condition::Errors { .. } => self.check_one(gate, candidate),
        };
        let kind = candidate.statistics.kind;
        let gates =
            self.gates.iter().filter(|gate| gate.unchecked(kind, RunCount::Several).is_none());
        gates.map(|gate| gate.outcome(check(gate))).collect()
    }

    fn check_metric(
        &self,
        candidate: GatedRun<'_>,
        change: &CandidateComparison,
        metric: &str,
        limit: ChangeLimit,
    ) -> Found {
        if change.is_judged_apart(metric) {
            return Found::new(Answer::Unknown, change.why_not_compared(metric));
        }
        let lack = candidate.lack_of_coverage(metric, None, self.coverage);
        let lack = lack.or_else(|| candidate.lack_in_both(metric, self.coverage));
        match (lack, change.metrics.get(metric)) {
            (Some(lack), _) => Found::uncovered(lack),
            (None, None) => Found::new(Answer::NotMet, change.why_not_compared(metric)),
            (None, Some(own)) => {
                let noun = candidate.statistics.kind.cluster_noun();
                let found = check_margin(own, limit, &candidate.changes(metric), noun);
                found.among(candidate.lack_of_survivors(metric, None, self.coverage))
            }
        }
    }
}

impl GatedRun<'_> {
    /// How each question that has a number in both runs changed.
    fn changes(&self, metric: &str) -> Vec<f64> {
        let columns = self.baseline.and_then(|baseline| {
            Some((baseline.joined, baseline.scores.column(metric)?, self.scores.column(metric)?))
        });
        columns.map_or_else(Vec::new, |(joined, a, b)| joined.scores(a, b).differences())
    }
}

impl CandidateComparison {
    /// Says why a metric was not compared.
    pub(super) fn why_not_compared(&self, metric: &str) -> String {
        let otherwise = || format!("the runs have no question with {metric} in common");
        self.left_out.get(metric).cloned().unwrap_or_else(otherwise)
    }
}

/// A change, seen so that losing is negative: what a limit allows to lose.
struct Loss {
    delta: f64,
    interval: Option<Interval>,
    /// The most that may be lost.
    margin: f64,
    /// The change of the question that lost most.
    worst: f64,
}

impl Loss {
    fn of(own: &MetricComparison, limit: ChangeLimit, changes: &[f64]) -> Loss {
        let (margin, is_drop) = match limit {
            ChangeLimit::MaxDrop(margin) => (margin, true),
            ChangeLimit::MaxRise(margin) => (margin, false),
        };
        let margin = match margin {
            Margin::Absolute(amount) => amount,
            Margin::Percent(percent) => own.a.abs() * percent / 100.0,
        };
        let changes = changes.iter().copied();
        if is_drop {
            let worst = changes.fold(f64::INFINITY, f64::min);
            Loss { delta: own.delta, interval: own.interval, margin, worst }
        } else {
            let worst = -changes.fold(f64::NEG_INFINITY, f64::max);
            let interval = own.interval.map(Interval::negated);
            Loss { delta: -own.delta, interval, margin, worst }
        }
    }

    /// Whether the whole interval is within the margin, wholly outside, or neither. Without an
    /// interval nothing is known, unless clusters all changed by the same.
    fn answer(&self, caution: Option<Caution>) -> Answer {
        match (self.interval, caution) {
            (Some(interval), _) => match margin_verdict(interval, self.margin, GateLevel::Block) {
                MarginVerdict::Pass => Answer::Met,
                MarginVerdict::Warn | MarginVerdict::Block => Answer::NotMet,
                MarginVerdict::Inconclusive => Answer::Unknown,
            },
            (None, Some(Caution::NoSpread)) => self.answer_without_spread(),
            (None, _) => Answer::Unknown,
        }
    }

    /// Clusters may change by the same though their questions do not, so that only what holds for
    /// every question is certain.
    fn answer_without_spread(&self) -> Answer {
        if self.delta < -self.margin {
            Answer::NotMet
        } else if self.worst >= -self.margin {
            Answer::Met
        } else {
            Answer::Unknown
        }
    }
}

fn check_margin(
    own: &MetricComparison,
    limit: ChangeLimit,
    changes: &[f64],
    noun: ClusterNoun,
) -> Found {
    if own.won == 0 && own.lost == 0 {
        return Found::new(Answer::Met, "no question changed");
    }
    let loss = Loss::of(own, limit, changes);
    let answer = loss.answer(own.caution);
    let Some(interval) = own.interval else {
        let change = own.shown(own.delta);
        let why = own.caution.map(|word| word.text(Numbered::Changes, own.clusters, noun));
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        return Found::new(
            answer,
            format!("changes by {change}; no interval can be computed{why}"),
        );
    };
    let settled = match answer {
        Answer::Unknown => questions_to_settle(own, &loss),
        Answer::Met | Answer::NotMet => String::new(),
    };
    Found::new(answer, format!("{}{settled}", own.in_words(interval)))
}

/// How many questions would make the interval narrow enough, if nothing else changed.
fn questions_to_settle(own: &MetricComparison, loss: &Loss) -> String {
    let distance = (loss.delta + loss.margin).abs();
    let half = loss.interval.map_or(0.0, Interval::half_width);
    let times = (half / distance).powi(2);
    let n = own.n as f64 * times;
    if !n.is_finite() || n > 1e7 {
        return "; more questions would hardly settle it".into();
    }
    format!("; about {} questions would settle it", round_up(n))
}

/// Two significant digits, rounded up, with separators.
fn round_up(n: f64) -> String {
    let unit = 10_f64.powf((n.max(1.0).log10().floor() - 1.0).max(0.0));
    crate::numbers::thousands((n / unit).ceil() * unit)
}

impl MetricComparison {
    /// The interval of the change in words: what is at least won or lost.
    fn in_words(&self, interval: Interval) -> String {
        let (low, high) = (self.shown(interval.low.abs()), self.shown(interval.high.abs()));
        match (interval.low >= 0.0, interval.high <= 0.0) {
            (true, _) => format!("{} at least {low}", self.verb(true)),
            (_, true) => format!("{} at least {high}", self.verb(false)),
            _ => format!("between {low} lower and {high} higher"),
        }
    }

    fn verb(&self, is_rise: bool) -> &'static str {
        match (self.better, is_rise) {
            (Some(Better::Higher), true) => "gains",
            (Some(Better::Higher), false) => "loses",
            (_, true) => "rises",
            (_, false) => "falls",
        }
    }

    /// An amount of change as people read it: in percent if the metric has no upper end.
    pub fn shown(&self, amount: f64) -> String {
        if self.is_relative && self.a != 0.0 {
            format!("{:.1} %", amount / self.a.abs() * 100.0)
        } else {
            format!("{amount:.3}")
        }
    }
}
