//! The metrics, one row each: name, meaning and where it stands in results and aggregates.

use crate::coverage::Traits;

/// What a metric's value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// From 0 to 1.
    Fraction,
    /// From -1 to 1.
    Cosine,
    /// Tokens of a language model.
    Tokens,
    /// Seconds.
    Seconds,
    /// US dollars.
    Dollars,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A higher value.
    Higher,
    /// A lower value.
    Lower,
}

/// What a metric is a property of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A question: its key stands in the question's result.
    Question,
    /// A retrieval step: its key stands in the step.
    Step,
}

/// A row of the metric table.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// The key in results, the column in tables.
    pub name: &'static str,
    /// Of a question or of a step.
    pub level: Level,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Statistics of it are always written, as zeros when nothing has it.
    pub always: bool,
    /// What a question must have for the metric to apply to it.
    pub needs: Traits,
    /// What it means, in a sentence.
    pub means: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// A worked example.
    pub example: &'static str,
}

const fn row(
    name: &'static str,
    (level, unit, better): (Level, Unit, Better),
    means: &'static str,
    formula: &'static str,
    example: &'static str,
) -> MetricInfo {
    let always = matches!(unit, Unit::Tokens | Unit::Seconds);
    let needs = Traits::NONE;
    MetricInfo { name, level, unit, better, always, needs, means, formula, example }
}

impl MetricInfo {
    /// The same metric, for questions that have these.
    const fn needing(self, needs: Traits) -> MetricInfo {
        MetricInfo { needs, ..self }
    }
}

const REFERENCE_ANSWER: Traits = Traits { answer: true, ..Traits::NONE };
const REFERENCE_STEPS: Traits = Traits { steps: true, ..Traits::NONE };
const ANSWERED_RETRIEVAL: Traits = Traits { answer: true, retrieval: true, ..Traits::NONE };
const EXPECTED_RETRIEVAL: Traits = Traits { expected_retrieval: true, ..Traits::NONE };

const ANSWER: (Level, Unit, Better) = (Level::Question, Unit::Fraction, Better::Higher);
const RETRIEVED: (Level, Unit, Better) = (Level::Step, Unit::Fraction, Better::Higher);
const RETRIEVED_COST: (Level, Unit, Better) = (Level::Step, Unit::Dollars, Better::Lower);
const TOKENS: (Level, Unit, Better) = (Level::Question, Unit::Tokens, Better::Lower);
const TIME: (Level, Unit, Better) = (Level::Question, Unit::Seconds, Better::Lower);
const COST: (Level, Unit, Better) = (Level::Question, Unit::Dollars, Better::Lower);

const CALLS_COST: &str = "the prices of all model calls the metric made, added up";

