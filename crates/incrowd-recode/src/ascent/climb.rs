//! From the cheapest combination of levels to the dearest: whoever finds company there stays.

use incrowd_core::model::BoundModel;
use incrowd_core::population::Cell;
use incrowd_core::{Code, Dataset, GroupSummary, Progress, Span};
use rayon::prelude::*;

use super::blocks::{ALONE, Blocks, Part};
use super::shape::Shapes;
use super::stairs::Stair;

/// So many combinations are looked at side by side. Always the same, so that threads do not show.
const SIDE_BY_SIDE: usize = 32;

/// Says whether rows may be a group.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) data: &'a Dataset,
    models: Vec<&'a dyn BoundModel>,
    /// No group has fewer records.
    pub(super) least: u64,
    shapes: &'a Shapes<'a>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        shapes: &'a Shapes<'a>,
    ) -> Judge<'a> {
        let least = models.iter().filter_map(|model| model.least_records()).max().unwrap_or(1).max(1);
        let others = models.iter().filter(|model| model.least_records().is_none());
        Judge { data, models: others.map(|model| &**model).collect(), least, shapes }
    }

    /// Whether the number of records is all that matters.
    pub(super) fn only_counts(&self) -> bool {
        self.models.is_empty()
    }

    /// Whether these rows, which have so many records, may be a group.
    pub(super) fn admits(&self, rows: &[u32], records: u64) -> bool {
        if records < self.least {
            return false;
        }
        if self.models.is_empty() {
            return true;
        }
        let mut summary = GroupSummary::empty(self.data.sensitive().len());
        for &row in rows {
            summary.add(self.data.weight(row as usize), self.data.sensitive_codes(row as usize));
        }
        if self.data.population().is_some() {
            summary.population = self.people(rows);
        }
        self.models.iter().all(|model| model.admits(&summary).holds)
    }

    /// How many people of the population the group's cells cover.
    fn people(&self, rows: &[u32]) -> u64 {
        let Some(population) = self.data.population() else { return 0 };
        let spans: Vec<Span> = self.shapes.spans(&self.shapes.of(rows.iter().copied()));
        let values = |q: usize| {
            let mut codes: Vec<Code> =
                rows.iter().map(|&row| Code(self.data.quasi_codes(row as usize)[q])).collect();
            codes.sort_unstable();
            codes.dedup();
            codes
        };
        let values: Vec<Vec<Code>> = (0..spans.len()).map(values).collect();
        let cell = |q: usize| Cell::new(&self.data.quasi()[q].domain, spans[q], &values[q]);
        let cells: Vec<Cell<'_>> = (0..spans.len()).map(cell).collect();
        population.people(&population.covered(&cells, 0..population.rows() as u32))
    }
}

/// Groups of rows, and the rows that found no company.
pub(super) struct Climbed {
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) rest: Vec<u32>,
}

/// Climbs through the nodes in the order given.
pub(super) fn climb(
    judge: &Judge<'_>,
    stairs: &[Stair],
    nodes: &[Vec<u8>],
    progress: &dyn Progress,
) -> Climbed {
    let mut rest: Vec<u32> = (0..judge.data.rows() as u32).collect();
    let mut groups = Vec::new();
    let mut blocks = Blocks::new(stairs, rest.len());
    for nodes in nodes.chunks(SIDE_BY_SIDE) {
        if rest.is_empty() {
            break;
        }
        blocks.prepare(judge, nodes, &rest);
        // Rows only leave while the nodes of a chunk are gone through, so a node without company has none later either.
        let any = |census: &mut Census, node: &Vec<u8>| census.any(judge, &blocks.parts(node), &rest);
        let company: Vec<bool> = nodes.par_iter().map_init(Census::default, any).collect();
        let mut census = Census::default();
        for (node, _) in nodes.iter().zip(company).filter(|(_, company)| *company) {
            census.take(judge, &blocks.parts(node), &mut rest, &mut groups);
        }
        progress.advance(nodes.len() as u64);
    }
    Climbed { groups, rest }
}

/// Counts who would be published alike.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Open addressing: the key and the class of it.
    slots: Vec<(u64, u32)>,
    /// The rows that may have company, with their class.
    classes: Vec<(u32, u32)>,
    /// The records of each class.
    records: Vec<u64>,
}

impl Census {
    fn count(&mut self, judge: &Judge<'_>, parts: &[&Part], rows: &[u32]) {
        const FREE: u32 = u32::MAX;
        self.classes.clear();
        self.records.clear();
        let slots = (2 * rows.len()).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(slots, (0, FREE));
        'rows: for &row in rows {
            let mut key = 0u64;
            for part in parts {
                let class = part.classes[row as usize];
                if class == ALONE {
                    continue 'rows;
                }
                key = key.wrapping_mul(part.count).wrapping_add(u64::from(class));
            }
            let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (slots - 1);
            let class = loop {
                let (there, class) = self.slots[at];
                if class == FREE {
                    let class = self.records.len() as u32;
                    self.slots[at] = (key, class);
                    self.records.push(0);
                    break class;
                }
                if there == key {
                    break class;
                }
                at = (at + 1) & (slots - 1);
            };
            self.records[class as usize] += judge.data.weight(row as usize);
            self.classes.push((row, class));
        }
    }

    /// Whether some class is large enough.
    fn any(&mut self, judge: &Judge<'_>, parts: &[&Part], rows: &[u32]) -> bool {
        self.count(judge, parts, rows);
        self.records.iter().any(|&records| records >= judge.least)
    }

    /// Which rows are in a class that is large enough, by row.
    pub(super) fn crowded(&mut self, judge: &Judge<'_>, parts: &[&Part], rows: &[u32]) -> Vec<bool> {
        self.count(judge, parts, rows);
        let mut crowded = vec![false; judge.data.rows()];
        for &(row, class) in &self.classes {
            crowded[row as usize] = self.records[class as usize] >= judge.least;
        }
        crowded
    }

    /// Moves the rows of every class that may be a group to the groups.
    fn take(&mut self, judge: &Judge<'_>, parts: &[&Part], rows: &mut Vec<u32>, groups: &mut Vec<Vec<u32>>) {
        self.count(judge, parts, rows);
        let mut large: Vec<Vec<u32>> = vec![Vec::new(); self.records.len()];
        for &(row, class) in &self.classes {
            if self.records[class as usize] >= judge.least {
                large[class as usize].push(row);
            }
        }
        let admitted = |(rows, &records): (&Vec<u32>, &u64)| !rows.is_empty() && judge.admits(rows, records);
        let admitted: Vec<bool> = if judge.only_counts() {
            large.iter().zip(&self.records).map(admitted).collect()
        } else {
            large.par_iter().zip(&self.records).map(admitted).collect()
        };
        let mut leaving = self
            .classes
            .iter()
            .filter(|(_, class)| admitted[*class as usize])
            .map(|(row, _)| *row)
            .peekable();
        rows.retain(|row| leaving.next_if_eq(row).is_none());
        let taken = large.into_iter().zip(admitted).filter(|(_, admitted)| *admitted);
        groups.extend(taken.map(|(rows, _)| rows));
    }
}
