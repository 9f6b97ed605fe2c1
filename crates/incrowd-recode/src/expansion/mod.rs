//! Expansion: a group grows around a seed, row by row, until the models admit it.
//!
//! Paper: `wang2009`, Algorithm 1 (ExpC) and the two it is compared with in section 8. Global
//! outliers are suppressed. Then every row without a group is a seed. Its group takes the row that
//! makes it admitted, or else the one with the least loss, from the rows that share the nearest
//! value in some quasi-identifier. Seeds that cannot grow are residues and join groups at the end.
//! GNOF grows groups without local outliers and lets these join; GOF grows groups around local
//! outliers first.
//!
//! Differences from the paper: rows are distinct rows, whose records stay together. All models can
//! be used. A model that defines outliers determines which rows are outliers and which cells are
//! never admitted. **ExpC+** never forms cells with a dead corner, which further growth cannot
//! change, suppresses residues if joining costs more, and never merges groups. Theorem 6.2 is
//! wrong, so rows that fit into no group are suppressed, within the job's limit. A step scans at
//! most 512 points and tries 16 different rows. A residue of ExpC+ tries the 64 cheapest groups.
//! Groups with equal cells are merged and checked as one. The order of the seeds affects the
//! result, so it is random, from the operating system. `seeds = "sorted"` makes the release
//! reproducible.

mod frontier;
mod grow;
mod growing;
mod pool;
mod priced_column;
mod report;
mod residue;

pub use report::{ExpansionReport, forced_in_words, forced_json};

use std::collections::BTreeMap;

use incrowd_core::model::Need;
use incrowd_core::{Code, Dataset, Error, Param, Params, Partition, Progress, Result, RowId, Span};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use crate::{Algorithm, Card, Recoding, Task};
use grow::{Grown, Growth};
use growing::{GrowingGroup, GrowthContext};
use pool::Pool;

const DELTA: Param = Param::count("delta", 1).optional().about(
    "the number of rows after which the corners of a group that is not admitted are changed; \
    after twice as many it is given up; by default 4k, at least 8",
);

const SEEDS: Param = Param::choice("seeds", &["shuffled", "sorted"]).or("shuffled").about(
    "the order in which rows start groups: random, or by their values, which makes the release \
    reproducible",
);

const SKIP_DEAD: Param = Param::flag("skip_dead")
    .or("false")
    .about("grow groups and place residues like expc-plus, without cells with a dead corner");

/// ExpC, the algorithm of the paper.
pub const EXPC: Card = Card {
    name: "expc",
    paper: "wang2009",
    about: "Grows a group around each row that has none, always by the row that makes it satisfy \
            the models or that has the least loss, without searching for local outliers first. \
            Rows that cannot grow a group join others, which are merged until they satisfy the \
            models again.",
    limits: "According to the paper every local outlier fits into a plain group and merging \
             succeeds in the end. Neither is true: growing a group can make it worse, and merging \
             everything usually fails, after which the row is suppressed. Prefer expc-plus, which \
             is faster and loses less. Slow on large tables.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&EXPC, Variant::ExpC, params),
};

/// ExpC+, a variant of ExpC that is not in the paper.
pub const EXPC_PLUS: Card = Card {
    name: "expc-plus",
    paper: "wang2009",
    about: "ExpC without hopeless cells: it never forms cells with a corner at which every person \
            would be an outlier with any sensitive value. A row that fits into no group, or only \
            at a greater loss than its own, is suppressed. The algorithm for plain-k-anonymity.",
    limits: "Greedy. With plain-k-anonymity many records may have to be suppressed by any \
             algorithm; the report contains a lower bound. An adversary who knows that groups stop \
             growing as soon as they satisfy the models learns a little from their size.",
    params: &[DELTA, SEEDS],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&EXPC_PLUS, Variant::ExpCPlus, params),
};

