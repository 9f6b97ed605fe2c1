//! The records of the microdata with their persons.

use std::sync::Mutex;

use hashbrown::HashMap;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Error, Folded, FoldedColumn, MISSING, Progress, Result};

use super::identity::{Fingerprint, Key, is_missing_identifier, repeated};
use crate::intern::{Cache, Interner};
use crate::source::{Place, Records, Source, Trouble, Worker};

/// Columns and settings for reading the microdata.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The column with the identifier of a person.
    pub id: String,
    /// Another column with persons, to count the records of persons who have another one.
    pub person: Option<String>,
    /// The quasi-identifiers.
    pub quasi: Vec<String>,
    /// The sensitive columns.
    pub sensitive: Vec<String>,
    /// Texts that are missing values.
    pub missing: Vec<String>,
    /// Whether records with a missing sensitive value are dropped and counted.
    pub drop_missing: bool,
    /// Whether to store the texts of the identifiers, for an audit table.
    pub names: bool,
}

/// The records of the microdata in table order.
pub struct People {
    /// The quasi-identifiers, then the sensitive columns.
    pub columns: Vec<FoldedColumn>,
    /// The codes of the records, record by record.
    pub codes: Vec<u32>,
    /// Number of records read.
    pub read: u64,
    /// Number of records dropped because of a missing sensitive value.
    pub dropped: u64,
    /// Number of records with a missing value, by column.
    pub missing: Vec<u64>,
    /// Number of records without an identifier.
    pub nameless: u64,
    /// Identifier of each record. A record without one has `#mt` and its index from 0.
    pub names: Option<Vec<String>>,
    /// The number of records whose person, by [`Identity::person`], has an earlier record.
    pub repeated: u64,
    pub(super) key: Key,
    decimal: DecimalMark,
    persons: Vec<Fingerprint>,
    /// Index of the record of each person.
    pub(super) index: HashMap<Fingerprint, u32>,
}

incrowd_core::opaque_debug!(People { records: |people| people.persons.len() });

/// A record during the scan: position of the batch, index in the batch, person, and the identifier
/// if it is stored.
type ScannedRecord = (Place, u32, Fingerprint, Option<String>);

struct PeopleWorker<'a> {
    identity: &'a Identity,
    key: &'a Key,
    mark: DecimalMark,
    dictionaries: &'a [Mutex<Interner>],
    caches: Vec<Cache>,
    met: Vec<ScannedRecord>,
    persons: Vec<Fingerprint>,
    codes: Vec<u32>,
    missing: Vec<u64>,
    read: u64,
}

impl Worker for PeopleWorker<'_> {
    fn visit<R: Records>(&mut self, at: Place, records: &R) -> Result<(), Trouble> {
        let identity = self.identity;
        let quasi = identity.quasi.len();
        let is_missing = |text: &&[u8]| is_missing_identifier(text, &identity.missing);
        for record in 0..records.len() {
            self.read += 1;
            let start = self.codes.len();
            for slot in 0..self.caches.len() {
                let code = match records.get(record, slot + 1) {
                    None => MISSING,
                    Some(text) => self.caches[slot].get(text).unwrap_or_else(|| {
                        let dictionary = self.dictionaries[slot].lock();
                        let code = dictionary
                            .expect("no worker panics while it holds a dictionary")
                            .intern(text);
                        self.caches[slot].put(text, code);
                        code
                    }),
                };
                self.missing[slot] += u64::from(code == MISSING);
                if code == MISSING && slot < quasi {
                    return Err(Trouble {
                        record,
                        message: format!(
                            " has no value of `{}`, and no box holds a missing value",
                            self.identity.quasi[slot]
                        ),
                        help: Some("leave such records out or fill them in beforehand".to_owned()),
                        error: None,
                    });
                }
                self.codes.push(code);
            }
            if self.identity.drop_missing && self.codes[start..].contains(&MISSING) {
                self.codes.truncate(start);
                continue;
            }
            let name = records.get(record, 0);
            let named = name.filter(|text| !is_missing(text));
            let person = named.map_or(0, |text| self.key.fingerprint(text, self.mark));
            let kept = named.filter(|_| self.identity.names);
            let kept = kept.map(|text| String::from_utf8_lossy(text).into_owned());
            self.met.push((at, record as u32, person, kept));
            if self.identity.person.is_some() {
                let text = records.get(record, self.caches.len() + 1);
                let named = text.filter(|text| !is_missing(text));
                self.persons.push(named.map_or(0, |text| self.key.fingerprint(text, self.mark)));
            }
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        // Each person also has an entry in the index and a final record.
        let people = 3 * self.met.len() * size_of::<ScannedRecord>()
            + 2 * self.persons.len() * size_of::<Fingerprint>();
        (people + 4 * self.codes.len() * size_of::<u32>()) as u64
    }
}

