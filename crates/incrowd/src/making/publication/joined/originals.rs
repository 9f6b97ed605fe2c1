//! Checks of a release against its originals: the rules O1 to O4.

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;
use incrowd_audit::joined::{Failure, explained, member_of};
use incrowd_core::{Error, Fault, Folded, FoldedColumn, Progress, Publish, Result};

use super::super::Tables;
use super::audit_table::{self, From, Line};
use super::check::join_tables;
use super::join::JoinedTable;
use crate::job::reading::{Reading, open_input};
use crate::job::{ExternalJob, Input};
use crate::judging::case::Case;
use crate::judging::from_original::FromOriginal;

/// Checks a release against its originals: the microdata is the original of the case, the external
/// table that of its rules.
pub(crate) fn check(
    case: &Case,
    original: &Input,
    rules: &ExternalJob,
    tables: &Tables,
    progress: &dyn Progress,
) -> Result<FromOriginal> {
    let source = open_input(original)?;
    let (reading, audit) = (&case.reading, rules.audit.as_deref());
    let read = JoinedTable::read(
        &source,
        rules,
        reading,
        (audit.is_some(), true),
        None,
        &std::env::temp_dir(),
        progress,
    );
    let mut found =
        FromOriginal { loose: Some(0), rules: Some("O1 to O3"), ..FromOriginal::default() };
    let joined = match read {
        Ok(joined) => joined,
        Err(error) if error.fault() == Fault::Input => {
            found
                .failures
                .push(Failure::new("O1", format!("the originals cannot be joined: {error}")));
            return Ok(found);
        }
        Err(error) => return Err(error),
    };
    let specs = reading.quasi_specs();
    let (people, microdata) = everybody(&joined, specs.len());
    let missing = reading.missing_label();
    found.warnings = joined.warnings(rules);
    let explained =
        explained(&join_tables(tables), &people, &microdata, &specs, missing, progress)?;
    found.loose = Some(explained.loose);
    match audit {
        None => found.failures.extend(explained.failures),
        Some(path) => {
            let membership = member_of(&join_tables(tables), &people, &specs, missing, progress)?;
            let audited = Audited { joined: &joined, tables, membership: &membership, reading };
            found.failures.extend(audited.check(path, progress)?);
        }
    }
    found.failures.extend(overall(&joined, tables, reading));
    Ok(found)
}

/// Returns the quasi-identifiers of the people of both tables, one row for each record of the
/// microdata first; and the number of microdata records of each row.
fn everybody(joined: &JoinedTable, quasi: usize) -> (Folded, Vec<u64>) {
    let people = &joined.people;
    let mut folded = Folded { missing: vec![0; quasi], ..Folded::default() };
    for (own, other) in people.columns.iter().zip(&joined.gathered.columns) {
        let texts = own.texts.iter().chain(other.texts.iter().skip(1)).cloned().collect();
        folded.columns.push(FoldedColumn { name: own.name.clone(), texts });
    }
    for record in 0..people.len() {
        folded.codes.extend_from_slice(&people.record(record)[..quasi]);
        folded.weights.push(1);
    }
    let mut microdata = vec![1; people.len()];
    if let Some(strangers) = &joined.gathered.strangers {
        let shift: Vec<u32> =
            people.columns.iter().map(|column| column.texts.len() as u32 - 1).collect();
        for (codes, &weight) in strangers.codes.chunks_exact(quasi).zip(&strangers.weights) {
            folded.codes.extend(codes.iter().zip(&shift).map(|(code, shift)| code + shift));
            folded.weights.push(weight);
            microdata.push(0);
        }
    }
    (folded, microdata)
}

