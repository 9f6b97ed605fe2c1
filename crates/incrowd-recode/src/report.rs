//! What an algorithm knows beside the groups it made. It tells what other releases would have cost, so it is for the data owner
//! only.
//!
//! A report is defined beside its algorithm and shows itself, as JSON and as text. Nobody else has to know that it exists.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use incrowd_core::text::Block;
use serde_json::Value as Json;

/// What became of the records in the end, for reports that put themselves beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Records the algorithm was given.
    pub records: u64,
    /// Those of them that are not published.
    pub suppressed: u64,
}

/// What else is known of how groups were found.
pub trait AlgorithmReport: Any + Debug + Send + Sync {
    /// The key under which it stands among what is the data owner's.
    fn name(&self) -> &'static str;

    /// All of it.
    fn to_json(&self) -> Json;

    /// What a person should read first.
    fn to_text(&self, outcome: Outcome) -> Vec<Block>;

    /// The way that was taken, if the algorithm chooses among several. It is published.
    fn taken(&self) -> Option<&'static str> {
        None
    }
}

impl dyn AlgorithmReport {
    /// The report as the type its algorithm made.
    pub fn downcast<T: AlgorithmReport>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// A report, or nothing if the algorithm has none.
pub type Reported = Option<Arc<dyn AlgorithmReport>>;
