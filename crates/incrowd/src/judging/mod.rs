//! Judging answers: does a published release keep its guarantees, what can an adversary infer from
//! it, and how much information did it lose?
//!
//! [`request`] names the release, [`builder`] assembles the request from settings, and [`case`]
//! completes it from the manifest.
//! [`verify`](mod@verify), [`attack`](mod@attack) and [`measure`](mod@measure) answer it.

pub(crate) mod attack;
pub(crate) mod builder;
pub(crate) mod case;
pub(crate) mod from_original;
pub(crate) mod guarantee;
pub(crate) mod journals;
pub(crate) mod judge;
pub(crate) mod measure;
pub(crate) mod release_persons;
pub(crate) mod request;
pub(crate) mod unmodified;
pub(crate) mod utility_report;
pub(crate) mod verify;
