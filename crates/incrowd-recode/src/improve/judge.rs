//! What the models know of a group that rows join and leave.

use incrowd_core::GroupSummary;
use incrowd_core::model::Running;

use super::check::ModelCheck;

/// A group as the models see it.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    /// For models that judge from scratch; nothing but the number of records if there are none.
    summary: GroupSummary,
    /// For models that keep count, with the sensitive column each is about.
    running: Vec<(usize, Box<dyn Running + 'a>)>,
    /// How often each value of a column occurs among rows that are counted together; zeros otherwise.
    counts: Vec<u64>,
    /// Which of them occur.
    occurring: Vec<u32>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(check: &ModelCheck<'a>) -> Judge<'a> {
        let columns = if check.scratch.is_empty() { 0 } else { check.data.sensitive().len() };
        Judge {
            summary: GroupSummary::empty(columns),
            running: check.running(),
            counts: Vec::new(),
            occurring: Vec::new(),
        }
    }

    pub(crate) fn records(&self) -> u64 {
        self.summary.records
    }

    /// Counts these rows, which have so many records, and forgets all others.
    pub(crate) fn recount(&mut self, check: &ModelCheck<'a>, rows: &[u32], records: u64) {
        self.summary = GroupSummary::empty(self.summary.sensitive.len());
        if check.scratch.is_empty() {
            self.summary.records = records;
        } else {
            rows.iter().for_each(|&row| check.count(&mut self.summary, row));
        }
        // The records of a value come at once, which is quicker than one by one.
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

    /// Whether the models that keep count, all of one column, admit a group in which its values occur so often; what was counted
    /// before is forgotten.
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

    /// Counts a row.
    pub(crate) fn add(&mut self, check: &ModelCheck<'a>, row: u32) {
        let (weight, codes) = (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        check.count(&mut self.summary, row);
        self.running.iter_mut().for_each(|(column, running)| running.add(codes[*column], weight));
    }

    /// Takes away a row that was counted.
    pub(crate) fn remove(&mut self, check: &ModelCheck<'a>, row: u32) {
        let (weight, codes) = (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        if check.scratch.is_empty() {
            self.summary.records -= weight;
        } else {
            self.summary.remove(&one(check, row));
        }
        self.running.iter_mut().for_each(|(column, running)| running.remove(codes[*column], weight));
    }

    /// Whether the models admit the group, which has these rows.
    pub(crate) fn admits(&self, check: &ModelCheck<'a>, rows: &[u32]) -> bool {
        self.records() >= check.least
            && check.reach(rows.iter().copied())
            && self.running.iter().all(|(_, running)| running.admits())
            && (check.scratch.is_empty() || check.admits_summary(self.summary.clone(), || rows.to_vec()))
    }

    /// Whether the models admit the group, which has these rows, with one more.
    pub(crate) fn admits_with(&self, check: &ModelCheck<'a>, rows: &[u32], row: u32) -> bool {
        let (weight, codes) = (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        if self.records() + weight < check.least || !check.reach(rows.iter().copied().chain([row])) {
            return false;
        }
        if !self.running.iter().all(|(column, running)| running.admits_with(codes[*column], weight)) {
            return false;
        }
        check.scratch.is_empty() || {
            let mut summary = self.summary.clone();
            check.count(&mut summary, row);
            check.admits_summary(summary, || rows.iter().copied().chain([row]).collect())
        }
    }

    /// Whether the models admit the group, which has these rows, without the one at this place.
    pub(crate) fn admits_without(&self, check: &ModelCheck<'a>, rows: &[u32], at: usize) -> bool {
        let row = rows[at];
        let (weight, codes) = (check.data.weight(row as usize), check.data.sensitive_codes(row as usize));
        if rows.len() == 1 || self.records() < check.least + weight {
            return false;
        }
        let others = || rows.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &row)| row);
        if !check.reach(others()) {
            return false;
        }
        if !self.running.iter().all(|(column, running)| running.admits_without(codes[*column], weight)) {
            return false;
        }
        check.scratch.is_empty() || {
            let mut summary = self.summary.clone();
            summary.remove(&one(check, row));
            check.admits_summary(summary, || others().collect())
        }
    }
}

fn one(check: &ModelCheck<'_>, row: u32) -> GroupSummary {
    let mut one = GroupSummary::empty(check.data.sensitive().len());
    one.add_row(check.data, row as usize);
    one
}
