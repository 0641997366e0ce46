//! The role of a value in a file of references or responses, which decides whether it is an id.

/// The role of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The whole file: a list of records, a record, or records by id.
    Top,
    /// A template, question, response or step, or a list of such.
    Record,
    /// The output of a step.
    Output,
    /// A document in the output of a step.
    Document,
    /// An id: kept as the text that was written, even if it looks like a number.
    Id,
    /// Anything else; read by the rules of YAML.
    Data,
}

impl Role {
    /// The role of the items of a list with this role.
    pub(super) fn item(self) -> Role {
        match self {
            Role::Top | Role::Record => Role::Record,
            Role::Output | Role::Document => Role::Document,
            Role::Id | Role::Data => Role::Data,
        }
    }

    /// The role of a field of a mapping with this role. The key includes its quotes.
    pub(super) fn field(self, key: &[u8]) -> Role {
        match (self, key) {
            (Role::Top | Role::Record, b"\"id\"" | b"\"question_id\"" | b"\"template_id\"")
            | (Role::Document, b"\"id\"") => Role::Id,
            (
                Role::Top | Role::Record,
                b"\"questions\"" | b"\"reference_steps\"" | b"\"actual_steps\"",
            ) => Role::Record,
            (Role::Top | Role::Record, b"\"output\"") => Role::Output,
            (Role::Top, _) => Role::Record,
            _ => Role::Data,
        }
    }
}
