//! The table `[columns]`.

use std::path::Path;

use incrowd_core::{ColumnSpec, Error, Kind, Labels, near_miss};
use toml::de::DeValue;

use super::hierarchy;
use super::reader::{Entry, Read, Table};
use super::{ColumnJob, RoleName};

/// The role; then what sensitive columns may have too; then what is for quasi-identifiers only.
const KEYS: [&str; 5] = ["role", "kind", "hierarchy", "labels", "domain"];
const LABELS: [(&str, Labels); 2] = [("set", Labels::Set), ("star", Labels::Star)];

pub(super) fn columns(table: &Table<'_>, base: &Path) -> Read<Vec<(String, ColumnJob)>> {
    table.entries().iter().map(|entry| Ok((entry.key.to_owned(), column(entry, base)?))).collect()
}

fn column(entry: &Entry<'_>, base: &Path) -> Read<ColumnJob> {
    if let DeValue::String(_) = entry.value() {
        return Ok(ColumnJob { role: entry.choice(&RoleName::ALL)?, spec: ColumnSpec::default() });
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
    let only_quasi = match role {
        RoleName::Quasi => &KEYS[KEYS.len()..],
        RoleName::Sensitive => &KEYS[3..],
        _ => &KEYS[1..],
    };
    if let Some(extra) = table.entries().iter().find(|entry| only_quasi.contains(&entry.key)) {
        let error =
            Error::job(format!("column `{}` has `{}` but is not a quasi-identifier", entry.key, extra.key));
        return Err(extra.refuse_key(error.help("only columns with role = \"quasi\" are generalized")));
    }
    Ok(ColumnJob { role, spec: spec(entry.key, &table, base)? })
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
    Ok(spec)
}

fn domain(entry: &Entry<'_>) -> Read<(f64, f64)> {
    match entry.numbers()?[..] {
        [lo, hi] if lo < hi => Ok((lo, hi)),
        _ => Err(entry.refuse(Error::job("`domain` must be two numbers, the lower one first"))),
    }
}
