//! Joins labels to the verdicts that they are about.

use std::collections::{BTreeMap, HashMap};

use juror_compare::{JudgeId, Kind, LabelledAnswer, PersonsLabel};
use juror_document::{Document, LabelProblem, Look, Problems};

use crate::label_line::judge_hash;
use crate::{JudgedAnswer, JudgedRun, ReadLabel, read_labels};

/// What to join.
pub struct Join<'r> {
    /// The run.
    pub run: &'r JudgedRun,
    /// The metric.
    pub metric: &'r str,
    /// Whether labels that were made for another judge count.
    pub takes_other_judges: bool,
}

/// A judge's scores, and the labels of some of them.
pub struct Joined {
    /// The judge; `None` if the run does not say who judged.
    pub judge: Option<JudgeId>,
    /// The answers that people labelled.
    pub labelled: Vec<LabelledAnswer>,
    /// All of the judge's scores.
    pub scores: Vec<f64>,
    /// The cluster of each.
    pub clusters: Vec<u32>,
    /// How many answers have a score of another judge. They are left out.
    pub n_of_other_judges: usize,
    /// Labels that are left out, and why.
    pub problems: Problems,
    /// How many these are.
    pub n_left_out: usize,
}

impl Join<'_> {
    /// Joins the labels of a file.
    pub fn join(&self, document: &Document) -> Joined {
        let judge = self.main_judge();
        let mut joined = self.scores_of(judge);
        let mut look = Look::new(document);
        let labels = read_labels(document, &mut look);
        let answers = AnswerIndex::of(&self.run.answers);
        // Of several labels of a person for an answer the last counts: people change their minds.
        let mut last: HashMap<(usize, &str), (&ReadLabel<'_>, f64)> = HashMap::new();
        for label in &labels {
            match self.find(label, &answers, joined.judge.as_ref()) {
                Err(problem) => label.leave_out(&mut look, problem),
                Ok((at, score)) => {
                    if let Some((earlier, _)) = last.insert((at, &label.by), (label, score)) {
                        let repeated = LabelProblem::Repeated { answer: label.id.clone() };
                        earlier.leave_out(&mut look, repeated);
                    }
                }
            }
        }
        let mut counted: Vec<_> = last.into_iter().collect();
        // In the order of the file, whoever labelled.
        counted.sort_by_key(|(_, (label, _))| label.place());
        let mut labelled: BTreeMap<usize, LabelledAnswer> = BTreeMap::new();
        for ((at, _), (label, score)) in counted {
            let own = labelled.entry(at).or_insert_with(|| self.labelled(at, label));
            own.people.push(PersonsLabel { by: label.by.clone(), score });
        }
        joined.labelled = labelled.into_values().collect();
        joined.problems = look.problems();
        joined.n_left_out = joined.problems.len();
        joined
    }

    /// Returns the judge of most answers.
    fn main_judge(&self) -> Option<JudgeId> {
        let mut counts: BTreeMap<String, (usize, JudgeId)> = BTreeMap::new();
        for answer in self.scored() {
            if let Some(judge) = answer.judge(self.metric) {
                counts.entry(judge_hash(&judge)).or_insert((0, judge)).0 += 1;
            }
        }
        counts.into_values().max_by_key(|(n, _)| *n).map(|(_, judge)| judge)
    }

    fn scored(&self) -> impl Iterator<Item = &JudgedAnswer> {
        self.run.answers.iter().filter(|answer| answer.score(self.metric).is_some())
    }

    /// Collects the scores of one judge.
    fn scores_of(&self, judge: Option<JudgeId>) -> Joined {
        let mut joined = Joined {
            judge,
            labelled: Vec::new(),
            scores: Vec::new(),
            clusters: Vec::new(),
            n_of_other_judges: 0,
            problems: Problems::default(),
            n_left_out: 0,
        };
        for (answer, cluster) in self.run.answers.iter().zip(self.clusters()) {
            let Some(score) = answer.score(self.metric) else { continue };
            if answer.judge(self.metric) == joined.judge {
                joined.scores.push(score);
                joined.clusters.push(cluster);
            } else {
                joined.n_of_other_judges += 1;
            }
        }
        joined
    }

    /// The cluster of each answer: its template, or its query.
    fn clusters(&self) -> Vec<u32> {
        let numbers = match self.run.kind {
            Kind::Eval => self.run.group_numbers(),
            Kind::Bench => self.run.question_numbers(),
        };
        numbers.into_iter().map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect()
    }

    /// Finds the answer that a label is about, and returns what the label says.
    fn find(
        &self,
        label: &ReadLabel<'_>,
        answers: &AnswerIndex,
        judge: Option<&JudgeId>,
    ) -> Result<(usize, f64), LabelProblem> {
        if let Some(metric) = label.metric.as_ref().filter(|metric| *metric != self.metric) {
            return Err(LabelProblem::OtherMetric { metric: metric.clone() });
        }
        let score = label.score.clone()?;
        let name = || label.id.clone();
        let at = answers.find(label, &self.run.answers);
        let at = at.ok_or_else(|| LabelProblem::UnknownAnswer { answer: name() })?;
        let answer = &self.run.answers[at];
        if answer.score(self.metric).is_none() {
            let metric = self.metric.to_owned();
            return Err(LabelProblem::NoVerdict { answer: name(), metric });
        }
        let is_shown = |shown: &String| *shown == answer.answer.clone().unwrap_or_default();
        if !label.answer.as_ref().is_none_or(is_shown) {
            return Err(LabelProblem::OtherAnswer { answer: name() });
        }
        let is_for = |hash: &String| judge.is_some_and(|judge| judge_hash(judge) == *hash);
        let is_of_judge = answer.judge(self.metric).as_ref() == judge;
        let is_meant = self.takes_other_judges || label.judge.as_ref().is_none_or(is_for);
        if is_of_judge && is_meant {
            Ok((at, score))
        } else {
            Err(LabelProblem::OtherJudge { answer: name() })
        }
    }

    fn labelled(&self, at: usize, label: &ReadLabel<'_>) -> LabelledAnswer {
        let answer = &self.run.answers[at];
        LabelledAnswer {
            group: answer.group.clone(),
            id: answer.id.clone(),
            trial: answer.trial,
            sample: label.sample,
            judge: answer.score(self.metric).unwrap_or_default(),
            people: Vec::new(),
        }
    }
}

/// The answers of a run by the id of their question.
struct AnswerIndex(HashMap<String, Vec<usize>>);

impl AnswerIndex {
    fn of(answers: &[JudgedAnswer]) -> AnswerIndex {
        let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, answer) in answers.iter().enumerate() {
            by_id.entry(answer.id.clone()).or_default().push(at);
        }
        AnswerIndex(by_id)
    }

    fn find(&self, label: &ReadLabel<'_>, answers: &[JudgedAnswer]) -> Option<usize> {
        let is_it = |at: &&usize| {
            let answer = &answers[**at];
            let is_group = label.group.as_ref().is_none_or(|group| *group == answer.group);
            is_group && answer.trial == label.trial
        };
        self.0.get(&label.id)?.iter().find(is_it).copied()
    }
}
