//! `juror reference check`: compares recorded results with those of the graph.

use std::time::Duration;

use clap::Args;
use juror_document::Document;
use juror_files::load;
use juror_read::{Dataset, read_reference};
use juror_reference::{Checked, Reviewed, ReviewedStep, Standing, answers_in_doubt, no_queries};
use serde::Serialize;

use super::super::boolish;
use super::super::graph_args::seconds;
use super::ask_args::AskArgs;
use crate::exit::{Exit, Outside};
use crate::output;

/// Compare recorded results with those that the graph gives now.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Reference questions with expected steps.
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// Tell of queries that take longer than this, in seconds.
    #[arg(long, value_name = "SECONDS", env = "JUROR_SLOW", value_parser = seconds)]
    slow: Option<f64>,

    /// Print what was found as JSON.
    #[arg(long, env = "JUROR_JSON", value_parser = boolish())]
    json: bool,

    /// Print nothing but what does not hold.
    #[arg(short, long, env = "JUROR_QUIET", value_parser = boolish())]
    quiet: bool,

    #[command(flatten)]
    ask: AskArgs,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<Exit> {
    let document = load(&args.reference)?;
    let dataset = read_reference(&document)?;
    let (mut graph, options) = args.ask.open(args.quiet)?;
    let slow = args.slow.map(Duration::from_secs_f64);
    let (both, asked) = ((&document, &dataset), (&mut graph, &options));
    let reviewed = args.ask.graph.review(both, asked, slow, args.quiet)?;
    // A check of a reference without queries would pass for ever.
    anyhow::ensure!(!reviewed.is_empty(), no_queries(document.name()));
    let shown = Shown { document: &document, dataset: &dataset, reviewed: &reviewed };
    if args.json {
        shown.print_json(&graph.describe())?;
    } else {
        shown.print(&graph.describe(), args.quiet)?;
    }
    if let Some(told) = answers_in_doubt(&reviewed.answers_in_doubt(&dataset)) {
        output::warn(&told);
    }
    Ok(exit_of(&reviewed))
}

/// Failures outside leave the question open; anything else that does not hold is the answer.
fn exit_of(reviewed: &Reviewed<'_>) -> Exit {
    if reviewed.has_outside_failure() {
        Exit::OutsideFailed
    } else if reviewed.steps().all(|step| step.checked.holds()) {
        Exit::Done
    } else {
        Exit::GateNotMet
    }
}

/// What was found, to be shown.
struct Shown<'s> {
    document: &'s Document,
    dataset: &'s Dataset<'s>,
    reviewed: &'s Reviewed<'s>,
}

/// The words for how results stand, in the order in which they are counted.
const WORDS: [&str; 7] = ["same", "changed", "empty", "new", "unreadable", "fails", "columns"];

fn word_of(checked: &Checked) -> &'static str {
    match &checked.standing {
        Standing::Fails { .. } => "fails",
        _ if !checked.missing_columns.is_empty() => "columns",
        Standing::Same => "same",
        Standing::Changed(_) => "changed",
        Standing::Empty { .. } => "empty",
        Standing::NotRecorded => "new",
        Standing::Unreadable { .. } => "unreadable",
    }
}

impl Shown<'_> {
    fn print(&self, graph: &str, quiet: bool) -> Result<(), Outside> {
        let mut text = String::new();
        for step in self.reviewed.steps().filter(|step| !step.checked.holds() || step.checked.slow)
        {
            text.push_str(&self.entry(&step));
        }
        if !quiet {
            let n = self.reviewed.steps().count();
            let queries = if n == 1 { "1 query".to_owned() } else { format!("{n} queries") };
            let head = format!("{} · {queries} · {graph}\n", self.document.name());
            let space = if text.is_empty() { "" } else { "\n" };
            text = format!("{head}{space}{text}\n{}\n", self.counts());
        }
        output::print_quoting(&text)
    }

    /// Describes a step that does not hold.
    fn entry(&self, step: &ReviewedStep<'_>) -> String {
        let id = &self.dataset.questions[step.step.question].id;
        let ((line, column), name) = (step.place, self.document.name());
        let word = if step.checked.holds() { "slow" } else { word_of(step.checked) };
        let head = format!("{word:<10} {id}  {name}:{line}:{column}\n");
        let details = details(step.checked).into_iter().map(|line| format!("{:<10} {line}\n", ""));
        std::iter::once(head).chain(details).collect::<Vec<_>>().concat()
    }

    fn counts(&self) -> String {
        let n_of = |word: &&str| {
            let n = self.reviewed.steps().filter(|step| word_of(step.checked) == *word).count();
            (n > 0).then(|| format!("{n} {word}"))
        };
        let mut parts: Vec<String> = WORDS.iter().filter_map(n_of).collect();
        let n_slow = self.reviewed.steps().filter(|step| step.checked.slow).count();
        if n_slow > 0 {
            parts.push(format!("{n_slow} slow"));
        }
        parts.join(", ")
    }

    fn print_json(&self, graph: &str) -> Result<(), Outside> {
        let steps = self.reviewed.steps().map(|step| {
            let question = &self.dataset.questions[step.step.question];
            JsonStep {
                question_id: &question.id,
                template_id: &question.template,
                group: step.step.group,
                step: step.step.index,
                line: step.place.0,
                column: step.place.1,
                path: step.step.path.to_string(),
                checked: step.checked,
            }
        });
        let steps: Vec<JsonStep<'_>> = steps.collect();
        let n_same = steps.iter().filter(|step| step.checked.holds()).count();
        let json = JsonCheck {
            reference: self.document.name(),
            graph,
            n_same,
            answers_in_doubt: self.reviewed.answers_in_doubt(self.dataset),
            steps: &steps,
        };
        let json = serde_json::to_string_pretty(&json).unwrap_or_default();
        output::print_data(&format!("{json}\n"))
    }
}

/// Returns what there is to say about a step, a line each.
fn details(checked: &Checked) -> Vec<String> {
    let mut lines = Vec::new();
    match &checked.standing {
        Standing::NotRecorded => lines.push("no result is recorded".into()),
        Standing::Unreadable { why } => lines.push(format!("what is recorded is no result: {why}")),
        Standing::Fails { why, hint, .. } => {
            lines.push(why.clone());
            lines.extend(hint.as_ref().map(|hint| format!("hint: {hint}")));
        }
        _ => lines.extend(checked.moved_in_words()),
    }
    if !checked.missing_columns.is_empty() {
        let names = checked.missing_columns.join("`, `");
        lines.push(format!("the query does not give the required column `{names}`"));
    }
    if checked.unstable {
        lines.push("hint: the query has LIMIT without ORDER BY, so that its rows may differ from run to run".into());
    }
    if let Some(seconds) = checked.seconds.filter(|_| checked.slow) {
        lines.push(format!("the query took {seconds:.1} s"));
    }
    lines
}

#[derive(Serialize)]
struct JsonCheck<'s> {
    reference: &'s str,
    graph: &'s str,
    n_same: usize,
    /// The questions whose results have moved, and whose answers may be out of date.
    answers_in_doubt: Vec<&'s str>,
    steps: &'s [JsonStep<'s>],
}

#[derive(Serialize)]
struct JsonStep<'s> {
    question_id: &'s str,
    template_id: &'s str,
    group: usize,
    step: usize,
    line: usize,
    column: usize,
    path: String,
    #[serde(flatten)]
    checked: &'s Checked,
}
