//! One or several runs of the division on copies of the same table.

use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Condensed, Dataset, Partition, Progress, Result, RowId, Span};
use rayon::prelude::*;

use super::part::{Leaves, Splitter};
use super::space::{self, Unit, WorkingRows};
use super::{Cut, Mondrian, collect};

/// In larger tables the runs are sequential, each on all threads, because every run needs memory
/// for two copies of the rows.
const MAX_PARALLEL_ROWS: usize = 4 << 20;

/// The rule by which the next quasi-identifier is chosen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// The one with the greatest penalty times this factor.
    Widest(Vec<f64>),
    /// Each in turn.
    RoundRobin,
    /// The first of these that can be divided.
    Order(Vec<usize>),
}

/// The final parts of one run.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    leaves: Vec<Leaves>,
    /// The sum of the certainty penalties of all cells, multiplied by the importance of the
    /// columns. A suppressed record has the full penalty in every cell.
    pub(crate) cost: f64,
    /// The cost without the columns in regular intervals: a lower bound of the cost with any other
    /// intervals of those columns.
    pub(crate) lower_bound: f64,
}

impl RunOutcome {
    /// Returns the parts as groups.
    pub(crate) fn partition(&self, data: &Dataset) -> Result<Partition> {
        collect(data, &self.leaves)
    }

    /// Returns the parts of a condensed table as groups of the original table.
    pub(crate) fn expanded(&self, data: &Dataset, condensed: &Condensed) -> Result<Partition> {
        let (spans, ends, rows) = self.bounds(data, condensed);
        let width = data.quasi().len();
        let mut partition = Partition::new(width, data.rows());
        let mut start = 0;
        for (group, &end) in ends.iter().enumerate() {
            let own = spans[group * width..(group + 1) * width].iter();
            let own: Vec<Span> = own.map(|&(lo, hi)| Span { lo: Code(lo), hi: Code(hi) }).collect();
            partition.add(&own, rows[start..end].iter().map(|&row| RowId(row)))?;
            start = end;
        }
        Ok(partition)
    }

    /// Returns the cost of the parts of a condensed table if the original table is published, with
    /// the tightest cells of its domains.
    pub(crate) fn expanded_cost(&self, data: &Dataset, condensed: &Condensed) -> f64 {
        let (spans, ends, rows) = self.bounds(data, condensed);
        let width = data.quasi().len();
        let (mut cost, mut kept, mut start) = (0.0, 0, 0);
        for (group, &end) in ends.iter().enumerate() {
            let records: u64 = rows[start..end].iter().map(|&row| data.weight(row as usize)).sum();
            let cells = spans[group * width..(group + 1) * width].iter().zip(data.quasi());
            let record: f64 =
                cells.map(|(&(lo, hi), q)| q.weight * q.domain.ncp(Code(lo), Code(hi))).sum();
            cost += record * records as f64;
            kept += records;
            start = end;
        }
        let importance: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
        cost + data.records().saturating_sub(kept) as f64 * importance
    }

    /// Returns the tight spans of each group, the end of its rows, and the rows of all groups.
    /// Within a group, rows are in table order.
    fn bounds(&self, data: &Dataset, condensed: &Condensed) -> Bounds {
        let width = data.quasi().len();
        let mut group_of = vec![u32::MAX; condensed.data.rows()];
        let mut groups = 0u32;
        for part in &self.leaves {
            let mut start = 0;
            for &end in &part.ends {
                part.rows[start..end].iter().for_each(|&row| group_of[row as usize] = groups);
                groups += 1;
                start = end;
            }
        }
        let mut spans = vec![(u32::MAX, 0); groups as usize * width];
        let mut next = vec![0usize; groups as usize + 1];
        let group = |row: usize| group_of[condensed.of_row[row] as usize];
        for row in (0..data.rows()).filter(|&row| group(row) != u32::MAX) {
            let own = group(row) as usize;
            next[own + 1] += 1;
            let spans = spans[own * width..(own + 1) * width].iter_mut();
            spans.zip(data.quasi_codes(row)).for_each(|(span, &code)| {
                *span = (span.0.min(code), span.1.max(code));
            });
        }
        (0..groups as usize).for_each(|group| next[group + 1] += next[group]);
        let ends = next[1..].to_vec();
        let mut rows = vec![0u32; ends.last().copied().unwrap_or(0)];
        for row in (0..data.rows()).filter(|&row| group(row) != u32::MAX) {
            let place = &mut next[group(row) as usize];
            rows[*place] = row as u32;
            *place += 1;
        }
        (spans, ends, rows)
    }

