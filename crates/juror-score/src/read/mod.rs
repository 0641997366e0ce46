//! Reading reference datasets, responses and results.
//!
//! Files are read fast first; only when that fails are they read again slowly, to find every
//! problem and its place.

mod both;
mod check;
mod document;
mod form;
mod keys;
mod not_numbers;
mod problem;
mod reference;
mod responses;
mod results;
mod strict;
mod yaml;

pub use both::read_both;
pub(crate) use document::Found;
pub use document::{Document, Format, Text};
pub(crate) use not_numbers::Quoted;
pub use problem::{DatasetError, Folded, NotNumber, Path, Place, Problem, Problems, Segment};
pub use reference::{Dataset, read_reference};
pub use responses::{Responses, read_responses};
pub use results::read_results;
pub use yaml::{is_caught, yaml_to_json};