/// Returns the published sensitive values of a record.
fn published_values(joined: &JoinedTable, reading: &Reading, record: usize) -> Vec<String> {
    let mut cells = Vec::new();
    for (s, (_, spec)) in reading.sensitive.iter().enumerate() {
        let text = joined.people.text(record, reading.quasi.len() + s);
        let category = || {
            let name = spec.categories.as_ref().and_then(|c| Some(c.name(c.of(text)?).to_owned()));
            name.unwrap_or_else(|| "*".to_owned())
        };
        let shown =
            |cell: String| if text.is_empty() { reading.missing_label().to_owned() } else { cell };
        match spec.publish.filter(|_| spec.categories.is_some()) {
            Some(Publish::Category) => cells.push(shown(category())),
            Some(Publish::Both) => cells.extend([shown(text.to_owned()), shown(category())]),
            _ => cells.push(shown(text.to_owned())),
        }
    }
    cells
}

/// A multiset of sensitive values.
type Values = BTreeMap<Vec<String>, i64>;

/// Returns the values of a published row, without its label.
fn row_values(folded: &Folded, row: usize) -> Vec<String> {
    let cells = folded.row(row).iter().zip(&folded.columns).skip(1);
    cells.map(|(&code, column)| column.texts[code as usize].clone()).collect()
}

/// Checks that the published sensitive values are those of the microdata (rule O3).
fn overall(joined: &JoinedTable, tables: &Tables, reading: &Reading) -> Option<Failure> {
    let folded = tables.values.as_ref()?;
    let mut values = Values::new();
    for record in 0..joined.people.len() {
        *values.entry(published_values(joined, reading, record)).or_default() += 1;
    }
    for row in 0..folded.rows() {
        *values.entry(row_values(folded, row)).or_default() -= folded.weights[row] as i64;
    }
    let off = values.values().filter(|n| **n != 0).count();
    let says =
        format!("{off} combinations of sensitive values are not as frequent as in the microdata");
    (off > 0).then(|| Failure::new("O3", says))
}

/// A release with its audit table.
struct Audited<'a> {
    joined: &'a JoinedTable,
    tables: &'a Tables,
    membership: &'a incrowd_audit::joined::Membership,
    reading: &'a Reading,
}

