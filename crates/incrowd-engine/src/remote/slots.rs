//! Converts a plan to tables for another system.
//!
//! A *output row* is one distinct combination of published cells: the cells of a group and the sensitive
//! values. Without passthrough columns, the output rows with their numbers of records are the whole
//! release. With passthrough columns, persons or sampling weights, each kept row has *slots*. The
//! records of a row are put in random order once. A slot assigns an output row to an interval of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use incrowd_core::{Error, GroupId, Plan, Result};

use super::counted::{Counted, DROPPED};
use super::{FIRST, FROM, OUTPUT_ROW, RANK, RECORDS, ROW, RemotePlan, TO, WHOLE};
use crate::cells::{Cells, Texts, ranks};
use crate::order::generator;
use crate::sink::{Block, Renderer, Rows};
use crate::source::Format;
use crate::table::assign::Draws;
use crate::{Content, Dialect, Order, Output, Receipt};

/// The number of output rows per batch.
const BATCH: usize = 1 << 15;
/// The maximum number of records per row of the table of output rows. It balances the tasks of the other
/// system.
const MOST: u64 = 1 << 16;

/// The distinct output rows of a plan.
struct OutputRows {
    /// For each output row, a row of the table that has it.
    rows: Vec<u32>,
    records: Vec<u64>,
    /// For each row, the index of its output row.
    of_row: Vec<u32>,
}

/// The output row of a row that is not published.
const NONE: u32 = u32::MAX;

impl OutputRows {
    fn new(plan: &Plan<'_>) -> OutputRows {
        let data = plan.dataset();
        let mut known: HashMap<(u32, Vec<u32>), u32, FixedState> = HashMap::default();
        let mut output_rows = OutputRows {
            rows: Vec::new(),
            records: Vec::new(),
            of_row: Vec::with_capacity(data.rows()),
        };
        for row in 0..data.rows() {
            let Some(group) = plan.partition().group(row) else {
                output_rows.of_row.push(NONE);
                continue;
            };
            let fresh = output_rows.rows.len() as u32;
            let output_row =
                *known.entry((group.0, data.sensitive_codes(row).to_vec())).or_insert(fresh);
            if output_row == fresh {
                output_rows.rows.push(row as u32);
                output_rows.records.push(0);
            }
            output_rows.records[output_row as usize] += data.weight(row);
            output_rows.of_row.push(output_row);
        }
        output_rows
    }
}

/// A range of output rows, as rows to render.
struct SlotRecords<'a> {
    cells: &'a Cells<'a>,
    rows: &'a [u32],
}

impl Rows for SlotRecords<'_> {
    type Row = (u32, GroupId);

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, index: usize) -> Self::Row {
        self.cells.row(self.rows[index])
    }

    fn cell(&self, row: Self::Row, column: usize) -> Option<&[u8]> {
        self.cells.columns[column].1.get(self.cells.code(row, column))
    }

    fn texts(&self, column: usize) -> Option<&Arc<Texts>> {
        self.cells.texts(column)
    }

    fn codes(&self, rows: &[Self::Row], column: usize, out: &mut Vec<u32>) {
        out.extend(rows.iter().map(|row| self.cells.code(*row, column)));
    }
}

fn integers(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn with_numbers(schema: &SchemaRef, names: &[&str]) -> SchemaRef {
    let numbers = names.iter().map(|name| Arc::new(Field::new(*name, DataType::Int64, false)));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain(numbers).collect::<Vec<_>>()))
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|e| Error::bug(format!("a plan does not fit: {e}")))
}

