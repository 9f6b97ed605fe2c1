//! Auto: searches for the least loss within a fixed amount of work.
//!
//! Several algorithms run if they are cheap enough for the size of the table: Mondrian always,
//! Mondrian with each quasi-identifier first, and the climb of `ascent`. The cheapest result is
//! improved by moving records between groups. The result never has a higher loss than that of
//! `mondrian`.
//!
//! The work is counted in comparisons, not in time, so equal tables give equal groups.

mod report;

pub use report::{AutoReport, Candidate};

use std::collections::HashMap;

use incrowd_core::model::{BoundModel, Need};
use incrowd_core::{
    Dataset, Domain, GroupId, GroupSummary, Param, Params, Partition, Plan, Progress, Result,
};

use crate::ascent;
use crate::improve::{self, Improved, Metric, ModelCheck, Shapes, StopRule, WINDOW_ROWS};
use crate::mondrian::{Mondrian, require_valid_whole};
use crate::optimized::Optimized;
use crate::{Algorithm, Card, Recoding, Task};

/// The greatest amount of work of a climb: combinations of levels times rows.
const MAX_CLIMB_WORK: u64 = 1_500_000_000;

/// The factor of work if models depend on more than the number of records.
const CHECK_FACTOR: u64 = 8;

/// The greatest amount of work of the trials: rows times the square of the number of
/// quasi-identifiers.
const MAX_TRIAL_WORK: u64 = 60_000_000;

/// Moving records gains more after a division than after a climb. The climb is taken only if its
/// loss is lower by this share.
const CLIMB_HANDICAP: f64 = 0.15;

/// The size of a window after a climb if only the number of records matters. Less is to be gained
/// then. With other models, groups that can exchange records are farther apart.
const CLIMB_WINDOW_ROWS: usize = 640;

/// Moving ends if a round lowers the loss by less than this share. If models depend on more than
/// counts, the mean of several rounds is used.
const LEAST_GAIN: f64 = 0.002;
const CHECKED_GAIN_ROUNDS: usize = 3;

/// The limits of comparisons of a row with a group while records are moved: in total, and per row.
/// The greater one applies.
const COMPARISONS: u64 = 400_000_000;
const COMPARISONS_PER_ROW: u64 = 400;

/// The list entry.
pub const CARD: Card = Card {
    name: "auto",
    paper: "prasser2020",
    about: "Groups the records with the algorithms that are cheap for a table of this size \
            (`mondrian` always, `optimized-mondrian` and the climb of `ascent` if they are), takes \
            the best result and moves records between groups while that lowers the loss. It never \
            loses more than `mondrian`. The work is limited by counting, not by time, so the same \
            table always gives the same release.",
    limits: "The same value may be published at different levels and ranges may overlap, which \
             makes analysis harder; `full-domain` uses one level for all, `mondrian` publishes \
             ranges that do not overlap. An adversary who knows the algorithm learns that a record \
             with wide cells had no closer group. With models about a population records are not \
             moved.",
    params: &[Param::choice("metric", &["information-loss", "ncp"])
        .or("information-loss")
        .about("the loss to minimize")],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(Auto::new(params))),
};

/// The algorithm with its parameters.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    /// The loss to minimize.
    pub metric: Metric,
    mondrian: Mondrian,
}

impl Auto {
    fn new(params: &Params) -> Auto {
        Auto { metric: Metric::named(params.word("metric")), mondrian: Mondrian::default() }
    }

    /// Creates the algorithm for a metric.
    pub fn least(metric: Metric) -> Auto {
        Auto { metric, mondrian: Mondrian::default() }
    }
}

impl Algorithm for Auto {
    fn join(&self) -> Option<&dyn crate::join::JoinAlgorithm> {
        self.mondrian.join()
    }

    /// Groups with equal cells are checked as the one group that a reader sees.
    fn needs_merging(&self) -> bool {
        false
    }

