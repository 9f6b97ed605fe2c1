//! TopDown: part the table around two people far from each other, again and again, then merge what is too small.
//!
//! Papers: `xu2006` for the algorithm, `sacharidis2010` for the form it has here; the exact form is in `docs/papers.md`.
//!
//! Where we differ: the pair is found by three steps to the farthest row instead of by looking at all pairs; a row joins the
//! side on which rows times perimeter grow least; an undersized group merges with the group near it in the tree for which the
//! loss grows least; records with equal quasi-identifiers stay together; groups are judged by the models, whatever they are.

mod lines;
mod merge;
mod points;
mod split;
#[cfg(test)]
mod tests;
mod tree;

pub use lines::Lines;
pub(crate) use lines::less;

use incrowd_core::model::{BoundModel, Verdict};
use incrowd_core::population::PublishedCell;
use incrowd_core::{
    Code, Dataset, Error, GroupSummary, Param, ParamKind, Params, Partition, Population, Progress, Result,
    RowId, Span,
};

use crate::join::{Grouping, JoinAlgorithm, JoinRules};
use crate::{Algorithm, Card};
use merge::{Live, Merging};
use points::Points;
use split::Splitting;
use tree::Tree;

/// The list entry.
pub const CARD: Card = Card {
    name: "top-down",
    paper: "xu2006",
    about: "Finds two people far from each other, lets everybody else join one of them, and does the same on both sides until \
            groups are small; groups that break a promise then merge with neighbours. Boxes may take any place, so it often \
            loses less than `mondrian`.",
    limits: "Slower than `mondrian`, and boxes overlap, which weakens no promise but lets somebody who knows the algorithm \
             rule out a box where a tighter one was to be had. It never suppresses. Only models that survive the merging of \
             groups can be used.",
    params: &[
        Param {
            name: "merge",
            kind: ParamKind::Choice(&["near", "all"]),
            default: Some("near"),
            about: "where an undersized group looks for company: among at least 16 groups near it in the tree, or everywhere, \
                    which is slow",
        },
        Param {
            name: "seed",
            kind: ParamKind::Count(0),
            default: Some("1"),
            about: "in which order rows choose a side: the same seed makes the same groups; it is not published",
        },
    ],
    repeatable: &[],
    local: true,
    make: |params| Ok(Box::new(TopDown::new(params))),
};

/// Where an undersized group looks for others to merge with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeSearch {
    /// Among groups near it in the tree.
    Near,
    /// Among all groups.
    All,
}

/// The algorithm with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopDown {
    /// Where an undersized group looks for others to merge with.
    pub merge_search: MergeSearch,
    /// In which order rows choose a side.
    pub seed: u64,
}

impl Default for TopDown {
    fn default() -> Self {
        TopDown { merge_search: MergeSearch::Near, seed: 1 }
    }
}

impl TopDown {
    fn new(params: &Params) -> TopDown {
        let merge_search = if params.word("merge") == "all" { MergeSearch::All } else { MergeSearch::Near };
        TopDown { merge_search, seed: params.count("seed") }
    }

    /// Parts the points and merges what is undersized; a group is left when `enough` says so.
    fn clusters(
        &self,
        data: &Dataset,
        points: &Points,
        least: u64,
        summary: &dyn Fn(&[u32]) -> GroupSummary,
        enough: &dyn Fn(&Live) -> bool,
        progress: &dyn Progress,
    ) -> (Tree, Vec<Live>) {
        let lines = Lines::new(data);
        let (order, nodes) = Splitting { lines: &lines, points, least, seed: self.seed, progress }.run();
        let tree = Tree::new(&nodes);
        let live = tree.leaves.iter().map(|&(from, to)| {
            Live::new(points, &lines, &order[from as usize..to as usize], &|p| summary(points.rows(p)))
        });
        let live: Vec<Live> = live.collect();
        progress.step("merging", None);
        let mut merging = Merging::new(live, &lines, &tree, self.merge_search);
        merging.run(enough);
        let groups = merging.into_groups();
        (tree, groups)
    }
}

/// The rows of a group.
fn rows_of(points: &Points, group: &Live) -> Vec<u32> {
    group.points.iter().flat_map(|&point| points.rows(point)).copied().collect()
}

