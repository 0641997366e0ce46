//! The room that all outputs of an answer, or of a reference, share beyond what the lengths of their
//! texts allow.

use std::cell::Cell;

use juror_sparql::CellLimit;

use crate::limits::Limits;

/// What is left of the shared limits.
#[derive(Debug)]
pub(crate) struct Spare {
    cells: Shared,
    documents: Shared,
}

impl Spare {
    /// A small table with at most one cell for every two bytes is always read, so that earlier
    /// outputs cannot spoil a short answer that is right.
    const SMALL_TABLE: usize = 1 << 10;

    pub(crate) fn new(limits: &Limits) -> Spare {
        Spare { cells: Shared::new(limits.table_cells), documents: Shared::new(limits.documents) }
    }

    /// Returns the limit of cells for a text of this length.
    pub(crate) fn cells_for(&self, text_length: usize) -> CellLimit {
        let own = text_length / CellLimit::BYTES_A_CELL;
        CellLimit(self.cells.beyond(own).max(own.min(Spare::SMALL_TABLE / 2)))
    }

    /// Uses up the cells that the length of the text does not allow for.
    pub(crate) fn take_cells(&self, n_cells: usize, text_length: usize) {
        self.cells.take(n_cells.saturating_sub(text_length / CellLimit::BYTES_A_CELL));
    }

    pub(crate) fn refuse_cells(&self) {
        self.cells.refuse();
    }

    /// Returns the number of documents that a text of this length may list.
    pub(crate) fn documents_for(&self, text_length: usize) -> usize {
        let own = text_length / Limits::BYTES_A_DOCUMENT;
        own + self.documents.beyond(own)
    }

    /// Uses up the documents that the length of the text does not allow for.
    pub(crate) fn take_documents(&self, n_documents: usize, text_length: usize) {
        self.documents.take(n_documents.saturating_sub(text_length / Limits::BYTES_A_DOCUMENT));
    }

    pub(crate) fn refuse_documents(&self) {
        self.documents.refuse();
    }
}

#[derive(Debug)]
struct Shared {
    /// How many are left. A refused output is not kept in memory, so it uses up none.
    left: Cell<usize>,
    /// How many to read of an output before refusing it, beyond what the length of its text allows.
    /// Halved with each refusal, so that many such outputs do not take many times as long.
    patience: Cell<usize>,
}

impl Shared {
    fn new(most: usize) -> Shared {
        Shared { left: Cell::new(most), patience: Cell::new(most) }
    }

    /// Returns how many there may be beyond the `own` that the length of a text allows: at least as
    /// many again, while there are any left.
    fn beyond(&self, own: usize) -> usize {
        self.left.get().min(self.patience.get().max(own))
    }

    fn take(&self, n: usize) {
        self.left.set(self.left.get().saturating_sub(n));
    }

    fn refuse(&self) {
        self.patience.set(self.patience.get() / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_takes_time_but_no_room() {
        let spare = Spare::new(&Limits { table_cells: 1 << 20, ..Limits::DEFAULT });
        let mut looked_at = 0;
        for _ in 0..1_000 {
            looked_at += spare.cells_for(0).0;
            spare.refuse_cells();
        }
        assert!(looked_at < 2 << 20);
        assert_eq!(spare.cells_for(400_000), CellLimit(100_000));
        spare.take_cells(150_000, 400_000);
        assert_eq!(spare.cells.left.get(), (1 << 20) - 50_000);
    }

    #[test]
    fn a_small_table_has_always_room() {
        let spare = Spare::new(&Limits { table_cells: 100, ..Limits::DEFAULT });
        spare.take_cells(1_000, 0);
        let most = |length: usize| spare.cells_for(length).0 + length / CellLimit::BYTES_A_CELL;
        assert_eq!((most(0), most(400), most(2_048)), (0, 200, 1_024));
        assert_eq!(most(4_000), 1_512);
    }

    #[test]
    fn lists_share_what_their_texts_do_not_answer_for() {
        let spare = Spare::new(&Limits { documents: 100, ..Limits::DEFAULT });
        assert_eq!(spare.documents_for(80), 110);
        spare.take_documents(60, 80);
        assert_eq!(spare.documents_for(80), 60);
        (0..20).for_each(|_| spare.refuse_documents());
        assert_eq!(spare.documents_for(80), 20);
    }
}
