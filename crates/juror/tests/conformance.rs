//! The rules, checked against recorded cases: a small set of our own, and the large recorded ones
//! where they are at hand (`JUROR_VECTORS`, or `shared/vectors` beside the project).
//!
//! Numbers agree within 1e-9, absolute or relative; of `*_error` texts only the presence counts.

use juror_document::{Document, Format, Problem};
use juror_read::{read_reference, read_responses, read_results};
use juror_report::Format as Written;
use juror_score::compare::{DocumentId, compare_sparql_results};
use juror_score::retrieval::{average_precision, compare_contexts, recall_at_k};
use juror_score::{
    Aggregator, Case, Finding, KeyPart, Profile, QuestionBuilder, Rules, TrajectoryBuilder,
    Verdict, score, split_key,
};
use juror_testing::{Checked, project, recorded_cases, run_cases};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The files whose cases need no model.
const FAMILIES: [&str; 9] = [
    "sparql",
    "retrieval",
    "steps",
    "evaluation",
    "evaluation_retrieval",
    "aggregates",
    "aggregates_retrieval",
    "retrieval_context_text",
    "departures",
];

#[test]
fn our_own_cases_hold() {
    run_cases(&project("conformance"), &["own"], check_profiles);
}

#[test]
fn the_recorded_cases_hold() {
    let Some(folder) = recorded_cases() else { return };
    run_cases(&folder.join("qa"), &FAMILIES, check_profiles);
}

/// A case as each of its profiles has it; nothing for a case that is not for this test.
fn check_profiles(family: &str, case: &Value, _line: &str) -> Vec<Checked> {
    if matches!(family, "llm" | "answer_correctness" | "cli") {
        return Vec::new();
    }
    profiles(case).iter().map(|profile| check(family, case, profile)).collect()
}

fn profiles(case: &Value) -> Vec<Profile> {
    let mut profiles = Vec::new();
    for key in ["peer", "also_peer"] {
        match case[key].as_str() {
            Some("5.2.0") => profiles.push(Profile::V5),
            Some("6.4") => profiles.push(Profile::V6),
            _ => {}
        }
    }
    profiles
}

fn check(family: &str, case: &Value, profile: &Profile) -> Checked {
    let input = &case["input"];
    if case.get("peer_value").is_some() {
        return check_departure(family, case, profile);
    }
    let wanted = case.get("recommended").unwrap_or(&case["expected"]);
    match family {
        "sparql" => same("score", &sparql(input), wanted),
        "retrieval" => same("score", &retrieval(input), wanted),
        "retrieval_context_text" => same("scores", &contexts(input), wanted),
        "answer_overlap" => same("overlap", &overlap(input, profile), wanted),
        "steps" => check_steps(case, wanted, profile),
        "aggregates" | "aggregates_retrieval" => {
            let mut wanted = wanted.clone();
            move_retrieval_metrics(&mut wanted);
            same("aggregates", &aggregates(input, profile), &wanted)
        }
        "evaluation" | "evaluation_retrieval" => check_evaluation(case, wanted, profile),
        other => Err(format!("unknown family {other}")),
    }
}

/// Cases where the recorded value is not the one wanted.
fn check_departure(family: &str, case: &Value, profile: &Profile) -> Checked {
    let input = &case["input"];
    let wanted = wanted_of_departure(case);
    let topic = case["topic"].as_str().unwrap_or_default();
    match family {
        "sparql" => same("score", &sparql(input), &wanted),
        "retrieval" if topic == "recall-duplicate-relevant" => {
            let distinct = json!({"op": "recall_at_k", "relevant": distinct(&input["relevant"]),
                "retrieved": distinct(&input["retrieved"]), "k": input["k"]});
            same("score", &retrieval(input), &retrieval(&distinct))
        }
        "retrieval" if topic == "id-equality" => {
            let is_number = |key: &str| input[key][0].is_number();
            let equal = is_number("relevant") && is_number("retrieved");
            same("score", &retrieval(input), &json!(f64::from(u8::from(equal))))
        }
        "retrieval" => same("score", &retrieval(input), &wanted),
        "retrieval_context_text" => same("scores", &contexts(input), &wanted),
        "steps" if topic == "steps-empty-group" => {
            let result = evaluate_steps(input, profile);
            let failed =
                result.get("steps_score").is_none() && result["steps_score_error"].is_string();
            failed
                .then_some(())
                .ok_or_else(|| format!("expected an error of the question: {result}"))
        }
        "steps" => same("steps_score", &evaluate_steps(input, profile)["steps_score"], &wanted),
        "evaluation" => check_evaluation_departure(topic, input, &wanted, profile),
        "aggregates" => check_aggregates_departure(topic, input, &wanted, profile),
        other => Err(format!("unknown family {other}")),
    }
}

