//! Comparison of a release with its original table, for the owner of both.
//!
//! The comparison answers two questions. Does every published record come from the original?
//! Published records are matched with records of the original, each at most once, so no record is
//! duplicated or invented. Were the records suppressed that the manifest describes? This compares
//! the counts of the sensitive values.

use incrowd_audit::joined::Failure;
use incrowd_core::{Error, Folded, Result};
use serde_json::{Value as Json, json};

use crate::judging::case::Case;
use crate::making::suppression::{SuppressionReport, compare_with_original};

/// The result of comparing a release with its original, for the data owner only.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FromOriginal {
    /// The number of published records that match no record of the original.
    pub strangers: u64,
    /// The number of groups of two linked tables whose values do not occur in the original together
    /// with the quasi-identifiers of the group; 0 if the tables are not linked.
    pub misfits: u64,
    /// The suppression step, if the manifest contains one.
    pub suppression: Option<SuppressionReport>,
    /// The names of the rules about the originals that were checked, if there are any.
    pub rules: Option<&'static str>,
    /// The violated rules.
    pub failures: Vec<Failure>,
    /// The number of boxes that are larger than their people need, if both originals are known.
    pub loose: Option<u64>,
    /// Warnings about the originals.
    pub warnings: Vec<String>,
}

impl FromOriginal {
    /// Returns whether the release can come from this table and was made as its manifest describes.
    pub fn holds(&self) -> bool {
        let made = self.suppression.as_ref().is_none_or(|step| step.checks.holds());
        self.strangers == 0 && self.misfits == 0 && made && self.failures.is_empty()
    }

    /// Adds the result to the private part of a report.
    pub(crate) fn add_to(&self, private: &mut Json) {
        let rule = |f: &Failure| json!({ "rule": f.rule, "says": f.message });
        match self.rules {
            Some(_) => {
                private["failures"] = self.failures.iter().map(rule).collect();
                private["loose_boxes"] = json!(self.loose);
                private["warnings"] = json!(self.warnings);
            }
            None => {
                private["original"] = json!({
                    "holds": self.holds(),
                    "records_not_of_the_original": self.strangers,
                    "groups_not_of_the_original": self.misfits,
                    "suppression": self.suppression.as_ref().map(SuppressionReport::to_json),
                });
            }
        }
    }
}

/// Compares the counts of the sensitive values in original and release, if the manifest contains a
/// suppression step.
pub(crate) fn suppression(
    case: &Case,
    original: &Folded,
    release: &Folded,
) -> Result<Option<SuppressionReport>> {
    let entry = case.manifest.as_ref().and_then(|manifest| manifest.suppression.as_ref());
    let Some(entry) = entry else { return Ok(None) };
    let reading = &case.reading;
    let position = reading.sensitive.iter().position(|(name, _)| *name == entry.on);
    let position = position.ok_or_else(|| {
        Error::input(format!(
            "the suppression is about `{}`, which is not a sensitive column",
            entry.on
        ))
    })?;
    let table = (original, reading.quasi.len() + position);
    compare_with_original(entry, table, release, &reading.sensitive[position].1, &reading.missing)
        .map(Some)
}
