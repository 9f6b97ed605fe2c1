//! Making answers: how does a job become a verified and published release?
//!
//! [`pipeline`] is the whole way on one screen. [`checked`], [`claim`] and [`replacing`] check the
//! job before any record is read, [`make`](mod@make) plans the release in memory, and [`release`]
//! stages, verifies and publishes it.

pub(crate) mod anonymizer;
pub(crate) mod cells;
pub(crate) mod checked;
pub(crate) mod claim;
pub(crate) mod in_parts;
pub(crate) mod make;
pub(crate) mod means;
pub(crate) mod open_table;
pub(crate) mod pipeline;
pub(crate) mod publication;
pub(crate) mod release;
pub(crate) mod replacing;
pub(crate) mod suppression;
pub(crate) mod weights;
