//! Why expected steps were not found.

use juror_score::{Excess, Limits, Profile, TooLarge, Whose, explain, score};
use serde_json::{Value, json};

use crate::stage::{inside, with_steps};

fn misses(expected: &Value, actual: &Value, profile: &Profile) -> Vec<(usize, usize, String)> {
    with_steps(&inside(expected), &inside(actual), |case| {
        let misses = explain(&score(case, profile), profile);
        misses.into_iter().map(|miss| (miss.group, miss.expected, miss.why)).collect()
    })
}

fn why(expected: &Value, actual: &Value) -> String {
    let expected = json!([[{"name": "s", "output": expected}]]);
    let actual = json!([{"name": "s", "status": "success", "output": actual}]);
    misses(&expected, &actual, &Profile::V5).remove(0).2
}

#[test]
fn a_step_that_is_as_expected_may_be_too_late_or_found_for_another() {
    let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
    let (first, second) = (step("first"), step("second"));
    assert_eq!(
        misses(&json!([[first], [second]]), &json!([second, first]), &Profile::V6),
        [(0, 0, "the step came only after one that was found for group 2".to_owned())]
    );
    assert_eq!(
        misses(&json!([[first, first]]), &json!([first]), &Profile::V6),
        [(0, 0, "a step like it was found for another expected step".to_owned())]
    );
}

#[test]
fn ten_thousand_misses_are_explained_by_the_steps_that_differ() {
    let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
    let (wanted, got) = (vec![step("a"); 10_000], vec![step("b"); 10_000]);
    let explained = misses(&json!([wanted]), &json!(got), &Profile::V6);
    assert_eq!(explained.len(), 10_000);
    assert!(explained.iter().all(|(_, _, why)| why == "expected `a`, got `b`"));
}

#[test]
fn steps_beyond_the_limit_on_pairs_are_not_looked_at_for_an_explanation() {
    let expected = json!([[{"name": "s", "args": {"c": 1}, "match": "args"}]]);
    let failed = |c: u32| json!({"name": "s", "args": {"c": c}, "status": "error"});
    let actual = json!([failed(1), failed(2), failed(3)]);
    let limits = Limits { step_pairs: 2, ..Limits::DEFAULT };
    let told = misses(&expected, &actual, &Profile { limits, ..Profile::V6 });
    let why = "no step was found for it; `limits.step_pairs` (2) allows no closer look";
    assert_eq!(told, [(0, 0, why.to_owned())]);
}

#[test]
fn a_table_that_is_too_large_is_said_to_be() {
    let step = |output: &str| {
        json!({"name": "s", "status": "success", "output": output,
            "output_media_type": "text/tab-separated-values"})
    };
    let (expected, actual) = (step("?a\n1\n"), step("?a\t?b\n\n\n\n\n\n"));
    let limits = Limits { table_cells: 3, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V5 };
    let told = "the output is a table that has, with those before it, more cells than \
                `limits.table_cells` allows (3)";
    let misses = misses(&json!([[expected]]), &json!([actual]), &profile);
    assert_eq!(misses, [(0, 0, told.to_owned())]);
}

#[test]
fn tables_of_an_answer_share_what_they_take_beyond_their_texts() {
    let step = |output: &str| {
        json!({"name": "s", "status": "success", "output": output,
            "output_media_type": "text/tab-separated-values"})
    };
    // Each has 20 cells, of which its text answers for a few.
    let table = |head: &str| format!("{head}\t?b\t?c\t?d\n1\n\n\n\n\n");
    let limits = Limits { table_cells: 40, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V5 };
    let too_large = |n_tables: usize| {
        let heads = (0..n_tables).map(|n| step(&table(&format!("?a{n}"))));
        let actual: Vec<Value> = heads.collect();
        with_steps(&inside(&json!([[step("?a\n2\n")]])), &inside(&json!(actual)), |case| {
            score(case, &profile).too_large
        })
    };
    assert_eq!(too_large(2), []);
    let met = |step: usize| TooLarge { place: Whose::Actual(step), excess: Excess::TableCells };
    assert_eq!(too_large(30), (2..30).map(met).collect::<Vec<_>>());
}

