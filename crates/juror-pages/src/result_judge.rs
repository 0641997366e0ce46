//! Who judged the results of a file.

use std::collections::BTreeMap;

use juror_document::Document;
use juror_json::Object;
use juror_score::{JudgedBy, Judgement};
use serde::Deserialize;
use serde_json::Value;

/// Who judged, as a result, a result file or the manifest of a benchmark says it.
#[derive(Deserialize)]
pub struct JudgeForm {
    /// The model that was asked.
    pub model: Option<String>,
    /// How answers were judged, if not by a model.
    pub method: Option<String>,
    /// The model that compared meanings.
    pub embedding: Option<String>,
    /// The hash of each prompt.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
}

impl JudgeForm {
    /// Who judged; rules that guess are told by the name of the method.
    pub fn judge(self) -> Option<JudgedBy> {
        let model = self.model.or(self.method.filter(|method| method != "none"))?;
        Some(JudgedBy { model, embedding: self.embedding, prompts: self.prompts })
    }
}

/// Who judged a benchmark, as the metadata of its result file say.
pub fn judge_of_attempts(document: &Document) -> Option<JudgedBy> {
    let file: Value = serde_json::from_str(document.json()).ok()?;
    let text = |place: &str| Some(file.pointer(place)?.as_str()?.to_owned());
    let prompts = file.pointer("/juror/judge_prompts").cloned();
    let form = JudgeForm {
        model: text("/metadata/config/evaluator_model"),
        method: text("/metadata/config/evaluation_method"),
        embedding: None,
        prompts: prompts.and_then(|own| serde_json::from_value(own).ok()).unwrap_or_default(),
    };
    form.judge()
}

/// Who judged all of these results of questions; `None` if no result says it, or if they were judged
/// by several.
pub(crate) fn judge_of_results<'r>(results: impl IntoIterator<Item = &'r str>) -> Option<JudgedBy> {
    one_judge(results.into_iter().filter_map(judge_of_result))
}

/// The judge that all of these are; `None` if there are several, or none.
pub fn one_judge(judges: impl IntoIterator<Item = JudgedBy>) -> Option<JudgedBy> {
    let mut found: Option<JudgedBy> = None;
    for by in judges {
        match &mut found {
            None => found = Some(by),
            Some(known) if known.agrees_with(&by) => {
                known.prompts.extend(by.prompts);
                known.embedding = known.embedding.take().or(by.embedding);
            }
            Some(_) => return None,
        }
    }
    found
}

fn judge_of_result(text: &str) -> Option<JudgedBy> {
    memchr::memmem::find(text.as_bytes(), Judgement::JUDGED_BY.as_bytes())?;
    let result: Object<'_> = juror_json::from_str(text).ok()?;
    let told = result.get_set(Judgement::JUDGED_BY)?;
    serde_json::from_str::<JudgeForm>(told.get()).ok()?.judge()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(results: &[&str]) -> Option<(String, usize)> {
        let by = judge_of_results(results.iter().copied())?;
        Some((by.model, by.prompts.len()))
    }

    #[test]
    fn results_that_agree_have_one_judge() {
        let claims = r#"{"judged_by": {"model": "m", "prompts": {"claims": "1"}}}"#;
        let relevance = r#"{"judged_by": {"model": "m", "prompts": {"relevance": "2"}}}"#;
        let other = r#"{"judged_by": {"model": "n", "prompts": {"claims": "1"}}}"#;
        let changed = r#"{"judged_by": {"model": "m", "prompts": {"claims": "3"}}}"#;
        let unjudged = r#"{"answer": "judged_by", "steps": [{"judged_by": {"model": "x"}}]}"#;
        assert_eq!(judge(&[claims, unjudged, relevance]), Some(("m".into(), 2)));
        assert_eq!(judge(&[claims, other]), None);
        assert_eq!(judge(&[claims, changed]), None);
        assert_eq!(judge(&[unjudged]), None);
    }
}
