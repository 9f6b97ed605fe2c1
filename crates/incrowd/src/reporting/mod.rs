//! Reporting answers: how are results and settings described to people, as sentences, previews and
//! pages?

pub mod explain;
pub(crate) mod insight;
pub(crate) mod report;
pub mod sentences;
pub(crate) mod summary;
