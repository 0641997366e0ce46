//! Judges how relevant an answer is: a model generates questions from the answer, whose embeddings
//! are compared with that of the actual question.

use juror_models::{CallError, ChatCall, Cost, Models, Pending, Schema};
use juror_score::{Aspect, Case, Finding, Judgement, Matching, Noncommittal, Verdict};
use serde_json::Value;

use crate::judge::{Judge, Repeat, collect, failed, is_blank};
use crate::reply::{JudgedTexts, bit, imitates_verdict, read_verdict, text};
use crate::template::{Template, TemplateError};

pub(crate) const PURPOSE: &str = "generated_question";

/// How many questions are generated.
const N_QUESTIONS: u32 = 3;

/// The placeholders that a prompt may use.
pub(crate) const PLACES: &[&str] = &["actual_answer"];

/// The built-in prompt.
pub(crate) const PROMPT: &str = include_str!("../prompts/generated_question.md");

/// Judges `answer_relevance`.
pub struct Relevance {
    template: Template,
    noncommittal: Noncommittal,
}

#[derive(PartialEq, Eq)]
struct Generated {
    question: String,
    noncommittal: bool,
}

impl Relevance {
    /// Creates a judge with a prompt of Juror's format.
    pub fn new(prompt: &str, noncommittal: Noncommittal) -> Result<Relevance, TemplateError> {
        Ok(Relevance { template: Template::read(prompt, PLACES)?, noncommittal })
    }

    async fn score(
        &self,
        question: &str,
        answer: &str,
        models: &Models,
        repeat: Repeat,
    ) -> (Result<f64, CallError>, Cost) {
        let call = ChatCall::new(
            PURPOSE,
            self.template.fill(&[("actual_answer", answer)]),
            Some(schema()),
        );
        let asked = (0..N_QUESTIONS).map(|number| {
            let call = repeat.of(ChatCall { repeat: number, ..call.clone() });
            async move {
                let read = |reply: &str| {
                    read_verdict(
                        reply,
                        &JudgedTexts::of(&call.prompt),
                        read_generated,
                        Generated::eq,
                    )
                    .map_err(Into::into)
                };
                models.ask(&call, read).await
            }
        });
        let (generated, cost) = collect(asked).await;
        if models.only_counts() && generated.is_err() {
            let texts = vec![repeat.told_apart(question); 1 + N_QUESTIONS as usize];
            let outcome = models.embed(&texts).await.outcome;
            return (outcome.map(|_| 0.0), cost);
        }
        let texts = match generated.and_then(|generated| self.to_compare(question, generated)) {
            Ok(Some(texts)) => texts,
            Ok(None) => return (Ok(0.0), cost),
            Err(error) => return (Err(error), cost),
        };
        let vectors = models.embed(&texts).await;
        let score = vectors.outcome.and_then(|vectors| mean_cosine(&vectors));
        (score, cost.plus(vectors.cost))
    }

    /// Returns the question and the generated ones to compare it with, or `None` if the answer is
    /// noncommittal.
    fn to_compare(
        &self,
        question: &str,
        mut generated: Vec<Generated>,
    ) -> Result<Option<Vec<String>>, CallError> {
        let is_empty = |generated: &Generated| is_blank(&generated.question);
        match self.noncommittal {
            Noncommittal::Any if generated.iter().all(is_empty) => {
                return Err(CallError::Unreadable("no question was generated".into()));
            }
            Noncommittal::Any if generated.iter().any(|g| g.noncommittal) => return Ok(None),
            Noncommittal::Any => {}
            Noncommittal::All => {
                generated.retain(|generated| !is_empty(generated));
                if generated.iter().all(|generated| generated.noncommittal) {
                    return Ok(None);
                }
            }
        }
        let mut texts = vec![question.to_owned()];
        texts.extend(generated.into_iter().map(|generated| generated.question));
        Ok(Some(texts))
    }
}

const ASPECT: Aspect = Aspect::Metric("answer_relevance");

impl Judge for Relevance {
    fn judge<'a>(
        &'a self,
        case: &'a Case<'a>,
        _matching: Option<&'a Matching>,
        models: &'a Models,
        repeat: Repeat,
    ) -> Pending<'a, Judgement> {
        Box::pin(async move {
            let mut judgement = Judgement::default();
            let Some(answer) = case.actual_answer() else { return judgement };
            if is_blank(&answer) {
                let blank = Verdict::failed("the answer is blank");
                judgement.findings.push(Finding::new(ASPECT, blank));
                return judgement;
            }
            if imitates_verdict(&answer) {
                judgement.flags.push("actual_answer imitates a verdict".into());
            }
            let (score, cost) = self.score(&case.question_text(), &answer, models, repeat).await;
            let verdict = score.map_or_else(|error| failed(&error), Verdict::scored);
            judgement.findings.push(Finding { cost: cost.usd(), ..Finding::new(ASPECT, verdict) });
            judgement
        })
    }

    fn aspects(&self) -> Vec<Aspect> {
        vec![ASPECT]
    }

    fn prompts(&self) -> Vec<(String, String)> {
        vec![(PURPOSE.into(), self.template.hash().into())]
    }
}

fn schema() -> Schema {
    Schema::object([("question", Schema::text()), ("noncommittal", Schema::bit())])
}

fn read_generated(value: &Value) -> Result<Generated, String> {
    if value.get("question").and_then(Value::as_str).is_none() {
        return Err("`question` is missing".into());
    }
    Ok(Generated {
        question: text(value, "question").to_owned(),
        noncommittal: bit(value, "noncommittal")?,
    })
}

/// The mean cosine similarity between the first vector and the others.
fn mean_cosine(vectors: &[Vec<f64>]) -> Result<f64, CallError> {
    let (question, generated) = vectors.split_first().unwrap_or((const { &Vec::new() }, &[]));
    let mut sum = 0.0;
    for vector in generated {
        let cosine = cosine(question, vector);
        let zero = || CallError::Unreadable("a vector is zero".into());
        sum += cosine.ok_or_else(zero)?;
    }
    let mean = sum / generated.len() as f64;
    if mean.is_finite() {
        Ok(mean)
    } else {
        Err(CallError::Unreadable(format!("the score is {mean}")))
    }
}

fn cosine(a: &[f64], b: &[f64]) -> Option<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let length = (dot(a, a) * dot(b, b)).sqrt();
    (length > 0.0 && length.is_finite()).then(|| dot(a, b) / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_cosine_is_of_directions() {
        let vectors = [vec![1.0, 0.0], vec![1.0, 0.0], vec![0.6, 0.8], vec![0.0, 1.0]];
        let mean = mean_cosine(&vectors).expect("directions");
        assert!((mean - 0.533_333).abs() < 1e-6);
        let scaled = [vec![10.0, 0.0], vec![0.06, 0.08]];
        assert!((mean_cosine(&scaled).expect("directions") - 0.6).abs() < 1e-12);
    }

    #[test]
    fn a_vector_without_direction_is_an_error() {
        assert!(mean_cosine(&[vec![1.0, 0.0], vec![0.0, 0.0]]).is_err());
        assert!(mean_cosine(&[vec![f64::MAX, f64::MAX], vec![1.0, 1.0]]).is_err());
    }
}