/// GNOF: groups of non-outliers first.
pub const GNOF: Card = Card {
    name: "gnof",
    paper: "wang2009",
    about: "Finds the local outliers, grows groups of the other rows like expc, and lets outliers \
            join groups at the end.",
    limits: "As expc. Meant for comparison.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&GNOF, Variant::Gnof, params),
};

/// GOF: groups around outliers first.
pub const GOF: Card = Card {
    name: "gof",
    paper: "wang2009",
    about: "Finds the local outliers, grows a group of other rows around each of them, then \
            continues like expc.",
    limits: "As expc. Meant for comparison.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&GOF, Variant::Gof, params),
};

/// Remove: suppresses all outliers.
pub const REMOVE: Card = Card {
    name: "remove-outliers",
    paper: "wang2009",
    about: "Suppresses every outlier, global or local, and grows groups of the rest like expc.",
    limits: "The release contains no information about unusual people, and suppressing them does \
             not make the rest plain: corners may be outliers although no record is. Without a \
             model that defines outliers it equals expc.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&REMOVE, Variant::Remove, params),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    ExpC,
    ExpCPlus,
    Gnof,
    Gof,
    Remove,
}

/// An algorithm of the family with its parameters.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    card: &'static Card,
    variant: Variant,
    delta: Option<u64>,
    shuffled: bool,
    skip_dead: bool,
}

impl Expansion {
    fn make(card: &'static Card, variant: Variant, params: &Params) -> Result<Box<dyn Algorithm>> {
        Ok(Box::new(Expansion {
            card,
            variant,
            delta: params.optional_number("delta").map(|delta| delta as u64),
            shuffled: params.word("seeds") == "shuffled",
            skip_dead: variant == Variant::ExpCPlus || params.flag("skip_dead"),
        }))
    }

    /// Returns the rows in the order in which they become seeds.
    fn order(&self, data: &Dataset) -> Vec<u32> {
        let mut rows: Vec<u32> =
            (0..data.rows() as u32).filter(|&row| data.weight(row as usize) > 0).collect();
        let codes = |row: u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
        rows.sort_unstable_by(|&a, &b| codes(a).cmp(&codes(b)));
        if self.shuffled {
            let mut rng: ChaCha20Rng = rand::make_rng();
            rows.shuffle(&mut rng);
        }
        rows
    }
}

impl Algorithm for Expansion {
    /// Groups with equal cells are merged and checked again.
    fn needs_merging(&self) -> bool {
        false
    }

    fn supplies(&self, need: Need) -> bool {
        need != Need::Population
    }

