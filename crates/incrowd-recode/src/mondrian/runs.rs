//! Running the division, once or in several ways, on one working copy of the table.

use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Partition, Progress, Result};
use rayon::prelude::*;

use super::part::{Leaves, Splitter};
use super::space::{self, Space, Unit};
use super::{Cut, Mondrian, collect};

/// With more rows than this the ways are gone one after another, each on all threads: every one of them needs room for two
/// copies of the rows.
const TOGETHER_ROWS: usize = 4 << 20;

/// Which quasi-identifier is divided next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// The one with the greatest penalty times its weight.
    Widest(Vec<f64>),
    /// Each in turn.
    RoundRobin,
    /// The first of these that can be divided.
    Order(Vec<usize>),
}

/// The parts that one way of dividing the table ends with.
#[derive(Debug)]
pub(crate) struct Outcome {
    leaves: Vec<Leaves>,
    /// The certainty penalties of all cells, columns weighted, a suppressed record costing every cell.
    pub(crate) cost: f64,
}

impl Outcome {
    /// The parts as groups.
    pub(crate) fn partition(&self, data: &Dataset) -> Result<Partition> {
        collect(data, &self.leaves)
    }

    fn rows(&self) -> usize {
        self.leaves.iter().map(|part| part.rows.len()).sum()
    }
}

/// What all ways have in common. The rows are laid out once.
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
    Narrow(Space<u16>),
    Wide(Space<u32>),
}

impl<'a> Runs<'a> {
    pub(crate) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        mondrian: &'a Mondrian,
        suppressible: u64,
    ) -> Runs<'a> {
        let sensitive = models.iter().any(|model| model.least_records().is_none());
        let sorted = mondrian.cut == Cut::Relaxed;
        let rows = if space::is_narrow(data) {
            Rows::Narrow(Space::load(data, sensitive, sorted))
        } else {
            Rows::Wide(Space::load(data, sensitive, sorted))
        };
        Runs { data, models, mondrian, suppressible, rows }
    }

    /// Divides the table in one way.
    pub(crate) fn one(&self, choice: &Choice, progress: &dyn Progress) -> Outcome {
        progress.step("dividing", Some(self.data.rows() as u64));
        let divided = self.divide(choice, self.suppressible, progress);
        if divided.rows() == self.data.rows() {
            return divided;
        }
        progress.step("dividing without suppression", Some(self.data.rows() as u64));
        self.cheaper(divided, choice, progress)
    }

    /// Divides the table in several ways, the outcomes in their order.
    pub(crate) fn all(&self, name: &str, choices: &[Choice], progress: &dyn Progress) -> Vec<Outcome> {
        progress.step(name, Some((self.data.rows() * choices.len()) as u64));
        let run = |choice: &Choice| {
            let divided = self.divide(choice, self.suppressible, progress);
            if divided.rows() == self.data.rows() {
                divided
            } else {
                self.cheaper(divided, choice, &incrowd_core::Silent)
            }
        };
        if self.data.rows() > TOGETHER_ROWS {
            choices.iter().map(run).collect()
        } else {
            choices.par_iter().map(run).collect()
        }
    }

    /// Greedy suppression looks one division ahead and may cost more than it saves; then nothing is suppressed.
    fn cheaper(&self, divided: Outcome, choice: &Choice, progress: &dyn Progress) -> Outcome {
        let whole = self.divide(choice, 0, progress);
        if divided.cost < whole.cost { divided } else { whole }
    }

    fn divide(&self, choice: &Choice, suppressible: u64, progress: &dyn Progress) -> Outcome {
        match &self.rows {
            Rows::Narrow(space) => self.divide_copy(space.copy(), choice, suppressible, progress),
            Rows::Wide(space) => self.divide_copy(space.copy(), choice, suppressible, progress),
        }
    }

    fn divide_copy<U: Unit>(
        &self,
        mut space: Space<U>,
        choice: &Choice,
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Outcome {
        let (data, layout) = (self.data, space.layout);
        let splitter = Splitter::new(data, self.models, self.mondrian, choice, layout, progress);
        let leaves = splitter.run(&mut space, suppressible);
        let mut outcome = Outcome { cost: leaves.iter().map(|part| part.cost).sum(), leaves };
        if outcome.rows() < data.rows() {
            let kept: u64 = outcome.leaves.iter().map(|part| part.records).sum();
            let weights: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
            outcome.cost += data.records().saturating_sub(kept) as f64 * weights;
        }
        outcome
    }
}
