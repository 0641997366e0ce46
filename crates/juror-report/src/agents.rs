//! Terminal output of benchmark runs.

use juror_compare::{ByMetric, MetricStatistics};
use juror_score::Unit;
use juror_toolbench::result::Summary;

use crate::shown_mean::ShownMean;
use crate::terminal::{Paint, Palette, layout, shorten};

/// One line about a query that has ended.
#[derive(Clone, Debug, Default)]
pub struct QueryLine {
    /// The number of queries that have ended, including this one.
    pub n_done: usize,
    /// The number of all queries.
    pub n_all: usize,
    /// The query's id.
    pub id: String,
    /// Which of several attempts at the query this is, counting from 1.
    pub trial: Option<usize>,
    /// The text of the query.
    pub query: String,
    /// The status and the score, if it was judged.
    pub solved: Option<(String, f64)>,
    /// The API Call Score, if the query has relevant APIs.
    pub api_call_score: Option<f64>,
    /// The number of calls that were served.
    pub n_calls: usize,
    /// How long the agent took, in seconds.
    pub seconds: f64,
    /// What went wrong.
    pub error: Option<String>,
}

/// How many characters of a query are shown.
const LINE_WIDTH: usize = 60;

impl std::fmt::Display for QueryLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.n_all.to_string().len();
        write!(f, "[{:>width$}/{}] ", self.n_done, self.n_all)?;
        if let Some((status, score)) = &self.solved {
            let mark = match status.as_str() {
                "Solved" => '✓',
                "Unsure" => '?',
                _ => '✗',
            };
            write!(f, "{mark} {status:<8} | SoPR {score:.2} | ")?;
        }
        let calls = self.api_call_score.map_or("  –".into(), |score| format!("{score:.2}"));
        let plural = if self.n_calls == 1 { ' ' } else { 's' };
        write!(f, "API {calls:<4} | {} call{plural} | {:.2} s | ", self.n_calls, self.seconds)?;
        f.write_str(&self.id)?;
        if let Some(trial) = self.trial {
            write!(f, " (trial {trial})")?;
        }
        match &self.error {
            Some(error) => write!(f, ": error: {}", shorten(error, 2 * LINE_WIDTH)),
            None => write!(f, ": {}", shorten(&self.query, LINE_WIDTH)),
        }
    }
}

/// Renders the summaries of a run as a table: a row for each set, and one for all sets if there are
/// several. Columns about solved queries are left out if nothing was judged. Percentages and scores
/// are those of judged answers; a column counts the others, if there are any.
pub fn agents_table(sets: &[SetRow<'_>], is_judged: bool, palette: Palette) -> String {
    let has_unjudged = is_judged && sets.iter().any(|set| set.summary.unjudged_count > 0);
    let shown = OptionalColumns { is_judged, has_unjudged };
    let mut rows = vec![header(shown)];
    rows.extend(sets.iter().map(|set| row(set, shown)));
    let mut table = layout(&rows, Paint(palette));
    let has_interval = |set: &SetRow<'_>| set.statistics.values().any(|own| own.interval.is_some());
    if sets.iter().any(has_interval) {
        table.push_str("± is half of the 95 % interval of a mean\n");
    }
    table
}

/// A row of the table: a set of queries, or all sets.
#[derive(Clone, Debug)]
pub struct SetRow<'s> {
    /// The name of the set.
    pub name: String,
    /// Its summary.
    pub summary: &'s Summary,
    /// Its statistics.
    pub statistics: &'s ByMetric<MetricStatistics>,
}

impl SetRow<'_> {
    /// A mean with its interval, or by itself if the statistics lack it.
    fn mean(&self, metric: &str, otherwise: f64) -> String {
        match self.statistics.get(metric) {
            Some(own) => ShownMean::of(own).text(Unit::Fraction),
            None => format!("{otherwise:.3}"),
        }
    }
}

/// Which optional columns a table has.
#[derive(Clone, Copy)]
struct OptionalColumns {
    is_judged: bool,
    has_unjudged: bool,
}

