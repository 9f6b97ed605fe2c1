//! The loss metric that an algorithm minimizes.

use incrowd_core::{Code, Domain};

/// A measure of loss that is a sum over cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Information loss.
    #[default]
    InformationLoss,
    /// Normalized certainty penalty.
    Ncp,
}

impl Metric {
    /// Returns the metric with this name in a job. Information loss is the default.
    pub fn named(name: &str) -> Metric {
        if name == Metric::Ncp.name() { Metric::Ncp } else { Metric::InformationLoss }
    }

    /// Returns the metric's name in a job.
    pub fn name(self) -> &'static str {
        match self {
            Metric::InformationLoss => "information-loss",
            Metric::Ncp => "ncp",
        }
    }

    /// Returns the metric's name in reports.
    pub fn title(self) -> &'static str {
        match self {
            Metric::InformationLoss => "information loss",
            Metric::Ncp => "NCP",
        }
    }

    /// Returns the loss of a cell that covers these leaves.
    pub(crate) fn of(self, domain: &Domain, lo: u32, hi: u32) -> f64 {
        match self {
            Metric::InformationLoss => domain.loss(Code(lo), Code(hi)),
            Metric::Ncp => domain.ncp(Code(lo), Code(hi)),
        }
    }
}
