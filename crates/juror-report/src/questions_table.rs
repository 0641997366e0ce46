//! The table of an evaluation: a row per template, then all questions, with means and intervals.

use juror_compare::{
    CalibratedMetric, Caution, ClusterNoun, FEW_CLUSTERS, Kind, MacroStatistics, MetricStatistics,
    Numbered, Statistics,
};
use juror_score::{Aggregates, KeyPart, Ordered, Summary, question_metric, split_key};

use crate::amount::confidence;
use crate::comparison::{about_interval, count, group_noun, noun};
use crate::shown_mean::{FEW, ShownMean};
use crate::terminal::{Paint, layout, lines, shorten, visible};
use crate::trials::trials_table;

/// How many templates are listed.
const MOST_TEMPLATES: usize = 20;

/// How many characters of a name are shown.
pub(crate) const NAME_WIDTH: usize = 44;

/// How many custom metrics get a column.
const MOST_OWN: usize = 3;

/// The metrics that get a column if some question has them, and the column's title.
const SCORES: [(&str, &str); 9] = [
    ("steps_score", "steps"),
    ("answer_f1", "answer f1"),
    ("answer_relevance", "relevance"),
    ("answer_exact_match", "exact match"),
    ("answer_token_f1", "token f1"),
    ("answer_rouge_l", "ROUGE-L"),
    ("answer_mention_recall", "mentions"),
    ("retrieval_answer_f1", "retrieval"),
    ("retrieval_context_f1", "contexts"),
];

/// The metrics of the last columns, which tables always have.
const USAGE: [(&str, &str); 2] = [("total_tokens", "tokens"), ("elapsed_sec", "time")];

fn is_usage(metric: &str) -> bool {
    USAGE.iter().any(|(usage, _)| *usage == metric)
}

/// Renders the table, and below it what to know about its intervals.
pub(crate) fn questions_table(
    aggregates: &Aggregates,
    statistics: &Statistics,
    paint: Paint,
) -> String {
    let columns = columns(aggregates, statistics);
    let rows_are = rows_are(statistics);
    let mut rows = vec![header(&columns, rows_are)];
    for (id, summary) in listed_templates(aggregates) {
        let own = statistics.groups.get(id);
        let cell = |metric: &str| {
            let shown = own.and_then(|own| own.get(metric)).map(ShownMean::of)?;
            Some(if is_usage(metric) { shown.without_interval() } else { shown })
        };
        rows.push(row(&shorten(id, NAME_WIDTH), summary, cell, &columns));
    }
    let n_hidden = aggregates.per_template.len().saturating_sub(MOST_TEMPLATES);
    if n_hidden > 0 {
        rows.push(vec![format!("… and {n_hidden} more templates")]);
    }
    let cell = |metric: &str| statistics.metric(metric).map(ShownMean::of);
    rows.push(row(&format!("all {rows_are}"), &aggregates.micro, cell, &columns));
    if aggregates.per_template.len() > 1 {
        rows.push(macro_row(statistics, &columns));
    }
    let listed = listed_templates(aggregates).into_iter().map(|(id, _)| id.as_str());
    let notes = notes(statistics, listed, &columns);
    let notes = notes.iter().map(|note| paint.dim(note));
    let trials = trials_table(statistics, paint);
    format!("{}{}{}{trials}", layout(&rows, paint), lines(notes), calibrated_lines(statistics))
}

/// What the rows of an evaluation are: questions, or answers if some questions have several.
fn rows_are(statistics: &Statistics) -> &'static str {
    if statistics.answers == statistics.questions { "questions" } else { "answers" }
}

/// Returns a line for every metric whose judge was checked by people: its mean without the judge's
/// errors, or why there is none.
pub fn calibrated_lines(statistics: &Statistics) -> String {
    let line = |(metric, own): (&String, &CalibratedMetric)| visible(&own.line(metric)) + "\n";
    statistics.calibrated.iter().map(line).collect()
}

/// The metrics to show: those of `SCORES` that some question has, then the first custom ones, then
/// usage.
fn columns<'a>(aggregates: &'a Aggregates, statistics: &Statistics) -> Vec<(&'a str, &'a str)> {
    let is_cost = |name: &str| split_key(name).1 == Some(KeyPart::Cost);
    let own = |name: &&str| question_metric(name).is_none() && !is_cost(name);
    let own = aggregates.micro.metrics.keys().map(AsRef::as_ref).filter(own).take(MOST_OWN);
    SCORES
        .into_iter()
        .filter(|(metric, _)| {
            aggregates.micro.spread(metric).is_some()
                || statistics.without_mean.contains_key(*metric)
        })
        .chain(own.map(|name| (name, name)))
        .chain(USAGE)
        .collect()
}

