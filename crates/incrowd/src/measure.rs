//! What a release cost: the original against the release.

use incrowd_audit::utility::{Ask, Beside, Comparison, Marginal};
use incrowd_core::audience::{Audience, Fact};
use incrowd_core::metric::Tally;
use incrowd_core::{Dataset, Error, Folded, Progress, Result};
use incrowd_engine::Source;
use serde_json::{Value as Json, json};

use crate::case::Case;
use crate::judging::Judging;
use crate::manifest::Metrics;
use crate::reading::open_input;
use crate::utility_report::Utility;
use crate::weights::WeightedUtility;

/// The measures of a release.
#[derive(Debug)]
pub struct Measurement {
    /// What the measures of cell loss are computed from.
    pub tally: Tally,
    /// What the release is still good for, if that was asked.
    pub utility: Option<Utility>,
    /// What counts and means are worth with sampling weights, for the data owner; if the original has them.
    pub weighted: Option<WeightedUtility>,
    /// Whether nothing of this may be published, because it tells how many records were withheld.
    pub owner_only: bool,
}

impl Measurement {
    /// Every metric.
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.tally)
    }

    /// The answer as JSON. Everything but what stands under `private` may be published.
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
            if let (Some(Json::Object(private)), Some(into)) = (private, all["private"].as_object_mut()) {
                into.extend(private);
            }
            return all;
        }
        answer
    }
}

/// How many records a report puts beside published ones.
pub(crate) const SAMPLE: usize = 8;

/// What a report also wants to know of the two tables, and only the data owner may see.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The original as it was read: quasi-identifiers, then sensitive columns. Absent if the release has people of two tables.
    pub(crate) original: Option<Folded>,
    /// The columns before and after.
    pub(crate) marginals: Vec<Marginal>,
    /// Some records beside published ones that fit them, with the names of the columns.
    pub(crate) beside: (Vec<String>, Vec<Beside>),
}

/// What is measured, and with which questions.
pub(crate) struct Measuring<'a> {
    pub(crate) case: &'a Case,
    pub(crate) ask: Option<&'a Ask>,
    pub(crate) kept: Option<&'a mut Kept>,
}

/// What a publication answers.
pub(crate) struct Measured {
    pub(crate) tally: Tally,
    /// Original and release on common lines, if there is anything to compare.
    pub(crate) comparison: Option<Comparison>,
}

impl Measuring<'_> {
    /// Opens the table the release was made from.
    pub(crate) fn open_original(&self) -> Result<Source> {
        let Some(original) = &self.case.judging.original else {
            return Err(Error::job("which table was the release made from?").help("name the original"));
        };
        open_input(original)
    }

    /// Encodes the original.
    pub(crate) fn encode(&self, folded: Folded, source: &Source) -> Result<Dataset> {
        if folded.records() == 0 {
            return Err(Error::input(
                "the original has no records, or all of them lack a value that matters",
            ));
        }
        self.case.reading.encode(folded, &|name, text| source.locate(name, text).ok().flatten())
    }
}

/// The error about a release with more records than its original.
pub(crate) fn too_many(published: u64, records: u64) -> Error {
    Error::input(format!("the release has {published} records, the original only {records}"))
        .help("is it a release of this table, read with the same `missing` and `on_missing`?")
}

/// Measures what the cells of a release lost against the original the judging names and, if that is asked, what the release is
/// still good for. Domains come from the original and the hierarchies.
pub fn measure(judging: &Judging, ask: Option<&Ask>, progress: &dyn Progress) -> Result<Measurement> {
    if let Some(ask) = ask {
        ask.check()?;
    }
    measured(&Case::open(judging)?, ask, None, progress)
}

/// The same, with what a report draws.
pub(crate) fn measured(
    case: &Case,
    ask: Option<&Ask>,
    kept: Option<&mut Kept>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    case.need_quasi()?;
    // Some measures read means of groups as the numbers they are.
    if !ask.is_some_and(Ask::reads_means) {
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
    let audience = Audience::decide(Fact::MeasuredOverTheTable, case.withheld_in_secret());
    let weighted = crate::weights::utility(case, progress)?;
    Ok(Measurement { tally, utility, weighted, owner_only: !audience.is_everybody() })
}
