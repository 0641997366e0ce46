//! The columns of a results table, which are written before the first result is known.

use std::borrow::Cow;
use std::collections::HashSet;

use juror_read::CaseRoom;
use juror_score::{
    COMPUTED_STEP_METRICS, Case, ContextJudge, Judgement, Level, METRICS, MetricInfo, score,
};

use super::Evaluation;
use crate::plan::Plan;

/// Returns whether any answer says which trial it is.
pub(super) fn has_trials(evaluation: &Evaluation<'_>) -> bool {
    (0..evaluation.n_cases()).any(|index| evaluation.trial(index).is_some())
}

/// Returns the step metrics that any question has. Metrics from judges are known by now; the others
/// are computed here, for questions with retrieval, until each has been seen.
pub(super) fn metrics_of_steps(
    evaluation: &Evaluation<'_>,
    judgements: &[Judgement],
) -> Vec<&'static MetricInfo> {
    let plan = evaluation.plan;
    let of_steps: Vec<&MetricInfo> =
        METRICS.iter().filter(|info| info.level == Level::Step).collect();
    let mut seen: HashSet<Cow<str>> = HashSet::new();
    let judged = judgements.iter().flat_map(|judgement| &judgement.findings);
    for finding in judged.filter(|finding| finding.step.is_some()) {
        finding.each_number(|key, _| {
            seen.insert(key);
        });
    }
    if plan.profile.contexts == ContextJudge::Text {
        for index in 0..evaluation.n_cases() {
            if COMPUTED_STEP_METRICS.iter().all(|name| seen.contains(*name)) {
                break;
            }
            let room = CaseRoom::default();
            let read = evaluation.case(index, &room);
            let case = read.case();
            if !retrieves(&case, plan) {
                continue;
            }
            let record = score(&case, &plan.profile);
            let has = |name: &&str| !record.values_of_steps(name).is_empty();
            seen.extend(COMPUTED_STEP_METRICS.into_iter().filter(has).map(Cow::Borrowed));
        }
    }
    of_steps.into_iter().filter(|info| seen.contains(info.name)).collect()
}

/// Returns whether retrieval was both expected and done.
fn retrieves(case: &Case<'_>, plan: &Plan) -> bool {
    let is_retrieval = |name: &str| plan.profile.kind_names.is_retrieval(name);
    let mut expected = case.question.groups.iter().flatten().flatten();
    let mut taken = case.trajectory.steps.iter().flatten();
    expected.any(|step| is_retrieval(&step.name)) && taken.any(|step| is_retrieval(&step.name))
}
