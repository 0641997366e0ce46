//! Objects with known keys that remember their unknown keys.
//!
//! A reader ignores keys it does not know. But a misspelt key scores as if it were missing, so
//! unknown keys are kept for a warning.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

/// Defines a form: its fields, each of which may be missing or `null`, which of them are present, and
/// its unknown keys.
#[macro_export]
macro_rules! form {
    ($(#[$doc:meta])* $vis:vis $name:ident<$life:lifetime> { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        $vis struct $name<$life> {
            $($field: Option<$type>,)*
            /// Which of these keys are present, with any value: a bit for each.
            #[allow(dead_code, reason = "not every reader uses it")]
            met: u32,
            /// The unknown keys, borrowed from the text.
            unknown: Vec<&$life str>,
        }

        impl $name<'_> {
            /// The known keys, in the order of their bits.
            #[allow(dead_code, reason = "not every reader uses it")]
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];
        }

        impl<$life> serde::Deserialize<$life> for $name<$life> {
            fn deserialize<D: serde::Deserializer<$life>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct FormVisitor;
                impl<$life> serde::de::Visitor<$life> for FormVisitor {
                    type Value = $name<$life>;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_map<A: serde::de::MapAccess<$life>>(
                        self,
                        mut map: A,
                    ) -> Result<Self::Value, A::Error> {
                        // The outer option: present; the inner: not `null`.
                        $(let mut $field: Option<Option<$type>> = None;)*
                        let mut unknown = Vec::new();
                        while let Some(key) = map.next_key::<$crate::FormKey<$life>>()? {
                            match key.text() {
                                $(stringify!($field) => {
                                    if $field.is_some() {
                                        let name = stringify!($field);
                                        return Err(serde::de::Error::duplicate_field(name));
                                    }
                                    $field = Some(map.next_value()?);
                                })*
                                _ => {
                                    map.next_value::<serde::de::IgnoredAny>()?;
                                    unknown.extend(key.borrowed());
                                }
                            }
                        }
                        let met = [$($field.is_some()),*].into_iter().rev();
                        let met = met.fold(0, |bits, is_met| bits << 1 | u32::from(is_met));
                        Ok($name { $($field: $field.flatten(),)* met, unknown })
                    }
                }
                deserializer.deserialize_map(FormVisitor)
            }
        }
    };
}

/// A key, borrowed from the text unless it had to be unescaped.
pub enum FormKey<'a> {
    /// As it stands in the text.
    Borrowed(&'a str),
    /// Unescaped.
    Unescaped(String),
}

impl<'a> FormKey<'a> {
    /// Returns the key.
    pub fn text(&self) -> &str {
        match self {
            FormKey::Borrowed(text) => text,
            FormKey::Unescaped(text) => text,
        }
    }

    /// Returns the key if it is borrowed.
    pub fn borrowed(&self) -> Option<&'a str> {
        match self {
            FormKey::Borrowed(text) => Some(text),
            FormKey::Unescaped(_) => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FormKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FormKeyVisitor;
        impl<'de> Visitor<'de> for FormKeyVisitor {
            type Value = FormKey<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<FormKey<'de>, E> {
                Ok(FormKey::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<FormKey<'de>, E> {
                Ok(FormKey::Unescaped(text.to_owned()))
            }
        }
        deserializer.deserialize_identifier(FormKeyVisitor)
    }
}
