//! Full-domain search: worked cases, a comparison with brute force, and properties of all searches.

mod hierarchies;
mod twin;
mod vectors;
