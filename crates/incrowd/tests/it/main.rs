//! From a job to a verified release, checked from outside: with the csv crate, by brute force, on random and real tables.

mod adult;
mod attack;
mod categories;
mod columns;
mod edges;
mod failure;
mod full_domain;
mod judge;
mod manifest;
mod matrix;
mod metamorphic;
mod pipeline;
mod profile;
mod promises;
mod pycanon;
mod refusals;
mod release;
mod skewed;
mod suppression;
mod tampering;
mod utility;
