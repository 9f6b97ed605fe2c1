//! Expansion: a group grows around a seed, row by row, until every promise holds of it.
//!
//! Paper: `wang2009`, Algorithm 1 (ExpC) and the two it is compared with in section 8. Global outliers leave. Then every
//! row that is in no group is a seed; its group takes the row that makes it admitted, else the one that loses least, from
//! the rows that share the nearest value on some quasi-identifier. What cannot grow is a residue, and joins groups at the
//! end. GNOF grows groups without local outliers and lets them join; GOF grows them around local outliers first.
//!
//! Where we differ: rows are distinct rows, whose records stay together. Any model can be asked; one that knows outliers
//! tells which rows those are and which cells are hopeless. **ExpC+** never makes cells with a dead corner, which no further
//! growth mends, leaves residues out where joining costs more than that, and never merges groups. Theorem 6.2 being wrong,
//! what fits nowhere is left out, within the job's limit. A step looks at no more than 512 points and tries 16 different
//! rows; a residue of ExpC+ tries the 64 cheapest groups. Groups that would look alike are one group, and are judged as one.
//! Seeds come in an order drawn from the operating system, because order shows in the result; `seeds = "sorted"` makes the
//! same release again.

mod frontier;
mod grow;
mod growing;
mod line;
mod pool;
mod report;
mod residue;

pub use report::{ExpansionReport, forced_in_words, forced_json};

use std::collections::BTreeMap;

use incrowd_core::model::{BoundModel, Need};
use incrowd_core::{
    Code, Dataset, Error, Param, ParamKind, Params, Partition, Progress, Result, RowId, Span,
};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use crate::{Algorithm, Card, Recoding};
use grow::{Grown, Growth};
use growing::{GrowingGroup, GrowthContext};
use pool::Pool;

const DELTA: Param = Param {
    name: "delta",
    kind: ParamKind::Count(1),
    default: Some(""),
    about: "after so many rows a group that does not hold is helped, after twice as many given up; 4k, at least 8, if left out",
};

const SEEDS: Param = Param {
    name: "seeds",
    kind: ParamKind::Choice(&["shuffled", "sorted"]),
    default: Some("shuffled"),
    about: "the order in which rows start groups: by chance, or by their values, which makes the same release again",
};

const SKIP_DEAD: Param = Param {
    name: "skip_dead",
    kind: ParamKind::Flag,
    default: Some("false"),
    about: "grow and place residues as expc-plus does, never making cells with a dead corner",
};

/// ExpC, the algorithm of the paper.
pub const EXPC: Card = Card {
    name: "expc",
    paper: "wang2009",
    about: "Grows a group around each row that has none, always by the row that makes the promises hold or loses least, \
            without looking for local outliers first. Rows that cannot grow a group join others, which are merged until the \
            promises hold again.",
    limits: "The paper says that every local outlier fits into a plain group and that merging succeeds in the end. Neither is \
             so: growing a group can make it worse, and merging everything usually fails, after which the row is left out. \
             Prefer expc-plus, which is faster and loses less. Slow on large tables.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&EXPC, Way::ExpC, params),
};

/// ExpC+, ours.
pub const EXPC_PLUS: Card = Card {
    name: "expc-plus",
    paper: "wang2009",
    about: "ExpC with an eye for the hopeless: cells with a corner at which everybody would be an outlier whatever the \
            sensitive value are never made. A row that fits into no group, or only at a greater loss than its own, is left out. \
            The algorithm for plain-k-anonymity.",
    limits: "Greedy. With plain-k-anonymity many records may have to be left out whatever is done; the report says how many at \
             least. Somebody who knows that groups stop growing once they hold learns a little from their size.",
    params: &[DELTA, SEEDS],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&EXPC_PLUS, Way::ExpCPlus, params),
};

/// GNOF: groups of non-outliers first.
pub const GNOF: Card = Card {
    name: "gnof",
    paper: "wang2009",
    about: "Finds the local outliers, grows groups of the other rows as expc does, and lets outliers join groups at the end.",
    limits: "As expc. Meant for comparison.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&GNOF, Way::Gnof, params),
};

/// GOF: groups around outliers first.
pub const GOF: Card = Card {
    name: "gof",
    paper: "wang2009",
    about: "Finds the local outliers, grows a group of other rows around each of them, then goes on as expc does.",
    limits: "As expc. Meant for comparison.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&GOF, Way::Gof, params),
};

