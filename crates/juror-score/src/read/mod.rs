//! Reading reference datasets, responses and results.
//!
//! Files are read fast first; only when that fails are they read again slowly, to find every
//! problem and its place.

mod both;
mod check;
mod form;
mod keys;
mod reference;
mod responses;
mod results;
mod strict;

pub use both::read_both;
#[doc(no_inline)]
pub use juror_document::{Document, Format, Problems};
pub use reference::{Dataset, read_reference};
pub use responses::{Responses, read_responses};
pub use results::read_results;
