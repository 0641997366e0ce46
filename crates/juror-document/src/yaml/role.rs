//! What a value is in a file of references or responses: whether it is an id.

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The file: a list of records, a record, or records by id.
    Top,
    /// A template, question, response or step, or a list of such.
    Record,
    /// What a step returned.
    Output,
    /// A document among what a step returned.
    Document,
    /// An id: the text that was written, whatever it looks like.
    Id,
    /// Anything else, which is what YAML says it is.
    Data,
}

impl Role {
    /// The role of an item, where this is the role of a list.
    pub(super) fn item(self) -> Role {
        match self {
            Role::Top | Role::Record => Role::Record,
            Role::Output | Role::Document => Role::Document,
            Role::Id | Role::Data => Role::Data,
        }
    }

    /// The role of a field, where this is the role of a mapping. The key has its quotes.
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
