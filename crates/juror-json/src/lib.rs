//! Text that is JSON, read no further than it takes.
//!
//! Most of what Juror is given is a few fields around long strings, and most of the strings are
//! copied into a result as they stand. So nothing here builds a tree of values. [`from_str`] reads
//! the outer shape of a text into an [`Object`] or a type of your own, whose values stay the text
//! that was written ([`RawValue`](serde_json::value::RawValue)); a [`cursor`] goes through a text
//! once and passes over what nobody asks for. A string is unescaped when somebody needs to know
//! what it says ([`text_of`]), and two strings can be compared without that.
//!
//! The fast paths decide only what they are sure of. At anything else, and at any mistake,
//! `serde_json` reads the same text and has the last word; property tests hold the two equal.
//!
//! [`python`] is how Python would write and read such text: keys of reply caches and published
//! files are in its spelling.
//!
//! ```
//! use juror_json::{Object, from_str, text_of};
//!
//! let step: Object<'_> = from_str(r#"{"name": "lookup", "args": {"city": "Troms\u00f8"}}"#)?;
//! let args = step.get("args").expect("it is there");
//! assert_eq!(args.get(), r#"{"city": "Troms\u00f8"}"#, "as it was written");
//!
//! let args: Object<'_> = from_str(args.get())?;
//! assert_eq!(args.get("city").and_then(text_of).as_deref(), Some("Tromsø"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! You will not find files, formats other than JSON, or any word of questions, answers or tools
//! here, nor another crate of the project below it.

pub mod cursor;
mod object;
pub mod python;
mod reader;
mod skip;
mod string;
mod value;

pub use object::{Key, MapOnly, Object};
pub use reader::{end_of_string, from_str};
pub use string::{
    contains_text, find_backslash, find_special, inside_of, is_word, may_hide_letters, same_text,
    scalar_text, special_bits, text_of, text_or_json, unescape,
};
pub use value::{kind_of, same_value, small_value};