/// All templates in order, or those with the lowest steps scores if there are many.
fn listed_templates(aggregates: &Aggregates) -> Vec<(&String, &Summary)> {
    let mut templates: Vec<(&String, &Summary)> = aggregates.per_template.iter().collect();
    if templates.len() > MOST_TEMPLATES {
        let score =
            |summary: &Summary| summary.spread("steps_score").map_or(-1.0, |spread| spread.mean);
        templates.sort_by(|a, b| score(a.1).total_cmp(&score(b.1)));
        templates.truncate(MOST_TEMPLATES);
    }
    templates
}

fn header(columns: &[(&str, &str)], rows_are: &str) -> Vec<String> {
    let mut cells = vec!["template".to_owned(), rows_are.to_owned(), "errors".into()];
    cells.extend(columns.iter().map(|(_, title)| (*title).to_owned()));
    cells
}

fn row(
    name: &str,
    summary: &Summary,
    cell: impl Fn(&str) -> Option<ShownMean>,
    columns: &[(&str, &str)],
) -> Vec<String> {
    let n_rows = summary.n_errors + summary.n_successes;
    let mut cells = vec![name.to_owned(), n_rows.to_string(), summary.n_errors.to_string()];
    cells.extend(columns.iter().map(|(metric, _)| shown(cell(metric), metric)));
    cells
}

fn macro_row(statistics: &Statistics, columns: &[(&str, &str)]) -> Vec<String> {
    let mut cells = vec!["mean over templates".to_owned(), String::new(), String::new()];
    let cell = |metric: &str| statistics.macro_means.get(metric).map(ShownMean::of_macro);
    cells.extend(columns.iter().map(|(metric, _)| shown(cell(metric), metric)));
    cells
}

fn shown(cell: Option<ShownMean>, name: &str) -> String {
    cell.map_or("–".into(), |cell| cell.text_of(name))
}

/// What to know about the intervals, and about questions that means leave out.
fn notes<'a>(
    statistics: &Statistics,
    listed: impl Iterator<Item = &'a str>,
    columns: &[(&str, &str)],
) -> Vec<String> {
    let own: Vec<(&str, &MetricStatistics)> = columns
        .iter()
        .filter_map(|(metric, title)| Some((*title, statistics.metric(metric)?)))
        .collect();
    let mut notes = about_intervals(statistics, own.iter().copied(), Shows::Halves);
    let over_templates = columns.iter().filter_map(|(name, _)| statistics.macro_means.get(*name));
    let over_templates = over_templates.filter(|_| statistics.groups.len() > 1);
    notes.extend(about_few(statistics.kind, over_templates).filter(|note| !notes.contains(note)));
    let of_groups = listed.filter_map(|id| statistics.groups.get(id)).flat_map(|own| {
        let with_interval = columns.iter().filter(|(metric, _)| !is_usage(metric));
        with_interval.filter_map(|(metric, _)| own.get(*metric))
    });
    notes.extend(about_few_of_groups(statistics.kind, of_groups, &notes));
    let lacking: Vec<String> = own
        .iter()
        .filter(|(title, own)| own.n_error > 0 && !USAGE.iter().any(|usage| usage.1 == *title))
        .map(|(title, own)| format!("{title} {} of {}", own.n_scored, own.n_scored + own.n_error))
        .collect();
    if !lacking.is_empty() {
        notes.push(format!("{} with a score: {}", rows_are(statistics), lacking.join(" · ")));
    }
    let titled = columns.iter().map(|(metric, title)| (*metric, *title));
    notes.extend(about_no_means(statistics, titled));
    notes.extend(about_missing(statistics));
    notes.extend(about_repeats(statistics, columns));
    notes
}

/// Says of metrics by these titles why they have no mean.
pub(crate) fn about_no_means<'s>(
    statistics: &'s Statistics,
    titled: impl Iterator<Item = (&'s str, &'s str)>,
) -> Vec<String> {
    let told = titled.filter_map(|(metric, title)| {
        let own = statistics.without_mean.get(metric)?;
        let (n, all) = (count(own.n_scored), count(own.n_scored + own.n_error));
        let what = rows_are(statistics);
        let reason = own.reason(statistics.kind);
        Some(format!("{title}: {n} of {all} {what} have a number; no mean, since {reason}"))
    });
    told.collect()
}

/// Says that questions have fewer answers than others, or than were to be made, if that is so.
pub(crate) fn about_missing(statistics: &Statistics) -> Option<String> {
    let Statistics { kind, missing, .. } = statistics;
    let what = match kind {
        Kind::Eval => "answer",
        Kind::Bench => "attempt",
    };
    let told = match *missing {
        0 => return None,
        1 => format!("1 {what} is missing"),
        n => format!("{} {what}s are missing", count(n)),
    };
    Some(format!("{told}: some {} have fewer than others", noun(*kind, 2)))
}

