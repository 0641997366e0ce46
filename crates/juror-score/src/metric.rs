//! The metric table, one row per metric: its name, meaning, and place in results and aggregates.
//!
//! Answers to questions and attempts of agents are measured by different rows of the same table, so
//! that whatever reads a row (statistics, gates, documents) works for both.

use serde::Serialize;

use crate::coverage::Traits;

/// The unit of a metric's value.
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
    /// A number of things.
    Count,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// A higher value.
    Higher,
    /// A lower value.
    Lower,
}

/// What a metric is a property of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A question: its key is in the question's result.
    Question,
    /// A retrieval step: its key is in the step.
    Step,
    /// An agent's attempt at a query: its key is in the result of the attempt.
    Attempt,
}

/// A row of the metric table.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// The key in results and the column in tables.
    pub name: &'static str,
    /// What it is a property of.
    pub level: Level,
    /// The unit of its value.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// Whether to write its statistics always, as zeros if nothing has it.
    pub always: bool,
    /// Whether a model may decide it.
    pub is_judged: bool,
    /// Whether it is computed only if settings ask for it, so that tables have no column for it
    /// otherwise.
    pub is_optional: bool,
    /// What a question must have for the metric to apply.
    pub needs: Traits,
    /// Its meaning, in a sentence.
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
    let is_usage = matches!(unit, Unit::Tokens | Unit::Seconds);
    let always = is_usage && matches!(level, Level::Question);
    let needs = Traits::NONE;
    let (is_judged, is_optional) = (false, false);
    MetricInfo {
        name,
        level,
        unit,
        better,
        always,
        is_judged,
        is_optional,
        needs,
        means,
        formula,
        example,
    }
}

impl MetricInfo {
    /// Limits the metric to questions that have these traits.
    const fn needing(self, needs: Traits) -> MetricInfo {
        MetricInfo { needs, ..self }
    }

    /// Says that the metric is computed only if settings ask for it.
    const fn optional(self) -> MetricInfo {
        MetricInfo { is_optional: true, ..self }
    }

    /// Says that a model may decide the metric.
    const fn judged(self) -> MetricInfo {
        MetricInfo { is_judged: true, ..self }
    }
}

const REFERENCE_ANSWER: Traits = Traits { answer: true, ..Traits::NONE };
const ANSWER_IN_ASCII: Traits = Traits { ascii_words: true, ..REFERENCE_ANSWER };
const ANSWER_WITH_MENTIONS: Traits = Traits { mentions: true, ..REFERENCE_ANSWER };
const REFERENCE_STEPS: Traits = Traits { steps: true, ..Traits::NONE };
const ANSWERED_RETRIEVAL: Traits = Traits { answer: true, retrieval: true, ..Traits::NONE };
const EXPECTED_RETRIEVAL: Traits = Traits { expected_retrieval: true, ..Traits::NONE };

const ANSWER: (Level, Unit, Better) = (Level::Question, Unit::Fraction, Better::Higher);
const RETRIEVED: (Level, Unit, Better) = (Level::Step, Unit::Fraction, Better::Higher);
const RETRIEVED_COST: (Level, Unit, Better) = (Level::Step, Unit::Dollars, Better::Lower);
const TOKENS: (Level, Unit, Better) = (Level::Question, Unit::Tokens, Better::Lower);
const TIME: (Level, Unit, Better) = (Level::Question, Unit::Seconds, Better::Lower);
const COST: (Level, Unit, Better) = (Level::Question, Unit::Dollars, Better::Lower);

const ATTEMPT: (Level, Unit, Better) = (Level::Attempt, Unit::Fraction, Better::Higher);
const ATTEMPT_CALLS: (Level, Unit, Better) = (Level::Attempt, Unit::Count, Better::Lower);
const ATTEMPT_TOKENS: (Level, Unit, Better) = (Level::Attempt, Unit::Tokens, Better::Lower);
const ATTEMPT_TIME: (Level, Unit, Better) = (Level::Attempt, Unit::Seconds, Better::Lower);
const ATTEMPT_COST: (Level, Unit, Better) = (Level::Attempt, Unit::Dollars, Better::Lower);

const CALLS_COST: &str = "the prices of all model calls the metric made, added up";

