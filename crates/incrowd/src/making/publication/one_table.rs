//! One table: generalized quasi-identifiers with the sensitive and passthrough columns.

use incrowd_audit::utility::{self, Comparison, marginals, matched_records};
use incrowd_audit::{Matching, Original, People, verify_matching, verify_with_original};
use incrowd_core::domain::Numbers as NumbersOf;
use incrowd_core::hierarchy::mdr::Unit;
use incrowd_core::model::PrivacyModel;
use incrowd_core::{
    Dataset, Domain, Error, Folded, HierarchySpec, MISSING, MissingCells, Progress, Result,
    SensitiveSpec,
};
use incrowd_engine::{
    Content, Engine, ExaminedColumns, FoldSpec, Location, Output, Shape, high_column, low_column,
};
use incrowd_recode::Recoding;

use super::{
    Asked, Judged, Publication, ReadFile, ReleaseTables, TableContent, TablePlace, Tables, Views,
};
use crate::job::reading::Reading;
use crate::job::{Cells, Job, Numbers, OnMissing, Sets};
use crate::judging::case::Case;
use crate::judging::from_original::{self, FromOriginal};
use crate::judging::measure::{Measured, Measuring, SAMPLE, too_many};
use crate::making::checked::CheckedJob;
use crate::making::make::{Generalized, Made, MadeTable, Material, recode, starred};
use crate::making::release::Verified;
use crate::making::suppression::{self, Keys};
use crate::making::weights;
use crate::manifest::Manifest;

/// The publication in one table.
#[derive(Debug)]
pub(crate) struct OneTable;

