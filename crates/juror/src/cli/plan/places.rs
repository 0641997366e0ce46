//! What a plan is made from: a file of questions, and up to two runs.

use std::path::Path;

use juror_compare::{AtHand, Kind, ScoreSpread, Statistics, headline};
use juror_files::load;
use juror_pages::{FileKind, ScoredRun};
use juror_read::read_reference;
use juror_report::PlanSources;
use juror_run::Plan;
use juror_score::statistics::CONFIDENCE;
use juror_score::{Traits, Unit, metric as metric_info};
use juror_toolbench::read_queries_to_ask;

use super::super::check_json;
use super::super::compare::tell_problems;
use crate::output;

/// What the user named.
pub(super) struct Places {
    runs: Vec<ScoredRun>,
    pub(super) reference: Option<Questions>,
}

/// A file of questions: its name, and what each question has, by group.
pub(super) struct Questions {
    name: String,
    questions: Vec<(String, Traits)>,
    group: &'static str,
}

impl Places {
    /// Reads all of it.
    pub(super) fn open(names: &[String], plan: &Plan) -> anyhow::Result<Places> {
        let mut places = Places { runs: Vec::new(), reference: None };
        for name in names {
            match Questions::read(name)? {
                Some(questions) => {
                    anyhow::ensure!(
                        places.reference.is_none(),
                        "{name}: one reference is enough\n  hint: name one reference and up to two runs"
                    );
                    places.reference = Some(questions);
                }
                None => {
                    let run = ScoredRun::read(name, plan)?;
                    tell_problems(&run);
                    places.runs.push(run);
                }
            }
        }
        places.check()?;
        Ok(places)
    }

    fn check(&self) -> anyhow::Result<()> {
        match &self.runs[..] {
            [] | [_] => Ok(()),
            [a, b] if a.facts.kind == b.facts.kind => Ok(()),
            [a, b] => anyhow::bail!(
                "{} and {} are runs of different kinds\n  hint: name two evaluations, or two benchmarks",
                a.facts.source,
                b.facts.source
            ),
            _ => anyhow::bail!(
                "these are more than two runs\n  hint: name one, or the two to compare"
            ),
        }
    }

    /// The metric to plan for.
    pub(super) fn metric(&self, named: Option<&str>) -> anyhow::Result<String> {
        let Some(run) = self.runs.first() else {
            let metric = named.unwrap_or("score");
            let is_score = metric_info(metric).is_none_or(|info| info.unit == Unit::Fraction);
            anyhow::ensure!(
                is_score,
                "--metric: without a run nothing is known about `{metric}`\n  hint: name a run"
            );
            return Ok(metric.to_owned());
        };
        let has =
            |name: &str| run.scores.column(name).is_some_and(|column| !column.values().is_empty());
        let usual = || headline(&Statistics::of(&run.scores, CONFIDENCE)).map(str::to_owned);
        match named.map(str::to_owned).or_else(usual) {
            Some(metric) if has(&metric) => Ok(metric),
            Some(metric) => {
                let known = run.scores.columns().iter().filter(|own| !own.values().is_empty());
                let known: Vec<&str> = known.map(|column| &*column.name).collect();
                let (source, known) = (&run.facts.source, known.join(", "));
                anyhow::bail!("{source}: no question has `{metric}`\n  hint: it has {known}")
            }
            None => anyhow::bail!(
                "{}: no metric says whether answers are right\n  hint: name one with --metric",
                run.facts.source
            ),
        }
    }

    /// How far scores vary.
    pub(super) fn spread(&self, metric: &str, correlation: f64) -> anyhow::Result<ScoreSpread> {
        Ok(match &self.runs[..] {
            [] => ScoreSpread::assumed(),
            [run] => ScoreSpread::of_run(&run.scores, metric, correlation)?,
            [a, b, ..] => ScoreSpread::of_pair(&a.scores, &b.scores, metric)?,
        })
    }

    /// Where the numbers come from.
    pub(super) fn sources(&self) -> PlanSources {
        let of_runs = self.runs.first().map(|run| match run.facts.kind {
            Kind::Eval => "template",
            Kind::Bench => "set",
        });
        let group = of_runs.or(self.reference.as_ref().map(|own| own.group));
        PlanSources {
            runs: self.runs.iter().map(|run| run.facts.source.clone()).collect(),
            reference: self.reference.as_ref().map(|own| own.name.clone()),
            group: group.unwrap_or("template"),
        }
    }
}

impl Questions {
    /// Reads a file of questions; `None` if it is something else.
    fn read(name: &str) -> anyhow::Result<Option<Questions>> {
        if Path::new(name).is_dir() {
            return Ok(None);
        }
        let document = load(name)?;
        check_json(&document)?;
        let questions = |questions, group| Questions { name: name.to_owned(), questions, group };
        Ok(match FileKind::of(&document) {
            Some(FileKind::Reference) => {
                let dataset = read_reference(&document)?;
                let own = dataset.questions.iter().map(|question| {
                    let answer = question.answer.is_some();
                    let steps = question.groups.is_some();
                    (question.template.to_string(), Traits { answer, steps, ..Traits::NONE })
                });
                Some(questions(own.collect(), "template"))
            }
            Some(FileKind::Queries) => {
                let (queries, problems) = read_queries_to_ask(&document)?;
                output::warn_all(&problems);
                let own = queries.iter().map(|_| (name.to_owned(), Traits::NONE));
                Some(questions(own.collect(), "set"))
            }
            Some(FileKind::Results | FileKind::AgentResults) => None,
            _ => anyhow::bail!(
                "{name}: this is neither a reference nor a run\n  hint: name a reference, the folder of a run, or results"
            ),
        })
    }

    /// The questions that can have a metric.
    pub(super) fn at_hand(&self, metric: &str) -> anyhow::Result<AtHand> {
        let needs = metric_info(metric).map_or(Traits::NONE, |info| info.needs);
        let can_have = |own: &&(String, Traits)| {
            (!needs.answer || own.1.answer) && (!needs.steps || own.1.steps)
        };
        let own: Vec<&(String, Traits)> = self.questions.iter().filter(can_have).collect();
        anyhow::ensure!(!own.is_empty(), "{}: no question can have `{metric}`", self.name);
        let mut groups: Vec<&str> = own.iter().map(|(group, _)| group.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        Ok(AtHand { questions: own.len(), groups: groups.len() })
    }
}
