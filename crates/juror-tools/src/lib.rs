//! Tools that answer as if every API were up.
//!
//! [`load_folder`] reads a folder of tool files into tools; what they are, and all that can be
//! computed of them, is in [`juror_score::tool`].

mod folder;
mod load;

pub use load::{Catalog, LoadError, load_folder};