/// All metrics, in the order they are written.
pub const METRICS: &[MetricInfo] = &[
    row(
        "answer_recall",
        ANSWER,
        "share of the reference answer's claims that the actual answer makes",
        "matching claims / reference claims",
        "2 of 4 reference claims matched: 0.5",
    )
    .needing(REFERENCE_ANSWER),
    row(
        "answer_precision",
        ANSWER,
        "share of the actual answer's claims that the reference answer makes",
        "matching claims / actual claims",
        "2 of 2 actual claims matched: 1.0",
    )
    .needing(REFERENCE_ANSWER),
    row(
        "answer_f1",
        ANSWER,
        "harmonic mean of answer_recall and answer_precision",
        "2 · recall · precision / (recall + precision); 0 if both are 0",
        "recall 0.5, precision 1.0: 0.6667",
    )
    .needing(REFERENCE_ANSWER),
    row(
        "answer_correctness_cost",
        COST,
        "what judging answer_recall, answer_precision and answer_f1 cost",
        CALLS_COST,
        "one call of 0.0002 USD: 0.0002",
    )
    .needing(REFERENCE_ANSWER),
    row(
        "answer_relevance",
        (Level::Question, Unit::Cosine, Better::Higher),
        "how near the answer is to the question it was given to",
        "mean cosine of the question and the questions generated from the answer; 0 if the answer evades",
        "embeddings [1,0] against [1,0], [.6,.8], [0,1]: 0.5333",
    ),
    row(
        "answer_relevance_cost",
        COST,
        "what judging answer_relevance cost",
        CALLS_COST,
        "three calls of 0.0002 USD and an embedding of 0.00001 USD: 0.00061",
    ),
    row(
        "steps_score",
        ANSWER,
        "share of the expected steps that were found, each weighed by how alike it is",
        "mean over the scored groups of (sum of the pairs' similarities / expected steps); profile 5 scores the last group, profile 6 all groups",
        "a group of 2 with one match of similarity 1: 0.5",
    )
    .needing(REFERENCE_STEPS),
    row(
        "retrieval_answer_recall",
        RETRIEVED,
        "share of the reference answer's statements that the retrieved contexts support",
        "attributed statements / statements",
        "attributed 1, 1, 0: 0.6667",
    )
    .needing(ANSWERED_RETRIEVAL),
    row(
        "retrieval_answer_recall_cost",
        RETRIEVED_COST,
        "what judging retrieval_answer_recall cost",
        CALLS_COST,
        "one call of 0.0007 USD: 0.0007",
    )
    .needing(ANSWERED_RETRIEVAL),
    row(
        "retrieval_answer_precision",
        RETRIEVED,
        "how high the contexts that are useful for the reference answer are ranked",
        "Σ precision@i · useful_i / Σ useful_i; 0 if none is useful",
        "useful 1, 0, 1: 0.8333",
    )
    .needing(ANSWERED_RETRIEVAL),
    row(
        "retrieval_answer_precision_cost",
        RETRIEVED_COST,
        "what judging retrieval_answer_precision cost",
        CALLS_COST,
        "three calls of 0.0001 USD: 0.0003",
    )
    .needing(ANSWERED_RETRIEVAL),
    row(
        "retrieval_answer_f1",
        RETRIEVED,
        "harmonic mean of retrieval_answer_recall and retrieval_answer_precision",
        "2 · recall · precision / (recall + precision); 0 if both are 0",
        "recall 0.6667, precision 0.8333: 0.7407",
    )
    .needing(ANSWERED_RETRIEVAL),
    row(
        "retrieval_answer_f1_cost",
        RETRIEVED_COST,
        "what judging both cost",
        "retrieval_answer_recall_cost + retrieval_answer_precision_cost",
        "0.0007 + 0.0003: 0.001",
    )
    .needing(ANSWERED_RETRIEVAL),
    row(
        "retrieval_context_recall",
        RETRIEVED,
        "share of the reference contexts that were retrieved",
        "reference contexts with some retrieved context of similarity > 0.5 / reference contexts, where similarity = 1 − edit distance / longer length (profile 5); by a model (profile 6)",
        "1 of 2 reference contexts resembled: 0.5",
    )
    .needing(EXPECTED_RETRIEVAL),
    row(
        "retrieval_context_recall_cost",
        RETRIEVED_COST,
        "what judging retrieval_context_recall cost",
        CALLS_COST,
        "text distance asks no model: no cost",
    )
    .needing(EXPECTED_RETRIEVAL),
    row(
        "retrieval_context_precision",
        RETRIEVED,
        "how high the contexts that resemble a reference context are ranked",
        "Σ precision@i · useful_i / Σ useful_i, useful when the best similarity ≥ 0.5 (profile 5); by a model (profile 6)",
        "useful 1, 0, 1: 0.8333",
    )
    .needing(EXPECTED_RETRIEVAL),
    row(
        "retrieval_context_precision_cost",
        RETRIEVED_COST,
        "what judging retrieval_context_precision cost",
        CALLS_COST,
        "text distance asks no model: no cost",
    )
    .needing(EXPECTED_RETRIEVAL),
    row(
        "retrieval_context_f1",
        RETRIEVED,
        "harmonic mean of retrieval_context_recall and retrieval_context_precision",
        "2 · recall · precision / (recall + precision); 0 if both are 0",
        "recall 0.5, precision 0.8333: 0.625",
    )
    .needing(EXPECTED_RETRIEVAL),
    row(
        "retrieval_context_f1_cost",
        RETRIEVED_COST,
        "what judging both cost",
        "retrieval_context_recall_cost + retrieval_context_precision_cost",
        "text distance asks no model: no cost",
    )
    .needing(EXPECTED_RETRIEVAL),
    row(
        "input_tokens",
        TOKENS,
        "tokens sent to the subject's model",
        "as the response gives it",
        "221339",
    ),
    row(
        "output_tokens",
        TOKENS,
        "tokens the subject's model wrote",
        "as the response gives it",
        "212",
    ),
    row("total_tokens", TOKENS, "both together", "as the response gives it", "221551"),
    row("elapsed_sec", TIME, "seconds from question to answer", "as the response gives it", "6.6"),
];

impl MetricInfo {
    /// One number of a question for those of its steps: their mean, of costs their sum. Nothing where
    /// there are none.
    ///
    /// ```
    /// let of_steps = |name, values: [f64; 2]| juror_score::metric(name)?.of_steps(values);
    /// assert_eq!(of_steps("retrieval_context_recall", [1.0, 0.5]), Some(0.75));
    /// assert_eq!(of_steps("retrieval_context_recall_cost", [1.0, 0.5]), Some(1.5));
    /// ```
    pub fn of_steps(&self, values: impl IntoIterator<Item = f64>) -> Option<f64> {
        let add = |(sum, n), value| (sum + value, n + 1.0);
        let (sum, n) = values.into_iter().fold((0.0, 0.0), add);
        let one = if self.unit == Unit::Dollars { sum } else { sum / n };
        (n > 0.0).then_some(one)
    }
}

/// The metric of retrieval steps of a name.
pub fn step_metric(name: &str) -> Option<&'static MetricInfo> {
    metric(name).filter(|info| info.level == Level::Step)
}

/// The metric of a name.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|info| info.name == name)
}
