//! A public table with its quasi-identifiers: released and measured by its bytes, or divided and
//! timed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use incrowd::front_end::core::{ColumnSpec, Dataset, HierarchySpec, Kind, SensitiveSpec};
use incrowd::front_end::recode::Method;
use incrowd::front_end::recode::least::{Metric, least_loss};
use incrowd::hierarchy::mask;
use incrowd::job::{Job, RoleName, hierarchy_from_path};
use incrowd::model::PrivacyModel;
use incrowd::{Embedded, Engine, FoldSpec, Silent, Value};

use crate::lattice::processor_seconds;

/// A sensitive column, a model on it and its parameters.
pub(crate) type Sensitive<'a> = (&'a str, &'a str, Vec<(&'a str, Value)>);

/// A table with its quasi-identifiers and the models in addition to k-anonymity.
#[derive(Clone)]
pub(crate) struct Task<'a> {
    pub(crate) file: PathBuf,
    pub(crate) quasi: Vec<&'a str>,
    /// The directory of the hierarchies and the prefix of their files; columns without one have
    /// none.
    pub(crate) hierarchies: Option<(&'a Path, &'a str)>,
    pub(crate) sensitive: Option<Sensitive<'a>>,
    pub(crate) ncp: bool,
}

impl Task<'_> {
    pub(crate) fn spec(&self, column: &str) -> Result<ColumnSpec, String> {
        let none = ColumnSpec::default();
        if column == "PUMA" {
            // State, then area.
            let mask = HierarchySpec::Mask(mask::Mask { char: '*', from: mask::From::Right });
            return Ok(ColumnSpec { hierarchy: Some(mask), ..none });
        }
        if column.ends_with("_id") {
            // Codes, not numbers.
            return Ok(ColumnSpec { kind: Some(Kind::Text), ..none });
        }
        let Some((dir, prefix)) = self.hierarchies else { return Ok(none) };
        let hierarchy = hierarchy_from_path(&dir.join(format!("{prefix}_hierarchy_{column}.csv")));
        Ok(ColumnSpec { hierarchy: Some(hierarchy.map_err(|e| e.to_string())?), ..none })
    }

    pub(crate) fn metric(&self) -> &'static str {
        if self.ncp { "ncp" } else { "information-loss" }
    }

    /// Returns the job of the table and its columns, without models.
    pub(crate) fn job(&self) -> Result<Job, String> {
        let mut job = Job::default();
        job.input.paths = vec![self.file.clone().into()];
        job.input.missing = vec!["?".to_owned()];
        for &column in &self.quasi {
            job.set_role(column, RoleName::Quasi);
            job.column_mut(column).spec = self.spec(column)?;
        }
        Ok(job)
    }

    /// Makes a release and measures its loss from the written file.
    pub(crate) fn release(
        &self,
        out: &Path,
        k: i64,
        algorithm: &str,
        params: &[(&str, &str)],
    ) -> Result<f64, String> {
        let mut job = self.job()?;
        job.add_model("k-anonymity", [("k", Value::Integer(k))]);
        if let Some((column, model, params)) = &self.sensitive {
            job.set_role(column, RoleName::Sensitive);
            job.add_model(model, params.clone());
        }
        job.algorithm.name = algorithm.to_owned();
        for (name, word) in params {
            job.algorithm.params.push(((*name).to_owned(), Value::Word((*word).to_owned())));
        }
        job.write_to(out.join("release.csv"));
        // Benchmarks replace their earlier outputs.
        job.output.iter_mut().for_each(|output| output.replace = true);
        let report = incrowd::Anonymizer::new(&job).run().map_err(|e| e.to_string())?;
        let name = if self.ncp { "ncp" } else { "information_loss_per_column" };
        report.manifest.metrics.get(name).ok_or_else(|| format!("no {name} in the manifest"))
    }

    pub(crate) fn load(&self) -> Result<Dataset, String> {
        let mut engine =
            Embedded::open(std::slice::from_ref(&self.file), &incrowd::Options::default())
                .map_err(|e| e.to_string())?;
        let columns = self.quasi.iter().copied().chain(self.sensitive.iter().map(|s| s.0));
        let columns: Vec<String> = columns.map(str::to_owned).collect();
        let missing = vec!["?".to_owned()];
        let fold = FoldSpec {
            columns,
            missing,
            drop_missing: true,
            passthrough: Vec::new(),
            ..FoldSpec::default()
        };
        let folded = engine.fold(&fold, &Silent).map_err(|e| e.to_string())?;
        let quasi = self
            .quasi
            .iter()
            .map(|column| self.spec(column))
            .collect::<Result<Vec<_>, String>>()?;
        let sensitive: Vec<SensitiveSpec> =
            self.sensitive.iter().map(|_| SensitiveSpec::default()).collect();
        Dataset::encode(
            folded,
            &quasi.iter().collect::<Vec<_>>(),
            &sensitive.iter().collect::<Vec<_>>(),
            "?",
        )
        .map_err(|e| e.misfit.error.to_string())
    }

    /// Returns the processor time of dividing only, and the bound.
    pub(crate) fn divide(
        &self,
        table: &Dataset,
        k: i64,
        algorithm: &str,
        params: &[(&str, &str)],
    ) -> Result<f64, String> {
        let models = self.models(table, k)?;
        let params = params.iter().map(|(n, w)| ((*n).to_owned(), Value::Word((*w).to_owned())));
        let method = Method::new(algorithm, params).map_err(|e| e.to_string())?;
        let (began, spent) = (Instant::now(), processor_seconds());
        let mut times = 0;
        // The system counts in hundredths of a second.
        while times == 0 || began.elapsed().as_secs_f64() < 1.0 {
            method.algorithm.recode(table, &models, 0, &Silent).map_err(|e| e.to_string())?;
            times += 1;
        }
        Ok((processor_seconds() - spent) / f64::from(times))
    }

    pub(crate) fn models(
        &self,
        table: &Dataset,
        k: i64,
    ) -> Result<Vec<Box<dyn incrowd::model::BoundModel>>, String> {
        let mut privacy_models =
            vec![PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])];
        if let Some((_, model, params)) = &self.sensitive {
            privacy_models.push(PrivacyModel::new(
                model,
                params.iter().map(|(n, v)| ((*n).to_owned(), v.clone())),
            ));
        }
        privacy_models
            .into_iter()
            .map(|privacy_model| {
                privacy_model.and_then(|p| p.model.bind(table)).map_err(|e| e.to_string())
            })
            .collect()
    }

    pub(crate) fn bound(&self, table: &Dataset, k: i64) -> Result<f64, String> {
        let metric = if self.ncp { Metric::Ncp } else { Metric::InformationLoss };
        Ok(least_loss(table, &self.models(table, k)?, metric, &Silent).unwrap_or(f64::NAN))
    }
}
