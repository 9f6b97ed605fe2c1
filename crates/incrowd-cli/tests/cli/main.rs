//! Tests of the binary `incrowd`: arguments, output, and the files in the directory afterwards.

mod test_dir;

mod attack;
mod bad_jobs;
mod bad_outputs;
mod bad_requests;
mod bad_tables;
mod browser;
mod categories;
mod cells;
mod compare;
mod demo;
mod explain;
mod formats;
mod help;
mod hierarchy;
mod jobs;
mod join;
#[cfg(unix)]
mod journals;
mod json;
mod keys;
mod measure;
mod missing;
mod models;
mod order;
mod original;
mod outliers;
mod persons;
mod profile;
mod replacing;
mod report;
mod serve;
mod signatures;
mod skewed;
mod spellings;
mod table_formats;
mod unique_records;
mod verdicts;
mod verify;

#[cfg(target_os = "linux")]
mod small_files;

mod concurrent;
#[cfg(unix)]
mod existing_files;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod interrupted;
#[cfg(unix)]
mod killed;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(unix)]
mod postgres;
#[cfg(unix)]
mod postgres_cells;
#[cfg(unix)]
mod postgres_commands;
#[cfg(unix)]
mod postgres_faults;
#[cfg(unix)]
mod postgres_fold;
#[cfg(unix)]
mod postgres_tls;
#[cfg(unix)]
mod side_files;
mod standard_streams;
#[cfg(unix)]
mod streams;
mod terminal;
