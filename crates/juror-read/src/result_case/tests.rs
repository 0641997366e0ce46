use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::*;
use juror_score::{
    Alignment, Ending, ExpectedStepBuilder, Finding, QuestionBuilder, Record, ShownLimits,
    StepBuilder, TrajectoryBuilder, Verdict, explain, score,
};

fn read(result: &Value, profile: &Profile, check: impl FnOnce(&ResultCase<'_>)) {
    let text = result.to_string();
    let aspects =
        judged_aspects(profile, [Aspect::custom("tone", vec!["polite".into(), "warm".into()])]);
    check(&ResultCase::read(&text, &aspects).expect("a result"));
}

fn result() -> Value {
    json!({"template_id": "t", "question_id": 7, "trial": 2, "question_text": "Q?",
        "reference_answer": "A", "reference_steps": [[
            {"name": "sparql_query", "output": "a\n1\n", "output_media_type": "text/csv",
             "ordered": true, "matches": "1"}]],
        "status": "success", "actual_answer": "B", "actual_steps": [
            {"id": "1", "name": "retrieval", "status": "success", "output": "[]",
             "retrieval_answer_recall": 0.5, "retrieval_answer_recall_reason": "half",
             "retrieval_context_recall": 1.0}],
        "steps_score": 0.0, "input_tokens": 3, "elapsed_sec": 1.5})
}

#[test]
fn the_parts_of_a_result_are_those_of_its_case() {
    read(&result(), &Profile::V6, |result| {
        let question = &result.question;
        assert_eq!((&*question.id, &*question.template), ("7", "t"));
        assert_eq!(result.case().question_text(), "Q?");
        assert_eq!(result.case().reference_answer().as_deref(), Some("A"));
        assert_eq!(result.case().actual_answer().as_deref(), Some("B"));
        assert!(question.groups.as_ref().expect("steps")[0][0].rules.ordered);
        let trajectory = &result.trajectory;
        assert_eq!(trajectory.trial.map(std::num::NonZero::get), Some(2));
        assert_eq!(trajectory.ending, Ending::Responded);
        let usage: Vec<&str> = trajectory.usage.iter().map(|(name, _)| name).collect();
        assert_eq!(usage, ["input_tokens", "elapsed_sec"]);
    });
}

#[test]
fn a_failed_result_has_its_message() {
    let failed = json!({"template_id": "t", "question_id": "q", "question_text": "Q",
        "status": "error", "error": "no response"});
    read(&failed, &Profile::V5, |result| {
        assert_eq!(result.trajectory.ending, Ending::Failed("\"no response\"".into()));
        assert!(result.trajectory.steps.is_none() && result.question.groups.is_none());
    });
}

#[test]
fn findings_of_steps_are_those_of_judges() {
    let found = |profile: &Profile| {
        let mut found = Vec::new();
        read(&result(), profile, |result| {
            let findings = result.judgement.findings.iter();
            found.extend(findings.map(|finding| (finding.aspect.name().to_owned(), finding.step)));
        });
        found
    };
    let named = |name: &str| (name.to_owned(), Some(0));
    let both = [named("retrieval_answer_recall"), named("retrieval_context_recall")];
    assert_eq!(found(&Profile::V6), both);
    assert_eq!(found(&Profile::V5), both[..1], "profile 5 computes those of contexts");
}

#[test]
fn findings_are_read_in_any_order_and_without_those_that_cannot_be() {
    let mut with = result();
    with.as_object_mut().expect("an object").extend(
        json!({"answer_f1": 1.0, "answer_recall": 1.0, "answer_precision": 1.0,
            "answer_correctness_reason": "all", "answer_matching_claims_count": 1,
            "answer_reference_claims_count": 1, "answer_actual_claims_count": 1,
            "polite": null, "warm": null, "tone_error": "no reply", "tone_cost": 0.5,
            "answer_relevance": "high",
            "judged_by": {"model": "p/m", "prompts": {"claims": "h"}, "flags": ["forged"]}})
        .as_object()
        .expect("an object")
        .clone(),
    );
    with["actual_steps"] = json!([]);
    read(&with, &Profile::V6, |result| {
        let judgement = &result.judgement;
        let [claims, tone] = &judgement.findings[..] else { panic!("{judgement:?}") };
        assert_eq!(claims.verdict.claim_scores(), Some([1.0, 1.0, 1.0]));
        assert_eq!(claims.reason.as_deref(), Some("all"));
        assert_eq!(tone.verdict, Verdict::failed("no reply"));
        assert_eq!(tone.cost, Some(0.5));
        assert_eq!(judgement.flags, ["forged"]);
        assert_eq!(judgement.judged_by.as_ref().map(|by| by.model.as_str()), Some("p/m"));
    });
}

#[test]
fn what_is_no_result_of_a_question_is_not_read() {
    for text in [
        "[]",
        "{}",
        "nonsense",
        r#"{"query_id": 1, "set": "a"}"#,
        r#"{"template_id": "t", "question_id": "q", "question_text": "Q", "reference_steps": [[{}]]}"#,
    ] {
        assert!(ResultCase::read(text, &[]).is_none(), "{text}");
    }
}

/// Writes a record like the results of an evaluation.
fn written(record: &Record<'_>) -> Value {
    let fields = |fields: &Object<'_>| -> Map<String, Value> {
        let value = |raw: &RawValue| serde_json::from_str(raw.get()).expect("JSON");
        fields.iter().map(|(key, raw)| (key.into_owned(), value(raw))).collect()
    };
    let groups = record.case.question.groups.iter().flatten();
    let groups: Vec<Vec<_>> =
        groups.map(|steps| steps.iter().map(|step| fields(&step.fields)).collect()).collect();
    let steps = record.case.trajectory.steps.iter().flatten();
    let mut steps: Vec<_> = steps.map(|step| fields(&step.fields)).collect();
    let mut flat = Map::new();
    for finding in record.findings() {
        let own = finding.step.map_or(&mut flat, |step| &mut steps[step]);
        finding.each_pair(|key, value| {
            own.insert(key.into_owned(), serde_json::to_value(value).expect("JSON"));
        });
    }
    let mut result = json!({"template_id": "t", "question_id": "q", "question_text": "Q",
        "reference_steps": groups, "status": "success", "actual_steps": steps});
    result.as_object_mut().expect("an object").extend(flat);
    result
}