impl Audited<'_> {
    /// Checks that every person is listed once, in a group whose box contains the person; that
    /// groups have their published sizes and contain microdata; and that each sensitive group has
    /// the values of its people.
    fn check(&self, path: &Path, progress: &dyn Progress) -> Result<Vec<Failure>> {
        let (lines, repeated) = audit_table::read(path, progress)?;
        let groups = Groups::new(self.tables);
        let mut tally = Tally {
            sizes: vec![0; groups.first.len()],
            own: vec![0; groups.first.len()],
            ..Tally::default()
        };
        let mut values: BTreeMap<String, Values> = BTreeMap::new();
        let mut known = vec![From::Microdata; self.joined.people.len()];
        self.joined
            .gathered
            .known
            .iter()
            .for_each(|(record, _)| known[*record as usize] = From::Both);
        for (record, name) in self.joined.people.names.iter().flatten().enumerate() {
            let Some(line) = lines.get(name) else {
                tally.unpublished += 1;
                continue;
            };
            self.add(line, record, &groups, &mut tally);
            tally.wrong_source += u64::from(line.from != known[record]);
            if let Some(own) = tally.own.get_mut(line.group as usize) {
                *own += 1;
                let label = groups.label(self.tables, line.group).to_owned();
                let own = published_values(self.joined, self.reading, record);
                *values.entry(label).or_default().entry(own).or_default() += 1;
            }
        }
        for (name, row) in self.strangers(&lines, progress)? {
            if let Some(line) = lines.get(&name) {
                self.add(line, self.joined.people.len() + row as usize, &groups, &mut tally);
                tally.wrong_source += u64::from(line.from != From::External);
            }
        }
        let unknown = lines.len() as u64 - tally.met;
        let wrong_sizes =
            tally.sizes.iter().zip(&groups.records).filter(|(have, need)| have != need).count();
        let without_microdata = tally.own.iter().filter(|own| **own == 0).count();
        let mut failures = Vec::new();
        let mut fail = |count: u64, says: &str| {
            if count > 0 {
                failures.push(Failure::new("O2", format!("{count} {says}")));
            }
        };
        fail(repeated, "people are in the audit table more than once");
        fail(unknown, "people of the audit table are in neither table");
        fail(tally.unpublished, "people of the microdata are not in the audit table");
        fail(tally.outside, "people are in a group whose box does not contain them, or in none");
        fail(tally.wrong_source, "people come from another table than in the audit table");
        fail(
            wrong_sizes as u64,
            "groups have another number of rows than people in the audit table",
        );
        fail(without_microdata as u64, "groups contain nobody of the microdata");
        if let Some(folded) = &self.tables.values {
            for row in 0..folded.rows() {
                let label = folded.columns[0].texts[folded.row(row)[0] as usize].clone();
                let own = values.entry(label).or_default();
                *own.entry(row_values(folded, row)).or_default() -= folded.weights[row] as i64;
            }
            let off = values.values().filter(|values| values.values().any(|n| *n != 0)).count();
            if off > 0 {
                let says = format!(
                    "{off} sensitive groups do not have the sensitive values of their people"
                );
                failures.push(Failure::new("O3", says));
            }
        }
        Ok(failures)
    }

    /// Counts a person. `row` is the person's row in the result of [`everybody`].
    fn add(&self, line: &Line, row: usize, groups: &Groups, tally: &mut Tally) {
        tally.met += 1;
        let Some(&first) = groups.first.get(line.group as usize) else {
            tally.outside += 1;
            return;
        };
        tally.sizes[line.group as usize] += 1;
        let own = self.membership.of_row[first as usize];
        tally.outside += u64::from(self.membership.boxes[row].binary_search(&own).is_err());
    }

    /// Returns the external people of the audit table with their rows among the distinct ones.
    fn strangers(
        &self,
        lines: &HashMap<String, Line>,
        progress: &dyn Progress,
    ) -> Result<Vec<(String, u32)>> {
        let Some(strangers) = &self.joined.gathered.strangers else {
            return Err(Error::bug("external people were not kept"));
        };
        let width = self.tables.quasi.max(1);
        let rows = strangers.codes.chunks_exact(width).enumerate();
        let rows: HashMap<&[u32], u32> = rows.map(|(row, codes)| (codes, row as u32)).collect();
        let find = |codes: &[u32]| rows.get(codes).copied();
        let mut named = self.joined.external.names(
            &self.joined.people,
            &self.joined.gathered,
            &find,
            progress,
        )?;
        named.retain(|(name, _)| lines.contains_key(name));
        Ok(named)
    }
}

#[derive(Default)]
struct Tally {
    met: u64,
    unpublished: u64,
    outside: u64,
    wrong_source: u64,
    sizes: Vec<u64>,
    own: Vec<u64>,
}

/// The groups of a release in the order of the published table.
struct Groups {
    /// A row of each group among the distinct rows.
    first: Vec<u32>,
    records: Vec<u64>,
}

impl Groups {
    fn new(tables: &Tables) -> Groups {
        let boxes = &tables.people;
        let text = |row: u32, column: usize| {
            boxes.columns[column].texts[boxes.row(row as usize)[column] as usize].as_str()
        };
        let cells =
            |row: u32| (0..tables.quasi).map(move |column| text(row, column)).collect::<Vec<_>>();
        // Labels contain numbers: comparing lengths first sorts them by number.
        let label = |row: u32| {
            let label = if tables.values.is_some() { text(row, tables.quasi) } else { "" };
            (label.len(), label)
        };
        let classes = join_tables(tables).groups();
        let mut order: Vec<u32> = (0..classes.len() as u32).collect();
        order.sort_by_cached_key(|&class| {
            let row = classes.first[class as usize];
            (cells(row), label(row))
        });
        let first = order.iter().map(|&class| classes.first[class as usize]).collect();
        let records = order.iter().map(|&class| classes.records[class as usize]).collect();
        Groups { first, records }
    }

    fn label<'t>(&self, tables: &'t Tables, group: u32) -> &'t str {
        let Some(column) = tables.people.columns.get(tables.quasi) else { return "" };
        let row = tables.people.row(self.first[group as usize] as usize);
        &column.texts[row[tables.quasi] as usize]
    }
}
