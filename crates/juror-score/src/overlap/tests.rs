use proptest::prelude::*;

use super::*;
use crate::build::{QuestionBuilder, TrajectoryBuilder};
use crate::coverage::Traits;
use crate::finding::KeyPart;
use crate::limits::Limits;
use crate::record::score;

fn v5() -> Profile {
    Profile { answer_overlap: true, ..Profile::V5 }
}

fn v6() -> Profile {
    Profile { answer_overlap: true, ..Profile::V6 }
}

/// Scores an answer, and returns the verdicts on its overlap.
fn verdicts(
    reference: Option<&str>,
    trajectory: &TrajectoryBuilder,
    profile: &Profile,
) -> Vec<Verdict> {
    let question = QuestionBuilder::new("q", "Q");
    let question = match reference {
        Some(answer) => question.answer(answer),
        None => question,
    };
    let (question, trajectory) = (question.build(), trajectory.build());
    let case = Case { question: &question, trajectory: &trajectory };
    let record = score(&case, profile);
    METRICS.iter().filter_map(|name| record.verdict(name)).cloned().collect()
}

fn answered(answer: &str) -> TrajectoryBuilder {
    TrajectoryBuilder::new().answer(answer)
}

fn all(verdict: Verdict) -> Vec<Verdict> {
    vec![verdict; METRICS.len()]
}

#[test]
fn nothing_is_compared_unless_the_rules_say_so() {
    for profile in [Profile::V5, Profile::V6] {
        assert_eq!(verdicts(Some("Oslo"), &answered("Oslo"), &profile), []);
        let on = Profile { answer_overlap: true, ..profile };
        assert_eq!(verdicts(Some("Oslo"), &answered("Oslo"), &on), all(Verdict::scored(1.0)));
    }
}

#[test]
fn a_case_without_texts_to_compare_says_why() {
    let not = |reason| all(Verdict::NotApplicable(reason));
    for (reference, trajectory, wanted) in [
        (None, answered("Oslo"), not(Reason::NoReferenceAnswer)),
        (Some(" \n"), answered("Oslo"), not(Reason::NoReferenceAnswer)),
        (Some("Oslo"), TrajectoryBuilder::new(), not(Reason::NoActualAnswer)),
        (Some("Oslo"), answered(" "), all(Verdict::failed("the actual answer is blank"))),
    ] {
        assert_eq!(verdicts(reference, &trajectory, &v6()), wanted, "{reference:?}");
    }
}

#[test]
fn an_error_response_counts_as_the_profile_says() {
    let failed = || answered("Oslo").error("down");
    let left_out = all(Verdict::NotApplicable(Reason::ErrorResponse));
    assert_eq!(verdicts(Some("Oslo"), &failed(), &v5()), left_out);
    assert_eq!(verdicts(Some("Oslo"), &failed(), &v6()), all(Verdict::scored(1.0)));
}

#[test]
fn a_metric_that_cannot_apply_says_why_while_others_are_scored() {
    let of = |reference, actual| verdicts(Some(reference), &answered(actual), &v5());
    let russian = of("столица Норвегии", "столица Норвегии");
    assert_eq!(russian[1], Verdict::scored(1.0));
    assert_eq!(russian[2], Verdict::NotApplicable(Reason::NoAsciiWords));
    let plain = of("nobody knows", "somebody knows");
    assert_eq!(plain[2], Verdict::scored(0.5));
    assert_eq!(plain[3], Verdict::NotApplicable(Reason::NoMentions));
}

#[test]
fn answers_that_are_too_long_fail_by_name_of_the_limit() {
    let few = Profile { limits: Limits { word_pairs: 3, ..Limits::DEFAULT }, ..v5() };
    let own = verdicts(Some("It is Oslo"), &answered("It is Bergen"), &few);
    let Verdict::Failed(why) = &own[2] else { panic!("{own:?}") };
    assert!(why.message.contains("`limits.word_pairs` allows (3)"), "{}", why.message);
    assert_eq!(own[1], Verdict::scored(2.0 / 3.0), "the others take no pairs");
}

