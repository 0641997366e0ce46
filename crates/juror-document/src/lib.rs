//! Files as text: formats, positions, and good error messages.
//!
//! A [`Document`] is a file in memory, and everything read from it borrows from it. Whatever its
//! [`Format`], readers see JSON: YAML is converted to JSON text when the document is created, and
//! `NaN`, which Python writes and JSON does not have, becomes a string if a value cannot be read
//! otherwise.
//!
//! Reading is fast first, and slow only for positions. Readers do not track lines and columns. If
//! one fails, the file is read again to find every [`Problem`] with its line, column and path, and
//! a hint what to do about it. Files without errors pay nothing for good messages. [`Problems`]
//! collects them and folds them by kind, since a mistake made a thousand times is one mistake to
//! report.
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
//! You will not find here what files mean: the readers of references, tool files and answers are in
//! the crates above, and they all report with [`Problem`]. Nor does this crate open files; the
//! caller passes in bytes.

mod document;
mod dotenv;
mod exact;
mod found_problems;
mod in_order;
mod in_shares;
mod label_problem;
mod look;
mod nearest_key;
mod not_numbers;
mod notice;
mod problem;
mod tools_problem;
mod yaml;

pub use document::{
    Document, DocumentText, Format, Offsets, QuotedLine, UnplacedProblem, complaint, lines_of,
    problem_in,
};
pub use dotenv::{Variables, read_variables};
pub use exact::{ComparedJson, bytes_compared, same_json, shown};
pub use found_problems::FoundProblems;
pub use in_order::{parts_of, read_in_order};
pub use in_shares::{both, map_in_shares, n_cores};
pub use label_problem::LabelProblem;
pub use look::Look;
pub use nearest_key::nearest_key;
pub use not_numbers::Quoted;
pub use notice::{Notice, Part, Phrase, Spelling, option, option_as, program_only};
pub use problem::{DatasetError, Folded, NotNumber, Path, Place, Problem, Problems, Segment};
pub use tools_problem::ToolsProblem;
pub use yaml::{NotYaml, ValueSpan, ValueStyle, is_caught, yaml_to_json};
