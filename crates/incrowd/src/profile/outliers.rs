//! Counts the outliers of a table, and those that can be hidden.

use incrowd_core::model::PrivacyModel;
use incrowd_core::outlier::{Density, Forced};
use incrowd_core::{Error, Progress, Result, Value};
use incrowd_recode::expansion::forced_json;
use serde_json::{Value as Json, json};

use crate::job::Job;
use crate::job::reading::Reading;

/// A request to count the outliers of a table, on the job's quasi-identifiers and sensitive columns.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OutlierRequest {
    /// The table with the roles of its columns.
    pub job: Job,
    /// The definition of an outlier, as parameters of plain-k-anonymity.
    pub params: Vec<(String, Value)>,
}

impl OutlierRequest {
    /// Counts the outliers of the table of `job.input`.
    pub fn new(job: Job, params: Vec<(String, Value)>) -> OutlierRequest {
        OutlierRequest { job, params }
    }
}

crate::work::long_work! { OutlierRequest:
    /// Counts the outliers.
    fn run() -> OutlierProfile = outliers;
}

/// The outliers of a table; for the data owner only.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OutlierProfile {
    /// The sensitive column.
    pub column: String,
    /// The quasi-identifiers on which distance is measured.
    pub attributes: Vec<String>,
    /// The share of the records that must be farther away than `d`.
    pub p: f64,
    /// The distance.
    pub d: f64,
    /// The density criterion, if it is used in place of p and d.
    pub density: Option<Density>,
    /// The number of records without missing values.
    pub records: u64,
    /// The number of distinct points on the distance attributes.
    pub points: u64,
    /// The outliers, and the number that can be kept.
    pub forced: Forced,
}

impl OutlierProfile {
    /// Returns the profile as JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "column": self.column,
            "distance_attributes": self.attributes,
            "p": self.p,
            "d": self.d,
            "lof": self.density
                .map(|lof| json!({ "neighbours": lof.neighbours, "threshold": lof.threshold })),
            "records": self.records,
            "points": self.points,
            "outliers": forced_json(&self.forced),
        })
    }
}

fn outliers(request: &OutlierRequest, progress: &dyn Progress) -> Result<OutlierProfile> {
    let OutlierRequest { job, params } = request;
    let mut roles = job.roles();
    crate::job::reading::resolve_columns(
        &mut roles.columns,
        &job.input.missing,
        &crate::job::reading::open_input(&job.input)?,
        progress,
    )?;
    let mut reading = Reading::of_roles(&roles);
    if reading.quasi.is_empty() {
        return Err(Error::job("outliers need quasi-identifiers to measure distance on")
            .help("name them with `[columns] role = \"quasi\"`"));
    }
    let given = params.iter().cloned().chain([("k".to_owned(), Value::Integer(1))]);
    let privacy_model =
        PrivacyModel::about("plain-k-anonymity", given, &reading.sensitive_names())?;
    let Some(settings) = privacy_model.model.outlier_settings() else {
        return Err(Error::bug("plain-k-anonymity knows no outliers"));
    };
    reading.sensitive.retain(|(name, _)| *name == settings.on);
    let data = reading.encode_original(reading.fold_original(&job.input, progress)?)?;
    progress.step("looking for outliers", None);
    let bound = privacy_model.model.bind(&data)?;
    let Some(outliers) = bound.outliers() else {
        return Err(Error::bug("plain-k-anonymity knows no outliers"));
    };
    let Some(forced) = Forced::of(&[(outliers, bound.checks_corners())], &data) else {
        return Err(Error::bug("outliers were bound and not found"));
    };
    Ok(OutlierProfile {
        column: settings.on.clone(),
        attributes: outliers.attributes().map(|q| data.quasi()[q].name.clone()).collect(),
        p: settings.p,
        d: settings.d,
        records: data.records(),
        points: outliers.points() as u64,
        density: settings.density,
        forced,
    })
}
