//! Mondrian: worked cases, and properties of all partitions.

pub(crate) mod common;
mod optimized;
mod properties;
mod vectors;
