//! An agent's attempt as its judge saw it, and what the judge said.

use std::sync::Arc;

use juror_bench::Attempt;
use juror_document::{Document, Format};
use juror_judge::JudgedAnswer;
use juror_report::AnswerText;
use juror_toolbench::answer::{Answer, read_answers};
use juror_toolbench::judged::Status;
use serde::Deserialize;
use serde_json::Value;

use crate::kept_calls::is_equal;

/// An attempt that was judged.
pub(crate) struct JudgedAttempt<'t> {
    text: &'t AnswerText<'t>,
    result: &'t str,
    query: String,
    said: Said,
}

/// A result of `juror bench`, as far as judging is concerned.
#[derive(Deserialize)]
struct ResultForm {
    #[serde(default)]
    query_text: Value,
    #[serde(default)]
    evaluation: Said,
}

/// What the judge said.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    answer_status: String,
    evaluation_method: String,
    reason: String,
    sopr_score_repeats: Vec<Value>,
}

/// What the judge was asked about: a query, and the answer to it, if there is one.
type Asked = (String, Option<Arc<Answer<'static>>>);

impl<'t> JudgedAttempt<'t> {
    pub(crate) fn read(text: &'t AnswerText<'t>) -> Option<JudgedAttempt<'t>> {
        let result = text.result?;
        let ResultForm { query_text, evaluation: said } = serde_json::from_str(result).ok()?;
        let query = query_text.as_str().map_or_else(|| query_text.to_string(), str::to_owned);
        Some(JudgedAttempt { text, result, query, said })
    }

    /// Whether a model judged it.
    pub(crate) fn is_by_model(&self) -> bool {
        self.said.evaluation_method == "model"
    }

    pub(crate) fn n_repeats(&self) -> u32 {
        u32::try_from(self.said.sopr_score_repeats.len()).unwrap_or(u32::MAX).max(1)
    }

    /// What the judge may have been asked about: the attempt in the journal, or the answer in the
    /// result, if that was recorded elsewhere.
    pub(crate) fn answers(&self) -> impl Iterator<Item = Asked> {
        [self.of_journal(), self.of_result()].into_iter().flatten()
    }

    fn of_journal(&self) -> Option<Asked> {
        let attempt: Attempt = serde_json::from_str(self.text.attempt?).ok()?;
        let answer = attempt.answer();
        let query = Some(attempt.query).filter(|query| !query.is_empty());
        Some((query.unwrap_or_else(|| self.query.clone()), answer))
    }

    fn of_result(&self) -> Option<Asked> {
        let file = format!(r#"{{"results": [{}]}}"#, self.result);
        let document = Document::new("result", file.into_bytes(), Format::Json).ok()?;
        let (answers, _) = read_answers(&document);
        let (_, recorded) = answers.into_iter().next()?;
        let answer = Some(recorded.into_owned().answer).filter(|answer| !answer.is_nothing());
        Some((self.query.clone(), answer.map(Arc::new)))
    }

    /// Whether the judge said the same.
    pub(crate) fn agrees_with(&self, judged: &JudgedAnswer) -> bool {
        let statuses = judged.statuses();
        let scores: Value = statuses.iter().map(|status| status.map(Status::score)).collect();
        let repeats = &self.said.sopr_score_repeats;
        let is_same = repeats.is_empty() || is_equal(&scores, &Value::from(repeats.clone()));
        let status = judged.majority().map_or("Unjudged", Status::name);
        let reason = judged.reason.as_deref().unwrap_or_default();
        is_same && status == self.said.answer_status && reason == self.said.reason
    }
}
