//! Tab-separated tables for spreadsheets.

use std::borrow::Cow;
use std::fmt::Write;

use juror_compare::{ByMetric, Method, MetricStatistics, Statistics};
use juror_score::{
    Aggregates, Ending, ErrorResponses, FlatValue, Level, METRICS, MetricInfo, Profile, Record,
    Summary,
};

use crate::Columns;
use crate::aggregates::{as_whole, values};
use crate::results::text_of_json;

const IDS: [&str; 2] = ["template_id", "question_id"];
const TEXTS: [&str; 3] = ["question_text", "status", "error"];

/// The metrics of questions, then the custom ones.
fn metrics(columns: &Columns) -> Vec<&str> {
    let is_shown = |info: &&MetricInfo| columns.has_optional || !info.is_optional;
    let of_questions = METRICS.iter().filter(|info| info.level == Level::Question);
    let built_in = of_questions.filter(is_shown).map(|info| info.name);
    built_in.chain(columns.custom.iter().map(String::as_str)).collect()
}

pub(crate) fn header(columns: &Columns) -> Vec<u8> {
    let of_steps = columns.of_steps.iter().map(|info| info.name);
    let texts = IDS.into_iter().chain(columns.has_trials.then_some("trial")).chain(TEXTS);
    let names: Vec<&str> = texts.chain(metrics(columns)).chain(of_steps).collect();
    format!("{}\n", names.join("\t")).into_bytes()
}

/// Writes the row of a question: its texts, then all metrics of questions, then those of its steps.
/// Cells without a value are empty.
pub(crate) fn write_row(
    record: &Record<'_>,
    profile: &Profile,
    columns: &Columns,
    out: &mut Vec<u8>,
) {
    let question = record.case.question;
    let trajectory = record.case.trajectory;
    let (status, error) = match &trajectory.ending {
        Ending::Responded => ("success", Cow::Borrowed("")),
        Ending::Failed(message) => ("error", text_of_json(message)),
        Ending::Missing => ("error", Cow::Borrowed("no response")),
    };
    let text = text_of_json(question.text.get());
    let mut cells: Vec<Cow<str>> = vec![one_line(&question.template), one_line(&question.id)];
    if columns.has_trials {
        let trial = trajectory.trial.map(|trial| trial.to_string());
        cells.push(trial.unwrap_or_default().into());
    }
    cells.extend([&text, status, &error].map(one_line));
    let with_usage =
        !trajectory.ending.is_error() || profile.steps_of_errors == ErrorResponses::CountedIn;
    let judged = judged_values(record);
    for name in metrics(columns) {
        let usage = || trajectory.usage.iter().find(|(metric, _)| *metric == name);
        if let Some((_, value)) = judged.iter().find(|(key, _)| key == name) {
            let text = value.as_str().map(|text| one_line(text).into_owned());
            cells.push(text.unwrap_or_else(|| value.to_json()).into());
            continue;
        }
        cells.push(match record.verdict(name) {
            Some(verdict) => verdict.number().map_or(String::new(), |n| n.to_string()).into(),
            None if with_usage => usage().map_or("", |(_, value)| value.get()).into(),
            None => Cow::Borrowed(""),
        });
    }
    for info in &columns.of_steps {
        let value = info.of_steps(record.values_of_steps(info.name));
        cells.push(value.map_or(Cow::Borrowed(""), |value| value.to_string().into()));
    }
    out.extend_from_slice(cells.join("\t").as_bytes());
    out.push(b'\n');
}

/// The values that judges found for the question, by key.
fn judged_values<'r>(record: &'r Record<'_>) -> Vec<(Cow<'r, str>, FlatValue<'r>)> {
    let mut values = Vec::new();
    for finding in record.judged().iter().filter(|finding| finding.step.is_none()) {
        finding.each_pair(|key, value| values.push((key, value)));
    }
    values
}

