//! The external table: finds its people in the microdata, and counts the quasi-identifiers of the
//! others, the strangers.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hashbrown::{HashMap, HashSet};
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Code, Error, FoldedColumn, MISSING, Progress, Result};

use super::identity::{Fingerprint, Key, PersonRows, is_missing_identifier};
use super::people::People;
use crate::intern::{Cache, Interner};
use crate::location::Location;
use crate::source::{Options, Place, Records, Source, Trouble, Worker};

const SHARDS: usize = 64;

/// Distinct rows of codes with their counts.
type RowCounts = HashMap<Vec<u32>, u64>;

/// Distinct rows of strangers. A stranger is a person of the external table who is not in the
/// microdata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strangers {
    /// Codes of the distinct rows, row by row.
    pub codes: Vec<u32>,
    /// Number of persons per row.
    pub weights: Vec<u64>,
}

/// Results of the first pass over an external table.
pub struct Gathered {
    /// The quasi-identifiers. The text of a code that no stranger has is empty.
    pub columns: Vec<FoldedColumn>,
    /// The strangers, if their distinct rows fit into the limit.
    pub strangers: Option<Strangers>,
    /// Records of the microdata whose person is also in the external table, in ascending order,
    /// with their texts in the external table.
    pub known: Vec<(u32, Vec<String>)>,
    /// Number of records read.
    pub read: u64,
    /// Number of records without an identifier. They were left out.
    pub nameless: u64,
    /// Number of records without a quasi-identifier. They were left out.
    pub incomplete: u64,
    /// Number of records that equal another record of the same person.
    pub repeated: u64,
    /// Number of strangers.
    pub people: u64,
    again: HashSet<Fingerprint>,
    dictionaries: Vec<Interner>,
}

incrowd_core::opaque_debug!(Gathered { people });

/// An external table.
#[derive(Debug)]
pub struct External {
    source: Source,
    wanted: Vec<usize>,
    quasi: Vec<String>,
    id: String,
    missing: Vec<String>,
}

struct ExternalWorker<'a> {
    key: &'a Key,
    mark: DecimalMark,
    index: &'a HashMap<Fingerprint, u32>,
    missing: &'a [String],
    dictionaries: &'a [Mutex<Interner>],
    tables: &'a [Mutex<RowCounts>],
    rows: &'a AtomicU64,
    most: u64,
    full: &'a AtomicBool,
    seen: &'a PersonRows,
    caches: Vec<Cache>,
    used: Vec<Vec<bool>>,
    known: Vec<(u32, Vec<u32>)>,
    batch: Vec<(Fingerprint, u64)>,
    codes: Vec<u32>,
    hashes: Vec<u64>,
    read: u64,
    nameless: u64,
    incomplete: u64,
    /// Number of bytes added to the dictionaries.
    added: u64,
    failed: &'a Mutex<Option<Error>>,
}

impl Worker for ExternalWorker<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        let width = self.caches.len();
        self.codes.clear();
        self.hashes.clear();
        for record in 0..records.len() {
            self.read += 1;
            let is_missing = |text: &&[u8]| self.missing.iter().any(|m| m.as_bytes() == *text);
            let name = records.get(record, 0);
            let Some(name) = name.filter(|text| !is_missing_identifier(text, self.missing)) else {
                self.nameless += 1;
                continue;
            };
            // Check for missing values first: a record that is left out must not add values to the
            // dictionaries.
            if (1..=width)
                .any(|slot| records.get(record, slot).is_none_or(|text| is_missing(&text)))
            {
                self.incomplete += 1;
                continue;
            }
            let person = self.key.fingerprint(name, self.mark);
            let start = self.codes.len();
            for slot in 0..width {
                let text = records.get(record, slot + 1).unwrap_or_default();
                let code = match self.caches[slot].get(text) {
                    Some(code) => code,
                    None => self.ask(slot, text),
                };
                self.codes.push(code);
            }
            if let Some(&own) = self.index.get(&person) {
                self.known.push((own, self.codes.split_off(start)));
                continue;
            }
            for (used, &code) in self.used.iter_mut().zip(&self.codes[start..]) {
                if used.len() <= code as usize {
                    used.resize(code as usize + 1, false);
                }
                used[code as usize] = true;
            }
            let hash = hash_row(&self.codes[start..]);
            self.hashes.push(hash);
            self.batch.push((person, hash));
        }
        if let Err(error) = self.seen.add(&mut self.batch) {
            *self.failed.lock().expect("no worker panics while it holds the error") = Some(error);
        }
        if !self.full.load(Ordering::Relaxed) {
            self.hand_in(width);
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        let known = size_of::<(u32, Vec<u32>)>() + 2 * self.caches.len() * size_of::<u32>();
        self.added + (self.known.len() * known) as u64
    }
}

