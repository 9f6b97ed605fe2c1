//! Tests of verification, attacks and measures: with published examples, with slow reference
//! implementations, and with modified releases.

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