/// On how many answers the verdicts of a judge differ, if it was asked several times.
fn about_repeats(statistics: &Statistics, columns: &[(&str, &str)]) -> Option<String> {
    let own = columns.iter().filter_map(|(metric, title)| {
        let judge = statistics.judge.get(*metric)?;
        Some((judge.repeats, format!("{title} {:.1} %", judge.flip_rate * 100.0)))
    });
    let own: Vec<(usize, String)> = own.collect();
    let repeats = own.iter().map(|(repeats, _)| repeats).max()?;
    let shares: Vec<&str> = own.iter().map(|(_, share)| share.as_str()).collect();
    Some(format!("answers on which {repeats} verdicts differ: {}", shares.join(" · ")))
}

/// Says that the templates or sets of means over them are few, if that is so.
pub(crate) fn about_few<'s>(
    kind: Kind,
    own: impl IntoIterator<Item = &'s MacroStatistics>,
) -> Option<String> {
    let is_few = |own: &&MacroStatistics| own.caution == Some(Caution::FewClusters);
    let n = own.into_iter().filter(is_few).map(|own| own.n).max()?;
    Some(few(&ClusterNoun(group_noun(kind)).count(n)))
}

fn few(what: &str) -> String {
    format!("{FEW} {what} are too few for a reliable interval: check each one")
}

/// Explains the mark of means that are not all of the same number of clusters.
fn fewer_than_needed(noun: &'static str, of_what: &str) -> String {
    let counted = ClusterNoun(noun).count(FEW_CLUSTERS);
    format!("{FEW} fewer than {counted}{of_what} are too few for a reliable interval")
}

/// Explains the mark in rows of templates or sets, whose clusters are questions or queries, unless the
/// notes on all rows do.
pub(crate) fn about_few_of_groups<'s>(
    kind: Kind,
    own: impl IntoIterator<Item = &'s MetricStatistics>,
    notes: &[String],
) -> Option<String> {
    let is_any_of_few = own.into_iter().any(|own| own.caution == Some(Caution::FewClusters));
    // Over all rows of an evaluation, the mark is about templates.
    let is_said = kind == Kind::Bench && notes.iter().any(|note| note.starts_with(FEW));
    let of_group = format!(" of a {}", group_noun(kind));
    (is_any_of_few && !is_said).then(|| fewer_than_needed(noun(kind, 1), &of_group))
}

/// How a table shows intervals: by `±` and a mark if clusters are few, or by their ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    Halves,
    Ends,
}

/// How many means a note names.
const MOST_NAMES: usize = 5;

/// Says what the intervals of means allow for, and which means have none and why.
pub(crate) fn about_intervals<'s>(
    statistics: &Statistics,
    own: impl IntoIterator<Item = (impl Into<String>, &'s MetricStatistics)>,
    shows: Shows,
) -> Vec<String> {
    let noun = statistics.kind.cluster_noun();
    let (with, without): (Vec<_>, Vec<_>) =
        own.into_iter().partition(|(_, own)| own.interval.is_some());
    let mut notes = Vec::new();
    let n_clusters = with.iter().find_map(|(_, own)| own.clusters);
    if !with.is_empty() {
        let share = confidence(statistics.confidence);
        let by = n_clusters.map_or(String::new(), |n| format!(", allowing for {}", noun.count(n)));
        notes.push(match shows {
            Shows::Halves => format!("± is half of the {share} interval of a mean{by}"),
            Shows::Ends => format!("intervals are those of {share}{by}"),
        });
    }
    let with_few = |n| match shows {
        Shows::Halves => few(&noun.count(n)),
        Shows::Ends => about_interval(Caution::FewClusters, Numbered::Values, Some(n), noun),
    };
    let is_any_of_few = with.iter().any(|(_, own)| own.caution == Some(Caution::FewClusters));
    match n_clusters {
        Some(n) if n < FEW_CLUSTERS => notes.push(with_few(n)),
        // Of others than the first ones, by which the note would count.
        _ if is_any_of_few && shows == Shows::Halves => notes.push(fewer_than_needed(noun.0, "")),
        _ => {}
    }
    let no_interval = match shows {
        Shows::Halves => "no ±",
        Shows::Ends => "no interval",
    };
    let mut reasons: Ordered<String, Vec<String>> = Ordered::default();
    for (name, own) in without {
        if let Some(caution) = own.caution {
            let why = caution.text(Numbered::Values, own.clusters, noun);
            reasons.entry(why).or_default().push(shorten(&name.into(), NAME_WIDTH));
        }
    }
    let note = |(why, names)| format!("{no_interval} for {}: {why}", listed(names));
    notes.extend(reasons.into_iter().map(note));
    notes
}

/// Lists names, and says how many more there are.
fn listed(names: Vec<String>) -> String {
    let n_more = names.len().saturating_sub(MOST_NAMES);
    let more = (n_more > 0).then(|| format!(" and {n_more} more"));
    let first: Vec<String> = names.into_iter().take(MOST_NAMES).collect();
    format!("{}{}", first.join(", "), more.unwrap_or_default())
}
