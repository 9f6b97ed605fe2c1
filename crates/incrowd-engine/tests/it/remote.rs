//! A system that holds a table and is only asked for counts: the slow and obvious one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd_core::{Error, Result};
use incrowd_engine::{
    FROM, LOOK, Order, Places, RANK, RECORDS, ROW, Remote, RemotePlan, RemoteStore, Rows, TO, WHOLE,
};

use crate::common::{Cell, batches};
use crate::read_back::typed;

/// Records under names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pub(crate) names: Vec<String>,
    pub(crate) records: Vec<Vec<Cell>>,
}

impl Held {
    pub(crate) fn new(names: &[&str], records: &[Vec<Cell>]) -> Held {
        Held { names: names.iter().map(|name| (*name).to_owned()).collect(), records: records.to_vec() }
    }

    fn at(&self, columns: &[String]) -> Vec<usize> {
        columns.iter().map(|name| self.names.iter().position(|own| own == name).unwrap()).collect()
    }

    fn rows(&self, columns: &[String]) -> BTreeMap<Vec<Cell>, i64> {
        let at = self.at(columns);
        let mut rows = BTreeMap::new();
        for record in &self.records {
            *rows.entry(at.iter().map(|&c| record[c].clone()).collect()).or_default() += 1;
        }
        rows
    }

    pub(crate) fn digest_of(&self) -> String {
        format!("slow:{}", blake3::hash(format!("{:?}{:?}", self.names, self.records).as_bytes()).to_hex())
    }
}

fn table(columns: &[String], rows: &BTreeMap<Vec<Cell>, i64>, numbers: Option<&[i64]>) -> Rows {
    let mut fields: Vec<Field> = columns.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let mut arrays: Vec<ArrayRef> = (0..columns.len())
        .map(|c| Arc::new(rows.keys().map(|row| row[c].as_deref()).collect::<StringArray>()) as ArrayRef)
        .collect();
    fields.push(Field::new(RECORDS, DataType::Int64, false));
    arrays.push(Arc::new(Int64Array::from_iter_values(rows.values().copied())));
    if let Some(numbers) = numbers {
        fields.push(Field::new(ROW, DataType::Int64, false));
        arrays.push(Arc::new(Int64Array::from_iter_values(numbers.iter().copied())));
    }
    let schema = Arc::new(Schema::new(fields));
    (schema.clone(), vec![RecordBatch::try_new(schema, arrays).unwrap()])
}

impl Remote for Held {
    fn name(&self) -> &str {
        "people"
    }

    fn schema(&self) -> SchemaRef {
        batches(&self.names.iter().map(String::as_str).collect::<Vec<_>>(), &[]).0
    }

    fn count(&self, columns: &[String]) -> Result<Rows> {
        Ok(table(columns, &self.rows(columns), None))
    }

    fn alone(&self, sets: &[Vec<String>]) -> Result<Vec<u64>> {
        Ok(sets.iter().map(|set| self.rows(set).values().filter(|n| **n == 1).count() as u64).collect())
    }

    fn repeating(&self, _: &[String], _: &[String]) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn digest(&self) -> Result<String> {
        Ok(self.digest_of())
    }
}

/// What was published.
pub(crate) type Published = Arc<Mutex<Option<(Vec<Held>, Vec<u8>)>>>;

/// Where that system puts releases.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) of: Held,
    pub(crate) published: Published,
    kept: BTreeMap<Vec<Cell>, i64>,
    columns: Vec<String>,
    staged: Vec<Option<Held>>,
}

impl Shelf {
    pub(crate) fn new(of: Held, published: Published) -> Shelf {
        Shelf { of, published, kept: BTreeMap::new(), columns: Vec::new(), staged: Vec::new() }
    }
}

fn numbers(rows: &Rows, name: &str) -> Vec<i64> {
    let column = |batch: &RecordBatch| batch.column_by_name(name).unwrap().clone();
    rows.1.iter().flat_map(|b| column(b).as_primitive::<Int64Type>().values().to_vec()).collect()
}

