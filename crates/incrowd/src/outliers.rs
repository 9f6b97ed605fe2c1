//! How many outliers does a table have, and how many of them can be hidden at all?

use incrowd_core::model::Promise;
use incrowd_core::outlier::{Density, Forced};
use incrowd_core::{Error, Progress, Result, Value};
use incrowd_recode::expansion::forced_json;
use serde_json::{Value as Json, json};

use crate::job::Job;
use crate::reading::Reading;

/// The outliers of a table; for the data owner only.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlierProfile {
    /// The sensitive column.
    pub column: String,
    /// The quasi-identifiers distance is measured on.
    pub attributes: Vec<String>,
    /// What share of the records must be far.
    pub p: f64,
    /// How far is far.
    pub d: f64,
    /// What makes an outlier by density, if that decides and not p and d.
    pub density: Option<Density>,
    /// How many records there are, those with a missing value left out.
    pub records: u64,
    /// How many distinct points they have on the distance attributes.
    pub points: u64,
    /// The outliers, and how many can be kept.
    pub forced: Forced,
}

impl OutlierProfile {
    /// The answer as JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "column": self.column,
            "distance_attributes": self.attributes,
            "p": self.p,
            "d": self.d,
            "lof": self.density.map(|lof| json!({ "neighbours": lof.neighbours, "threshold": lof.threshold })),
            "records": self.records,
            "points": self.points,
            "outliers": forced_json(&self.forced),
        })
    }
}

/// Counts the outliers of the table of `job.input`, on the job's quasi-identifiers and sensitive columns, as the parameters of
/// plain-k-anonymity say.
pub fn outliers(job: &Job, params: &[(String, Value)], progress: &dyn Progress) -> Result<OutlierProfile> {
    let mut roles = job.roles();
    crate::reading::resolve_columns(
        &mut roles.columns,
        &job.input.missing,
        &crate::reading::open_input(&job.input)?,
        progress,
    )?;
    let mut reading = Reading::of_roles(&roles);
    if reading.quasi.is_empty() {
        return Err(Error::job("outliers need quasi-identifiers to measure distance on")
            .help("name them with `[columns] role = \"quasi\"`"));
    }
    let given = params.iter().cloned().chain([("k".to_owned(), Value::Integer(1))]);
    let promise = Promise::about("plain-k-anonymity", given, &reading.sensitive_names())?;
    let Some(settings) = promise.model.outlier_settings() else {
        return Err(Error::bug("plain-k-anonymity knows no outliers"));
    };
    reading.sensitive.retain(|(name, _)| *name == settings.on);
    let data = reading.encode_original(reading.fold_original(&job.input, progress)?)?;
    progress.step("looking for outliers", None);
    let bound = promise.model.bind(&data)?;
    let Some(outliers) = bound.outliers() else {
        return Err(Error::bug("plain-k-anonymity knows no outliers"));
    };
    let Some(forced) = Forced::of(&[(outliers, bound.asks_corners())], &data) else {
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
