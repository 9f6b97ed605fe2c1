//! Join of the microdata with an external table.
//!
//! k-join-anonymity joins the table with an external one on an identifier. The records of the table
//! are in memory ([`People`]). The external table may be far larger. It is read once, and its
//! people are distinguished by keyed digests of their identifiers. Only its distinct values stay in
//! memory, and its distinct rows if they fit into a limit. Otherwise it is read a second time for
//! the required rows ([`External::gather`]).
//!
//! Identifiers are compared by their [keys](incrowd_core::value_key): `7`, `7.0` and `007` are the
//! same person. The key of the digest is random for every run, so that spilled digests cannot be
//! linked to identifiers.

mod external;
pub(crate) mod identity;
mod people;

pub use external::{External, Gathered, Strangers};
pub use people::{Identity, People};
