//! The table of metrics, as cells of text.

use juror_compare::MetricComparison;

use super::words::count;
use crate::amount::{Amounts, NONE, p_value, probability};

/// The titles of the columns after the name of the metric or group. `is_adjusted` says whether p is
/// adjusted for the number of candidates.
pub(super) fn titles(label: &str, is_adjusted: bool) -> Vec<String> {
    let p = if is_adjusted { "p (Holm)" } else { "p" };
    let change = format!("{label}−A");
    let titles = ["A", label, &change, "interval", p, "better", "won", "lost", "n", "MDE"];
    titles.map(str::to_owned).to_vec()
}

/// The cells of a metric after its name.
pub(super) fn cells(name: &str, own: &MetricComparison, is_adjusted: bool) -> Vec<String> {
    let amounts = Amounts::of(name, own);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.into());
    let p = if is_adjusted { own.p_holm.or(own.p) } else { own.p };
    vec![
        amounts.value(own.a),
        amounts.value(own.b),
        amounts.change(own.delta),
        or_none(own.interval.map(|interval| amounts.interval(interval))),
        or_none(p.map(p_value)),
        or_none(own.probability_better.map(probability)),
        count(own.won),
        count(own.lost),
        count(own.n),
        or_none(own.mde.map(|mde| amounts.size(mde))),
    ]
}