/// Converts a plan. `schema` has the types of the published columns. `last` is the fold whose rows
/// are kept.
pub(super) fn tables(
    plan: &Plan<'_>,
    output: &Output,
    types: &[DataType],
    last: Option<&Counted>,
) -> Result<(RemotePlan, Receipt)> {
    let carried = |content: &Content| *content == Content::Passthrough;
    let carries = output.columns.iter().any(|(_, content)| carried(content));
    let planned = output.columns.iter().zip(types).filter(|((_, content), _)| !carried(content));
    let described: Vec<(String, DataType)> =
        planned.clone().map(|((name, _), data_type)| (name.clone(), data_type.clone())).collect();
    let own =
        Output { columns: planned.map(|(column, _)| column.clone()).collect(), ..output.clone() };
    let renderer =
        Renderer::new("plan.arrow".as_ref(), Format::Arrow, &described, Dialect::default());
    let Renderer::Arrow(schema) = &renderer else {
        return Err(Error::bug("a plan is a typed table"));
    };
    let cells = Cells::new(plan, &own, &renderer, None);
    let output_rows = OutputRows::new(plan);
    let ranks =
        if output.order == Order::Sorted { ranks(plan) } else { vec![0; plan.dataset().rows()] };
    let (persons, weights) =
        (plan.dataset().persons().is_some(), plan.dataset().has_sampling_weights());
    let replays = carries || persons || weights;
    let (slots, receipt) = match replays {
        true => {
            let last = last.filter(|last| last.kept.len() == last.of_row.len());
            let last =
                last.ok_or_else(|| Error::bug("records are read again that were not kept"))?;
            let (slots, receipt) = slots(plan, &output_rows, last)?;
            (Some(slots), receipt)
        }
        false => {
            let published = output_rows.records.iter().sum();
            (None, Receipt { published, suppressed: plan.dataset().records() - published })
        }
    };
    let names: &[&str] =
        if replays { &[OUTPUT_ROW, RANK] } else { &[OUTPUT_ROW, RANK, RECORDS, FIRST] };
    let schema = with_numbers(schema, names);
    let mut first = 0;
    // The pieces of each output row: its index, its number of records, and the number of records before
    // it.
    let mut pieces: Vec<(u32, u64, u64)> = Vec::with_capacity(output_rows.rows.len());
    for (output_row, &records) in output_rows.records.iter().enumerate() {
        let mut left = if replays { 1 } else { records };
        while left > 0 {
            let own = left.min(MOST);
            pieces.push((output_row as u32, own, first));
            (left, first) = (left - own, first + own);
        }
    }
    let mut batches = Vec::with_capacity(pieces.len().div_ceil(BATCH));
    for pieces in pieces.chunks(BATCH) {
        let rows: Vec<u32> =
            pieces.iter().map(|(output_row, ..)| output_rows.rows[*output_row as usize]).collect();
        let mut columns = match described.is_empty() {
            true => Vec::new(),
            false => match renderer.render(&SlotRecords { cells: &cells, rows: &rows })? {
                Block::Batch(batch) => batch.columns().to_vec(),
                _ => return Err(Error::bug("a plan is a typed table")),
            },
        };
        columns.push(integers(pieces.iter().map(|(output_row, ..)| i64::from(*output_row))));
        columns.push(integers(rows.iter().map(|row| i64::from(ranks[*row as usize]))));
        if !replays {
            columns.push(integers(pieces.iter().map(|(_, records, _)| *records as i64)));
            columns.push(integers(pieces.iter().map(|(_, _, first)| *first as i64)));
        }
        batches.push(batch(&schema, columns)?);
    }
    let columns =
        output.columns.iter().map(|(name, content)| (name.clone(), carried(content))).collect();
    let (output_rows, order, records) = ((schema, batches), output.order, receipt.published);
    Ok((RemotePlan { columns, output_rows, slots, persons, weights, order, records }, receipt))
}

/// Makes the slots of each kept row.
fn slots(
    plan: &Plan<'_>,
    output_rows: &OutputRows,
    last: &Counted,
) -> Result<(super::Rows, Receipt)> {
    let changed = || Error::bug("the plan is for another fold than the one that was kept");
    let (data, partition) = (plan.dataset(), plan.partition());
    let draws = Draws::new(plan);
    let mut rng = generator();
    let mut receipt = Receipt::default();
    let mut numbers: [Vec<i64>; 5] = Default::default();
    let divided: hashbrown::HashSet<u32, FixedState> =
        partition.divided().iter().map(|part| part.row.0).collect();
    for ((&row, &records), &kept) in last.of_row.iter().zip(&last.records).zip(&last.kept) {
        if row == DROPPED {
            continue;
        }
        // The number of records of this row for each row of the plan. Nearly always all of them go
        // to one.
        let mut parts: Vec<(u32, u64)> = Vec::new();
        let mut left = records;
        while left > 0 {
            let found = match draws.left(row, &mut rng) {
                None => None,
                Some(row) => Some(data.row_of_fold(row).ok_or_else(changed)?),
            };
            let plain =
                plan.suppressed().is_none() && found.is_some_and(|row| !divided.contains(&row.0));
            let own = if plain { left } else { 1 };
            left -= own;
            let Some(found) = found else { continue };
            let found = draws.part(found.0, &mut rng);
            match parts.iter_mut().find(|(part, _)| *part == found) {
                Some((_, n)) => *n += own,
                None => parts.push((found, own)),
            }
        }
        if (data.persons().is_some() || data.has_sampling_weights())
            && parts.iter().any(|(_, n)| *n != records)
        {
            return Err(Error::bug(
                "a row was divided, but it is not known which of its records belong to which person or weight",
            ));
        }
        let mut next = 1;
        for (row, n) in parts {
            if partition.group(row as usize).is_none() {
                receipt.suppressed += n;
                continue;
            }
            receipt.published += n;
            let n = n as i64;
            let slot = [
                kept,
                next,
                next + n - 1,
                i64::from(output_rows.of_row[row as usize]),
                i64::from(n as u64 == records),
            ];
            numbers.iter_mut().zip(slot).for_each(|(column, number)| column.push(number));
            next += n;
        }
    }
    let schema = with_numbers(&Arc::new(Schema::empty()), &[ROW, FROM, TO, OUTPUT_ROW, WHOLE]);
    let columns = numbers.map(integers).to_vec();
    let batches = vec![batch(&schema, columns)?];
    Ok(((schema, batches), receipt))
}
