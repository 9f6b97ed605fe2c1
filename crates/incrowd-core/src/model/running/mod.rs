//! Incremental forms of models: a group to which records are added and from which records are
//! removed. A change of one record is judged without visiting the other records. The verdicts are
//! those of [`BoundModel::admits`](super::BoundModel::admits).

mod distance;
mod diversity;
mod frequency;
mod shares;

pub(super) use distance::{IncrementalDistance, Work};
pub(super) use diversity::{Distinct, Entropy, Recursive};
pub(super) use frequency::{Frequency, Share};
pub(super) use shares::{IncrementalShares, Range, Ranges, Shares, first_true};

use std::fmt::Debug;

/// A group that changes by single records, judged by one model. Codes are those of the model's
/// sensitive column.
pub trait Running: Debug + Send {
    /// Removes all records.
    fn clear(&mut self);

    /// Adds records with this value.
    fn add(&mut self, code: u32, records: u64);

    /// Removes records with this value that were added before.
    fn remove(&mut self, code: u32, records: u64);

    /// Whether the model admits the group.
    fn admits(&self) -> bool;

    /// Whether the model certainly refuses a group of `records` records with these counts per code.
    /// Faster than adding them; returns false if there is no fast answer.
    fn refuses(&self, _counts: &[u64], _records: u64) -> bool {
        false
    }

    /// Whether the model admits the group with these records added.
    fn admits_with(&self, code: u32, records: u64) -> bool;

    /// Whether the model admits the group with these records removed.
    fn admits_without(&self, code: u32, records: u64) -> bool;
}
