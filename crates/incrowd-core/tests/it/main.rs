//! Integration tests: worked examples, independent prototypes and slow twins.

mod intervals;
mod mdr;
mod models;
mod plain;
mod taxonomy;