#[test]
fn what_could_not_be_read_for_the_score_is_not_read_for_its_explanation() {
    let step = |output: &str| {
        json!({"name": "sparql_query", "status": "success", "output": output,
            "output_media_type": "text/tab-separated-values"})
    };
    // The first takes the room of the second, which would be explained alone.
    let table = |head: &str| format!("{head}\t?b\t?c\t?d\n1\n\n\n\n\n");
    let limits = Limits { table_cells: 20, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V6 };
    let expected = json!([[step("?a\n2\n")]]);
    let actual = json!([step(&table("?a")), step(&table("?x"))]);
    let told = "the output is a table that has, with those before it, more cells than \
                `limits.table_cells` allows (20)";
    assert_eq!(misses(&expected, &actual, &profile), [(0, 0, told.to_owned())]);
}

#[test]
fn a_reference_beyond_a_limit_is_said_to_be() {
    let step = |output: &str| {
        json!({"name": "sparql_query", "status": "success", "output": output,
            "output_media_type": "text/tab-separated-values"})
    };
    let limits = Limits { table_cells: 3, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V6 };
    let actual = json!([step("?a\n1\n")]);
    let told = |expected: &str| misses(&json!([[step(expected)]]), &actual, &profile);
    let large = "the reference output is a table that has, with those before it, more cells \
                 than `limits.table_cells` allows (3)";
    assert_eq!(told("?a\t?b\n\n\n\n\n"), [(0, 0, large.to_owned())]);
    let wide = "the reference output is a table of more than 1024 columns";
    assert_eq!(told(&"?a\t".repeat(1025)), [(0, 0, wide.to_owned())]);
}

#[test]
fn a_list_of_too_many_documents_is_said_to_be() {
    let step = |output: &Value| json!({"name": "retrieval", "status": "success", "output": output.to_string()});
    let (expected, actual) = (step(&json!([{"id": 1}])), step(&json!(vec![json!({}); 20])));
    let limits = Limits { documents: 2, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V5 };
    let told = "the output is a list that has, with those before it, more documents than \
                `limits.documents` allows (2)";
    let misses = misses(&json!([[expected]]), &json!([actual]), &profile);
    assert_eq!(misses, [(0, 0, told.to_owned())]);
}

#[test]
fn the_call_that_was_meant_is_the_one_that_is_explained() {
    let profile = Profile::V6;
    let expected = |c: u32| json!({"name": "s", "args": {"c": c}, "match": "args"});
    let call = |c: u32, status: &str| {
        let mut call = json!({"name": "s", "args": {"c": c}, "status": status});
        let part = if status == "error" { "error" } else { "output" };
        call[part] = "x".into();
        call
    };
    let told = |actual: Value| misses(&json!([[expected(1), expected(2)]]), &actual, &profile);
    let failed = told(json!([call(1, "error"), call(2, "success")]));
    assert_eq!(failed, [(0, 0, "the step failed: `x`".to_owned())]);
    let other = told(json!([call(3, "success"), call(2, "success")]));
    assert_eq!(other, [(0, 0, "c: expected `1`, got `3`".to_owned())]);
    let outputs = json!([[{"name": "s", "output": "a"}, {"name": "s", "output": "b"}]]);
    let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
    assert_eq!(
        misses(&outputs, &json!([step("c"), step("b")]), &profile),
        [(0, 0, "expected `a`, got `c`".to_owned())]
    );
}

#[test]
fn a_long_output_is_not_gone_through_for_every_miss() {
    let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
    let wanted: Vec<Value> = (0..5_000).map(|n| step(&n.to_string())).collect();
    let got = step(&"{} ".repeat(200_000));
    let explained = misses(&json!([wanted]), &json!([got]), &Profile::V6);
    assert_eq!(explained.len(), 5_000);
    let told = format!("expected `7`, got `{}…`", "{} ".repeat(20));
    assert_eq!(explained[7].2, told);
}

#[test]
fn outputs_that_look_alike_are_told_apart() {
    let long = "x".repeat(80);
    for (expected, actual, told) in [
        (json!(5), json!("5"), "expected the number `5`, got the text `\"5\"`"),
        (json!("true"), json!(true), "expected the text `\"true\"`, got the truth value `true`"),
        (json!("4 kg"), json!("5 kg"), "expected `4 kg`, got `5 kg`"),
        (json!("4  kg"), json!("4 kg"), "the outputs differ in white space alone"),
        (
            json!(format!("{long}4")),
            json!(format!("{long}5")),
            "from character 81 on: expected `4`, got `5`",
        ),
    ] {
        assert_eq!(why(&expected, &actual), told);
    }
}
