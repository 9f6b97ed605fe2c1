//! Ascent: tries all combinations of levels from cheapest to dearest; rows that satisfy the models there become a group and leave.
//!
//! For every combination of levels of the quasi-identifiers, the cheapest first, the rows that are left are put together by what
//! they would be published as; groups the models admit are taken, and their rows leave. What is taken is published no higher than
//! it must be: every cell is the lowest that covers the group's own values. Rows that find no company join the group that
//! takes them for least. Then rows move between neighbouring groups, and groups dissolve, as long as that lowers the loss.
//!
//! The idea of repeated full-domain searches on the rows left over is `prasser2020`'s; here the combinations are gone through
//! once, in order of cost, and groups are tightened.

mod blocks;
mod bound;
mod candidates;
mod climb;
mod improve;
mod levels;
mod movable;
mod report;
mod shape;

use incrowd_core::model::BoundModel;
use incrowd_core::{
    Code, Dataset, Domain, Error, Param, ParamKind, Params, Partition, Progress, Result, RowId,
};

use crate::{Algorithm, Card, Recoding};
use climb::{Climbed, ModelCheck};
use improve::{Moved, Patience};
use movable::MovableGroup;
use shape::Shapes;

pub use report::AscentReport;

/// With a balanced effort the bound is computed if it takes no more than so many looks at a row.
const BOUND_WORK: u64 = 400_000_000;

/// The list entry.
pub const CARD: Card = Card {
    name: "ascent",
    paper: "prasser2020",
    about: "Goes through all combinations of levels from the cheapest to the dearest and publishes every group that keeps the \
            promises as soon as there is one, each cell no higher than its group needs. Then moves records between groups as \
            long as that lowers the loss. Of all algorithms here it usually loses least.",
    limits: "The same value may be published at different levels, which makes analysis harder; `full-domain` keeps one level \
             for all. Whoever knows the algorithm learns that a record published high found no company lower. Slower than \
             mondrian where millions of distinct rows meet many levels.",
    params: &[
        Param {
            name: "effort",
            kind: ParamKind::Choice(&["fast", "balanced", "best"]),
            default: Some("balanced"),
            about: "how long records are moved about afterwards: not at all, while it pays, or many rounds",
        },
        Param {
            name: "metric",
            kind: ParamKind::Choice(&["information-loss", "ncp"]),
            default: Some("information-loss"),
            about: "what is to be least",
        },
        Param {
            name: "seconds",
            kind: ParamKind::Number(0.0, 1e9),
            default: Some("0"),
            about: "records are moved about for at most so long; 0 for as long as the effort says. What is reached then depends on \
                    the machine",
        },
    ],
    repeatable: &[],
    make: |params| Ok(Box::new(Ascent::new(params))),
};

/// How long records are moved about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Not at all.
    Fast,
    /// A few rounds.
    Balanced,
    /// Many rounds.
    Best,
}

/// What is to be least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Information loss.
    InformationLoss,
    /// Normalized certainty penalty.
    Ncp,
}

impl Effort {
    /// The word for it in a job.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Balanced => "balanced",
            Effort::Best => "best",
        }
    }
}

impl Metric {
    /// The word for it in a job.
    pub fn name(self) -> &'static str {
        match self {
            Metric::InformationLoss => "information-loss",
            Metric::Ncp => "ncp",
        }
    }

    /// The price of publishing these leaves of a line.
    fn of(self, domain: &Domain, lo: u32, hi: u32) -> f64 {
        match self {
            Metric::InformationLoss => domain.loss(Code(lo), Code(hi)),
            Metric::Ncp => domain.ncp(Code(lo), Code(hi)),
        }
    }
}

/// The algorithm with its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ascent {
    /// How long records are moved about.
    pub effort: Effort,
    /// What is to be least.
    pub metric: Metric,
    /// Records are moved about for at most so many seconds, if that is limited.
    pub seconds: Option<f64>,
}

impl Ascent {
    fn new(params: &Params) -> Ascent {
        let effort = match params.word("effort") {
            "fast" => Effort::Fast,
            "best" => Effort::Best,
            _ => Effort::Balanced,
        };
        let metric = if params.word("metric") == "ncp" { Metric::Ncp } else { Metric::InformationLoss };
        let seconds = Some(params.number("seconds")).filter(|seconds| *seconds > 0.0);
        Ascent { effort, metric, seconds }
    }
}

impl Algorithm for Ascent {
    /// Groups on different levels may be published with the same cells.
    fn weighs(&self) -> bool {
        true
    }

    fn needs_merging(&self) -> bool {
        true
    }

    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        self.ascend(data, models, suppressible, progress).map(|(partition, _)| partition)
    }

    fn recode_and_report(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        let (partition, mut report) = self.ascend(data, models, suppressible, progress)?;
        let work = report.combinations.saturating_mul(data.rows() as u64);
        let worth = match self.effort {
            Effort::Fast => false,
            Effort::Balanced => work <= BOUND_WORK,
            Effort::Best => true,
        };
        report.bound = if worth { self.least_loss(data, models, progress) } else { None };
        Ok(Recoding::new(partition).reporting(report))
    }
}

