//! The binary `incrowd` as people meet it: what is typed, what comes back, and what lies in the directory afterwards.

mod room;

mod alone;
mod attack;
mod bad_jobs;
mod bad_outputs;
mod bad_requests;
mod bad_tables;
mod beside_original;
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
mod json;
mod keys;
mod measure;
mod missing;
mod models;
mod order;
mod outliers;
mod persons;
mod profile;
mod report;
mod seals;
mod serve;
mod skewed;
mod verify;

#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod interrupted;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod places;
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
mod standard_streams;
#[cfg(unix)]
mod streams;
mod together;
