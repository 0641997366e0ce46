//! Finds the end of JSON that is not nested deeply, without building a value.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess};
use serde::de::{SeqAccess, Visitor};

/// How deep lists and objects may be nested: verdicts are far from it.
const DEEPEST: usize = 16;

/// A JSON value that was read and dropped.
pub(crate) struct ShallowJson;

impl<'de> Deserialize<'de> for ShallowJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ShallowJson, D::Error> {
        Levels(DEEPEST).deserialize(deserializer).map(|()| ShallowJson)
    }
}

/// Reads a value that has at most so many levels.
#[derive(Clone, Copy)]
struct Levels(usize);

impl Levels {
    fn inner<E: Error>(self) -> Result<Levels, E> {
        let left = self.0.checked_sub(1).ok_or_else(|| E::custom("nested too deeply"))?;
        Ok(Levels(left))
    }
}

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while elements.next_element_seed(inner)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let inner = self.inner()?;
        while entries.next_key::<IgnoredAny>()?.is_some() {
            entries.next_value_seed(inner)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shallow_json_is_read() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let is_read = |text: &str| serde_json::from_str::<ShallowJson>(text).is_ok();
        assert!(is_read(&nested(DEEPEST)) && !is_read(&nested(DEEPEST + 1)));
        for text in ["null", "true", "-5", "5", "1.5e3", "\"a\\n\"", r#"{"a": [{}, "b", null]}"#] {
            assert!(is_read(text), "{text}");
        }
        for text in ["", "{", "{\"a\": [1}", "{\"a\" 1}"] {
            assert!(!is_read(text), "{text}");
        }
    }
}
