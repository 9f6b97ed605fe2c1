//! A release beside the table it was made from, for the owner of both: does everybody in it come from there, and was withheld
//! what the manifest says?
//!
//! The first question is row by row: published records are matched with records of the original, each of which can stand for
//! one at most. So nobody appears twice, and nobody is made up. The second is about the counts of the sensitive values.

use incrowd_audit::joined::Failure;
use incrowd_core::{Error, Folded, Result};
use serde_json::{Value as Json, json};

use crate::case::Case;
use crate::suppression::{SuppressionReport, beside};

/// What was found out about a release beside its original. For the owner of the data only.
#[derive(Debug, Default)]
pub struct FromOriginal {
    /// How many published records no record of the original can stand for.
    pub strangers: u64,
    /// How many groups of two linked tables have values that nobody's records of the original have together with the
    /// quasi-identifiers of the group; none where the tables are not linked.
    pub misfits: u64,
    /// What the suppression step did, if the manifest tells of one.
    pub suppression: Option<SuppressionReport>,
    /// The rules about the originals that were checked, if there are any.
    pub rules: Option<&'static str>,
    /// Those that are broken, in words.
    pub failures: Vec<Failure>,
    /// Boxes that are larger than the people in them need, if both tables were asked.
    pub loose: Option<u64>,
    /// What the originals are like.
    pub warnings: Vec<String>,
}

impl FromOriginal {
    /// Whether the release can be one of this table, made as its manifest says.
    pub fn holds(&self) -> bool {
        let made = self.suppression.as_ref().is_none_or(|step| step.checks.holds());
        self.strangers == 0 && self.misfits == 0 && made && self.failures.is_empty()
    }

    /// Adds what was found to what is for the data owner only.
    pub(crate) fn add_to(&self, private: &mut Json) {
        let rule = |f: &Failure| json!({ "rule": f.rule, "says": f.says });
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

/// Compares the counts of the sensitive values of original and release, if the manifest tells that records were withheld.
pub(crate) fn suppression(
    case: &Case,
    original: &Folded,
    release: &Folded,
) -> Result<Option<SuppressionReport>> {
    let told = case.manifest.as_ref().and_then(|manifest| manifest.suppression.as_ref());
    let Some(told) = told else { return Ok(None) };
    let reading = &case.reading;
    let position = reading.sensitive.iter().position(|(name, _)| *name == told.on);
    let position = position.ok_or_else(|| {
        Error::input(format!("the suppression is about `{}`, which is not a sensitive column", told.on))
    })?;
    let table = (original, reading.quasi.len() + position);
    beside(told, table, release, &reading.sensitive[position].1, reading.missing_label()).map(Some)
}
