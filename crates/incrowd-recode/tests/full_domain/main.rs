//! Full-domain search against worked cases, a brute-force twin and what must hold of every search.

#[path = "../mondrian/common.rs"]
#[allow(dead_code, unreachable_pub)]
mod common;
mod hierarchies;
mod twin;
mod vectors;
