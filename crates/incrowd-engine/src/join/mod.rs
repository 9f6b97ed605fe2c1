//! Whom of an external table do we know, and who is a stranger?
//!
//! k-join-anonymity joins a table with an external one on an identifier. The table is held record by record ([`People`]). The
//! external one may be far larger: it is read once, its people are told apart by a keyed digest of their identifiers, and
//! what stays in memory are its distinct values and, as far as there is room or need, its distinct rows. Otherwise it is read
//! a second time for the rows that matter ([`External::gather`]).
//!
//! Identifiers are compared as they are written, byte by byte. The key of the digest is drawn anew for every run, so that what
//! is spilled to disk means nothing to anybody.

mod external;
mod identity;
mod people;

pub use external::{External, Gathered, Strangers};
pub use people::{Identity, People};
