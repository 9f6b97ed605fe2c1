//! One file per command.

pub(crate) mod anonymize;
pub(crate) mod attack;
pub(crate) mod batches;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod hierarchy;
pub(crate) mod init;
pub(crate) mod measure;
pub(crate) mod profile;
pub(crate) mod recover;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod verify;
