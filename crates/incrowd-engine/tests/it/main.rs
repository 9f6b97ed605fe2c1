//! Tests of the embedded engine: folding and applying for every format, and errors about invalid
//! files.

mod apply;
mod bad_files;
mod bad_records;
mod changing;
mod coded;
mod common;
mod conformance;
mod files;
mod fold;
mod foreign;
mod formats;
#[cfg(all(unix, feature = "postgres"))]
mod grouped;
mod join;
mod order;
mod people;
mod persons;

mod read_back;
mod remote;
mod repeats;
mod sas;
mod sas_writer;
mod survey;
mod typed;
mod weights;
