//! Assigns records to the rows of a plan.
//!
//! A plan refers to rows. It may suppress a number of a row's records at random, or publish them in
//! another group. These records are drawn at random here, so that the order of the input has no
//! influence.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;
use incrowd_core::{Error, Plan, Result};
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::CodedTable;
use crate::order::generator;

/// The ids of records, row by row.
#[derive(Debug)]
pub(crate) struct RecordsByRow {
    /// For each row, the position of its first record in `ids`. The last entry is the end of the
    /// last row.
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl RecordsByRow {
    /// The ids of the records of a row.
    #[inline]
    pub(crate) fn of_row(&self, row: usize) -> &[u32] {
        &self.ids[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Assigns every record that was read to a row of the plan's table, or to none if the record is
    /// suppressed at random.
    pub(crate) fn new(records: &CodedTable, plan: &Plan<'_>) -> Result<RecordsByRow> {
        let data = plan.dataset();
        let mut starts = Vec::with_capacity(data.rows() + 1);
        let mut sum = 0u64;
        for row in 0..data.rows() {
            starts.push(sum as u32);
            sum += data.weight(row);
        }
        starts.push(sum as u32);
        let differs = || Error::bug("records and rows differ in number");
        if sum > u64::from(u32::MAX) {
            return Err(Error::resources("there are too many records with passthrough columns"));
        }
        let next: Vec<AtomicU32> = starts.iter().map(|start| AtomicU32::new(*start)).collect();
        let ids: Vec<AtomicU32> = (0..sum).into_par_iter().map(|_| AtomicU32::new(0)).collect();
        let draws = Draws::new(plan);
        let assigned = records.rows().map(|(first, rows)| {
            let mut rng = generator();
            for (id, &folded) in (first..).zip(rows) {
                let Some(left) = draws.left(folded, &mut rng) else { continue };
                let row = data.row_of_fold(left).ok_or_else(differs)?;
                let row = draws.part(row.0, &mut rng) as usize;
                // The records of a row are in arbitrary order here. They are shuffled or sorted
                // later.
                let at = next[row].fetch_add(1, Ordering::Relaxed);
                if at >= starts[row + 1] {
                    return Err(differs());
                }
                ids[at as usize].store(id, Ordering::Relaxed);
            }
            Ok(())
        });
        assigned.collect::<Result<()>>()?;
        let is_full = |(next, end): (AtomicU32, &u32)| next.into_inner() == *end;
        if !next.into_iter().zip(&starts[1..]).all(is_full) {
            return Err(differs());
        }
        let ids = ids.into_par_iter().map(AtomicU32::into_inner).collect();
        Ok(RecordsByRow { starts, ids })
    }
}

/// Draws without replacement for rows whose records are treated differently.
pub(crate) struct Draws<'a> {
    plan: &'a Plan<'a>,
    /// For rows of the fold: the number of records still to be suppressed, and the number still to
    /// be kept.
    suppressed: HashMap<u32, Mutex<(u64, u64)>>,
    /// For rows of the plan that were divided: the resulting rows, each with the number of records
    /// still to be assigned.
    divided: HashMap<u32, Mutex<Vec<(u32, u64)>>>,
}

impl<'a> Draws<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> Draws<'a> {
        let suppressed =
            plan.suppressed().into_iter().flat_map(|suppressed_rows| suppressed_rows.divided());
        let suppressed = suppressed.map(|(row, counts)| (row, Mutex::new(counts))).collect();
        let (data, parts) = (plan.dataset(), plan.partition().divided());
        let before = data.rows() - parts.len();
        let mut divided: HashMap<u32, Mutex<Vec<(u32, u64)>>> = HashMap::new();
        for (i, part) in parts.iter().enumerate() {
            let whole = || Mutex::new(vec![(part.row.0, data.weight(part.row.index()))]);
            let rows = divided.entry(part.row.0).or_insert_with(whole);
            let rows = rows.get_mut().expect("nobody else holds it");
            rows.push(((before + i) as u32, part.records));
        }
        Draws { plan, suppressed, divided }
    }

    /// Maps a record of a row of the fold to its row among the rows that remain after suppression.
    /// Returns `None` if the record is suppressed.
    pub(crate) fn left(&self, row: u32, rng: &mut ChaCha20Rng) -> Option<u32> {
        let Some(suppressed_rows) = self.plan.suppressed() else { return Some(row) };
        let left = suppressed_rows.row(row as usize)?;
        let Some(counts) = self.suppressed.get(&row) else { return Some(left) };
        let mut counts = counts.lock().expect("no thread panics while it holds a row");
        let (out, stay) = *counts;
        if rng.random_range(0..(out + stay).max(1)) < out {
            counts.0 -= 1;
            return None;
        }
        counts.1 = stay.saturating_sub(1);
        Some(left)
    }

    /// Draws the resulting row for a record of a divided row.
    pub(crate) fn part(&self, row: u32, rng: &mut ChaCha20Rng) -> u32 {
        let Some(lacking) = self.divided.get(&row) else { return row };
        let mut lacking = lacking.lock().expect("no thread panics while it holds a row");
        let total: u64 = lacking.iter().map(|(_, records)| records).sum();
        let mut drawn = rng.random_range(0..total.max(1));
        for (row, records) in lacking.iter_mut() {
            if drawn < *records {
                *records -= 1;
                return *row;
            }
            drawn -= *records;
        }
        row
    }
}
