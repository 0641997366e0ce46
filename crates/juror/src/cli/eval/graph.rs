//! `juror eval --graph`: expected results are taken fresh from a graph.

use juror_document::{Document, Format};
use juror_graph::Graph;
use juror_reference::{AskOptions, Blame, rerun};
use juror_run::Settings;
use juror_score::read::{read_reference, read_responses_as};

use super::super::graph_args::{review, unwritable};
use super::super::{count, quoted};
use super::EvalArgs;
use crate::output;

/// A reference with the results that the graph gives now, and what differs from those recorded.
pub(super) struct FreshReference {
    pub(super) document: Document,
    recorded: Document,
    /// The graph in words.
    pub(super) about: String,
    graph: Graph,
    options: AskOptions,
    /// The questions whose expected results have moved, by position, and how.
    moved: Vec<(usize, String)>,
    /// How many expected results there are.
    n_results: usize,
    /// Whether something outside failed, so that some results are as recorded.
    pub(super) is_incomplete: bool,
}

impl FreshReference {
    /// Asks the graph all queries of a reference.
    pub(super) fn ask(
        args: &EvalArgs,
        settings: &Settings,
        recorded: Document,
    ) -> anyhow::Result<FreshReference> {
        let quiet = args.report.quiet;
        let graph = args.graph.open(quiet)?;
        let names = settings.plan().profile.kind_names;
        let options = args.graph.options(Some(&graph), args.report.jobs, &names)?;
        let dataset = read_reference(&recorded)?;
        let reviewed = review((&recorded, &dataset), (&graph, &options), None, quiet);
        let refreshed = reviewed.refresh(&recorded, &dataset);
        let refreshed = refreshed.map_err(|error| unwritable(&error))?;
        for (at, why) in refreshed.left.iter().filter(|_| !quiet) {
            let Some(step) = reviewed.steps().nth(*at) else { continue };
            let ((line, column), name) = (step.place, recorded.name());
            output::warn(&format!(
                "{name}:{line}:{column}: the recorded result counts, since the graph gives none: {why}"
            ));
        }
        let is_incomplete = reviewed.has_outside_failure();
        let moved: Vec<(usize, String)> = reviewed
            .steps()
            .filter_map(|step| Some((step.step.question, step.checked.moved_in_words()?)))
            .collect();
        let n_results = reviewed.steps().count();
        drop(reviewed);
        drop(dataset);
        let document =
            Document::new(recorded.name(), refreshed.text.into_bytes(), recorded.format())?;
        let about = format!("{}; {} moved", graph.describe(), count(moved.len(), "result"));
        Ok(FreshReference {
            document,
            recorded,
            about,
            graph,
            options,
            moved,
            n_results,
            is_incomplete,
        })
    }

    /// Runs the queries of the agent that have no output.
    pub(super) fn rerun_actual(
        &mut self,
        args: &EvalArgs,
        responses: &Document,
    ) -> anyhow::Result<Document> {
        let (text, told) = {
            let dataset = read_reference(&self.document)?;
            let read = read_responses_as(responses, args.read.repeated_ids())?;
            let both = (&dataset, &read);
            let rerun = rerun(responses, both, &self.graph, &self.options, &mut |_| ());
            let rerun = rerun.ok_or_else(|| {
                anyhow::anyhow!(
                    "--rerun-actual: {} is in YAML, and is read only as JSON or JSONL here",
                    quoted(responses.name())
                )
            })?;
            self.is_incomplete |= rerun.is_outside;
            let failed = match rerun.failures.first() {
                None => String::new(),
                Some(first) => {
                    format!("; {} failed, the first: {first}", count(rerun.failures.len(), "query"))
                }
            };
            let steps = count(rerun.n_filled, "step");
            (rerun.text, format!("the queries of {steps} of the agent were run again{failed}"))
        };
        if !args.report.quiet {
            output::print_note(&told.replace("querys", "queries"));
        }
        let format = if responses.is_lines() { Format::JsonLines } else { Format::Json };
        Ok(Document::new(responses.name(), text.into_bytes(), format)?)
    }

    /// Says which expected results have moved, and whether the agent is right by them.
    pub(super) fn tell_moved(
        &self,
        args: &EvalArgs,
        settings: &Settings,
        responses: &Document,
    ) -> anyhow::Result<()> {
        if self.moved.is_empty() || args.report.quiet {
            return Ok(());
        }
        let profile = settings.plan().profile;
        let (recorded, fresh) = (read_reference(&self.recorded)?, read_reference(&self.document)?);
        let responses = read_responses_as(responses, args.read.repeated_ids())?;
        output::print_note(&format!(
            "the graph moved: {} of {} expected results are not as recorded, and are taken fresh",
            self.moved.len(),
            self.n_results
        ));
        for (at, how) in &self.moved {
            let (old, new) = (&recorded.questions[*at], &fresh.questions[*at]);
            let blame = Blame::of(old, new, responses.of(new), &profile);
            output::print_note(&format!("  {}: {how}\n    {}", new.id, blame.in_words()));
        }
        Ok(())
    }
}
