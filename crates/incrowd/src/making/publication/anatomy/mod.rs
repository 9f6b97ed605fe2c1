//! Anatomy: unmodified quasi-identifiers with a group number (QIT), and the frequency of each
//! sensitive value in each group (ST). Only the group links a person with a value.

mod tables;

use std::collections::BTreeMap;

use incrowd_audit::linked_origin::unmatched;
use incrowd_audit::tally;
use incrowd_audit::utility::{self, Comparison};
use incrowd_core::dataset::Quasi;
use incrowd_core::metric::Tally;
use incrowd_core::{
    ColumnSpec, Error, Folded, FoldedColumn, Kind, Params, Progress, Result, Value,
};
use incrowd_engine::{Engine, ExaminedColumns, Location, RecordValues};
use incrowd_recode::anatomy::{CARD, diverse, group};

use super::one_table::judge_table;
use super::{
    Asked, Judged, Publication, ReadFile, ReleaseTables, TableContent, TablePlace, Tables, Views,
};
use crate::job::Job;
use crate::job::reading::{Reading, has_passthrough};
use crate::judging::case::Case;
use crate::judging::from_original::{self, FromOriginal};
use crate::judging::measure::{Measured, Measuring, too_many};
use crate::making::checked::CheckedJob;
use crate::making::make::{Made, Material};
use crate::making::release::Verified;
use crate::making::suppression::{self, Keys, SuppressionReport};
use crate::manifest::{Manifest, Parameter};

/// The column that links the two tables.
pub(super) const GROUP: &str = "group";
/// The column of frequencies in the second table.
pub(super) const COUNT: &str = "count";

/// The publication in two linked tables.
#[derive(Debug)]
pub(crate) struct Anatomy;

/// Returns the algorithm's options.
fn options(job: &CheckedJob) -> Result<&incrowd_recode::anatomy::Anatomy> {
    let options = job.method.algorithm.linked();
    options.ok_or_else(|| Error::bug("an algorithm that does not link tables"))
}

