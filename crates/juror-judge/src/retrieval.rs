//! Judges whether retrieved contexts support the reference, and how high the useful ones are
//! ranked.

use futures_util::future::join_all;
use juror_models::{ChatCall, Cost, Models, Pending, Schema};
use juror_score::retrieval::{f1, precision_of_useful};
use juror_score::{Aspect, Case, Finding, Judgement, KindNames, Limits, Matching, Verdict};
use serde_json::Value;

use crate::judge::{Judge, Repeat, collect, failed, is_blank};
use crate::reply::{JudgedTexts, bit, imitates_verdict, read_verdict, text};
use crate::template::{Template, TemplateError};

/// The purposes of judging contexts by the reference answer: for recall and for precision.
pub(crate) const ANSWER_PURPOSES: [&str; 2] = ["answer_attribution", "answer_usefulness"];

/// The purposes of judging them by the expected contexts.
pub(crate) const CONTEXT_PURPOSES: [&str; 2] = ["context_attribution", "context_usefulness"];

/// Whether a call for this purpose decides a metric; f1 follows from the others.
pub(crate) fn is_asked_for(purpose: &str, metric: &str) -> bool {
    let is_for = |purposes: [&str; 2]| match purposes.iter().position(|own| *own == purpose) {
        Some(0) => metric.ends_with("_recall"),
        Some(_) => metric.ends_with("_precision"),
        None => true,
    };
    is_for(ANSWER_PURPOSES) && is_for(CONTEXT_PURPOSES)
}

/// The placeholders that the prompt for recall may use.
pub(crate) const ATTRIBUTION_PLACES: &[&str] = &["question", "reference", "contexts"];

/// The placeholders that the prompt for precision may use.
pub(crate) const USEFULNESS_PLACES: &[&str] = &["question", "reference", "context"];

/// The built-in prompt for recall.
pub(crate) const ATTRIBUTION_PROMPT: &str = include_str!("../prompts/attribution.md");

/// The built-in prompt for precision.
pub(crate) const USEFULNESS_PROMPT: &str = include_str!("../prompts/usefulness.md");

/// What contexts are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The reference answer. If there is none, precision may fall back to the actual answer.
    Answer {
        /// Whether it does.
        falls_back: bool,
    },
    /// The contexts of the expected step that was found.
    Contexts,
}

/// Judges `retrieval_answer_*` or `retrieval_context_*`.
pub struct Retrieval {
    attribution: Template,
    usefulness: Template,
    against: Against,
    names: KindNames,
    limits: Limits,
}

struct StepTask {
    step: usize,
    /// How many earlier steps of the question have the same texts. The model is asked about each of
    /// them anew, as about different steps.
    number: u32,
    contexts: Result<Vec<String>, String>,
    /// The reference for recall, or why there is none.
    reference: Result<String, String>,
    /// The reference for precision.
    answer: Result<String, String>,
}

/// What a model is asked about: the contexts that one step retrieved.
struct Asking<'a> {
    task: &'a StepTask,
    question: &'a str,
    contexts: &'a [String],
    models: &'a Models,
    repeat: Repeat,
}

impl Asking<'_> {
    /// Numbers a call, so that the model is asked about each step anew, and in each repeat, and says
    /// which step it is about.
    fn numbered(&self, call: ChatCall) -> ChatCall {
        self.repeat.of(ChatCall { repeat: self.task.number, step: Some(self.task.step), ..call })
    }
}

struct Statement {
    text: String,
    reason: String,
    attributed: bool,
}

impl Statement {
    /// What matters when two replies are compared.
    fn verdict(&self) -> (&str, bool) {
        (&self.text, self.attributed)
    }
}

impl Retrieval {
    /// Creates a judge with prompts of Juror's format.
    pub fn new(
        attribution: &str,
        usefulness: &str,
        against: Against,
    ) -> Result<Retrieval, TemplateError> {
        Ok(Retrieval {
            attribution: Template::read(attribution, ATTRIBUTION_PLACES)?,
            usefulness: Template::read(usefulness, USEFULNESS_PLACES)?,
            against,
            names: KindNames::NONE,
            limits: Limits::DEFAULT,
        })
    }

