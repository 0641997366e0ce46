//! A template whose questions are being made.

use std::mem::discriminant;
use std::num::NonZero;
use std::sync::Arc;

use juror_graph::{Answer, Table, Term};

use super::Choice;
use super::candidates::{Candidate, candidates};
use super::doubt::Doubt;
use super::made::{Ids, MadeQuestion, MadeTemplate};
use super::result::{listed, made_step, n_rows};
use super::templates::{Usable, UsableStep};
use crate::asking::Asked;

/// How many candidates are tried for each question that is wanted.
const TRIES: usize = 20;

/// A candidate with its queries.
pub(super) struct Filled<'m> {
    pub(super) candidate: Candidate<'m>,
    pub(super) queries: Vec<String>,
}

/// Returns the answers to the queries of values; fails with what is wrong with the first that is no table.
fn tables(values: &[Arc<Asked>]) -> Result<Vec<&Table>, Doubt> {
    let tables = values.iter().map(|asked| match asked.answer() {
        Some(Answer::Table(table)) => Ok(table),
        Some(Answer::Truth(_)) => {
            let why = "the graph answers with a truth, not a table".to_owned();
            Err(Doubt::Fails { question: None, n: 1, why, hint: None })
        }
        None => {
            let (why, hint) = asked.problem().unwrap_or_default();
            Err(Doubt::Fails { question: None, n: 1, why, hint })
        }
    });
    tables.collect()
}

/// A template whose questions are being made.
pub(super) struct Making<'m> {
    pub(super) usable: &'m Usable,
    /// The candidates that are left, the next one last.
    left: Vec<Candidate<'m>>,
    n_all: usize,
    n_tried: usize,
    limit: usize,
    most_rows: usize,
    pub(super) questions: Vec<(Candidate<'m>, MadeQuestion)>,
    pub(super) doubts: Vec<Doubt>,
    pub(super) is_outside: bool,
}

