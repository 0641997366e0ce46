//! Makes a reference from templates: asks the graph for values, draws some, and asks what is expected.

mod candidates;
mod doubt;
mod made;
mod template;
mod templates;
mod text_pattern;

use std::sync::Arc;

use hashbrown::HashMap;
use juror_graph::{Answer, Graph, Term};
use serde_json::Value;

pub use doubt::Doubt;
pub use made::{Made, MadeQuestion, MadeStep, MadeTemplate};
pub use template::template_schema;
pub use templates::Templates;

use self::candidates::{Candidate, candidates, text_of};
use self::made::Ids;
use self::templates::{Usable, UsableStep};
use self::text_pattern::TextPattern;
use crate::asking::{AskOptions, Asked, Asking, ask_all};
use crate::fresh_text::fresh_text;
use crate::refresh::media_type_of;

/// How questions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The same seed chooses the same questions.
    pub seed: u64,
    /// The most questions of a template that does not say.
    pub limit: usize,
    /// The most rows of a result, where the template does not say.
    pub most_rows: usize,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { seed: 1, limit: 10, most_rows: 100 }
    }
}

/// How many candidates are tried for each question that is wanted.
const TRIES: usize = 20;

impl Templates {
    /// Makes a reference. A query that fails costs its questions, and the others are made.
    pub fn make(
        &self,
        graph: &Graph,
        options: &AskOptions,
        choice: &Choice,
        progress: &mut dyn FnMut(Asking),
    ) -> Made {
        let queries = self.all.iter().flat_map(|usable| &usable.template.values);
        let values = ask_all(graph, queries.map(String::as_str), options, progress);
        let mut rest = &values[..];
        let mut makings: Vec<Making<'_>> = Vec::new();
        for usable in &self.all {
            let (own, others) = rest.split_at(usable.template.values.len());
            rest = others;
            makings.push(Making::begin(usable, own, choice));
        }
        loop {
            let batches: Vec<Vec<Filled<'_>>> = makings.iter_mut().map(Making::next).collect();
            if batches.iter().all(Vec::is_empty) {
                break;
            }
            let queries = batches.iter().flatten().flat_map(|filled| &filled.queries);
            let asked = ask_all(graph, queries.map(String::as_str), options, progress);
            let mut asked = asked.into_iter();
            for (making, batch) in makings.iter_mut().zip(batches) {
                for filled in batch {
                    let own: Vec<Arc<Asked>> = asked.by_ref().take(filled.queries.len()).collect();
                    making.judge(filled.candidate, &filled.queries, &own);
                }
            }
        }
        finish(makings)
    }
}

/// A candidate with its queries.
struct Filled<'m> {
    candidate: Candidate<'m>,
    queries: Vec<String>,
}

/// A template whose questions are being made.
struct Making<'m> {
    usable: &'m Usable,
    /// The candidates that are left, the next one last.
    left: Vec<Candidate<'m>>,
    n_all: usize,
    n_tried: usize,
    limit: usize,
    most_rows: usize,
    questions: Vec<(Candidate<'m>, MadeQuestion)>,
    doubts: Vec<Doubt>,
    is_outside: bool,
}

impl<'m> Making<'m> {
    fn begin(usable: &'m Usable, values: &'m [Arc<Asked>], choice: &Choice) -> Making<'m> {
        let template = &usable.template;
        let mut making = Making {
            usable,
            left: Vec::new(),
            n_all: 0,
            n_tried: 0,
            limit: template.limit.map_or(choice.limit, |own| own.get()),
            most_rows: template.most_rows.map_or(choice.most_rows, |own| own.get()),
            questions: Vec::new(),
            doubts: Vec::new(),
            is_outside: values.iter().any(|asked| asked.is_outside()),
        };
        let tables: Vec<_> = values
            .iter()
            .filter_map(|asked| match asked.answer() {
                Some(Answer::Table(table)) => Some(table),
                _ => None,
            })
            .collect();
        if let Some((why, hint)) = values.iter().find_map(|asked| asked.problem()) {
            making.doubts.push(Doubt::Fails { question: None, n: 1, why, hint });
            return making;
        }
        making.left = candidates(usable, &tables, choice.seed, &mut making.doubts);
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
    fn next(&mut self) -> Vec<Filled<'m>> {
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
                Err(why) => self.fails(&candidate.text, why, None),
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
    fn judge(&mut self, candidate: Candidate<'m>, queries: &[String], asked: &[Arc<Asked>]) {
        if let Some(failed) = asked.iter().find(|asked| asked.answer().is_none()) {
            self.is_outside |= failed.is_outside();
            let (why, hint) = failed.problem().unwrap_or_default();
            return self.fails(&candidate.text, why, hint);
        }
        let answers: Vec<&Answer> = asked.iter().filter_map(|asked| asked.answer()).collect();
        if answers.iter().any(|answer| answer.is_empty()) && !self.usable.template.allow_empty {
            return self.count(
                &candidate.text,
                |doubt| match doubt {
                    Doubt::Empty { n, .. } => Some(n),
                    _ => None,
                },
                |question| Doubt::Empty { question, n: 1 },
            );
        }
        let most = self.most_rows;
        if answers.iter().any(|answer| n_rows(answer) > most) {
            return self.count(
                &candidate.text,
                |doubt| match doubt {
                    Doubt::Large { n, .. } => Some(n),
                    _ => None,
                },
                |question| Doubt::Large { question, n: 1, most },
            );
        }
        let question = self.question(&candidate, queries, &answers);
        self.questions.push((candidate, question));
    }

