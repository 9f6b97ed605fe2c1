//! Who stands out in what is published as it is: sensitive columns and those that are passed through.
//!
//! It is asked of the bytes that are about to be published, in the pass that verifies them. A column that is passed through and in
//! which more than half of the records (persons) are alone is refused; whatever else singles people out is told.

use incrowd_audit::{Alone, AloneIn, alone};
use incrowd_core::text::thousands;
use incrowd_core::{CodedColumn, Columnar, Error, Folded, PackedTexts, Result};
use incrowd_engine::{Content, Seen};
use serde_json::{Value as Json, json};

use crate::checked::CheckedJob;
use crate::publication::Tables;

/// Beyond so many cells the codes of single records are not kept, and no sets of columns are looked at.
pub(crate) const MOST_CELLS: u64 = 1 << 28;

/// More columns or sets than this are counted and not named.
const NAMED: usize = 5;

impl CheckedJob {
    /// The columns that are published as they are, and of which the job does not say that others cannot know them.
    pub(crate) fn as_it_is(&self) -> Vec<String> {
        let linkable = |name: &str| self.job.column(name).is_none_or(|column| column.linkable != Some(false));
        let columns = self.output_columns().into_iter();
        let columns =
            columns.filter(|(name, content)| !matches!(content, Content::Quasi(_)) && linkable(name));
        columns.map(|(name, _)| name).collect()
    }

    /// Whether a published column is passed through.
    fn carries(&self, name: &str) -> bool {
        self.output_columns().iter().any(|(own, content)| own == name && *content == Content::Carried)
    }
}

/// The columns of a table from one on, record by record, with the persons if it is known whose records they are.
pub(crate) fn expanded(folded: &Folded, from: usize, wanted: &dyn Fn(&str) -> bool) -> Seen {
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
    Seen { table: Columnar { columns, records }, persons, ..Seen::default() }
}

/// Who is alone in what these tables publish as it is; nothing if there is no such column.
pub(crate) fn look(tables: &Tables, job: &CheckedJob) -> Result<Option<Alone>> {
    let columns = job.as_it_is();
    let seen = match &tables.values {
        // The first column is the label that links the tables.
        Some(values) => &expanded(values, 1, &|name| columns.iter().any(|own| own == name)),
        None => &tables.seen,
    };
    if seen.table.columns.is_empty() {
        return Ok(None);
    }
    let found = match &seen.once {
        Some(once) => {
            let names: Vec<String> = seen.table.columns.iter().map(|column| column.name.clone()).collect();
            let of = seen.people.unwrap_or_else(|| tables.people.records());
            let persons = seen.people.is_some();
            Alone { together: seen.together, persons, ..Alone::of_counts(&names, once, of) }
        }
        None => alone(&seen.table, seen.persons.as_deref())?,
    };
    Ok(Some(found))
}

/// Refuses a column that is passed through and in which most are alone.
pub(crate) fn refuse(found: &Alone, job: &CheckedJob) -> Result<()> {
    for own in &found.columns {
        let [name] = own.columns.as_slice() else { continue };
        if found.most_are(own.alone) && job.carries(name) {
            return Err(Error::job(format!(
                "column `{name}` would be published as it is, and {} of {} {} are alone with their value in it",
                thousands(own.alone),
                thousands(found.of),
                found.unit()
            ))
            .help(
                "make it an identifier or drop it, generalize it as a quasi-identifier, or, if nobody else can know its values, \
                 say so with `[columns] linkable = false`",
            )
            .at(format!("columns.{name}")));
        }
    }
    Ok(())
}

fn listed(found: &[&AloneIn]) -> String {
    let one = |own: &&AloneIn| format!("{} {}", own.columns.join(" + "), thousands(own.alone));
    let mut parts: Vec<String> = found.iter().take(NAMED).map(one).collect();
    if found.len() > NAMED {
        parts.push(format!("and {} more", found.len() - NAMED));
    }
    parts.join(", ")
}

/// What a person should know, in words: how many are alone in which columns, never with which values.
pub(crate) fn warnings(found: &Alone) -> Vec<String> {
    let (of, unit) = (thousands(found.of), found.unit());
    let mut columns: Vec<&AloneIn> = found.columns.iter().filter(|own| own.alone > 0).collect();
    columns.sort_by_key(|own| std::cmp::Reverse(own.alone));
    let sets: Vec<&AloneIn> = found.sets.iter().collect();
    let mut parts: Vec<String> =
        [columns, sets].iter().filter(|found| !found.is_empty()).map(|found| listed(found)).collect();
    if let Some(together) = found.together.filter(|&n| found.many(n)) {
        parts.push(format!("all {} columns together {}", found.columns.len(), thousands(together)));
    }
    let mut warnings = Vec::new();
    if !parts.is_empty() {
        warnings.push(format!(
            "of {of} {unit} so many are alone with what is published as it is: {}",
            parts.join("; ")
        ));
    }
    if found.singles_out() {
        warnings.push(
            "whoever knows such values of a person finds the record, whatever is promised of the quasi-identifiers; drop or \
             generalize a column, or say `[columns] linkable = false` where nobody else can know it (docs/singling-out.md)"
                .to_owned(),
        );
    }
    if found.most < 2 && found.columns.len() > 1 {
        let why = match found.together {
            Some(_) => "of all sets of columns only that of all columns was looked at",
            None => "sets of columns were not looked at: the table is too large",
        };
        warnings.push(why.to_owned());
    }
    warnings
}

/// The same for programs.
pub(crate) fn to_json(found: &Alone) -> Json {
    let own = |own: &AloneIn| json!({ "columns": own.columns, "alone": own.alone });
    json!({
        "unit": found.unit(),
        "of": found.of,
        "columns": found.columns.iter().map(own).collect::<Vec<_>>(),
        "sets": found.sets.iter().map(own).collect::<Vec<_>>(),
        "together": found.together,
        "singles_out": found.singles_out(),
    })
}
