//! The list of runs.

use askama::Template;
use hyper::StatusCode;
use juror_report::{RunMean, about_run_means, visible};
use juror_score::statistics::Interval;

use crate::address;
use crate::message_page::Message;
use crate::reply::{self, Reply};
use crate::run_list::{ListedRun, fingerprint};
use crate::run_summary::{Mean, RunSummary};
use crate::viewer::Viewer;
use crate::words::visible_lines;

/// The metrics that have a column if some run has them: those that say whether answers are right.
pub(crate) const COLUMNS: [&str; 5] =
    ["steps_score", "answer_f1", "answer_relevance", "sopr_score", "api_call_score"];

#[derive(Template)]
#[template(path = "list.html")]
struct ListPage {
    title: &'static str,
    folder: String,
    /// Changes when the page is out of date.
    fingerprint: String,
    columns: Vec<Column>,
    has_cost: bool,
    rows: Vec<Row>,
    /// What stands beside the means.
    notes: Vec<String>,
    unreadable: Vec<(String, String)>,
}

struct Column {
    name: &'static str,
    history: String,
}

struct Row {
    id: String,
    address: String,
    name: String,
    began: String,
    kind: &'static str,
    n: String,
    means: Vec<String>,
    usd: String,
    state: &'static str,
    /// How far it came, if it is not finished.
    progress: Option<RowProgress>,
}

struct RowProgress {
    done: u64,
    all: Option<u64>,
    text: String,
}

impl Viewer {
    /// The list of runs.
    pub(crate) fn list(&self) -> Reply {
        let folder = visible(&self.runs.root().display().to_string());
        let runs = match self.runs.read() {
            Ok(runs) => runs,
            Err(error) => {
                let why = format!("{folder}: {}", juror_files::reason(&error));
                return Message::new("No runs", &why).reply(StatusCode::INTERNAL_SERVER_ERROR);
            }
        };
        let known = || runs.iter().filter_map(|run| Some((run, run.known.as_ref().ok()?)));
        let has = |name: &&str| known().any(|(_, own)| own.means.contains_key(*name));
        let columns: Vec<&'static str> = COLUMNS.into_iter().filter(has).collect();
        let unreadable = runs
            .iter()
            .filter_map(|run| Some((visible(&run.id), visible_lines(run.known.as_ref().err()?))));
        let means: Vec<RunMean> = known()
            .flat_map(|(_, own)| columns.iter().filter_map(|name| run_mean(name, own)))
            .collect();
        let page = ListPage {
            title: "Runs",
            folder,
            fingerprint: fingerprint(&runs),
            has_cost: known().any(|(_, own)| own.usd.is_some()),
            rows: known().map(|(run, own)| self.row(run, own, &columns)).collect(),
            notes: about_run_means(&means),
            unreadable: unreadable.collect(),
            columns: columns
                .iter()
                .map(|name| Column { name, history: address::of_history(name) })
                .collect(),
        };
        // The template only writes to memory.
        reply::page(StatusCode::OK, page.render().unwrap_or_default())
    }

    fn row(&self, run: &ListedRun, own: &RunSummary, columns: &[&'static str]) -> Row {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        let mean = |name: &&'static str| or_dash(run_mean(name, own).map(|mean| mean.text()));
        let progress = (!own.is_complete).then(|| self.progress(run));
        Row {
            id: run.id.clone(),
            address: address::of_run(&run.id),
            name: visible(&own.name),
            began: visible(&own.minute()),
            kind: own.kind.word(),
            n: or_dash(own.n.map(|n| n.to_string())),
            means: columns.iter().map(mean).collect(),
            usd: or_dash(own.usd.map(|usd| format!("{usd:.4}"))),
            state: progress.as_ref().map_or_else(|| run.state(), |own| own.state),
            progress: progress.map(|own| RowProgress {
                text: own.text(),
                done: own.done,
                all: own.all,
            }),
        }
    }
}

fn run_mean(metric: &'static str, own: &RunSummary) -> Option<RunMean> {
    let Mean { mean, interval, is_of_few, .. } = *own.means.get(metric)?;
    let interval = interval.map(|[low, high]| Interval { low, high });
    Some(RunMean { metric, mean, interval, is_of_few })
}