    fn solve(&self, Task { data, models, suppressible, progress }: Task<'_>) -> Result<Recoding> {
        let context = GrowthContext::new(data, models);
        let mut run = Run { context: &context, progress, expansions: 0, dead_ends: 0 };
        let forced = context.forced(progress);
        let least = forced.map_or(0, |forced| forced.removals());
        if least > suppressible {
            return Err(too_many(data, least, suppressible, "must"));
        }
        let records = |rows: &[u32]| rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>();
        let (global, rest): (Vec<u32>, Vec<u32>) =
            self.order(data).into_iter().partition(|&row| context.is_outlier(row, true));
        let delta = self.delta.unwrap_or_else(|| context.least().saturating_mul(4).max(8));
        let growth = Growth { delta, skip_dead: self.skip_dead };
        let (mut groups, residues, local) = run.groups(self.variant, growth, &rest);
        let (grown_groups, grown_records) =
            (groups.len() as u64, groups.iter().map(|group| group.summary.records).sum());
        progress.step("placing residues", Some(residues.len() as u64));
        let mut unplaced = if self.skip_dead {
            residue::join(&context, &mut groups, &residues, progress)
        } else {
            residue::merge(&context, &mut groups, &residues, progress)
        };
        unplaced.extend(merge_equal_cells(&context, &mut groups));
        let mut suppressed = records(&global) + records(&local) + records(&unplaced);
        let (mut local, mut unplaced) = (local, unplaced);
        if suppressed > suppressible || groups.is_empty() {
            // Global outliers are always suppressed. All other records can perhaps be kept.
            let others: Vec<u32> = local.iter().chain(&unplaced).copied().collect();
            let kept = records(&global) <= suppressible
                && keep_all(&context, &mut groups, &others, progress);
            if !kept {
                return Err(match groups.is_empty() {
                    true => {
                        no_group(data, forced.map_or(0, |f| f.outliers.global + f.outliers.local))
                    }
                    false => too_many(data, suppressed, suppressible, "would"),
                });
            }
            (local, unplaced) = (Vec::new(), Vec::new());
            suppressed = records(&global);
        }
        debug_assert_eq!(suppressed, records(&global) + records(&local) + records(&unplaced));
        let report = ExpansionReport {
            algorithm: self.card.name,
            forced,
            residues: records(&residues),
            dead_ends: run.dead_ends,
            grown_groups,
            grown_records,
            removed_global: records(&global),
            removed_local: records(&local),
            removed_residues: records(&unplaced),
            groups: groups.len() as u64,
            expansions: run.expansions,
            looked: context.outliers().iter().map(|outliers| outliers.evaluations()).sum(),
        };
        Ok(Recoding::new(collect(data, &groups)?).reporting(report))
    }
}

/// One run over a table.
struct Run<'a> {
    context: &'a GrowthContext<'a>,
    progress: &'a dyn Progress,
    expansions: u64,
    /// The number of records of seeds that were given up at cells with a dead corner.
    dead_ends: u64,
}

impl Run<'_> {
    /// Grows groups of the rows that are not global outliers. Returns the groups, the residues, and
    /// the suppressed rows.
    fn groups(
        &mut self,
        variant: Variant,
        growth: Growth,
        rows: &[u32],
    ) -> (Vec<GrowingGroup>, Vec<u32>, Vec<u32>) {
        self.progress.step("growing groups", Some(rows.len() as u64));
        if matches!(variant, Variant::ExpC | Variant::ExpCPlus) {
            let mut pool = Pool::new(self.context, rows);
            let (groups, residues) = self.grow_all(growth, &mut pool, rows);
            return (groups, residues, Vec::new());
        }
        let (outliers, others): (Vec<u32>, Vec<u32>) =
            rows.iter().partition(|&&row| self.context.is_outlier(row, false));
        let mut pool = Pool::new(self.context, &others);
        let (mut groups, mut residues) = (Vec::new(), Vec::new());
        if variant == Variant::Gof {
            (groups, residues) = self.grow_all(growth, &mut pool, &outliers);
        }
        let (more, mut rest) = self.grow_all(growth, &mut pool, &others);
        groups.extend(more);
        rest.append(&mut residues);
        match variant {
            Variant::Gnof => rest.extend(&outliers),
            Variant::Remove => return (groups, rest, outliers),
            _ => {}
        }
        (groups, rest, Vec::new())
    }

    /// Grows a group around each seed that is still in the pool or was never in it.
    fn grow_all(
        &mut self,
        growth: Growth,
        pool: &mut Pool<'_>,
        seeds: &[u32],
    ) -> (Vec<GrowingGroup>, Vec<u32>) {
        let (mut groups, mut residues) = (Vec::new(), Vec::new());
        for &seed in seeds {
            self.progress.advance(1);
            let belongs = pool.seed_order[seed as usize] != u32::MAX;
            if belongs && !pool.has(seed) {
                continue;
            }
            if belongs {
                pool.take(seed);
            }
            match growth.grow(self.context, pool, seed, &mut self.expansions) {
                Grown::Admitted(group) => groups.push(group),
                Grown::Stuck { dead } => {
                    self.dead_ends +=
                        if dead { self.context.data.weight(seed as usize) } else { 0 };
                    residues.push(seed);
                }
            }
        }
        (groups, residues)
    }
}

