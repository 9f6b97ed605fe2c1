//! The table `[columns]`.

use std::path::Path;

use incrowd_core::{Categories, ColumnSpec, Error, Kind, Labels, Publish, near_miss};
use toml::de::DeValue;

use super::hierarchy;
use super::reader::{Entry, Read, Table};
use super::{ColumnJob, RoleName};

/// What quasi-identifiers and sensitive columns may have beside their role.
const QUASI: [&str; 5] = ["kind", "hierarchy", "labels", "domain", "weight"];
const SENSITIVE: [&str; 4] = ["kind", "hierarchy", "categories", "publish_sa"];
const KEYS: [&str; 8] =
    ["role", "kind", "hierarchy", "labels", "domain", "categories", "publish_sa", "weight"];
const LABELS: [(&str, Labels); 2] = [("set", Labels::Set), ("star", Labels::Star)];

pub(super) fn columns(table: &Table<'_>, base: &Path) -> Read<Vec<(String, ColumnJob)>> {
    table.entries().iter().map(|entry| Ok((entry.key.to_owned(), column(entry, base)?))).collect()
}

fn column(entry: &Entry<'_>, base: &Path) -> Read<ColumnJob> {
    if let DeValue::String(_) = entry.value() {
        return Ok(ColumnJob { role: entry.choice(&RoleName::ALL)?, ..ColumnJob::default() });
    }
    let table = entry.table("a role such as \"quasi\" or a table such as { role = \"quasi\" }")?;
    refuse_dotted(entry, &table)?;
    table.only(&KEYS)?;
    let Some(role) = table.get("role") else {
        let error = Error::job(format!("column `{}` has no role", entry.key))
            .help("add role = \"quasi\", or identifier, sensitive, passthrough or drop");
        return Err(table.refuse(error));
    };
    let role = role.choice(&RoleName::ALL)?;
    let known: &[&str] = match role {
        RoleName::Quasi => &QUASI,
        RoleName::Sensitive => &SENSITIVE,
        _ => &[],
    };
    let odd = |entry: &&Entry<'_>| entry.key != "role" && !known.contains(&entry.key);
    if let Some(extra) = table.entries().iter().find(odd) {
        let (what, help) = if QUASI.contains(&extra.key) {
            ("a quasi-identifier", "only columns with role = \"quasi\" are generalized")
        } else {
            ("sensitive", "only columns with role = \"sensitive\" have categories")
        };
        let error = Error::job(format!("column `{}` has `{}` but is not {what}", entry.key, extra.key));
        return Err(extra.refuse_key(error.help(help)));
    }
    let categories = table.get("categories").map(categories).transpose()?;
    let publish = table.get("publish_sa").map(|entry| entry.choice(&Publish::ALL)).transpose()?;
    if let (Some(Publish::Category | Publish::Both), None, Some(entry)) =
        (publish, &categories, table.get("publish_sa"))
    {
        let error = Error::job("there are no categories to publish");
        return Err(
            entry.refuse(error.help("add categories = { \"Top\" = [\"HIV\"], … }, most sensitive first"))
        );
    }
    Ok(ColumnJob { role, spec: spec(entry.key, &table, base)?, categories, publish })
}

/// `marital.status = "quasi"` is a table within a table to TOML; whoever writes it means a column.
fn refuse_dotted(column: &Entry<'_>, table: &Table<'_>) -> Read<()> {
    let is_column = |entry: &&Entry<'_>| match entry.value() {
        _ if near_miss(entry.key, KEYS).is_some() => false,
        DeValue::String(word) => RoleName::ALL.iter().any(|(name, _)| name == word),
        DeValue::Table(below) => below.contains_key("role"),
        _ => false,
    };
    match table.entries().iter().find(is_column) {
        Some(entry) if column.is_dotted() => {
            let error = Error::job(format!("unknown key `{}` in the column `{}`", entry.key, column.key));
            let name = format!("{}.{}", column.key, entry.key);
            Err(entry.refuse_key(error.help(format!("a column name with a dot needs quotes: \"{name}\""))))
        }
        _ => Ok(()),
    }
}

fn spec(column: &str, table: &Table<'_>, base: &Path) -> Read<ColumnSpec> {
    let mut spec = ColumnSpec::default();
    if let Some(entry) = table.get("kind") {
        spec.kind = Some(entry.choice(&Kind::ALL)?);
    }
    if let Some(entry) = table.get("hierarchy") {
        spec.hierarchy = Some(hierarchy::hierarchy(column, entry, base)?);
    }
    if let Some(entry) = table.get("labels") {
        spec.labels = entry.choice(&LABELS)?;
    }
    if let Some(entry) = table.get("domain") {
        spec.domain = Some(domain(entry)?);
    }
    if let Some(entry) = table.get("weight") {
        let weight = entry.number()?;
        if !(weight.is_finite() && weight >= 0.0) {
            let error = entry.cannot_be(&weight.to_string(), "a number, at least 0");
            return Err(entry.refuse(error));
        }
        spec.weight = Some(weight);
    }
    Ok(spec)
}

/// `{ "Top Secret" = ["HIV", "Cancer"], "Secret" = […] }`, in the order written.
fn categories(entry: &Entry<'_>) -> Read<Categories> {
    let table = entry.table("a table of lists, most sensitive first")?;
    let mut list = Vec::new();
    for category in table.entries() {
        let values = category.texts()?.into_iter().map(str::to_owned).collect();
        list.push((category.key.to_owned(), values));
    }
    Categories::new(list).map_err(|error| entry.refuse(error))
}

fn domain(entry: &Entry<'_>) -> Read<(f64, f64)> {
    match entry.numbers()?[..] {
        [lo, hi] if lo < hi => Ok((lo, hi)),
        _ => Err(entry.refuse(Error::job("`domain` must be two numbers, the lower one first"))),
    }
}