/// Replaces tabs and newlines by spaces, which would break the table.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\t', '\n', '\r']) {
        Cow::Owned(text.replace(['\t', '\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// Renders a row for each metric, of each template, of all questions (`micro`) and over templates
/// (`macro`).
pub(crate) fn render_aggregates(aggregates: &Aggregates) -> String {
    let mut table = "scope\ttemplate_id\tmetric\tn\tsum\tmean\tmedian\tmin\tmax\n".to_owned();
    for (id, summary) in &aggregates.per_template {
        push_summary("per_template", id, summary, &mut table);
    }
    push_summary("micro", "", &aggregates.micro, &mut table);
    for (name, mean) in &aggregates.macro_means {
        // Writing to a string does not fail, here and below.
        let _ = writeln!(table, "macro\t\t{name}\t\t\t{mean}\t\t\t");
    }
    table
}

fn push_summary(scope: &str, id: &str, summary: &Summary, table: &mut String) {
    let id = one_line(id);
    for (name, spread) in &summary.metrics {
        let _ = write!(table, "{scope}\t{id}\t{name}\t{}", spread.n);
        for (_, value) in values(spread) {
            let _ = match as_whole(value).filter(|_| spread.whole) {
                Some(whole) => write!(table, "\t{whole}"),
                None => write!(table, "\t{value}"),
            };
        }
        table.push('\n');
    }
}

/// Renders a row for each metric, of each template or set, of all rows (`micro`) and over templates
/// (`macro`). A number that cannot be had is left empty.
pub(crate) fn render_statistics(statistics: &Statistics) -> String {
    let mut table =
        "scope\tgroup\tmetric\tn\tn_scored\tn_error\tn_not_applicable\tcoverage\tmean\t\
                     median\tsd\tse\tlow\thigh\tmethod\tclusters\tdeff\n"
            .to_owned();
    for (group, metrics) in &statistics.groups {
        push_statistics("group", group, metrics, &mut table);
    }
    push_statistics("micro", "", &statistics.micro, &mut table);
    for (name, own) in &statistics.without_mean {
        let (n_scored, n_error, coverage) = (own.n_scored, own.n_error, own.coverage());
        let n = statistics.answers + statistics.missing;
        let n_not_applicable = n.saturating_sub(n_scored + n_error);
        let counts = format!("{n}\t{n_scored}\t{n_error}\t{n_not_applicable}\t{coverage}");
        let _ = writeln!(table, "micro\t\t{name}\t{counts}\t\t\t\t\t\t\t\t\t");
    }
    for (name, own) in &statistics.macro_means {
        let ends = own.interval.map(|interval| (interval.low, interval.high)).unzip();
        let [se, low, high] = [own.se, ends.0, ends.1].map(cell);
        let (n, mean) = (own.n, own.mean);
        let _ =
            writeln!(table, "macro\t\t{name}\t{n}\t\t\t\t\t{mean}\t\t\t{se}\t{low}\t{high}\t\t\t");
    }
    table
}

fn push_statistics(
    scope: &str,
    group: &str,
    metrics: &ByMetric<MetricStatistics>,
    table: &mut String,
) {
    let group = one_line(group);
    for (name, own) in metrics {
        let ends = own.interval.map(|interval| (interval.low, interval.high)).unzip();
        let [sd, se, low, high] = [own.sd, own.se, ends.0, ends.1].map(cell);
        let method = own.method.map_or("", Method::name);
        let clusters = own.clusters.map_or(String::new(), |n| n.to_string());
        let counts = [own.n, own.n_scored, own.n_error, own.n_not_applicable];
        let counts = counts.map(|n| n.to_string()).join("\t");
        let (coverage, mean, median) = (own.coverage, own.mean, own.median);
        let _ = writeln!(
            table,
            "{scope}\t{group}\t{name}\t{counts}\t{coverage}\t{mean}\t{median}\t{sd}\t{se}\t{low}\t\
             {high}\t{method}\t{clusters}\t{}",
            cell(own.deff)
        );
    }
}

pub(crate) fn cell(number: Option<f64>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}
