//! Judging releases: against worked cases, against a slow obvious twin, and with corrupted releases.

mod attack;
mod common;
mod corruption;
mod cover;
mod eligibility;
mod linkage;
mod linked_origin;
mod plain;
mod sensitive;
mod twin;
mod vectors;
mod victims;
