//! Terminal output of lists of runs.

use crate::terminal::{Paint, Palette, layout, shorten, visible};

/// How many characters of a name are shown.
const NAME_WIDTH: usize = 40;

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
    /// The means of metrics, by name.
    pub means: Vec<(&'static str, f64)>,
    /// What models cost, in US dollars, if known.
    pub usd: Option<f64>,
    /// How far it came: `complete`, `unfinished` or `running`.
    pub state: &'static str,
}

/// Renders a list of runs as a table. A metric, and the cost, have a column if some run has them.
pub fn runs_table(runs: &[RunRow], palette: Palette) -> String {
    let mut metrics: Vec<&str> = Vec::new();
    for (name, _) in runs.iter().flat_map(|run| &run.means) {
        if !metrics.contains(name) {
            metrics.push(name);
        }
    }
    let has_cost = runs.iter().any(|run| run.usd.is_some());
    let mut header = vec!["run", "name", "began (UTC)", "kind", "n"];
    header.extend(&metrics);
    header.extend(has_cost.then_some("USD"));
    header.push("state");
    let mut rows: Vec<Vec<String>> = vec![header.into_iter().map(ToOwned::to_owned).collect()];
    rows.extend(runs.iter().map(|run| row(run, &metrics, has_cost)));
    layout(&rows, Paint(palette))
}

fn row(run: &RunRow, metrics: &[&str], has_cost: bool) -> Vec<String> {
    let or_dash = |cell: Option<String>| cell.unwrap_or_else(|| "–".into());
    let mean = |metric: &&str| {
        let own = run.means.iter().find(|(name, _)| name == metric);
        or_dash(own.map(|(_, mean)| format!("{mean:.3}")))
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
        let run = |folder: &str, means: &[(&'static str, f64)]| RunRow {
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
        let runs = [run("runs/one", &[("steps_score", 0.5)]), unfinished];
        let table = runs_table(&runs, Palette::Plain);
        assert_eq!(
            table,
            "\
run           name       began (UTC)  kind   n  steps_score       state
runs/one  main�[2J  2026-11-16 23:42  eval  12        0.500    complete
runs/two  main�[2J  2026-11-16 23:42  eval   –            –  unfinished
"
        );
        let mut paid = runs;
        paid[1].usd = Some(0.5);
        assert!(runs_table(&paid, Palette::Plain).contains("USD"));
    }
}
