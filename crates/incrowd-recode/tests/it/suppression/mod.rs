//! Suppression of records: the paper's examples, vectors of an independent prototype, a comparison
//! with the loop over records, and distributions of draws.

mod anatomy;
mod chance;
mod twin;
mod vectors;