    fn supplies(&self, need: Need) -> bool {
        self.mondrian.supplies(need)
    }

    fn solve(&self, task: Task<'_>) -> Result<Recoding> {
        let Task { data, models, .. } = task;
        require_valid_whole(CARD.name, data, models)?;
        let only_records = models.iter().all(|model| model.least_records().is_some());
        let domains: Vec<Domain> = data.quasi().iter().map(|quasi| quasi.domain.clone()).collect();
        // If only the number of records matters, rows that differ only in sensitive values are
        // merged.
        let condensed =
            (only_records && !data.sensitive().is_empty()).then(|| data.condensed(&domains, false));
        let Some(condensed) = condensed else {
            let (partition, report) = self.search(task)?;
            return Ok(Recoding::new(partition).reporting(report));
        };
        let (found, report) = self.search(Task { data: &condensed.data, ..task })?;
        let mut groups: Vec<Vec<u32>> = vec![Vec::new(); found.groups()];
        for row in 0..data.rows() {
            if let Some(group) = found.group(condensed.of_row[row] as usize) {
                groups[group.index()].push(row as u32);
            }
        }
        let partition = improve::partition(data, &Shapes::new(data, self.metric), groups)?;
        Ok(Recoding::new(partition).reporting(report))
    }
}

impl Auto {
    /// Runs the algorithms and improves the best result.
    fn search(&self, task: Task<'_>) -> Result<(Partition, AutoReport)> {
        let Task { data, models, suppressible, progress } = task;
        let shapes = Shapes::new(data, self.metric);
        let check = ModelCheck::new(data, models, &shapes);
        let mut search = Search {
            data,
            check: &check,
            shapes: &shapes,
            tried: Vec::new(),
            rounds: 0,
            comparisons: 0,
        };
        let mondrian = self.mondrian.solve(task)?.partition;
        search.add("mondrian", mondrian.members(data.rows()));
        let (rows, columns) = (data.rows() as u64, data.quasi().len() as u64);
        let movable = data.population().is_none() && rows > 0;
        if movable && columns > 1 && rows * columns * columns <= MAX_TRIAL_WORK {
            let found = Optimized::default().solve(task)?.partition;
            search.add("optimized-mondrian", found.members(data.rows()));
        }
        let factor = if check.needs_only_records() { 1 } else { CHECK_FACTOR };
        let climb = ascent::combinations(data, self.metric).saturating_mul(rows * factor);
        let divided = search.cheapest(0.0);
        let mut best = divided;
        if movable
            && climb <= MAX_CLIMB_WORK
            && let Ok((groups, _)) =
                ascent::climbed(&check, &shapes, self.metric, suppressible, progress)
        {
            search.add("climb", groups);
            best = search.cheapest(CLIMB_HANDICAP);
        }
        let mut groups = std::mem::take(&mut search.tried[best].groups);
        if movable {
            groups = search.improve(groups, best == divided, progress);
            // The climb may still be better than the improved division.
            let last = search.tried.len() - 1;
            if best == divided && last > divided && search.tried[last].loss < search.loss(&groups) {
                best = last;
                groups = std::mem::take(&mut search.tried[best].groups);
                groups = search.improve(groups, false, progress);
            }
        }
        let mut report = search.report(self.metric, best, &groups);
        let mut partition = improve::partition(data, &shapes, groups)?;
        if report.loss > report.candidates[0].loss
            || !check.needs_only_records() && !equal_cells_admitted(data, models, &partition)
        {
            report.back_to_mondrian();
            partition = mondrian;
        }
        Ok((partition, report))
    }
}

/// The results of the algorithms so far.
struct Search<'s, 'a> {
    data: &'s Dataset,
    check: &'s ModelCheck<'a>,
    shapes: &'s Shapes<'s>,
    tried: Vec<Attempt>,
    rounds: u64,
    comparisons: u64,
}

struct Attempt {
    name: &'static str,
    groups: Vec<Vec<u32>>,
    loss: f64,
}