fn header(shown: OptionalColumns) -> Vec<String> {
    let solved: &[&str] = match shown {
        OptionalColumns { is_judged: false, .. } => &[],
        OptionalColumns { has_unjudged: false, .. } => &["solved", "unsure", "unsolved", "SoPR"],
        _ => &["solved", "unsure", "unsolved", "unjudged", "SoPR"],
    };
    let titles = ["", "queries"].iter().chain(solved);
    let titles = titles.chain(&["API Call", "Finish", "errors", "time"]);
    titles.map(|title| (*title).to_owned()).collect()
}

fn row(set: &SetRow<'_>, shown: OptionalColumns) -> Vec<String> {
    let summary = set.summary;
    let percent = |value: f64| format!("{value:.1} %");
    let is_any_judged = summary.unjudged_count < summary.total_evaluations;
    let share = |value: Option<f64>| match value {
        Some(value) if is_any_judged => percent(value),
        _ => "–".into(),
    };
    let mut cells = vec![shorten(&set.name, 40), summary.total_evaluations.to_string()];
    if shown.is_judged {
        cells.extend([
            share(summary.solved_percentage),
            share(summary.unsure_percentage),
            share(summary.unsolved_percentage),
        ]);
        cells.extend(shown.has_unjudged.then(|| summary.unjudged_count.to_string()));
        let sopr = summary.average_sopr_score.filter(|_| is_any_judged);
        cells.push(sopr.map_or("–".into(), |sopr| set.mean("sopr_score", sopr)));
    }
    let has_gold = summary.api_call_not_applicable_count < summary.total_evaluations;
    let seconds = summary.average_system_answer_time;
    cells.extend([
        if has_gold {
            set.mean("api_call_score", summary.average_api_call_score)
        } else {
            "–".into()
        },
        percent(summary.finish_percentage),
        summary.error_count.to_string(),
        seconds.map_or("–".into(), |seconds| format!("{seconds:.2} s")),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_a_query_went() {
        let line = QueryLine {
            n_done: 7,
            n_all: 163,
            id: "588".into(),
            query: "What is\nthe weather?".into(),
            api_call_score: Some(0.5),
            n_calls: 1,
            seconds: 1.204,
            ..QueryLine::default()
        };
        assert_eq!(
            line.to_string(),
            "[  7/163] API 0.50 | 1 call  | 1.20 s | 588: What is the weather?"
        );
        let tried = QueryLine { trial: Some(2), ..line.clone() };
        assert!(tried.to_string().ends_with("| 588 (trial 2): What is the weather?"));
        let judged = QueryLine {
            solved: Some(("Unsolved".into(), 0.0)),
            api_call_score: None,
            n_calls: 2,
            error: Some("the agent ended".into()),
            ..line
        };
        assert_eq!(
            judged.to_string(),
            "[  7/163] ✗ Unsolved | SoPR 0.00 | API   –  | 2 calls | 1.20 s | 588: error: the agent ended"
        );
    }

    #[test]
    fn a_table_has_a_row_for_each_set() {
        let one = Summary {
            total_evaluations: 2,
            solved_percentage: Some(50.0),
            unsure_percentage: Some(0.0),
            unsolved_percentage: Some(50.0),
            average_sopr_score: Some(0.5),
            average_api_call_score: 0.25,
            finish_percentage: 100.0,
            average_system_answer_time: Some(0.5),
            ..Summary::default()
        };
        let none = Summary { total_evaluations: 0, ..Summary::default() };
        let statistics = ByMetric::default();
        let set =
            |name: &str, summary| SetRow { name: name.into(), summary, statistics: &statistics };
        let sets = [set("G1_tool", &one), set("all sets", &none)];
        assert_eq!(
            agents_table(&sets, true, Palette::Plain),
            "          queries  solved  unsure  unsolved   SoPR  API Call   Finish  errors    time\n\
             G1_tool         2  50.0 %   0.0 %    50.0 %  0.500     0.250  100.0 %       0  0.50 s\n\
             all sets        0       –       –         –      –         –    0.0 %       0       –\n"
        );
        let plain = agents_table(&sets[..1], false, Palette::Plain);
        assert!(!plain.contains("solved"), "{plain}");
    }
}
