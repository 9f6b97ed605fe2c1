//! TopDown: divides the table recursively around two distant people, then merges groups that are
//! too small.
//!
//! Papers: `xu2006` for the algorithm, `sacharidis2010` for the form it has here; the exact form is
//! in `docs/papers.md`.
//!
//! Differences from the papers: the pair is found by three steps to the farthest row instead of
//! comparing all pairs. A row joins the side on which records times perimeter grow least. An
//! undersized group merges with the group near it in the tree for which the loss grows least.
//! Records with equal quasi-identifiers stay together. Groups are checked by all models.

mod column_costs;
mod merge;
mod points;
mod split;
#[cfg(test)]
mod tests;
mod tree;

pub use column_costs::ColumnCosts;
pub(crate) use column_costs::less;

use incrowd_core::model::BoundModel;
use incrowd_core::{
    Code, Dataset, Error, GroupSummary, Param, Params, Partition, Population, Progress, Result,
    RowId, Span,
};

use crate::join::{Grouping, JoinAlgorithm, JoinRules};
use crate::mondrian::require_valid_whole;
use crate::{Algorithm, Card, Recoding, Task};
use merge::{Merging, OpenGroup};
use points::Points;
use split::Splitting;
use tree::PartTree;

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "top-down",
    paper: "xu2006",
    about: "Finds two distant people, assigns all others to one of them, and repeats that on both \
            sides until groups are small; groups that violate a model then merge with neighbours. \
            Boxes may have any position, so it often loses less than `mondrian`.",
    limits: "Slower than `mondrian`, and boxes overlap. That weakens no guarantee, but an \
             adversary who knows the algorithm can rule out a box if a tighter one was possible. \
             It never suppresses. Only models that survive the merging of groups can be used.",
    params: &[
        Param::choice("merge", &["near", "all"]).or("near").about(
            "where an undersized group searches for a group to merge with: among at least 16 \
            groups near it in the tree, or among all, which is slow",
        ),
        Param::count("seed", 0).or("1").about(
            "determines the order in which rows are assigned to a side: equal seeds give equal \
            groups; it is not published",
        ),
    ],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(TopDown::new(params))),
};

/// The groups among which an undersized group searches for one to merge with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSearch {
    /// Among groups near it in the tree.
    Near,
    /// Among all groups.
    All,
}

/// The algorithm with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopDown {
    /// The groups among which an undersized group searches for one to merge with.
    pub merge_search: MergeSearch,
    /// Determines the order in which rows are assigned to a side.
    pub seed: u64,
}

impl Default for TopDown {
    fn default() -> Self {
        TopDown { merge_search: MergeSearch::Near, seed: 1 }
    }
}

impl TopDown {
    fn new(params: &Params) -> TopDown {
        let merge_search =
            if params.word("merge") == "all" { MergeSearch::All } else { MergeSearch::Near };
        TopDown { merge_search, seed: params.count("seed") }
    }

    /// Divides the points and merges undersized groups until every group is `enough`.
    fn clusters(
        &self,
        data: &Dataset,
        points: &Points,
        min_records: u64,
        summary: &dyn Fn(&[u32]) -> GroupSummary,
        enough: &dyn Fn(&OpenGroup) -> bool,
        progress: &dyn Progress,
    ) -> (PartTree, Vec<OpenGroup>) {
        let costs = ColumnCosts::new(data);
        let (order, nodes) =
            Splitting { costs: &costs, points, min_records, seed: self.seed, progress }.run();
        let tree = PartTree::new(&nodes);
        let open = tree.leaves.iter().map(|&(from, to)| {
            OpenGroup::new(points, &costs, &order[from as usize..to as usize], &|p| {
                summary(points.rows(p))
            })
        });
        let open: Vec<OpenGroup> = open.collect();
        progress.step("merging", None);
        let mut merging = Merging::new(open, &costs, &tree, self.merge_search);
        merging.run(enough);
        let groups = merging.into_groups();
        (tree, groups)
    }
}

/// Returns the rows of a group.
fn rows_of(points: &Points, group: &OpenGroup) -> Vec<u32> {
    group.points.iter().flat_map(|&point| points.rows(point)).copied().collect()
}

fn spans_of(group: &OpenGroup) -> Vec<Span> {
    group.spans.iter().map(|&(lo, hi)| Span { lo: Code(lo), hi: Code(hi) }).collect()
}

/// Returns the rows of the population that the cells of a group cover.
fn covered(
    data: &Dataset,
    population: &Population,
    points: &Points,
    group: &OpenGroup,
) -> Vec<u32> {
    let rows = group.points.iter().map(|&point| points.rows(point)[0]);
    population.covered_by(data, &spans_of(group), rows, 0..population.rows() as u32)
}

