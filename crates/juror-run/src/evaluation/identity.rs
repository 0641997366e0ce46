//! The identity of an evaluation: everything that affects its results.

use std::collections::BTreeMap;

use juror_document::{Document, map_in_shares};
use juror_read::{CaseRoom, Questions, RepeatedIds};
use juror_runs::{
    CanonicalHash, EvalIdentity, InputIdentity, ReferenceIdentity, ShardIdentity, short_hash,
};
use juror_score::{ExpectedStep, Question};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Evaluation;
use crate::models::Judges;
use crate::settings::rules;

/// Returns what identifies an evaluation. If an agent was asked for the responses, it stands for
/// them: they are not known yet when the run begins.
pub(super) fn identity(
    evaluation: &Evaluation<'_>,
    judges: Option<&Judges>,
    subject: Option<SubjectIdentity<'_>>,
) -> EvalIdentity {
    let InputIdentity { name, hash } = input(evaluation.inputs.reference);
    let questions = question_hashes(&evaluation.questions, evaluation.plan.threads);
    EvalIdentity {
        reference: ReferenceIdentity { name, hash, questions, left_out: evaluation.n_left_out() },
        responses: subject.map_or_else(|| responses(evaluation), |subject| subject.responses()),
        subject: subject.map(|subject| subject.identity.clone()),
        judges: judges.map(|judges| judges.identity.clone()),
        rules: rules(&evaluation.plan.profile),
        shard: shard(evaluation),
    }
}

/// Returns which part of the reference is evaluated.
fn shard(evaluation: &Evaluation<'_>) -> Option<ShardIdentity> {
    let shard = evaluation.plan.shard?;
    let items = evaluation.questions.len() + evaluation.others.len();
    Some(ShardIdentity { shard, items, whole: input(evaluation.inputs.reference).hash })
}

/// Returns what is the same for all shards of an evaluation, in words, with hashes.
pub(super) fn whole_identity(
    evaluation: &Evaluation<'_>,
    judges: Option<&Judges>,
) -> Vec<(String, String)> {
    let judges = judges.map_or(Value::Null, |judges| judges.identity.clone());
    [
        ("the release of juror", env!("CARGO_PKG_VERSION").to_owned()),
        ("the reference", input(evaluation.inputs.reference).hash),
        ("the list of responses", responses(evaluation).hash),
        ("the model, its parameters or its prompts", short_hash(&judges.to_string())),
        ("a rule of the settings", short_hash(&rules(&evaluation.plan.profile).to_string())),
    ]
    .map(|(what, hash)| (what.to_owned(), hash))
    .to_vec()
}

/// What identifies an agent that is asked for responses.
#[derive(Clone, Copy, Debug)]
pub struct SubjectIdentity<'s> {
    /// The agent's name.
    pub name: &'s str,
    /// Everything that affects what it answers.
    pub identity: &'s Value,
}

impl SubjectIdentity<'_> {
    fn responses(&self) -> InputIdentity {
        let hash = short_hash(&self.identity.to_string());
        InputIdentity { name: self.name.to_owned(), hash }
    }
}

/// The same responses are another input if their repeated ids are trials.
fn responses(evaluation: &Evaluation<'_>) -> InputIdentity {
    let InputIdentity { name, hash } = input(evaluation.inputs.responses);
    match evaluation.plan.repeated_ids {
        RepeatedIds::LastCounts => InputIdentity { name, hash },
        RepeatedIds::Trials => InputIdentity { name, hash: format!("{hash} as trials") },
    }
}

fn input(document: &Document) -> InputIdentity {
    let hash = blake3::hash(document.json().as_bytes()).to_hex().to_string();
    InputIdentity { name: document.name().to_owned(), hash }
}

/// Hashes all questions on all threads: their outputs can be large.
fn question_hashes(questions: &Questions<'_>, n_threads: usize) -> BTreeMap<String, String> {
    let indexes: Vec<usize> = (0..questions.len()).collect();
    let hash = |index: &usize| {
        let room = CaseRoom::default();
        // A file that has changed is refused at the end.
        let hash = questions.read(*index, &room).map(|question| question_hash(&question));
        (questions.id(*index).to_owned(), hash.unwrap_or_default())
    };
    map_in_shares(&indexes, n_threads, hash).into_iter().collect()
}

