//! The state of the models for a group that rows join and leave.

use incrowd_core::GroupSummary;
use incrowd_core::model::Running;

use super::check::ModelCheck;

/// The counts of a group that the models need.
#[derive(Debug)]
pub(crate) struct GroupState<'a> {
    /// For stateless models. Contains only the number of records if there are none.
    summary: GroupSummary,
    /// For incremental models, with their sensitive column.
    running: Vec<(usize, Box<dyn Running + 'a>)>,
    /// A buffer for the counts of a column's values. All zero between uses.
    counts: Vec<u64>,
    /// The values with a count above zero.
    occurring: Vec<u32>,
}

impl<'a> GroupState<'a> {
    pub(crate) fn new(check: &ModelCheck<'a>) -> GroupState<'a> {
        let columns = if check.stateless.is_empty() { 0 } else { check.data.sensitive().len() };
        GroupState {
            summary: GroupSummary::empty(columns),
            running: check.running(),
            counts: Vec::new(),
            occurring: Vec::new(),
        }
    }

    pub(crate) fn records(&self) -> u64 {
        self.summary.records
    }

    /// Replaces the counts with those of these rows. `records` is their number of records.
    pub(crate) fn recount(&mut self, check: &ModelCheck<'a>, rows: &[u32], records: u64) {
        self.summary = GroupSummary::empty(self.summary.sensitive.len());
        if check.stateless.is_empty() {
            self.summary.records = records;
        } else {
            rows.iter().for_each(|&row| check.count(&mut self.summary, row));
        }
        // One call per value is faster than one per row.
        for (column, running) in &mut self.running {
            running.clear();
            let values = check.data.sensitive()[*column].values.len();
            self.counts.resize(values.max(self.counts.len()), 0);
            for &row in rows {
                let code = check.data.sensitive_codes(row as usize)[*column];
                let count = &mut self.counts[code as usize];
                if *count == 0 {
                    self.occurring.push(code);
                }
                *count += check.data.weight(row as usize);
            }
            for code in self.occurring.drain(..) {
                running.add(code, std::mem::take(&mut self.counts[code as usize]));
            }
        }
    }

    /// Returns whether the incremental models, all of one column, admit a group with these value
    /// counts. Replaces all previous counts.
    pub(super) fn admits_counted(&mut self, counts: &[u64], records: u64) -> bool {
        if self.running.iter().any(|(_, running)| running.refuses(counts, records)) {
            return false;
        }
        self.running.iter_mut().all(|(_, running)| {
            running.clear();
            for (code, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                running.add(code as u32, count);
            }
            running.admits()
        })
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, check: &ModelCheck<'a>, row: u32) {
        let (count, codes) =
            (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        check.count(&mut self.summary, row);
        self.running.iter_mut().for_each(|(column, running)| running.add(codes[*column], count));
    }

    /// Removes a row that was added before.
    pub(crate) fn remove(&mut self, check: &ModelCheck<'a>, row: u32) {
        let (count, codes) =
            (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        if check.stateless.is_empty() {
            self.summary.records -= count;
        } else {
            self.summary.remove(&row_summary(check, row));
        }
        self.running.iter_mut().for_each(|(column, running)| running.remove(codes[*column], count));
    }

    /// Returns whether the models admit the group, which has these rows.
    pub(crate) fn admits(&self, check: &ModelCheck<'a>, rows: &[u32]) -> bool {
        self.records() >= check.min_records
            && check.has_enough_persons(rows.iter().copied())
            && self.running.iter().all(|(_, running)| running.admits())
            && (check.stateless.is_empty()
                || check.admits_summary(self.summary.clone(), || rows.to_vec()))
    }

    /// Returns whether the models admit the group, which has these rows, with one more row.
    pub(crate) fn admits_with(&self, check: &ModelCheck<'a>, rows: &[u32], row: u32) -> bool {
        let (count, codes) =
            (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        if self.records() + count < check.min_records
            || !check.has_enough_persons(rows.iter().copied().chain([row]))
        {
            return false;
        }
        if !self.running.iter().all(|(column, running)| running.admits_with(codes[*column], count))
        {
            return false;
        }
        check.stateless.is_empty() || {
            let mut summary = self.summary.clone();
            check.count(&mut summary, row);
            check.admits_summary(summary, || rows.iter().copied().chain([row]).collect())
        }
    }

    /// Returns whether the models admit the group, which has these rows, without the row at `at`.
    pub(crate) fn admits_without(&self, check: &ModelCheck<'a>, rows: &[u32], at: usize) -> bool {
        let row = rows[at];
        let (count, codes) =
            (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        if rows.len() == 1 || self.records() < check.min_records + count {
            return false;
        }
        let others = || rows.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &row)| row);
        if !check.has_enough_persons(others()) {
            return false;
        }
        if !self
            .running
            .iter()
            .all(|(column, running)| running.admits_without(codes[*column], count))
        {
            return false;
        }
        check.stateless.is_empty() || {
            let mut summary = self.summary.clone();
            summary.remove(&row_summary(check, row));
            check.admits_summary(summary, || others().collect())
        }
    }
}

fn row_summary(check: &ModelCheck<'_>, row: u32) -> GroupSummary {
    let mut summary = GroupSummary::empty(check.data.sensitive().len());
    summary.add_row(check.data, row as usize);
    summary
}
