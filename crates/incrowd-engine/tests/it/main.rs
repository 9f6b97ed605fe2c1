//! The embedded engine: folding and applying over every format, and what it says about files that are not what they should be.

mod apply;
mod bad_files;
mod bad_records;
mod changing;
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
