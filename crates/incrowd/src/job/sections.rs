//! The tables of a job file except `[columns]`.

use std::path::{Path, PathBuf};

use incrowd_core::{Error, Value};
use toml::de::DeValue;

use super::reader::{Entry, Read, Table};
use super::{
    AlgorithmJob, CompareJob, DefaultRole, Input, Job, ModelJob, OnMissing, Order, Output, PopulationJob,
    Suppressed, SuppressionJob,
};
use super::{columns, external, files};

/// The whole file.
pub(super) fn job(file: &Table<'_>, base: &Path) -> Read<Job> {
    let mut job = Job::default();
    for entry in file.entries() {
        match entry.key {
            "input" => job.input = input(&entry.table("a table")?, base)?,
            "output" => job.output = Some(output(&entry.table("a table")?, base)?),
            "columns" => job.columns = columns::columns(&entry.table("a table")?, base)?,
            "models" => job.models = models(entry)?,
            "population" => job.population = Some(population(&entry.table("a table")?, base)?),
            "algorithm" => job.algorithm = algorithm(&entry.table("a table")?)?,
            "external" => job.external = Some(external::external(&entry.table("a table")?, base)?),
            "suppression" => job.suppression = Some(suppression(&entry.table("a table")?, base)?),
            "compare" => job.compare = Some(compare(&entry.table("a table")?, base)?),
            _ => {
                let what = match entry.value() {
                    DeValue::Table(_) => format!("unknown table [{}]", entry.key),
                    _ => format!("unknown key `{}` outside of any table", entry.key),
                };
                let known = [
                    "input",
                    "output",
                    "columns",
                    "models",
                    "population",
                    "algorithm",
                    "external",
                    "suppression",
                    "compare",
                ];
                return Err(entry.refuse_key(Error::job(what).help_near(entry.key, known)));
            }
        }
    }
    // A k-join-anonymous release is always sorted, so that its order carries no information about who came from where.
    if let (Some(_), Some(output)) = (&job.external, file.get("output"))
        && let Some(order) = output
            .table("a table")?
            .get("order")
            .filter(|_| job.output.as_ref().is_some_and(|o| o.order == Order::Shuffled))
    {
        return Err(order.refuse(Error::job("a release with [external] is always sorted by its cells")));
    }
    Ok(job)
}

fn input(table: &Table<'_>, base: &Path) -> Read<Input> {
    table.only(&["path", "missing", "on_missing", "default_role", "delimiter", "format"])?;
    let mut input = Input::default();
    if let Some(entry) = table.get("path") {
        input.paths = paths(entry, base)?;
    }
    if let Some(entry) = table.get("missing") {
        input.missing = entry.texts()?.into_iter().map(str::to_owned).collect();
    }
    if let Some(entry) = table.get("on_missing") {
        input.on_missing = entry.choice(&OnMissing::ALL)?;
    }
    if let Some(entry) = table.get("default_role") {
        input.default_role = entry.choice(&DefaultRole::ALL)?;
    }
    if let Some(entry) = table.get("delimiter") {
        input.delimiter = Some(delimiter(entry)?);
    }
    if let Some(entry) = table.get("format") {
        let format = entry.choice(&["csv", "parquet", "arrow"].map(|name| (name, name)))?;
        input.format = Some(format.to_owned());
    }
    Ok(input)
}

pub(super) fn paths(entry: &Entry<'_>, base: &Path) -> Read<Vec<PathBuf>> {
    let written = entry.texts()?;
    if written.is_empty() || written.contains(&"") {
        return Err(entry.refuse(Error::job("`path` names no file")));
    }
    Ok(written.into_iter().map(|path| files::resolve_pattern(base, path)).collect())
}

fn population(table: &Table<'_>, base: &Path) -> Read<PopulationJob> {
    table.only(&["path"])?;
    Ok(PopulationJob { paths: paths(table.need("path", "path = \"population.csv\"")?, base)? })
}

fn delimiter(entry: &Entry<'_>) -> Read<u8> {
    let text = entry.text()?;
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Ok(*byte),
        _ => {
            let takes = "a single character such as , or ; or the word tab";
            Err(entry.refuse(entry.cannot_be(&text.escape_debug().to_string(), takes)))
        }
    }
}

