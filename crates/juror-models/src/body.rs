//! The body of a request to a provider.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The fields of a body, each already serialized: a tree of values would sort keys, and models write
/// properties in the order of the schema.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Body(BTreeMap<String, Box<RawValue>>);

impl Body {
    /// Creates a body with the user's parameters.
    pub(crate) fn of(parameters: &Map<String, Value>) -> Body {
        let mut body = Body::default();
        for (name, value) in parameters {
            body.set(name, value);
        }
        body
    }

    pub(crate) fn set(&mut self, name: &str, value: &impl Serialize) {
        // Strings, numbers, and lists and maps of these always serialize.
        self.0.insert(name.to_owned(), to_raw_value(value).unwrap_or_default());
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}