/// All metrics: those of questions and their steps in output order, then those of agents' attempts.
pub const METRICS: &[MetricInfo] = &[
    row(
        "answer_recall",
        ANSWER,
        "share of the reference answer's claims that the actual answer makes",
        "matching claims / reference claims",
        "2 of 4 reference claims matched: 0.5",
    )
    .needing(REFERENCE_ANSWER)
    .judged(),
    row(
        "answer_precision",
        ANSWER,
        "share of the actual answer's claims that the reference answer makes",
        "matching claims / actual claims",
        "2 of 2 actual claims matched: 1.0",
    )
    .needing(REFERENCE_ANSWER)
    .judged(),
    row(
        "answer_f1",
        ANSWER,
        "harmonic mean of answer_recall and answer_precision",
        "2 · recall · precision / (recall + precision); 0 if both are 0",
        "recall 0.5, precision 1.0: 0.6667",
    )
    .needing(REFERENCE_ANSWER)
    .judged(),
    row(
        "answer_correctness_cost",
        COST,
        "what judging answer_recall, answer_precision and answer_f1 cost",
        CALLS_COST,
        "one call of 0.0002 USD: 0.0002",
    )
    .needing(REFERENCE_ANSWER)
    .judged(),
    row(
        "answer_relevance",
        (Level::Question, Unit::Cosine, Better::Higher),
        "how near the answer is to the question it was given to",
        "mean cosine of the question and the questions generated from the answer; 0 if the answer evades",
        "embeddings [1,0] against [1,0], [.6,.8], [0,1]: 0.5333",
    )
    .judged(),
    row(
        "answer_relevance_cost",
        COST,
        "what judging answer_relevance cost",
        CALLS_COST,
        "three calls of 0.0002 USD and an embedding of 0.00001 USD: 0.00061",
    )
    .judged(),
    row(
        "answer_exact_match",
        ANSWER,
        "whether the answer has the same words as the reference answer, in the same order: overlap, not correctness",
        "1 if both are the same after SQuAD's normalisation (lower case; without ASCII punctuation and the words a, an, the; single spaces), else 0",
        "`The Eiffel Tower` and `eiffel tower!`: 1.0",
    )
    .needing(REFERENCE_ANSWER)
    .optional(),
    row(
        "answer_token_f1",
        ANSWER,
        "how many words the answer shares with the reference answer, in any order: overlap, not correctness",
        "2 · recall · precision / (recall + precision) of the words after SQuAD's normalisation, each counted as often as both have it; if one has no words left, 1 if neither has any, else 0",
        "`Eiffel Tower in Paris` and `tower of Paris`: recall 2/4, precision 2/3: 0.5714",
    )
    .needing(REFERENCE_ANSWER)
    .optional(),
    row(
        "answer_rouge_l",
        ANSWER,
        "how long a sequence of words the answer shares with the reference answer, gaps allowed (ROUGE-L): overlap, not correctness",
        "2 · recall · precision / (recall + precision), where recall and precision are the longest common subsequence / the words of the reference answer and of the answer; words are runs of a–z and 0–9 in lower case, without stemming; applies if at least half of the reference answer's letters and digits are such",
        "`police killed the gunman` and `the gunman kill police`: 2 of 4 words: 0.5",
    )
    .needing(ANSWER_IN_ASCII)
    .optional(),
    row(
        "answer_mention_recall",
        ANSWER,
        "share of the reference answer's numbers and names that the answer mentions: overlap, not correctness",
        "mentions in the answer / distinct mentions; a mention is a number, by value, a word with digits in it, or a word with a capital that does more than begin a sentence; applies if the reference answer has any",
        "`In 2020, Oslo had 693,494 inhabitants.` and `Oslo: 693494`: 0.6667",
    )
    .needing(ANSWER_WITH_MENTIONS)
    .optional(),
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
    .needing(ANSWERED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_answer_recall_cost",
        RETRIEVED_COST,
        "what judging retrieval_answer_recall cost",
        CALLS_COST,
        "one call of 0.0007 USD: 0.0007",
    )
    .needing(ANSWERED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_answer_precision",
        RETRIEVED,
        "how high the contexts that are useful for the reference answer are ranked",
        "Σ precision@i · useful_i / Σ useful_i; 0 if none is useful",
        "useful 1, 0, 1: 0.8333",
    )
    .needing(ANSWERED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_answer_precision_cost",
        RETRIEVED_COST,
        "what judging retrieval_answer_precision cost",
        CALLS_COST,
        "three calls of 0.0001 USD: 0.0003",
    )
    .needing(ANSWERED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_answer_f1",
        RETRIEVED,
        "harmonic mean of retrieval_answer_recall and retrieval_answer_precision",
        "2 · recall · precision / (recall + precision); 0 if both are 0",
        "recall 0.6667, precision 0.8333: 0.7407",
    )
    .needing(ANSWERED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_answer_f1_cost",
        RETRIEVED_COST,
        "what judging both cost",
        "retrieval_answer_recall_cost + retrieval_answer_precision_cost",
        "0.0007 + 0.0003: 0.001",
    )
    .needing(ANSWERED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_context_recall",
        RETRIEVED,
        "share of the reference contexts that were retrieved",
        "reference contexts with some retrieved context of similarity > 0.5 / reference contexts, where similarity = 1 − edit distance / longer length (profile 5); by a model (profile 6)",
        "1 of 2 reference contexts resembled: 0.5",
    )
    .needing(EXPECTED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_context_recall_cost",
        RETRIEVED_COST,
        "what judging retrieval_context_recall cost",
        CALLS_COST,
        "text distance asks no model: no cost",
    )
    .needing(EXPECTED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_context_precision",
        RETRIEVED,
        "how high the contexts that resemble a reference context are ranked",
        "Σ precision@i · useful_i / Σ useful_i, useful when the best similarity ≥ 0.5 (profile 5); by a model (profile 6)",
        "useful 1, 0, 1: 0.8333",
    )
    .needing(EXPECTED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_context_precision_cost",
        RETRIEVED_COST,
        "what judging retrieval_context_precision cost",
        CALLS_COST,
        "text distance asks no model: no cost",
    )
    .needing(EXPECTED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_context_f1",
        RETRIEVED,
        "harmonic mean of retrieval_context_recall and retrieval_context_precision",
        "2 · recall · precision / (recall + precision); 0 if both are 0",
        "recall 0.5, precision 0.8333: 0.625",
    )
    .needing(EXPECTED_RETRIEVAL)
    .judged(),
    row(
        "retrieval_context_f1_cost",
        RETRIEVED_COST,
        "what judging both cost",
        "retrieval_context_recall_cost + retrieval_context_precision_cost",
        "text distance asks no model: no cost",
    )
    .needing(EXPECTED_RETRIEVAL)
    .judged(),
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
    row(
        "sopr_score",
        ATTEMPT,
        "how far the query is solved (SoPR)",
        "mean over the judge's runs of 1 (Solved), 0.5 (Unsure) or 0 (Unsolved); 0 without asking if there is no answer, no call of `Finish`, an empty answer, or the agent gave up",
        "runs that say Solved, Unsure, Solved: 0.8333",
    )
    .judged(),
    row(
        "sopr_score_cost",
        ATTEMPT_COST,
        "what judging sopr_score cost",
        CALLS_COST,
        "two calls of 0.0002 USD: 0.0004",
    )
    .judged(),
    row(
        "answer_status",
        ATTEMPT,
        "what most of the judge's runs say of the query",
        "1 if most say Solved, 0 if most say Unsolved, 0.5 if most say Unsure or several are as frequent; results have the word",
        "runs that say Solved, Unsure, Solved: 1.0",
    )
    .judged(),
    row(
        "final_answer_rate",
        ATTEMPT,
        "whether the final answer alone is right (final-answer correctness)",
        "1 if a judge that sees the query and the final answer says Solved, else 0; 0 without asking if there is no answer",
        "Solved: 1.0",
    )
    .judged(),
    row(
        "api_call_score",
        ATTEMPT,
        "share of the right APIs that were called (API Call Score)",
        "right APIs that were called / right APIs, each counted once; does not apply without right APIs",
        "1 of 2 right APIs called, and another: 0.5",
    ),
    row(
        "api_call_precision",
        ATTEMPT,
        "share of the APIs called that are right",
        "right APIs that were called / APIs that were called, each counted once; does not apply without calls",
        "1 right API called twice, and 2 others: 0.3333",
    ),
    row(
        "other_calls",
        ATTEMPT_CALLS,
        "calls of APIs that are not right",
        "all calls but those of right APIs, repeats counted",
        "1 right API called twice, and another three times: 3",
    ),
    row(
        "has_finish",
        ATTEMPT,
        "whether the agent ended by itself (Finish)",
        "1 if it called `Finish` or gave a final answer, else 0",
        "no call of `Finish` in any branch: 0.0",
    ),
    row(
        "agent_tokens",
        ATTEMPT_TOKENS,
        "tokens of the agent's models",
        "as the agent gives it; of the built-in agent, all its calls added up",
        "8151",
    ),
    row(
        "agent_usd",
        ATTEMPT_COST,
        "what the agent's models cost",
        "as the agent gives it; of the built-in agent, the prices of all its calls added up",
        "0.0123",
    ),
    row(
        "system_answer_time",
        ATTEMPT_TIME,
        "seconds from query to answer",
        "as measured around the agent",
        "12.4",
    ),
    row(
        "evaluation_time",
        ATTEMPT_TIME,
        "seconds spent on judging",
        "as measured around the judge",
        "1.5",
    ),
];

