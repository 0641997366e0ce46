//! A metric over all runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use hyper::StatusCode;
use juror_report::{HistoryPoint, history_chart, metric_range, metric_value, visible};
use juror_serve::url_parts::field;

use crate::address;
use crate::list_page::COLUMNS;
use crate::reply::{self, Reply};
use crate::run_list::ListedRun;
use crate::run_summary::{Mean, RunSummary};
use crate::viewer::Viewer;

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    title: String,
    metric: String,
    /// The metrics that some run has.
    metrics: Vec<String>,
    chart: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    address: String,
    name: String,
    began: String,
    n_questions: String,
    n_scored: String,
    mean: String,
    interval: String,
    /// What changed since the run before, or why the run is not in the chart.
    remarks: String,
}

/// A run that has the metric.
type Entry<'r> = (&'r ListedRun, &'r Arc<RunSummary>, Mean);

impl Viewer {
    /// A metric over all runs, or a question, if one is named.
    pub(crate) fn history(&self, query: &str) -> Reply {
        match field(query, "question").filter(|id| !id.is_empty()) {
            Some(question) => self.question_history(query, &question),
            None => self.metric_history(query),
        }
    }

    fn metric_history(&self, query: &str) -> Reply {
        let mut runs = self.runs.read().unwrap_or_default();
        runs.reverse();
        let metrics = metrics_of(&runs);
        let metric = field(query, "metric").or_else(|| usual_metric(&metrics)).unwrap_or_default();
        let entries: Vec<Entry<'_>> = runs
            .iter()
            .filter_map(|run| {
                let own = run.known.as_ref().ok()?;
                Some((run, own, *own.means.get(&metric)?))
            })
            .collect();
        // A part of a run, or one whose files were changed, is no point of a line.
        let mut last: Option<&RunSummary> = None;
        let (mut points, mut remarks) = (Vec::new(), Vec::new());
        for (run, own, mean) in &entries {
            if !own.is_whole() {
                remarks.push(vec![run.state(), "not in the chart"]);
                continue;
            }
            let changed = last.map_or_else(Vec::new, |last| changes(last, own, &metric));
            points.push(HistoryPoint {
                when: own.minute(),
                mean: mean.mean,
                interval: mean.interval,
                joins: changed.is_empty(),
            });
            remarks.push(changed);
            last = Some(own);
        }
        let label = format!("{metric} over {} runs", points.len());
        let mut rows: Vec<Row> = entries
            .iter()
            .zip(&remarks)
            .map(|(entry, remarks)| row(entry, remarks, &metric))
            .collect();
        rows.reverse();
        let page = HistoryPage {
            title: "History".into(),
            chart: (!points.is_empty()).then(|| history_chart(&metric, &points, &label)),
            metric: visible(&metric),
            metrics: metrics.into_iter().collect(),
            rows,
        };
        // The template only writes to memory.
        reply::page(StatusCode::OK, page.render().unwrap_or_default())
    }
}

/// The metrics that some run has.
fn metrics_of(runs: &[ListedRun]) -> BTreeSet<String> {
    let known = runs.iter().filter_map(|run| run.known.as_ref().ok());
    known.flat_map(|own| own.means.keys().cloned()).collect()
}

/// The metric that says best whether answers are right.
fn usual_metric(metrics: &BTreeSet<String>) -> Option<String> {
    let usual = COLUMNS.into_iter().find(|name| metrics.contains(*name)).map(str::to_owned);
    usual.or_else(|| metrics.first().cloned())
}

/// What keeps the means of two runs from being compared, in words.
fn changes(before: &RunSummary, after: &RunSummary, metric: &str) -> Vec<&'static str> {
    let known = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    let is_judged = juror_score::metric(metric).is_none_or(|info| info.is_judged);
    let differ = [
        (before.kind != after.kind, "another kind of run"),
        (known(&before.reference, &after.reference), "other questions"),
        (known(&before.rules, &after.rules), "other rules"),
        (is_judged && before.judge != after.judge, "another judge"),
    ];
    differ.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what).collect()
}

fn row((run, own, mean): &Entry<'_>, remarks: &[&str], metric: &str) -> Row {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    Row {
        id: visible(&run.id),
        address: address::of_run(&run.id),
        name: visible(&own.name),
        began: visible(&own.minute()),
        n_questions: or_dash(own.n.map(|n| n.to_string())),
        n_scored: or_dash(mean.n.map(|n| n.to_string())),
        mean: metric_value(metric, mean.mean),
        interval: or_dash(mean.interval.map(|interval| metric_range(metric, interval))),
        remarks: remarks.join(", "),
    }
}
