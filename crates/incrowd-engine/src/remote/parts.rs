//! Planning in parts, for tables with more distinct rows than planning should keep in memory.
//!
//! The other system folds the table once and keeps the distinct rows. This process receives the
//! values of each column and a coarse fold: the number of rows in each cell of a grid whose sides
//! are intervals of leaves. The top of Mondrian's tree is computed on the coarse fold, until no
//! part has too many rows. Then the parts are fetched and planned one after the other, with the
//! domains of the whole table. The other system keeps the plans of all parts and writes them as one
//! release.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use incrowd_core::{Error, Folded, FoldedColumn, Progress, Result};

use super::counted::Counted;
use super::engine::RemoteEngine;
use super::workers::{PlannedPart, Whole};
use super::{ROW, RemotePlan, Rows};
use crate::{FoldSpec, Receipt};

/// A part of a table: for each quasi-identifier the first and the last leaf.
pub type Part = Vec<(i64, i64)>;

/// A system that keeps the distinct rows of a table for planning in parts.
pub trait RemoteParts {
    /// If there are more distinct rows than planning may keep: their approximate number, and the
    /// limit.
    fn too_many(&mut self, columns: &[String]) -> Result<Option<(u64, u64)>>;

    /// Folds the table and keeps the rows with an index.
    fn fold(&mut self, columns: &[String]) -> Result<()>;

    /// The values of a column with their numbers of records and, as [`ROW`], their indices.
    fn values(&mut self, column: usize) -> Result<Rows>;

    /// Stores the code of each value of each column and, for quasi-identifiers, its leaf: [`ROW`],
    /// `code`, `leaf`. With `drop_missing`, rows with a missing value (code 0) are in no part.
    fn place(&mut self, codes: &[Rows], quasi: usize, drop_missing: bool) -> Result<()>;

    /// For each column, the codes that occur in the rows of the parts.
    fn codes(&mut self) -> Result<Vec<Vec<u32>>>;

    /// For each quasi-identifier, candidate borders for cutting the rows of a part, ascending. A
    /// border is a leaf: leaves up to it are on one side, greater leaves on the other.
    fn borders(&mut self, part: &Part, pieces: usize) -> Result<Vec<Vec<i64>>>;

    /// The coarse fold of a part: for each quasi-identifier the number of borders before the cell,
    /// then the number of rows, then the number of records.
    fn cells(&mut self, part: &Part, borders: &[Vec<i64>]) -> Result<Rows>;

    /// The rows of a part: the codes, the number of records, and [`ROW`].
    fn rows(&mut self, part: &Part) -> Result<Rows>;

    /// Stores the plan of a part.
    fn keep(&mut self, plan: &RemotePlan) -> Result<()>;

    /// Whether the system can plan parts.
    fn has_workers(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Starts planning these parts in the other system, in parallel.
    fn plan(&mut self, _: &[Part], _: &Whole) -> Result<()> {
        Err(Error::bug("this system does not plan"))
    }

    /// The plan of one of these parts.
    fn planned(&mut self, _: usize) -> Result<PlannedPart> {
        Err(Error::bug("this system does not plan"))
    }

    /// Writes all stored plans as one table. Returns the number of records.
    fn write(&mut self) -> Result<u64>;
}

/// The result of surveying a table before it is divided.
#[derive(Clone, Debug, Default)]
pub struct Surveyed {
    /// The approximate number of distinct rows.
    pub rows: u64,
    /// The maximum number of rows that planning may keep at a time.
    pub limit: u64,
    /// All values of all columns. The numbers of records are those of the whole table. There are no
    /// rows.
    pub folded: Folded,
}

/// The state of planning in parts.
#[derive(Debug, Default)]
pub(crate) struct Parting {
    pub(super) spec: FoldSpec,
    pub(super) columns: Vec<FoldedColumn>,
    /// For each column, the index and the code of each value.
    pub(super) values: Vec<Vec<(i64, u32)>>,
    pub(super) lines: Vec<Vec<bool>>,
    pub(super) parts: Vec<Part>,
    pub(super) limit: u64,
    pub(crate) receipt: Receipt,
    /// The rows of the part, in an engine that plans a single part.
    pub(super) alone: Option<Vec<RecordBatch>>,
    /// The plan of that part.
    pub(super) plan: Option<RemotePlan>,
}

fn integers(batch: &RecordBatch, column: usize) -> Result<Vec<i64>> {
    let array = batch.column(column);
    let odd = || Error::bug("a system answers with something else than numbers");
    if array.null_count() > 0 {
        return Err(odd());
    }
    match array.data_type() {
        DataType::Int32 => {
            Ok(array.as_primitive::<Int32Type>().values().iter().map(|&n| i64::from(n)).collect())
        }
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().values().to_vec()),
        _ => Err(odd()),
    }
}

/// A cell of the coarse fold: its position on each quasi-identifier, and its rows and records.
#[derive(Clone, Debug)]
struct Cell {
    at: Vec<i64>,
    rows: u64,
    records: u64,
}