/// Merges groups with equal cells. Returns the rows of unions that are not admitted.
fn merge_equal_cells(context: &GrowthContext<'_>, groups: &mut Vec<GrowingGroup>) -> Vec<u32> {
    let mut alike: BTreeMap<Vec<Vec<u32>>, GrowingGroup> = BTreeMap::new();
    let mut grew: Vec<Vec<Vec<u32>>> = Vec::new();
    for group in groups.drain(..) {
        let key = context.cell_key(&group);
        match alike.get_mut(&key) {
            Some(known) => {
                *known = context.merged(known, &group);
                grew.push(key);
            }
            None => drop(alike.insert(key, group)),
        }
    }
    let mut rows = Vec::new();
    for key in grew {
        if alike.get(&key).is_some_and(|group| !context.admits(group))
            && let Some(group) = alike.remove(&key)
        {
            rows.extend(group.rows);
        }
    }
    groups.extend(alike.into_values());
    rows
}

/// Keeps all rows: rows join groups, and groups are merged, until the models admit every group,
/// possibly a single one. Returns `false` if not even that is admitted.
fn keep_all(
    context: &GrowthContext<'_>,
    groups: &mut Vec<GrowingGroup>,
    rows: &[u32],
    progress: &dyn Progress,
) -> bool {
    let mut everything = match (groups.first(), rows.first()) {
        (Some(first), _) => first.clone(),
        (None, Some(&row)) => context.single(row),
        (None, None) => return false,
    };
    let rest = if groups.is_empty() { &rows[1..] } else { rows };
    for group in groups.iter().skip(1) {
        everything = context.merged(&everything, group);
    }
    rest.iter().for_each(|&row| context.add(&mut everything, row));
    if !context.admits(&everything) {
        return false;
    }
    let mut merged = groups.clone();
    let left = residue::merge(context, &mut merged, rows, progress);
    let lost = merge_equal_cells(context, &mut merged);
    *groups = if left.is_empty() && lost.is_empty() { merged } else { vec![everything] };
    true
}

fn too_many(data: &Dataset, suppressed: u64, suppressible: u64, verb: &str) -> Error {
    let records = data.records();
    let least = if verb == "must" { "at least " } else { "" };
    Error::unsatisfiable(format!(
        "{least}{suppressed} of {records} records {verb} be suppressed to satisfy the models, and \
         the limit is {suppressible}"
    ))
    .help(
        "raise suppression_limit, or define fewer outliers with a larger p or d and fewer \
         distance_attributes",
    )
    .at("suppression_limit")
}

fn no_group(data: &Dataset, outliers: u64) -> Error {
    let records = data.records();
    Error::unsatisfiable(format!(
        "no group of the {records} records satisfies the models; {outliers} of them are outliers"
    ))
    .help(
        "define fewer outliers with a larger p or d and fewer distance_attributes, or weaken the \
         models",
    )
}

/// Creates a partition of the groups, in an order that does not depend on their growth.
fn collect(data: &Dataset, groups: &[GrowingGroup]) -> Result<Partition> {
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    let spans = |group: &GrowingGroup| -> Vec<Span> {
        let span = |q: usize| {
            let codes = || group.rows.iter().map(|&row| data.quasi_codes(row as usize)[q]);
            Span { lo: Code(codes().min().unwrap_or(0)), hi: Code(codes().max().unwrap_or(0)) }
        };
        (0..data.quasi().len()).map(span).collect()
    };
    let mut order: Vec<(Vec<Span>, &GrowingGroup)> =
        groups.iter().map(|group| (spans(group), group)).collect();
    order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.rows.cmp(&b.1.rows)));
    for (spans, group) in order {
        partition.add(&spans, group.rows.iter().map(|&row| RowId(row)))?;
    }
    Ok(partition)
}
