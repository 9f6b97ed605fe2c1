//! The methods of a judging, with or without progress reports.

use incrowd_core::{Progress, Result, Silent};

use crate::judging::attack::{AttackReport, AttackRequest, attack};
use crate::judging::measure::{Measurement, measure};
use crate::judging::request::Judging;
use crate::judging::utility_report::Ask;
use crate::judging::verify::{Checked, verify};
use crate::reporting::report::{Pages, report};
use crate::work::stoppable;

/// A [`Judging`] with a receiver of progress reports.
#[derive(Clone, Copy)]
#[must_use = "a judge does nothing until one of its methods is called"]
pub struct Judge<'a> {
    judging: &'a Judging,
    progress: &'a dyn Progress,
}

incrowd_core::opaque_debug!(Judge<'_> { judging });

impl Judge<'_> {
    /// Verifies the release: the stated models, or those of its manifest.
    pub fn verify(self) -> Result<Checked> {
        stoppable(|| verify(self.judging, self.progress))
    }

    /// Runs the attacks that apply to the release.
    pub fn attack(self, request: &AttackRequest) -> Result<AttackReport> {
        stoppable(|| attack(self.judging, request, self.progress))
    }

    /// Measures the information loss of the release against its original and, if requested, its
    /// utility.
    pub fn measure(self, ask: Option<&Ask>) -> Result<Measurement> {
        stoppable(|| measure(self.judging, ask, self.progress))
    }

    /// Verifies, attacks and measures the release, and renders the results as pages.
    pub fn report(self, ask: &Ask) -> Result<Pages> {
        stoppable(|| report(self.judging, ask, self.progress))
    }
}

impl Judging {
    /// Sets the receiver of progress reports.
    pub fn progress<'a>(&'a self, progress: &'a dyn Progress) -> Judge<'a> {
        Judge { judging: self, progress }
    }

    /// Verifies the release: the stated models, or those of its manifest.
    pub fn verify(&self) -> Result<Checked> {
        self.progress(&Silent).verify()
    }

    /// Runs the attacks that apply to the release.
    pub fn attack(&self, request: &AttackRequest) -> Result<AttackReport> {
        self.progress(&Silent).attack(request)
    }

    /// Measures the information loss of the release against its original and, if requested, its
    /// utility.
    pub fn measure(&self, ask: Option<&Ask>) -> Result<Measurement> {
        self.progress(&Silent).measure(ask)
    }

    /// Verifies, attacks and measures the release, and renders the results as pages.
    pub fn report(&self, ask: &Ask) -> Result<Pages> {
        self.progress(&Silent).report(ask)
    }
}
