//! Keys that identify a case and everything that affects verdicts on it.

use juror_document::map_in_shares;
use juror_json::Object;
use juror_models::{CallKey, KeyMaker};
use juror_read::CaseRoom;
use juror_score::{Case, ExpectedStep};

use super::Evaluation;
use crate::models::Judges;

/// Increased whenever replies are interpreted differently.
const FORM: &str = "3";

/// Computes the keys of all cases on all threads: a key depends on all steps of its case.
pub(super) fn case_keys(evaluation: &Evaluation<'_>, judges: &Judges) -> Vec<CallKey> {
    let mut common = KeyMaker::new("judgement");
    common.field(FORM).field(env!("CARGO_PKG_VERSION")).field(&judges.identity.to_string());
    let common = &*common.field(&judges.models.prices());
    let indexes: Vec<usize> = (0..evaluation.n_cases()).collect();
    map_in_shares(&indexes, evaluation.plan.threads, |index| {
        case_key(common, &evaluation.case(*index, &CaseRoom::default()).case())
    })
}

fn case_key(common: &KeyMaker, case: &Case<'_>) -> CallKey {
    let mut key = common.clone();
    let Case { question, trajectory } = case;
    key.field(question.text.get()).field(question.answer.map_or("", |answer| answer.get()));
    key.field(if question.groups.is_some() { "groups" } else { "no groups" });
    for group in question.groups.iter().flatten() {
        key.field("group");
        for step in group {
            add_fields(&mut key, &step.fields, ExpectedStep::is_finding);
        }
    }
    key.field("response").field(trajectory.answer.map_or("", |answer| answer.get()));
    key.field(if trajectory.steps.is_some() { "steps" } else { "no steps" });
    for step in trajectory.steps.iter().flatten() {
        add_fields(&mut key, &step.fields, |_| false);
    }
    key.finish()
}

fn add_fields(key: &mut KeyMaker, fields: &Object<'_>, is_left_out: fn(&str) -> bool) {
    key.field("step");
    for (name, value) in
        fields.iter_raw().filter(|(name, _)| !is_left_out(name.get().trim_matches('"')))
    {
        key.field(name.get()).field(value.get());
    }
}
