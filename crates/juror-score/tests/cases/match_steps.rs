//! Expected steps found among those that were taken.

use juror_score::{Excess, Limits, Matching, NoMatching, Profile, TooLarge, Whose, match_steps};

use crate::stage::with_steps;

fn matched(expected: &str, actual: &str, profile: &Profile) -> Result<Matching, NoMatching> {
    matched_groups(&format!("[{expected}]"), actual, profile)
}

fn matched_groups(groups: &str, actual: &str, profile: &Profile) -> Result<Matching, NoMatching> {
    with_steps(groups, actual, |case| {
        let groups = case.question.groups.as_deref().unwrap_or_default();
        let steps = case.trajectory.steps.as_deref().unwrap_or_default();
        match_steps(groups, steps, profile)
    })
}

fn steps(outputs: impl Iterator<Item = usize>) -> String {
    let step = |(id, output): (usize, usize)| {
        format!(r#"{{"id": "{id}", "name": "s", "status": "success", "output": "{output}"}}"#)
    };
    outputs.enumerate().map(step).collect::<Vec<_>>().join(",")
}

#[test]
fn ten_thousand_equal_steps_are_found() {
    let equal = steps(std::iter::repeat_n(7, 10_000));
    let matching = matched(&equal, &equal, &Profile::V5).expect("a matching");
    assert_eq!((matching.score, matching.pairs.len()), (1.0, 10_000));
    assert_eq!((matching.pairs[0].actual, matching.pairs[9_999].actual), (9_999, 0));
}

#[test]
fn a_large_output_is_not_read_again_for_every_step() {
    let list = |n: usize| vec!["{}"; n].join(",");
    let step = |output: &str| {
        format!(
            r#"{{"name": "s", "status": "success", "output": [{output}],
            "output_media_type": "application/json"}}"#
        )
    };
    let expected = step(&list(100_000));
    let small: Vec<String> = (0..20_000).map(|at| step(&at.to_string())).collect();
    let actual = format!("{}, {}", step(&format!(" {}", list(100_000))), small.join(","));
    let before = juror_document::bytes_compared();
    let matching = matched(&expected, &actual, &Profile::V6).expect("a matching");
    assert_eq!((matching.score, matching.pairs[0].actual), (1.0, 0));
    let n_read = juror_document::bytes_compared() - before;
    assert!(n_read < 10 * (expected.len() + actual.len()), "{n_read}");
}

#[test]
fn one_step_is_found_for_the_first_of_thousands_that_expect_it() {
    let equal = steps(std::iter::repeat_n(7, 3_000));
    let one = steps(std::iter::once(7));
    // Enough for a few visits of each step, not of each pair of steps.
    let limits = Limits { pairing_work: 30_000, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V6 };
    let matching = matched(&equal, &one, &profile).expect("a matching");
    assert_eq!((matching.pairs.len(), matching.too_large.len()), (1, 0));
}

#[test]
fn pairs_of_all_groups_together_are_limited() {
    let groups = |n: usize, of: fn(usize) -> usize| {
        let group = |at: usize| format!("[{}]", steps(std::iter::once(of(at))));
        (0..n).map(group).collect::<Vec<_>>().join(",")
    };
    // 5,000 groups of one step each, every one before the next.
    let (distinct, all) = (groups(5_000, |at| at), steps(0..5_000));
    let refused = matched_groups(&distinct, &all, &Profile::V6).expect_err("too many");
    let most = Limits::DEFAULT.step_pairs;
    assert!(matches!(refused, NoMatching::TooManyGroups { most: told, .. } if told == most));
    let told = refused.to_string();
    assert!(told.ends_with("are more pairs than `limits.step_pairs` allows (4194304)"), "{told}");
    // Repeated steps are compared once, in many groups as in one.
    let equal = groups(20_000, |_| 7);
    let all = steps(std::iter::repeat_n(7, 20_000));
    let matching = matched_groups(&equal, &all, &Profile::V6).expect("a matching");
    assert_eq!((matching.score, matching.pairs.len()), (1.0, 20_000));
    let few = groups(200, |at| at);
    let matching = matched_groups(&few, &steps(0..200), &Profile::V6).expect("a matching");
    assert_eq!((matching.score, matching.pairs[7].actual), (1.0, 7));
}