impl ExternalWorker<'_> {
    #[cold]
    fn ask(&mut self, slot: usize, text: &[u8]) -> u32 {
        let mut dictionary =
            self.dictionaries[slot].lock().expect("no worker panics while it holds a dictionary");
        let before = dictionary.memory();
        let code = dictionary.intern(text);
        self.added += dictionary.memory() - before;
        self.caches[slot].put(text, code);
        code
    }

    /// Adds the batch to the tables of distinct rows. If these exceed the limit, they are dropped.
    fn hand_in(&self, width: usize) {
        let mut order: Vec<u32> = (0..self.hashes.len() as u32).collect();
        let shard_of = |row: &u32| (self.hashes[*row as usize] >> 8) as usize % SHARDS;
        order.sort_unstable_by_key(shard_of);
        for own in order.chunk_by(|a, b| shard_of(a) == shard_of(b)) {
            let mut table = self.tables[shard_of(&own[0])]
                .lock()
                .expect("no worker panics while it holds a table");
            let before = table.len();
            for &row in own {
                let codes = &self.codes[row as usize * width..][..width];
                *table.entry_ref(codes).or_insert(0) += 1;
            }
            self.rows.fetch_add((table.len() - before) as u64, Ordering::Relaxed);
        }
        if self.rows.load(Ordering::Relaxed) > self.most && !self.full.swap(true, Ordering::Relaxed)
        {
            for table in self.tables {
                *table.lock().expect("no worker panics while it holds a table") = HashMap::new();
            }
        }
    }
}

impl External {
    /// Opens an external table with this identifier and these quasi-identifiers.
    pub fn open(
        locations: impl IntoIterator<Item: Into<Location>>,
        options: &Options,
        id: &str,
        quasi: &[String],
        missing: &[String],
    ) -> Result<External> {
        External::of(Source::open(locations, options)?, id, quasi, missing)
    }

    /// Creates an external table from an open source.
    pub fn of(source: Source, id: &str, quasi: &[String], missing: &[String]) -> Result<External> {
        let lacks: Vec<&str> = std::iter::once(id)
            .chain(quasi.iter().map(String::as_str))
            .filter(|name| !source.columns().iter().any(|own| own == name))
            .collect();
        if let Some(first) = lacks.first() {
            let (s, names) = (if lacks.len() == 1 { "" } else { "s" }, lacks.join("`, `"));
            let error = Error::input(format!("the external table has no column{s} `{names}`"));
            let near = incrowd_core::near_miss(first, source.columns().iter().map(String::as_str));
            return Err(match near.filter(|_| source.is_named()) {
                Some(_) => source.help_column(error, first),
                None => error.help(
                    "it must have the identifier and all quasi-identifiers under the names of the table",
                ),
            });
        }
        let names = std::iter::once(id).chain(quasi.iter().map(String::as_str));
        let wanted = names.map(|name| source.position(name)).collect::<Result<Vec<usize>>>()?;
        Ok(External {
            source,
            wanted,
            quasi: quasi.to_vec(),
            id: id.to_owned(),
            missing: missing.to_vec(),
        })
    }

