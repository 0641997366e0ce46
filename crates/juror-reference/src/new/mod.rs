//! Makes a reference from templates: asks the graph for values, draws some, and asks what is expected.

mod candidates;
mod doubt;
mod made;
mod making;
mod result;
mod step_check;
mod template;
mod templates;
mod text_pattern;

use std::sync::Arc;

use hashbrown::HashMap;
use juror_graph::LoadError;

pub use doubt::Doubt;
pub use made::{Made, MadeQuestion, MadeStep, MadeTemplate};
pub use template::template_schema;
pub use templates::Templates;

use self::made::Ids;
use self::making::{Filled, Making};
use crate::asked_graph::AskedGraph;
use crate::asking::{AskOptions, Asked, Asking, ask_all};

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

impl Templates {
    /// Makes a reference. A query that fails costs its questions, and the others are made.
    pub fn make(
        &self,
        graph: &mut AskedGraph,
        options: &AskOptions,
        choice: &Choice,
        progress: &mut dyn FnMut(Asking),
    ) -> Result<Made, LoadError> {
        let queries = self.all.iter().flat_map(|usable| &usable.template.values);
        let values = ask_all(graph, queries.map(String::as_str), options, progress)?;
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
            let asked = ask_all(graph, queries.map(String::as_str), options, progress)?;
            let mut asked = asked.into_iter();
            for (making, batch) in makings.iter_mut().zip(batches) {
                for filled in batch {
                    let own: Vec<Arc<Asked>> = asked.by_ref().take(filled.queries.len()).collect();
                    making.judge(filled.candidate, &filled.queries, &own);
                }
            }
        }
        Ok(finish(makings))
    }
}

/// Leaves out questions that another template asks, and puts everything together.
fn finish(makings: Vec<Making<'_>>) -> Made {
    let mut made = Made::default();
    let mut ids = Ids::default();
    let mut known: HashMap<String, &str> = HashMap::new();
    for mut making in makings {
        let id = making.usable.template.template_id.as_str();
        let path = making.usable.path.clone();
        let has_values = !making.usable.template.values.is_empty();
        let mut equal = Vec::new();
        making.questions.retain(|(_, question)| {
            let text = &question.question_text;
            let other = known.get(text).copied();
            equal.extend(other.map(|template| (text.clone(), template.to_owned())));
            other.is_none()
        });
        for (question, template) in equal {
            making.tell(Doubt::EqualElsewhere { question, n: 1, template });
        }
        known.extend(making.questions.iter().map(|(_, own)| (own.question_text.clone(), id)));
        made.is_outside |= making.is_outside;
        let (template, doubts) = making.finish(&mut ids);
        made.has_failures |= doubts.iter().any(Doubt::is_failure);
        let place = |doubt: &Doubt| match doubt.key() {
            "values" if !has_values => path.clone(),
            key => path.key(key),
        };
        made.doubts.extend(doubts.into_iter().map(|doubt| (place(&doubt), doubt)));
        made.templates.push(template);
    }
    made.templates.retain(|template| !template.questions.is_empty());
    made
}
