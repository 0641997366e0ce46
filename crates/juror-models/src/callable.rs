//! A function as a model is told of it, whatever stands behind it.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// A function that a model can call.
#[derive(Clone, Debug)]
pub struct Callable {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes, as JSON Schema.
    pub parameters: Box<RawValue>,
}

impl Callable {
    /// A function of parameters that can be written as JSON.
    pub fn new(name: &str, description: &str, parameters: &impl Serialize) -> Callable {
        // Parameters are texts, lists and maps of texts: they can always be written.
        let parameters = to_raw_value(parameters).unwrap_or_default();
        Callable { name: name.to_owned(), description: description.to_owned(), parameters }
    }
}

/// In the form that `OpenAI` gave it, which answer files have too.
impl Serialize for Callable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Signature<'a> {
            name: &'a str,
            description: &'a str,
            parameters: &'a RawValue,
        }
        let Callable { name, description, parameters } = self;
        let mut fields = serializer.serialize_struct("Function", 2)?;
        fields.serialize_field("type", "function")?;
        fields.serialize_field("function", &Signature { name, description, parameters })?;
        fields.end()
    }
}
