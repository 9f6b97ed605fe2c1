//! MDAV: microaggregation. Groups are gathered around far records, so that the records of a group are near their mean.
//!
//! Papers: `domingo2005` for MDAV, `solanas2006` for groups of variable size.
//!
//! Where we differ: the two far records and the neighbours are found by a kd-tree, which finds the same ones; records with equal
//! values are taken together where that costs nothing; large tables are gathered in parts; groups are judged by the models, whatever they are, and merge where they
//! break a promise; at the end rows move between groups as long as that brings records nearer to their means.

mod gather;
mod merge;
mod moves;
mod report;
mod space;
#[cfg(test)]
mod tests;
mod tree;

pub use report::MdavReport;

use incrowd_core::model::{BoundModel, Need};
use incrowd_core::{Dataset, Divided, Param, ParamKind, Params, Partition, Progress, Result, RowId};

use crate::improve::{Metric, ModelCheck, Shapes};
use crate::mondrian::keeps_as_a_whole;
use crate::{Algorithm, Card, Recoding};
use gather::{Members, Size, gather};
use moves::{Moves, Patience};
use space::Space;

/// Moving rows takes at most so many looks at a pair of rows, and so many for each row.
const LOOKS: u64 = 200_000_000;
const LOOKS_PER_ROW: u64 = 600;

/// Tables of more distinct rows are gathered in parts: to find the farthest record takes the longer the more there are.
const BLOCK: usize = 16_384;

/// Groups are gone through at most so often.
const ROUNDS: usize = 60;

/// The list entry.
pub const CARD: Card = Card {
    name: "mdav",
    paper: "domingo2005",
    about: "Microaggregation: takes the record farthest from the mean with its nearest neighbours as a group, then the one farthest \
            from that, and so on; then moves records between groups as long as that brings them nearer to their means. Made for \
            numbers that are published as means (`[output] numbers = \"mean\"`), which keeps the means of the table. Columns count \
            alike, or as much as their weights say.",
    limits: "It makes records similar, not cells narrow: published as ranges or labels it loses more than `auto`. Groups overlap. \
             Means are values nobody need have. Only models that survive the merging of groups can be used, and none about a \
             population. It never suppresses.",
    params: &[
        Param {
            name: "size",
            kind: ParamKind::Choice(&["fixed", "variable"]),
            default: Some("fixed"),
            about: "whether groups are gathered with as few records as the promises need, or with up to one less than twice as many \
                    where records lie near",
        },
        Param {
            name: "gain",
            kind: ParamKind::Number(0.0, 100.0),
            default: Some("0.2"),
            about: "with `size = \"variable\"`: a record joins a group if its distance to it is less than this times its distance to \
                    any record left",
        },
        Param {
            name: "moves",
            kind: ParamKind::Flag,
            default: Some("true"),
            about: "whether records are moved between groups afterwards; without it the groups are those of the paper",
        },
    ],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(Mdav::new(params))),
};

/// The algorithm with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct Mdav {
    size: Size,
    moves: bool,
}

impl Mdav {
    fn new(params: &Params) -> Mdav {
        let size = match params.word("size") {
            "variable" => Size::Variable { gain: params.number("gain") },
            _ => Size::Fixed,
        };
        Mdav { size, moves: params.flag("moves") }
    }
}

impl Algorithm for Mdav {
    /// Two groups may have the same cells.
    fn needs_merging(&self) -> bool {
        true
    }

