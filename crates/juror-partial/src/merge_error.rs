//! Why parts do not belong together, in words.

use crate::partial::rules_name;

/// Why the numbers of two parts cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// They were scored by different profiles.
    #[error("it was scored by {theirs}, and others by {mine}")]
    OtherProfile {
        /// The profile of the parts so far.
        mine: String,
        /// The profile of the other part.
        theirs: String,
    },
    /// They were scored by different rules of the user's own.
    #[error("it was scored by other rules")]
    OtherRules,
    /// They have different metrics.
    #[error("it has other metrics: the custom evaluations of the settings are not the same")]
    OtherMetrics,
    /// They are parts of different runs.
    #[error("it is a shard of another run: {what} differs")]
    OtherRun {
        /// What differs.
        what: String,
    },
    /// The whole was split into other numbers of shards.
    #[error("it is one of {theirs} shards, and others are of {mine}")]
    OtherCount {
        /// How many shards the parts so far are of.
        mine: u32,
        /// How many the other part is of.
        theirs: u32,
    },
    /// A shard is there twice.
    #[error("shard {shard}/{of} is there already")]
    Twice {
        /// Which.
        shard: u32,
        /// Of how many.
        of: u32,
    },
    /// One of them does not say which shard it is.
    #[error("only some of the parts say which shard they are")]
    NoShard,
}

impl MergeError {
    pub(crate) fn of_rules(mine: u8, theirs: u8) -> MergeError {
        if mine == theirs {
            return MergeError::OtherRules;
        }
        MergeError::OtherProfile { mine: rules_name(mine), theirs: rules_name(theirs) }
    }
}
