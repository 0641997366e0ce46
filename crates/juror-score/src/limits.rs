//! Limits on the memory and time that one answer may take.

use juror_sparql::{CellLimit, MOST_COLUMNS};

/// How much memory and work one answer may take. An output beyond a limit counts as unreadable: it
/// affects its step or its question, never the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The cells of all tables of an answer, in addition to one for every
    /// [`CellLimit::BYTES_A_CELL`] bytes of their texts. The tables of a question's reference have
    /// the same limit of their own.
    pub table_cells: usize,
    /// The documents of all lists of an answer, in addition to one for every
    /// [`Limits::BYTES_A_DOCUMENT`] bytes of their texts. The lists of a question's reference have
    /// the same limit of their own.
    pub documents: usize,
    /// The pairs of an expected and an actual step compared for a question, in all groups together.
    pub step_pairs: usize,
    /// The number of pairs visited to find the best pairing for a question.
    pub pairing_work: usize,
    /// The pairs of a word of the reference answer and one of the actual answer that are compared for
    /// `answer_rouge_l`.
    pub word_pairs: usize,
}

impl Limits {
    /// The defaults. Tables of this size take 128 MB.
    pub const DEFAULT: Limits = Limits {
        table_cells: CellLimit::DEFAULT.0,
        documents: 1 << 16,
        step_pairs: 1 << 22,
        pairing_work: 1 << 27,
        word_pairs: 1 << 30,
    };

    /// The length of text that allows for one document. A document takes nine times as much memory.
    pub const BYTES_A_DOCUMENT: usize = 8;

    /// Returns the limit for tables.
    pub fn of_tables(&self) -> CellLimit {
        CellLimit(self.table_cells)
    }

    /// Returns the number of documents that a text of this length may list. A document `{}` takes
    /// twenty times the memory of its text.
    pub(crate) fn documents_of(&self, text_length: usize) -> usize {
        self.documents.saturating_add(text_length / Limits::BYTES_A_DOCUMENT)
    }
}

/// The limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Cells of tables.
    TableCells,
    /// Columns of a table; no setting can raise this limit.
    TableColumns,
    /// Documents of lists.
    Documents,
    /// Work to pair steps.
    Pairing,
}

/// Something that exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What exceeds it.
    pub place: Whose,
    /// The limit.
    pub excess: Excess,
}

/// The part of a question that exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The output of an actual step, by position.
    Actual(usize),
    /// The output of an expected step.
    Expected {
        /// Its group.
        group: usize,
        /// Its position in the group.
        step: usize,
    },
    /// All of its steps.
    Question,
}

impl Excess {
    /// Describes what is too large, and names the limit.
    pub fn describe(self, limits: &Limits) -> String {
        match self {
            Excess::TableCells => format!(
                "a table that has, with those before it, more cells than `limits.table_cells` \
                 allows ({})",
                limits.table_cells
            ),
            Excess::TableColumns => format!("a table of more than {MOST_COLUMNS} columns"),
            Excess::Documents => format!(
                "a list that has, with those before it, more documents than `limits.documents` \
                 allows ({})",
                limits.documents
            ),
            Excess::Pairing => format!(
                "more ways to be paired than are looked at within `limits.pairing_work` ({})",
                limits.pairing_work
            ),
        }
    }

    /// Whether a setting can raise the limit.
    pub fn can_be_raised(self) -> bool {
        self != Excess::TableColumns
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
