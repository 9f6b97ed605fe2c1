//! Mondrian against worked cases and against what must hold of every partition.

mod common;
mod optimized;
mod properties;
mod vectors;
