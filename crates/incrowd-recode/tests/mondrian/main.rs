//! Mondrian against worked cases and against what must hold of every partition.

mod common;
mod properties;
mod vectors;
