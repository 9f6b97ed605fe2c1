//! The published cell of a range of codes, and its loss.

use incrowd_core::dataset::Quasi;
use incrowd_core::domain::ReadCell;
use incrowd_core::{Code, Domain, Extent, Span};

/// The greatest number of leaves for which a table of cells is computed.
const TABLED: u32 = 400;

/// A cell as codes and loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PricedCell {
    pub(super) lo: u32,
    pub(super) hi: u32,
    pub(super) loss: f64,
}

/// One quasi-identifier.
pub(super) struct PricedColumn<'a> {
    domain: &'a Domain,
    leaves: u32,
    table: Vec<PricedCell>,
    /// The losses of the table in a separate array, which uses the cache better, because most
    /// accesses need only the loss.
    losses: Vec<f64>,
}

impl<'a> PricedColumn<'a> {
    pub(super) fn new(quasi: &'a Quasi) -> PricedColumn<'a> {
        let domain = &quasi.domain;
        let leaves = domain.leaves();
        let mut column = PricedColumn { domain, leaves, table: Vec::new(), losses: Vec::new() };
        if leaves <= TABLED {
            let pairs = (0..leaves).flat_map(|lo| (0..leaves).map(move |hi| (lo, hi)));
            column.table = pairs.map(|(lo, hi)| column.computed(lo.min(hi), hi.max(lo))).collect();
            column.losses = column.table.iter().map(|cell| cell.loss).collect();
        }
        column
    }

    /// Returns the cell that is published for all codes between two.
    pub(super) fn cell(&self, lo: u32, hi: u32) -> PricedCell {
        match self.table.get(self.index(lo, hi)) {
            Some(cell) if !self.table.is_empty() => *cell,
            _ => self.computed(lo, hi),
        }
    }

    fn index(&self, lo: u32, hi: u32) -> usize {
        lo as usize * self.leaves as usize + hi as usize
    }

    fn computed(&self, lo: u32, hi: u32) -> PricedCell {
        let domain = self.domain;
        let whole = || PricedCell {
            lo: 0,
            hi: self.leaves.saturating_sub(1),
            loss: domain.cell_loss(&ReadCell::Anything),
        };
        match domain {
            Domain::Taxonomy(tree) => {
                let node = tree.common(Code(lo), Code(hi));
                let (first, last) = tree.span(node);
                PricedCell { lo: first.0, hi: last.0, loss: tree.loss(node) }
            }
            Domain::Numbers(_) if lo == hi || domain.label(Code(lo), Code(hi)) != "*" => {
                let between = ReadCell::Between(domain.place(Code(lo)), domain.place(Code(hi)));
                PricedCell { lo, hi, loss: domain.cell_loss(&between) }
            }
            Domain::Labels(_) if lo == hi || domain.publishes_sets() => {
                let beyond = f64::from(hi - lo) / f64::from((self.leaves - 1).max(1));
                PricedCell { lo, hi, loss: beyond }
            }
            _ => whole(),
        }
    }

    /// Returns the cell that covers another one and a code.
    pub(super) fn with(&self, cell: PricedCell, code: u32) -> PricedCell {
        if (cell.lo..=cell.hi).contains(&code) {
            cell
        } else {
            self.cell(cell.lo.min(code), cell.hi.max(code))
        }
    }

    /// Returns the loss of the cell that covers another one and a code.
    pub(super) fn loss_with(&self, cell: PricedCell, code: u32) -> f64 {
        if (cell.lo..=cell.hi).contains(&code) {
            return cell.loss;
        }
        let (lo, hi) = (cell.lo.min(code), cell.hi.max(code));
        match self.losses.get(self.index(lo, hi)) {
            Some(loss) => *loss,
            None => self.computed(lo, hi).loss,
        }
    }

    /// Returns the cell that covers two cells.
    pub(super) fn union(&self, a: PricedCell, b: PricedCell) -> PricedCell {
        self.cell(a.lo.min(b.lo), a.hi.max(b.hi))
    }

    /// Returns a lower bound of the loss of a cell that also covers some code between two.
    pub(super) fn min_loss(&self, cell: PricedCell, from: u32, to: u32) -> f64 {
        match () {
            () if from > cell.hi => self.loss_with(cell, from),
            () if to < cell.lo => self.loss_with(cell, to),
            () => cell.loss,
        }
    }

    pub(super) fn place(&self, code: u32) -> f64 {
        self.domain.place(Code(code))
    }

    pub(super) fn extent(&self, cell: PricedCell, values: &[Code]) -> Extent {
        Extent::of_group(self.domain, Span { lo: Code(cell.lo), hi: Code(cell.hi) }, values)
    }

    pub(super) fn publishes_sets(&self) -> bool {
        self.domain.publishes_sets()
    }

    pub(super) fn leaves(&self) -> u32 {
        self.leaves
    }
}
