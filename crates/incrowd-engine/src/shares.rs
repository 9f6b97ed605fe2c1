//! Which records of a divided row stand apart: drawn at random, so that the order of the input does not decide.

use std::sync::Mutex;

use hashbrown::HashMap;
use incrowd_core::Plan;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;

/// The rows a divided row became, each with the records it still lacks.
pub(crate) struct Shares {
    rows: HashMap<u32, Mutex<Vec<(u32, u64)>>>,
}

impl Shares {
    pub(crate) fn new(plan: &Plan<'_>) -> Shares {
        Shares { rows: fresh(plan).map(|(row, lacking)| (row, Mutex::new(lacking))).collect() }
    }

    /// Gives everything back, for a reading that starts again.
    pub(crate) fn reset(&self, plan: &Plan<'_>) {
        for (row, lacking) in fresh(plan) {
            if let Some(own) = self.rows.get(&row) {
                *own.lock().expect("no worker is left") = lacking;
            }
        }
    }

    /// The row a record of `row` goes to; `None` if more records have the row than were counted.
    pub(crate) fn draw(&self, row: u32, rng: &mut ChaCha20Rng) -> Option<u32> {
        let Some(lacking) = self.rows.get(&row) else { return Some(row) };
        let mut lacking = lacking.lock().expect("no worker panics while it holds a row");
        let total: u64 = lacking.iter().map(|(_, records)| records).sum();
        if total == 0 {
            return None;
        }
        let mut drawn = rng.random_range(0..total);
        for (row, records) in lacking.iter_mut() {
            if drawn < *records {
                *records -= 1;
                return Some(*row);
            }
            drawn -= *records;
        }
        None
    }
}

/// Every divided row with what it became, in no order that matters.
fn fresh(plan: &Plan<'_>) -> impl Iterator<Item = (u32, Vec<(u32, u64)>)> {
    let data = plan.dataset();
    let divided = plan.partition().divided();
    let before = data.rows() - divided.len();
    let mut rows: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
    for (i, part) in divided.iter().enumerate() {
        let whole = || vec![(part.row.0, data.weight(part.row.index()))];
        rows.entry(part.row.0).or_insert_with(whole).push(((before + i) as u32, part.records));
    }
    rows.into_iter()
}
