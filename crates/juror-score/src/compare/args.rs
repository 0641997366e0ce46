//! Compares steps by their arguments.

use std::borrow::Cow;
use std::collections::HashMap;

use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use super::View;
use juror_document::{same_json, shown};

/// Whether both have the same arguments, no more and no fewer, compared as JSON. Arguments that
/// are not JSON must be identical texts.
pub(super) fn matches(expected: &View<'_>, actual: &View<'_>) -> bool {
    expected.compared_args.same_json(expected.args(), &actual.compared_args, actual.args())
}

/// An argument that differs: its name, and the expected and actual values as JSON.
pub(crate) type Differing = (String, Option<String>, Option<String>);

/// Returns the arguments that differ.
pub(crate) fn differing(expected: &View<'_>, actual: &View<'_>) -> Vec<Differing> {
    let (expected, actual) = (expected.args(), actual.args());
    let (Some(expected), Some(actual)) = (fields_of(expected), fields_of(actual)) else {
        return Vec::new();
    };
    let by_name = |fields: &[ArgField<'_>]| -> HashMap<String, String> {
        fields.iter().map(|(name, value)| (name.to_string(), value.get().to_owned())).collect()
    };
    let (wanted_by_name, given_by_name) = (by_name(&expected), by_name(&actual));
    let differs = |name: &str| match (wanted_by_name.get(name), given_by_name.get(name)) {
        (Some(wanted), Some(given)) => !same_json(wanted, given),
        _ => true,
    };
    let shown = |value: Option<&String>| value.map(|json| shown(json));
    let added = actual.iter().filter(|(name, _)| !wanted_by_name.contains_key(name.as_ref()));
    let differing = expected.iter().chain(added).filter(|(name, _)| differs(name));
    differing
        .map(|(name, _)| {
            let name = name.as_ref();
            let (wanted, given) = (wanted_by_name.get(name), given_by_name.get(name));
            (name.to_owned(), shown(wanted), shown(given))
        })
        .collect()
}

type ArgField<'a> = (Cow<'a, str>, &'a RawValue);

fn fields_of(args: &str) -> Option<Vec<ArgField<'_>>> {
    let object: Object<'_> = serde_json::from_str(args).ok()?;
    Some(object.iter().collect())
}