/// The rows of the population that the cells of a group cover.
fn covered(data: &Dataset, population: &Population, points: &Points, group: &Live) -> Vec<u32> {
    let values = |line: usize| {
        let mut codes: Vec<Code> =
            group.points.iter().map(|&point| Code(points.codes(point)[line])).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    };
    let values: Vec<Vec<Code>> = (0..group.spans.len()).map(values).collect();
    let spans = group.spans.iter().map(|&(lo, hi)| Span { lo: Code(lo), hi: Code(hi) });
    let cells: Vec<PublishedCell<'_>> = spans
        .zip(data.quasi())
        .zip(&values)
        .map(|((span, quasi), values)| PublishedCell::new(&quasi.domain, span, values))
        .collect();
    population.covered(&cells, 0..population.rows() as u32)
}

impl Algorithm for TopDown {
    /// Two groups may have the same cells.
    fn weighs(&self) -> bool {
        true
    }

    fn needs_merging(&self) -> bool {
        true
    }

    fn join(&self) -> Option<&dyn JoinAlgorithm> {
        Some(self)
    }

    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        _: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        let whole = data.whole();
        if let Some(verdict) = models.iter().map(|m| m.admits(&whole)).find(|verdict| !verdict.holds) {
            let Verdict { what, have, need, .. } = verdict;
            return Err(Error::unsatisfiable(format!(
                "`top-down` parts a table that keeps its promises as a whole, and of this one the {what} is {have:.6}, \
                 where {need:.6} is needed"
            ))
            .help("ask for less"));
        }
        let asks = |m: &dyn BoundModel| crate::asks_more(m) && m.looks_at().is_none();
        let population = data.population().filter(|_| models.iter().any(|model| asks(&**model)));
        let least = crate::fewest_records(models);
        let counted = models.iter().all(|model| model.least_records().is_some());
        let rows: Vec<u32> = (0..data.rows() as u32).collect();
        progress.step("parting", Some(rows.len() as u64));
        let points = Points::new(data, &rows, &|_| true);
        let summary = |rows: &[u32]| {
            if !counted {
                return data.summary(rows.iter().map(|&row| row as usize));
            }
            let records = rows.iter().map(|&row| data.weight(row as usize)).sum();
            GroupSummary { records, ..GroupSummary::default() }
        };
        let enough = |group: &Live| {
            let Some(population) = population else {
                return models.iter().all(|model| model.admits(&group.summary).holds);
            };
            let people = population.people(&covered(data, population, &points, group));
            let summary = GroupSummary { population: people, ..group.summary.clone() };
            models.iter().all(|model| model.admits(&summary).holds)
        };
        let (_, groups) = self.clusters(data, &points, least, &summary, &enough, progress);
        if let Some(population) = population {
            outside(data, population, &points, &groups, models)?;
        }
        let mut partition = Partition::new(data.quasi().len(), data.rows());
        for group in &groups {
            let spans: Vec<Span> =
                group.spans.iter().map(|&(lo, hi)| Span { lo: Code(lo), hi: Code(hi) }).collect();
            partition.add(&spans, rows_of(&points, group).into_iter().map(RowId))?;
        }
        Ok(partition)
    }
}

/// Refuses groups that leave people uncovered of whom a model promises something.
fn outside(
    data: &Dataset,
    population: &Population,
    points: &Points,
    groups: &[Live],
    models: &[Box<dyn BoundModel>],
) -> Result<()> {
    let mut reached = vec![false; population.rows()];
    for group in groups {
        covered(data, population, points, group).iter().for_each(|&row| reached[row as usize] = true);
    }
    let left = (0..population.rows() as u32).filter(|&row| !reached[row as usize]);
    let people = left.map(|row| population.weight(row)).sum();
    let nobody = GroupSummary { population: people, ..GroupSummary::empty(data.sensitive().len()) };
    let broken = models.iter().any(|model| {
        model.looks_at().is_none() && crate::asks_more(&**model) && !model.admits(&nobody).holds
    });
    if people > 0 && broken {
        return Err(Error::unsatisfiable(format!(
            "`top-down` leaves {people} people of the population without a box that covers them, and something is promised of them"
        ))
        .help("`mondrian` can keep everybody covered")
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
        // Groups of external rows alone may merge with others and need not stand.
        let enough = |group: &Live| group.records >= rules.least() || group.own == 0;
        let (tree, mut groups) = self.clusters(data, &points, rules.least(), &none, &enough, progress);
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
        grouping.starts = tree.sensitive_groups(&anchors, &summaries, &|summary| rules.admits(summary));
        Ok(grouping)
    }
}
