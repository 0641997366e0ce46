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
