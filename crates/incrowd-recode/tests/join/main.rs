//! k-join-anonymity: the paper's figures, cases computed by an independent prototype, and random tables against brute force.

mod common;
mod figures;
mod properties;
mod vectors;
