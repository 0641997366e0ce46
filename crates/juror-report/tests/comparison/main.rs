//! Reports of comparisons, read back by parsers of their formats.

mod junit;
mod markdown;
mod support;
mod terminal;