impl Publication for Anatomy {
    fn name(&self) -> &'static str {
        "anatomy"
    }

    fn layout(&self) -> utility::Layout {
        utility::Layout::Linked
    }

    fn claims(&self, job: &Job) -> bool {
        job.algorithm.name == CARD.name
    }

    /// Adds frequency l-diversity, if the job has no model.
    fn prepare(&self, job: &mut Job, _: &[String]) -> Result<Vec<String>> {
        let params = Params::new(CARD.name, CARD.params, job.algorithm.params.clone());
        let params = params.map_err(|e| e.within("algorithm"))?;
        if job.algorithm.suppression_limit > 0.0 {
            return Err(Error::job("anatomy publishes every record")
                .help("set suppression_limit = 0")
                .at("algorithm.suppression_limit"));
        }
        if job.models.is_empty() && job.suppression.is_none() {
            let l = i64::try_from(params.count("l")).unwrap_or(i64::MAX);
            let mut given =
                vec![("l", Value::Integer(l)), ("kind", Value::Word("frequency".to_owned()))];
            if !params.word("on").is_empty() {
                given.push(("on", Value::Word(params.word("on").to_owned())));
            }
            job.add_model("l-diversity", given);
        }
        Ok(Vec::new())
    }

    fn one_record_each(&self) -> Option<&'static str> {
        Some("anatomy")
    }

    fn check(&self, job: &CheckedJob) -> Result<()> {
        if has_passthrough(&job.schema) {
            return Err(Error::job("anatomy does not support passthrough columns")
                .help("drop the column, or use an algorithm that generalizes")
                .at("columns"));
        }
        let mut sensitive = job.schema.sensitive().map(|(name, _)| name);
        let (Some(on), None) = (sensitive.next(), sensitive.next()) else {
            return Err(Error::job("anatomy takes exactly one sensitive column")
                .help("name one with `[columns] role = \"sensitive\"`")
                .at("columns"));
        };
        if job.schema.quasi().any(|(name, _)| name == GROUP) || [GROUP, COUNT].contains(&on) {
            return Err(Error::job(format!(
                "anatomy reserves the column names `{GROUP}` and `{COUNT}`"
            ))
            .at("columns"));
        }
        Ok(())
    }

    fn tables(&self, _: &CheckedJob, release: &Location) -> Result<Vec<TablePlace>> {
        let place =
            |path, what| TablePlace { path, key: "output.path", what, public: true, columns: &[] };
        Ok(vec![
            place(release.clone(), "the release"),
            place(release.with_suffix("st"), "the second table"),
        ])
    }

    fn gather<'e>(
        &self,
        engine: &'e mut dyn Engine,
        keys: &'e dyn Keys,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Material<'e>> {
        let folded = suppression::fold_people(job, engine, progress)?;
        Material::new(folded, engine, keys, job, progress)
    }

    fn make(
        &self,
        material: Material<'_>,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Made> {
        let mut made = Made::begin(job, &material.folded);
        let Material { folded, keys, locate, .. } = material;
        let (folded, suppression) = suppression::suppress(job, folded, keys, progress)?;
        made.domains = job.encode(folded.clone(), &*locate)?.into_quasi();
        made.distinct_rows = folded.rows() as u64;
        progress.step("grouping", None);
        let l = options(job)?.l;
        let (spec, column) = tables::sensitive_column(job)?;
        let (order, buckets) = tables::buckets(&folded, column, spec);
        // Checked before a key is created in vain.
        diverse(&buckets, l).map_err(|e| e.within("algorithm"))?;
        let secret = match &suppression {
            Some(suppression) => suppression.secret(),
            None => keys.secret()?,
        };
        let mut dice =
            secret.derive([&b"anatomy"[..], &tables::content(&folded, &order, &secret)]).dice();
        let groups = group(buckets, l, &mut dice).map_err(|e| e.within("algorithm"))?;
        let missing = job.missing_label();
        made.tables.push(tables::first(&folded, &groups, column, missing)?);
        made.tables.push(tables::second(&folded, &groups, spec, column, missing)?);
        made.suppression = suppression;
        Ok(made)
    }

    fn read_back(
        &self,
        reading: &Reading,
        release: &dyn ReleaseTables,
        _: bool,
        _: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<Tables> {
        let mut names: Vec<String> = reading.quasi_names().into_iter().map(str::to_owned).collect();
        names.push(GROUP.to_owned());
        let first = release.read(TableContent::QuasiIdentifiers, &names, progress)?;
        let has = |name: &String| first.columns.iter().any(|column| column.trim() == name);
        if first.columns.len() != names.len() || !names.iter().all(has) {
            return Err(Error::input(
                "the first table does not have the columns the manifest names",
            ));
        }
        let quasi = reading.quasi.len();
        let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
        for row in 0..first.folded.rows() {
            let group = &first.folded.columns[quasi].texts[first.folded.row(row)[quasi] as usize];
            *sizes.entry(group).or_insert(0) += first.folded.weights[row];
        }
        let [(on, _)] = reading.sensitive.as_slice() else {
            return Err(Error::input("two linked tables have exactly one sensitive column"));
        };
        let columns = [GROUP, on, COUNT].map(str::to_owned);
        let second = release.read(TableContent::SensitiveCounts, &columns, progress)?;
        let rows = second.folded.records();
        let values = counted(second.folded)?;
        let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
        for row in 0..values.rows() {
            let group = &values.columns[0].texts[values.row(row)[0] as usize];
            *counted.entry(group).or_insert(0) += values.weights[row];
        }
        if sizes != counted {
            return Err(Error::input(
                "the two tables do not match: a group has different numbers of values and records",
            ));
        }
        let records = first.folded.records();
        let files = vec![
            ReadFile {
                content: TableContent::QuasiIdentifiers,
                records,
                digest: first.digest,
                columns: first.columns,
            },
            ReadFile {
                content: TableContent::SensitiveCounts,
                records: rows,
                digest: second.digest,
                columns: second.columns,
            },
        ];
        Ok(Tables { people: first.folded, quasi, values: Some(values), files, ..Tables::default() })
    }

    fn tally(&self, tables: &Tables, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
        let mut tally = tally(&tables.people, domains, suppressed)?;
        tally.group_sizes = sizes(tables.with_values());
        Ok(tally)
    }

    fn judge(&self, tables: Tables, asked: &Asked<'_>, progress: &dyn Progress) -> Result<Judged> {
        let values = tables.values.ok_or_else(|| Error::bug("the second table was not read"))?;
        let quasi = vec![(GROUP.to_owned(), label_spec())];
        let reading = Reading { quasi, ..asked.reading.clone() };
        let asked =
            Asked { reading: &reading, references: Default::default(), stated: false, ..*asked };
        let verification = judge_table(values, &asked, progress)?;
        Ok(Judged { verification, on_values: None, rules: None, failures: Vec::new() })
    }

    fn advise(&self, step: &mut SuppressionReport) {
        if step.suppressed > 0 {
            step.notes.push(
                "unmodified quasi-identifiers are published: a known participant who is absent \
                 was suppressed, and so has one of the frequent values"
                    .to_owned(),
            );
        }
    }

    fn broken(&self, job: &CheckedJob, privacy_model: &str) -> Error {
        let l = options(job).map_or(0, |options| options.l);
        Error::unsatisfiable(format!(
            "anatomy does not keep {privacy_model}: its groups have {l} or {} records",
            l + 1
        ))
        .help("require l-diversity alone, or use an algorithm that generalizes")
        .at("models")
    }

    fn describe(&self, manifest: &mut Manifest, job: &CheckedJob, _: &Verified) {
        manifest.job.order = "sorted".to_owned();
        // The column follows from the table if the job does not name it.
        let on = job.schema.sensitive().next().map(|(name, _)| name.to_owned()).unwrap_or_default();
        let params = &mut manifest.algorithm.params.0;
        params.retain(|(name, _)| name != "on");
        params.push(("on".to_owned(), Parameter(Value::Word(on))));
    }

    fn compare_with_original(
        &self,
        case: &Case,
        tables: &Tables,
        progress: &dyn Progress,
    ) -> Result<Option<FromOriginal>> {
        let Some(original) = &case.judging.original else { return Ok(None) };
        let original = case.reading.fold_original(original, progress)?;
        let values = tables.with_values();
        let suppression = from_original::suppression(case, &original, values)?;
        progress.step("matching with the original", None);
        let found = unmatched(&original, &tables.people, values, case.reading.missing_label());
        let (strangers, misfits) = (found.records, found.groups);
        Ok(Some(FromOriginal { strangers, misfits, suppression, ..FromOriginal::default() }))
    }

    /// Supports queries about quasi-identifiers and a sensitive value, and pairs of columns. The
    /// other measures are about single columns, which are not generalized here.
    fn measure(&self, measuring: &mut Measuring<'_>, progress: &dyn Progress) -> Result<Measured> {
        let reading = &measuring.case.reading;
        let source = measuring.open_original()?;
        let folded = source.fold(&reading.fold_spec(reading.names()), progress)?;
        let data = measuring.encode(folded, &source)?;
        let tables = measuring.case.read_back(true, progress)?;
        let published = tables.people.records();
        let suppressed = data
            .records()
            .checked_sub(published)
            .ok_or_else(|| too_many(published, data.records()))?;
        let tally = self.tally(&tables, data.quasi(), suppressed)?;
        let asked = measuring.ask.is_some_and(|ask| ask.cards(self.layout()).next().is_some());
        let comparison = match asked {
            false => None,
            true => {
                progress.step("comparing", None);
                let (people, values) = (&tables.people, tables.with_values());
                Some(Comparison::of_linked(&data, people, values, reading.missing_label())?)
            }
        };
        Ok(Measured { tally, comparison })
    }

    fn views(&self, case: &Case, progress: &dyn Progress) -> Result<Views> {
        let tables = case.read_back(true, progress)?;
        let values = tables.values.map(|values| (values, vec![label_spec()]));
        // Attacks on people use the unmodified quasi-identifiers. The group number is not
        // background knowledge.
        let people = without_last(tables.people);
        Ok(Views {
            people,
            quasi: case.reading.quasi_specs(),
            values,
            record_values: RecordValues::default(),
        })
    }
}

