//! Judging a k-join-anonymous release: two tables that belong together.
//!
//! Paper: `sacharidis2010`. [`published`] looks at the two tables alone. [`explained`] asks with the originals in hand whether
//! the published rows are people of the join, every one of the microdata among them: a matching of people and rows in which
//! everybody lies in the box of the row.

mod flow;
mod matching;
mod tables;

pub use matching::{Explained, Membership, explained, member_of};
pub use tables::{JoinTables, published};

/// A rule that is broken. It names no cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The rule's number, such as `P2`.
    pub rule: &'static str,
    /// What is wrong.
    pub says: String,
}

impl Failure {
    /// A broken rule.
    pub fn new(rule: &'static str, says: impl Into<String>) -> Failure {
        Failure { rule, says: says.into() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.rule, self.says)
    }
}