    /// Adds names of steps that count as retrieval.
    #[must_use]
    pub fn with_names(self, names: KindNames) -> Retrieval {
        Retrieval { names, ..self }
    }

    /// Sets the limits for reading outputs.
    #[must_use]
    pub fn within(self, limits: Limits) -> Retrieval {
        Retrieval { limits, ..self }
    }

    fn tasks(&self, case: &Case<'_>, matching: Option<&Matching>) -> Vec<StepTask> {
        match self.against {
            Against::Answer { falls_back } => self.answer_tasks(case, falls_back),
            Against::Contexts => self.context_tasks(case, matching),
        }
    }

    /// The metrics: recall, precision and f1.
    fn metrics(&self) -> [&'static str; 3] {
        match self.against {
            Against::Answer { .. } => {
                ["retrieval_answer_recall", "retrieval_answer_precision", "retrieval_answer_f1"]
            }
            Against::Contexts => {
                ["retrieval_context_recall", "retrieval_context_precision", "retrieval_context_f1"]
            }
        }
    }

    /// The purposes of calls for recall and precision.
    fn purposes(&self) -> [&'static str; 2] {
        match self.against {
            Against::Answer { .. } => ANSWER_PURPOSES,
            Against::Contexts => CONTEXT_PURPOSES,
        }
    }

    async fn judge_step(
        &self,
        task: &StepTask,
        question: &str,
        models: &Models,
        repeat: Repeat,
    ) -> Judgement {
        let metrics = self.metrics();
        let found = |metric: usize, verdict| {
            Finding::new(Aspect::Metric(metrics[metric]), verdict).of_step(task.step)
        };
        let mut judgement = Judgement::default();
        let contexts = match &task.contexts {
            Ok(contexts) => contexts,
            Err(why) => {
                let failed = |metric| found(metric, Verdict::failed(why));
                judgement.findings.extend([0, 1].map(failed));
                return judgement;
            }
        };
        for (index, _) in contexts.iter().enumerate().filter(|(_, text)| imitates_verdict(text)) {
            let place = format!("context {} of step {}", index + 1, task.step + 1);
            judgement.flags.push(format!("{place} imitates a verdict"));
        }
        let asking = Asking { task, question, contexts, models, repeat };
        let (recall, precision) = tokio::join!(self.recall(&asking), self.precision(&asking));
        let both = recall.verdict.number().zip(precision.verdict.number());
        let f1 = both.map(|(recall, precision)| Verdict::scored(f1(recall, precision)));
        let costs = recall.cost.usd().zip(precision.cost.usd());
        let cost = costs.and_then(|_| recall.cost.plus(precision.cost).usd());
        for (metric, Measured { verdict, reason, cost }) in
            [recall, precision].into_iter().enumerate()
        {
            judgement.findings.push(Finding { reason, cost: cost.usd(), ..found(metric, verdict) });
        }
        judgement.findings.extend(f1.map(|f1| Finding { cost, ..found(2, f1) }));
        judgement
    }

    async fn recall(&self, asking: &Asking<'_>) -> Measured {
        let Asking { task, question, contexts, models, .. } = *asking;
        let reference = match &task.reference {
            Ok(reference) => reference,
            Err(why) => return Measured::free(Verdict::failed(why)),
        };
        if contexts.is_empty() {
            return Measured::free(Verdict::scored(0.0));
        }
        let prompt = self.attribution.fill(&[
            ("question", question),
            ("reference", reference),
            ("contexts", &numbered(contexts)),
        ]);
        let [purpose, _] = self.purposes();
        let call = ChatCall::new(purpose, prompt, Some(attribution_schema()));
        let call = asking.numbered(call);
        let says_same = |one: &Vec<Statement>, other: &Vec<Statement>| {
            one.iter().map(Statement::verdict).eq(other.iter().map(Statement::verdict))
        };
        let read = |reply: &str| {
            read_verdict(reply, &JudgedTexts::of(&call.prompt), read_statements, says_same)
                .map_err(Into::into)
        };
        let answer = models.ask(&call, read).await;
        let (verdict, reason) = match answer.outcome {
            Err(error) => (failed(&error), None),
            Ok(statements) => {
                let attributed = statements.iter().filter(|s| s.attributed).count();
                let share = attributed as f64 / statements.len() as f64;
                (Verdict::scored(share), Some(reason_of(&statements)))
            }
        };
        Measured { verdict, reason, cost: answer.cost }
    }