fn tsv_step(output: &str) -> String {
    let output = serde_json::to_string(output).expect("JSON");
    format!(
        r#"{{"name": "sparql_query", "status": "success", "output": {output},
            "output_media_type": "text/tab-separated-values"}}"#
    )
}

#[test]
fn tables_of_a_reference_share_what_they_take_beyond_their_texts() {
    // Each has 20 cells, of which its text answers for a few.
    let table = |n: usize| tsv_step(&format!("?a{n}\t?b\t?c\t?d\n1\n\n\n\n\n"));
    let limits = Limits { table_cells: 40, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V6 };
    let refused = |n: usize| {
        let expected: Vec<String> = (0..n).map(table).collect();
        let one = tsv_step("?a\n2\n");
        let matching = matched(&expected.join(","), &one, &profile).expect("a matching");
        matching.too_large
    };
    assert_eq!(refused(2), []);
    let all = refused(30);
    let first =
        TooLarge { place: Whose::Expected { group: 0, step: 2 }, excess: Excess::TableCells };
    assert_eq!((all.len(), all[0]), (28, first));
}

#[test]
fn tables_that_are_refused_do_not_spoil_a_small_one_that_is_right() {
    let csv = |cell: &str| {
        let row = format!("{cell},{cell},{cell}\n");
        tsv_step(&format!("a,b,c\n{}", row.repeat(10))).replace("tab-separated-values", "csv")
    };
    let large = tsv_step(&format!("{}\n{}", "?x\t".repeat(1_000), "\n".repeat(5_000)));
    let actual = format!("{}{}", format!("{large},").repeat(30), csv("1"));
    // Rows in another order of columns have to be read.
    let expected = csv("1").replace("a,b,c", "c,a,b");
    let matching = matched(&expected, &actual, &Profile::V5).expect("a matching");
    assert_eq!((matching.score, matching.too_large.len()), (1.0, 30));
    assert_eq!(matching.pairs[0].actual, 30);
}

#[test]
fn a_pairing_that_need_not_be_the_best_is_told() {
    let retrieved = |ids: &[u32]| {
        let ids: Vec<String> = ids.iter().map(|id| format!(r#"{{\"id\": {id}}}"#)).collect();
        format!(
            r#"{{"name": "retrieval", "args": {{"k": 2}}, "status": "success", "output": "[{}]"}}"#,
            ids.join(",")
        )
    };
    let either = retrieved(&[1, 2]);
    let expected = [either.clone(), retrieved(&[1]), either].join(",");
    let actual = [retrieved(&[2]), retrieved(&[1])].join(",");
    let matching = matched(&expected, &actual, &Profile::V6).expect("a matching");
    assert_eq!((matching.score, matching.too_large.len()), (0.5, 0));
    let limits = Limits { pairing_work: 1, ..Limits::DEFAULT };
    let profile = Profile { limits, ..Profile::V6 };
    let matching = matched(&expected, &actual, &profile).expect("a matching");
    let told = TooLarge { place: Whose::Question, excess: Excess::Pairing };
    assert_eq!(matching.too_large, [told]);
}

#[test]
fn more_pairs_than_may_be_compared_are_not() {
    let distinct = steps(0..10_000);
    let refused = matched(&distinct, &distinct, &Profile::V6).err().map(|why| why.to_string());
    let told = "10000 expected steps and 10000 different steps are more pairs than \
                `limits.step_pairs` allows (4194304)";
    assert_eq!(refused.as_deref(), Some(told));
    let (few, limits) = (steps(0..200), Limits { step_pairs: 200 * 199, ..Default::default() });
    let profile = Profile { limits, ..Profile::V5 };
    assert_eq!(matched(&few, &few, &Profile::V5).expect("a matching").score, 1.0);
    assert!(matched(&few, &few, &profile).is_err());
}

#[test]
fn repeated_steps_are_paired_as_single_ones() {
    // Twice as many of each are there as are expected: the latest are taken.
    let expected = steps((0..200).map(|at| at % 3));
    let actual = steps((0..400).map(|at| at % 4));
    let matching = matched(&expected, &actual, &Profile::V5).expect("a matching");
    assert_eq!(matching.pairs.len(), 200);
    assert!(matching.pairs.iter().all(|pair| pair.expected % 3 == pair.actual % 4));
    assert!(matching.pairs.iter().all(|pair| pair.actual >= 130));
}
