//! A simple reference implementation of a system that stores a table and only returns counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd_core::represented::read_weight;
use incrowd_core::{Error, Result};
use incrowd_engine::{
    Asked, FROM, HELD, OUTPUT_ROW, Order, PersonColumn, Places, RANK, RECORDS, REPRESENTED, ROW,
    Remote, RemotePlan, RemoteStore, Rows, TO, UNNAMED, UNWEIGHED, WHOLE,
};

use crate::common::{Cell, batches};
use crate::read_back::typed;

/// A table with column names.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemoteTable {
    pub(crate) names: Vec<String>,
    pub(crate) records: Vec<Vec<Cell>>,
    /// Person number of each record, if stored with the table. `None` for a record without an
    /// identifier.
    pub(crate) who: Option<Vec<Option<i64>>>,
    /// Sampling weight of each record, if stored with the table.
    pub(crate) stands: Option<Vec<u64>>,
    /// Number of records that are missing in counts without persons.
    pub(crate) lost: usize,
}

/// A row, or a part of one: the cells, and the number of the part.
type Piece = (Vec<Cell>, i64);

/// Number of records, number of records without an identifier, and number of records by person.
#[derive(Clone, Debug, Default)]
struct Counts {
    records: i64,
    unnamed: i64,
    held: BTreeMap<i64, i64>,
}

impl RemoteTable {
    pub(crate) fn new(names: &[&str], records: &[Vec<Cell>]) -> RemoteTable {
        RemoteTable {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            records: records.to_vec(),
            ..RemoteTable::default()
        }
    }

    fn at(&self, columns: &[String]) -> Vec<usize> {
        columns.iter().map(|name| self.names.iter().position(|own| own == name).unwrap()).collect()
    }

    fn rows(&self, columns: &[String]) -> BTreeMap<Vec<Cell>, i64> {
        let at = self.at(columns);
        let mut rows = BTreeMap::new();
        for record in &self.records[self.lost..] {
            *rows.entry(at.iter().map(|&c| record[c].clone()).collect()).or_default() += 1;
        }
        rows
    }

    /// Person number of a record, from a column or as stored.
    fn number(&self, record: usize, person: Option<PersonColumn<'_>>) -> Option<i64> {
        let Some(person) = person else { return self.who.as_ref().and_then(|who| who[record]) };
        let text = self.records[record][self.at(&[person.name.to_owned()])[0]].as_ref();
        let text = text.filter(|text| !person.missing.contains(text))?;
        Some(i64::from_le_bytes(blake3::hash(text.as_bytes()).as_bytes()[..8].try_into().unwrap()))
    }

    /// Sampling weight of a record, from a column or as stored.
    fn weight(&self, record: usize, weight: Option<&str>, missing: &[String]) -> Option<u64> {
        let Some(weight) = weight else { return self.stands.as_ref().map(|stands| stands[record]) };
        let text = self.records[record][self.at(&[weight.to_owned()])[0]].as_ref();
        text.filter(|text| !missing.contains(text)).and_then(|text| read_weight(text))
    }

    /// The rows with the sums of their sampling weights.
    fn weighed(
        &self,
        columns: &[String],
        by: Option<&str>,
        missing: &[String],
        own: Option<&[i64]>,
    ) -> Rows {
        let at = self.at(columns);
        let mut sums: BTreeMap<Vec<Cell>, (i64, i64)> = BTreeMap::new();
        for (i, record) in self.records.iter().enumerate() {
            let sum = sums.entry(at.iter().map(|&c| record[c].clone()).collect()).or_default();
            match self.weight(i, by, missing) {
                Some(weight) => sum.0 += weight as i64,
                None => sum.1 += 1,
            }
        }
        let whole = RemoteTable { lost: 0, ..self.clone() };
        let (schema, batches) = table(columns, &whole.rows(columns), own);
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        fields.extend(
            [REPRESENTED, UNWEIGHED].map(|name| Arc::new(Field::new(name, DataType::Int64, false))),
        );
        let mut arrays = batches[0].columns().to_vec();
        arrays.push(Arc::new(Int64Array::from_iter_values(sums.values().map(|sum| sum.0))));
        arrays.push(Arc::new(Int64Array::from_iter_values(sums.values().map(|sum| sum.1))));
        let schema = Arc::new(Schema::new(fields));
        (schema.clone(), vec![RecordBatch::try_new(schema, arrays).unwrap()])
    }

    /// The rows with their persons, each in two parts.
    fn pieces(
        &self,
        columns: &[String],
        person: Option<PersonColumn<'_>>,
    ) -> BTreeMap<Piece, Counts> {
        let at = self.at(columns);
        let mut rows: BTreeMap<Piece, Counts> = BTreeMap::new();
        for (i, record) in self.records.iter().enumerate() {
            let number = self.number(i, person);
            let row = at.iter().map(|&c| record[c].clone()).collect();
            let counts = rows.entry((row, number.unwrap_or(0) & 1)).or_default();
            counts.records += 1;
            match number {
                None => counts.unnamed += 1,
                Some(number) => *counts.held.entry(number).or_default() += 1,
            }
        }
        rows
    }

