//! What one answer may cost.

/// How much memory and work one answer may take. What asks for more counts as what cannot be read:
/// it costs its step or its question, never a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The cells of a table that its text need not answer for; a longer text may have one cell for
    /// every [`Limits::BYTES_A_CELL`] of its bytes.
    pub table_cells: usize,
    /// The pairs of an expected and an actual step that are compared in a group.
    pub step_pairs: usize,
}

impl Limits {
    /// What holds where the settings say nothing: a table of this size takes 32 MB.
    pub const DEFAULT: Limits = Limits { table_cells: 1 << 20, step_pairs: 1 << 22 };

    /// How much text stands for a cell of a large table. Cells take eight times as much memory.
    pub const BYTES_A_CELL: usize = 4;

    /// How many cells a table may have that is read from a text of this length. Rows can leave most
    /// cells out, so a small text could ask for any amount of memory.
    pub(crate) fn cells_of(&self, text_length: usize) -> usize {
        self.table_cells.max(text_length / Limits::BYTES_A_CELL)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
