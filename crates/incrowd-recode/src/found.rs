//! What an algorithm knows beside the groups it made. It tells what other releases would have cost, so it is for the data owner
//! only.

use crate::ascent::AscentReport;
use crate::expansion::ExpansionReport;
use crate::full_domain::SearchReport;
use crate::optimized::TrialReport;

/// What else is known of how groups were found.
#[derive(Clone, Debug, Default)]
pub enum Found {
    /// Nothing.
    #[default]
    Nothing,
    /// What a search over levels found.
    Search(SearchReport),
    /// What trial runs found.
    Trials(TrialReport),
    /// How groups were grown.
    Expansion(ExpansionReport),
    /// What was reached, and what cannot be gone below.
    Ascent(AscentReport),
}

impl Found {
    /// What a search over levels found.
    pub fn search(&self) -> Option<&SearchReport> {
        if let Found::Search(report) = self { Some(report) } else { None }
    }

    /// What trial runs found.
    pub fn trials(&self) -> Option<&TrialReport> {
        if let Found::Trials(report) = self { Some(report) } else { None }
    }

    /// How groups were grown.
    pub fn expansion(&self) -> Option<&ExpansionReport> {
        if let Found::Expansion(report) = self { Some(report) } else { None }
    }

    /// What was reached, and what cannot be gone below.
    pub fn ascent(&self) -> Option<&AscentReport> {
        if let Found::Ascent(report) = self { Some(report) } else { None }
    }
}
