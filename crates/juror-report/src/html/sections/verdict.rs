//! The verdict: what was judged, how it came out, and what is missing.

use juror_compare::{
    CandidateComparison, GateOutcome, GateVerdict, Kind, MetricComparison, Statistics, worst,
};

use super::{Cell, Link, Table, view_address};
use crate::amount::{Amounts, percent};
use crate::comparison::{
    CandidateRows, ComparisonView, count, extent, is_of_judging, noun, unfinished,
};
use crate::html::index::{Index, flag};
use crate::html::page::{PageRun, PageSource};
use crate::questions_table::{Shows, about_intervals};
use crate::terminal::visible;

/// How many metrics the verdict shows.
const CARDS: usize = 4;

/// What was judged, and how.
pub(crate) struct RunAbout {
    pub(crate) name: String,
    pub(crate) facts: Vec<(String, String)>,
}

/// A word with a colour.
pub(crate) struct Badge {
    pub(crate) class: &'static str,
    pub(crate) text: String,
}

/// A main metric.
pub(crate) struct Card {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) interval: String,
    pub(crate) note: String,
}

/// What was judged, in a line.
pub(super) fn lead(source: &PageSource<'_>) -> String {
    match &source.runs[..] {
        [only] => {
            let Statistics { kind, questions, .. } = only.statistics;
            let began = only.facts.began.as_deref().unwrap_or_default();
            let day = began.split(['T', ' ']).next().unwrap_or_default();
            let questions = format!("{} {}", count(*questions), noun(*kind, *questions));
            let state = unfinished(only.facts).unwrap_or_default().to_owned();
            let parts = [questions, day.to_owned(), state];
            let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            visible(&told.join(" · "))
        }
        several => {
            let names: Vec<String> = (0..several.len()).map(|at| source.run_name(at)).collect();
            names.join(" · ")
        }
    }
}

pub(super) fn runs(source: &PageSource<'_>) -> Vec<RunAbout> {
    let about = |(at, run): (usize, &PageRun<'_>)| {
        let facts = run.about.iter().map(|(key, value)| (visible(key), visible(value)));
        RunAbout { name: source.run_name(at), facts: facts.collect() }
    };
    source.runs.iter().enumerate().map(about).collect()
}

fn verdict_of(source: &PageSource<'_>) -> Option<GateVerdict> {
    match source.comparison {
        Some(comparison) => {
            let has_gates = comparison.candidates.iter().any(|own| !own.gates.is_empty());
            has_gates.then_some(comparison.verdict)
        }
        None => (!source.outcomes.is_empty()).then(|| worst(source.outcomes)),
    }
}

pub(super) fn badge(source: &PageSource<'_>) -> Option<Badge> {
    let verdict = verdict_of(source)?;
    Some(Badge { class: class_of(verdict), text: verdict.word().to_owned() })
}

fn class_of(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Pass => "pass",
        GateVerdict::Warn => "warn",
        GateVerdict::Block => "block",
        GateVerdict::Inconclusive => "inconclusive",
    }
}

/// The main metrics: in comparisons how they changed, else their means.
pub(super) fn cards(source: &PageSource<'_>) -> Vec<Card> {
    let candidates = source.comparison.map_or(&[][..], |comparison| &comparison.candidates[..]);
    match candidates {
        [] => {
            source.runs.first().map_or(Vec::new(), |run| main_first(source, means(run.statistics)))
        }
        [only] => {
            let shown = only.metrics.iter().filter(|(name, _)| !is_of_judging(name));
            main_first(source, shown.map(|(name, own)| change(visible(name), name, own)).collect())
        }
        several => several
            .iter()
            .enumerate()
            .filter_map(|(at, candidate)| main_change(source, at + 1, candidate))
            .collect(),
    }
}

/// How the main metric changed in one of several candidates.
fn main_change(
    source: &PageSource<'_>,
    run: usize,
    candidate: &CandidateComparison,
) -> Option<Card> {
    let name = source.headline()?;
    let title = format!("{}, {}", visible(name), source.run_name(run));
    Some(change(title, name, candidate.metrics.get(name)?))
}

fn change(title: String, metric: &str, own: &MetricComparison) -> Card {
    let amounts = Amounts::of(metric, own);
    let interval = own.interval.map(|interval| amounts.interval(interval));
    Card {
        name: title,
        value: amounts.change(own.delta),
        interval: interval.unwrap_or_else(|| "no interval can be computed".into()),
        note: format!("{} → {}", amounts.value(own.a), amounts.value(own.b)),
    }
}

fn means(statistics: &Statistics) -> Vec<Card> {
    let shown = statistics.micro.iter().filter(|(name, _)| !is_of_judging(name));
    let card = |(name, own): (&String, &juror_compare::MetricStatistics)| {
        let amounts = Amounts::of_metric(name);
        let interval = own.interval.map(|interval| amounts.range(interval));
        Card {
            name: visible(name),
            value: amounts.value(own.mean),
            interval: interval.unwrap_or_else(|| "no interval can be computed".into()),
            note: format!("n = {}", count(own.n_scored)),
        }
    };
    shown.map(card).collect()
}

fn main_first(source: &PageSource<'_>, mut cards: Vec<Card>) -> Vec<Card> {
    let headline = source.headline().map(visible);
    cards.sort_by_key(|card| Some(&card.name) != headline.as_ref());
    cards.truncate(CARDS);
    cards
}

