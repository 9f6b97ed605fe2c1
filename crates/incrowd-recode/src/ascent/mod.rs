//! Ascent: processes all combinations of levels from the cheapest to the most expensive. Rows that
//! satisfy the models at a combination become groups.
//!
//! At every combination of levels, the remaining rows are grouped by their generalized cells.
//! Groups that the models admit are taken, and their rows are removed. A group is published with
//! the lowest cells that cover its own values. Rows that are left over in the end join the group
//! with the smallest increase of the loss. Then rows move between neighbouring groups, and groups
//! are dissolved, while that lowers the loss.
//!
//! Repeated full-domain searches on the remaining rows are the idea of `prasser2020`. Here the
//! combinations are processed once, in order of cost, and the cells of groups are tightened.

mod blocks;
mod bound;
mod candidates;
mod climb;
mod levels;
mod profiles;
mod report;
mod split_columns;

use incrowd_core::{Dataset, Error, Param, Params, Progress, Result};

use crate::improve::{self, Improved, ModelCheck, MovableGroup, Shapes, StopRule, WINDOW_ROWS};
use crate::{Algorithm, Card, Recoding, Task};
use climb::ClimbResult;

pub use crate::improve::Metric;
pub(crate) use bound::least_loss;
pub use climb::Work;
pub use report::AscentReport;

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "ascent",
    paper: "prasser2020",
    about: "Processes all combinations of levels from the cheapest to the most expensive and \
            publishes every group that satisfies the models as soon as there is one, each cell no \
            more general than its group needs. Then moves records between groups while that \
            lowers the loss. Of all algorithms here it usually has the least loss.",
    limits: "The same value may be published at different levels, which makes analysis harder; \
             `full-domain` uses one level for all. An adversary who knows the algorithm learns \
             that a record with general cells had no group at lower levels. Slower than mondrian \
             if there are millions of distinct rows and many levels.",
    params: &[
        Param::choice("effort", &["fast", "balanced", "best"]).or("balanced").about(
            "how long records are moved between groups: not at all, while it pays, or many rounds",
        ),
        Param::choice("metric", &["information-loss", "ncp"])
            .or("information-loss")
            .about("the loss to minimize"),
        Param::number("seconds", 0.0, 1e9).or("0").about(
            "the time limit for moving records; 0 means no limit. With a limit the result depends \
            on the machine",
        ),
    ],
    repeatable: &[],
    local: false,
    make: |params| Ok(Box::new(Ascent::new(params))),
};

/// How long records are moved between groups.
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
    /// Returns the name in a job.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Balanced => "balanced",
            Effort::Best => "best",
        }
    }
}

/// The greatest number of groups that are tried for a left-over row, the nearest first.
const MAX_TRIED: usize = 64;

/// The algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ascent {
    /// How long records are moved between groups.
    pub effort: Effort,
    /// The loss to minimize.
    pub metric: Metric,
    /// The time limit for moving records in seconds, if there is one.
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
    fn weighs(&self) -> bool {
        true
    }

    /// Groups at different levels may be published with the same cells.
    fn needs_merging(&self) -> bool {
        true
    }

    fn solve(&self, Task { data, models, suppressible, progress }: Task<'_>) -> Result<Recoding> {
        let shapes = Shapes::new(data, self.metric);
        let check = ModelCheck::new(data, models, &shapes);
        let (groups, stats) = climbed(&check, &shapes, self.metric, suppressible, progress)?;
        let cells = data.records() as f64 * f64::from(shapes.max_price);
        let loss = |groups: &[Vec<u32>]| {
            if cells > 0.0 { improve::cost(&shapes, data, groups) / cells } else { 0.0 }
        };
        let climbed = loss(&groups);
        let columns = data.quasi().len();
        let still = StopRule {
            rounds: 0,
            least_gain: 0.0,
            gain_rounds: 1,
            comparisons: u64::MAX,
            regroupings: 0,
            window: WINDOW_ROWS,
            seconds: self.seconds,
        };
        let stop = match self.effort {
            Effort::Fast => still,
            Effort::Balanced => StopRule { rounds: columns, least_gain: 0.005, ..still },
            Effort::Best => StopRule { rounds: 4 * columns, ..still },
        };
        let Improved { groups, rounds, comparisons, out_of_time } =
            improve::improve(&check, &shapes, groups, stop, progress);
        let reached = loss(&groups);
        let partition = improve::partition(data, &shapes, groups)?;
        let report = AscentReport {
            metric: self.metric,
            effort: self.effort,
            combinations: stats.combinations,
            initial_groups: stats.groups,
            left_over: stats.left_over,
            climbed,
            reached,
            rounds,
            work: stats.work,
            comparisons,
            out_of_time,
        };
        Ok(Recoding::new(partition).reporting(report))
    }
}

