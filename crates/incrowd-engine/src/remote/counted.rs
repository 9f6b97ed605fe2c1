//! Folds counts of typed values. The code that reads Parquet converts values to texts. So two
//! values are equal if their texts are equal, as for any other table.

use std::sync::Mutex;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::{
    CodedColumn, Columnar, Error, Folded, FoldedColumn, MISSING, PackedTexts, Progress, Result,
};

use super::persons::RowPersons;
use super::weights::RowWeights;
use super::{Asked, PersonColumn, Remote, Rows, refuse_people};
use crate::FoldSpec;
use crate::intern::{Cache, Interner};
use crate::record_values::{ExaminedColumns, RecordValues};
use crate::source::{Batches, Place, Records, Source, Trouble, Worker};

/// Marks a counted row that is dropped.
pub(crate) const DROPPED: u32 = u32::MAX;

/// The fold of counted rows.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) folded: Folded,
    /// For each counted row, its row in the fold, or [`DROPPED`].
    pub(crate) of_row: Vec<u32>,
    /// The number of records of each counted row.
    pub(crate) records: Vec<u64>,
    /// The index of each row in the other system, if that system keeps the rows.
    pub(crate) kept: Vec<i64>,
}

/// A batch of counted rows, as codes.
struct Batch {
    place: Place,
    codes: Vec<u32>,
    records: Vec<u64>,
    kept: Vec<i64>,
}

struct Reader<'a> {
    dictionaries: &'a [Mutex<Interner>],
    caches: Vec<Cache>,
    missing: &'a [String],
    marker: usize,
    numbered: bool,
    batches: Vec<Batch>,
}

impl Worker for Reader<'_> {
    fn visit<R: Records>(&mut self, place: Place, records: &R) -> Result<(), Trouble> {
        let (width, rows) = (self.caches.len(), records.len());
        let empty = self.missing.iter().position(String::is_empty).unwrap_or(self.missing.len());
        let mut codes = vec![MISSING; rows * width];
        for slot in 0..width {
            for row in 0..rows {
                let Some(text) = records.get(row, slot) else {
                    self.marker = self.marker.min(empty);
                    continue;
                };
                codes[row * width + slot] = match self.caches[slot].get(text) {
                    Some(MISSING) => {
                        let marker = self.missing.iter().position(|m| m.as_bytes() == text);
                        self.marker = self.marker.min(marker.unwrap_or(empty));
                        MISSING
                    }
                    Some(code) => code,
                    None => {
                        let dictionary = self.dictionaries[slot].lock();
                        let code = dictionary
                            .expect("no worker panics while it holds a dictionary")
                            .intern(text);
                        self.caches[slot].put(text, code);
                        code
                    }
                };
            }
        }
        let number = |row: usize, slot: usize| {
            let text = records.get(row, slot).and_then(|text| std::str::from_utf8(text).ok());
            let message = || " has no count".to_owned();
            let odd = || Trouble { record: row, message: message(), help: None, error: None };
            text.and_then(|text| text.parse::<i64>().ok()).ok_or_else(odd)
        };
        let count = |row| number(row, width).map(|n| n as u64);
        let counts = (0..rows).map(count).collect::<Result<Vec<_>, _>>()?;
        let kept = if self.numbered { 0..rows } else { 0..0 };
        let kept = kept.map(|row| number(row, width + 1)).collect::<Result<Vec<_>, _>>()?;
        self.batches.push(Batch { place, codes, records: counts, kept });
        Ok(())
    }
}

impl Counted {
    /// Folds counted rows. Their columns are those of `spec`, then the number of records, then
    /// optionally the index of the row.
    pub(crate) fn new(
        name: &str,
        rows: Rows,
        spec: &FoldSpec,
        progress: &dyn Progress,
    ) -> Result<Counted> {
        let (schema, batches) = rows;
        let width = spec.columns.len();
        let numbered = schema.fields().len() == width + 2;
        if !numbered && schema.fields().len() != width + 1 {
            return Err(Error::bug("a system counted other columns than it was asked for"));
        }
        let source = Source::of_batches(&Batches::new(name, schema, batches)?)?;
        let dictionaries: Vec<Mutex<Interner>> =
            (0..width).map(|_| Mutex::new(Interner::new())).collect();
        let worker = || Reader {
            dictionaries: &dictionaries,
            caches: (0..width).map(|_| Cache::new(&spec.missing)).collect(),
            missing: &spec.missing,
            marker: spec.missing.len(),
            numbered,
            batches: Vec::new(),
        };
        let wanted: Vec<usize> = (0..source.columns().len()).collect();
        let scan = source.scan(&wanted, worker, progress)?;
        let marker =
            scan.workers.iter().map(|worker| worker.marker).min().unwrap_or(spec.missing.len());
        let numbers: Vec<Vec<u64>> = scan
            .workers
            .iter()
            .map(|worker| worker.batches.iter().map(|batch| scan.number(batch.place, 0)).collect())
            .collect();
        let mut all: Vec<(u64, Batch)> = Vec::new();
        for (worker, numbers) in scan.workers.into_iter().zip(numbers) {
            all.extend(numbers.into_iter().zip(worker.batches));
        }
        all.sort_unstable_by_key(|(first, _)| *first);
        let mut counted = Counted::default();
        let folded = &mut counted.folded;
        folded.missing = vec![0; width];
        folded.marker = spec.missing.get(marker).cloned();
        let mut known: HashMap<Vec<u32>, u32, FixedState> = HashMap::default();
        for (_, batch) in all {
            for (row, &records) in batch.records.iter().enumerate() {
                let codes = &batch.codes[row * width..(row + 1) * width];
                folded.read += records;
                counted.records.push(records);
                let absent =
                    codes.iter().zip(&mut folded.missing).filter(|(code, _)| **code == MISSING);
                let lacks = absent.map(|(_, missing)| *missing += records).count() > 0;
                if lacks && spec.drop_missing {
                    folded.dropped_missing += records;
                    counted.of_row.push(DROPPED);
                    continue;
                }
                let fresh = folded.weights.len() as u32;
                let at = *known.entry_ref(codes).or_insert(fresh);
                if at == fresh {
                    folded.codes.extend_from_slice(codes);
                    folded.weights.push(0);
                }
                folded.weights[at as usize] += records;
                counted.of_row.push(at);
            }
            counted.kept.extend(batch.kept);
        }
        let unlock = "no worker is left";
        let texts = dictionaries.into_iter().map(|d| d.into_inner().expect(unlock).texts());
        folded.columns = spec
            .columns
            .iter()
            .zip(texts)
            .map(|(name, texts)| FoldedColumn { name: name.clone(), texts })
            .collect();
        Ok(counted)
    }