#[test]
fn many_words_are_compared_with_few_and_refused_with_many() {
    let words = "a b ".repeat(1 << 15);
    let own = verdicts(Some(&words), &answered(&words), &v5());
    assert!(matches!(own[2], Verdict::Failed(_)), "{:?}", own[2]);
    let own = verdicts(Some("a b, says Kari"), &answered(&words), &v5());
    assert!(own.iter().all(|verdict| verdict.number().is_some()), "{own:?}");
}

#[test]
fn what_is_not_mentioned_is_told_beside_the_recall() {
    let found = mention_finding(Aspect::Metric(METRICS[3]), "It is Oslo, 7.", "7");
    assert_eq!(found.reason.as_deref(), Some("not mentioned: Oslo"));
    assert_eq!(found.aspect.key(KeyPart::Reason), "answer_mention_recall_reason");
}

#[test]
fn a_metric_applies_to_a_question_exactly_if_no_answer_could_miss_it() {
    for (reference, ascii_words, mentions) in [
        ("Oslo", true, true),
        ("nobody", true, false),
        ("Осло", false, true),
        ("首都", false, false),
    ] {
        let traits = Traits::NONE.with_words(reference);
        assert_eq!((traits.ascii_words, traits.mentions), (ascii_words, mentions), "{reference}");
        let own = verdicts(Some(reference), &answered("Bergen"), &v5());
        let applies = |verdict: &Verdict| !matches!(verdict, Verdict::NotApplicable(_));
        assert_eq!((applies(&own[2]), applies(&own[3])), (ascii_words, mentions), "{reference}");
    }
}

/// The longest common subsequence by its definition.
fn common_words(one: &[&str], other: &[&str]) -> usize {
    match (one.split_first(), other.split_first()) {
        (Some((first, one_rest)), Some((second, other_rest))) if first == second => {
            1 + common_words(one_rest, other_rest)
        }
        (Some((_, one_rest)), Some((_, other_rest))) => {
            common_words(one_rest, other).max(common_words(one, other_rest))
        }
        _ => 0,
    }
}

proptest! {
    #[test]
    fn rouge_l_is_that_of_the_longest_common_subsequence(
        one in proptest::collection::vec("[ab]|cd", 1..9),
        other in proptest::collection::vec("[ab]|cd", 1..9),
    ) {
        let (one, other): (Vec<&str>, Vec<&str>) =
            (one.iter().map(String::as_str).collect(), other.iter().map(String::as_str).collect());
        let common = common_words(&one, &other) as f64;
        let wanted = 2.0 * common / (one.len() + other.len()) as f64;
        let score = rouge_l(&one.join(" "), &other.join("-"), 100).expect("few words");
        prop_assert!((score - wanted).abs() < 1e-12);
    }

    #[test]
    fn an_answer_overlaps_itself_wholly_and_no_score_leaves_its_range(
        one in ".{0,40}", other in "[a-cA-C0-3 .,'-]{0,40}",
    ) {
        prop_assert!(exact_match(&one, &one));
        prop_assert_eq!(token_f1(&one, &one), 1.0);
        if let Some(recall) = mention_recall(&one, &one) {
            prop_assert_eq!(recall.score(), 1.0);
        }
        for (reference, actual) in [(&one, &other), (&other, &one)] {
            let rouge = rouge_l(reference, actual, 10_000).expect("few words");
            let mentions = mention_recall(reference, actual).map_or(0.0, |recall| recall.score());
            let scores = [token_f1(reference, actual), rouge, mentions];
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{:?}", scores);
        }
    }
}

#[test]
fn keys_of_overlap_are_known() {
    for (key, is_own) in [
        ("answer_rouge_l", true),
        ("answer_exact_match_error", true),
        ("answer_f1", false),
        ("answer_rouge_l_cost", false),
        ("steps_score", false),
    ] {
        assert_eq!(is_overlap_key(key), is_own, "{key}");
    }
}
