//! A file as text: its format, its places, and what is wrong with it.
//!
//! A [`Document`] is a file in memory, and what is read from it borrows from it. However it is
//! written, readers see JSON: YAML becomes JSON text when the document is made, and `NaN`, which
//! Python writes and JSON does not know, becomes a text when a value cannot be read otherwise.
//!
//! Reading is fast first and slow for places. A reader that fails says so; only then is the file
//! looked at again to find every [`Problem`] with its line, column and path, and what to do about
//! it. Good files pay nothing for good messages. [`Problems`] are told together: one mistake that
//! was made a thousand times is one thing to tell.
//!
//! ```
//! use juror_document::{Document, Format, Path, Problem};
//!
//! let text = "judge:\n  model: gpt-4o\n  width: many\n";
//! let settings = Document::new("settings.yaml", text.into(), Format::Yaml)?;
//! assert_eq!(settings.json(), r#"{"judge":{"model":"gpt-4o","width":"many"}}"#);
//!
//! let place = Path::default().key("judge").key("width");
//! let problem = Problem::WrongType { expected: "a number", found: "a text" };
//! let error = settings.error_at(place, problem);
//! assert_eq!(error.brief(), "settings.yaml:3:10: expected a number, found a text");
//! # Ok::<(), juror_document::Problems>(())
//! ```
//!
//! You will not find what the files mean here: what makes a reference, a tool file or an answer is
//! for the readers above, which all tell their problems in the words of [`Problem`]. Files are not
//! opened here either; bytes come in by the caller.

mod document;
mod look;
mod not_numbers;
mod notice;
mod problem;
mod yaml;

pub use document::{Document, Format, Found, Text, lines_of};
pub use look::Look;
pub use not_numbers::Quoted;
pub use notice::{Notice, Part, Phrase, Spelling, option, option_as, program_only};
pub use problem::{DatasetError, Folded, NotNumber, Path, Place, Problem, Problems, Segment};
pub use yaml::{NotYaml, is_caught, yaml_to_json};
