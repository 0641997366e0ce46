//! Functions as they are described to a model.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// A function that a model can call.
#[derive(Clone, Debug)]
pub struct Callable {
    /// The name of the function.
    pub name: String,
    /// What the function does.
    pub description: String,
    /// The parameters, as JSON Schema.
    pub parameters: Box<RawValue>,
}

impl Callable {
    /// Creates a function with parameters that serialize to a JSON Schema.
    pub fn new(name: &str, description: &str, parameters: &impl Serialize) -> Callable {
        // Strings, lists and maps with string keys always serialize.
        let parameters = to_raw_value(parameters).unwrap_or_default();
        Callable { name: name.to_owned(), description: description.to_owned(), parameters }
    }
}

/// Serializes in `OpenAI`'s form, which answer files use too.
impl Serialize for Callable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct CallableForm<'a> {
            name: &'a str,
            description: &'a str,
            parameters: &'a RawValue,
        }
        let Callable { name, description, parameters } = self;
        let mut fields = serializer.serialize_struct("Function", 2)?;
        fields.serialize_field("type", "function")?;
        fields.serialize_field("function", &CallableForm { name, description, parameters })?;
        fields.end()
    }
}
