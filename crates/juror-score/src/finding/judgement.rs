//! What judges found out about a case.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cause, Finding, Why};

/// What judges found out about a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// In the order of the judges.
    pub findings: Vec<Finding>,
    /// Texts that look like forged verdicts.
    pub flags: Vec<String>,
    /// Who judged, where a panel did and found something.
    pub judged_by: Option<JudgedBy>,
}

/// Who judged, with which prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedBy {
    /// The model that was asked, with its provider.
    pub model: String,
    /// The model that compared meanings, where one did.
    pub embedding: Option<String>,
    /// The prompts in use: purpose and hash.
    pub prompts: BTreeMap<String, String>,
}

/// The form of `judged_by` in results.
#[derive(Serialize, Deserialize)]
pub(super) struct JudgedByForm<'f> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    embedding: Option<Cow<'f, str>>,
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    flags: Cow<'f, [String]>,
    model: Cow<'f, str>,
    prompts: Cow<'f, BTreeMap<String, String>>,
}

impl Judgement {
    /// The key of results that tells who judged.
    pub const JUDGED_BY: &'static str = "judged_by";

    /// Adds what another judge found out.
    pub fn extend(&mut self, other: Judgement) {
        self.findings.extend(other.findings);
        for flag in other.flags {
            if !self.flags.contains(&flag) {
                self.flags.push(flag);
            }
        }
    }

    /// What could not be found out, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&Finding, &Why)> {
        self.findings.iter().filter_map(|finding| Some((finding, finding.failure()?)))
    }

    /// Whether something could not be found out.
    pub fn has_failure(&self) -> bool {
        self.failures().next().is_some()
    }

    /// Why something is missing, if the first such reason lies outside: a later run may do better.
    pub fn outside(&self) -> Option<&Why> {
        self.failures().map(|(_, why)| why).find(|why| why.cause != Cause::Data)
    }

    /// Whether something was not asked because asking had stopped: the case is not finished.
    pub fn is_unfinished(&self) -> bool {
        self.failures().any(|(_, why)| why.cause == Cause::NotAsked)
    }

    /// Who judged, as JSON of results.
    pub fn judged_by_json(&self) -> Option<String> {
        // Texts are always JSON.
        Some(serde_json::to_string(&self.judged_by_form()?).unwrap_or_default())
    }

    pub(super) fn judged_by_form(&self) -> Option<JudgedByForm<'_>> {
        let JudgedBy { model, embedding, prompts } = self.judged_by.as_ref()?;
        Some(JudgedByForm {
            embedding: embedding.as_deref().map(Cow::Borrowed),
            flags: Cow::Borrowed(&self.flags),
            model: Cow::Borrowed(model),
            prompts: Cow::Borrowed(prompts),
        })
    }

    /// Takes over who judged, as results tell it; `None` if they do not.
    pub(super) fn read_judged_by(&mut self, told: Value) -> Option<()> {
        let form: JudgedByForm<'_> = serde_json::from_value(told).ok()?;
        self.judged_by = Some(JudgedBy {
            model: form.model.into_owned(),
            embedding: form.embedding.map(Cow::into_owned),
            prompts: form.prompts.into_owned(),
        });
        self.flags = form.flags.into_owned();
        Some(())
    }
}