fn outputs() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(0..3_u8, 0..4), 1..4)
}

proptest! {
    #[test]
    fn a_result_scores_like_the_case_that_it_was_written_for(
        expected in outputs(),
        actual in outputs(),
        relevance in prop::option::of(0.0..1.0_f64),
        is_retrieval: bool,
        profile in prop::sample::select(vec![Profile::V5, Profile::V6]),
    ) {
        let name = if is_retrieval { "retrieval" } else { "sparql_query" };
        let text = |cells: &[u8]| if is_retrieval {
            let document = |id: &u8| json!({"id": id, "text": id.to_string()});
            Value::from(cells.iter().map(document).collect::<Vec<_>>()).to_string()
        } else {
            cells.iter().fold("a\n".to_owned(), |text, cell| format!("{text}{cell}\n"))
        };
        let mut question = QuestionBuilder::new("q", "Q");
        for cells in &expected {
            let step = ExpectedStepBuilder::new(name).output(text(cells));
            question = question.step(if is_retrieval { step } else { step.media_type("text/csv") });
        }
        let mut trajectory = TrajectoryBuilder::new();
        for cells in &actual {
            trajectory = trajectory.step(StepBuilder::new(name).output(text(cells)));
        }
        let (question, trajectory) = (question.build(), trajectory.build());
        let case = Case { question: &question, trajectory: &trajectory };
        let mut judgement = Judgement::default();
        judgement.findings.extend(relevance.map(|value| {
            let verdict = Verdict::scored(value);
            Finding::new(Aspect::Metric("answer_relevance"), verdict)
        }));
        let record = score(&case, &profile).with(&judgement);
        let result = written(&record).to_string();
        let again = ResultCase::read(&result, &judged_aspects(&profile, [])).expect("a result");
        prop_assert_eq!(&again.judgement, &judgement);
        let case = again.case();
        let rescored = score(&case, &profile).with(&again.judgement);
        prop_assert_eq!(&rescored.matching, &record.matching);
        prop_assert_eq!(&rescored.computed, &record.computed);
        prop_assert_eq!(explain(&rescored, &profile), explain(&record, &profile));
        let limits = ShownLimits::DEFAULT;
        prop_assert_eq!(
            Alignment::of(&rescored, &profile, &limits),
            Alignment::of(&record, &profile, &limits)
        );
    }
}
