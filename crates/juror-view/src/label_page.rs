//! Answers for people to label, without what the judge says and without the name of the run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use askama::Template;
use hyper::StatusCode;
use juror_document::Look;
use juror_files::reason;
use juror_labels::{Chosen, JudgedAnswer, JudgedRun, Said, append_label, choose, read_labels};
use juror_report::visible;

use crate::address;
use crate::label_form::{Answered, LabelTask, seen, trial_text};
use crate::message_page::Message;
use crate::reply::{self, Reply};
use crate::report_pages::no_such_run;
use crate::run_list::ListedRun;
use crate::viewer::Viewer;
use crate::words::visible_lines;

/// The file of labels in the folder of a run.
const LABELS: &str = "labels.jsonl";

#[derive(Template)]
#[template(path = "label.html")]
struct LabelPage {
    title: &'static str,
    action: String,
    metric: String,
    /// What the metric means, if Juror knows it.
    means: &'static str,
    by: String,
    /// Whether the name can be changed.
    asks_name: bool,
    n: usize,
    n_labelled: usize,
    n_chosen: usize,
    shown: Option<ShownAnswer>,
}

struct ShownAnswer {
    /// Counted from 1.
    place: usize,
    previous: Option<String>,
    next: Option<String>,
    is_labelled: bool,
    id: String,
    group: String,
    trial: String,
    seen: String,
    question: String,
    reference: Option<String>,
    answer: Option<String>,
}

impl Viewer {
    /// The next answer for a person to label.
    pub(crate) fn label_page(&self, id: &str, query: &str) -> Reply {
        let task = LabelTask::read(query, self.name.as_deref());
        let Some(run) = self.runs.find(id) else { return no_such_run(id) };
        let found = self.judged.read(&run.folder).map_err(|error| error.to_string());
        let found = found.and_then(|judged| {
            let metric =
                judged.metric(task.metric.as_deref()).map_err(|error| error.to_string())?;
            Ok((judged, metric))
        });
        match found {
            Ok((judged, metric)) => self.show(&run, &judged, &metric, &task),
            Err(why) => Message::new("There is nothing to label", &why)
                .reply(StatusCode::UNPROCESSABLE_ENTITY),
        }
    }

    fn show(&self, run: &ListedRun, judged: &JudgedRun, metric: &str, task: &LabelTask) -> Reply {
        let chosen = choose(judged, metric, task.choice());
        let labelled = labelled_by(&self.labels_of(run), metric, &task.by);
        let is_labelled = |own: &Chosen<'_>| labelled.contains(&key(own.answer));
        let first = || chosen.iter().position(|own| !is_labelled(own));
        let at = task.at.filter(|at| *at < chosen.len()).or_else(first);
        let at_address = |at: usize| {
            let (n, at) = (task.n.to_string(), at.to_string());
            let parts = [("metric", metric), ("by", &task.by), ("n", &n), ("at", &at)];
            address::of_label_with(&run.id, &parts)
        };
        let page = LabelPage {
            title: "Label answers",
            action: address::of_label(&run.id),
            metric: visible(metric),
            means: juror_score::metric(metric).map_or("", |info| info.means),
            by: visible(&task.by),
            asks_name: self.name.is_none(),
            n: task.n,
            n_labelled: chosen.iter().filter(|own| is_labelled(own)).count(),
            n_chosen: chosen.len(),
            shown: at.map(|at| ShownAnswer {
                place: at + 1,
                previous: at.checked_sub(1).map(at_address),
                next: Some(at + 1).filter(|next| *next < chosen.len()).map(at_address),
                is_labelled: is_labelled(&chosen[at]),
                ..shown(chosen[at].answer)
            }),
        };
        // The template only writes to memory.
        reply::page(StatusCode::OK, page.render().unwrap_or_default())
    }

    /// Keeps what a person says about an answer, and leads to the next.
    pub(crate) fn label(&self, id: &str, form: &str) -> Reply {
        let refused = |status, why: &str| Message::new("The label is not kept", why).reply(status);
        let Some(run) = self.runs.find(id) else { return no_such_run(id) };
        let Some(answered) = Answered::read(form) else {
            return refused(StatusCode::BAD_REQUEST, "the form is not one of this page");
        };
        let task = LabelTask::read(form, self.name.as_deref());
        let judged = match self.judged.read(&run.folder) {
            Ok(judged) => judged,
            Err(error) => return refused(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        };
        let metric = match judged.metric(task.metric.as_deref()) {
            Ok(metric) => metric,
            Err(error) => return refused(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
        };
        let chosen = choose(&judged, &metric, task.choice());
        let Some(own) = chosen.iter().find(|own| answered.is_about(own.answer)) else {
            return refused(StatusCode::CONFLICT, "the run has no such answer any more");
        };
        if !answered.has_seen(own.answer) {
            return refused(StatusCode::CONFLICT, "the run has another answer than the one shown");
        }
        let when = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let said = Said {
            label: answered.label,
            by: Some(task.by.as_str()).filter(|by| !by.is_empty()),
            note: answered.note.as_deref(),
            run: run.known.as_ref().ok().map(|own| own.identity.as_str()),
            when: Some(&when),
        };
        let path = self.labels_of(&run);
        if let Err(error) = append_label(&path, &own.line(&judged, &metric).with(&said)) {
            let why = format!("{}: {}", path.display(), reason(&error));
            return refused(StatusCode::INTERNAL_SERVER_ERROR, &why);
        }
        let n = task.n.to_string();
        let parts = [("metric", metric.as_str()), ("by", &task.by), ("n", &n)];
        reply::see_other(&address::of_label_with(&run.id, &parts), None)
    }

    /// The file that labels of a run are in.
    fn labels_of(&self, run: &ListedRun) -> PathBuf {
        self.labels.clone().unwrap_or_else(|| run.folder.join(LABELS))
    }
}

/// What tells answers of a run apart.
type Key = (String, String, Option<u32>);

fn key(answer: &JudgedAnswer) -> Key {
    (answer.group.clone(), answer.id.clone(), answer.trial)
}

/// The answers that a person has labelled. A file that is not there has no labels.
fn labelled_by(path: &Path, metric: &str, by: &str) -> HashSet<Key> {
    let Ok(document) = juror_files::load(&path.display().to_string()) else {
        return HashSet::new();
    };
    let labels = read_labels(&document, &mut Look::new(&document));
    let is_it = |label: &juror_labels::ReadLabel<'_>| {
        let is_metric = label.metric.as_ref().is_none_or(|own| own == metric);
        label.by == by && is_metric && label.score.is_ok()
    };
    let labels = labels.into_iter().filter(is_it);
    labels.map(|label| (label.group.unwrap_or_default(), label.id, label.trial)).collect()
}

fn shown(answer: &JudgedAnswer) -> ShownAnswer {
    ShownAnswer {
        place: 0,
        previous: None,
        next: None,
        is_labelled: false,
        id: answer.id.clone(),
        group: answer.group.clone(),
        trial: trial_text(answer),
        seen: seen(answer),
        question: visible_lines(&answer.question),
        reference: answer.reference_answer.as_deref().map(visible_lines),
        answer: answer.answer.as_deref().map(visible_lines),
    }
}
