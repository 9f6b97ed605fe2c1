//! The synthetic tables: their bytes, their hierarchies and their statistics.

mod determinism;
mod hierarchies;
mod marginals;