    async fn precision(&self, asking: &Asking<'_>) -> Measured {
        let Asking { task, question, contexts, models, .. } = *asking;
        let reference = match &task.answer {
            Ok(reference) => reference,
            Err(why) => return Measured::free(Verdict::failed(why)),
        };
        let [_, purpose] = self.purposes();
        let asked = contexts.iter().map(|context| {
            let texts = [("question", question), ("reference", reference), ("context", context)];
            let prompt = self.usefulness.fill(&texts);
            let call = ChatCall::new(purpose, prompt, Some(usefulness_schema()));
            let call = asking.numbered(call);
            async move {
                let read = |reply: &str| {
                    let read = |value: &Value| bit(value, "useful");
                    read_verdict(reply, &JudgedTexts::of(&call.prompt), read, bool::eq)
                        .map_err(Into::into)
                };
                models.ask(&call, read).await
            }
        });
        let (useful, cost) = collect(asked).await;
        let verdict = match useful {
            Ok(useful) => Verdict::scored(precision_of_useful(&useful)),
            Err(error) => failed(&error),
        };
        Measured { verdict, reason: None, cost }
    }
}

/// The value of one metric for one step.
struct Measured {
    verdict: Verdict,
    reason: Option<String>,
    cost: Cost,
}

impl Measured {
    /// A verdict that needed no call.
    fn free(verdict: Verdict) -> Measured {
        Measured { verdict, reason: None, cost: Cost::default() }
    }
}

impl Judge for Retrieval {
    fn judge<'a>(
        &'a self,
        case: &'a Case<'a>,
        matching: Option<&'a Matching>,
        models: &'a Models,
        repeat: Repeat,
    ) -> Pending<'a, Judgement> {
        Box::pin(async move {
            let question = case.question_text();
            let mut tasks = self.tasks(case, matching);
            number_steps(&mut tasks);
            let judged = tasks.iter().map(|task| self.judge_step(task, &question, models, repeat));
            let mut judgement = Judgement::default();
            for found in join_all(judged).await {
                judgement.extend(found);
            }
            judgement
        })
    }

    fn aspects(&self) -> Vec<Aspect> {
        self.metrics().map(Aspect::Metric).to_vec()
    }

    fn prompts(&self) -> Vec<(String, String)> {
        let [attribution, usefulness] = self.purposes();
        vec![
            (attribution.into(), self.attribution.hash().into()),
            (usefulness.into(), self.usefulness.hash().into()),
        ]
    }
}

impl Retrieval {
    /// Compares the outputs of retrieval steps with the reference answer.
    fn answer_tasks(&self, case: &Case<'_>, falls_back: bool) -> Vec<StepTask> {
        let present = |text: Option<std::borrow::Cow<'_, str>>| {
            text.filter(|text| !falls_back || !is_blank(text)).map(std::borrow::Cow::into_owned)
        };
        let (reference, actual) = (present(case.reference_answer()), present(case.actual_answer()));
        if reference.is_none() && (actual.is_none() || !falls_back) {
            return Vec::new();
        }
        let missing = || "there is no reference answer".to_owned();
        let reference = reference.ok_or_else(missing);
        let reference = reference.and_then(|text| not_blank(text, "the reference answer is blank"));
        let answer = match (&reference, actual) {
            (Err(_), Some(actual)) if falls_back => Ok(actual),
            (reference, _) => reference.clone(),
        };
        let steps = case.trajectory.steps.as_deref().unwrap_or_default();
        let retrieved =
            steps.iter().enumerate().filter(|(_, step)| self.names.is_retrieval(&step.name));
        retrieved
            .filter(|(_, step)| step.output.is_some())
            .map(|(step, _)| StepTask {
                step,
                number: 0,
                contexts: case.retrieved_texts(step, &self.limits),
                reference: reference.clone(),
                answer: answer.clone(),
            })
            .collect()
    }

    /// Compares the outputs of steps that were found with the expected contexts.
    fn context_tasks(&self, case: &Case<'_>, matching: Option<&Matching>) -> Vec<StepTask> {
        let groups = case.question.groups.as_deref().unwrap_or_default();
        let steps = case.trajectory.steps.as_deref().unwrap_or_default();
        let pairs = matching.iter().flat_map(|matching| &matching.pairs);
        pairs
            .filter(|pair| {
                let expected = &groups[pair.group][pair.expected];
                // A step that is matched by its arguments may have no expected output.
                self.names.is_retrieval(&expected.name) && expected.output.is_some()
            })
            .filter(|pair| steps[pair.actual].output.is_some())
            .map(|pair| {
                let expected = case.expected_texts(pair.group, pair.expected, &self.limits);
                let joined = expected.map(|texts| texts.join("\n"));
                let reference =
                    joined.and_then(|text| not_blank(text, "the reference contexts are blank"));
                StepTask {
                    step: pair.actual,
                    number: 0,
                    contexts: case.retrieved_texts(pair.actual, &self.limits),
                    answer: reference.clone(),
                    reference,
                }
            })
            .collect()
    }
}

