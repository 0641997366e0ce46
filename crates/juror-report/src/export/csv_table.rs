//! Scores as comma-separated values: a row per answer, a column per metric.

use super::Evaluated;

const ABOUT: [&str; 6] = ["template_id", "question_id", "trial", "status", "trace_id", "span_id"];

pub(super) fn render(answers: &[Evaluated<'_>]) -> Vec<u8> {
    let metrics = metrics_of(answers);
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(ABOUT.iter().chain(&metrics));
    for answer in answers {
        let _ = writer.write_record(row(answer, &metrics));
    }
    writer.into_inner().unwrap_or_default()
}

/// The metrics that some answer has, in order of first appearance.
fn metrics_of<'a>(answers: &[Evaluated<'a>]) -> Vec<&'a str> {
    let all = answers.iter().flat_map(|answer| &answer.evaluations);
    let metrics: indexmap::IndexSet<&str> = all.map(|evaluation| evaluation.metric).collect();
    metrics.into_iter().collect()
}

/// Cells without a value are empty.
fn row(answer: &Evaluated<'_>, metrics: &[&str]) -> Vec<String> {
    let status = if answer.is_error { "error" } else { "success" };
    let score = |metric: &&str| {
        let found = answer.evaluations.iter().find(|evaluation| evaluation.metric == *metric);
        found.and_then(|found| found.score).map_or(String::new(), |score| score.to_string())
    };
    let about = [
        answer.group.to_owned(),
        answer.id.to_owned(),
        answer.trial.map_or(String::new(), |trial| trial.to_string()),
        status.to_owned(),
        answer.trace_id.clone().unwrap_or_default(),
        answer.span_id.clone().unwrap_or_default(),
    ];
    about.into_iter().chain(metrics.iter().map(score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::answers;

    #[test]
    fn a_row_has_the_scores_of_an_answer() {
        let wanted = "\
template_id,question_id,trial,status,trace_id,span_id,answer_f1,steps_score
capitals,peru,2,success,5b8efff798038103d269b633813fc60c,eee19b7ec3c1b174,0.5,1
capitals,\"chile, \"\"south\"\"\",,error,,,,
";
        assert_eq!(String::from_utf8(render(&answers())).expect("text"), wanted);
    }

    #[test]
    fn a_run_without_answers_is_a_table_without_rows() {
        assert_eq!(render(&[]), b"template_id,question_id,trial,status,trace_id,span_id\n");
    }
}