/// Remove: no outliers at all.
pub const REMOVE: Card = Card {
    name: "remove-outliers",
    paper: "wang2009",
    about: "Leaves every outlier out, global or local, and grows groups of the rest as expc does.",
    limits: "The release says nothing about unusual people, and removing them does not make the rest plain: corners may be \
             outliers though nobody is. Without a model that knows outliers it is expc.",
    params: &[DELTA, SEEDS, SKIP_DEAD],
    repeatable: &[("seeds", "sorted")],
    local: false,
    make: |params| Expansion::make(&REMOVE, Way::Remove, params),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ExpC,
    ExpCPlus,
    Gnof,
    Gof,
    Remove,
}

/// An algorithm of the family with its options.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    card: &'static Card,
    way: Way,
    delta: Option<u64>,
    shuffled: bool,
    skip_dead: bool,
}

impl Expansion {
    fn make(card: &'static Card, way: Way, params: &Params) -> Result<Box<dyn Algorithm>> {
        Ok(Box::new(Expansion {
            card,
            way,
            delta: params.optional_number("delta").map(|delta| delta as u64),
            shuffled: params.word("seeds") == "shuffled",
            skip_dead: way == Way::ExpCPlus || params.flag("skip_dead"),
        }))
    }

    /// The rows in the order in which they become seeds.
    fn order(&self, data: &Dataset) -> Vec<u32> {
        let mut rows: Vec<u32> =
            (0..data.rows() as u32).filter(|&row| data.weight(row as usize) > 0).collect();
        let codes = |row: u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
        rows.sort_unstable_by(|&a, &b| codes(a).cmp(&codes(b)));
        if self.shuffled {
            let mut chance: ChaCha20Rng = rand::make_rng();
            rows.shuffle(&mut chance);
        }
        rows
    }
}

impl Algorithm for Expansion {
    /// Groups that look alike are joined and judged again.
    fn needs_merging(&self) -> bool {
        false
    }

    fn supplies(&self, need: Need) -> bool {
        need != Need::Population
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
        let context = GrowthContext::new(data, models);
        let mut run = Run { context: &context, progress, expansions: 0, dead_ends: 0 };
        let forced = context.forced(progress);
        let least = forced.map_or(0, |forced| forced.removals());
        if least > suppressible {
            return Err(too_many(data, least, suppressible, "have to"));
        }
        let records = |rows: &[u32]| rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>();
        let (global, rest): (Vec<u32>, Vec<u32>) =
            self.order(data).into_iter().partition(|&row| context.stands_out(row, true));
        let delta = self.delta.unwrap_or_else(|| context.least().saturating_mul(4).max(8));
        let growth = Growth { delta, skip_dead: self.skip_dead };
        let (mut groups, residues, local) = run.groups(self.way, growth, &rest);
        let (grown_groups, grown_records) =
            (groups.len() as u64, groups.iter().map(|group| group.summary.records).sum());
        progress.step("placing what is left", Some(residues.len() as u64));
        let mut left = if self.skip_dead {
            residue::join(&context, &mut groups, &residues, progress)
        } else {
            residue::merge(&context, &mut groups, &residues, progress)
        };
        let alike = one_group_each(&context, &mut groups);
        left.extend(alike);
        let mut out = records(&global) + records(&local) + records(&left);
        let (mut local, mut left) = (local, left);
        if out > suppressible || groups.is_empty() {
            // Global outliers leave whatever happens; perhaps everybody else can stay.
            let others: Vec<u32> = local.iter().chain(&left).copied().collect();
            let held =
                records(&global) <= suppressible && hold_together(&context, &mut groups, &others, progress);
            if !held {
                return Err(match groups.is_empty() {
                    true => nothing(data, forced.map_or(0, |f| f.outliers.global + f.outliers.local)),
                    false => too_many(data, out, suppressible, "would"),
                });
            }
            (local, left) = (Vec::new(), Vec::new());
            out = records(&global);
        }
        debug_assert_eq!(out, records(&global) + records(&local) + records(&left));
        let report = ExpansionReport {
            algorithm: self.card.name,
            forced,
            residues: records(&residues),
            dead_ends: run.dead_ends,
            grown_groups,
            grown_records,
            removed_global: records(&global),
            removed_local: records(&local),
            removed_residues: records(&left),
            groups: groups.len() as u64,
            expansions: run.expansions,
            looked: context.outliers().iter().map(|outliers| outliers.looked()).sum(),
        };
        Ok(Recoding::new(collect(data, &groups)?).reporting(report))
    }
}