    /// Folds counted rows with persons.
    pub(crate) fn with_persons(
        name: &str,
        rows: Rows,
        spec: &FoldSpec,
        progress: &dyn Progress,
    ) -> Result<Counted> {
        let (rows, persons) = RowPersons::split(rows)?;
        let mut counted = Counted::new(name, rows, spec, progress)?;
        counted.folded.persons = Some(persons.fold(&counted)?);
        Ok(counted)
    }

    /// Folds counted rows with sampling weights.
    pub(crate) fn with_weights(
        name: &str,
        rows: Rows,
        spec: &FoldSpec,
        progress: &dyn Progress,
    ) -> Result<Counted> {
        let (rows, weights) = RowWeights::split(rows)?;
        let mut counted = Counted::new(name, rows, spec, progress)?;
        counted.folded.represented = Some(weights.fold(&counted, spec)?);
        Ok(counted)
    }
}

/// Folds a table of another system, and counts the unique records on the columns `examined`.
pub(crate) fn fold(
    remote: &dyn Remote,
    spec: &FoldSpec,
    examined: ExaminedColumns<'_>,
    progress: &dyn Progress,
) -> Result<(Folded, RecordValues)> {
    refuse_people(remote, spec)?;
    let plain = || Counted::new(remote.name(), remote.count(&spec.columns)?, spec, progress);
    let persons = |person: Option<PersonColumn<'_>>| {
        let rows = remote.count_persons(&spec.columns, person)?;
        Counted::with_persons(remote.name(), rows, spec, progress)
    };
    let weights = |weight: Option<&str>| {
        let rows = remote.count_weights(&spec.columns, weight, &spec.missing)?;
        Counted::with_weights(remote.name(), rows, spec, progress)
    };
    let kept = !spec.columns.is_empty() && (remote.knows_persons() || remote.knows_weights());
    let mut folded = match Asked::of(spec) {
        Asked::Persons(person) => persons(Some(person))?.folded,
        Asked::Weights(weight, _) => weights(Some(weight))?.folded,
        Asked::Nothing if kept => {
            let kept = if remote.knows_persons() { persons(None)? } else { weights(None)? }.folded;
            if plain()?.folded.canonical() != kept.canonical() {
                return Err(Error::resources(
                    "the release has other records than those whose persons or weights are known: nothing was published",
                ));
            }
            kept
        }
        Asked::Nothing => plain()?.folded,
    };
    if !spec.repeating.is_empty() {
        folded.repeating = remote.repeating(&spec.repeating, &spec.missing)?;
    }
    Ok((folded, examine(remote, examined)?))
}

/// Counts the records that are unique on each of some columns, and on all of them together.
fn examine(remote: &dyn Remote, examined: ExaminedColumns<'_>) -> Result<RecordValues> {
    if examined.columns.is_empty() {
        return Ok(RecordValues::default());
    }
    let mut sets: Vec<Vec<String>> =
        examined.columns.iter().map(|name| vec![name.clone()]).collect();
    if sets.len() > 1 {
        sets.push(examined.columns.to_vec());
    }
    let (mut once, people) = match remote.knows_persons() {
        true => remote.unique_persons(&sets).map(|(once, people)| (once, Some(people)))?,
        false => (remote.unique_records(&sets)?, None),
    };
    if once.len() != sets.len() {
        return Err(Error::bug("a system counted other columns than it was asked for"));
    }
    let together = if sets.len() > 1 { once.pop() } else { None };
    let column = |name: &String| CodedColumn {
        name: name.clone(),
        texts: PackedTexts::unnamed(1),
        codes: Vec::new(),
    };
    let columns = examined.columns.iter().map(column).collect();
    Ok(RecordValues {
        table: Columnar { columns, records: 0 },
        once: Some(once),
        together,
        people,
        ..RecordValues::default()
    })
}