    fn rows(&self) -> usize {
        self.leaves.iter().map(|part| part.rows.len()).sum()
    }
}

/// The spans, ends and rows of groups.
type Bounds = (Vec<(u32, u32)>, Vec<usize>, Vec<u32>);

/// The data that all runs share. The rows are laid out once.
#[derive(Debug)]
pub(crate) struct Runs<'a> {
    data: &'a Dataset,
    models: &'a [Box<dyn BoundModel>],
    mondrian: &'a Mondrian,
    suppressible: u64,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Narrow(WorkingRows<u16>),
    Wide(WorkingRows<u32>),
}

impl<'a> Runs<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        mondrian: &'a Mondrian,
        suppressible: u64,
    ) -> Runs<'a> {
        let sensitive = models.iter().any(|model| crate::exceeds_counting(&**model));
        let sorted = mondrian.cut == Cut::Relaxed;
        // If only records are counted, rows that differ only in sensitive values are merged.
        let counted =
            !sensitive && !sorted && data.persons().is_none() && !data.has_sampling_weights();
        let rows = match (space::is_narrow(data), counted) {
            (true, true) => Rows::Narrow(WorkingRows::counted(data)),
            (true, false) => Rows::Narrow(WorkingRows::load(data, None, sensitive, sorted)),
            (false, true) => Rows::Wide(WorkingRows::counted(data)),
            (false, false) => Rows::Wide(WorkingRows::load(data, None, sensitive, sorted)),
        };
        Runs { data, models, mondrian, suppressible, rows }
    }

    /// Divides the table by one rule. Consumes the rows instead of copying them.
    pub(crate) fn only(mut self, choice: &Choice, progress: &dyn Progress) -> RunOutcome {
        if self.suppressible > 0 {
            return self.one(choice, progress);
        }
        progress.step("dividing", Some(self.data.rows() as u64));
        match std::mem::replace(&mut self.rows, Rows::Narrow(WorkingRows::default())) {
            Rows::Narrow(space) => self.divide_rows(space.with_spare(), choice, 0, progress),
            Rows::Wide(space) => self.divide_rows(space.with_spare(), choice, 0, progress),
        }
    }

    /// Divides the table by one rule.
    pub(crate) fn one(&self, choice: &Choice, progress: &dyn Progress) -> RunOutcome {
        progress.step("dividing", Some(self.data.rows() as u64));
        let divided = self.divide(choice, self.suppressible, progress);
        if divided.rows() == self.data.rows() {
            return divided;
        }
        progress.step("dividing without suppression", Some(self.data.rows() as u64));
        self.cheaper(divided, choice, progress)
    }

    /// Divides the table by several rules. The outcomes are in the order of the rules.
    pub(crate) fn all(
        &self,
        name: &str,
        choices: &[Choice],
        progress: &dyn Progress,
    ) -> Vec<RunOutcome> {
        progress.step(name, Some((self.data.rows() * choices.len()) as u64));
        let run = |choice: &Choice| {
            let divided = self.divide(choice, self.suppressible, progress);
            if divided.rows() == self.data.rows() {
                divided
            } else {
                self.cheaper(divided, choice, &incrowd_core::Silent)
            }
        };
        if self.data.rows() > MAX_PARALLEL_ROWS {
            choices.iter().map(run).collect()
        } else {
            choices.par_iter().map(run).collect()
        }
    }

    /// Returns the cheaper of two divisions, with and without suppression. Suppression is decided
    /// greedily, one division ahead, and may cost more than it saves.
    fn cheaper(&self, divided: RunOutcome, choice: &Choice, progress: &dyn Progress) -> RunOutcome {
        let unsuppressed = self.divide(choice, 0, progress);
        if divided.cost < unsuppressed.cost { divided } else { unsuppressed }
    }

    fn divide(&self, choice: &Choice, suppressible: u64, progress: &dyn Progress) -> RunOutcome {
        match &self.rows {
            Rows::Narrow(space) => self.divide_rows(space.copy(), choice, suppressible, progress),
            Rows::Wide(space) => self.divide_rows(space.copy(), choice, suppressible, progress),
        }
    }

    fn divide_rows<U: Unit>(
        &self,
        mut space: WorkingRows<U>,
        choice: &Choice,
        suppressible: u64,
        progress: &dyn Progress,
    ) -> RunOutcome {
        let (data, layout) = (self.data, space.layout);
        let mut splitter =
            Splitter::new(data, self.models, self.mondrian, choice, layout, progress);
        splitter.alike = space.alike.clone();
        self.outcome(splitter.run(&mut space, suppressible))
    }

    fn outcome(&self, leaves: Vec<Leaves>) -> RunOutcome {
        let data = self.data;
        let cost = leaves.iter().map(|part| part.cost).sum::<f64>();
        let lower_bound = cost - leaves.iter().map(|part| part.regular_cost).sum::<f64>();
        let mut outcome = RunOutcome { leaves, cost, lower_bound };
        if outcome.rows() < data.rows() {
            let kept: u64 = outcome.leaves.iter().flat_map(|part| &part.records).sum();
            let importance: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
            let suppressed = data.records().saturating_sub(kept) as f64 * importance;
            outcome.cost += suppressed;
            outcome.lower_bound += suppressed;
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::model::PrivacyModel;
    use incrowd_core::{ColumnSpec, Folded, SensitiveSpec, Silent, Value};
    use proptest::prelude::*;

    proptest! {
        /// Rows that differ only in sensitive values may be merged before the division, and codes
        /// may take two or four bytes.
        #[test]
        fn merged_rows_and_wide_codes_give_the_same_parts(
            table in prop::collection::vec((0u8..5, 0u8..5, 0u8..4), 4..150),
            k in 1i64..6,
            suppressible in prop_oneof![Just(0u64), 1u64..9],
        ) {
            let text =
                |(a, b, s): &(u8, u8, u8)| [a.to_string(), b.to_string(), format!("s{s}")];
            let texts: Vec<[String; 3]> = table.iter().map(text).collect();
            let records = texts.iter().map(|r| r.iter().map(|t| Some(t.as_str())).collect());
            let folded = Folded::from_records(&["a", "b", "s"], records, false);
            let (spec, sensitive) = (ColumnSpec::default(), SensitiveSpec::default());
            let data = Dataset::encode(folded, &[&spec, &spec], &[&sensitive], "?").unwrap();
            let given = [("k".to_owned(), Value::Integer(k))];
            let privacy_model = PrivacyModel::new("k-anonymity", given).unwrap();
            let models = [privacy_model.model.bind(&data).unwrap()];
            let mondrian = Mondrian::default();
            let merged = Runs::new(&data, &models, &mondrian, suppressible);
            let is_expected = matches!(
                &merged.rows,
                Rows::Narrow(space) if space.rows.len() / space.layout.stride <= data.rows()
            );
            prop_assert!(is_expected);
            let merged = merged.one(&Choice::RoundRobin, &Silent);
            let groups = merged.partition(&data).unwrap();
            let others = [
                Rows::Narrow(WorkingRows::load(&data, None, false, false)),
                Rows::Wide(WorkingRows::counted(&data)),
            ];
            for rows in others {
                let other = Runs { rows, ..Runs::new(&data, &models, &mondrian, suppressible) };
                let other = other.one(&Choice::RoundRobin, &Silent);
                // Costs are sums of other terms if other parts are divided in parallel.
                prop_assert!((merged.cost - other.cost).abs() < 1e-9);
                let other = other.partition(&data).unwrap();
                for row in 0..data.rows() {
                    prop_assert_eq!(groups.group(row), other.group(row));
                }
                prop_assert_eq!(groups.groups(), other.groups());
            }
        }
    }
}