    fn fails(&mut self, question: &str, why: String, hint: Option<String>) {
        self.count(
            question,
            |doubt| match doubt {
                Doubt::Fails { question: Some(_), n, .. } => Some(n),
                _ => None,
            },
            |question| Doubt::Fails { question: Some(question), n: 1, why, hint },
        );
    }

    /// Counts a question for a doubt of its kind, which is new with the first one.
    fn count(
        &mut self,
        question: &str,
        count_of: impl Fn(&mut Doubt) -> Option<&mut usize>,
        new: impl FnOnce(String) -> Doubt,
    ) {
        match self.doubts.iter_mut().find_map(count_of) {
            Some(n) => *n += 1,
            None => self.doubts.push(new(question.to_owned())),
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
    fn finish(mut self) -> (MadeTemplate, Vec<Doubt>) {
        let template = &self.usable.template;
        self.questions.sort_by(|a, b| a.1.question_text.cmp(&b.1.question_text));
        let mut ids = Ids::new(&template.template_id);
        let questions = self.questions.into_iter().map(|(candidate, question)| {
            let names = self.usable.text.names().filter_map(|name| candidate.text_of(name));
            MadeQuestion { id: ids.id(&names.collect::<Vec<_>>()), ..question }
        });
        let questions: Vec<MadeQuestion> = questions.collect();
        // A template without values is one question by nature, and one that fails has been told of.
        let has_failed = self.doubts.iter().any(|doubt| matches!(doubt, Doubt::Fails { .. }));
        let is_meant = questions.len() == 1 && template.values.is_empty();
        if questions.len() < 2 && !has_failed && !is_meant {
            self.doubts.push(Doubt::Few { n: questions.len() });
        }
        (MadeTemplate { template_id: template.template_id.clone(), questions }, self.doubts)
    }
}

fn n_rows(answer: &Answer) -> usize {
    match answer {
        Answer::Table(table) => table.rows().len(),
        Answer::Truth(_) => 1,
    }
}

/// Lists the values of a column, each once.
fn listed(answer: &Answer, column: &str) -> Option<String> {
    let Answer::Table(table) = answer else { return None };
    let at = table.columns().position(|name| name == column)?;
    let mut values: Vec<&str> = Vec::new();
    for term in table.rows().iter().filter_map(|row| row[at].as_ref()) {
        if !values.contains(&text_of(term)) {
            values.push(text_of(term));
        }
    }
    Some(values.join(", "))
}

fn made_step(
    step: &UsableStep,
    candidate: &Candidate<'_>,
    result: Option<(&String, &&Answer)>,
) -> MadeStep {
    let mut args = Value::Object(step.step.args.clone());
    let mut rest = Value::Object(step.step.rest.clone());
    // Names in the query are terms, and elsewhere texts.
    args.as_object_mut().and_then(|args| result.and_then(|_| args.remove("query")));
    fill_texts(&mut args, candidate);
    fill_texts(&mut rest, candidate);
    let mut fields = vec![("name".to_owned(), Value::from(step.step.name.as_str()))];
    if let (Some((query, _)), Some(args)) = (result, args.as_object_mut()) {
        args.insert("query".into(), Value::from(query.trim_end()));
    }
    fields.push(("args".into(), args));
    if let (Some((_, answer)), Some(rest)) = (result, rest.as_object_mut()) {
        let ordered = rest.get("ordered").and_then(Value::as_bool).unwrap_or_default();
        let text = fresh_text(None, answer, step.format, ordered, true);
        fields.push(("output".into(), Value::from(text)));
        fields.push(("output_media_type".into(), Value::from(media_type_of(step.format))));
        rest.remove("output");
        rest.remove("output_media_type");
    }
    if let Value::Object(rest) = rest {
        fields.extend(rest);
    }
    MadeStep(fields)
}

/// Puts texts in place of names, wherever there are texts.
fn fill_texts(value: &mut Value, candidate: &Candidate<'_>) {
    match value {
        Value::String(text) => {
            *text = TextPattern::parse(text).fill(|name| candidate.text_of(name));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_texts(item, candidate)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| fill_texts(field, candidate));
        }
        _ => {}
    }
}

/// Leaves out questions that another template asks, and puts everything together.
fn finish(makings: Vec<Making<'_>>) -> Made {
    let mut made = Made::default();
    let mut known: HashMap<String, &str> = HashMap::new();
    for mut making in makings {
        let id = making.usable.template.template_id.as_str();
        let path = making.usable.path.clone();
        let mut equal = Vec::new();
        making.questions.retain(|(_, question)| {
            let text = &question.question_text;
            let other = known.get(text).copied();
            equal.extend(other.map(|template| (text.clone(), template.to_owned())));
            other.is_none()
        });
        for (question, template) in equal {
            making.doubts.push(Doubt::EqualElsewhere { question, template });
        }
        known.extend(making.questions.iter().map(|(_, own)| (own.question_text.clone(), id)));
        made.is_outside |= making.is_outside;
        let (template, doubts) = making.finish();
        made.has_failures |= doubts.iter().any(|doubt| matches!(doubt, Doubt::Fails { .. }));
        made.doubts.extend(doubts.into_iter().map(|doubt| (path.key(doubt.key()), doubt)));
        made.templates.push(template);
    }
    made.templates.retain(|template| !template.questions.is_empty());
    made
}
