//! Findings about an agent's attempt, for the metrics in the table.

use juror_score::{Aspect, Finding, Reason, Repeats, Score, Scorecard, Verdict};

use crate::CallScore;
use crate::judged::{Status, majority};

pub(super) const SOPR_SCORE: &str = "sopr_score";
/// The key of the scores of several judge runs, as `Aspect::key` makes it.
pub(super) const SOPR_SCORE_REPEATS: &str = "sopr_score_repeats";
pub(super) const ANSWER_STATUS: &str = "answer_status";
pub(super) const API_CALL_SCORE: &str = "api_call_score";
pub(super) const API_CALL_PRECISION: &str = "api_call_precision";
pub(super) const OTHER_CALLS: &str = "other_calls";
pub(super) const HAS_FINISH: &str = "has_finish";
pub(super) const EVALUATION_TIME: &str = "evaluation_time";
pub(super) const SYSTEM_ANSWER_TIME: &str = "system_answer_time";

pub(super) fn finding(metric: &'static str, verdict: Verdict) -> Finding {
    Finding::new(Aspect::Metric(metric), verdict)
}

/// Scores a number, or gives the reason why the metric does not apply.
pub(super) fn number_or(metric: &'static str, number: Option<f64>, reason: Reason) -> Finding {
    finding(metric, number.map_or(Verdict::NotApplicable(reason), Verdict::scored))
}

/// Scores a yes or no.
pub(super) fn flag(metric: &'static str, is_so: bool) -> Finding {
    finding(metric, Verdict::scored(f64::from(u8::from(is_so))))
}

/// Returns the findings that need no judge: how the calls match the right ones, and whether the
/// agent finished.
pub fn call_findings(calls: &CallScore, has_finish: bool) -> Vec<Finding> {
    vec![
        number_or(API_CALL_SCORE, calls.score(), Reason::NoRightApis),
        number_or(API_CALL_PRECISION, calls.precision(), Reason::NothingCalled),
        finding(OTHER_CALLS, Verdict::scored(calls.n_other_calls as f64)),
        flag(HAS_FINISH, has_finish),
    ]
}

/// Returns the findings of the judge runs, in order, and how long they took. If none could be
/// asked, `otherwise` says why.
pub fn status_findings(runs: &[Option<Status>], otherwise: Verdict, seconds: f64) -> Vec<Finding> {
    let known: Vec<Status> = runs.iter().flatten().copied().collect();
    let scores = runs.iter().map(|run| run.map(Status::score)).collect();
    let verdicts = Repeats::new(scores).map(|runs| {
        (Verdict::Scored(Score::Repeats(runs)), Verdict::scored(majority(&known).score()))
    });
    let (sopr, status) = verdicts.unwrap_or_else(|| (otherwise.clone(), otherwise));
    vec![
        finding(SOPR_SCORE, sopr),
        finding(ANSWER_STATUS, status),
        finding(EVALUATION_TIME, Verdict::scored(seconds)),
    ]
}

/// Returns the status that most judge runs gave, or `None` if nobody judged the attempt.
pub fn status_of(card: &Scorecard<'_>) -> Option<Status> {
    card.number(ANSWER_STATUS).and_then(Status::of_score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{KeyPart, Level, metric};

    #[test]
    fn findings_are_of_metrics_of_attempts() {
        let of_calls = call_findings(&CallScore::default(), true);
        let of_judge = status_findings(&[Some(Status::Solved)], Verdict::failed(""), 0.5);
        let names = of_calls.iter().chain(&of_judge).map(|finding| finding.aspect.name());
        for name in names.chain([SYSTEM_ANSWER_TIME]) {
            let level = metric(name).map(|info| info.level);
            assert_eq!(level, Some(Level::Attempt), "{name}");
        }
    }

    #[test]
    fn the_key_of_several_judge_runs_is_that_of_its_metric() {
        let key = Aspect::Metric(SOPR_SCORE).key(KeyPart::Repeats(0));
        assert_eq!(key, SOPR_SCORE_REPEATS);
    }

    #[test]
    fn what_is_not_known_says_why() {
        let verdicts = |findings: Vec<Finding>| -> Vec<Verdict> {
            findings.into_iter().map(|finding| finding.verdict).collect()
        };
        let calls = verdicts(call_findings(&CallScore::default(), false));
        assert_eq!(calls[0], Verdict::NotApplicable(Reason::NoRightApis));
        assert_eq!(calls[1], Verdict::NotApplicable(Reason::NothingCalled));
        assert_eq!(calls[3].number(), Some(0.0));
        let unasked = verdicts(status_findings(&[None, None], Verdict::failed("no model"), 0.0));
        assert_eq!(unasked[..2], [Verdict::failed("no model"), Verdict::failed("no model")]);
    }

    #[test]
    fn runs_count_by_their_mean_and_their_majority() {
        let card = |runs: &[Option<Status>]| Scorecard {
            judged: status_findings(runs, Verdict::failed(""), 0.0).into(),
            ..Scorecard::of_attempt("", "")
        };
        let check = |runs: &[Option<Status>], sopr: f64, status: Status| {
            let card = card(runs);
            assert_eq!((card.number(SOPR_SCORE), status_of(&card)), (Some(sopr), Some(status)));
        };
        check(&[Some(Status::Solved), None, Some(Status::Solved)], 1.0, Status::Solved);
        check(&[Some(Status::Solved), Some(Status::Unsolved)], 0.5, Status::Unsure);
        assert_eq!(status_of(&card(&[None])), None);
    }
}