impl Search<'_, '_> {
    /// Returns the mean loss of a cell.
    fn loss(&self, groups: &[Vec<u32>]) -> f64 {
        let cells = self.data.records() as f64 * f64::from(self.shapes.max_price);
        if cells > 0.0 { improve::cost(self.shapes, self.data, groups) / cells } else { 0.0 }
    }

    fn add(&mut self, name: &'static str, groups: Vec<Vec<u32>>) {
        let loss = self.loss(&groups);
        self.tried.push(Attempt { name, groups, loss });
    }

    /// Returns the index of the cheapest result, the first of several. The last one must be cheaper
    /// by `share` than the others.
    fn cheapest(&self, share: f64) -> usize {
        let last = self.tried.len() - 1;
        let loss = |at: usize| self.tried[at].loss / if at == last { 1.0 - share } else { 1.0 };
        (0..=last).min_by(|&a, &b| loss(a).total_cmp(&loss(b))).unwrap_or(0)
    }

    /// Moves records between groups.
    fn improve(
        &mut self,
        groups: Vec<Vec<u32>>,
        divided: bool,
        progress: &dyn Progress,
    ) -> Vec<Vec<u32>> {
        let columns = self.data.quasi().len();
        let comparisons = COMPARISONS.max(COMPARISONS_PER_ROW * self.data.rows() as u64);
        let regroupings = if divided { 2 } else { 0 };
        let near = !divided && self.check.needs_only_records();
        let window = if near { CLIMB_WINDOW_ROWS } else { WINDOW_ROWS };
        let gain_rounds = if self.check.needs_only_counts() { 1 } else { CHECKED_GAIN_ROUNDS };
        let stop = StopRule {
            rounds: 4 * columns,
            least_gain: LEAST_GAIN,
            gain_rounds,
            comparisons,
            regroupings,
            window,
            seconds: None,
        };
        let Improved { groups, rounds, comparisons, .. } =
            improve::improve(self.check, self.shapes, groups, stop, progress);
        self.rounds = rounds;
        self.comparisons += comparisons;
        groups
    }

    fn report(&self, metric: Metric, best: usize, groups: &[Vec<u32>]) -> AutoReport {
        let candidate = |tried: &Attempt| Candidate { name: tried.name, loss: tried.loss };
        AutoReport {
            metric,
            candidates: self.tried.iter().map(candidate).collect(),
            taken: self.tried[best].name,
            rounds: self.rounds,
            comparisons: self.comparisons,
            loss: self.loss(groups),
        }
    }
}

/// Returns whether the models admit the union of all groups with equal cells.
fn equal_cells_admitted(
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    partition: &Partition,
) -> bool {
    let plan = Plan::new(data, partition);
    // Cells that were not made would look equal. A release with this partition is refused later,
    // with an error that says why.
    if plan.check_labels().is_err() {
        return true;
    }
    let mut first_with: HashMap<&[u32], u32> = HashMap::new();
    let groups = partition.groups();
    let mut first: Vec<u32> = (0..groups as u32).collect();
    let mut shared = vec![false; groups];
    for group in 0..groups as u32 {
        let one = *first_with.entry(plan.cells(GroupId(group))).or_insert(group);
        if one != group {
            first[group as usize] = one;
            shared[one as usize] = true;
        }
    }
    if !shared.contains(&true) {
        return true;
    }
    let mut summaries: HashMap<u32, GroupSummary> = HashMap::new();
    for row in 0..data.rows() {
        let Some(group) = partition.group(row) else { continue };
        let one = first[group.index()];
        if shared[one as usize] {
            let empty = || GroupSummary::empty(data.sensitive().len());
            summaries.entry(one).or_insert_with(empty).add_row(data, row);
        }
    }
    let mut summaries = summaries.into_values();
    summaries.all(|summary| models.iter().all(|model| model.admits(&summary).holds))
}
