//! Withholding records: the paper's examples, vectors of an independent prototype, the record loop as a twin, and chance.

mod anatomy;
mod chance;
mod twin;
mod vectors;
