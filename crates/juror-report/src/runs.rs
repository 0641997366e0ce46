//! Terminal output of lists of runs.

use juror_compare::FEW_CLUSTERS;
use juror_score::statistics::{CONFIDENCE, Interval};
use juror_score::{Unit, metric};

use crate::amount::confidence;
use crate::shown_mean::{FEW, ShownMean};
use crate::terminal::{Paint, Palette, layout, lines, shorten, visible};

/// How many characters of a name are shown.
const NAME_WIDTH: usize = 40;

/// The mean of a metric in a list of runs.
#[derive(Clone, Copy, Debug)]
pub struct RunMean {
    /// The metric's name.
    pub metric: &'static str,
    /// The mean.
    pub mean: f64,
    /// Its interval, if it has one.
    pub interval: Option<Interval>,
    /// Whether the interval is from few templates or queries.
    pub is_of_few: bool,
}

impl RunMean {
    /// Returns the mean with half of its interval.
    pub fn text(&self) -> String {
        let unit = metric(self.metric).map_or(Unit::Fraction, |info| info.unit);
        ShownMean::new(self.mean, self.interval, self.is_of_few).text(unit)
    }
}

/// Says what stands beside the means of runs, and why some have no interval.
pub fn about_run_means<'m>(means: impl IntoIterator<Item = &'m RunMean>) -> Vec<String> {
    let means: Vec<&RunMean> = means.into_iter().collect();
    let has = |is_so: fn(&RunMean) -> bool| means.iter().any(|mean| is_so(mean));
    let share = confidence(CONFIDENCE);
    let notes = [
        (
            has(|mean| mean.interval.is_some()),
            format!("± is half of the {share} interval of a mean"),
        ),
        (
            has(|mean| mean.is_of_few),
            format!(
                "{FEW} fewer than {FEW_CLUSTERS} templates or queries are too few for a reliable interval"
            ),
        ),
        (
            has(|mean| mean.interval.is_none()),
            "no ±: statistics.json of the run says why, if it has one".into(),
        ),
    ];
    notes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note).collect()
}

/// What a list tells of a run.
#[derive(Clone, Debug, Default)]
pub struct RunRow {
    /// The folder.
    pub folder: String,
    /// The name of what was judged or benchmarked.
    pub name: String,
    /// When it began.
    pub began: String,
    /// The kind of run.
    pub kind: &'static str,
    /// The number of questions or queries, if known.
    pub n: Option<u64>,
    /// The means of metrics.
    pub means: Vec<RunMean>,
    /// What models cost, in US dollars, if known.
    pub usd: Option<f64>,
    /// How far it came: `complete`, `unfinished` or `running`.
    pub state: &'static str,
}

/// Renders a list of runs as a table. A metric, and the cost, have a column if some run has them.
/// Below the table stands what to know about intervals.
pub fn runs_table(runs: &[RunRow], palette: Palette) -> String {
    let mut metrics: Vec<&str> = Vec::new();
    for mean in runs.iter().flat_map(|run| &run.means) {
        if !metrics.contains(&mean.metric) {
            metrics.push(mean.metric);
        }
    }
    let has_cost = runs.iter().any(|run| run.usd.is_some());
    let mut header = vec!["run", "name", "began (UTC)", "kind", "n"];
    header.extend(&metrics);
    header.extend(has_cost.then_some("USD"));
    header.push("state");
    let mut rows: Vec<Vec<String>> = vec![header.into_iter().map(ToOwned::to_owned).collect()];
    rows.extend(runs.iter().map(|run| row(run, &metrics, has_cost)));
    let paint = Paint(palette);
    let notes = about_run_means(runs.iter().flat_map(|run| &run.means));
    format!("{}{}", layout(&rows, paint), lines(notes.iter().map(|note| paint.dim(note))))
}

fn row(run: &RunRow, metrics: &[&str], has_cost: bool) -> Vec<String> {
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "–".into());
    let mean = |metric: &&str| {
        let own = run.means.iter().find(|mean| mean.metric == *metric);
        or_dash(own.map(RunMean::text))
    };
    let mut cells = vec![
        visible(&run.folder),
        shorten(&run.name, NAME_WIDTH),
        shorten(&run.began, NAME_WIDTH),
        run.kind.to_owned(),
        or_dash(run.n.map(|n| n.to_string())),
    ];
    cells.extend(metrics.iter().map(mean));
    cells.extend(has_cost.then(|| or_dash(run.usd.map(|usd| format!("{usd:.4}")))));
    cells.push(run.state.to_owned());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_has_a_column_if_some_run_has_it() {
        let run = |folder: &str, means: &[RunMean]| RunRow {
            folder: folder.into(),
            name: "main\u{1b}[2J".into(),
            began: "2026-11-16 23:42".into(),
            kind: "eval",
            n: Some(12),
            means: means.to_vec(),
            state: "complete",
            ..RunRow::default()
        };
        let mut unfinished = run("runs/two", &[]);
        (unfinished.n, unfinished.state) = (None, "unfinished");
        let interval = Some(Interval { low: 0.25, high: 0.75 });
        let steps = RunMean { metric: "steps_score", mean: 0.5, interval, is_of_few: true };
        let runs = [run("runs/one", &[steps]), unfinished];
        let table = runs_table(&runs, Palette::Plain);
        assert_eq!(
            table,
            "\
run           name       began (UTC)  kind   n   steps_score       state
runs/one  main�[2J  2026-11-16 23:42  eval  12  0.500 ±0.25*    complete
runs/two  main�[2J  2026-11-16 23:42  eval   –             –  unfinished
± is half of the 95 % interval of a mean
* fewer than 10 templates or queries are too few for a reliable interval
"
        );
        let mut paid = runs;
        paid[1].usd = Some(0.5);
        assert!(runs_table(&paid, Palette::Plain).contains("USD"));
        paid[0].means[0].interval = None;
        let table = runs_table(&paid, Palette::Plain);
        assert!(table.contains("\nno ±: statistics.json of the run says why"), "{table}");
    }
}
