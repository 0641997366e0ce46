//! The body of a request to a provider.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The fields of a body. Each is text already: a tree of values would sort what stands in it, and
/// the order of a schema's properties is the order in which models write them.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Body(BTreeMap<String, Box<RawValue>>);

impl Body {
    /// A body that begins with parameters of the user's.
    pub(crate) fn of(parameters: &Map<String, Value>) -> Body {
        let mut body = Body::default();
        for (name, value) in parameters {
            body.set(name, value);
        }
        body
    }

    pub(crate) fn set(&mut self, name: &str, value: &impl Serialize) {
        // Texts, numbers and what is made of them can always be written as JSON.
        self.0.insert(name.to_owned(), to_raw_value(value).unwrap_or_default());
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}