impl View<'_> {
    /// Returns the arguments as JSON, an empty object if they are missing. Some recordings have them
    /// as a string that contains JSON, which counts as that JSON.
    fn args(&self) -> &str {
        self.args.get_or_init(|| {
            let Some(raw) = self.fields.get_set("args") else { return Cow::Borrowed("{}") };
            let is_object = |text: &Cow<'_, str>| text.trim_start().starts_with('{');
            json::text_of(raw).filter(is_object).unwrap_or(Cow::Borrowed(raw.get()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::explain;
    use crate::finding::Verdict;
    use crate::profile::Profile;
    use crate::read::{read_reference, read_responses};
    use crate::record::{Case, score};
    use juror_document::{Document, Format};

    /// Returns the score of one step, and why it was not found.
    fn scored(expected: &str, actual: &str) -> (f64, String) {
        let document = |text: String| Document::new("d", text.into_bytes(), Format::Json);
        let reference = document(format!(
            r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q",
                "reference_steps": [[{expected}]]}}]}}]"#
        ));
        let responses =
            document(format!(r#"[{{"question_id": "q", "actual_steps": [{actual}]}}]"#));
        let (reference, responses) = (reference.expect("JSON"), responses.expect("JSON"));
        let dataset = read_reference(&reference).expect("a reference");
        let responses = read_responses(&responses).expect("responses");
        let question = &dataset.questions[0];
        let record = score(&Case { question, trajectory: responses.of(question) }, &Profile::V6);
        let score = record.verdict("steps_score").and_then(Verdict::number);
        let score = score.unwrap_or_else(|| panic!("no score of {actual}"));
        let why = explain(&record, &Profile::V6).pop().map_or(String::new(), |miss| miss.why);
        (score, why)
    }

    fn by_args(expected: &str, actual: &str) -> (f64, String) {
        scored(
            &format!(r#"{{"name": "a", "match": "args"{expected}}}"#),
            &format!(r#"{{"name": "a", "status": "success", "output": "x"{actual}}}"#),
        )
    }

    #[test]
    fn large_numbers_of_arguments_are_told_apart() {
        let args = |id: &str| format!(r#", "args": {{"id": {id}, "é": 1}}"#);
        let (one, other) = (args("123456789012345678901"), args("123456789012345678902"));
        assert_eq!(by_args(&one, &one.replace("901,", "901.0,")).0, 1.0);
        let (score, why) = by_args(&one, &other);
        assert_eq!(score, 0.0);
        let told = "id: expected `123456789012345678901`, got `123456789012345678902`";
        assert_eq!(why, told);
        let as_text =
            other.replace("{\"id\"", "\"{\\\"id\\\"").replace("\"é\": 1}", "\\\"é\\\": 1}\"");
        assert_eq!((by_args(&one, &as_text).0, by_args(&other, &as_text).0), (0.0, 1.0));
    }

    #[test]
    fn arguments_that_cannot_be_read_are_not_taken_for_none() {
        let deep = format!(r#", "args": {{"x": {}1{}}}"#, "[".repeat(200), "]".repeat(200));
        let huge = r#", "args": {"x": 1e999}"#;
        for args in [deep.as_str(), huge] {
            assert_eq!(by_args("", args).0, 0.0, "{args}");
            assert_eq!(by_args(r#", "args": {}"#, args).0, 0.0, "{args}");
            assert_eq!(by_args(args, args).0, 1.0, "{args}");
        }
        assert_eq!(by_args("", r#", "args": {}"#).0, 1.0);
        assert_eq!(by_args(r#", "args": null"#, "").0, 1.0);
    }

    #[test]
    fn large_numbers_tell_time_series_and_data_points_apart() {
        let step = |name: &str, args: &str| {
            format!(r#"{{"name": "{name}", "status": "success", "output": "x", "args": {args}}}"#)
        };
        let large = ["123456789012345678901", "123456789012345678902"];
        for (name, args) in [
            ("retrieve_time_series", r#"{"mrid": N}"#),
            ("retrieve_time_series", r#"{"mrid": ["m", N]}"#),
            ("retrieve_time_series", r#"{"mrid": "m", "limit": N}"#),
            ("retrieve_data_points", r#"{"external_id": [N]}"#),
            ("retrieve_data_points", r#"{"external_id": "e", "limit": N}"#),
            ("retrieve_data_points", r#"{"external_id": "e", "start": N}"#),
            ("retrieve_data_points", r#"{"external_id": "e", "granularity": N}"#),
        ] {
            let [one, other] = large.map(|number| step(name, &args.replace('N', number)));
            assert_eq!((scored(&one, &other).0, scored(&one, &one).0), (0.0, 1.0), "{args}");
        }
    }

    #[test]
    fn names_are_the_same_in_any_order() {
        let step = |args: &str| {
            format!(
                r#"{{"name": "retrieve_time_series", "status": "success", "output": "x",
                "args": {{"mrid": {args}}}}}"#
            )
        };
        for (a, b, expected) in [
            (r#"["a", "b"]"#, r#"[ "b","\u0061"]"#, 1.0),
            ("[123456789012345678901, 1]", "[1, 123456789012345678901]", 1.0),
            ("[1, 2]", "[2.0, 1.0]", 1.0),
            (r#""a""#, r#"["a"]"#, 1.0),
            ("5", "[5]", 0.0),
            (r#"["a", "b"]"#, r#"["a", "a"]"#, 0.0),
        ] {
            assert_eq!(scored(&step(a), &step(b)).0, expected, "{a} and {b}");
        }
    }
}