/// Finds the best cut of a part with these cells: the quasi-identifier and the index of the border.
/// The quasi-identifier of which the part covers the largest share of leaves comes first. The
/// chosen border is the nearest to the median of the rows that leaves enough records on both sides.
fn cut(
    part: &Part,
    cells: &[Cell],
    borders: &[Vec<i64>],
    leaves: &[u32],
    least: u64,
) -> Option<(usize, usize)> {
    let width = |q: &usize| (part[*q].1 - part[*q].0 + 1) as f64 / f64::from(leaves[*q].max(1));
    let mut order: Vec<usize> = (0..part.len()).collect();
    order.sort_by(|a, b| width(b).total_cmp(&width(a)));
    let rows: u64 = cells.iter().map(|cell| cell.rows).sum();
    let records: u64 = cells.iter().map(|cell| cell.records).sum();
    let best = |q: usize, floor: u64| {
        let inner = (0..borders[q].len())
            .filter(|&b| part[q].0 <= borders[q][b] && borders[q][b] < part[q].1);
        let sides = inner.filter_map(|b| {
            let left = cells.iter().filter(|cell| cell.at[q] <= b as i64);
            let (own, people) =
                left.fold((0, 0), |sum, cell| (sum.0 + cell.rows, sum.1 + cell.records));
            let fits = own.min(rows - own) > floor && people.min(records - people) >= least;
            fits.then(|| (own.abs_diff(rows - own), b))
        });
        sides.min().map(|(_, b)| (q, b))
    };
    // A cut that leaves less than an eighth of the rows on one side is the last resort.
    order.iter().find_map(|&q| best(q, rows / 8)).or_else(|| order.iter().find_map(|&q| best(q, 0)))
}

impl RemoteEngine {
    pub(super) fn parts_of(&mut self) -> Result<&mut dyn RemoteParts> {
        self.store.parts().ok_or_else(|| Error::bug("this system does not part tables"))
    }

    /// Surveys a table. Returns `None` if it need not be planned in parts.
    pub(crate) fn survey(
        &mut self,
        spec: &FoldSpec,
        progress: &dyn Progress,
    ) -> Result<Option<Surveyed>> {
        if spec.person.is_some() || spec.weight.is_some() {
            // Persons and sampling weights cannot be summed across parts. Counting reports an error
            // if there are too many rows.
            return Ok(None);
        }
        progress.step("counting", None);
        let Some(parts) = self.store.parts() else { return Ok(None) };
        let Some((rows, limit)) = parts.too_many(&spec.columns)? else { return Ok(None) };
        progress.step("folding", None);
        parts.fold(&spec.columns)?;
        let mut parting = Parting { spec: spec.clone(), limit, ..Parting::default() };
        let mut folded = Folded::default();
        let mut markers = Vec::new();
        for (i, name) in spec.columns.iter().enumerate() {
            progress.step("reading", None);
            let found = self.parts_of()?.values(i)?;
            let one = FoldSpec {
                columns: vec![name.clone()],
                drop_missing: false,
                passthrough: Vec::new(),
                repeating: Vec::new(),
                ..spec.clone()
            };
            let counted = Counted::new(self.name(), found, &one, progress)?;
            let code = |&row: &u32| counted.folded.codes[row as usize];
            parting
                .values
                .push(counted.kept.iter().copied().zip(counted.of_row.iter().map(code)).collect());
            folded.read = counted.folded.read;
            folded.missing.extend(counted.folded.missing);
            markers.extend(counted.folded.marker);
            folded.columns.extend(counted.folded.columns);
        }
        folded.marker = spec.missing.iter().find(|text| markers.contains(text)).cloned();
        if !spec.repeating.is_empty() {
            folded.repeating = self.repeating(spec)?;
        }
        parting.columns = folded.columns.clone();
        self.parting = Some(parting);
        Ok(Some(Surveyed { rows, limit, folded }))
    }

