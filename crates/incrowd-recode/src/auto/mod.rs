//! Auto: the least loss that a stated amount of work finds.
//!
//! Several ways of grouping are gone where they are cheap for the size of the table: Mondrian always, Mondrian with each
//! quasi-identifier first in turn, and the climb through combinations of levels. The cheapest result is improved by
//! moving records between groups. What is kept in the end is never dearer than what `mondrian` publishes.
//!
//! Work is counted, in looks at a row, and never timed, so the same table always gives the same groups.

mod report;

pub use report::{AutoReport, Candidate};

use std::collections::HashMap;

use incrowd_core::model::{BoundModel, Need};
use incrowd_core::{
    Dataset, Domain, GroupId, GroupSummary, Param, ParamKind, Params, Partition, Plan, Progress, Result,
};

use crate::ascent;
use crate::improve::{self, Improved, Metric, ModelCheck, Patience, Shapes, WINDOW_ROWS};
use crate::mondrian::{Mondrian, keeps_as_a_whole};
use crate::optimized::Optimized;
use crate::{Algorithm, Card, Recoding};

/// The climb is tried if it looks at no more rows than this: combinations of levels times rows.
const CLIMB_LOOKS: u64 = 1_500_000_000;

/// A look costs so many times as much where models look at more than the number of records.
const JUDGED: u64 = 8;

/// Mondrian is tried with each quasi-identifier first if that is no more than this: rows times the square of the
/// quasi-identifiers.
const TRIAL_LOOKS: u64 = 60_000_000;

/// What comes of dividing leaves more to be gained than what comes of climbing: so much cheaper the climb must be to be taken.
const HEAD_START: f64 = 0.15;

/// After a climb less is to be gained, and windows have at most so many rows if the number of records is all that matters. Other
/// models leave groups farther apart.
const CLIMBED_ROWS: usize = 640;

/// Moving ends when a round lowers the loss by less than this share of it; where models look at more than numbers of records and
/// persons, when so many rounds do in the mean.
const LEAST_GAIN: f64 = 0.002;
const JUDGED_TOGETHER: usize = 3;

/// Moving records takes at most so many looks at a row beside a group, and so many for each row.
const LOOKS: u64 = 400_000_000;
const LOOKS_PER_ROW: u64 = 400;

/// The list entry.
pub const CARD: Card = Card {
    name: "auto",
    paper: "prasser2020",
    about: "Groups the records in the ways that are cheap for a table of this size (`mondrian` always, `optimized-mondrian` and \
            the climb of `ascent` where they are), takes the best and moves records between groups as long as that lowers the \
            loss. It never loses more than `mondrian`. The work is counted and not timed, so the same table always gives the \
            same release.",
    limits: "The same value may be published at different levels and ranges may overlap, which makes analysis harder; \
             `full-domain` keeps one level for all, `mondrian` publishes ranges that part the values. Whoever knows the \
             algorithm learns that a record published in wide cells found no nearer company. With promises about a population \
             records are not moved.",
    params: &[Param {
        name: "metric",
        kind: ParamKind::Choice(&["information-loss", "ncp"]),
        default: Some("information-loss"),
        about: "what is to be least",
    }],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(Auto::new(params))),
};

/// The algorithm with its options.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    /// What is to be least.
    pub metric: Metric,
    mondrian: Mondrian,
}

impl Auto {
    fn new(params: &Params) -> Auto {
        Auto { metric: Metric::named(params.word("metric")), mondrian: Mondrian::default() }
    }

    /// The algorithm for a metric.
    pub fn least(metric: Metric) -> Auto {
        Auto { metric, mondrian: Mondrian::default() }
    }
}

impl Algorithm for Auto {
    fn join(&self) -> Option<&dyn crate::join::JoinAlgorithm> {
        self.mondrian.join()
    }

    /// Groups that would be published with the same cells are judged as the one group they are to a reader.
    fn needs_merging(&self) -> bool {
        false
    }

