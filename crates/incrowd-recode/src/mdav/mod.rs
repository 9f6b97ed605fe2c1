//! MDAV: microaggregation. Groups are formed around distant records, so that the records of a group
//! are near their mean.
//!
//! Papers: `domingo2005` for MDAV, `solanas2006` for groups of variable size.
//!
//! Differences from the papers: a kd-tree finds the two distant records and the neighbours, with
//! the same results as a scan. Records with equal values are taken together if that makes no
//! difference. Large tables are processed in blocks. Groups are checked by all models and merge if
//! they violate one. At the end rows move between groups while that brings records nearer to their
//! means.

mod gather;
mod merge;
mod moves;
mod report;
mod space;
#[cfg(test)]
mod tests;
mod tree;

pub use report::MdavReport;

use incrowd_core::model::Need;
use incrowd_core::{Dataset, Divided, Param, Params, Partition, Result, RowId};

use crate::improve::{Metric, ModelCheck, Shapes};
use crate::mondrian::require_valid_whole;
use crate::{Algorithm, Card, Recoding, Task};
use gather::{Members, Size, gather};
use moves::{Moves, StopRule};
use space::Space;

/// The limits of comparisons of two rows while rows are moved: in total, and per row. The greater
/// one applies.
const COMPARISONS: u64 = 200_000_000;
const COMPARISONS_PER_ROW: u64 = 600;

/// Tables with more distinct rows are processed in blocks, because the search of the farthest
/// record takes time in proportion to the number of rows.
const BLOCK: usize = 16_384;

/// The greatest number of rounds of moves.
const ROUNDS: usize = 60;

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "mdav",
    paper: "domingo2005",
    about: "Microaggregation: forms a group from the record farthest from the mean and its nearest \
            neighbours, then from the one farthest from that, and so on; then moves records \
            between groups while that brings them nearer to their means. Made for numbers that are \
            published as means (`[output] numbers = \"mean\"`), which preserves the means of the \
            table. All columns have equal importance unless the job sets their weights.",
    limits: "It makes records similar, not cells narrow: published as ranges or labels it loses \
             more than `auto`. Groups overlap. Means are values that may not occur in the table. \
             Only models that survive the merging of groups can be used, and none about a \
             population. It never suppresses.",
    params: &[
        Param::choice("size", &["fixed", "variable"]).or("fixed").about(
            "whether groups have the least number of records that the models require, or up to \
            one less than twice as many if records are near each other",
        ),
        Param::number("gain", 0.0, 100.0).or("0.2").about(
            "with `size = \"variable\"`: a record joins a group if its distance to it is less \
            than this times its distance to any remaining record",
        ),
        Param::flag("moves").or("true").about(
            "whether records are moved between groups afterwards; without moves the groups are \
            those of the paper",
        ),
    ],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(Mdav::new(params))),
};

/// The algorithm with its parameters.
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

    fn solve(&self, Task { data, models, progress, .. }: Task<'_>) -> Result<Recoding> {
        require_valid_whole(CARD.name, data, models)?;
        let least = crate::fewest_records(models);
        progress.step("gathering", Some(data.records()));
        let mut space = Space::new(data);
        // Persons and sampling weights belong to single records, so rows must then stay whole.
        let whole_rows = data.persons().is_some() || data.has_sampling_weights();
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
        let comparisons = COMPARISONS.max(COMPARISONS_PER_ROW * data.rows() as u64);
        let rounds = if self.moves { ROUNDS } else { 0 };
        let stop = StopRule { rounds, least_gain: 0.0005, comparisons };
        let (groups, rounds, _) = moves.improve(groups, stop, progress);
        let il1s = il1s(&space, data, &groups);
        let report = MdavReport {
            groups: groups.len() as u64,
            gathered,
            moved: share(&groups),
            il1s,
            rounds,
        };
        Ok(Recoding::new(partition(data, &shapes, divided, groups)?).reporting(report))
    }
}

/// Returns the mean distance of a record from the mean of its group in a column of numbers, in
/// units of standard deviations times √2.
///
/// Paper: `templ2015`, the measure IL1s. It does not depend on the importance of the columns.
fn il1s(space: &Space<'_>, data: &Dataset, groups: &[Vec<u32>]) -> f64 {
    let axes: Vec<usize> = (0..space.width())
        .filter(|&q| space.is_number(q) && data.quasi()[q].weight > 0.0)
        .collect();
    if axes.is_empty() {
        return 0.0;
    }
    let mut sum = 0.0;
    for rows in groups {
        let counted: Members = rows.iter().map(|&row| (row, data.weight(row as usize))).collect();
        let centre = space.centre(&counted);
        for &(row, records) in &counted {
            let distance = |&q: &usize| {
                (space.point(row)[q] - centre[q]).abs() / data.quasi()[q].weight.sqrt()
            };
            sum += axes.iter().map(distance).sum::<f64>() * records as f64;
        }
    }
    // The standard deviation of a sample divides by n - 1.
    let n = data.records() as f64;
    let sample = if n > 1.0 { ((n - 1.0) / n).sqrt() } else { 1.0 };
    sum * sample / (n * axes.len() as f64 * std::f64::consts::SQRT_2)
}

/// Converts groups of members into groups of rows. A row whose records are in several groups is
/// divided.
fn as_rows(data: &Dataset, gathered: Vec<Members>) -> (Vec<Vec<u32>>, Vec<Divided>) {
    let mut left: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
    let mut divided: Vec<Divided> = Vec::new();
    let mut row = |(row, records): (u32, u64)| {
        // The last group with records of a row gets the row itself. The other groups get divided
        // rows.
        left[row as usize] -= records;
        if left[row as usize] == 0 {
            return row;
        }
        divided.push(Divided { row: RowId(row), records });
        (data.rows() + divided.len() - 1) as u32
    };
    let groups =
        gathered.into_iter().map(|group| group.into_iter().map(&mut row).collect()).collect();
    (groups, divided)
}

/// Creates a partition of the groups, in the order of their first rows.
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