    /// Cuts the table into parts. `leaves` has for each quasi-identifier the leaf of each code.
    /// `sizes` has the number of leaves of each quasi-identifier. Each part has at least `least`
    /// records. Returns the number of parts and of the records in them.
    // Long, because the cuts refer to the tables that the first half sends to the remote system.
    pub(crate) fn divide(
        &mut self,
        leaves: &[Vec<u32>],
        sizes: &[u32],
        least: u64,
        progress: &dyn Progress,
    ) -> Result<(usize, u64)> {
        let Some(mut parting) = self.parting.take() else {
            return Err(Error::bug("nothing was surveyed"));
        };
        progress.step("cutting into parts", None);
        let schema = [ROW, "code", "leaf"].map(|name| Field::new(name, DataType::Int64, false));
        let schema = std::sync::Arc::new(Schema::new(schema.to_vec()));
        let mut codes: Vec<Rows> = Vec::new();
        for (i, values) in parting.values.iter().enumerate() {
            let leaf =
                |code: u32| leaves.get(i).map_or(0, |leaves| i64::from(leaves[code as usize]));
            let columns = [
                values.iter().map(|(row, _)| *row).collect::<Vec<i64>>(),
                values.iter().map(|(_, code)| i64::from(*code)).collect(),
                values.iter().map(|(_, code)| leaf(*code)).collect(),
            ];
            let columns =
                columns.map(|column| std::sync::Arc::new(Int64Array::from(column)) as ArrayRef);
            let batch = RecordBatch::try_new(schema.clone(), columns.to_vec());
            codes.push((
                schema.clone(),
                vec![batch.map_err(|e| Error::bug(format!("codes do not fit: {e}")))?],
            ));
        }
        parting.values = Vec::new();
        let (spec, limit) = (parting.spec.clone(), parting.limit);
        let parts = self.parts_of()?;
        parts.place(&codes, leaves.len(), spec.drop_missing)?;
        drop(codes);
        parting.lines =
            parting.columns.iter().map(|column| vec![false; column.texts.len()]).collect();
        for (line, codes) in parting.lines.iter_mut().zip(parts.codes()?) {
            codes.into_iter().for_each(|code| line[code as usize] = true);
        }
        let mut records = None;
        let mut waiting: Vec<Part> = vec![sizes.iter().map(|&n| (0, i64::from(n) - 1)).collect()];
        // The number of pieces per quasi-identifier keeps the coarse fold near 2¹⁶ cells.
        let pieces =
            65536f64.powf(1.0 / leaves.len().max(1) as f64).floor().clamp(2.0, 64.0) as usize;
        while let Some(part) = waiting.pop() {
            let borders = parts.borders(&part, pieces)?;
            let (_, batches) = parts.cells(&part, &borders)?;
            let mut cells: Vec<Cell> = Vec::new();
            for batch in &batches {
                let columns = (0..batch.num_columns())
                    .map(|i| integers(batch, i))
                    .collect::<Result<Vec<_>>>()?;
                let [at @ .., rows, records] = &columns[..] else {
                    return Err(Error::bug("a coarse fold without counts"));
                };
                cells.extend((0..batch.num_rows()).map(|i| Cell {
                    at: at.iter().map(|column| column[i]).collect(),
                    rows: rows[i] as u64,
                    records: records[i] as u64,
                }));
            }
            records.get_or_insert_with(|| cells.iter().map(|cell| cell.records).sum::<u64>());
            let mut open = vec![(part.clone(), cells)];
            while let Some((own, cells)) = open.pop() {
                if cells.iter().map(|cell| cell.rows).sum::<u64>() <= limit {
                    parting.parts.push(own);
                    continue;
                }
                match cut(&own, &cells, &borders, sizes, least) {
                    Some((q, border)) => {
                        let (left, right) =
                            cells.into_iter().partition(|cell| cell.at[q] <= border as i64);
                        let (mut low, mut high) = (own.clone(), own);
                        (low[q].1, high[q].0) = (borders[q][border], borders[q][border] + 1);
                        open.extend([(high, right), (low, left)]);
                    }
                    None if own != part => waiting.push(own),
                    None => {
                        return Err(Error::resources(format!(
                            "the table cannot be cut into parts of at most {limit} distinct rows that each satisfy the models"
                        ))
                        .help("allow more rows, or give fewer or coarser columns"));
                    }
                }
            }
        }
        let found = parting.parts.len();
        self.parting = Some(parting);
        Ok((found, records.unwrap_or_default()))
    }

    /// Fetches and folds a part.
    pub(crate) fn part(&mut self, part: usize) -> Result<Folded> {
        let unknown = || Error::bug("there is no such part");
        let own =
            self.parting.as_ref().and_then(|p| p.parts.get(part)).cloned().ok_or_else(unknown)?;
        let batches = match self.parting.as_mut().and_then(|p| p.alone.as_mut()) {
            Some(alone) => std::mem::take(alone),
            None => self.parts_of()?.rows(&own)?.1,
        };
        let parting = self.parting.as_ref().ok_or_else(unknown)?;
        let width = parting.columns.len();
        let mut counted = Counted::default();
        let folded = &mut counted.folded;
        for batch in batches {
            let columns =
                (0..width + 2).map(|i| integers(&batch, i)).collect::<Result<Vec<_>>>()?;
            for row in 0..batch.num_rows() {
                counted.of_row.push(folded.weights.len() as u32);
                folded.codes.extend(columns[..width].iter().map(|column| column[row] as u32));
                folded.weights.push(columns[width][row] as u64);
            }
            counted.records.extend(columns[width].iter().map(|&n| n as u64));
            counted.kept.extend(&columns[width + 1]);
        }
        folded.read = folded.records();
        folded.missing = vec![0; width];
        folded.columns = parting.columns.clone();
        folded.lines = Some(parting.lines.clone());
        let folded = counted.folded.clone();
        counted.folded = Folded::default();
        self.last = Some(counted);
        Ok(folded)
    }

    /// Writes the plans of all parts as one table.
    pub(crate) fn write_parts(&mut self) -> Result<Receipt> {
        let Some(parting) = self.parting.take() else {
            return Err(Error::bug("nothing was parted"));
        };
        let written = self.parts_of()?.write()?;
        match written == parting.receipt.published {
            true => Ok(parting.receipt),
            false => Err(Error::resources(format!(
                "{written} records were written where {} should be: nothing was published",
                parting.receipt.published
            ))),
        }
    }
}