/// The metrics of questions and their steps, which come first in the table.
pub const QUESTION_METRICS: &[MetricInfo] = METRICS.split_at(n_of_questions()).0;

/// The metrics of agents' attempts.
pub const ATTEMPT_METRICS: &[MetricInfo] = METRICS.split_at(n_of_questions()).1;

const fn n_of_questions() -> usize {
    let mut n = 0;
    while n < METRICS.len() && !matches!(METRICS[n].level, Level::Attempt) {
        n += 1;
    }
    n
}

/// How far a computed share may be beyond its range: sums of fractions are not exact.
const ROUNDING: f64 = 1e-9;

impl MetricInfo {
    /// Returns the range of the metric in words if a value is outside of it. Amounts have none.
    ///
    /// ```
    /// let range = |value| juror_score::metric("steps_score")?.range_without(value);
    /// assert_eq!((range(0.5), range(85.0)), (None, Some("0 to 1")));
    /// ```
    pub fn range_without(&self, value: f64) -> Option<&'static str> {
        let (least, range) = match self.unit {
            Unit::Fraction => (0.0, "0 to 1"),
            Unit::Cosine => (-1.0, "-1 to 1"),
            Unit::Tokens | Unit::Seconds | Unit::Dollars | Unit::Count => return None,
        };
        (!(least - ROUNDING..=1.0 + ROUNDING).contains(&value)).then_some(range)
    }

    /// Whether it is an amount, such as tokens, seconds or dollars, which cannot be below 0.
    pub fn is_amount(&self) -> bool {
        matches!(self.unit, Unit::Tokens | Unit::Seconds | Unit::Dollars | Unit::Count)
    }

    /// Combines the values of a question's steps into one: their sum for costs, else their mean.
    /// Returns `None` if there are no values.
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

