//! Unique records on the columns that are published unchanged: sensitive and passthrough columns.
//!
//! The check runs on the bytes to be published, in the pass that verifies them. A passthrough
//! column on which more than half of the records (persons) are unique is refused. Other unique
//! records cause a warning.

use incrowd_audit::{UniqueOn, UniqueRecords, unique_records};
use incrowd_core::text::thousands;
use incrowd_core::{CodedColumn, Columnar, Error, Folded, PackedTexts, Result};
use incrowd_engine::{Content, RecordValues};
use serde_json::{Value as Json, json};

use crate::making::checked::CheckedJob;
use crate::making::publication::Tables;

/// With more cells than this, the codes of single records are not kept and no sets of columns are
/// examined.
pub(crate) const MOST_CELLS: u64 = 1 << 28;

/// The maximum number of columns or sets that a warning names. Further ones are counted.
const NAMED: usize = 5;

impl CheckedJob {
    /// Returns the columns that are published unchanged, without those declared unlinkable.
    pub(crate) fn unmodified(&self) -> Vec<String> {
        let linkable =
            |name: &str| self.job.column(name).is_none_or(|column| column.linkable != Some(false));
        let columns = self.output_columns().into_iter();
        let columns = columns
            .filter(|(name, content)| !matches!(content, Content::Quasi(_)) && linkable(name));
        columns.map(|(name, _)| name).collect()
    }

    /// Returns whether a published column is a passthrough column.
    fn is_passthrough(&self, name: &str) -> bool {
        self.output_columns()
            .iter()
            .any(|(own, content)| own == name && *content == Content::Passthrough)
    }
}

/// Returns the columns of a table from index `from` on, record by record, with the persons if
/// known.
pub(crate) fn expanded(
    folded: &Folded,
    from: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> RecordValues {
    let records = folded.records() as usize;
    let places = (from..folded.columns.len()).filter(|&c| wanted(&folded.columns[c].name));
    let column = |c: usize| {
        let own = &folded.columns[c];
        let mut codes = Vec::with_capacity(records);
        for row in 0..folded.rows() {
            codes.extend(std::iter::repeat_n(folded.row(row)[c], folded.weights[row] as usize));
        }
        CodedColumn { name: own.name.clone(), texts: PackedTexts::unnamed(own.texts.len()), codes }
    };
    let columns = places.map(column).collect();
    let persons = folded.persons_by_row().map(|rows| rows.concat());
    RecordValues { table: Columnar { columns, records }, persons, ..RecordValues::default() }
}

/// Counts the unique records on the unmodified columns of these tables; `None` if there are none.
pub(crate) fn count(tables: &Tables, job: &CheckedJob) -> Result<Option<UniqueRecords>> {
    let columns = job.unmodified();
    let record_values = match &tables.values {
        // The first column is the group label that links the tables.
        Some(values) => &expanded(values, 1, &|name| columns.iter().any(|own| own == name)),
        None => &tables.record_values,
    };
    if record_values.table.columns.is_empty() {
        return Ok(None);
    }
    let found = match &record_values.once {
        Some(once) => {
            let names: Vec<String> =
                record_values.table.columns.iter().map(|column| column.name.clone()).collect();
            let of = record_values.people.unwrap_or_else(|| tables.people.records());
            let persons = record_values.people.is_some();
            UniqueRecords {
                together: record_values.together,
                persons,
                ..UniqueRecords::of_counts(&names, once, of)
            }
        }
        None => unique_records(&record_values.table, record_values.persons.as_deref())?,
    };
    Ok(Some(found))
}

/// Refuses a passthrough column on which most records are unique.
pub(crate) fn refuse(found: &UniqueRecords, job: &CheckedJob) -> Result<()> {
    for own in &found.columns {
        let [name] = own.columns.as_slice() else { continue };
        if found.is_majority(own.unique) && job.is_passthrough(name) {
            return Err(Error::job(format!(
                "column `{name}` would be published unchanged, and {} of {} {} are unique on it",
                thousands(own.unique),
                thousands(found.of),
                found.unit()
            ))
            .help(
                "make it an identifier or drop it, generalize it as a quasi-identifier, or, \
                 if nobody else can know its values, set `[columns] linkable = false`",
            )
            .at(format!("columns.{name}")));
        }
    }
    Ok(())
}

fn listed(found: &[&UniqueOn]) -> String {
    let one = |own: &&UniqueOn| format!("{} {}", own.columns.join(" + "), thousands(own.unique));
    let mut parts: Vec<String> = found.iter().take(NAMED).map(one).collect();
    if found.len() > NAMED {
        parts.push(format!("and {} more", found.len() - NAMED));
    }
    parts.join(", ")
}

/// Returns warnings: the numbers of unique records by column, never values.
pub(crate) fn warnings(found: &UniqueRecords) -> Vec<String> {
    let (of, unit) = (thousands(found.of), found.unit());
    let mut columns: Vec<&UniqueOn> = found.columns.iter().filter(|own| own.unique > 0).collect();
    columns.sort_by_key(|own| std::cmp::Reverse(own.unique));
    let sets: Vec<&UniqueOn> = found.sets.iter().collect();
    let mut parts: Vec<String> = [columns, sets]
        .iter()
        .filter(|found| !found.is_empty())
        .map(|found| listed(found))
        .collect();
    if let Some(together) = found.together.filter(|&n| found.is_many(n)) {
        parts.push(format!("all {} columns together {}", found.columns.len(), thousands(together)));
    }
    let mut warnings = Vec::new();
    if !parts.is_empty() {
        warnings.push(format!(
            "of {of} {unit}, these are unique on columns published unchanged: {}",
            parts.join("; ")
        ));
    }
    if found.singles_out() {
        warnings.push(
            "an adversary who knows such values of a person finds the record, whatever model \
             protects the quasi-identifiers; drop or generalize a column, or set \
             `[columns] linkable = false` if nobody else can know it (docs/singling-out.md)"
                .to_owned(),
        );
    }
    if found.most < 2 && found.columns.len() > 1 {
        let why = match found.together {
            Some(_) => "of all sets of columns only the set of all columns was examined",
            None => "sets of columns were not examined: the table is too large",
        };
        warnings.push(why.to_owned());
    }
    warnings
}

/// Returns the counts as JSON.
pub(crate) fn to_json(found: &UniqueRecords) -> Json {
    let own = |own: &UniqueOn| json!({ "columns": own.columns, "alone": own.unique });
    json!({
        "unit": found.unit(),
        "of": found.of,
        "columns": found.columns.iter().map(own).collect::<Vec<_>>(),
        "sets": found.sets.iter().map(own).collect::<Vec<_>>(),
        "together": found.together,
        "singles_out": found.singles_out(),
    })
}
