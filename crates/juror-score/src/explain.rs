//! Why an expected step was not found.

/// A placeholder to be replaced below.
pub struct Miss;
/// Placeholder.
pub fn explain() {}