/// Statistics of a climb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClimbStats {
    /// The number of combinations of levels.
    pub(crate) combinations: u64,
    /// The number of groups that were found.
    pub(crate) groups: u64,
    /// The number of records without a group.
    pub(crate) left_over: u64,
    /// The amount of work.
    work: Work,
}

/// Returns the number of combinations of levels that a climb processes.
pub(crate) fn combinations(data: &Dataset, metric: Metric) -> u64 {
    levels::combinations(&levels::column_levels(data, metric)) as u64
}

/// Returns the groups of a climb. Left-over rows are added to groups.
pub(crate) fn climbed(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    metric: Metric,
    suppressible: u64,
    progress: &dyn Progress,
) -> Result<(Vec<Vec<u32>>, ClimbStats)> {
    let column_levels = levels::column_levels(check.data, metric);
    let nodes = levels::nodes(&column_levels);
    progress.step_through("climbing", nodes.len() as u64, "combinations");
    let ClimbResult { groups, rest, work } = climb::climb(check, &column_levels, &nodes, progress);
    let left_over = rest.iter().map(|&row| check.data.weight(row as usize)).sum();
    let stats = ClimbStats {
        combinations: nodes.len() as u64,
        groups: groups.len() as u64,
        left_over,
        work,
    };
    let groups =
        if rest.is_empty() { groups } else { place(check, shapes, groups, rest, suppressible)? };
    Ok((groups, stats))
}

/// Adds the left-over rows to the groups with the smallest increase of the loss, or suppresses them
/// if that costs less and is allowed.
fn place(
    check: &ModelCheck<'_>,
    shapes: &Shapes<'_>,
    groups: Vec<Vec<u32>>,
    rest: Vec<u32>,
    mut suppressible: u64,
) -> Result<Vec<Vec<u32>>> {
    let mut groups: Vec<MovableGroup<'_>> =
        groups.into_iter().map(|rows| MovableGroup::new(check, shapes, rows)).collect();
    let (mut pool, mut suppressed): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for row in rest {
        let count = check.data.weight(row as usize);
        let extra = |group: &MovableGroup<'_>| {
            group.extra_cost_with(shapes, row, count, f32::INFINITY).unwrap_or(f32::INFINITY)
        };
        let mut order: Vec<(f32, usize)> =
            groups.iter().enumerate().map(|(i, group)| (extra(group), i)).collect();
        let nearer = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if order.len() > MAX_TRIED {
            order.select_nth_unstable_by(MAX_TRIED - 1, nearer);
            order.truncate(MAX_TRIED);
        }
        order.sort_unstable_by(nearer);
        let best = order.iter().find(|(_, i)| groups[*i].admits_with(check, row));
        if best.is_none_or(|best| best.0 > count as f32 * shapes.max_price) && count <= suppressible
        {
            suppressible -= count;
            suppressed.push(row);
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
    // No group can take the rows of the pool. The nearest groups join it until the models admit it.
    let mut pool = MovableGroup::new(check, shapes, pool);
    let mut united = Vec::new();
    while !pool.is_admitted(check) {
        let mut extra = |group: &MovableGroup<'_>| {
            united.clone_from(&pool.shape);
            shapes.unite(&mut united, &group.shape);
            let records = (pool.records() + group.records()) as f32;
            records * shapes.price(&united) - pool.cost() - group.cost()
        };
        let prices: Vec<f32> = groups.iter().map(&mut extra).collect();
        let nearest = (0..groups.len()).min_by(|&a, &b| prices[a].total_cmp(&prices[b]));
        let joining = match nearest {
            Some(nearest) => groups.swap_remove(nearest),
            // The suppressed rows may contain the values that are missing.
            None if !suppressed.is_empty() => {
                MovableGroup::new(check, shapes, std::mem::take(&mut suppressed))
            }
            None => {
                return Err(Error::unsatisfiable(
                    "the models cannot be satisfied even with all records in one group",
                )
                .help("weaken the models"));
            }
        };
        pool.absorb(check, shapes, joining);
    }
    groups.push(pool);
    Ok(rows(groups))
}