impl Algorithm for TopDown {
    fn weighs(&self) -> bool {
        true
    }

    /// Two groups may have the same cells.
    fn needs_merging(&self) -> bool {
        true
    }

    fn join(&self) -> Option<&dyn JoinAlgorithm> {
        Some(self)
    }

    fn solve(&self, Task { data, models, progress, .. }: Task<'_>) -> Result<Recoding> {
        require_valid_whole(CARD.name, data, models)?;
        let needs_population =
            |m: &dyn BoundModel| crate::exceeds_counting(m) && m.sensitive_column().is_none();
        let population =
            data.population().filter(|_| models.iter().any(|m| needs_population(&**m)));
        let min_records = crate::fewest_records(models);
        let counted = models.iter().all(|model| model.least_records().is_some());
        let rows: Vec<u32> = (0..data.rows() as u32).collect();
        progress.step("splitting", Some(rows.len() as u64));
        let points = Points::new(data, &rows, &|_| true);
        let summary = |rows: &[u32]| {
            if !counted {
                return data.summary(rows.iter().map(|&row| row as usize));
            }
            let records = rows.iter().map(|&row| data.weight(row as usize)).sum();
            GroupSummary { records, ..GroupSummary::default() }
        };
        let enough = |group: &OpenGroup| {
            let Some(population) = population else {
                return models.iter().all(|model| model.admits(&group.summary).holds);
            };
            let people = population.people(&covered(data, population, &points, group));
            let summary = GroupSummary { population: people, ..group.summary.clone() };
            models.iter().all(|model| model.admits(&summary).holds)
        };
        let (_, groups) = self.clusters(data, &points, min_records, &summary, &enough, progress);
        if let Some(population) = population {
            require_covered(data, population, &points, &groups, models)?;
        }
        let mut partition = Partition::new(data.quasi().len(), data.rows());
        for group in &groups {
            partition.add(&spans_of(group), rows_of(&points, group).into_iter().map(RowId))?;
        }
        Ok(Recoding::new(partition))
    }
}

/// Returns an error if no group covers some people and a model does not admit that.
fn require_covered(
    data: &Dataset,
    population: &Population,
    points: &Points,
    groups: &[OpenGroup],
    models: &[Box<dyn BoundModel>],
) -> Result<()> {
    let mut reached = vec![false; population.rows()];
    for group in groups {
        covered(data, population, points, group)
            .iter()
            .for_each(|&row| reached[row as usize] = true);
    }
    let left = (0..population.rows() as u32).filter(|&row| !reached[row as usize]);
    let people = left.map(|row| population.weight(row)).sum();
    let uncovered =
        GroupSummary { population: people, ..GroupSummary::empty(data.sensitive().len()) };
    let violated = models.iter().any(|model| {
        model.sensitive_column().is_none()
            && crate::exceeds_counting(&**model)
            && !model.admits(&uncovered).holds
    });
    if people > 0 && violated {
        return Err(Error::unsatisfiable(format!(
            "no group of `top-down` covers {people} people of the population, which violates a \
             model"
        ))
        .help("`mondrian` can cover the whole population")
        .at("name"));
    }
    Ok(())
}

impl JoinAlgorithm for TopDown {
    fn group(
        &self,
        data: &Dataset,
        rows: &[u32],
        rules: &JoinRules<'_>,
        progress: &dyn Progress,
    ) -> Result<Grouping> {
        let points = Points::new(data, rows, &|row| rules.is_microdata(row));
        let none = |_: &[u32]| GroupSummary::default();
        // Groups that contain only external rows are not published, so they need not be large
        // enough.
        let enough = |group: &OpenGroup| group.records >= rules.least() || group.own == 0;
        let (tree, mut groups) =
            self.clusters(data, &points, rules.least(), &none, &enough, progress);
        groups.retain(|group| group.own > 0);
        let mut grouping = Grouping::default();
        let mut summaries = Vec::with_capacity(groups.len());
        for group in &groups {
            let rows = rows_of(&points, group);
            summaries.push(rules.summary(data, &rows));
            grouping.rows.extend(rows);
            grouping.ends.push(grouping.rows.len());
        }
        let anchors: Vec<u32> = groups.iter().map(|group| group.anchor).collect();
        grouping.starts =
            tree.sensitive_groups(&anchors, &summaries, &|summary| rules.admits(summary));
        Ok(grouping)
    }
}
