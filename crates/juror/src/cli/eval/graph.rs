//! `juror eval --graph`: expected results are taken fresh from a graph.

use juror_document::{Document, Format};
use juror_read::{Dataset, Responses, read_reference, read_responses_as};
use juror_reference::{
    AskOptions, AskedGraph, Blame, Refreshed, Reviewed, answers_in_doubt, left_in_words,
    mark_moved, no_queries, rerun,
};
use juror_run::Settings;
use juror_score::{KindNames, Profile, Question};

use super::super::graph_args::unwritable;
use super::super::{count, quoted};
use super::EvalArgs;
use super::moved::{FreshGraph, MovedResult};
use crate::output;

/// A reference with the results that the graph gives now, and what differs from those recorded.
pub(super) struct FreshReference<'r> {
    document: Document,
    recorded: &'r Document,
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
    /// Whether the question has an answer, which was written for the result of before.
    has_answer: bool,
}

/// What the results say where there is an answer.
const ANSWER_IN_DOUBT: &str = "; the reference answer may be out of date";

impl Moved {
    /// What the results say of it, and of whose fault it is that answers are wrong, as far as that is
    /// known.
    fn note(&self, answers: &[MovedResult]) -> String {
        let own = answers.iter().filter(|own| own.step == self.step);
        let mut words: Vec<(Option<u32>, &str)> = own.map(|own| (own.trial, own.blame)).collect();
        if words.iter().all(|own| own.1 == words[0].1) {
            words = words.first().map(|own| (None, own.1)).into_iter().collect();
        }
        let words = words.into_iter().map(|(trial, words)| match trial {
            Some(trial) => format!("; trial {trial}: {words}"),
            None => format!("; {words}"),
        });
        let in_doubt = if self.has_answer { ANSWER_IN_DOUBT } else { "" };
        let words = std::iter::once(self.how.clone()).chain(words);
        words.chain([in_doubt.to_owned()]).collect()
    }
}