impl Publication for OneTable {
    fn name(&self) -> &'static str {
        "one table"
    }

    fn layout(&self) -> utility::Layout {
        utility::Layout::OneTable
    }

    fn claims(&self, _: &Job) -> bool {
        true
    }

    fn shapes(&self) -> bool {
        true
    }

    fn tables(&self, _: &CheckedJob, release: &Location) -> Result<Vec<TablePlace>> {
        let path = release.to_owned();
        let (key, what) = ("output.path", "the release");
        Ok(vec![TablePlace { path, key, what, public: true, columns: &[] }])
    }

    fn gather<'e>(
        &self,
        engine: &'e mut dyn Engine,
        keys: &'e dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'e>> {
        let folded = match &job.suppression {
            Some(_) => suppression::fold_people(job, engine, progress)?,
            // Single rows are needed only by the suppression step.
            None => engine.fold(&FoldSpec { packed: true, ..job.fold_spec() }, progress)?,
        };
        Material::new(folded, engine, keys, job, progress)
    }

    fn make(
        &self,
        material: Material<'_>,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Made> {
        let mut made = Made::begin(job, &material.folded);
        let marker = material.folded.marker.clone();
        let Material { folded, population, keys, locate, most_labels, .. } = material;
        let (folded, suppression) = suppression::suppress(job, folded, keys, progress)?;
        progress.step("encoding", None);
        let data = job.weighed(job.encode(folded, &*locate)?);
        made.pin_intervals(&data);
        // The loss of the release is measured on the original domains, even if the algorithm used
        // others.
        let original_domains =
            (job.job.algorithm.cells != Cells::Generalize).then(|| data.quasi().to_vec());
        let data = job.with_missing_cells(data, progress)?;
        let data = job.reading().with_population(data, population.as_ref())?;
        let data = data.with_most_labels(most_labels);
        let models = job.bind(&data)?;
        let recoded = job.recode_within_limits(&data, |data| {
            recode(job, data, &models, progress).map_err(|e| e.within("algorithm"))
        })?;
        let Recoding { partition, report, domains } = recoded;
        let data = match domains {
            Some(domains) => data.with_domains(domains),
            None => data,
        };
        made.pin_intervals(&data);
        made.set_levels(&data, &partition);
        let data = data.divided(partition.divided());
        made.suppression = suppression;
        made.domains = original_domains.unwrap_or_else(|| data.quasi().to_vec());
        // Models about outliers are verified against the original. Otherwise its rows are dropped
        // after staging.
        let original = job.about_outliers().then(|| data.clone());
        made.distinct_rows = data.rows() as u64;
        let order = job.job.output.as_ref().map(|output| output.order).unwrap_or_default();
        let (columns, shape) = shaped(job, &data, partition.levels().is_some(), marker)?;
        let mean_weights = |_| weights::means(&data, &partition, &columns);
        let by_group = job.published_weight().map_or_else(Vec::new, mean_weights);
        made.generalized = Generalized {
            original,
            population,
            algorithm_report: report,
            starred: starred(&data, &partition),
            shape: shape.clone(),
            ..made.generalized
        };
        let output = Output {
            columns,
            order,
            missing: job.missing_label().to_owned(),
            by_group,
            shape,
            ..Output::default()
        };
        made.tables.push(MadeTable { content: TableContent::Release, data, partition, output });
        Ok(made)
    }

    fn read_back(
        &self,
        reading: &Reading,
        release: &dyn ReleaseTables,
        with_sensitive: bool,
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<Tables> {
        let mut names: Vec<String> = reading.quasi_names().into_iter().map(str::to_owned).collect();
        if with_sensitive {
            names.extend(reading.sensitive_names().into_iter().map(str::to_owned));
        }
        let back = release.read_examined(TableContent::Release, &names, examined, progress)?;
        let (records, digest, columns) = (back.folded.records(), back.digest, back.columns);
        let files = vec![ReadFile { content: TableContent::Release, records, digest, columns }];
        let (people, record_values) = (back.folded, back.record_values);
        Ok(Tables { people, quasi: reading.quasi.len(), values: None, files, record_values })
    }

    fn judge(&self, tables: Tables, asked: &Asked<'_>, progress: &dyn Progress) -> Result<Judged> {
        let verification = judge_table(tables.people, asked, progress)?;
        Ok(Judged { verification, on_values: None, rules: None, failures: Vec::new() })
    }

    /// Clears the list of files: the only file is named at the top.
    fn describe(&self, manifest: &mut Manifest, _: &CheckedJob, _: &Verified) {
        manifest.files.clear();
    }

    fn compare_with_original(
        &self,
        case: &Case,
        _: &Tables,
        progress: &dyn Progress,
    ) -> Result<Option<FromOriginal>> {
        let step = case.manifest.as_ref().and_then(|manifest| manifest.suppression.as_ref());
        let (Some(original), Some(_)) = (&case.judging.original, step) else { return Ok(None) };
        case.need_ranges()?;
        let mut release = case.read_back(true, progress)?.people;
        as_missing(&mut release, case.reading.quasi.len(), &case.reading.missing);
        let folded = case.reading.fold_original(original, progress)?;
        let suppression = from_original::suppression(case, &folded, &release)?;
        let data = case.reading.encode_original(folded)?;
        let strangers = Original::read(&release, &data, progress)?.unmatched_records();
        Ok(Some(FromOriginal { strangers, suppression, ..FromOriginal::default() }))
    }

    fn measure(&self, measuring: &mut Measuring<'_>, progress: &dyn Progress) -> Result<Measured> {
        let reading = measuring.case.reading.clone();
        let source = measuring.open_original()?;
        let names = reading.names();
        let ask = measuring.ask;
        let target =
            ask.and_then(|ask| ask.target()).filter(|target| !names.iter().any(|c| c == target));
        let mut spec = reading.fold_spec(names.clone());
        let drop_missing = spec.drop_missing;
        if let Some(target) = target {
            if !source.columns().iter().any(|column| column == target) {
                let error = Error::job(format!("the original has no column `{target}` to predict"));
                return Err(source.help_column(error, target));
            }
            // A missing target does not drop a record from the release, so it must not drop it
            // here.
            spec.columns.push(target.to_owned());
            spec.drop_missing = false;
        }
        let mut folded = source.fold(&spec, progress)?;
        if target.is_some() && drop_missing {
            drop_missing_in(&mut folded, names.len());
        }
        if let Some(kept) = &mut measuring.kept {
            kept.original = Some(folded.clone());
        }
        let data = measuring.encode(folded, &source)?;
        let records = data.records();
        let tables = measuring.case.release_tables();
        let mut columns: Vec<String> = data.quasi().iter().map(|q| q.name.clone()).collect();
        if ask.is_some() {
            let published = tables.columns(TableContent::Release)?;
            let unmodified = data.sensitive().iter().map(|column| &column.name);
            columns.extend(unmodified.filter(|name| published.contains(name)).cloned());
            if let Some(target) = target.filter(|target| !columns.iter().any(|name| name == target))
            {
                return Err(Error::job(format!("the release has no column `{target}` to predict")));
            }
        }
        let mut back = tables.read(TableContent::Release, &columns, progress)?.folded;
        as_missing(&mut back, data.quasi().len(), &reading.missing);
        let published = back.records();
        let suppressed =
            records.checked_sub(published).ok_or_else(|| too_many(published, records))?;
        let tally = incrowd_audit::tally(&back, data.quasi(), suppressed)?;
        let comparison = match ask {
            None => None,
            Some(_) => {
                progress.step("comparing", None);
                let comparison = Comparison::new(&data, &back, reading.missing_label(), target)?;
                if let Some(kept) = &mut measuring.kept {
                    kept.marginals = marginals(&comparison, &data);
                    kept.matched = matched_records(&comparison, &data, SAMPLE);
                }
                Some(comparison)
            }
        };
        Ok(Measured { tally, comparison })
    }

    fn views(&self, case: &Case, progress: &dyn Progress) -> Result<Views> {
        let columns = case.unmodified(&case.release_tables().columns(TableContent::Release)?);
        let examined = ExaminedColumns { columns: &columns, counts_only: false };
        let Tables { people, record_values, .. } =
            self.read_back(&case.reading, &case.release_tables(), true, examined, progress)?;
        Ok(Views { people, quasi: case.reading.quasi_specs(), values: None, record_values })
    }
}