    fn supplies(&self, need: Need) -> bool {
        !matches!(need, Need::Region | Need::Population)
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
        _: u64,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        keeps_as_a_whole(CARD.name, data, models)?;
        let least = crate::fewest_records(models);
        progress.step("gathering", Some(data.records()));
        let mut space = Space::new(data);
        // Whose records stand apart, or what they weigh, must be known where that is promised about.
        let whole_rows = data.persons().is_some() || data.is_weighed();
        let gathered = gather(&space, data, least, self.size, whole_rows, BLOCK, progress);
        let (groups, divided) = as_rows(data, gathered);
        space.extend(divided.iter().map(|part| part.row.0));
        let data = &data.clone().divided(&divided);
        let shapes = Shapes::new(data, Metric::InformationLoss);
        let check = ModelCheck::new(data, models, &shapes);
        let groups = merge::merge(&space, &check, groups);
        let moves = Moves { space: &space, check: &check };
        let all = moves.total(&[(0..data.rows() as u32).collect()]);
        let share = |groups: &[Vec<u32>]| if all > 0.0 { moves.total(groups) / all } else { 0.0 };
        let gathered = share(&groups);
        let looks = LOOKS.max(LOOKS_PER_ROW * data.rows() as u64);
        let rounds = if self.moves { ROUNDS } else { 0 };
        let patience = Patience { rounds, least_gain: 0.0005, looks };
        let (groups, rounds, _) = moves.improve(groups, patience, progress);
        let il1s = il1s(&space, data, &groups);
        let report =
            MdavReport { groups: groups.len() as u64, gathered, moved: share(&groups), il1s, rounds };
        Ok(Recoding::new(partition(data, &shapes, divided, groups)?).reporting(report))
    }
}

/// The mean distance of a record from the mean of its group in a column of numbers, in standard deviations over the root of two.
///
/// Paper: `templ2015`, the measure IL1s. Columns are taken out of the weights they count with elsewhere.
fn il1s(space: &Space<'_>, data: &Dataset, groups: &[Vec<u32>]) -> f64 {
    let axes: Vec<usize> =
        (0..space.width()).filter(|&q| space.is_number(q) && data.quasi()[q].weight > 0.0).collect();
    if axes.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for rows in groups {
        let weighed: Members = rows.iter().map(|&row| (row, data.weight(row as usize))).collect();
        let middle = space.middle(&weighed);
        for &(row, records) in &weighed {
            let apart = |&q: &usize| (space.place(row)[q] - middle[q]).abs() / data.quasi()[q].weight.sqrt();
            sum += axes.iter().map(apart).sum::<f64>() * records as f64;
        }
    }
    // Deviations of a sample have one record less in the denominator.
    let n = data.records() as f64;
    let sample = if n > 1.0 { ((n - 1.0) / n).sqrt() } else { 1.0 };
    sum * sample / (n * axes.len() as f64 * std::f64::consts::SQRT_2)
}

/// The groups as rows; a row whose records are in several groups is divided.
fn as_rows(data: &Dataset, gathered: Vec<Members>) -> (Vec<Vec<u32>>, Vec<Divided>) {
    let mut left: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
    let mut divided: Vec<Divided> = Vec::new();
    let mut row = |(row, records): (u32, u64)| {
        // The last group that has records of a row takes the row itself, so that it keeps what is left.
        left[row as usize] -= records;
        if left[row as usize] == 0 {
            return row;
        }
        divided.push(Divided { row: RowId(row), records });
        (data.rows() + divided.len() - 1) as u32
    };
    let groups = gathered.into_iter().map(|group| group.into_iter().map(&mut row).collect()).collect();
    (groups, divided)
}

/// The groups as a partition, in the order of their first rows.
fn partition(
    data: &Dataset,
    shapes: &Shapes<'_>,
    divided: Vec<Divided>,
    mut groups: Vec<Vec<u32>>,
) -> Result<Partition> {
    groups.iter_mut().for_each(|rows| rows.sort_unstable());
    groups.sort_unstable_by_key(|rows| rows[0]);
    let mut partition = Partition::new(data.quasi().len(), data.rows() - divided.len());
    for part in divided {
        partition.divide(part.row, part.records);
    }
    for rows in &groups {
        let spans = shapes.spans(&shapes.of(rows.iter().copied()));
        partition.add(&spans, rows.iter().map(|&row| RowId(row)))?;
    }
    Ok(partition)
}