/// Hashes everything in a question that decides a score or a statistic. The id is not part of it.
fn question_hash(question: &Question<'_>) -> String {
    let Question { id: _, template, text, answer, groups } = question;
    let mut hash = CanonicalHash::default();
    hash.text(template).json(text.get()).optional(answer.map(RawValue::get));
    // No steps at all are not the same as no groups of them.
    hash.count(groups.as_ref().map_or(0, |groups| 1 + groups.len()));
    for group in groups.iter().flatten() {
        hash.count(group.len());
        for step in group {
            add_step(&mut hash, step);
        }
    }
    hash.finish()
}

/// Adds a step with all of its fields, sorted by name, but those that some run has added.
fn add_step(hash: &mut CanonicalHash, step: &ExpectedStep<'_>) {
    let mut fields: Vec<(String, &str)> =
        step.fields.iter().map(|(name, value)| (name.into_owned(), value.get())).collect();
    fields.retain(|(name, _)| !ExpectedStep::is_finding(name));
    fields.sort();
    hash.count(fields.len());
    for (name, value) in fields {
        hash.text(&name).json(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;
    use juror_read::read_reference;

    fn hashes(text: &str, format: Format) -> BTreeMap<String, String> {
        let document = Document::new("r", text.into(), format).expect("a document");
        let dataset = read_reference(&document).expect("a reference");
        question_hashes(&Questions::Kept(dataset), 2)
    }

    fn hash(question: &str) -> String {
        let json = format!(r#"[{{"template_id": "t", "questions": [{question}]}}]"#);
        hashes(&json, Format::Json).into_values().next().expect("a hash")
    }

    #[test]
    fn how_a_question_is_written_makes_no_difference() {
        let one = r#"{"id": "q", "question_text": "Où?", "reference_steps": [[{"name": "a", "output": "{\"x\": 1}", "args": {"k": 1, "l": [2]}}]]}"#;
        let other = r#"{"reference_steps":[[{"args":{"l":[ 2 ],"k":1},"output":"{\"x\": 1}","name":"a"}]],
            "question_text":"O\u00f9?","id":"q"}"#;
        assert_eq!(hash(one), hash(other));
        assert_eq!(hash(one), hash(&one.replace("\"q\"", "\"another id\"")));
        let moved = one
            .replace(r#""name": "a""#, r#""name": "a", "moved": "1 row missing", "matches": "s1""#);
        assert_ne!(one, moved);
        assert_eq!(hash(one), hash(&moved));
        let yaml = "- template_id: t\n  questions:\n  - id: q\n    question_text: Où?\n    reference_steps:\n    - - name: a\n        args: {k: 1, l: [2]}\n        output: '{\"x\": 1}'\n";
        assert_eq!(hashes(yaml, Format::Yaml)["q"], hash(one));
    }

    #[test]
    fn everything_that_decides_a_score_makes_another_question() {
        let one = r#"{"id": "q", "question_text": "Where?", "reference_answer": "Oslo", "reference_steps": [[{"name": "a", "output": "1"}]]}"#;
        for (from, to) in [
            ("Where?", "When?"),
            ("Oslo", "Bergen"),
            (r#""reference_answer": "Oslo", "#, ""),
            (r#""name": "a""#, r#""name": "b""#),
            (r#""output": "1""#, r#""output": "2""#),
            (r#""output": "1""#, r#""output": "1", "ignore_duplicates": false"#),
            (r#""output": "1"}]]"#, r#""output": "1"}], []]"#),
            (r#", "reference_steps": [[{"name": "a", "output": "1"}]]"#, ""),
        ] {
            let other = one.replace(from, to);
            assert_ne!(one, other);
            assert_ne!(hash(one), hash(&other), "{other}");
        }
        let of_template = |id: &str| {
            let json = format!(r#"[{{"template_id": "{id}", "questions": [{one}]}}]"#);
            hashes(&json, Format::Json)
        };
        assert_ne!(of_template("t"), of_template("u"));
    }
}
