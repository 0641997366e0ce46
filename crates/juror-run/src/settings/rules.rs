//! Writes the rules of a run in the vocabulary of the settings, for its manifest.

use juror_score::{AskedLike, ErrorResponses, Limits, Profile};
use serde_json::{Value, json};

use super::{
    ChoiceRule, ContextRule, ErrorKeyRule, KindRule, KindWord, MissingStatusRule, NameRule,
    NoncommittalRule, Scoring, WithoutOutputRule,
};

/// Returns every rule of a run: different rules make different runs. Keys and values are those of
/// the settings, and must not change with the code.
pub(crate) fn rules(profile: &Profile) -> Value {
    // Destructured completely, so that no new rule is forgotten here.
    let Profile {
        scored_groups,
        names,
        choice,
        kinds,
        kind_names,
        missing_status,
        without_output,
        steps_of_errors,
        statistics_of_errors,
        micro_steps,
        retrieval_in_steps,
        contexts,
        noncommittal,
        answer_error_key,
        asked_like,
        answer_overlap,
        limits: Limits { table_cells, documents, step_pairs, pairing_work, word_pairs },
    } = profile;
    let is_counted = |errors: &ErrorResponses| *errors == ErrorResponses::CountedIn;
    let release = match asked_like {
        AskedLike::Release5 => 5,
        AskedLike::Release6 => 6,
    };
    let mut rules = json!({
        "steps": {
            "scoring": Scoring::word(*scored_groups),
            "names": NameRule::word(*names),
            "choice": ChoiceRule::word(*choice),
            "kinds": KindRule::word(*kinds),
            "missing_status": MissingStatusRule::word(*missing_status),
            "match_without_output": WithoutOutputRule::word(*without_output),
            "score_error_responses": is_counted(steps_of_errors),
            "contexts": ContextRule::word(*contexts),
        },
        "aggregates": {
            "count_error_responses": is_counted(statistics_of_errors),
            "micro_steps": micro_steps,
            "retrieval_in_steps": retrieval_in_steps,
        },
        "answer_relevance": {"noncommittal": NoncommittalRule::word(*noncommittal)},
        "answer_correctness": {"error_key": ErrorKeyRule::word(*answer_error_key)},
        "asked_like_release": release,
        "limits": {
            "table_cells": table_cells,
            "documents": documents,
            "step_pairs": step_pairs,
            "pairing_work": pairing_work,
        },
    });
    for (name, kind) in kind_names.iter() {
        rules["steps"]["kind_names"][name] = json!(KindWord::word(kind));
    }
    // Left out otherwise, so that runs from before there was such a rule have the same rules.
    if *answer_overlap {
        rules[OVERLAP] = json!({"enabled": true});
        rules["limits"][WORD_PAIRS] = json!(word_pairs);
    }
    rules
}

const OVERLAP: &str = "answer_overlap";
const WORD_PAIRS: &str = "word_pairs";

/// Returns stored rules without those that decide only which metrics there are: runs that differ in
/// them are scored by the same rules.
pub fn scoring_rules(stored: &Value) -> Value {
    let mut rules = stored.clone();
    if let Some(rules) = rules.as_object_mut() {
        rules.remove(OVERLAP);
    }
    if let Some(limits) = rules.get_mut("limits").and_then(Value::as_object_mut) {
        limits.remove(WORD_PAIRS);
    }
    rules
}

/// Returns the name of stored rules: that of a profile, if they are its rules.
pub fn rules_name(stored: &Value) -> &'static str {
    let stored = scoring_rules(stored);
    match stored {
        _ if stored == rules(&Profile::V5) => "profile 5",
        _ if stored == rules(&Profile::V6) => "profile 6",
        _ => "rules of your own",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn of(settings: &str) -> Value {
        let settings: Settings = serde_json::from_str(settings).expect("settings");
        rules(&settings.plan().profile)
    }

    #[test]
    fn rules_are_kept_in_the_words_of_settings() {
        let written = of(r#"{"profile": 5, "steps": {"kinds": {"search": "retrieval"}}}"#);
        assert_eq!(
            written,
            json!({
                "steps": {
                    "scoring": "last_group",
                    "names": "must_agree",
                    "choice": "first_to_last",
                    "kinds": "document",
                    "kind_names": {"search": "retrieval"},
                    "missing_status": "success",
                    "match_without_output": "no_match",
                    "score_error_responses": false,
                    "contexts": "text",
                },
                "aggregates": {
                    "count_error_responses": false,
                    "micro_steps": false,
                    "retrieval_in_steps": false,
                },
                "answer_relevance": {"noncommittal": "any"},
                "answer_correctness": {"error_key": "answer_eval_error"},
                "asked_like_release": 5,
                "limits": {
                    "table_cells": 4_194_304,
                    "documents": 65_536,
                    "step_pairs": 4_194_304,
                    "pairing_work": 134_217_728,
                },
            })
        );
    }

    #[test]
    fn the_rules_of_a_profile_are_called_by_it() {
        for (settings, name) in [
            ("{}", "profile 5"),
            (r#"{"profile": 6}"#, "profile 6"),
            (r#"{"steps": {"names": "free"}}"#, "rules of your own"),
            (r#"{"profile": 6, "answer_overlap": {"enabled": true}}"#, "profile 6"),
        ] {
            assert_eq!(rules_name(&of(settings)), name);
        }
    }

    #[test]
    fn more_metrics_are_stored_and_make_no_other_scoring() {
        let on = r#"{"answer_overlap": {"enabled": true}, "limits": {"word_pairs": 7}}"#;
        let stored = of(on);
        assert_eq!(stored["answer_overlap"], json!({"enabled": true}));
        assert_eq!(stored["limits"]["word_pairs"], 7);
        assert_eq!(scoring_rules(&stored), of("{}"));
        let read: Settings = serde_json::from_value(stored.clone()).expect("settings");
        assert_eq!(rules(&read.plan().profile), stored, "what is stored is read back");
        assert_eq!(
            of(r#"{"limits": {"word_pairs": 7}}"#),
            of("{}"),
            "nothing takes it into account"
        );
    }

    #[test]
    fn every_switch_makes_other_rules() {
        let base = of("{}");
        for switched in [
            r#"{"profile": 6}"#,
            r#"{"steps": {"scoring": "all_groups"}}"#,
            r#"{"steps": {"names": "free"}}"#,
            r#"{"steps": {"choice": "last_to_first"}}"#,
            r#"{"steps": {"kinds": "all"}}"#,
            r#"{"steps": {"kinds": {"search": "retrieval"}}}"#,
            r#"{"steps": {"missing_status": "no_match"}}"#,
            r#"{"steps": {"match_without_output": "args"}}"#,
            r#"{"steps": {"score_error_responses": true}}"#,
            r#"{"steps": {"contexts": "model"}}"#,
            r#"{"aggregates": {"count_error_responses": true}}"#,
            r#"{"aggregates": {"micro_steps": true}}"#,
            r#"{"aggregates": {"retrieval_in_steps": true}}"#,
            r#"{"answer_relevance": {"noncommittal": "all"}}"#,
            r#"{"answer_correctness": {"error_key": "answer_correctness_error"}}"#,
            r#"{"answer_overlap": {"enabled": true}}"#,
            r#"{"limits": {"table_cells": 5}}"#,
            r#"{"limits": {"documents": 5}}"#,
            r#"{"limits": {"step_pairs": 5}}"#,
            r#"{"limits": {"pairing_work": 5}}"#,
        ] {
            assert_ne!(of(switched), base, "{switched}");
        }
    }
}