impl RemoteStore for Shelf {
    fn begin(&mut self, places: &Places) -> Result<()> {
        self.staged = vec![None; places.tables.len()];
        Ok(())
    }

    fn count_and_keep(&mut self, columns: &[String]) -> Result<Rows> {
        let rows = self.of.rows(columns);
        // Numbers that are no positions.
        let own: Vec<i64> = (0..rows.len() as i64).map(|i| 1_000 - 3 * i).collect();
        self.kept = rows.keys().cloned().zip(own.iter().copied()).collect();
        self.columns = columns.to_vec();
        Ok(table(columns, &rows, Some(&own)))
    }

    fn stage(&mut self, at: usize, plan: &RemotePlan) -> Result<u64> {
        let (header, looks) = match plan.looks.1.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => typed(&plan.looks.1),
        };
        let cell = |look: &[Cell], name: &str| {
            header.iter().position(|own| own == name).and_then(|c| look[c].clone())
        };
        let (ids, ranks) = (numbers(&plan.looks, LOOK), numbers(&plan.looks, RANK));
        let mut records: Vec<(i64, Vec<Cell>)> = Vec::new();
        match &plan.slots {
            None => {
                let mut next = 0;
                let counts = numbers(&plan.looks, RECORDS);
                let firsts = numbers(&plan.looks, incrowd_engine::FIRST);
                for (i, look) in looks.iter().enumerate() {
                    assert_eq!(firsts[i], next);
                    next += counts[i];
                    let row: Vec<Cell> = plan.columns.iter().map(|(name, _)| cell(look, name)).collect();
                    records.extend((0..counts[i]).map(|_| (ranks[i], row.clone())));
                }
                assert_eq!(next as u64, plan.records);
            }
            Some(slots) => {
                let [rows, from, to, look, whole] =
                    [ROW, FROM, TO, LOOK, WHOLE].map(|name| numbers(slots, name));
                let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
                let folded = self.of.at(&self.columns);
                let counts = self.of.rows(&self.columns);
                for record in &self.of.records {
                    let key: Vec<Cell> = folded.iter().map(|&c| record[c].clone()).collect();
                    let row = *self.kept.get(&key).ok_or_else(|| Error::input("the table changed"))?;
                    let n = seen.entry(row).or_default();
                    *n += 1;
                    let own = (0..rows.len()).filter(|&s| rows[s] == row && from[s] <= *n && *n <= to[s]);
                    let own: Vec<usize> = own.collect();
                    assert!(own.len() <= 1, "a record has several looks");
                    let Some(&slot) = own.first() else { continue };
                    assert_eq!(whole[slot] == 1, from[slot] == 1 && to[slot] == counts[&key]);
                    let at = ids.iter().position(|id| *id == look[slot]).unwrap();
                    let own = |(name, carried): &(String, bool)| match carried {
                        true => record[self.of.names.iter().position(|own| own == name).unwrap()].clone(),
                        false => cell(&looks[at], name),
                    };
                    records.push((ranks[at], plan.columns.iter().map(own).collect()));
                }
            }
        }
        match plan.order {
            Order::Sorted => records.sort_by_key(|(rank, _)| *rank),
            Order::Shuffled => records.reverse(),
        }
        let names = plan.columns.iter().map(|(name, _)| name.clone()).collect();
        let table = Held { names, records: records.into_iter().map(|(_, record)| record).collect() };
        let written = table.records.len() as u64;
        *self.staged.get_mut(at).ok_or_else(|| Error::bug("no place"))? = Some(table);
        Ok(written)
    }

    fn open(&self, table: usize) -> Result<Arc<dyn Remote>> {
        let staged = self.staged.get(table).cloned().flatten();
        Ok(Arc::new(staged.ok_or_else(|| Error::bug("not staged"))?))
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        let tables = self.staged.drain(..).map(Option::unwrap).collect();
        *self.published.lock().unwrap() = Some((tables, manifest.to_vec()));
        Ok(())
    }

    fn discard(&mut self) {
        self.staged.clear();
    }
}
