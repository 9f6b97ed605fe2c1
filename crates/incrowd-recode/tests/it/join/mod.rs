//! k-join-anonymity: the paper's figures, cases computed by an independent prototype, and
//! comparisons of random tables with brute force.

mod common;
mod figures;
mod properties;
mod vectors;
