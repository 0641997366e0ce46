//! A JSON object whose fields keep their order and whose values stay verbatim JSON text.
//!
//! Results repeat most of their input. Steps are therefore read as such objects and written back
//! by copying bytes, so nothing a user put into a step is lost or reformatted.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::string::text_of;

/// The fields of a JSON object, in the order they were written.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    /// Keys (with quotes and escapes) and values, both verbatim.
    fields: Vec<(&'a RawValue, &'a RawValue)>,
    /// Whether any key contains an escape and must be unescaped before comparing.
    any_escapes: bool,
}

impl<'a> Object<'a> {
    /// Returns the value of a field. If the field is repeated, the last one wins, as in most JSON
    /// readers.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let is_it = |key: &RawValue| {
            let quoted = key.get().as_bytes();
            let is_written = quoted[1..quoted.len() - 1] == *name.as_bytes();
            is_written || (self.any_escapes && text_of(key).as_deref() == Some(name))
        };
        self.fields.iter().rev().find(|(key, _)| is_it(key)).map(|(_, value)| *value)
    }

    /// Returns the value of a field, or `None` if it is missing or `null`.
    pub fn get_set(&self, name: &str) -> Option<&'a RawValue> {
        self.get(name).filter(|value| value.get() != "null")
    }

    /// Iterates over the fields in order, with unescaped keys.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, &'a RawValue)> {
        self.fields.iter().map(|(key, value)| (text_of(key).unwrap_or_default(), *value))
    }

    /// Iterates over the fields in order, with keys as written, including quotes and escapes.
    pub fn iter_raw(&self) -> impl Iterator<Item = (&'a RawValue, &'a RawValue)> {
        self.fields.iter().copied()
    }
}

impl<'a> FromIterator<(&'a RawValue, &'a RawValue)> for Object<'a> {
    /// Builds an object from keys and values. Leaves out entries whose key is not a JSON string.
    fn from_iter<I: IntoIterator<Item = (&'a RawValue, &'a RawValue)>>(fields: I) -> Object<'a> {
        let is_string = |(key, _): &(&RawValue, _)| key.get().starts_with('"');
        let fields: Vec<_> = fields.into_iter().filter(is_string).collect();
        let any_escapes = fields.iter().any(|(key, _)| key.get().contains('\\'));
        Object { fields, any_escapes }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::new();
                let mut any_escapes = false;
                while let Some((key, value)) = map.next_entry::<&RawValue, _>()? {
                    // Most steps have five or six fields. An empty object allocates nothing.
                    if fields.is_empty() {
                        fields.reserve_exact(6);
                    }
                    any_escapes |= key.get().as_bytes().contains(&b'\\');
                    fields.push((key, value));
                }
                Ok(Object { fields, any_escapes })
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

/// Deserializes `T` from an object only. A derived struct would also accept a list, matching fields
/// by position.
pub struct MapOnly<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for MapOnly<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MapVisitor<T> {
            type Value = T;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(MapVisitor(std::marker::PhantomData)).map(MapOnly)
    }
}

/// A key of an object, borrowed from the input unless it contains escapes.
pub struct ObjectKey<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for ObjectKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = ObjectKey<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ObjectKey<'de>, E> {
                Ok(ObjectKey(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<ObjectKey<'de>, E> {
                Ok(ObjectKey(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_object_is_as_one_that_was_read() {
        let text = r#"{"a": 1, "\u0062": [2], "a": null}"#;
        let read: Object<'_> = serde_json::from_str(text).expect("an object");
        let built: Object<'_> = read.iter_raw().collect();
        for name in ["a", "b", "c"] {
            assert_eq!(built.get(name).map(RawValue::get), read.get(name).map(RawValue::get));
        }
        let raw = |text| serde_json::from_str::<&RawValue>(text).expect("JSON");
        let without_key: Object<'_> = [(raw("1"), raw("2"))].into_iter().collect();
        assert!(without_key.get("1").is_none());
    }
}
