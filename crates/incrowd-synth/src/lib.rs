//! Synthetic tables about fictitious people.
//!
//! Demonstrations, tests and benchmarks of anonymization need person-level data, and real
//! person-level data must not be in a repository. This crate generates tables with the properties
//! of real ones: columns depend on each other, a few places and countries have most of the people,
//! reported numbers heap on round values, some answers are missing, and there are outliers.
//!
//! A table is a pure function of its kind, its number of rows and a seed. Rows are made in blocks,
//! each from its own random stream, so a shorter table is always the beginning of a longer one,
//! blocks can be made in parallel, and memory use does not grow with the number of rows. The
//! bytes are the same on every platform.
//!
//! ```
//! use incrowd_synth::{Synth, Table};
//!
//! let mut csv = Vec::new();
//! Synth::new(Table::Census, 100, 7).write_csv(&mut csv)?;
//! assert!(csv.starts_with(b"id,age,sex,zip,education"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod ages;
mod census;
mod draw;
mod hierarchies;
mod line;
mod salaries;
mod skewed;
mod synth;
mod table;

pub use hierarchies::hierarchy;
pub use synth::Synth;
pub use table::{Column, Role, Table, UnknownTable};
