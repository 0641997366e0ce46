//! How large a table may become.

use crate::{MOST_COLUMNS, NotAResult};

/// How many cells a table may have in addition to one for every [`CellLimit::BYTES_A_CELL`] bytes
/// of its text.
///
/// Rows can leave most cells out, so without a limit a small text could demand any amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellLimit(pub usize);

impl CellLimit {
    /// The default; so many cells take 128 MB.
    pub const DEFAULT: CellLimit = CellLimit(1 << 22);

    /// The length of text that allows for one cell. A cell takes eight times as much memory.
    pub const BYTES_A_CELL: usize = 4;

    /// The number of cells that a table read from a text of this length may have.
    fn cells_of(self, text_length: usize) -> usize {
        self.0.saturating_add(text_length / CellLimit::BYTES_A_CELL)
    }
}

/// How large a table may become.
#[derive(Clone, Copy, Default)]
pub(crate) struct TableRoom {
    pub(crate) most_cells: usize,
}

impl TableRoom {
    pub(crate) fn of(text: &str, limit: CellLimit) -> TableRoom {
        TableRoom { most_cells: limit.cells_of(text.len()) }
    }

    /// The room of a text inside a JSON string. Unescaping makes a text up to six times shorter, so
    /// this is a lower bound of the room of the unescaped text. If it is too little, the caller
    /// unescapes the text and parses it again with its exact room.
    pub(crate) fn of_escaped(quoted: &str, limit: CellLimit) -> TableRoom {
        // `\u0041` takes six bytes for one.
        TableRoom { most_cells: limit.cells_of(quoted.len() / 6) }
    }

    pub(crate) fn holds(self, n_columns: usize, n_rows: usize) -> bool {
        n_columns <= MOST_COLUMNS && n_columns.saturating_mul(n_rows) <= self.most_cells
    }

    /// Returns an error if a table would be too large.
    pub(crate) fn check(self, n_columns: usize, n_rows: usize) -> Result<(), NotAResult> {
        if n_columns > MOST_COLUMNS {
            return Err(NotAResult::TooWide);
        }
        if self.holds(n_columns, n_rows) { Ok(()) } else { Err(NotAResult::TooLarge) }
    }
}