    pub(crate) fn digest_of(&self) -> String {
        format!(
            "slow:{}",
            blake3::hash(format!("{:?}{:?}", self.names, self.records).as_bytes()).to_hex()
        )
    }
}

fn table(columns: &[String], rows: &BTreeMap<Vec<Cell>, i64>, numbers: Option<&[i64]>) -> Rows {
    let mut fields: Vec<Field> =
        columns.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let mut arrays: Vec<ArrayRef> = (0..columns.len())
        .map(|c| {
            Arc::new(rows.keys().map(|row| row[c].as_deref()).collect::<StringArray>()) as ArrayRef
        })
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

/// The rows with their counts and persons.
fn table_of_persons(
    columns: &[String],
    rows: &BTreeMap<Piece, Counts>,
    numbers: Option<&[i64]>,
) -> Rows {
    let mut fields: Vec<Field> =
        columns.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let mut arrays: Vec<ArrayRef> = (0..columns.len())
        .map(|c| {
            Arc::new(rows.keys().map(|(row, _)| row[c].as_deref()).collect::<StringArray>())
                as ArrayRef
        })
        .collect();
    let mut add = |name: &str, array: ArrayRef| {
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    };
    let own =
        |of: &dyn Fn(&Counts) -> i64| Arc::new(Int64Array::from_iter_values(rows.values().map(of)));
    add(RECORDS, own(&|counts| counts.records));
    if let Some(numbers) = numbers {
        add(ROW, Arc::new(Int64Array::from_iter_values(numbers.iter().copied())));
    }
    add(UNNAMED, own(&|counts| counts.unnamed));
    let mut lists = ListBuilder::new(Int64Builder::new());
    for counts in rows.values() {
        lists.append_value(counts.held.iter().flat_map(|(&number, &n)| [Some(number), Some(n)]));
    }
    add(HELD, Arc::new(lists.finish()));
    let schema = Arc::new(Schema::new(fields));
    (schema.clone(), vec![RecordBatch::try_new(schema, arrays).unwrap()])
}

impl Remote for RemoteTable {
    fn name(&self) -> &str {
        "people"
    }

    fn schema(&self) -> SchemaRef {
        batches(&self.names.iter().map(String::as_str).collect::<Vec<_>>(), &[]).0
    }

    fn count(&self, columns: &[String]) -> Result<Rows> {
        Ok(table(columns, &self.rows(columns), None))
    }

    fn unique_records(&self, sets: &[Vec<String>]) -> Result<Vec<u64>> {
        Ok(sets
            .iter()
            .map(|set| self.rows(set).values().filter(|n| **n == 1).count() as u64)
            .collect())
    }

    fn knows_persons(&self) -> bool {
        self.who.is_some()
    }

    fn count_persons(&self, columns: &[String], person: Option<PersonColumn<'_>>) -> Result<Rows> {
        Ok(table_of_persons(columns, &self.pieces(columns, person), None))
    }

    fn unique_persons(&self, sets: &[Vec<String>]) -> Result<(Vec<u64>, u64)> {
        // A record without an identifier is a person identified by the index of the record.
        let who = |i: usize| self.number(i, None).map_or((i, 0), |number| (usize::MAX, number));
        let alone = |set: &Vec<String>| {
            let at = self.at(set);
            let mut by_value: BTreeMap<Vec<Cell>, BTreeSet<(usize, i64)>> = BTreeMap::new();
            for (i, record) in self.records.iter().enumerate() {
                by_value
                    .entry(at.iter().map(|&c| record[c].clone()).collect())
                    .or_default()
                    .insert(who(i));
            }
            let single = by_value.values().filter(|who| who.len() == 1).flatten();
            single.collect::<BTreeSet<_>>().len() as u64
        };
        let people: BTreeSet<_> = (0..self.records.len()).map(who).collect();
        Ok((sets.iter().map(alone).collect(), people.len() as u64))
    }

    fn knows_weights(&self) -> bool {
        self.stands.is_some()
    }

    fn count_weights(
        &self,
        columns: &[String],
        weight: Option<&str>,
        missing: &[String],
    ) -> Result<Rows> {
        Ok(self.weighed(columns, weight, missing, None))
    }

    fn repeating(&self, _: &[String], _: &[String]) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn digest(&self) -> Result<String> {
        Ok(self.digest_of())
    }
}

/// The published release.
pub(crate) type Published = Arc<Mutex<Option<(Vec<RemoteTable>, Vec<u8>)>>>;

/// Store of the other system.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) of: RemoteTable,
    pub(crate) published: Published,
    kept: BTreeMap<Piece, i64>,
    columns: Vec<String>,
    person: Option<(String, Vec<String>)>,
    weight: Option<(String, Vec<String>)>,
    staged: Vec<Option<RemoteTable>>,
    /// Changes a table before it is stored, to simulate errors.
    pub(crate) spoil: fn(&mut RemoteTable),
}