/// The items of a list, each once, where it first stands.
fn distinct(list: &Value) -> Value {
    let mut items: Vec<&Value> = Vec::new();
    for item in list.as_array().expect("a list") {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    json!(items)
}

fn wanted_of_departure(case: &Value) -> Value {
    match case["recommended"].as_str() {
        Some("spec") => case["spec_value"].clone(),
        Some(text) if text.starts_with("peer") => case["peer_value"].clone(),
        Some(key) if case["spec_value"].get(key).is_some() => case["spec_value"][key].clone(),
        Some(_) => case["spec_value"].clone(),
        None => case["recommended"].clone(),
    }
}

fn check_evaluation_departure(
    topic: &str,
    input: &Value,
    wanted: &Value,
    profile: &Profile,
) -> Checked {
    let outcome = evaluate(input, profile);
    match topic {
        "evaluation-missing-question-text" | "evaluation-missing-template-id" => match outcome {
            Err(problems) if problems.contains(":1:") && problems.contains("has no `") => Ok(()),
            other => Err(format!("expected a located message: {other:?}")),
        },
        _ => {
            let (results, aggregates) = outcome?;
            let statuses: Vec<&Value> = results.iter().map(|result| &result["status"]).collect();
            match topic {
                "error-record-detection" => same("status", &json!(statuses), wanted),
                "evaluation-missing-response" => {
                    let expected = json!({"status": "error", "error": "no response"});
                    let got = json!({"status": results[0]["status"], "error": results[0]["error"]});
                    same("result", &got, &expected)
                }
                "evaluation-missing-one-token" => {
                    let kept = results[0].get("elapsed_sec").is_none();
                    kept.then_some(()).ok_or_else(|| "elapsed_sec should be left out".into())
                }
                "evaluation-numeric-step-output" => {
                    let steps = &aggregates["per_template"]["t"]["steps"];
                    let expected = json!({"total": {"calc": 1}, "once_per_sample": {"calc": 1}});
                    same("steps", steps, &expected)
                }
                other => Err(format!("unknown topic {other}")),
            }
        }
    }
}

fn check_aggregates_departure(
    topic: &str,
    input: &Value,
    wanted: &Value,
    profile: &Profile,
) -> Checked {
    let got = aggregates(input, profile);
    match topic {
        "aggregates-retrieval-location" => {
            for (id, metrics) in wanted["per_template.<t>"].as_object().expect("templates") {
                for (name, spread) in metrics.as_object().expect("metrics") {
                    same(name, &got["per_template"][id][name], spread)?;
                }
            }
            Ok(())
        }
        "macro-of-empty-template" | "aggregates-step-named-mean" => {
            same("macro", &got["macro"], wanted)
        }
        "error-record-detection" => {
            same("errors", &got["micro"]["number_of_error_samples"], wanted)
        }
        "compensated-sum" => {
            let expected =
                json!({"sum": 1.0, "mean": 1.0 / 3.0, "median": 1.0, "min": -1e16, "max": 1e16});
            same("elapsed_sec", &got["micro"]["elapsed_sec"], &expected)
        }
        "aggregates-string-metric" | "aggregates-bool-metric" => {
            let ignored = got["micro"].get("steps_score").is_none();
            ignored.then_some(()).ok_or_else(|| "steps_score should be ignored".into())
        }
        _ => same("steps", &got["per_template"]["t"]["steps"]["total"]["s"], &json!(1)),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn sparql(input: &Value) -> Value {
    let names = |columns: &Vec<Value>| columns.iter().map(|name| text(name).into()).collect();
    let rules = Rules {
        required_columns: input["required_columns"].as_array().map(names),
        ordered: input["ordered"].as_bool().expect("ordered"),
        ignore_duplicates: input["ignore_duplicates"].as_bool().expect("ignore_duplicates"),
    };
    json!(compare_sparql_results(&text(&input["reference"]), &text(&input["actual"]), &rules))
}

fn retrieval(input: &Value) -> Value {
    let raw = |key: &str| -> Vec<Box<RawValue>> {
        let items = input[key].as_array().expect("a list");
        items.iter().map(|item| serde_json::value::to_raw_value(item).expect("JSON")).collect()
    };
    let (relevant, retrieved) = (raw("relevant"), raw("retrieved"));
    let ids = |items: &'_ [Box<RawValue>]| -> Vec<String> {
        items.iter().map(|item| format!("{:?}", DocumentId::from_json(item))).collect()
    };
    let (relevant, retrieved) = (ids(&relevant), ids(&retrieved));
    match input["op"].as_str() {
        Some("recall_at_k") => {
            json!(recall_at_k(&relevant, &retrieved, input["k"].as_i64().expect("k")))
        }
        _ => json!(average_precision(&relevant, &retrieved)),
    }
}

/// The metrics of overlap that apply to two answers, by name.
fn overlap(input: &Value, profile: &Profile) -> Value {
    let profile = Profile { answer_overlap: true, ..profile.clone() };
    let question = QuestionBuilder::new("q", "Q").answer(text(&input["reference"]));
    let trajectory = TrajectoryBuilder::new().answer(text(&input["actual"]));
    let (question, trajectory) = (question.build(), trajectory.build());
    let record = score(&Case { question: &question, trajectory: &trajectory }, &profile);
    let number =
        |finding: &Finding| Some((finding.aspect.name().to_owned(), finding.verdict.number()?));
    let scores: serde_json::Map<String, Value> =
        record.computed.iter().filter_map(number).map(|(name, own)| (name, json!(own))).collect();
    Value::Object(scores)
}

fn contexts(input: &Value) -> Value {
    let texts = |key: &str| -> Vec<String> {
        input[key].as_array().expect("a list").iter().map(text).collect()
    };
    let (reference, actual) = (texts("reference_contexts"), texts("actual_contexts"));
    let reference: Vec<&str> = reference.iter().map(String::as_str).collect();
    let actual: Vec<&str> = actual.iter().map(String::as_str).collect();
    let scores = compare_contexts(&reference, &actual).expect("short contexts");
    json!({
        "retrieval_context_recall": scores.recall,
        "retrieval_context_precision": scores.precision,
        "retrieval_context_f1": scores.f1,
    })
}

/// The result of a question made of the case's expected and actual steps.
fn evaluate_steps(input: &Value, profile: &Profile) -> Value {
    let question =
        json!({"id": "q", "question_text": "Q", "reference_steps": input["reference_steps"]});
    let evaluation = json!({
        "reference": [{"template_id": "t", "questions": [question]}],
        "responses": [{"question_id": "q", "actual_steps": input["actual_steps"]}],
    });
    let (results, _) = evaluate(&evaluation, profile).expect("readable steps");
    results.into_iter().next().expect("one result")
}

fn check_steps(case: &Value, wanted: &Value, profile: &Profile) -> Checked {
    let result = evaluate_steps(&case["input"], profile);
    let score = &result["steps_score"];
    if case.get("greedy").is_some() {
        let at_least = wanted["steps_score"].as_f64().expect("a score");
        let score = score.as_f64().unwrap_or(-1.0);
        return (score + 1e-9 >= at_least).then_some(()).ok_or(format!("{score} < {at_least}"));
    }
    same("steps_score", score, &wanted["steps_score"])?;
    let matches: Vec<Vec<Value>> = result["reference_steps"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            let steps = group.as_array().expect("steps").iter();
            steps.map(|step| step.get("matches").cloned().unwrap_or(Value::Null)).collect()
        })
        .collect();
    same("matched_ids", &json!(matches), &wanted["matched_ids"])
}

type Evaluated = (Vec<Value>, Value);

/// Runs an evaluation through the readers, the scorer and the writers.
fn evaluate(input: &Value, profile: &Profile) -> Result<Evaluated, String> {
    let document = |name: &str, value: &Value| {
        Document::new(name, value.to_string().into_bytes(), Format::Json).expect("UTF-8")
    };
    let reference = document("reference.json", &input["reference"]);
    let responses = document("responses.json", &input["responses"]);
    let dataset = read_reference(&reference).map_err(|problems| problems.to_string())?;
    let responses = read_responses(&responses).map_err(|problems| problems.to_string())?;
    let mut aggregator = Aggregator::new(profile, &[]);
    let mut results = Vec::new();
    for question in &dataset.questions {
        let record = score(&Case { question, trajectory: responses.of(question) }, profile);
        let mut bytes = Vec::new();
        let columns = juror_report::Columns::default();
        juror_report::write_result(&record, profile, &columns, Written::JsonLines, 0, &mut bytes);
        results.push(serde_json::from_slice(&bytes).expect("results are JSON"));
        if let Some(score) = record.verdict("steps_score").and_then(Verdict::number) {
            assert!((0.0..=1.0).contains(&score), "a score is a fraction");
        }
        aggregator.add(&record);
    }
    Ok((results, aggregates_json(&aggregator)))
}

fn aggregates_json(aggregator: &Aggregator) -> Value {
    let bytes = juror_report::render_aggregates(&aggregator.finish(), Written::Json);
    serde_json::from_slice(&bytes).expect("aggregates are JSON")
}

fn check_evaluation(case: &Value, wanted: &Value, profile: &Profile) -> Checked {
    let (results, aggregates) = evaluate(&case["input"], profile)?;
    if case.get("greedy").is_some() {
        return check_greedy_evaluation(case, &results, wanted);
    }
    same("results", &json!(results), &wanted["results"])?;
    let mut wanted = wanted["aggregates"].clone();
    move_retrieval_metrics(&mut wanted);
    same("aggregates", &aggregates, &wanted)
}

/// Where the library pairs greedily, scores may only be better and pairs may differ.
fn check_greedy_evaluation(case: &Value, results: &[Value], wanted: &Value) -> Checked {
    let concerned: Vec<&Value> = case["questions"]
        .as_array()
        .or(case["greedy"]["questions"].as_array())
        .into_iter()
        .flatten()
        .collect();
    for (result, wanted) in results.iter().zip(wanted["results"].as_array().expect("results")) {
        if concerned.is_empty() || concerned.contains(&&result["question_id"]) {
            let score = |value: &Value| value["steps_score"].as_f64().unwrap_or(0.0);
            if score(result) + 1e-9 < score(wanted) {
                return Err(format!("{} < {}", score(result), score(wanted)));
            }
        } else {
            same("result", result, wanted)?;
        }
    }
    Ok(())
}

/// Aggregates of results that were written earlier.
fn aggregates(input: &Value, profile: &Profile) -> Value {
    let custom: Vec<String> = input["config"]["custom_evaluations"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|evaluation| evaluation["outputs"].as_object().expect("outputs").keys().cloned())
        .collect();
    let bytes = input["samples"].to_string().into_bytes();
    let document = Document::new("results.json", bytes, Format::Json).expect("UTF-8");
    let mut aggregator = Aggregator::new(profile, &custom);
    let (_, problems) = read_results(&document, &mut aggregator).expect("results");
    // The library ignores metrics of other steps, scores that are not numbers and negative times
    // without a word.
    let is_told = |own: &Problem| {
        !matches!(
            own,
            Problem::UncountedMetrics { .. }
                | Problem::NegativeAmount { .. }
                | Problem::NoNumber { .. }
        )
    };
    let problems = problems.such(is_told);
    assert!(problems.is_empty(), "{problems}");
    aggregates_json(&aggregator)
}

/// The library nests `retrieval_*` statistics inside a template's `steps`; they belong beside it.
fn move_retrieval_metrics(aggregates: &mut Value) {
    for template in
        aggregates["per_template"].as_object_mut().into_iter().flat_map(|t| t.values_mut())
    {
        let Some(steps) = template.get_mut("steps").and_then(Value::as_object_mut) else {
            continue;
        };
        let names: Vec<String> =
            steps.keys().filter(|name| name.starts_with("retrieval_")).cloned().collect();
        let moved: Vec<(String, Value)> =
            names.into_iter().filter_map(|name| steps.remove_entry(&name)).collect();
        template.as_object_mut().expect("a template").extend(moved);
    }
}

/// Compares what a vector asks: numbers nearly, error texts by presence, objects in any order.
fn same(path: &str, got: &Value, wanted: &Value) -> Checked {
    let differ = || Err(format!("{path}: got {got}, wanted {wanted}"));
    match (got, wanted) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("finite"), b.as_f64().expect("finite"));
            let near = (a - b).abs() <= 1e-9_f64.max(1e-9 * b.abs());
            if near { Ok(()) } else { differ() }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.try_for_each(|(at, (a, b))| same(&format!("{path}[{at}]"), a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            if a.len() != b.len() {
                return differ();
            }
            b.iter().try_for_each(|(key, b)| match a.get(key) {
                None => Err(format!("{path}.{key}: missing")),
                Some(_) if split_key(key).1 == Some(KeyPart::Error) => Ok(()),
                Some(a) => same(&format!("{path}.{key}"), a, b),
            })
        }
        _ if got == wanted => Ok(()),
        _ => differ(),
    }
}
