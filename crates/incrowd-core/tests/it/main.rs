//! The vocabulary against worked cases.

mod intervals;
mod models;
mod plain;
mod taxonomy;
