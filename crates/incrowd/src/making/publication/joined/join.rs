//! Reads both tables and joins them on the identifier, with the rules for records that do not
//! match.

use std::path::Path;

use incrowd_core::number::is_quantity;
use incrowd_core::{Code, ColumnSpec, Dataset, Error, Kind, Progress, Result, value_key};
use incrowd_engine::{External, Gathered, Identity, People, Source, Strangers};

use crate::job::reading::Reading;
use crate::job::{ExternalJob, OnConflict, OnMissing};

/// The maximum number of distinct rows of external people that are kept before it is known which
/// are needed.
pub(crate) const MOST_STRANGERS: u64 = 1 << 22;

/// Microdata and external table.
#[derive(Debug)]
pub(crate) struct JoinedTable {
    pub(crate) people: People,
    pub(crate) external: External,
    pub(crate) gathered: Gathered,
    /// Records of people about whom the tables disagree.
    pub(crate) conflicts: Vec<u32>,
}

/// The microdata on domains with the values of both tables.
pub(crate) struct Encoded {
    pub(crate) data: Dataset,
    /// The row of each record.
    pub(crate) row_of: Vec<u32>,
    /// By code of the external table, the position in the domain.
    pub(crate) places: Vec<Vec<Code>>,
}

/// Returns how the table's people are read.
fn identity(
    external: &ExternalJob,
    reading: &Reading,
    names: bool,
    person: Option<&String>,
) -> Identity {
    Identity {
        id: external.id.clone(),
        // Two records of one identifier are refused anyway.
        person: person.filter(|person| **person != external.id).cloned(),
        quasi: reading.quasi.iter().map(|(name, _)| name.clone()).collect(),
        sensitive: reading.sensitive.iter().map(|(name, _)| name.clone()).collect(),
        missing: reading.missing.clone(),
        drop_missing: reading.on_missing == OnMissing::Drop,
        names,
    }
}

/// Opens the external table.
fn open(external: &ExternalJob, identity: &Identity) -> Result<External> {
    let source = crate::job::reading::open(&external.table());
    let opened = source
        .and_then(|source| External::of(source, &external.id, &identity.quasi, &identity.missing));
    opened.map_err(|e| e.at("external.path"))
}

impl JoinedTable {
    /// Reads both tables. With `names` the identifiers are kept. With `all` every external person
    /// is kept, otherwise at most [`MOST_STRANGERS`] rows. If there is a `person` column, records of
    /// persons who have another one are counted. `directory` is for temporary files.
    pub(crate) fn read(
        source: &Source,
        rules: &ExternalJob,
        reading: &Reading,
        (names, all): (bool, bool),
        person: Option<&String>,
        directory: &Path,
        progress: &dyn Progress,
    ) -> Result<JoinedTable> {
        let identity = identity(rules, reading, names, person);
        let specs = reading.quasi_specs();
        let external = open(rules, &identity)?;
        let mut people = source.people(&identity, progress)?;
        if people.is_empty() {
            return Err(Error::input("the table has no records")
                .help("a table needs a header and at least one record without missing values"));
        }
        let most = if all { u64::MAX } else { MOST_STRANGERS };
        let gathered =
            external.read(&people, most, directory, progress).map_err(|e| e.at("external.path"))?;
        let differ = |(record, texts): &&(u32, Vec<String>)| {
            let own = |(slot, text): (usize, &String)| {
                same(people.text(*record as usize, slot), text, &specs[slot])
            };
            !texts.iter().enumerate().all(own)
        };
        let changes: Vec<(u32, Vec<String>)> =
            gathered.known.iter().filter(differ).cloned().collect();
        if rules.on_conflict == OnConflict::Error && !changes.is_empty() {
            let (n, s) = (changes.len(), if changes.len() == 1 { "" } else { "s" });
            return Err(Error::input(format!(
                "the tables disagree about the quasi-identifiers of {n} record{s} of the microdata \
                 (first: record {})",
                changes[0].0 + 1
            ))
            .help(
                "on_conflict = \"table\" uses the values of the table, \
                 \"external\" those of the external table",
            )
            .at("external.on_conflict"));
        }
        if rules.on_conflict == OnConflict::External {
            people.replace(&changes);
        }
        let conflicts = changes.into_iter().map(|(record, _)| record).collect();
        Ok(JoinedTable { people, external, gathered, conflicts })
    }

