//! Cases that are built, beside the same cases read.

use std::borrow::Cow;

use juror_json::Object;
use juror_score::{
    Case, ExpectedStepBuilder, MatchedBy, Profile, QuestionBuilder, Rules, StepBuilder,
    TrajectoryBuilder, score,
};
use serde_json::json;
use serde_json::value::RawValue;

use crate::stage::with_case;

fn question() -> QuestionBuilder {
    let columns = Some(vec!["a".into()]);
    QuestionBuilder::new("q", "Who?")
        .template("t")
        .answer("Ada")
        .step(ExpectedStepBuilder::new("find").args(json!({"k": 1})).matched_by(MatchedBy::Args))
        .group([
            ExpectedStepBuilder::new("sparql_query")
                .output("a\n1\n")
                .media_type("text/csv")
                .rules(Rules { required_columns: columns, ordered: true, ..Rules::default() }),
            ExpectedStepBuilder::new("text").output("x"),
        ])
}

fn trajectory() -> TrajectoryBuilder {
    TrajectoryBuilder::new()
        .step(StepBuilder::new("find").id("call_1").args(json!({"k": 1})).output(json!([])))
        .step(StepBuilder::new("text").output("y").error("no such text"))
        .step(StepBuilder::new("text").output("x"))
        .step(StepBuilder::new("sparql_query").output("b\n1\n").media_type("text/csv"))
        .answer("Ada")
        .tokens(10, 5)
        .elapsed_sec(0.5)
}

#[test]
fn a_built_case_is_as_one_that_was_read() {
    let (question, trajectory) = (question(), trajectory());
    let (question, trajectory) = (question.build(), trajectory.build());
    let step = |fields: &Object<'_>| {
        let field = |(key, value): (Cow<'_, str>, &RawValue)| format!("{key}: {value}");
        fields.iter().map(field).collect::<Vec<_>>()
    };
    let json = |step: &Object<'_>| {
        let fields = step.iter().map(|(key, value)| format!("\"{key}\": {value}"));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
    };
    let groups = question.groups.as_deref().expect("groups");
    let written = groups.iter().map(|group| {
        let steps = group.iter().map(|step| json(&step.fields)).collect::<Vec<_>>();
        format!("[{}]", steps.join(", "))
    });
    let reference = format!(
        r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Who?",
            "reference_answer": "Ada", "reference_steps": [{}]}}]}}]"#,
        written.collect::<Vec<_>>().join(", ")
    );
    let steps = trajectory.steps.as_deref().expect("steps");
    let responses = format!(
        r#"[{{"question_id": "q", "actual_answer": "Ada", "actual_steps": [{}]}}]"#,
        steps.iter().map(|step| json(&step.fields)).collect::<Vec<_>>().join(", ")
    );
    with_case(&reference, &responses, |read| {
        for (built, read) in
            groups.iter().flatten().zip(read.question.groups.iter().flatten().flatten())
        {
            assert_eq!(step(&built.fields), step(&read.fields));
            assert_eq!((&built.name, &built.media_type), (&read.name, &read.media_type));
            assert_eq!((&built.rules, built.matched_by), (&read.rules, read.matched_by));
        }
        for profile in [Profile::V5, Profile::V6] {
            let built = Case { question: &question, trajectory: &trajectory };
            let matching = score(&built, &profile).matching;
            assert_eq!(matching, score(read, &profile).matching);
            assert_eq!(matching.map(|matching| matching.score), Some(1.0));
        }
    });
}
