//! `juror eval --graph`: expected results are taken fresh from a graph.

use juror_document::{Document, Format};
use juror_read::{Responses, read_reference, read_responses_as};
use juror_reference::{AskOptions, AskedGraph, Blame, mark_moved, rerun};
use juror_run::Settings;
use juror_score::{Profile, Question};

use super::super::graph_args::unwritable;
use super::super::{count, quoted};
use super::EvalArgs;
use super::moved::{FreshGraph, MovedResult};
use crate::output;

/// A reference with the results that the graph gives now, and what differs from those recorded.
pub(super) struct FreshReference {
    document: Document,
    recorded: Document,
    about: FreshGraph,
    graph: AskedGraph,
    options: AskOptions,
    moved: Vec<Moved>,
    /// Whether something outside failed, so that some results are as recorded.
    is_incomplete: bool,
}

/// An expected result that has moved.
struct Moved {
    /// The position of its question.
    question: usize,
    /// The position of its step among those with queries.
    step: usize,
    how: String,
    /// Whose fault a wrong answer is, for each answer that is known.
    blames: Vec<(Option<u32>, Blame)>,
}

impl Moved {
    /// What the results say of it.
    fn note(&self) -> String {
        let mut words: Vec<(Option<u32>, &str)> =
            self.blames.iter().map(|(trial, blame)| (*trial, blame.in_words())).collect();
        if words.iter().all(|own| own.1 == words[0].1) {
            words = words.first().map(|own| (None, own.1)).into_iter().collect();
        }
        let words = words.into_iter().map(|(trial, words)| match trial {
            Some(trial) => format!("; trial {trial}: {words}"),
            None => format!("; {words}"),
        });
        std::iter::once(self.how.clone()).chain(words).collect()
    }
}

impl FreshReference {
    /// Asks the graph all queries of a reference.
    pub(super) fn ask(
        args: &EvalArgs,
        settings: &Settings,
        recorded: Document,
    ) -> anyhow::Result<FreshReference> {
        let quiet = args.report.quiet;
        let mut graph = args.graph.open(quiet)?;
        let names = settings.plan().profile.kind_names;
        let options = args.graph.options(args.report.jobs, &names)?;
        let dataset = read_reference(&recorded)?;
        let (both, asked) = ((&recorded, &dataset), (&mut graph, &options));
        let reviewed = args.graph.review(both, asked, None, quiet)?;
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
        let moved = reviewed.steps().enumerate().filter_map(|(at, step)| {
            let how = step.checked.moved_in_words()?;
            Some(Moved { question: step.step.question, step: at, how, blames: Vec::new() })
        });
        let moved: Vec<Moved> = moved.collect();
        let n_results = reviewed.steps().count();
        drop(reviewed);
        drop(dataset);
        let document =
            Document::new(recorded.name(), refreshed.text.into_bytes(), recorded.format())?;
        let about = format!("{}; {} moved", graph.describe(), count(moved.len(), "result"));
        let about = FreshGraph { about, results: n_results, moved: Vec::new() };
        Ok(FreshReference { document, recorded, about, graph, options, moved, is_incomplete })
    }

    /// The reference with fresh results.
    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// What is told of the graph.
    pub(super) fn about(&self) -> &FreshGraph {
        &self.about
    }

    /// Whether something outside failed, so that some results are as recorded.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Lets steps say how their results have moved, and whose fault that makes it, if it is known. Results
    /// repeat it.
    pub(super) fn mark(&mut self) -> anyhow::Result<()> {
        let notes: Vec<_> = self.moved.iter().map(|own| (own.step, own.note())).collect();
        let marked = {
            let dataset = read_reference(&self.document)?;
            mark_moved(&self.document, &dataset, &self.options.names, &notes)
        };
        if let Some(marked) = marked {
            self.document = marked;
        }
        Ok(())
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
            let rerun = rerun(responses, both, &mut self.graph, &self.options, &mut |_| ());
            args.graph.keep(&mut self.graph, args.report.quiet);
            let rerun = rerun?.ok_or_else(|| {
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

    /// Finds out whose fault it is, where an expected result has moved.
    pub(super) fn blame(
        &mut self,
        args: &EvalArgs,
        settings: &Settings,
        responses: &Document,
    ) -> anyhow::Result<()> {
        let profile = settings.plan().profile;
        let (recorded, fresh) = (read_reference(&self.recorded)?, read_reference(&self.document)?);
        let responses = read_responses_as(responses, args.read.repeated_ids())?;
        for moved in &mut self.moved {
            let both = (&recorded.questions[moved.question], &fresh.questions[moved.question]);
            moved.blames = blames(both, &responses, &profile);
            let told = moved.blames.iter().map(|(trial, blame)| MovedResult {
                question_id: both.1.id.to_string(),
                trial: *trial,
                how: moved.how.clone(),
                blame: blame.in_words(),
            });
            self.about.moved.extend(told);
        }
        Ok(())
    }

    /// Says which expected results have moved, and whether the agent is right by them.
    pub(super) fn tell_moved(&self, quiet: bool) {
        if self.moved.is_empty() || quiet {
            return;
        }
        output::print_note(&format!(
            "the graph moved: {} of {} expected results are not as recorded, and are taken fresh",
            self.moved.len(),
            self.about.results
        ));
        for moved in &self.about.moved {
            output::print_note(&moved.to_string());
        }
    }
}

/// Returns whose fault each answer to a question is.
fn blames(
    (recorded, fresh): (&Question<'_>, &Question<'_>),
    responses: &Responses<'_>,
    profile: &Profile,
) -> Vec<(Option<u32>, Blame)> {
    let blame = |trajectory| Blame::of(recorded, fresh, trajectory, profile);
    let first = responses.of(fresh);
    let further = responses.further_trials(&fresh.id);
    let further = further.map(|at| (Some(at.get()), blame(responses.of_trial(fresh, at))));
    let trial = first.trial.map(std::num::NonZero::get);
    std::iter::once((trial, blame(first))).chain(further).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart_where_blame_differs() {
        let note = |blames: &[(Option<u32>, Blame)]| {
            Moved { question: 0, step: 0, how: "1 row missing".into(), blames: blames.to_vec() }
                .note()
        };
        assert_eq!(note(&[]), "1 row missing");
        let (graph, time) = (Blame::Graph.in_words(), Blame::Time.in_words());
        let same = [(Some(1), Blame::Graph), (Some(2), Blame::Graph)];
        assert_eq!(note(&same), format!("1 row missing; {graph}"));
        let other = [(Some(1), Blame::Graph), (Some(2), Blame::Time)];
        assert_eq!(note(&other), format!("1 row missing; trial 1: {graph}; trial 2: {time}"));
    }
}
