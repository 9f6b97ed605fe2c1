//! The bound beside what was reached: the least loss that any release of the table can have.
//!
//! It takes about as long as a climb and often longer, so it is computed only if somebody asks for it.

use std::sync::Arc;

use incrowd_core::model::BoundModel;
use incrowd_core::text::Block;
use incrowd_core::{Dataset, Progress};
use serde_json::{Value as Json, json};

pub use crate::improve::Metric;

use crate::ascent;
use crate::improve::{ModelCheck, Shapes};
use crate::{AlgorithmReport, Outcome, Reported};

/// The least mean loss of a cell that any release of this table can have if these models are kept and nobody is suppressed;
/// nothing if there are too many combinations of levels to tell.
pub fn least_loss(
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    metric: Metric,
    progress: &dyn Progress,
) -> Option<f64> {
    let shapes = Shapes::new(data, metric);
    ascent::least_loss(&ModelCheck::new(data, models, &shapes), metric, progress)
}

/// What an algorithm reports, if anything, and the bound.
#[derive(Clone, Debug)]
pub struct BoundReport {
    /// What the algorithm reports.
    pub of: Reported,
    /// What is bounded.
    pub metric: Metric,
    /// The bound; nothing if there are too many combinations of levels to tell.
    pub bound: Option<f64>,
}

impl BoundReport {
    /// The report with the bound beside it.
    pub fn beside(of: Reported, metric: Metric, bound: Option<f64>) -> Reported {
        Some(Arc::new(BoundReport { of, metric, bound }))
    }
}

impl AlgorithmReport for BoundReport {
    fn name(&self) -> &'static str {
        self.of.as_ref().map_or("bound", |of| of.name())
    }

    /// A bound tells about records nobody else resembles, so it is not for the public.
    fn to_json(&self) -> Json {
        let mut all = self.of.as_ref().map_or_else(|| json!({}), |of| of.to_json());
        all["bounded_metric"] = json!(self.metric.name());
        all["no_release_below"] = json!(self.bound);
        all
    }

    fn to_text(&self, outcome: Outcome) -> Vec<Block> {
        let mut text = self.of.as_ref().map_or_else(Vec::new, |of| of.to_text(outcome));
        text.push(Block::line(match self.bound {
            Some(bound) => format!(
                "bound    no release that keeps the promises and suppresses nobody has less {} than {bound:.4}",
                self.metric.title(),
            ),
            None => "bound    too many combinations of levels to tell".to_owned(),
        }));
        text
    }
}