impl<'r> FreshReference<'r> {
    /// Asks the graph all queries of a reference.
    pub(super) fn ask(
        args: &EvalArgs,
        settings: &Settings,
        recorded: &'r Document,
    ) -> anyhow::Result<FreshReference<'r>> {
        let quiet = args.report.quiet;
        let mut graph = args.graph.open(quiet)?;
        let names = settings.plan().profile.kind_names;
        let options = args.graph.options(args.report.jobs, &names)?;
        let dataset = read_reference(recorded)?;
        let (both, asked) = ((recorded, &dataset), (&mut graph, &options));
        let reviewed = args.graph.review(both, asked, None, quiet)?;
        if reviewed.is_empty() && !quiet {
            output::warn(&no_queries(recorded.name()));
        }
        let (refreshed, format) = refreshed(&reviewed, both, &names)?;
        if !quiet {
            let words = [
                "the recorded result counts, since the graph gives none",
                "recorded results count, since the graph gives none",
            ];
            let left = left_in_words(both, &reviewed, &refreshed, words);
            for told in &left {
                output::warn(told);
            }
        }
        let is_incomplete = reviewed.has_outside_failure();
        let moved = reviewed.steps().enumerate().filter_map(|(at, step)| {
            let how = step.checked.moved_in_words()?;
            let question = step.step.question;
            let has_answer = dataset.questions[question].answer.is_some();
            Some(Moved { question, step: at, how, has_answer })
        });
        let moved: Vec<Moved> = moved.collect();
        let n_results = reviewed.steps().count();
        let in_doubt = reviewed.answers_in_doubt(&dataset).into_iter().map(str::to_owned).collect();
        drop(reviewed);
        drop(dataset);
        let document = Document::new(recorded.name(), refreshed.text.into_bytes(), format)?;
        let about = format!("{}; {} moved", graph.describe(), count(moved.len(), "result"));
        let about =
            FreshGraph { about, results: n_results, moved: Vec::new(), answers_in_doubt: in_doubt };
        Ok(FreshReference { document, recorded, about, graph, options, moved, is_incomplete })
    }

    /// The reference with fresh results.
    pub(super) fn document(&self) -> &Document {
        &self.document
    }

    /// What is told of the graph before there are answers.
    pub(super) fn about(&self) -> &FreshGraph {
        &self.about
    }

    /// Whether something outside failed, so that some results are as recorded.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Lets steps say how their results have moved, and whose fault wrong answers are, if that is known.
    /// Results repeat it.
    pub(super) fn mark(&mut self, blamed: Option<&FreshGraph>) -> anyhow::Result<()> {
        if self.moved.is_empty() {
            return Ok(());
        }
        let answers = blamed.map_or(&[][..], |graph| &graph.moved);
        let notes: Vec<_> = self.moved.iter().map(|own| (own.step, own.note(answers))).collect();
        let marked = {
            let dataset = read_reference(&self.document)?;
            mark_moved(&self.document, &dataset, &self.options.names, &notes)
        };
        match marked {
            Some(marked) => self.document = marked,
            None => output::warn(&format!(
                "{}: results do not say which expected results moved, since the reference cannot be annotated",
                self.document.name()
            )),
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

    /// Finds out whose fault wrong answers are, where an expected result has moved.
    pub(super) fn blame(
        &self,
        args: &EvalArgs,
        settings: &Settings,
        responses: &Document,
    ) -> anyhow::Result<FreshGraph> {
        let mut graph = self.about.clone();
        let profile = settings.plan().profile;
        let (recorded, fresh) = (read_reference(self.recorded)?, read_reference(&self.document)?);
        let responses = read_responses_as(responses, args.read.repeated_ids())?;
        for Moved { question, step, how, .. } in &self.moved {
            let both = (&recorded.questions[*question], &fresh.questions[*question]);
            let blames = blames(both, &responses, &profile);
            graph.moved.extend(blames.into_iter().map(|(trial, blame)| MovedResult {
                step: *step,
                question_id: both.1.id.to_string(),
                trial,
                how: how.clone(),
                blame: blame.in_words(),
            }));
        }
        Ok(graph)
    }

    /// Says which expected results have moved, and whether the agent is right by them.
    pub(super) fn tell_moved(&self, graph: &FreshGraph, quiet: bool) {
        if self.moved.is_empty() || quiet {
            return;
        }
        output::print_note(&format!(
            "the graph moved: {} of {} expected results are not as recorded, and are taken fresh",
            self.moved.len(),
            graph.results
        ));
        for moved in &graph.moved {
            output::print_note(&moved.to_string());
        }
        let ids: Vec<&str> = graph.answers_in_doubt.iter().map(String::as_str).collect();
        if let Some(told) = answers_in_doubt(&ids) {
            output::warn(&told);
        }
    }
}

/// Writes fresh results into a reference. Where aliases are in the way, all values are written out first, as
/// JSON.
fn refreshed(
    reviewed: &Reviewed<'_>,
    (recorded, dataset): (&Document, &Dataset<'_>),
    names: &KindNames,
) -> anyhow::Result<(Refreshed, Format)> {
    let refreshed = reviewed.refresh(recorded, dataset);
    let is_all = |own: &Refreshed| !reviewed.has_unwritten(own);
    if recorded.format() != Format::Yaml || refreshed.as_ref().is_ok_and(is_all) {
        let refreshed = refreshed.map_err(|error| unwritable(&error))?;
        return Ok((refreshed, recorded.format()));
    }
    let json = recorded.json().as_bytes().to_vec();
    let expanded = Document::new(recorded.name(), json, Format::Json)?;
    let dataset = read_reference(&expanded)?;
    let refreshed = reviewed.refresh_other(&expanded, &dataset, names);
    Ok((refreshed.map_err(|error| unwritable(&error))?, Format::Json))
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
        let how = || "1 row missing".to_owned();
        let answer = |step, (trial, blame): (Option<u32>, Blame)| {
            let (question_id, blame) = ("q".into(), blame.in_words());
            MovedResult { step, question_id, trial, how: how(), blame }
        };
        let note = |blames: &[(Option<u32>, Blame)]| {
            let own = blames.iter().map(|own| answer(0, *own));
            let of_another_step = answer(1, (None, Blame::Agent));
            let answers: Vec<MovedResult> = own.chain([of_another_step]).collect();
            Moved { question: 0, step: 0, how: how(), has_answer: false }.note(&answers)
        };
        assert_eq!(note(&[]), "1 row missing");
        let (graph, time) = (Blame::Graph.in_words(), Blame::Time.in_words());
        let same = [(Some(1), Blame::Graph), (Some(2), Blame::Graph)];
        assert_eq!(note(&same), format!("1 row missing; {graph}"));
        let other = [(Some(1), Blame::Graph), (Some(2), Blame::Time)];
        assert_eq!(note(&other), format!("1 row missing; trial 1: {graph}; trial 2: {time}"));
    }
}
