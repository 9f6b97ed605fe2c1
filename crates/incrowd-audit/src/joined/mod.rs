//! Verification of a k-join-anonymous release, which consists of two linked tables.
//!
//! Paper: `sacharidis2010`. [`published`] checks the two tables alone. [`explained`] uses the
//! originals. It checks whether the published rows can be people of the join and include everyone
//! of the microdata: it matches people and rows such that the box of a row contains its person.

mod flow;
mod matching;
mod tables;

pub use matching::{Explained, Membership, explained, member_of};
pub use tables::{JoinTables, published};

/// A violated rule. The message contains no cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Number of the rule, e.g. `P2`.
    pub rule: &'static str,
    /// Description of the violation.
    pub message: String,
}

impl Failure {
    /// Creates a failure.
    pub fn new(rule: &'static str, message: impl Into<String>) -> Failure {
        Failure { rule, message: message.into() }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.rule, self.message)
    }
}
