//! What is kept of a response: its trajectory, or only what is needed to find and read it again.

use std::num::NonZero;

use juror_score::Trajectory;

/// What is kept of a response.
pub trait Kept {
    /// Which of several answers to its question it is.
    fn trial(&self) -> Option<NonZero<u32>>;

    /// Says which of several answers to its question it is.
    fn set_trial(&mut self, trial: Option<NonZero<u32>>);

    /// Whether it has an answer.
    fn has_answer(&self) -> bool;

    /// Whether it says which steps were taken, even if there were none.
    fn has_steps(&self) -> bool;
}

impl Kept for Trajectory<'_> {
    fn trial(&self) -> Option<NonZero<u32>> {
        self.trial
    }

    fn set_trial(&mut self, trial: Option<NonZero<u32>>) {
        self.trial = trial;
    }

    fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    fn has_steps(&self) -> bool {
        self.steps.is_some()
    }
}

/// A trajectory that is read again when it is needed.
#[derive(Clone, Copy, Debug)]
pub struct Deferred {
    trial: Option<NonZero<u32>>,
    has_answer: bool,
    has_steps: bool,
}

impl From<Trajectory<'_>> for Deferred {
    fn from(read: Trajectory<'_>) -> Deferred {
        Deferred {
            trial: read.trial,
            has_answer: read.answer.is_some(),
            has_steps: read.steps.is_some(),
        }
    }
}

impl Kept for Deferred {
    fn trial(&self) -> Option<NonZero<u32>> {
        self.trial
    }

    fn set_trial(&mut self, trial: Option<NonZero<u32>>) {
        self.trial = trial;
    }

    fn has_answer(&self) -> bool {
        self.has_answer
    }

    fn has_steps(&self) -> bool {
        self.has_steps
    }
}