/// Returns the metric with this name, at any level.
pub fn metric(name: &str) -> Option<&'static MetricInfo> {
    METRICS.iter().find(|info| info.name == name)
}

/// Returns the metric of questions or their steps with this name.
#[inline]
pub fn question_metric(name: &str) -> Option<&'static MetricInfo> {
    QUESTION_METRICS.iter().find(|info| info.name == name)
}

/// Returns the metric of retrieval steps with this name.
#[inline]
pub fn step_metric(name: &str) -> Option<&'static MetricInfo> {
    question_metric(name).filter(|info| info.level == Level::Step)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own() {
        let names: HashSet<&str> = METRICS.iter().map(|info| info.name).collect();
        assert_eq!(names.len(), METRICS.len());
    }

    #[test]
    fn metrics_of_attempts_come_last_and_are_none_of_questions() {
        let (of_questions, of_attempts) = METRICS.split_at(QUESTION_METRICS.len());
        assert!(of_questions.iter().all(|info| info.level != Level::Attempt));
        assert!(of_attempts.iter().all(|info| info.level == Level::Attempt));
        assert!(question_metric("sopr_score").is_none() && metric("sopr_score").is_some());
        assert!(of_attempts.iter().all(|info| !info.always), "only aggregates of questions are");
    }
}
