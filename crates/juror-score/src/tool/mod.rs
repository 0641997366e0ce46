//! Tools that agents call: their names, catalogs, functions, and the queries they are tried on.

mod folder;
pub mod names;
mod unique;

pub use folder::{FolderNames, UnsafeName};
pub use unique::{Cut, unique_names};