impl<'m> Making<'m> {
    pub(super) fn begin(
        usable: &'m Usable,
        values: &'m [Arc<Asked>],
        choice: &Choice,
    ) -> Making<'m> {
        let template = &usable.template;
        let mut making = Making {
            usable,
            left: Vec::new(),
            n_all: 0,
            n_tried: 0,
            limit: template.limit.map_or(choice.limit, NonZero::get),
            most_rows: template.most_rows.map_or(choice.most_rows, NonZero::get),
            questions: Vec::new(),
            doubts: Vec::new(),
            is_outside: values.iter().any(|asked| asked.is_outside()),
        };
        let left = tables(values)
            .and_then(|tables| candidates(usable, &tables, choice.seed, &mut making.doubts));
        match left {
            Ok(left) => making.left = left,
            Err(doubt) => {
                // An answer of another form than was asked for is the server's fault.
                let is_answered = values.iter().all(|asked| asked.answer().is_some());
                making.is_outside |= is_answered && doubt.is_failure();
                making.doubts.push(doubt);
            }
        }
        making.n_all = making.left.len();
        making.tell_iris();
        making.left.reverse();
        making
    }

    fn tell_iris(&mut self) {
        let Some(first) = self.left.first() else { return };
        let iris = self.usable.text.names().filter_map(|name| match first.value(name) {
            Some(Term::NamedNode(iri)) => {
                Some(Doubt::IriInText { name: name.to_owned(), iri: iri.as_str().to_owned() })
            }
            _ => None,
        });
        let iris: Vec<Doubt> = iris.collect();
        self.doubts.extend(iris);
    }

    /// Takes as many candidates as are still wanted.
    pub(super) fn next(&mut self) -> Vec<Filled<'m>> {
        let wanted = self.limit - self.questions.len().min(self.limit);
        let most = self.limit.saturating_mul(TRIES) - self.n_tried;
        if wanted > 0 && most == 0 && !self.left.is_empty() {
            let (n_tried, n_all) = (self.n_tried, self.n_all);
            self.doubts.push(Doubt::GivenUp { n_tried, n_all });
            self.left.clear();
        }
        let mut batch = Vec::new();
        while batch.len() < wanted
            && self.n_tried < self.limit.saturating_mul(TRIES)
            && let Some(candidate) = self.left.pop()
        {
            self.n_tried += 1;
            match self.fill(&candidate) {
                Ok(queries) => batch.push(Filled { candidate, queries }),
                Err(why) => self.fails(candidate.text, why, None),
            }
        }
        batch
    }

    fn fill(&self, candidate: &Candidate<'m>) -> Result<Vec<String>, String> {
        let queries = self.usable.steps.iter().flatten().filter_map(|step| step.query.as_ref());
        queries
            .map(|query| query.fill(|name| candidate.value(name)).map_err(|why| why.to_string()))
            .collect()
    }

    /// Keeps a candidate as a question, or says why not.
    pub(super) fn judge(
        &mut self,
        candidate: Candidate<'m>,
        queries: &[String],
        asked: &[Arc<Asked>],
    ) {
        if let Some(failed) = asked.iter().find(|asked| asked.answer().is_none()) {
            self.is_outside |= failed.is_outside();
            let (why, hint) = failed.problem().unwrap_or_default();
            return self.fails(candidate.text, why, hint);
        }
        let answers: Vec<&Answer> = asked.iter().filter_map(|asked| asked.answer()).collect();
        if answers.iter().any(|answer| answer.is_empty()) && !self.usable.template.allow_empty {
            return self.tell(Doubt::Empty { question: candidate.text, n: 1 });
        }
        let most = self.most_rows;
        if answers.iter().any(|answer| n_rows(answer) > most) {
            return self.tell(Doubt::Large { question: candidate.text, n: 1, most });
        }
        let question = self.question(&candidate, queries, &answers);
        self.questions.push((candidate, question));
    }

    fn fails(&mut self, question: String, why: String, hint: Option<String>) {
        self.tell(Doubt::Fails { question: Some(question), n: 1, why, hint });
    }

    /// Tells a doubt, or counts it if there is one of its kind.
    pub(super) fn tell(&mut self, doubt: Doubt) {
        let is_alike = |own: &&mut Doubt| discriminant(&**own) == discriminant(&doubt);
        match self.doubts.iter_mut().find(is_alike).and_then(Doubt::count) {
            Some(n) => *n += 1,
            None => self.doubts.push(doubt),
        }
    }

    fn question(
        &self,
        candidate: &Candidate<'m>,
        queries: &[String],
        answers: &[&Answer],
    ) -> MadeQuestion {
        let last = answers.last().copied();
        let of_answer = |name: &str| candidate.text_of(name).or_else(|| listed(last?, name));
        let mut results = queries.iter().zip(answers);
        let steps = |steps: &Vec<UsableStep>| {
            let mut step = |step: &UsableStep| {
                let result = step.query.as_ref().and_then(|_| results.next());
                made_step(step, candidate, result)
            };
            steps.iter().map(&mut step).collect()
        };
        MadeQuestion {
            id: String::new(),
            question_text: candidate.text.clone(),
            reference_answer: self.usable.answer.as_ref().map(|answer| answer.fill(of_answer)),
            reference_steps: self.usable.steps.iter().map(steps).collect(),
        }
    }

    /// Orders the questions, and gives them their ids.
    pub(super) fn finish(mut self, ids: &mut Ids) -> (MadeTemplate, Vec<Doubt>) {
        let template = &self.usable.template;
        self.questions.sort_by(|a, b| a.1.question_text.cmp(&b.1.question_text));
        let questions = self.questions.into_iter().map(|(candidate, question)| {
            let names = self.usable.text.names().filter_map(|name| candidate.text_of(name));
            let id = ids.id(&template.template_id, &names.collect::<Vec<_>>());
            MadeQuestion { id, ..question }
        });
        let questions: Vec<MadeQuestion> = questions.collect();
        // A template without values is one question by nature, and one that fails has been told of.
        let has_failed = self.doubts.iter().any(Doubt::is_failure);
        let is_meant = questions.len() == 1 && template.values.is_empty();
        if questions.len() < 2 && !has_failed && !is_meant {
            self.doubts.push(Doubt::Few { n: questions.len() });
        }
        (MadeTemplate { template_id: template.template_id.clone(), questions }, self.doubts)
    }
}
