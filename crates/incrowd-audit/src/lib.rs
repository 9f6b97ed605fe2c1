//! How a release is judged.
//!
//! This crate sees the released cells and nothing else: it cannot see the crate that makes releases, and it trusts no
//! flag from it. Records are grouped anew by the text of their quasi-identifier cells, as a reader would group them.

mod alone;
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
pub mod utility;
mod verify;

pub use alone::{Alone, AloneIn, SHARE as ALONE_SHARE, alone};
pub use classes::Classes;
pub use cover::{Covered, Join, On, cover};
pub use matching::Matching;
pub use original::Original;
pub use tally::tally;
pub use verify::{Judgement, People, PersonsFound, Verification, verify, verify_beside, verify_matching};