    /// The files of the table.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.source.files()
    }

    /// Reads the table once. If there are at most `most` distinct rows of strangers, they are
    /// stored. Otherwise none are. Data that do not fit into memory are spilled to unnamed files in
    /// `directory`.
    // Long, because it initializes and merges the counters of all threads.
    pub fn read(
        &self,
        people: &People,
        most: u64,
        directory: &Path,
        progress: &dyn Progress,
    ) -> Result<Gathered> {
        progress.step("reading the external table", Some(self.source.bytes()));
        let width = self.quasi.len();
        let dictionaries: Vec<Mutex<Interner>> =
            (0..width).map(|_| Mutex::new(Interner::new())).collect();
        let tables: Vec<Mutex<RowCounts>> = (0..SHARDS).map(|_| Mutex::default()).collect();
        let (rows, full, failed) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(None));
        let seen = PersonRows::new(directory);
        let worker = || ExternalWorker {
            key: &people.key,
            mark: self.source.decimal().unwrap_or_default(),
            index: &people.index,
            missing: &self.missing,
            dictionaries: &dictionaries,
            tables: &tables,
            rows: &rows,
            most,
            full: &full,
            seen: &seen,
            caches: (0..width).map(|_| Cache::new(&self.missing)).collect(),
            used: vec![Vec::new(); width],
            known: Vec::new(),
            batch: Vec::new(),
            codes: Vec::new(),
            hashes: Vec::new(),
            read: 0,
            nameless: 0,
            incomplete: 0,
            added: 0,
            failed: &failed,
        };
        let scan = self.source.scan(&self.wanted, worker, progress)?;
        let (mut used, mut known) = (vec![Vec::new(); width], Vec::new());
        let (mut read, mut nameless, mut incomplete) = (0, 0, 0);
        for worker in scan.workers {
            read += worker.read;
            nameless += worker.nameless;
            incomplete += worker.incomplete;
            known.extend(worker.known);
            for (all, own) in used.iter_mut().zip(worker.used) {
                all.resize(all.len().max(own.len()), false);
                all.iter_mut().zip(own).for_each(|(all, own): (&mut bool, bool)| *all |= own);
            }
        }
        if let Some(error) = failed.into_inner().expect("no worker is left") {
            return Err(error);
        }
        let dictionaries: Vec<Interner> =
            dictionaries.into_iter().map(|d| d.into_inner().expect("no worker is left")).collect();
        let texts: Vec<Vec<String>> = dictionaries.iter().map(Interner::texts).collect();
        let mut repeated = seen.repeated()?;
        known.sort_unstable();
        for same in known.chunk_by(|a, b| a.0 == b.0) {
            repeated.differing += u64::from(same.iter().any(|(_, codes)| *codes != same[0].1));
        }
        let several = known.len();
        known.dedup_by_key(|(record, _)| *record);
        if repeated.differing > 0 {
            let (n, id) = (repeated.differing, &self.id);
            let people = if n == 1 { "1 person".to_owned() } else { format!("{n} people") };
            return Err(Error::input(format!(
                "the external table has several records of {people}, by `{id}`, that do not agree in the quasi-identifiers"
            ))
            .help("decide beforehand which record is right (7, 7.0 and 007 are one person)"));
        }
        let more: u64 = repeated.alike.iter().map(|(_, _, more)| more).sum();
        let strangers = (!full.into_inner()).then(|| gathered(tables, width, &repeated.alike));
        let columns = self.quasi.iter().zip(&texts).zip(&used).map(|((name, texts), used)| {
            let text = |(code, text): (usize, &String)| {
                if used.get(code) == Some(&true) { text.clone() } else { String::new() }
            };
            FoldedColumn { name: name.clone(), texts: texts.iter().enumerate().map(text).collect() }
        });
        let columns = columns.collect();
        let in_texts = |(record, codes): (u32, Vec<u32>)| {
            (
                record,
                codes
                    .iter()
                    .zip(&texts)
                    .map(|(&code, texts)| texts[code as usize].clone())
                    .collect(),
            )
        };
        let repeated_known = (several - known.len()) as u64;
        let people = read - nameless - incomplete - several as u64 - more;
        Ok(Gathered {
            columns,
            strangers,
            known: known.into_iter().map(in_texts).collect(),
            read,
            nameless,
            incomplete,
            repeated: more + repeated_known,
            people,
            again: repeated.alike.iter().map(|(person, ..)| *person).collect(),
            dictionaries,
        })
    }

    /// Reads the table again, and counts the strangers whose position satisfies `keep`. `places`
    /// maps the codes of [`Gathered::columns`] to positions in the order of each column. The codes
    /// of the result are positions.
    pub fn gather(
        &self,
        people: &People,
        gathered: &Gathered,
        places: &[Vec<Code>],
        keep: &(dyn Fn(&[u32]) -> bool + Sync),
        progress: &dyn Progress,
    ) -> Result<Strangers> {
        type Kept = (HashMap<Vec<u32>, u64>, Vec<u32>);
        let visit = |(kept, point): &mut Kept, _: &[u8], codes: &[u32]| {
            point.clear();
            point.extend(codes.iter().zip(places).map(|(&code, places)| places[code as usize].0));
            if keep(point) {
                *kept.entry_ref(point.as_slice()).or_insert(0) += 1;
            }
        };
        let all: Vec<Kept> = self.strangers(people, gathered, progress, "gathering", &visit)?;
        let mut rows: Vec<(Vec<u32>, u64)> = Vec::new();
        all.into_iter().for_each(|(kept, _)| rows.extend(kept));
        rows.sort_unstable();
        let mut strangers = Strangers::default();
        for same in rows.chunk_by(|a, b| a.0 == b.0) {
            strangers.codes.extend_from_slice(&same[0].0);
            strangers.weights.push(same.iter().map(|(_, people)| people).sum());
        }
        Ok(strangers)
    }

    /// Reads the table again, and calls `number` with the codes of every stranger. Returns the
    /// names and numbers of those with a result, in no particular order.
    pub fn names(
        &self,
        people: &People,
        gathered: &Gathered,
        number: &(dyn Fn(&[u32]) -> Option<u32> + Sync),
        progress: &dyn Progress,
    ) -> Result<Vec<(String, u32)>> {
        let visit = |met: &mut Vec<(String, u32)>, name: &[u8], codes: &[u32]| {
            if let Some(number) = number(codes) {
                met.push((String::from_utf8_lossy(name).into_owned(), number));
            }
        };
        let all: Vec<Vec<(String, u32)>> =
            self.strangers(people, gathered, progress, "naming", &visit)?;
        Ok(all.concat())
    }

    /// Reads the table again and calls `visit` for every stranger. Returns the result of each
    /// thread.
    fn strangers<T: Default + Send>(
        &self,
        people: &People,
        gathered: &Gathered,
        progress: &dyn Progress,
        step: &str,
        visit: &Visit<'_, T>,
    ) -> Result<Vec<T>> {
        progress.step(step, Some(self.source.bytes()));
        let met_again: Mutex<HashSet<Fingerprint>> = Mutex::default();
        let changed = AtomicBool::new(false);
        let worker = || StrangerWorker {
            external: self,
            people,
            gathered,
            met_again: &met_again,
            made: T::default(),
            visit,
            changed: &changed,
        };
        let scan = self.source.scan(&self.wanted, worker, progress)?;
        if changed.load(Ordering::Relaxed) {
            return Err(Error::input("the external table changed while it was read"));
        }
        Ok(scan.workers.into_iter().map(|worker| worker.made).collect())
    }
}

