//! Local suppression in a job: checks, domains whose cells are published unchanged or suppressed,
//! and limits on missing cells.

use incrowd_core::exact::Decimal;
use incrowd_core::model::{BoundModel, Need};
use incrowd_core::{Dataset, Domain, Error, GroupId, MissingCells, Progress, Result};
use incrowd_recode::Recoding;
use incrowd_recode::local_suppression::{LocalSuppression, cheapest_levels};

use crate::job::{Cells, Numbers, Sets};
use crate::making::checked::CheckedJob;

/// The factor by which the importance of a column increases if it loses too many cells.
const IMPORTANCE_FACTOR: f64 = 4.0;
/// The maximum number of attempts to keep the limits.
const ATTEMPTS: usize = 6;

impl CheckedJob {
    /// Refuses settings that are incompatible with local suppression.
    pub(crate) fn check_cells(&self) -> Result<()> {
        let algorithm = &self.job.algorithm;
        let limited = self.job.columns.iter().find(|(_, column)| column.max_missing.is_some());
        if algorithm.cells == Cells::Generalize {
            if algorithm.missing_cells == MissingCells::Any {
                return Err(Error::job(
                    "a release without missing cells has no cell that could match any value",
                )
                .help("add cells = \"suppress\" or \"both\", or leave missing_cells out")
                .at("algorithm.missing_cells"));
            }
            return match limited {
                None => Ok(()),
                Some((name, _)) => Err(Error::job(format!(
                    "`max_missing` of column `{name}` limits missing cells, \
                     and no cells are suppressed"
                ))
                .help("add cells = \"suppress\" to [algorithm]")
                .at(format!("columns.{name}.max_missing"))),
            };
        }
        if !self.publication.shapes() {
            return Err(Error::job(
                "single cells can be suppressed in a release in one table only",
            )
            .help("leave `cells` out")
            .at("algorithm.cells"));
        }
        if let Some(output) = &self.job.output {
            let other = [
                ("numbers", output.numbers != Numbers::default()),
                ("sets", output.sets != Sets::default()),
            ];
            if let Some((key, _)) = other.into_iter().find(|(_, stated)| *stated) {
                return Err(Error::job(format!(
                    "`[output] {key}` is about ranges and sets, \
                     and a release with suppressed cells has none"
                ))
                .help(format!("leave `{key}` out"))
                .at(format!("output.{key}")));
            }
        }
        match algorithm.missing_cells {
            MissingCells::Alone => self.check_alone(),
            MissingCells::Any => self.check_any(),
        }
    }

    fn check_alone(&self) -> Result<()> {
        if self.job.algorithm.cells == Cells::Both {
            return Err(Error::job(
                "if a missing cell matches missing cells only, \
                 it never costs less than a generalized one",
            )
            .help("leave `cells` out, which generalizes; or add missing_cells = \"any\"")
            .at("algorithm.cells"));
        }
        match self.privacy_models.iter().position(|p| p.model.card().needs.contains(&Need::Region))
        {
            None => Ok(()),
            Some(i) => Err(Error::job(format!(
                "`{}` is about distances between values, \
                 which are not defined if cells are suppressed",
                self.privacy_models[i].name()
            ))
            .help("leave `cells` out")
            .at(format!("models.{i}"))),
        }
    }

    fn check_any(&self) -> Result<()> {
        let name = self.method.card.name;
        if name != "auto" {
            return Err(Error::job(format!(
                "`{name}` makes groups, \
                 and there are none if a missing cell matches any value"
            ))
            .help("leave `[algorithm] name` out, or missing_cells")
            .at("algorithm.name"));
        }
        self.check_without_any()?;
        let other =
            self.privacy_models.iter().position(|p| p.model.card().needs != [Need::Records]);
        if let Some(i) = other {
            let name = self.privacy_models[i].name();
            return Err(Error::job(format!(
                "`{name}` is about groups, \
                 and there are none if a missing cell matches any value"
            ))
            .help("missing_cells = \"any\" requires k-anonymity; leave it out")
            .at(format!("models.{i}")));
        }
        Ok(())
    }