fn output(table: &Table<'_>, base: &Path) -> Read<Output> {
    table.only(&["path", "manifest", "order", "report", "owner_report"])?;
    let page = |key| table.get(key).map(|entry| files::path(entry, base)).transpose();
    Ok(Output {
        path: files::path(table.need("path", "path = \"release.csv\"")?, base)?,
        manifest: table.get("manifest").map(|entry| files::path(entry, base)).transpose()?,
        order: table.get("order").map_or(Ok(Order::default()), |entry| entry.choice(&Order::ALL))?,
        report: page("report")?,
        owner_report: page("owner_report")?,
    })
}

fn models(entry: &Entry<'_>) -> Read<Vec<ModelJob>> {
    let Some(items) = entry.items() else {
        let mut refused = entry.must_be("a list of tables");
        refused.error = refused.error.help("write [[models]], with two brackets, above each model");
        return Err(refused);
    };
    items.iter().map(|item| model(&item.table("a table")?)).collect()
}

fn model(table: &Table<'_>) -> Read<ModelJob> {
    let name = table.need("name", "name = \"k-anonymity\"")?.text()?.to_owned();
    Ok(ModelJob { name, params: params(table, &["name"])? })
}

fn algorithm(table: &Table<'_>) -> Read<AlgorithmJob> {
    let mut algorithm = AlgorithmJob::default();
    if let Some(entry) = table.get("name") {
        algorithm.name = entry.text()?.to_owned();
    }
    if let Some(entry) = table.get("suppression_limit") {
        let limit = entry.number()?;
        if !(0.0..=1.0).contains(&limit) {
            let error = entry.cannot_be(&limit.to_string(), "a share of the records, from 0 to 1");
            return Err(entry.refuse(error));
        }
        algorithm.suppression_limit = limit;
    }
    if let Some(entry) = table.get("suppressed") {
        algorithm.suppressed = entry.choice(&Suppressed::ALL)?;
    }
    algorithm.params = params(table, &["name", "suppression_limit", "suppressed"])?;
    Ok(algorithm)
}

fn suppression(table: &Table<'_>, base: &Path) -> Read<SuppressionJob> {
    let name = table.need("name", "name = \"r-suppression\"")?.text()?.to_owned();
    let seed = table.get("seed").map(|entry| {
        let seed = entry.integer()?;
        u64::try_from(seed)
            .map_err(|_| entry.refuse(entry.cannot_be(&seed.to_string(), "a whole number from 0")))
    });
    Ok(SuppressionJob {
        name,
        params: params(table, &["name", "key", "seed"])?,
        key: table.get("key").map(|entry| files::path(entry, base)).transpose()?,
        seed: seed.transpose()?,
        again: false,
    })
}

fn compare(table: &Table<'_>, base: &Path) -> Read<CompareJob> {
    table.only(&["algorithms", "k", "models", "suppression_limits", "loss", "dir"])?;
    let texts = |key| {
        let words = table.get(key).map(|entry| entry.texts()).transpose()?.unwrap_or_default();
        Ok(words.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let mut job =
        CompareJob { algorithms: texts("algorithms")?, models: texts("models")?, ..CompareJob::default() };
    if let Some(entry) = table.get("k") {
        let whole = |k: &f64| k.fract() == 0.0 && (1.0..=1e15).contains(k);
        let all = entry.numbers()?;
        if let Some(wrong) = all.iter().find(|k| !whole(k)) {
            return Err(entry.refuse(entry.cannot_be(&wrong.to_string(), "whole numbers from 1")));
        }
        job.k = all.into_iter().map(|k| k as u64).collect();
    }
    if let Some(entry) = table.get("suppression_limits") {
        job.suppression_limits = entry.numbers()?;
        if let Some(wrong) = job.suppression_limits.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(
                entry.refuse(entry.cannot_be(&wrong.to_string(), "shares of the records, from 0 to 1"))
            );
        }
    }
    job.loss = table.get("loss").map(|entry| entry.text()).transpose()?.map(str::to_owned);
    job.dir = table.get("dir").map(|entry| files::path(entry, base)).transpose()?;
    Ok(job)
}

/// What is left beside the keys that mean something to every model or algorithm.
fn params(table: &Table<'_>, except: &[&str]) -> Read<Vec<(String, Value)>> {
    let entries = table.entries().iter().filter(|entry| !except.contains(&entry.key));
    entries.map(|entry| Ok((entry.key.to_owned(), entry.param()?))).collect()
}
