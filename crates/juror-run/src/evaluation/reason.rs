//! Why a question failed or lost score, in words.

use juror_report::text_of_json;
use juror_score::{Ending, Finding, KeyPart, Profile, Record, Score, Verdict, explain};

/// Says why a question failed or lost score: its error, or else what could not be computed, which
/// steps were missed and what a judge says of the answer, a line each. Returns an empty text if
/// there is nothing to say.
pub(super) fn reason(record: &Record<'_>, profile: &Profile) -> String {
    match &record.case.trajectory.ending {
        Ending::Failed(message) => return text_of_json(message).into_owned(),
        Ending::Missing => return "no response".into(),
        Ending::Responded => {}
    }
    let misses = match record.verdict("steps_score").and_then(Verdict::number) {
        Some(score) if score < 1.0 => explain(record, profile),
        _ => Vec::new(),
    };
    let failures = record.findings().filter_map(failure);
    let misses = misses.into_iter().map(|miss| format!("{}: {}", miss.name, miss.why));
    failures.chain(misses).chain(wrong_answer(record)).collect::<Vec<_>>().join("\n")
}

fn failure(finding: &Finding) -> Option<String> {
    let message = &finding.failure()?.message;
    Some(format!("{}: {message}", finding.aspect.key(KeyPart::Error)))
}

/// What a judge says of an answer that is incomplete or wrong.
fn wrong_answer(record: &Record<'_>) -> Option<String> {
    let claims = record.claims()?;
    let Verdict::Scored(Score::Claims(own)) = &claims.verdict else { return None };
    claims.reason.clone().filter(|_| own.scores()[2] < 1.0)
}
