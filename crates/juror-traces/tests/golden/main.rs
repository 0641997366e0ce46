//! The same stories told in every dialect become the same steps: calls answered out of order, without
//! results, with broken arguments, repeated in each prompt, tried again, made by nested agents, and
//! tools that are only defined.

#![expect(clippy::doc_markdown, reason = "names of products and frameworks are no code")]
#![expect(clippy::needless_pass_by_value, reason = "values of tests are written in place")]

mod messages;
mod nested;
mod openinference;
mod otlp;
mod rows;
mod sessions;
mod stories;
mod story;
mod vendors;
