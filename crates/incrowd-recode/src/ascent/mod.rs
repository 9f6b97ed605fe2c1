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
mod halves;
mod kinds;
mod levels;
mod report;

use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Error, Param, ParamKind, Params, Partition, Progress, Result};

use crate::improve::{self, Improved, ModelCheck, MovableGroup, Patience, Shapes, WINDOW_ROWS};
use crate::{Algorithm, Card, Recoding};
use climb::Climbed;

pub use crate::improve::Metric;
pub(crate) use bound::least_loss;
pub use climb::Work;
pub use report::AscentReport;

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
    local: false,
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

/// A row without company asks so many groups to take it, the nearest first.
const MOST_ASKED: usize = 64;

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
        let metric = Metric::named(params.word("metric"));
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
        let (partition, report) = self.ascend(data, models, suppressible, progress)?;
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
        let (groups, way) = climbed(&check, &shapes, self.metric, suppressible, progress)?;
        let cells = data.records() as f64 * f64::from(shapes.most);
        let loss = |groups: &[Vec<u32>]| {
            if cells > 0.0 { improve::cost(&shapes, data, groups) / cells } else { 0.0 }
        };
        let climbed = loss(&groups);
        let columns = data.quasi().len();
        let still = Patience {
            rounds: 0,
            least_gain: 0.0,
            together: 1,
            looks: u64::MAX,
            regroupings: 0,
            window: WINDOW_ROWS,
            seconds: self.seconds,
        };
        let patience = match self.effort {
            Effort::Fast => still,
            Effort::Balanced => Patience { rounds: columns, least_gain: 0.005, ..still },
            Effort::Best => Patience { rounds: 4 * columns, ..still },
        };
        let Improved { groups, rounds, looks, out_of_time } =
            improve::improve(&check, &shapes, groups, patience, progress);
        let reached = loss(&groups);
        let partition = improve::partition(data, &shapes, groups)?;
        let report = AscentReport {
            metric: self.metric,
            effort: self.effort,
            combinations: way.combinations,
            groups_at_first: way.groups,
            without_company: way.without_company,
            climbed,
            reached,
            rounds,
            work: way.work,
            looks,
            out_of_time,
        };
        Ok((partition, report))
    }
}

/// How a climb went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// How many combinations of levels there are.
    pub(crate) combinations: u64,
    /// How many groups were found on the way.
    pub(crate) groups: u64,
    /// How many records found no company.
    pub(crate) without_company: u64,
    /// What it took.
    work: Work,
}

/// How many combinations of levels a climb goes through.
pub(crate) fn combinations(data: &Dataset, metric: Metric) -> u64 {
    levels::combinations(&levels::column_levels(data, metric)) as u64
}

/// The groups of a climb, with the rows placed that found no company.
pub(crate) fn climbed(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    metric: Metric,
    suppressible: u64,
    progress: &dyn Progress,
) -> Result<(Vec<Vec<u32>>, Way)> {
    let column_levels = levels::column_levels(check.data, metric);
    let nodes = levels::nodes(&column_levels);
    progress.step_through("climbing", nodes.len() as u64, "combinations");
    let Climbed { groups, rest, work } = climb::climb(check, &column_levels, &nodes, progress);
    let without_company = rest.iter().map(|&row| check.data.weight(row as usize)).sum();
    let way = Way { combinations: nodes.len() as u64, groups: groups.len() as u64, without_company, work };
    let groups = if rest.is_empty() { groups } else { place(check, shapes, groups, rest, suppressible)? };
    Ok((groups, way))
}

/// Puts the rows that found no company into the groups that take them for least, or leaves them out where that costs less
/// and is allowed.
fn place(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    groups: Vec<Vec<u32>>,
    rest: Vec<u32>,
    mut suppressible: u64,
) -> Result<Vec<Vec<u32>>> {
    let mut groups: Vec<MovableGroup<'_>> =
        groups.into_iter().map(|rows| MovableGroup::new(check, shapes, rows)).collect();
    let (mut pool, mut left_out): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for row in rest {
        let weight = check.data.weight(row as usize);
        let dearer = |group: &MovableGroup<'_>| {
            group.dearer_with(shapes, row, weight, f32::INFINITY).unwrap_or(f32::INFINITY)
        };
        let mut order: Vec<(f32, usize)> =
            groups.iter().enumerate().map(|(i, group)| (dearer(group), i)).collect();
        let nearer = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if order.len() > MOST_ASKED {
            order.select_nth_unstable_by(MOST_ASKED - 1, nearer);
            order.truncate(MOST_ASKED);
        }
        order.sort_unstable_by(nearer);
        let best = order.iter().find(|(_, i)| groups[*i].takes(check, row));
        if best.is_none_or(|best| best.0 > weight as f32 * shapes.most) && weight <= suppressible {
            suppressible -= weight;
            left_out.push(row);
            continue;
        }
        match best {
            Some(&(_, i)) => groups[i].push(check, shapes, row),
            None => pool.push(row),
        }
    }
    let rows = |groups: Vec<MovableGroup<'_>>| groups.into_iter().map(|group| group.rows).collect();
    if pool.is_empty() {
        return Ok(rows(groups));
    }
    // Nobody takes these: groups join them, the nearest first, until they may be a group.
    let mut pool = MovableGroup::new(check, shapes, pool);
    let mut united = Vec::new();
    while !pool.is_admitted(check) {
        let mut dearer = |group: &MovableGroup<'_>| {
            united.clone_from(&pool.shape);
            shapes.unite(&mut united, &group.shape);
            let records = (pool.records() + group.records()) as f32;
            records * shapes.price(&united) - pool.cost() - group.cost()
        };
        let prices: Vec<f32> = groups.iter().map(&mut dearer).collect();
        let nearest = (0..groups.len()).min_by(|&a, &b| prices[a].total_cmp(&prices[b]));
        let joining = match nearest {
            Some(nearest) => groups.swap_remove(nearest),
            // What was left out may be what is missing.
            None if !left_out.is_empty() => MovableGroup::new(check, shapes, std::mem::take(&mut left_out)),
            None => {
                return Err(Error::unsatisfiable(
                    "the promises cannot be kept even with all records in one group",
                )
                .help("ask for less"));
            }
        };
        pool.absorb(check, shapes, joining);
    }
    groups.push(pool);
    Ok(rows(groups))
}