/// One run over a table.
struct Run<'a> {
    context: &'a GrowthContext<'a>,
    progress: &'a dyn Progress,
    expansions: u64,
    /// Records of seeds that were given up at cells with a dead corner.
    dead_ends: u64,
}

impl Run<'_> {
    /// Grows groups of the rows that are no global outliers: the groups, the residues, and the rows that were left out.
    fn groups(&mut self, way: Way, growth: Growth, rows: &[u32]) -> (Vec<GrowingGroup>, Vec<u32>, Vec<u32>) {
        self.progress.step("growing groups", Some(rows.len() as u64));
        if matches!(way, Way::ExpC | Way::ExpCPlus) {
            let mut pool = Pool::new(self.context, rows);
            let (groups, residues) = self.grow_all(growth, &mut pool, rows);
            return (groups, residues, Vec::new());
        }
        let (outliers, others): (Vec<u32>, Vec<u32>) =
            rows.iter().partition(|&&row| self.context.stands_out(row, false));
        let mut pool = Pool::new(self.context, &others);
        let (mut groups, mut residues) = (Vec::new(), Vec::new());
        if way == Way::Gof {
            (groups, residues) = self.grow_all(growth, &mut pool, &outliers);
        }
        let (more, mut rest) = self.grow_all(growth, &mut pool, &others);
        groups.extend(more);
        rest.append(&mut residues);
        match way {
            Way::Gnof => rest.extend(&outliers),
            Way::Remove => return (groups, rest, outliers),
            _ => {}
        }
        (groups, rest, Vec::new())
    }

    /// Grows a group around each of the seeds that is still in the pool, or that never was.
    fn grow_all(
        &mut self,
        growth: Growth,
        pool: &mut Pool<'_>,
        seeds: &[u32],
    ) -> (Vec<GrowingGroup>, Vec<u32>) {
        let (mut groups, mut residues) = (Vec::new(), Vec::new());
        for &seed in seeds {
            self.progress.advance(1);
            let belongs = pool.turn[seed as usize] != u32::MAX;
            if belongs && !pool.has(seed) {
                continue;
            }
            if belongs {
                pool.take(seed);
            }
            match growth.grow(self.context, pool, seed, &mut self.expansions) {
                Grown::Admitted(group) => groups.push(group),
                Grown::Stuck { dead } => {
                    self.dead_ends += if dead { self.context.data.weight(seed as usize) } else { 0 };
                    residues.push(seed);
                }
            }
        }
        (groups, residues)
    }
}

/// Joins groups that a reader could not tell apart; the rows of a union that is not admitted are returned.
fn one_group_each(context: &GrowthContext<'_>, groups: &mut Vec<GrowingGroup>) -> Vec<u32> {
    let mut alike: BTreeMap<Vec<Vec<u32>>, GrowingGroup> = BTreeMap::new();
    let mut grew: Vec<Vec<Vec<u32>>> = Vec::new();
    for group in groups.drain(..) {
        let looks = context.looks(&group);
        match alike.get_mut(&looks) {
            Some(known) => {
                *known = context.merged(known, &group);
                grew.push(looks);
            }
            None => drop(alike.insert(looks, group)),
        }
    }
    let mut rows = Vec::new();
    for looks in grew {
        if alike.get(&looks).is_some_and(|group| !context.admits(group))
            && let Some(group) = alike.remove(&looks)
        {
            rows.extend(group.rows);
        }
    }
    groups.extend(alike.into_values());
    rows
}

/// Keeps everybody after all: rows join groups, and groups each other, until the promises hold, be it of one group of all.
/// False if they do not even then.
fn hold_together(
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
    let lost = one_group_each(context, &mut merged);
    *groups = if left.is_empty() && lost.is_empty() { merged } else { vec![everything] };
    true
}

fn too_many(data: &Dataset, out: u64, suppressible: u64, would: &str) -> Error {
    let records = data.records();
    let least = if would == "have to" { "at least " } else { "" };
    Error::unsatisfiable(format!(
        "{least}{out} of {records} records {would} be left out to keep the promises, and {suppressible} may be"
    ))
    .help("raise suppression_limit; or ask for outliers that are farther out (a larger p or d) on fewer distance_attributes")
    .at("suppression_limit")
}

fn nothing(data: &Dataset, outliers: u64) -> Error {
    let records = data.records();
    Error::unsatisfiable(format!(
        "no group of the {records} records keeps the promises; {outliers} of them are outliers"
    ))
    .help("ask for outliers that are farther out (a larger p or d) on fewer distance_attributes, or for less")
}

/// Turns groups into a partition, in an order that says nothing about how they came about.
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