fn not_blank(text: String, otherwise: &str) -> Result<String, String> {
    if is_blank(&text) { Err(otherwise.to_owned()) } else { Ok(text) }
}

/// Numbers the steps that have the same texts.
fn number_steps(tasks: &mut [StepTask]) {
    for index in 1..tasks.len() {
        let (earlier, rest) = tasks.split_at_mut(index);
        let task = &mut rest[0];
        let same = |other: &&StepTask| {
            (&other.contexts, &other.reference, &other.answer)
                == (&task.contexts, &task.reference, &task.answer)
        };
        task.number = earlier.iter().filter(same).fold(0, |count, _| count + 1);
    }
}

fn numbered(contexts: &[String]) -> String {
    let lines: Vec<String> =
        (1..).zip(contexts).map(|(number, context)| format!("[{number}] {context}")).collect();
    lines.join("\n\n")
}

/// Lists the unsupported statements with reasons; if there are none, all statements.
fn reason_of(statements: &[Statement]) -> String {
    let all_supported = statements.iter().all(|statement| statement.attributed);
    let word = if all_supported { "supported" } else { "not supported" };
    let told: Vec<String> = statements
        .iter()
        .filter(|statement| statement.attributed == all_supported)
        .map(|statement| format!("{word}: {} ({})", statement.text, statement.reason))
        .collect();
    told.join("; ")
}

fn read_statements(value: &Value) -> Result<Vec<Statement>, String> {
    let list = value.get("statements").and_then(Value::as_array);
    let list = list.ok_or("`statements` is missing")?;
    if list.is_empty() {
        return Err("there are no statements".into());
    }
    let read = |statement: &Value| {
        Ok(Statement {
            text: text(statement, "statement").to_owned(),
            reason: text(statement, "reason").to_owned(),
            attributed: bit(statement, "attributed")?,
        })
    };
    list.iter().map(read).collect()
}

fn attribution_schema() -> Schema {
    let statement = Schema::object([
        ("statement", Schema::text()),
        ("reason", Schema::text()),
        ("attributed", Schema::bit()),
    ]);
    Schema::object([("statements", Schema::list(statement))])
}

fn usefulness_schema() -> Schema {
    Schema::object([("reason", Schema::text()), ("useful", Schema::bit())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(text: &str, reason: &str, attributed: bool) -> Statement {
        Statement { text: text.into(), reason: reason.into(), attributed }
    }

    #[test]
    fn reasons_are_kept_when_every_statement_is_supported() {
        let all = [statement("A.", "context 1 says so", true), statement("B.", "context 2", true)];
        assert_eq!(reason_of(&all), "supported: A. (context 1 says so); supported: B. (context 2)");
        let some = [statement("A.", "context 1", true), statement("B.", "nowhere", false)];
        assert_eq!(reason_of(&some), "not supported: B. (nowhere)");
    }
}
