//! Full-domain search: worked cases, a comparison with brute force, and properties of all searches.

#[path = "../mondrian/common.rs"]
#[allow(dead_code, unreachable_pub)]
mod common;
mod hierarchies;
mod twin;
mod vectors;