impl Shelf {
    pub(crate) fn new(of: RemoteTable, published: Published) -> Shelf {
        let (kept, columns, staged) = (BTreeMap::new(), Vec::new(), Vec::new());
        Shelf { of, published, kept, columns, person: None, weight: None, staged, spoil: |_| () }
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

    fn count_and_keep(&mut self, columns: &[String], asked: Asked<'_>) -> Result<Rows> {
        let person = if let Asked::Persons(person) = asked { Some(person) } else { None };
        if let Asked::Weights(name, missing) = asked {
            self.weight = Some((name.to_owned(), missing.to_vec()));
        }
        // Row numbers that differ from the positions.
        let own = |rows: usize| (0..rows as i64).map(|i| 1_000 - 3 * i).collect::<Vec<_>>();
        self.columns = columns.to_vec();
        self.person = person.map(|person| (person.name.to_owned(), person.missing.to_vec()));
        let pieces = self.of.pieces(columns, person);
        let numbers = own(pieces.len());
        self.kept = pieces.keys().cloned().zip(numbers.iter().copied()).collect();
        Ok(match asked {
            Asked::Persons(_) => table_of_persons(columns, &pieces, Some(&numbers)),
            Asked::Weights(name, missing) => {
                self.of.weighed(columns, Some(name), missing, Some(&numbers))
            }
            Asked::Nothing => table(columns, &self.of.rows(columns), Some(&numbers)),
        })
    }

    fn stage(&mut self, at: usize, plan: &RemotePlan) -> Result<u64> {
        let (header, output_rows) = match plan.output_rows.1.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => typed(&plan.output_rows.1),
        };
        let cell = |output_row: &[Cell], name: &str| {
            header.iter().position(|own| own == name).and_then(|c| output_row[c].clone())
        };
        let (ids, ranks) =
            (numbers(&plan.output_rows, OUTPUT_ROW), numbers(&plan.output_rows, RANK));
        let person = self.person.as_ref().map(|(name, missing)| PersonColumn { name, missing });
        let mut records: Vec<(i64, Vec<Cell>, Option<i64>, u64)> = Vec::new();
        match &plan.slots {
            None => {
                let mut next = 0;
                let counts = numbers(&plan.output_rows, RECORDS);
                let firsts = numbers(&plan.output_rows, incrowd_engine::FIRST);
                for (i, output_row) in output_rows.iter().enumerate() {
                    assert_eq!(firsts[i], next);
                    next += counts[i];
                    let row: Vec<Cell> =
                        plan.columns.iter().map(|(name, _)| cell(output_row, name)).collect();
                    records.extend((0..counts[i]).map(|_| (ranks[i], row.clone(), None, 0)));
                }
                assert_eq!(next as u64, plan.records);
            }
            Some(slots) => {
                let [rows, from, to, output_row, whole] =
                    [ROW, FROM, TO, OUTPUT_ROW, WHOLE].map(|name| numbers(slots, name));
                let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
                let folded = self.of.at(&self.columns);
                let counts = self.of.pieces(&self.columns, person);
                for (i, record) in self.of.records.iter().enumerate() {
                    let number = self.of.number(i, person);
                    let key = (
                        folded.iter().map(|&c| record[c].clone()).collect(),
                        number.unwrap_or(0) & 1,
                    );
                    let row =
                        *self.kept.get(&key).ok_or_else(|| Error::input("the table changed"))?;
                    let n = seen.entry(row).or_default();
                    *n += 1;
                    let own =
                        (0..rows.len()).filter(|&s| rows[s] == row && from[s] <= *n && *n <= to[s]);
                    let own: Vec<usize> = own.collect();
                    assert!(own.len() <= 1, "a record has several output rows");
                    let Some(&slot) = own.first() else { continue };
                    assert_eq!(
                        whole[slot] == 1,
                        from[slot] == 1 && to[slot] == counts[&key].records
                    );
                    let at = ids.iter().position(|id| *id == output_row[slot]).unwrap();
                    let own = |(name, carried): &(String, bool)| match carried {
                        true => record[self.of.names.iter().position(|own| own == name).unwrap()]
                            .clone(),
                        false => cell(&output_rows[at], name),
                    };
                    let weight =
                        self.weight.as_ref().and_then(|(by, no)| self.of.weight(i, Some(by), no));
                    let row = plan.columns.iter().map(own).collect();
                    records.push((ranks[at], row, number, weight.unwrap_or(0)));
                }
            }
        }
        match plan.order {
            Order::Sorted => records.sort_by_key(|(rank, ..)| *rank),
            Order::Shuffled => records.reverse(),
        }
        let names = plan.columns.iter().map(|(name, _)| name.clone()).collect();
        let who = plan.persons.then(|| records.iter().map(|(_, _, number, _)| *number).collect());
        let stands = plan.weights.then(|| records.iter().map(|(.., weight)| *weight).collect());
        let records = records.into_iter().map(|(_, record, ..)| record).collect();
        let mut table = RemoteTable { names, records, who, stands, lost: 0 };
        (self.spoil)(&mut table);
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
