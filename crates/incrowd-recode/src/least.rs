//! A lower bound of the loss of any release of a table.
//!
//! Computing the bound takes at least about as long as the `ascent` algorithm, so it is computed
//! only on request.

use std::sync::Arc;

use incrowd_core::model::BoundModel;
use incrowd_core::text::Block;
use incrowd_core::{Dataset, Progress};
use serde_json::{Value as Json, json};

pub use crate::improve::Metric;

use crate::ascent;
use crate::improve::{ModelCheck, Shapes};
use crate::{AlgorithmReport, Outcome, Reported};

/// Returns a lower bound of the mean loss per cell of any release of this table that satisfies
/// these models and suppresses no records. `None` if there are too many combinations of levels.
pub fn least_loss(
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    metric: Metric,
    progress: &dyn Progress,
) -> Option<f64> {
    let shapes = Shapes::new(data, metric);
    ascent::least_loss(&ModelCheck::new(data, models, &shapes), metric, progress)
}

/// An algorithm's report, if any, together with the bound.
#[derive(Clone, Debug)]
pub struct BoundReport {
    /// The algorithm's report.
    pub of: Reported,
    /// The metric of the bound.
    pub metric: Metric,
    /// The bound. `None` if there are too many combinations of levels.
    pub bound: Option<f64>,
}

impl BoundReport {
    /// Adds the bound to a report.
    pub fn wrap(of: Reported, metric: Metric, bound: Option<f64>) -> Reported {
        Some(Arc::new(BoundReport { of, metric, bound }))
    }
}

impl AlgorithmReport for BoundReport {
    fn name(&self) -> &'static str {
        self.of.as_ref().map_or("bound", |of| of.name())
    }

    /// The bound depends on unique records, so it must not be published.
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
                "bound    no release that satisfies the models without suppression has less {} \
                 than {bound:.4}",
                self.metric.title(),
            ),
            None => "bound    not computed: too many combinations of levels".to_owned(),
        }));
        text
    }
}