/// Function called with the state of the thread, and the name and the codes of a stranger.
type Visit<'v, T> = dyn Fn(&mut T, &[u8], &[u32]) + Sync + 'v;

struct StrangerWorker<'a, T> {
    external: &'a External,
    people: &'a People,
    gathered: &'a Gathered,
    met_again: &'a Mutex<HashSet<Fingerprint>>,
    made: T,
    visit: &'a Visit<'a, T>,
    changed: &'a AtomicBool,
}

impl<T: Send> Worker for StrangerWorker<'_, T> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        let width = self.external.quasi.len();
        let missing = &self.external.missing;
        let is_missing = |text: &&[u8]| missing.iter().any(|m| m.as_bytes() == *text);
        let mut codes = Vec::with_capacity(width);
        for record in 0..records.len() {
            let name = records.get(record, 0);
            let Some(name) = name.filter(|text| !is_missing_identifier(text, missing)) else {
                continue;
            };
            if (1..=width)
                .any(|slot| records.get(record, slot).is_none_or(|text| is_missing(&text)))
            {
                continue;
            }
            let person = self
                .people
                .key
                .fingerprint(name, self.external.source.decimal().unwrap_or_default());
            if self.people.index.contains_key(&person) {
                continue;
            }
            if self.gathered.again.contains(&person)
                && !self
                    .met_again
                    .lock()
                    .expect("no worker panics while it holds the set")
                    .insert(person)
            {
                continue;
            }
            codes.clear();
            for slot in 0..width {
                let text = records.get(record, slot + 1).unwrap_or_default();
                codes.push(self.gathered.dictionaries[slot].get(text).unwrap_or(MISSING));
            }
            if codes.contains(&MISSING) {
                self.changed.store(true, Ordering::Relaxed);
                return Ok(());
            }
            (self.visit)(&mut self.made, name, &codes);
        }
        Ok(())
    }
}

/// The hash of a row.
fn hash_row(codes: &[u32]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed =
        codes.iter().fold(0u64, |h, &code| (h.rotate_left(5) ^ u64::from(code)).wrapping_mul(K));
    (mixed ^ (mixed >> 29)).wrapping_mul(K)
}

/// The distinct rows, without repeated records.
fn gathered(
    tables: Vec<Mutex<RowCounts>>,
    width: usize,
    alike: &[(Fingerprint, u64, u64)],
) -> Strangers {
    let mut strangers = Strangers::default();
    let tables = tables.into_iter().flat_map(|own| own.into_inner().expect("no worker is left"));
    let mut rows: Vec<(Vec<u32>, u64)> = tables.collect();
    rows.sort_unstable();
    for (codes, people) in rows {
        strangers.codes.extend(codes);
        strangers.weights.push(people);
    }
    if !alike.is_empty() {
        let rows = strangers.codes.chunks_exact(width).enumerate();
        let rows: HashMap<u64, usize> = rows.map(|(row, codes)| (hash_row(codes), row)).collect();
        for (_, hash, more) in alike {
            if let Some(&row) = rows.get(hash) {
                strangers.weights[row] = strangers.weights[row].saturating_sub(*more);
            }
        }
    }
    strangers
}
