//! What holds of names and keys whatever the data.

use juror_json::python::{Alike, alike_str_of_json, push_repr_of_json, repr_text, str_of_json};
use juror_toolbench::names::{
    LONGEST_NAME, Letters, merge_category, official_name, sanitize, standard_name, standardize,
};
use juror_toolbench::{
    Cut, Ending, FolderNames, Rule, accept, read_mirror_reply, read_selected_names, unique_names,
};
use proptest::prelude::*;

/// JSON of any kind, written by `serde_json`.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..12)
                .prop_map(|fields| { serde_json::Value::Object(fields.into_iter().collect()) }),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_has_a_key_or_none(text in ".*") {
        let _ = str_of_json(&text);
        let _ = alike_str_of_json(&text, Alike { numbers: true, order: true });
        let _ = read_mirror_reply(&text, Ending::Trimmed);
        let _ = read_selected_names(&text, &["a"]);
        let _ = accept(&text, Rule::Strict);
    }

    #[test]
    fn text_that_is_nearly_json_has_a_key_or_none(text in r#"[\[\]{}:,"\\u0-9eE.\-+ a-f'tn]{0,40}"#) {
        let readable = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let key = str_of_json(&text);
        // Python reads what `serde_json` does, and lone surrogates and large numbers besides.
        prop_assert!(key.is_ok() || !readable, "{text}");
    }

    #[test]
    fn a_key_does_not_depend_on_how_json_is_spaced(value in json()) {
        let key = str_of_json(&value.to_string());
        prop_assert!(key.is_ok());
        let spaced = serde_json::to_string_pretty(&value).expect("JSON");
        prop_assert_eq!(key, str_of_json(&spaced));
    }

    #[test]
    fn texts_in_json_are_quoted_as_texts(text in any::<String>()) {
        let mut repr = String::new();
        push_repr_of_json(&serde_json::json!(text).to_string(), &mut repr).expect("JSON");
        prop_assert_eq!(repr, repr_text(&text));
        prop_assert_eq!(str_of_json(&serde_json::json!(text).to_string()), Ok(text));
    }

    #[test]
    fn floats_read_back_as_themselves(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let json = serde_json::json!(number).to_string();
        let repr = str_of_json(&json).expect("JSON");
        prop_assert_eq!(repr.parse::<f64>().expect("a number").to_bits(), number.to_bits());
    }

    #[test]
    fn standard_names_stay(raw in any::<String>()) {
        let name = standardize(&raw);
        prop_assert_eq!(&standardize(&name), &name);
        prop_assert_eq!(standard_name(&standard_name(&raw)), standard_name(&raw));
        prop_assert_eq!(merge_category(&merge_category(&raw)), merge_category(&raw));
    }

    #[test]
    fn function_names_are_short_and_sanitized_ones_stay(tool in ".{0,60}", api in ".{0,60}") {
        prop_assert!(official_name(&tool, &api).chars().count() <= LONGEST_NAME);
        for letters in [Letters::Any, Letters::Ascii] {
            let name = sanitize(&format!("{tool}_{api}"), letters, LONGEST_NAME);
            prop_assert!(!name.is_empty() && name.chars().count() <= LONGEST_NAME);
            prop_assert_eq!(&sanitize(&name, letters, LONGEST_NAME), &name);
        }
    }

    #[test]
    fn settled_names_lead_nowhere_else(category in "[A-Za-z ,]{1,12}", tool in ".*", api in ".*") {
        let names = FolderNames::settled(&category, &tool, &api);
        if names.check().is_ok() {
            let file = names.cache_file();
            prop_assert_eq!(file.split('/').count(), 3);
            prop_assert!(file.split('/').all(|part| part != ".." && part != "." && !part.is_empty()));
        }
    }

    #[test]
    fn unique_names_are_unique(names in prop::collection::vec("[ab]{0,2}", 0..20)) {
        let identities: Vec<String> = (0..names.len()).map(|n| n.to_string()).collect();
        let mut unique = unique_names(&names, &identities, Cut::Back);
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), names.len());
    }
}
