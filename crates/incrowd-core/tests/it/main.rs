//! The vocabulary against worked cases.

mod intervals;
mod taxonomy;
