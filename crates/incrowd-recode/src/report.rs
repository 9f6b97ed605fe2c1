//! Reports of algorithms. A report contains the losses of alternatives that were not published, so
//! it is for the data owner only.
//!
//! Each report type is defined in its algorithm's module and renders itself as JSON and as text.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use incrowd_core::text::Block;
use serde_json::Value as Json;

/// The number of records that are published, for reports that show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of records passed to the algorithm.
    pub records: u64,
    /// The number of these records that are not published.
    pub suppressed: u64,
}

/// The report of one run of an algorithm.
pub trait AlgorithmReport: Any + Debug + Send + Sync {
    /// Returns the report's key in the part of the manifest that is for the data owner.
    fn name(&self) -> &'static str;

    /// Returns the complete report.
    fn to_json(&self) -> Json;

    /// Returns the main results as text.
    fn to_text(&self, outcome: Outcome) -> Vec<Block>;

    /// Returns the name of the chosen method, if the algorithm chooses among several. It is
    /// published.
    fn taken(&self) -> Option<&'static str> {
        None
    }
}

impl dyn AlgorithmReport {
    /// Returns the report if it has type `T`.
    pub fn downcast<T: AlgorithmReport>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// The report of an algorithm, if it has one.
pub type Reported = Option<Arc<dyn AlgorithmReport>>;
