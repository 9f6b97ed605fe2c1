//! Verification of releases, attacks on them, and measures of risk and utility.
//!
//! This crate reads only the released cells. It does not depend on the crate that creates releases
//! and uses none of its intermediate results. Records are grouped by the text of their
//! quasi-identifier cells, as a reader of the release would group them.

pub mod attack;
mod classes;
mod cover;
pub mod eligibility;
mod group;
pub mod joined;
pub mod linked_origin;
mod matching;
mod original;
pub mod risk;
mod tally;
mod unique;
pub mod utility;
mod verify;

pub use classes::Classes;
pub use cover::{Covered, Join, SharedColumn, cover};
pub use matching::Matching;
pub use original::Original;
pub use tally::tally;
pub use unique::{SHARE as UNIQUE_SHARE, UniqueOn, UniqueRecords, unique_records};
pub use verify::{
    Decision, Judgement, People, PersonsFound, Verification, verify, verify_matching,
    verify_with_original,
};
