//! Measures the information loss and the utility of a release against its original.

use incrowd_audit::utility::{Comparison, Marginal, MatchedRecord, UtilityRequest};
use incrowd_core::audience::{Audience, Fact};
use incrowd_core::metric::Tally;
use incrowd_core::{Dataset, Error, Folded, Progress, Result};
use incrowd_engine::Source;
use serde_json::{Value as Json, json};

use crate::job::reading::open_input;
use crate::judging::case::Case;
use crate::judging::request::Judging;
use crate::judging::utility_report::Utility;
use crate::making::weights::WeightedUtility;
use crate::manifest::Metrics;

/// The measures of a release.
#[derive(Debug)]
#[non_exhaustive]
pub struct Measurement {
    /// The information loss of the cells.
    pub tally: Tally,
    /// The utility, if it was requested.
    pub utility: Option<Utility>,
    /// Weighted counts and means, for the data owner; if the original has sampling weights.
    pub weighted: Option<WeightedUtility>,
    /// Whether nothing of this may be published, because it reveals the number of suppressed
    /// records.
    pub owner_only: bool,
}

impl Measurement {
    /// Returns every metric.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.tally)
    }

    /// Returns the results as JSON. Everything except `private` may be published.
    pub fn to_json(&self) -> Json {
        let mut answer = json!({
            "records": { "published": self.tally.published, "suppressed": self.tally.suppressed },
            "metrics": self.metrics(),
        });
        if let Some(utility) = &self.utility {
            answer["utility"] = utility.public_json();
            answer["private"] = utility.private_json();
        }
        if let Some(weighted) = &self.weighted {
            answer["private"]["weighted"] = weighted.to_json();
        }
        if self.owner_only {
            let private = answer.as_object_mut().and_then(|all| all.remove("private"));
            let mut all = json!({ "private": answer });
            if let (Some(Json::Object(private)), Some(into)) =
                (private, all["private"].as_object_mut())
            {
                into.extend(private);
            }
            return all;
        }
        answer
    }
}

/// The number of records that a report shows next to published ones.
pub(crate) const SAMPLE: usize = 8;

/// Data that only the owner's report shows.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The original: quasi-identifiers, then sensitive columns. Absent if the release has people of
    /// two tables.
    pub(crate) original: Option<Folded>,
    /// The value distributions of the columns before and after.
    pub(crate) marginals: Vec<Marginal>,
    /// The column names, and some records with published records that match them.
    pub(crate) matched: (Vec<String>, Vec<MatchedRecord>),
}

/// A request to measure a release.
pub(crate) struct Measuring<'a> {
    pub(crate) case: &'a Case,
    pub(crate) ask: Option<&'a UtilityRequest>,
    pub(crate) kept: Option<&'a mut Kept>,
}

/// The results of a publication.
pub(crate) struct Measured {
    pub(crate) tally: Tally,
    /// Original and release on common domains, if there is anything to compare.
    pub(crate) comparison: Option<Comparison>,
}

impl Measuring<'_> {
    /// Opens the original table.
    pub(crate) fn open_original(&self) -> Result<Source> {
        let Some(original) = &self.case.judging.original else {
            return Err(Error::job("the original table is not given").help("name the original"));
        };
        open_input(original)
    }

    /// Encodes the original.
    pub(crate) fn encode(&self, folded: Folded, source: &Source) -> Result<Dataset> {
        if folded.records() == 0 {
            return Err(Error::input(
                "the original has no records, or all of them have a missing value in a \
                 quasi-identifier or sensitive column",
            ));
        }
        self.case
            .reading
            .for_measuring()
            .encode(folded, &|name, text| source.locate(name, text).ok().flatten())
    }
}

/// Returns the error about a release with more records than its original.
pub(crate) fn too_many(published: u64, records: u64) -> Error {
    Error::input(format!("the release has {published} records, the original only {records}"))
        .help("is it a release of this table, read with the same `missing` and `on_missing`?")
}

/// Measures the information loss of a release against its original and, if requested, its utility.
/// Domains come from the original and the hierarchies.
pub(crate) fn measure(
    judging: &Judging,
    ask: Option<&UtilityRequest>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    if let Some(ask) = ask {
        ask.check()?;
    }
    measured(&Case::open(judging)?, ask, None, progress)
}

/// Measures a release, and stores the data for the owner's report in `kept`.
pub(crate) fn measured(
    case: &Case,
    ask: Option<&UtilityRequest>,
    kept: Option<&mut Kept>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    case.need_quasi()?;
    // Some measures read group means as numbers.
    if !ask.is_some_and(UtilityRequest::reads_means) {
        case.need_ranges()?;
    }
    case.need_hierarchies()?;
    let layout = case.publication.layout();
    ask.map_or(Ok(()), |ask| ask.fits(layout))?;
    let mut measuring = Measuring { case, ask, kept };
    let Measured { tally, comparison } = case.publication.measure(&mut measuring, progress)?;
    let utility = match (comparison, ask) {
        (Some(comparison), Some(ask)) => Some(Utility::new(&comparison, ask, layout, progress)?),
        _ => None,
    };
    let audience = Audience::decide(Fact::MeasuredOverTheTable, case.hides_suppression());
    let weighted = crate::making::weights::utility(case, progress)?;
    Ok(Measurement { tally, utility, weighted, owner_only: !audience.is_everybody() })
}
