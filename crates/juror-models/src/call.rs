//! Calls to models, and their keys, which cover everything that decides the reply.

use serde_json::{Map, Value};

use crate::prompt::{Part, Prompt};
use crate::provider::ModelSpec;
use crate::schema::Schema;

/// A question to a chat model.
#[derive(Clone, Debug)]
pub struct ChatCall {
    /// The purpose of the call.
    pub purpose: String,
    /// The prompt.
    pub prompt: Prompt,
    /// The shape of the reply; `None` for plain text.
    pub schema: Option<Schema>,
    /// Distinguishes otherwise equal calls that should each get their own reply.
    pub repeat: u32,
    /// The step of a trajectory that it is about, if any. The model does not see it, so it does not
    /// decide the reply.
    pub step: Option<usize>,
}

impl ChatCall {
    /// Creates a call that is asked once.
    pub fn new(purpose: impl Into<String>, prompt: Prompt, schema: Option<Schema>) -> ChatCall {
        ChatCall { purpose: purpose.into(), prompt, schema, repeat: 0, step: None }
    }
}

/// The key of a reply: equal calls have equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey(pub(crate) [u8; 32]);

impl CallKey {
    /// Writes the key in hexadecimal digits.
    pub fn to_hex(self) -> String {
        blake3::Hash::from(self.0).to_hex().to_string()
    }

    /// Reads a key from hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<CallKey> {
        blake3::Hash::from_hex(text).ok().map(|hash| CallKey(hash.into()))
    }

    /// Creates a key from its bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> CallKey {
        CallKey(bytes)
    }

    /// The bytes of the key, for stores.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Hashes fields so that different lists of fields never give the same input. Fields are collected
/// first, since one long text is hashed much faster than many short ones.
#[derive(Clone)]
pub struct KeyMaker(Vec<u8>);

impl KeyMaker {
    /// Starts with the kind of key.
    pub fn new(kind: &str) -> KeyMaker {
        let mut maker = KeyMaker(Vec::with_capacity(256));
        maker.field("juror 1").field(kind);
        maker
    }

    /// Returns the key of all fields so far.
    pub fn finish(&self) -> CallKey {
        CallKey(blake3::hash(&self.0).into())
    }

    /// Starts with what all calls to a model have in common.
    ///
    /// Two servers may use the same name for different models, so the address is included unless it
    /// is the provider's own.
    pub(crate) fn of_model(kind: &str, spec: &ModelSpec) -> KeyMaker {
        KeyMaker::at(kind, spec, spec.other_address().as_deref())
    }

    /// Like [`of_model`](Self::of_model), but always for the provider's own address.
    pub(crate) fn of_provider(kind: &str, spec: &ModelSpec) -> KeyMaker {
        KeyMaker::at(kind, spec, None)
    }

    fn at(kind: &str, spec: &ModelSpec, address: Option<&str>) -> KeyMaker {
        let mut maker = KeyMaker::new(kind);
        maker.field(spec.provider.names[0]).field(&spec.model);
        if let Some(address) = address {
            maker.field("address").field(address);
        }
        let sorted: std::collections::BTreeMap<&String, &Value> = spec.parameters.iter().collect();
        for (name, value) in sorted {
            maker.field(name).field(&canonical(value));
        }
        maker
    }

    /// Adds a field.
    pub fn field(&mut self, text: &str) -> &mut KeyMaker {
        self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Returns the key of a chat call.
    pub(crate) fn chat(&self, call: &ChatCall) -> CallKey {
        let mut maker = self.clone();
        maker.field(&call.purpose);
        for (role, parts) in
            [("system", call.prompt.system.as_ref()), ("user", Some(&call.prompt.user))]
        {
            maker.field(role);
            for part in parts.into_iter().flatten() {
                match part {
                    Part::Text(text) => maker.field("text").field(text),
                    Part::Marker => maker.field("marker"),
                };
            }
        }
        if let Some(schema) = &call.schema {
            maker.field("schema").field(&schema.to_string());
        }
        maker.field(&call.repeat.to_string());
        maker.finish()
    }

    /// Returns the key of an embedding call.
    pub(crate) fn embedding(&self, texts: &[String]) -> CallKey {
        let mut maker = self.clone();
        for text in texts {
            maker.field(text);
        }
        maker.finish()
    }
}

/// Writes JSON with sorted keys.
fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut keys: Vec<&String> = fields.keys().collect();
                keys.sort();
                let fields = keys.into_iter().map(|key| (key.clone(), sorted(&fields[key])));
                Value::Object(fields.collect::<Map<String, Value>>())
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}