    fn check_without_any(&self) -> Result<()> {
        let others = [
            ("input.person", self.job.input.person.is_some()),
            ("input.weight", self.job.input.weight.is_some()),
            ("suppression", self.job.suppression.is_some()),
            ("algorithm.bound", self.job.algorithm.bound),
        ];
        match others.into_iter().find(|(_, stated)| *stated) {
            None => Ok(()),
            Some((key, _)) => Err(Error::job(format!(
                "`{key}` cannot be combined with missing_cells = \"any\", \
                 which counts matching records"
            ))
            .help("leave one of the two out")
            .at(key)),
        }
    }

    /// Returns the maximum share of missing cells of each quasi-identifier.
    fn limits(&self) -> Vec<Option<f64>> {
        let limit = |(name, _)| self.job.column(name).and_then(|column| column.max_missing);
        self.schema.quasi().map(limit).collect()
    }

    /// Returns the settings of local suppression if a missing cell matches any value.
    pub(crate) fn local_suppression(
        &self,
        models: &[Box<dyn BoundModel>],
    ) -> Result<LocalSuppression> {
        let least = models.iter().filter_map(|model| model.least_records()).max().unwrap_or(1);
        Ok(LocalSuppression { least, limits: self.limits() })
    }

    /// Returns the table on domains whose cells are published unchanged or suppressed, if the job
    /// requests that.
    pub(crate) fn with_missing_cells(
        &self,
        data: Dataset,
        progress: &dyn Progress,
    ) -> Result<Dataset> {
        let levels = match self.job.algorithm.cells {
            Cells::Generalize => return Ok(data),
            Cells::Suppress => vec![0; data.quasi().len()],
            Cells::Both => {
                let models = self.bind(&data)?;
                cheapest_levels(&data, &self.local_suppression(&models)?, progress)?
            }
        };
        let domains: Result<Vec<Domain>> = data
            .quasi()
            .iter()
            .zip(levels)
            .map(|(quasi, level)| quasi.domain.or_missing(level))
            .collect();
        Ok(data.with_domains(domains?))
    }

    /// Makes groups. If columns lose more cells than allowed, tries again with a greater importance
    /// of those columns.
    pub(crate) fn recode_within_limits(
        &self,
        data: &Dataset,
        recode: impl Fn(&Dataset) -> Result<Recoding>,
    ) -> Result<Recoding> {
        if self.job.algorithm.cells == Cells::Generalize {
            return recode(data);
        }
        let recode = |data: &Dataset| match recode(data)? {
            Recoding { domains: Some(_), .. } => {
                let name = self.method.card.name;
                Err(Error::job(format!(
                    "`{name}` makes its own intervals and cannot suppress single cells"
                ))
                .help("leave `[algorithm] name` out, or `cells`")
                .at("algorithm.name"))
            }
            recoding => Ok(recoding),
        };
        let limits = self.limits();
        let grouped = self.job.algorithm.missing_cells == MissingCells::Alone;
        if !grouped || limits.iter().all(Option::is_none) {
            return recode(data);
        }
        let mut weights: Vec<f64> = data.quasi().iter().map(|quasi| quasi.weight).collect();
        for _ in 0..ATTEMPTS {
            let recoding = recode(&data.clone().with_importances(&weights))?;
            let missing = missing_cells(data, &recoding);
            let most = |limit: f64| Decimal::of(limit).share_of(data.records());
            let over = |q: &usize| limits[*q].is_some_and(|limit| missing[*q] > most(limit));
            let over: Vec<usize> = (0..limits.len()).filter(over).collect();
            if over.is_empty() {
                return Ok(recoding);
            }
            over.into_iter()
                .for_each(|q| weights[q] = (weights[q] * IMPORTANCE_FACTOR).max(IMPORTANCE_FACTOR));
        }
        Err(Error::unsatisfiable("more cells would be missing than `max_missing` allows")
            .help("raise it, generalize first, or ask for less")
            .at("columns"))
    }
}

/// Returns the number of missing cells of each quasi-identifier.
fn missing_cells(data: &Dataset, recoding: &Recoding) -> Vec<u64> {
    let partition = &recoding.partition;
    let data = data.clone().divided(partition.divided());
    let mut records = vec![0; partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            records[group.index()] += data.weight(row);
        }
    }
    let missing = |q: usize| {
        let domain = &data.quasi()[q].domain;
        let gone = |group: &usize| {
            let span = partition.spans(GroupId(*group as u32))[q];
            domain.leaves() > 1 && domain.label(span.lo, span.hi) == "*"
        };
        (0..records.len()).filter(gone).map(|group| records[group]).sum()
    };
    (0..data.quasi().len()).map(missing).collect()
}