/// What is missing, and what to keep in mind about the numbers.
pub(super) fn cautions(source: &PageSource<'_>) -> Vec<String> {
    let mut cautions = about_states(source);
    if let Some(comparison) = source.comparison {
        let view = ComparisonView::default();
        for rows in CandidateRows::all(comparison, &view) {
            cautions.extend(rows.title());
            cautions.push(extent(comparison, rows.candidate));
            cautions.extend(rows.notes_on_numbers());
            cautions.extend(rows.candidate.flips.first().map(|flips| rows.flips_line(flips)));
        }
        return cautions.iter().map(|text| visible(text)).collect();
    }
    for run in &source.runs {
        cautions.extend(missing(run.statistics));
        cautions.extend(about_intervals(run.statistics, &run.statistics.micro, Shows::Ends));
    }
    cautions.iter().map(|text| visible(text)).collect()
}

/// Which runs are not finished, or not whole any more.
fn about_states(source: &PageSource<'_>) -> Vec<String> {
    let state = |(at, run): (usize, &PageRun<'_>)| {
        let name = if source.runs.len() > 1 { source.run_name(at) } else { "The run".into() };
        match &run.facts.damage {
            _ if !run.facts.is_complete => {
                Some(format!("{name} is not finished: this is what there is of it."))
            }
            Some(damage) => Some(format!("{name} is damaged: {damage}.")),
            None => None,
        }
    };
    source.runs.iter().enumerate().filter_map(state).collect()
}

fn missing(statistics: &Statistics) -> Vec<String> {
    let Statistics { kind, questions, answers, errors, missing, .. } = statistics;
    let n_lost = *errors + *missing;
    let what = match kind {
        Kind::Eval => "answers",
        Kind::Bench => "attempts",
    };
    let several =
        if answers == questions { String::new() } else { format!(", {} {what}", count(*answers)) };
    let mut lines = vec![format!(
        "{} {}{several}; {} of the {what} failed or are missing.",
        count(*questions),
        noun(*kind, *questions),
        if n_lost == 0 { "none".into() } else { count(n_lost) }
    )];
    lines.extend(lacking(statistics));
    lines
}

/// Which metrics have fewer verdicts than answers they apply to, those with the same share together.
fn lacking(statistics: &Statistics) -> Vec<String> {
    let mut shares: indexmap::IndexMap<(usize, usize), Vec<&str>> = indexmap::IndexMap::new();
    for (name, own) in &statistics.micro {
        if own.coverage < 1.0 && !is_of_judging(name) {
            let all = own.n_scored + own.n_error;
            shares.entry((own.n_scored, all)).or_default().push(name);
        }
    }
    for (name, own) in &statistics.without_mean {
        shares.entry((own.n_scored, own.n_scored + own.n_error)).or_default().push(name);
    }
    let line = |((n_scored, n_all), names): (&(usize, usize), &Vec<&str>)| {
        let share = percent(*n_scored as f64 / (*n_all).max(1) as f64);
        let names = names.join(", ");
        format!("{} of {} ({share}) have {names}.", count(*n_scored), count(*n_all))
    };
    shares.iter().map(line).collect()
}

/// Views of the table that are worth a look, with how many questions they list.
pub(super) fn links(index: &Index<'_>) -> Vec<Link> {
    let link = |show: &str, n: usize, what: &str| {
        let href = view_address(&[("show", show)]);
        (n > 0).then(|| Link { href, text: format!("{} {what}", count(n)) })
    };
    let flagged = |bit: u8| index.n_flagged(bit);
    [
        link("broken", flagged(flag::BROKEN), "broken"),
        link("fixed", flagged(flag::FIXED), "fixed"),
        link("error", index.n_failed(), "failed"),
        link("unsure", flagged(flag::UNSURE), "on which the judge is unsure"),
        link("flagged", flagged(flag::IMITATES), "with texts that imitate verdicts"),
        link("sometimes", flagged(flag::SOMETIMES), "solved sometimes"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How the gates came out.
pub(super) fn gates(source: &PageSource<'_>) -> Option<Table> {
    let candidates = source.comparison.map_or(&[][..], |comparison| &comparison.candidates[..]);
    let of_candidates = candidates
        .iter()
        .enumerate()
        .flat_map(|(at, own)| own.gates.iter().map(move |outcome| (at + 1, outcome)));
    let alone = source.outcomes.iter().filter(|_| source.comparison.is_none());
    let outcomes: Vec<(usize, &GateOutcome)> =
        of_candidates.chain(alone.map(|outcome| (0, outcome))).collect();
    if outcomes.is_empty() {
        return None;
    }
    // Of several candidates, each has gates of its own.
    let named = candidates.len() > 1;
    let row = |(run, outcome): &(usize, &GateOutcome)| {
        let verdict =
            Cell { badge: Some(class_of(outcome.verdict)), ..Cell::text(outcome.verdict.word()) };
        let run = named.then(|| Cell::text(&source.run_name(*run)));
        let cells = [Cell::text(&outcome.gate), verdict, Cell::text(&outcome.why)];
        run.into_iter().chain(cells).collect()
    };
    let titles = named.then_some("run").into_iter().chain(["gate", "verdict", "why"]);
    Some(Table {
        caption: "Gates".into(),
        titles: titles.map(Cell::text).collect(),
        rows: outcomes.iter().map(row).collect(),
    })
}
