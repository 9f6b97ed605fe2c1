//! What is to be least.

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
    /// The metric with this name in a job; information loss if there is none.
    pub fn named(name: &str) -> Metric {
        if name == Metric::Ncp.name() { Metric::Ncp } else { Metric::InformationLoss }
    }

    /// The word for it in a job.
    pub fn name(self) -> &'static str {
        match self {
            Metric::InformationLoss => "information-loss",
            Metric::Ncp => "ncp",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Metric::InformationLoss => "information loss",
            Metric::Ncp => "NCP",
        }
    }

    /// The price of publishing these leaves of a line.
    pub(crate) fn of(self, domain: &Domain, lo: u32, hi: u32) -> f64 {
        match self {
            Metric::InformationLoss => domain.loss(Code(lo), Code(hi)),
            Metric::Ncp => domain.ncp(Code(lo), Code(hi)),
        }
    }
}
