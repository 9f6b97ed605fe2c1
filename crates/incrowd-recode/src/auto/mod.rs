//! Auto: the least loss that a stated amount of work finds.
//!
//! Several ways of grouping are gone where they are cheap for the size of the table: Mondrian always, Mondrian with each
//! quasi-identifier first in turn, and the climb through combinations of levels. The cheapest result is improved by
//! moving records between groups. What is kept in the end is never dearer than what `mondrian` publishes.
//!
//! Work is counted, in looks at a row, and never timed, so the same table always gives the same groups.

mod report;

pub use report::{AutoReport, Candidate};

use incrowd_core::model::{BoundModel, Need};
use incrowd_core::{Dataset, Param, ParamKind, Params, Partition, Plan, Progress, Result};

use crate::ascent;
use crate::improve::{self, Improved, Metric, ModelCheck, Patience, Shapes};
use crate::mondrian::{Mondrian, keeps_as_a_whole};
use crate::optimized::Optimized;
use crate::{Algorithm, Card, Recoding};

/// The climb is tried if it looks at no more rows than this: combinations of levels times rows.
const CLIMB_LOOKS: u64 = 1_500_000_000;

/// Mondrian is tried with each quasi-identifier first if that is no more than this: rows times the square of the
/// quasi-identifiers.
const TRIAL_LOOKS: u64 = 60_000_000;

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
        let shapes = Shapes::new(data, self.metric);
        let check = ModelCheck::new(data, models, &shapes);
        let mut search = Search::new(data, &check, &shapes, self.metric);
        let mondrian = self.mondrian.recode(data, models, suppressible, progress)?;
        search.offer("mondrian", improve::members(data, &mondrian));
        if data.population().is_none() && data.rows() > 0 {
            self.try_others(&mut search, models, suppressible, progress)?;
            search.improve(progress);
        }
        let report = search.report(data);
        let Search { best, .. } = search;
        let mut partition = improve::partition(data, &shapes, best)?;
        let mut report = report;
        if !check.only_counts() && !alike_admitted(data, models, &partition) {
            report.back_to_mondrian();
            partition = mondrian;
        }
        Ok(Recoding::new(partition).reporting(report))
    }
}

impl Auto {
    /// The other ways of grouping, where they are cheap.
    fn try_others(
        &self,
        search: &mut Search<'_, '_>,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<()> {
        let data = search.data;
        let (rows, columns) = (data.rows() as u64, data.quasi().len() as u64);
        if columns > 1 && rows * columns * columns <= TRIAL_LOOKS {
            let found = Optimized::default().recode(data, models, suppressible, progress)?;
            search.offer("optimized-mondrian", improve::members(data, &found));
        }
        if rows.saturating_mul(ascent::combinations(data, self.metric)) <= CLIMB_LOOKS {
            let climbed = ascent::climbed(search.check, search.shapes, self.metric, suppressible, progress);
            if let Ok((groups, _)) = climbed {
                search.offer("climb", groups);
            }
        }
        Ok(())
    }
}

/// The best groups so far.
struct Search<'s, 'a> {
    data: &'s Dataset,
    check: &'s ModelCheck<'a>,
    shapes: &'s Shapes<'s>,
    metric: Metric,
    best: Vec<Vec<u32>>,
    cost: f64,
    candidates: Vec<Candidate>,
    taken: &'static str,
    rounds: u64,
    looks: u64,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(
        data: &'s Dataset,
        check: &'s ModelCheck<'a>,
        shapes: &'s Shapes<'s>,
        metric: Metric,
    ) -> Search<'s, 'a> {
        let (best, candidates) = (Vec::new(), Vec::new());
        Search { data, check, shapes, metric, best, cost: f64::INFINITY, candidates, taken: "", rounds: 0, looks: 0 }
    }

    /// What a cell costs in the mean.
    fn loss(&self, cost: f64) -> f64 {
        let cells = self.data.records() as f64 * f64::from(self.shapes.most);
        if cells > 0.0 { cost / cells } else { 0.0 }
    }

    /// Keeps these groups if they cost less.
    fn offer(&mut self, name: &'static str, groups: Vec<Vec<u32>>) {
        let cost = improve::cost(self.shapes, self.data, &groups);
        self.candidates.push(Candidate { name, loss: self.loss(cost) });
        if cost < self.cost {
            (self.best, self.cost, self.taken) = (groups, cost, name);
        }
    }

    /// Moves records between the best groups.
    fn improve(&mut self, progress: &dyn Progress) {
        let columns = self.data.quasi().len();
        let looks = LOOKS.max(LOOKS_PER_ROW * self.data.rows() as u64);
        let patience =
            Patience { rounds: 4 * columns, least_gain: 0.002, looks, regroupings: 2, seconds: None };
        let before = std::mem::take(&mut self.best);
        let Improved { groups, rounds, looks, .. } =
            improve::improve(self.check, self.shapes, before, patience, progress);
        (self.rounds, self.looks) = (rounds, looks);
        self.cost = improve::cost(self.shapes, self.data, &groups);
        self.best = groups;
    }

    fn report(&self, data: &Dataset) -> AutoReport {
        AutoReport {
            metric: self.metric,
            candidates: self.candidates.clone(),
            taken: self.taken,
            rounds: self.rounds,
            looks: self.looks,
            loss: self.loss(self.cost),
            rows: data.rows() as u64,
        }
    }
}

/// Whether the models admit what a reader sees: groups published with the same cells are one.
fn alike_admitted(data: &Dataset, models: &[Box<dyn BoundModel>], partition: &Partition) -> bool {
    use std::collections::HashMap;
    let plan = Plan::new(data, partition);
    let mut seen: HashMap<&[u32], u32> = HashMap::new();
    let groups = partition.groups();
    let mut first: Vec<u32> = (0..groups as u32).collect();
    let mut shared = vec![false; groups];
    for group in 0..groups as u32 {
        let one = *seen.entry(plan.cells(incrowd_core::GroupId(group))).or_insert(group);
        if one != group {
            first[group as usize] = one;
            shared[one as usize] = true;
        }
    }
    if !shared.contains(&true) {
        return true;
    }
    let mut summaries: HashMap<u32, incrowd_core::GroupSummary> = HashMap::new();
    for row in 0..data.rows() {
        let Some(group) = partition.group(row) else { continue };
        let one = first[group.index()];
        if shared[one as usize] {
            let empty = || incrowd_core::GroupSummary::empty(data.sensitive().len());
            summaries.entry(one).or_insert_with(empty).add(data.weight(row), data.sensitive_codes(row));
        }
    }
    let mut summaries = summaries.into_values();
    summaries.all(|summary| models.iter().all(|model| model.admits(&summary).holds))
}
