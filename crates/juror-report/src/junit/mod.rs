//! `JUnit` files: what pipelines show of tests that failed.
//!
//! A suite is a template or set and a case is a question. Elements and attributes are those that
//! Surefire writes, which the other readers know, too.

mod cases;
mod questions;
mod threshold;
mod xml;

pub(crate) use cases::{Cases, gate_suite};
pub(crate) use questions::{Question, questions};
pub(crate) use threshold::Reached;
pub use threshold::Threshold;
pub(crate) use xml::write;

/// Some cases under one name.
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// A question, or a gate.
pub(crate) struct Case {
    pub(crate) name: String,
    /// How long the answer took, if that is known.
    pub(crate) seconds: Option<f64>,
    /// Names and values, such as scores.
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) status: Status,
}

/// How a case came out.
#[derive(Debug, PartialEq)]
pub(crate) enum Status {
    Passed,
    /// Some trials passed, and these did not.
    Flaky(Vec<Trouble>),
    /// No trial passed: the first, and the others.
    Failed(Trouble, Vec<Trouble>),
    /// It cannot be said.
    Skipped(String),
}

/// Why a case, or a trial of it, did not pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trouble {
    pub(crate) kind: TroubleKind,
    /// What is wrong.
    pub(crate) message: String,
    /// Why, if that is known.
    pub(crate) why: Option<String>,
}

/// Whether an answer is not good enough, or there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// There is an answer, and it is not good enough.
    Failure,
    /// There is no answer, or it could not be judged.
    Error,
}

impl Status {
    fn is_failed_by(&self, kind: TroubleKind) -> bool {
        matches!(self, Status::Failed(first, _) if first.kind == kind)
    }
}
