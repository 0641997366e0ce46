//! How large a table may become.

use crate::{MOST_COLUMNS, NotAResult};

/// The cells that a table may have beyond those that its text answers for: one for every
/// [`CellLimit::BYTES_A_CELL`] of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellLimit(pub usize);

impl CellLimit {
    /// What holds where nobody says otherwise: so many cells take 128 MB.
    pub const DEFAULT: CellLimit = CellLimit(1 << 22);

    /// How much text stands for a cell of a large table. Cells take eight times as much memory.
    pub const BYTES_A_CELL: usize = 4;

    /// How many cells a table may have that is read from a text of this length. Rows can leave most
    /// cells out, so a small text could ask for any amount of memory.
    fn cells_of(self, text_length: usize) -> usize {
        self.0.saturating_add(text_length / CellLimit::BYTES_A_CELL)
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
    /// shorter, up to six times. Where that is too little, the text is read the ordinary way, which
    /// tells.
    pub(crate) fn of_escaped(quoted: &str, limit: CellLimit) -> Room {
        // `\u0041` is one byte for six.
        Room { most_cells: limit.cells_of(quoted.len() / 6) }
    }

    pub(crate) fn holds(self, n_columns: usize, n_rows: usize) -> bool {
        n_columns <= MOST_COLUMNS && n_columns.saturating_mul(n_rows) <= self.most_cells
    }

    /// Why a table does not become as large as that, if it does not.
    pub(crate) fn check(self, n_columns: usize, n_rows: usize) -> Result<(), NotAResult> {
        if n_columns > MOST_COLUMNS {
            return Err(NotAResult::TooWide);
        }
        if self.holds(n_columns, n_rows) { Ok(()) } else { Err(NotAResult::TooLarge) }
    }
}
