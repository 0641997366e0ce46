//! How large a table may become.

use crate::MOST_COLUMNS;

/// The cells of a table that its text need not answer for; a longer text may have one cell for every
/// [`CellLimit::BYTES_A_CELL`] of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellLimit(pub usize);

impl CellLimit {
    /// What holds where nobody says otherwise: a table of this size takes 128 MB.
    pub const DEFAULT: CellLimit = CellLimit(1 << 22);

    /// How much text stands for a cell of a large table. Cells take eight times as much memory.
    pub const BYTES_A_CELL: usize = 4;

    /// How many cells a table may have that is read from a text of this length. Rows can leave most
    /// cells out, so a small text could ask for any amount of memory.
    fn cells_of(self, text_length: usize) -> usize {
        self.0.max(text_length / CellLimit::BYTES_A_CELL)
    }
}

/// How large a table may become.
#[derive(Clone, Copy, Default)]
pub(crate) struct Room {
    pub(crate) most_cells: usize,
}

impl Room {
    pub(crate) fn of(text: &str, limit: CellLimit) -> Room {
        Room { most_cells: limit.cells_of(text.len()) }
    }

    /// The same for a text that stands in a JSON string: no more than the text itself has, which is
    /// shorter. Where that is too little, the text is read the ordinary way, which tells.
    pub(crate) fn of_escaped(quoted: &str, limit: CellLimit) -> Room {
        if limit.cells_of(quoted.len()) == limit.0 {
            return Room { most_cells: limit.0 };
        }
        let n_backslashes = memchr::memchr_iter(b'\\', quoted.as_bytes()).count();
        // `\u0041` is one byte for six, all others are one for two.
        let has_codes = memchr::memmem::find(quoted.as_bytes(), b"\\u").is_some();
        let dropped = n_backslashes * if has_codes { 5 } else { 1 };
        Room { most_cells: limit.cells_of(quoted.len().saturating_sub(dropped)) }
    }

    pub(crate) fn holds(self, n_columns: usize, n_rows: usize) -> bool {
        n_columns <= MOST_COLUMNS && n_columns.saturating_mul(n_rows) <= self.most_cells
    }
}
