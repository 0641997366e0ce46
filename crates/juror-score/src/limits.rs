//! What one answer may cost.

use std::fmt;

use juror_sparql::{CellLimit, MOST_COLUMNS};

/// How much memory and work one answer may take. What asks for more counts as what cannot be read:
/// it costs its step or its question, never a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The cells that all tables of an answer have beyond those that their texts answer for: one
    /// for every [`CellLimit::BYTES_A_CELL`] of its bytes.
    pub table_cells: usize,
    /// The documents that a step retrieved; a longer text may list one for every
    /// [`Limits::BYTES_A_DOCUMENT`] of its bytes.
    pub documents: usize,
    /// The pairs of an expected and an actual step that are compared in a group.
    pub step_pairs: usize,
}

impl Limits {
    /// What holds where the settings say nothing: tables of this size take 128 MB.
    pub const DEFAULT: Limits =
        Limits { table_cells: CellLimit::DEFAULT.0, documents: 1 << 16, step_pairs: 1 << 22 };

    /// How much text stands for a document of a long list.
    pub const BYTES_A_DOCUMENT: usize = 16;

    /// How large tables may become.
    pub fn of_tables(&self) -> CellLimit {
        CellLimit(self.table_cells)
    }

    /// How many documents a text of this length may list: `{}` takes ten times its text.
    pub(crate) fn documents_of(&self, text_length: usize) -> usize {
        self.documents.max(text_length / Limits::BYTES_A_DOCUMENT)
    }
}

/// What an output has too much of, by which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The cells of tables, or the columns that a table may have at all.
    TableCells,
    /// The documents of a list.
    Documents,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::TableCells => write!(
                f,
                "a table of more cells than `limits.table_cells` allows, or of more than \
                 {MOST_COLUMNS} columns"
            ),
            Excess::Documents => f.write_str("more documents than `limits.documents` allows"),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
