//! From a job to a verified release, checked from outside: with the csv crate, by brute force, on random and real tables.

mod adult;
mod attack;
mod categories;
mod columns;
mod edges;
mod failure;
mod full_domain;
mod join;
mod judge;
mod manifest;
mod matrix;
mod metamorphic;
mod optimized;
mod pipeline;
mod plain;
mod profile;
mod promises;
mod pycanon;
mod refusals;
mod release;
mod report;
mod skewed;
mod suppression;
mod tampering;
mod utility;
