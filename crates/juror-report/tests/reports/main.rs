//! Reports of comparisons and runs, read back by parsers of their formats.

mod html;
mod junit;
mod markdown;
mod parsed;
mod run;
mod support;
mod terminal;
