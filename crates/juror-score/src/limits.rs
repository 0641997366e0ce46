//! What one answer may cost.

use juror_sparql::{CellLimit, MOST_COLUMNS};

/// How much memory and work one answer may take. What asks for more counts as what cannot be read:
/// it costs its step or its question, never a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The cells that all tables of an answer have beyond those that their texts answer for: one
    /// for every [`CellLimit::BYTES_A_CELL`] of their bytes. As many again may those of a
    /// question's reference have.
    pub table_cells: usize,
    /// The documents that all lists of an answer have beyond those that their texts answer for: one
    /// for every [`Limits::BYTES_A_DOCUMENT`] of their bytes. As many again may those of a
    /// question's reference have.
    pub documents: usize,
    /// The pairs of an expected and an actual step that are compared for a question, in all groups
    /// together.
    pub step_pairs: usize,
    /// The looks at pairs that it takes to find the best pairing for a question.
    pub pairing_work: usize,
}

impl Limits {
    /// What holds where the settings say nothing: tables of this size take 128 MB.
    pub const DEFAULT: Limits = Limits {
        table_cells: CellLimit::DEFAULT.0,
        documents: 1 << 16,
        step_pairs: 1 << 22,
        pairing_work: 1 << 27,
    };

    /// How much text stands for a document of a long list, which takes nine times as much memory.
    pub const BYTES_A_DOCUMENT: usize = 8;

    /// How large tables may become.
    pub fn of_tables(&self) -> CellLimit {
        CellLimit(self.table_cells)
    }

    /// How many documents a text of this length may list: `{}` takes twenty times its text.
    pub(crate) fn documents_of(&self, text_length: usize) -> usize {
        self.documents.saturating_add(text_length / Limits::BYTES_A_DOCUMENT)
    }
}

/// What an output has too much of, by which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The cells of tables.
    TableCells,
    /// The columns of a table, which no setting allows more of.
    TableColumns,
    /// The documents of lists.
    Documents,
    /// The ways to pair its steps.
    Pairing,
}

/// Something that asked for more than a limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What it is.
    pub place: Whose,
    /// What it has too much of.
    pub excess: Excess,
}

/// What of a question met a limit.
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
    /// What there is, in words, with the limit that it is beyond.
    pub fn told(self, limits: &Limits) -> String {
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

    /// Whether a setting allows more.
    pub fn can_be_raised(self) -> bool {
        self != Excess::TableColumns
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
