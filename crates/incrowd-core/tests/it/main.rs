//! The vocabulary against worked cases.

mod intervals;
mod mdr;
mod models;
mod plain;
mod taxonomy;
