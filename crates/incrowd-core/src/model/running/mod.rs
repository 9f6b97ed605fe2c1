//! Models that keep count of a group whose records come and go, so that one more or one fewer is judged without looking at all
//! the others again. Algorithms that move records ask for it; the answers are those of
//! [`BoundModel::admits`](super::BoundModel::admits), always.

mod diversity;
mod frequency;
mod moved;
mod within;

pub(super) use diversity::{Distinct, Entropy, Recursive};
pub(super) use frequency::{Frequency, Share};
pub(super) use moved::{Moved, Work};
pub(super) use within::{Range, Ranges, Shares, Within, first_true};

use std::fmt::Debug;

/// A group of which records come and go, as one model sees it. Codes are those of the column the model looks at.
pub trait Running: Debug + Send {
    /// No records are left.
    fn clear(&mut self);

    /// Records with this value come.
    fn add(&mut self, code: u32, records: u64);

    /// Records with this value that came before leave.
    fn remove(&mut self, code: u32, records: u64);

    /// Whether the model admits the group.
    fn admits(&self) -> bool;

    /// Whether it surely would not admit a group of so many records in which every code occurs as often as `counts` says. Quicker
    /// than counting them, and no for want of a quick answer.
    fn refuses(&self, _counts: &[u64], _records: u64) -> bool {
        false
    }

    /// Whether it would with these records.
    fn admits_with(&self, code: u32, records: u64) -> bool;

    /// Whether it would without these records, which are there.
    fn admits_without(&self, code: u32, records: u64) -> bool;
}
