//! Scores for other systems: observability back ends and spreadsheets.
//!
//! A score is exported with the ids of the trace that was judged, if its answer was imported from
//! one, so that it shows up beside the trace.

mod csv_table;
mod openinference;
mod otlp;

/// The form in which scores are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// OTLP log records in JSON: an event `gen_ai.evaluation.result` per score. A line per answer.
    Otlp,
    /// Annotations of spans and traces, as servers of `OpenInference` traces take them.
    OpenInference,
    /// A table: a row per answer, a column per metric.
    Csv,
}

/// The run whose scores are exported.
#[derive(Clone, Debug, Default)]
pub struct ExportedRun<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its id, if it is a stored run.
    pub id: Option<&'a str>,
    /// When it ended, in nanoseconds since 1970; 0 if that is not known.
    pub unix_nanos: u64,
}

/// An answer or attempt that was judged.
#[derive(Clone, Debug, Default)]
pub struct Evaluated<'a> {
    /// Its template or set.
    pub group: &'a str,
    /// The id of the question or query.
    pub id: &'a str,
    /// Which of several answers it is.
    pub trial: Option<u32>,
    /// Whether it ended in an error.
    pub is_error: bool,
    /// The trace it was imported from.
    pub trace_id: Option<String>,
    /// The outermost span of that trace.
    pub span_id: Option<String>,
    /// Its scores, in the order of the metric table.
    pub evaluations: Vec<Evaluation<'a>>,
}

/// What is known about one metric of an answer.
#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    /// The metric's name.
    pub metric: &'a str,
    /// The score; `None` if it could not be computed.
    pub score: Option<f64>,
    /// Why it is what it is, or why there is none.
    pub explanation: Option<String>,
    /// Whether a model decided it.
    pub is_judged: bool,
}

/// Renders the scores of a run.
pub fn export(run: &ExportedRun<'_>, answers: &[Evaluated<'_>], format: ExportFormat) -> Vec<u8> {
    match format {
        ExportFormat::Otlp => otlp::render(run, answers),
        ExportFormat::OpenInference => openinference::render(run, answers),
        ExportFormat::Csv => csv_table::render(answers),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run of two answers, of which only the first was imported from a trace.
    pub(crate) fn answers() -> Vec<Evaluated<'static>> {
        let score = |metric, score, explanation: Option<&str>, is_judged| Evaluation {
            metric,
            score,
            explanation: explanation.map(str::to_owned),
            is_judged,
        };
        vec![
            Evaluated {
                group: "capitals",
                id: "peru",
                trial: Some(2),
                trace_id: Some("5b8efff798038103d269b633813fc60c".into()),
                span_id: Some("eee19b7ec3c1b174".into()),
                evaluations: vec![
                    score("answer_f1", Some(0.5), Some("The coast is missing."), true),
                    score("steps_score", Some(1.0), None, false),
                ],
                ..Evaluated::default()
            },
            Evaluated {
                group: "capitals",
                id: "chile, \"south\"",
                is_error: true,
                evaluations: vec![score("answer_f1", None, Some("the model is down"), true)],
                ..Evaluated::default()
            },
        ]
    }

    pub(crate) const RUN: ExportedRun<'static> =
        ExportedRun { name: "main", id: Some("b71c2e"), unix_nanos: 1_785_578_400_000_000_000 };
}
