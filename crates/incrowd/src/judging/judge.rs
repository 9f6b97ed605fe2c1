//! The methods of a request to judge, with or without progress reports.

use crate::judging::attack::{AttackReport, AttackRequest, attack};
use crate::judging::measure::{Measurement, measure};
use crate::judging::request::Judging;
use crate::judging::utility_report::Ask;
use crate::judging::verify::{Checked, verify};
use crate::reporting::report::{Pages, report};

crate::work::long_work! { Judging:
    /// Verifies the release: the stated models, or those of its manifest.
    fn verify() -> Checked = verify;

    /// Runs the attacks that apply to the release. The request contains background knowledge in
    /// addition to the population and the original.
    fn attack(request: &AttackRequest) -> AttackReport = attack;

    /// Measures the information loss of the release against its original and, if requested, its
    /// utility. Domains come from the original and the hierarchies.
    fn measure(ask: Option<&Ask>) -> Measurement = measure;

    /// Verifies, attacks and measures the release, and renders the results as pages. Without the
    /// original there is no page for the data owner.
    fn report(ask: &Ask) -> Pages = report;
}