/// Returns the columns of the release and their published forms.
fn shaped(
    job: &CheckedJob,
    data: &Dataset,
    levels: bool,
    marker: Option<String>,
) -> Result<(Vec<(String, Content)>, Shape)> {
    let Some(output) = &job.job.output else { return Ok((job.output_columns(), Shape::default())) };
    let specs: Vec<_> = job.schema.quasi().collect();
    let kept = job.job.input.on_missing == OnMissing::Keep;
    let label = job.missing_label();
    let shown = output.missing.clone().or(marker).filter(|shown| kept && shown != label);
    let quasi = if kept {
        data.quasi().iter().map(|quasi| quasi.name.clone()).collect()
    } else {
        Vec::new()
    };
    let mut shape = Shape { missing: label.to_owned(), shown, quasi, ..Shape::default() };
    let mut columns = Vec::new();
    for (name, content) in job.output_columns() {
        let Content::Quasi(q) = content else {
            columns.push((name, content));
            continue;
        };
        let (domain, spec) = (&data.quasi()[q].domain, specs[q].1);
        let is_numeric = match (domain, &spec.hierarchy) {
            (Domain::Numbers(domain), _) => !matches!(domain.numbers(), NumbersOf::Dates(_)),
            (Domain::Taxonomy(_), Some(HierarchySpec::Intervals(_))) => true,
            (Domain::Taxonomy(tree), _) => tree.grid().is_some_and(|grid| grid.unit != Unit::Dates),
            _ => false,
        };
        if output.numbers == Numbers::LowHigh && is_numeric {
            let own = [low_column(&name), high_column(&name)];
            if let Some(taken) =
                own.iter().find(|own| job.schema.published().any(|(other, _)| other == *own))
            {
                return Err(Error::job(format!(
                    "the bounds of the ranges of `{name}` need a column `{taken}`, which exists"
                ))
                .help("drop that column, or publish ranges")
                .at("output.numbers"));
            }
            let [low, high] = own;
            columns.extend([(low, Content::Low(q)), (high, Content::High(q))]);
            shape.ends.push((name, spec.hierarchy.is_some()));
        } else if output.numbers == Numbers::Mean && is_numeric {
            let bounded =
                [("top", spec.limits.top.is_some()), ("bottom", spec.limits.bottom.is_some())];
            let level = ("min_level", spec.min_level.is_some());
            if let Some((key, _)) = bounded.into_iter().chain([level]).find(|(_, stated)| *stated) {
                return Err(Error::job(format!(
                    "a group mean of `{name}` may be finer than `{key}` allows"
                ))
                .help("publish ranges or their bounds, or remove the guarantee")
                .at("output.numbers"));
            }
            columns.push((name.clone(), Content::Mean(q)));
            shape.means.push(name);
        } else if output.sets == Sets::List && domain.publishes_sets() && !levels {
            columns.push((name.clone(), Content::List(q)));
            shape.lists.push(name);
        } else {
            columns.push((name, content));
        }
    }
    Ok((columns, shape))
}

