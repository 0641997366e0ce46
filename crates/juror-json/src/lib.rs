//! Reads JSON only as far as needed.
//!
//! Most of Juror's input is a few fields around long strings, and most of the strings are copied
//! into a result unchanged. So nothing here builds a tree of values:
//!
//! - [`from_str`] reads the outer shape of a text into an [`Object`], or into a type of your own,
//!   and leaves each value as its JSON text ([`RawValue`](serde_json::value::RawValue)).
//! - A [`Cursor`](cursor::Cursor) walks through a large text once, takes the fields you want and
//!   skips the rest without parsing it.
//! - [`text_of`] unescapes a string, borrowing if there is nothing to unescape. [`same_text`] and
//!   [`contains_text`] compare strings without unescaping them whenever possible.
//! - An [`ExactNumber`] compares by value, with all of its digits.
//!
//! The fast reader decides only what it is sure of. Anything unusual and any syntax error is left
//! to `serde_json`, which reads the same text again and has the last word; property tests check
//! that the two agree.
//!
//! The [`python`] module writes and reads JSON the way Python does: keys of published reply caches
//! and published files use Python's spelling.
//!
//! ```
//! use juror_json::{Object, from_str, text_of};
//!
//! let step: Object<'_> = from_str(r#"{"name": "lookup", "args": {"city": "Troms\u00f8"}}"#)?;
//! let args = step.get("args").expect("the step has arguments");
//! assert_eq!(args.get(), r#"{"city": "Troms\u00f8"}"#, "verbatim, escapes included");
//!
//! let args: Object<'_> = from_str(args.get())?;
//! assert_eq!(args.get("city").and_then(text_of).as_deref(), Some("Tromsø"));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! You will not find file access, formats other than JSON, or anything about questions, answers or
//! tools here. This crate depends on no other crate of the project.

pub mod cursor;
mod exact_number;
mod form;
mod line;
mod object;
pub mod python;
mod reader;
mod reason;
mod skip;
mod string;
mod value;

pub use exact_number::{ExactNumber, is_exact};
pub use form::FormKey;
pub use line::on_one_line;
pub use object::{MapOnly, Object, ObjectKey};
pub use reader::{end_of_string, from_str, read_with};
pub use reason::{reason, reason_and_place};
pub use string::{
    contains_text, find_backslash, find_special, inside_of, is_word, may_hide_letters, same_text,
    scalar_text, special_bits, text_of, text_or_json, unescape,
};
pub use value::{kind_of, same_value, small_value};
