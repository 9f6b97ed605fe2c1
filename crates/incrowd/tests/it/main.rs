//! From a job to a verified release, checked from outside: with the csv crate, by brute force, on random and real tables.

mod adult;
mod columns;
mod failure;
mod full_domain;
mod manifest;
mod matrix;
mod metamorphic;
mod pipeline;
mod profile;
mod refusals;
mod release;
mod tampering;
