//! The judges' findings about a case.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cause, Finding, Why};

/// The judges' findings about a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The findings, in the order of the judges.
    pub findings: Vec<Finding>,
    /// Texts that look like forged verdicts.
    pub flags: Vec<String>,
    /// Who judged, if a panel did and found something.
    pub judged_by: Option<JudgedBy>,
}

/// Who judged, and with which prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedBy {
    /// The model that was asked, with its provider.
    pub model: String,
    /// The model that compared meanings, if any.
    pub embedding: Option<String>,
    /// The hash of each prompt in use, by purpose.
    pub prompts: BTreeMap<String, String>,
}

impl JudgedBy {
    /// Whether this may be the same judge, as far as both say: results name only the prompts and
    /// models that they took.
    pub fn agrees_with(&self, other: &JudgedBy) -> bool {
        let same = |one: Option<&String>, other: Option<&String>| {
            one.zip(other).is_none_or(|(one, other)| one == other)
        };
        self.model == other.model
            && same(self.embedding.as_ref(), other.embedding.as_ref())
            && self.prompts.iter().all(|(name, hash)| same(Some(hash), other.prompts.get(name)))
    }
}

/// `judged_by` as results write it.
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
    /// The key under which results store who judged.
    pub const JUDGED_BY: &'static str = "judged_by";

    /// Adds the findings of another judge.
    pub fn extend(&mut self, other: Judgement) {
        self.findings.extend(other.findings);
        for flag in other.flags {
            if !self.flags.contains(&flag) {
                self.flags.push(flag);
            }
        }
    }

    /// Returns the findings that failed, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&Finding, &Why)> {
        self.findings.iter().filter_map(|finding| Some((finding, finding.failure()?)))
    }

    /// Returns whether any finding failed.
    pub fn has_failure(&self) -> bool {
        self.failures().next().is_some()
    }

    /// Returns the first failure whose cause lies outside the data: a later run may do better.
    pub fn outside(&self) -> Option<&Why> {
        self.failures().map(|(_, why)| why).find(|why| why.cause != Cause::Data)
    }

    /// Returns whether something was not asked because asking had stopped, so that the case is not
    /// finished.
    pub fn is_unfinished(&self) -> bool {
        self.failures().any(|(_, why)| why.cause == Cause::NotAsked)
    }

    /// Returns who judged, as JSON for results.
    pub fn judged_by_json(&self) -> Option<String> {
        // Strings always serialize.
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

    /// Reads who judged from a result. Returns `None` if the value has the wrong form.
    pub fn read_judged_by(&mut self, told: Value) -> Option<()> {
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