    fn supplies(&self, need: Need) -> bool {
        self.mondrian.supplies(need)
    }

    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        self.recode_and_report(data, models, suppressible, progress).map(|recoding| recoding.partition)
    }

    fn recode_and_report(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        keeps_as_a_whole(CARD.name, data, models)?;
        let only_counts = models.iter().all(|model| model.least_records().is_some());
        let domains: Vec<Domain> = data.quasi().iter().map(|quasi| quasi.domain.clone()).collect();
        // If the number of records is all that matters, rows that differ in nothing but sensitive values are one row.
        let condensed =
            (only_counts && !data.sensitive().is_empty()).then(|| data.condensed(&domains, false));
        let Some(condensed) = condensed else {
            let (partition, report) = self.search(data, models, suppressible, progress)?;
            return Ok(Recoding::new(partition).reporting(report));
        };
        let (found, report) = self.search(&condensed.data, models, suppressible, progress)?;
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
    /// Finds groups.
    fn search(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<(Partition, AutoReport)> {
        let shapes = Shapes::new(data, self.metric);
        let check = ModelCheck::new(data, models, &shapes);
        let mut search =
            Search { data, check: &check, shapes: &shapes, tried: Vec::new(), rounds: 0, looks: 0 };
        let mondrian = self.mondrian.recode(data, models, suppressible, progress)?;
        search.offer("mondrian", improve::members(data, &mondrian));
        let (rows, columns) = (data.rows() as u64, data.quasi().len() as u64);
        let movable = data.population().is_none() && rows > 0;
        if movable && columns > 1 && rows * columns * columns <= TRIAL_LOOKS {
            let found = Optimized::default().recode(data, models, suppressible, progress)?;
            search.offer("optimized-mondrian", improve::members(data, &found));
        }
        let judged = if check.only_counts() { 1 } else { JUDGED };
        let climb = ascent::combinations(data, self.metric).saturating_mul(rows * judged);
        let divided = search.cheapest(0.0);
        let mut best = divided;
        if movable
            && climb <= CLIMB_LOOKS
            && let Ok((groups, _)) = ascent::climbed(&check, &shapes, self.metric, suppressible, progress)
        {
            search.offer("climb", groups);
            best = search.cheapest(HEAD_START);
        }
        let mut groups = std::mem::take(&mut search.tried[best].groups);
        if movable {
            groups = search.improve(groups, best == divided, progress);
            // The climb may have been better after all.
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
            || !check.only_counts() && !alike_admitted(data, models, &partition)
        {
            report.back_to_mondrian();
            partition = mondrian;
        }
        Ok((partition, report))
    }
}

/// Ways of grouping that were tried.
struct Search<'s, 'a> {
    data: &'s Dataset,
    check: &'s ModelCheck<'a>,
    shapes: &'s Shapes<'s>,
    tried: Vec<Tried>,
    rounds: u64,
    looks: u64,
}

struct Tried {
    name: &'static str,
    groups: Vec<Vec<u32>>,
    loss: f64,
}

impl Search<'_, '_> {
    /// What a cell costs in the mean.
    fn loss(&self, groups: &[Vec<u32>]) -> f64 {
        let cells = self.data.records() as f64 * f64::from(self.shapes.most);
        if cells > 0.0 { improve::cost(self.shapes, self.data, groups) / cells } else { 0.0 }
    }

    fn offer(&mut self, name: &'static str, groups: Vec<Vec<u32>>) {
        let loss = self.loss(&groups);
        self.tried.push(Tried { name, groups, loss });
    }

    /// The cheapest, if the last one must be cheaper by this share than the others; the first of equally cheap ones.
    fn cheapest(&self, share: f64) -> usize {
        let last = self.tried.len() - 1;
        let loss = |at: usize| self.tried[at].loss / if at == last { 1.0 - share } else { 1.0 };
        (0..=last).min_by(|&a, &b| loss(a).total_cmp(&loss(b))).unwrap_or(0)
    }

    /// Moves records between groups.
    fn improve(&mut self, groups: Vec<Vec<u32>>, divided: bool, progress: &dyn Progress) -> Vec<Vec<u32>> {
        let columns = self.data.quasi().len();
        let looks = LOOKS.max(LOOKS_PER_ROW * self.data.rows() as u64);
        let regroupings = if divided { 2 } else { 0 };
        let near = !divided && self.check.only_counts();
        let window = if near { CLIMBED_ROWS } else { WINDOW_ROWS };
        let together = if self.check.only_grows() { 1 } else { JUDGED_TOGETHER };
        let patience = Patience {
            rounds: 4 * columns,
            least_gain: LEAST_GAIN,
            together,
            looks,
            regroupings,
            window,
            seconds: None,
        };
        let Improved { groups, rounds, looks, .. } =
            improve::improve(self.check, self.shapes, groups, patience, progress);
        self.rounds = rounds;
        self.looks += looks;
        groups
    }

    fn report(&self, metric: Metric, best: usize, groups: &[Vec<u32>]) -> AutoReport {
        let candidate = |tried: &Tried| Candidate { name: tried.name, loss: tried.loss };
        AutoReport {
            metric,
            candidates: self.tried.iter().map(candidate).collect(),
            taken: self.tried[best].name,
            rounds: self.rounds,
            looks: self.looks,
            loss: self.loss(groups),
        }
    }
}

/// Whether the models admit what a reader sees: groups published with the same cells are one.
fn alike_admitted(data: &Dataset, models: &[Box<dyn BoundModel>], partition: &Partition) -> bool {
    let plan = Plan::new(data, partition);
    let mut seen: HashMap<&[u32], u32> = HashMap::new();
    let groups = partition.groups();
    let mut first: Vec<u32> = (0..groups as u32).collect();
    let mut shared = vec![false; groups];
    for group in 0..groups as u32 {
        let one = *seen.entry(plan.cells(GroupId(group))).or_insert(group);
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