fn label_spec() -> ColumnSpec {
    ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() }
}

/// Returns the sizes of the groups of a second table.
fn sizes(values: &Folded) -> Vec<u64> {
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    for row in 0..values.rows() {
        *sizes.entry(values.row(row)[0]).or_insert(0) += values.weights[row];
    }
    sizes.into_values().collect()
}

/// Returns a table folded without its last column.
fn without_last(table: Folded) -> Folded {
    let width = table.columns.len() - 1;
    let mut rows: BTreeMap<&[u32], u64> = BTreeMap::new();
    for row in 0..table.rows() {
        *rows.entry(&table.row(row)[..width]).or_insert(0) += table.weights[row];
    }
    let codes = rows.keys().flat_map(|row| row.iter().copied()).collect();
    let weights = rows.values().copied().collect();
    let columns: Vec<FoldedColumn> = table.columns[..width].to_vec();
    Folded {
        codes,
        weights,
        read: table.read,
        missing: vec![0; width],
        columns,
        decimal: table.decimal,
        ..Folded::default()
    }
}

/// Returns a second table with the column `count` as the counts of its rows.
fn counted(raw: Folded) -> Result<Folded> {
    let mut values = Folded { missing: vec![0; 2], decimal: raw.decimal, ..Folded::default() };
    for row in 0..raw.rows() {
        let codes = raw.row(row);
        let count = raw.columns[2].texts[codes[2] as usize].parse::<u64>().ok().filter(|n| *n > 0);
        let Some(count) = count else {
            return Err(Error::input("the second table has a row without a count"));
        };
        values.codes.extend_from_slice(&codes[..2]);
        values.weights.push(count * raw.weights[row]);
    }
    values.columns = raw.columns.into_iter().take(2).collect();
    values.read = values.records();
    Ok(values)
}