impl Ascent {
    fn ascend(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<(Partition, AscentReport)> {
        let shapes = Shapes::new(data, self.metric);
        let check = ModelCheck::new(data, models, &shapes);
        let column_levels = levels::column_levels(data, self.metric);
        let nodes = levels::nodes(&column_levels);
        progress.step_through("climbing", nodes.len() as u64, "combinations");
        let Climbed { groups, rest } = climb::climb(&check, &column_levels, &nodes, progress);
        let records = |rows: &[u32]| rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>();
        let (groups_at_first, without_company) = (groups.len() as u64, records(&rest));
        let groups = groups.into_iter().map(|rows| MovableGroup::new(&check, &shapes, rows)).collect();
        let groups = place(&check, &shapes, groups, rest, suppressible)?;
        let climbed = improve::mean_price(&groups, data.quasi().len());
        let columns = data.quasi().len();
        let patience = match self.effort {
            Effort::Fast => Patience { rounds: 0, least_gain: 0.0, seconds: None },
            Effort::Balanced => Patience { rounds: columns, least_gain: 0.005, seconds: self.seconds },
            Effort::Best => Patience { rounds: 4 * columns, least_gain: 0.0, seconds: self.seconds },
        };
        let Moved { mut groups, rounds, out_of_time } =
            improve::improve(&check, &shapes, groups, patience, progress);
        let reached = improve::mean_price(&groups, columns);
        groups.iter_mut().for_each(|group| group.rows.sort_unstable());
        groups.sort_by(|a, b| a.rows.cmp(&b.rows));
        let mut partition = Partition::new(columns, data.rows());
        for group in &groups {
            partition.add(&shapes.spans(&group.shape), group.rows.iter().map(|&row| RowId(row)))?;
        }
        let report = AscentReport {
            metric: self.metric,
            effort: self.effort,
            combinations: nodes.len() as u64,
            groups_at_first,
            without_company,
            climbed,
            reached,
            rounds,
            out_of_time,
            bound: None,
        };
        Ok((partition, report))
    }

    /// The least mean loss of a cell that any release of this table can have if these models are kept and nobody is
    /// suppressed; nothing if there are too many combinations of levels to tell.
    pub fn least_loss(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        progress: &dyn Progress,
    ) -> Option<f64> {
        let shapes = Shapes::new(data, self.metric);
        bound::least_loss(&ModelCheck::new(data, models, &shapes), self.metric, progress)
    }
}

/// Puts the rows that found no company into the groups that take them for least, or leaves them out where that costs less
/// and is allowed.
fn place(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    mut groups: Vec<MovableGroup>,
    rest: Vec<u32>,
    mut suppressible: u64,
) -> Result<Vec<MovableGroup>> {
    let columns = check.data.quasi().len() as f32;
    let (mut pool, mut left_out): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for row in rest {
        let weight = check.data.weight(row as usize);
        let dearer = |group: &MovableGroup| {
            group.dearer_with(shapes, row, weight, f32::INFINITY).unwrap_or(f32::INFINITY)
        };
        let mut order: Vec<(f32, usize)> =
            groups.iter().enumerate().map(|(i, group)| (dearer(group), i)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let best = order.iter().take(64).find(|(_, i)| groups[*i].takes(check, row));
        if best.is_none_or(|best| best.0 > weight as f32 * columns) && weight <= suppressible {
            suppressible -= weight;
            left_out.push(row);
            continue;
        }
        match best {
            Some(&(_, i)) => groups[i].push(check, shapes, row),
            None => pool.push(row),
        }
    }
    if pool.is_empty() {
        return Ok(groups);
    }
    // Nobody takes these: groups join them, the nearest first, until they may be a group.
    let mut pool = MovableGroup::new(check, shapes, pool);
    while !check.admits(&pool.rows, pool.records()) {
        let dearer = |group: &MovableGroup| {
            let rows = pool.rows.iter().chain(&group.rows).copied();
            let price = shapes.price(&shapes.of(rows));
            (pool.records() + group.records()) as f32 * price - pool.cost() - group.cost()
        };
        let nearest = (0..groups.len()).min_by(|&a, &b| dearer(&groups[a]).total_cmp(&dearer(&groups[b])));
        let mut rows = pool.rows.clone();
        match nearest {
            Some(nearest) => rows.extend(groups.swap_remove(nearest).rows),
            // What was left out may be what is missing.
            None if !left_out.is_empty() => rows.append(&mut left_out),
            None => {
                return Err(Error::unsatisfiable(
                    "the promises cannot be kept even with all records in one group",
                )
                .help("ask for less"));
            }
        }
        pool = MovableGroup::new(check, shapes, rows);
    }
    groups.push(pool);
    Ok(groups)
}
