//! Mondrian: worked cases, and properties of all partitions.

mod common;
mod optimized;
mod properties;
mod vectors;