/// Verifies models on a published table that was read back: quasi-identifiers, then the sensitive
/// columns if a model needs them. A sensitive cell with a text that counts as missing is a missing
/// value, which need not be a number or in a hierarchy. All such texts are the same value, as when
/// the release was made.
pub(crate) fn judge_table(
    mut release: Folded,
    asked: &Asked<'_>,
    progress: &dyn Progress,
) -> Result<incrowd_audit::Verification> {
    crate::judging::guarantee::check(&release, asked.reading, None)?;
    let (quasi, missing) = (asked.reading.quasi_specs(), asked.reading.missing_label());
    as_missing(&mut release, quasi.len(), &asked.reading.missing);
    let texts = asked.references.original.map(|_| release.clone());
    let original = match (asked.references.original, &texts) {
        (Some(data), Some(texts)) => Some((Original::read(texts, data, progress)?, texts)),
        _ => None,
    };
    let people = asked.references.population;
    let people =
        people.map(|p| People::covered(&release, &quasi, p, missing, progress)).transpose()?;
    let matched = (asked.missing_cells == MissingCells::Any).then(|| release.clone());
    let specs: Vec<&SensitiveSpec> = asked.reading.sensitive.iter().map(|(_, spec)| spec).collect();
    let names: Vec<String> = release.columns.iter().map(|c| c.name.clone()).collect();
    let release = Dataset::of_release(release, quasi.len(), &specs)
        .map_err(|failed| failed.misfit.error.at(format!("columns.{}", names[failed.column])))?;
    if asked.stated {
        for (i, privacy_model) in asked.privacy_models.iter().enumerate() {
            privacy_model.model.suits(&release).map_err(|e| e.within(&format!("models.{i}")))?;
        }
    }
    if let Some(texts) = matched {
        let least = |privacy_model: &PrivacyModel| {
            privacy_model.model.bind(&release).map(|model| model.least_records())
        };
        let least = asked.privacy_models.iter().map(least).collect::<Result<Vec<_>>>()?;
        let enough = least.into_iter().flatten().max().unwrap_or(1);
        let is_missing =
            |text: &str| text == "*" || asked.reading.missing.iter().any(|gone| gone == text);
        let matching = Matching::count(&texts, quasi.len(), is_missing, enough)?;
        return verify_matching(&release, asked.privacy_models, &matching);
    }
    let original = original.as_ref().map(|(original, texts)| (original, *texts));
    verify_with_original(&release, asked.privacy_models, people.as_ref(), original)
}

/// Replaces cells with one of the texts `missing` by missing values, from column `from` on.
pub(crate) fn as_missing(folded: &mut Folded, from: usize, missing: &[String]) {
    let width = folded.columns.len();
    for column in from..width {
        let texts = &folded.columns[column].texts;
        let lost: Vec<bool> = texts
            .iter()
            .enumerate()
            .map(|(code, text)| code > 0 && missing.contains(text))
            .collect();
        if lost.contains(&true) {
            let cells = folded.codes.iter_mut().skip(column).step_by(width);
            cells.filter(|code| lost[**code as usize]).for_each(|code| *code = MISSING);
        }
    }
}

/// Drops the records with a missing value in one of the first columns.
fn drop_missing_in(folded: &mut Folded, columns: usize) {
    let width = folded.columns.len();
    let keep: Vec<bool> =
        (0..folded.rows()).map(|r| !folded.row(r)[..columns].contains(&MISSING)).collect();
    let before = folded.records();
    let mut row = keep.iter();
    folded.weights.retain(|_| *row.next().unwrap_or(&false));
    let mut at = 0..;
    folded.codes.retain(|_| at.next().is_some_and(|i: usize| keep[i / width]));
    folded.dropped_missing = before - folded.records();
}