impl Source {
    /// Reads the records of the table with their persons. Fails if a quasi-identifier is missing,
    /// or if two records have the same person.
    // Long, because it initializes and merges the counters of all threads.
    pub fn people(&self, identity: &Identity, progress: &dyn Progress) -> Result<People> {
        let source = self;
        progress.step("reading", Some(source.bytes()));
        let columns = || identity.quasi.iter().chain(&identity.sensitive);
        let wanted: Vec<usize> = std::iter::once(&identity.id)
            .chain(columns())
            .chain(&identity.person)
            .map(|name| source.position(name))
            .collect::<Result<_>>()?;
        let width = columns().count();
        let key = Key::new();
        let dictionaries: Vec<Mutex<Interner>> =
            (0..width).map(|_| Mutex::new(Interner::new())).collect();
        let worker = || PeopleWorker {
            identity,
            key: &key,
            mark: source.decimal().unwrap_or_default(),
            dictionaries: &dictionaries,
            caches: (0..width).map(|_| Cache::new(&identity.missing)).collect(),
            met: Vec::new(),
            persons: Vec::new(),
            codes: Vec::new(),
            missing: vec![0; width],
            read: 0,
        };
        let mut scan = source.scan(&wanted, worker, progress)?;
        let persons =
            scan.workers.iter_mut().flat_map(|worker| std::mem::take(&mut worker.persons));
        let persons: Vec<Fingerprint> = persons.collect();
        let mut order: Vec<(Place, u32, usize, usize)> = Vec::new();
        for (w, worker) in scan.workers.iter().enumerate() {
            let met = worker.met.iter().enumerate();
            order.extend(met.map(|(i, &(at, record, ..))| (at, record, w, i)));
        }
        order.sort_unstable();
        let mut people = People {
            columns: Vec::new(),
            codes: Vec::with_capacity(order.len() * width),
            read: scan.workers.iter().map(|worker| worker.read).sum(),
            dropped: 0,
            missing: vec![0; width],
            nameless: 0,
            names: identity.names.then(Vec::new),
            repeated: repeated(persons),
            key: key.clone(),
            decimal: source.decimal().unwrap_or_default(),
            persons: Vec::with_capacity(order.len()),
            index: HashMap::new(),
        };
        people.dropped = people.read - order.len() as u64;
        let mut same_id = 0;
        for (number, &(at, record, w, i)) in order.iter().enumerate() {
            let worker = &scan.workers[w];
            let (_, _, person, name) = &worker.met[i];
            people.codes.extend_from_slice(&worker.codes[i * width..(i + 1) * width]);
            people.persons.push(*person);
            if *person == 0 {
                people.nameless += 1;
            } else if people.index.insert(*person, number as u32).is_some() {
                same_id += 1;
            }
            if let Some(names) = &mut people.names {
                names.push(
                    name.clone()
                        .unwrap_or_else(|| format!("#mt{}", scan.number(at, record as usize))),
                );
            }
        }
        for worker in &scan.workers {
            people.missing.iter_mut().zip(&worker.missing).for_each(|(sum, n)| *sum += n);
        }
        drop(scan);
        if same_id > 0 {
            let (records, id) =
                (if same_id == 1 { "record repeats" } else { "records repeat" }, &identity.id);
            return Err(Error::input(format!(
                "{same_id} {records} an identifier of another record in `{id}`"
            ))
            .help(
                "k-join-anonymity rests on one record per person: combine the records of a person beforehand (7, 7.0 and 007 are one \
                 person)",
            ));
        }
        people.columns = columns()
            .zip(dictionaries)
            .map(|(name, dictionary)| {
                let mut texts = dictionary.into_inner().expect("no worker is left").texts();
                source.spell_numbers(&mut texts);
                FoldedColumn { name: name.clone(), texts }
            })
            .collect();
        Ok(people)
    }
}

impl People {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.persons.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.persons.is_empty()
    }

    /// The codes of a record.
    pub fn record(&self, record: usize) -> &[u32] {
        let width = self.columns.len();
        &self.codes[record * width..(record + 1) * width]
    }

    /// The text of a record in a column.
    pub fn text(&self, record: usize, column: usize) -> &str {
        &self.columns[column].texts[self.record(record)[column] as usize]
    }

    /// Replaces the quasi-identifiers of records.
    pub fn replace(&mut self, changes: &[(u32, Vec<String>)]) {
        let width = self.columns.len();
        let slots = changes.first().map_or(0, |(_, texts)| texts.len());
        for slot in 0..slots {
            let column = &mut self.columns[slot];
            let mut known: HashMap<String, u32> = column
                .texts
                .iter()
                .enumerate()
                .skip(1)
                .map(|(code, text)| (text.clone(), code as u32))
                .collect();
            for (record, texts) in changes {
                let code = *known.entry_ref(texts[slot].as_str()).or_insert_with(|| {
                    column.texts.push(texts[slot].clone());
                    column.texts.len() as u32 - 1
                });
                self.codes[*record as usize * width + slot] = code;
            }
        }
    }

    /// Folds the records. Also returns the row of each record.
    pub fn fold(&self) -> (Folded, Vec<u32>) {
        let width = self.columns.len().max(1);
        let mut folded = Folded {
            columns: self.columns.clone(),
            read: self.read,
            dropped_missing: self.dropped,
            missing: self.missing.clone(),
            decimal: self.decimal,
            ..Folded::default()
        };
        let mut rows: HashMap<&[u32], u32> = HashMap::new();
        let mut of_record = Vec::with_capacity(self.len());
        for record in self.codes.chunks_exact(width) {
            let row = *rows.entry(record).or_insert_with(|| {
                folded.codes.extend_from_slice(record);
                folded.weights.push(0);
                folded.weights.len() as u32 - 1
            });
            folded.weights[row as usize] += 1;
            of_record.push(row);
        }
        (folded, of_record)
    }
}
