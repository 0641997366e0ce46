//! The two sets of rules for scoring, and the switches between them.

use crate::kind_names::KindNames;
use crate::limits::Limits;

/// Which groups of expected steps make up the steps score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoredGroups {
    /// The last group only.
    Last,
    /// All groups from the last, stopping at the first incomplete one; the mean over all groups.
    All,
}

/// Whether an actual step may match an expected step of another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameMatching {
    /// Only steps of the same name match.
    MustAgree,
    /// A step of any name with an equal output matches, after the typed rules.
    Free,
}

/// The order in which the expected steps of a group choose among equally good pairings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first expected step chooses first.
    FirstToLast,
    /// The last expected step chooses first.
    LastToFirst,
}

/// Which kinds of steps have comparison rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKinds {
    /// SPARQL results by media type, retrieval, JSON, text.
    Document,
    /// Also time series, data points and IRI discovery; SPARQL results only for `sparql_query`.
    All,
}

/// How responses that ended in an error are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorResponses {
    /// Their steps are not scored and their values are left out of the statistics.
    LeftOut,
    /// Their steps are scored and their values are counted in.
    CountedIn,
}

/// Whether a step that has an output, no error and no status can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingStatus {
    /// No; only a step with the status `success` can match.
    NoMatch,
    /// The step counts as succeeded.
    Success,
}

/// What an expected step without output is matched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutOutput {
    /// Nothing.
    NoMatch,
    /// Its name and arguments.
    Args,
}

/// Who judges how well retrieved contexts agree with the reference contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextJudge {
    /// Text distance; no model is asked.
    Text,
    /// A model.
    Model,
}

/// When questions generated from an answer mark it as evasive, which scores 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noncommittal {
    /// If any of them does; empty questions take part like others.
    Any,
    /// If all of them do; empty questions are dropped.
    All,
}

/// The key for a failed judgement of an answer's claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerErrorKey {
    /// `answer_eval_error`.
    Eval,
    /// `answer_correctness_error`.
    Correctness,
}

impl AnswerErrorKey {
    /// The key.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerErrorKey::Eval => "answer_eval_error",
            AnswerErrorKey::Correctness => "answer_correctness_error",
        }
    }
}

/// How models are asked, where the releases differ in details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedLike {
    /// Line ends around counted claims are dropped; contexts of a question without a reference
    /// answer are ranked by their use for the actual answer.
    Release5,
    /// Neither.
    Release6,
}

/// A complete set of switches. Start from [`Profile::V5`] or [`Profile::V6`] and change fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Which groups are scored.
    pub scored_groups: ScoredGroups,
    /// Whether names must agree.
    pub names: NameMatching,
    /// Which expected step chooses first.
    pub choice: Choice,
    /// Which kinds of steps have rules of their own.
    pub kinds: StepKinds,
    /// Other names of kinds of steps.
    pub kind_names: KindNames,
    /// Whether a step without status can match.
    pub missing_status: MissingStatus,
    /// What an expected step without output is matched by.
    pub without_output: WithoutOutput,
    /// Whether the steps of error responses are scored.
    pub steps_of_errors: ErrorResponses,
    /// Whether error responses enter the statistics.
    pub statistics_of_errors: ErrorResponses,
    /// Whether `micro` has step counts too.
    pub micro_steps: bool,
    /// Whether `retrieval_*` statistics are repeated inside a template's `steps`, for old readers.
    pub retrieval_in_steps: bool,
    /// Who judges retrieved contexts.
    pub contexts: ContextJudge,
    /// When an answer counts as evasive.
    pub noncommittal: Noncommittal,
    /// The key for a failed judgement of claims.
    pub answer_error_key: AnswerErrorKey,
    /// Details of asking models.
    pub asked_like: AskedLike,
    /// Whether answers are compared with reference answers word by word, which changes no other
    /// metric.
    pub answer_overlap: bool,
    /// The memory and work that one answer may take.
    pub limits: Limits,
}

impl Profile {
    /// The rules of the published document, release 5 of the Python library.
    pub const V5: Profile = Profile {
        scored_groups: ScoredGroups::Last,
        names: NameMatching::MustAgree,
        choice: Choice::FirstToLast,
        kinds: StepKinds::Document,
        kind_names: KindNames::NONE,
        missing_status: MissingStatus::Success,
        without_output: WithoutOutput::NoMatch,
        steps_of_errors: ErrorResponses::LeftOut,
        statistics_of_errors: ErrorResponses::LeftOut,
        micro_steps: false,
        retrieval_in_steps: false,
        contexts: ContextJudge::Text,
        noncommittal: Noncommittal::Any,
        answer_error_key: AnswerErrorKey::Eval,
        asked_like: AskedLike::Release5,
        answer_overlap: false,
        limits: Limits::DEFAULT,
    };

    /// The rules of release 6 of the Python library.
    pub const V6: Profile = Profile {
        scored_groups: ScoredGroups::All,
        names: NameMatching::Free,
        choice: Choice::LastToFirst,
        kinds: StepKinds::All,
        kind_names: KindNames::NONE,
        missing_status: MissingStatus::Success,
        without_output: WithoutOutput::NoMatch,
        steps_of_errors: ErrorResponses::CountedIn,
        statistics_of_errors: ErrorResponses::CountedIn,
        micro_steps: true,
        retrieval_in_steps: false,
        contexts: ContextJudge::Model,
        noncommittal: Noncommittal::All,
        answer_error_key: AnswerErrorKey::Correctness,
        asked_like: AskedLike::Release6,
        answer_overlap: false,
        limits: Limits::DEFAULT,
    };

    /// Whether every metric that both sets of rules have is computed by the same rules.
    pub fn scores_like(&self, other: &Profile) -> bool {
        *self == Profile { answer_overlap: self.answer_overlap, ..other.clone() }
    }
}