    /// Encodes the microdata on domains with the values of both tables.
    pub(crate) fn encode(&self, reading: &Reading) -> Result<Encoded> {
        let (folded, row_of) = self.people.fold();
        let (data, places) = reading.encode_with_external(folded, &self.gathered.columns)?;
        let lost = || Error::bug("a row of the microdata got lost");
        let row_of =
            row_of.into_iter().map(|row| data.row_of_fold(row).map(|row| row.0).ok_or_else(lost));
        let row_of = row_of.collect::<Result<Vec<u32>>>()?;
        Ok(Encoded { data, row_of, places })
    }

    /// Returns the external people on the domains that satisfy `keep`.
    pub(crate) fn strangers(
        &self,
        places: &[Vec<Code>],
        keep: &(dyn Fn(&[u32]) -> bool + Sync),
        progress: &dyn Progress,
    ) -> Result<Strangers> {
        let Some(strangers) = &self.gathered.strangers else {
            let again = self.external.gather(&self.people, &self.gathered, places, keep, progress);
            return again.map_err(|e| e.at("external.path"));
        };
        let width = places.len().max(1);
        let mut kept = Strangers::default();
        let mut point = vec![0; width];
        for (codes, &people) in strangers.codes.chunks_exact(width).zip(&strangers.weights) {
            point
                .iter_mut()
                .zip(codes)
                .zip(places)
                .for_each(|((to, &code), at)| *to = at[code as usize].0);
            if people > 0 && keep(&point) {
                kept.codes.extend_from_slice(&point);
                kept.weights.push(people);
            }
        }
        Ok(kept)
    }

    /// Returns warnings about records that do not match.
    pub(crate) fn warnings(&self, rules: &ExternalJob) -> Vec<String> {
        let gathered = &self.gathered;
        let mut warnings = Vec::new();
        let mut warn = |count: u64, one: &str, many: &str| {
            if count > 0 {
                warnings.push(format!("{count} {}", if count == 1 { one } else { many }));
            }
        };
        let id = &rules.id;
        warn(
            self.people.nameless,
            &format!("record of the microdata has no `{id}` and is not joined"),
            &format!("records of the microdata have no `{id}` and are not joined"),
        );
        warn(
            gathered.nameless,
            &format!("external record has no `{id}` and is dropped: it could be about anybody"),
            &format!(
                "external records have no `{id}` and are dropped: they could be about anybody"
            ),
        );
        warn(
            gathered.incomplete,
            "external record lacks a quasi-identifier and is dropped",
            "external records lack a quasi-identifier and are dropped",
        );
        warn(
            gathered.repeated,
            "external record repeats another of the same person; it counts once",
            "external records repeat others of the same people; each person counts once",
        );
        let source = if rules.on_conflict == OnConflict::External {
            "the external table"
        } else {
            "the microdata"
        };
        warn(
            self.conflicts.len() as u64,
            &format!(
                "person has other quasi-identifiers in the external table; \
                 those of {source} are used"
            ),
            &format!(
                "people have other quasi-identifiers in the external table; \
                 those of {source} are used"
            ),
        );
        if gathered.people == 0 {
            warnings.push(
                "the external table adds no people: the release is k-anonymous in the usual sense"
                    .to_owned(),
            );
        }
        warnings
    }
}

/// Returns whether two texts are the same value. A number may have several spellings.
fn same(a: &str, b: &str, spec: &ColumnSpec) -> bool {
    let numbers = || {
        let quantity = spec.hierarchy.is_none() && spec.kind != Some(Kind::Text);
        quantity && is_quantity(a) && is_quantity(b) && value_key(a) == value_key(b)
    };
    a == b || numbers()
}
