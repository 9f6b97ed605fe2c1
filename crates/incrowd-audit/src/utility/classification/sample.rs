//! Sampling of records and their division into folds.

use super::super::comparison::Comparison;
use super::super::rng::mix;
use super::MOST_RECORDS;

/// Records with their class labels.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelledRecords {
    /// The cell, or the leaf, of each quasi-identifier, by record.
    pub(super) places: Vec<Vec<u32>>,
    /// The class of each record.
    pub(super) classes: Vec<u32>,
}

impl LabelledRecords {
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns the records of all other folds, and those of one fold.
    pub(super) fn split(&self, fold: usize, folds: usize) -> (LabelledRecords, LabelledRecords) {
        let mut parts = (LabelledRecords::default(), LabelledRecords::default());
        for (i, (places, class)) in self.places.iter().zip(&self.classes).enumerate() {
            let part = if i % folds == fold { &mut parts.1 } else { &mut parts.0 };
            part.places.push(places.clone());
            part.classes.push(*class);
        }
        parts
    }
}

/// Draws a sample of the original. Records without a target value are excluded.
pub(super) fn of_original(comparison: &Comparison, target: usize, seed: u64) -> LabelledRecords {
    let mut draw = Draw::new(comparison.records, seed);
    for (row, &records) in comparison.counts.iter().enumerate() {
        let class = comparison.leaves[target][row];
        if comparison.lines[target].missing == Some(class) {
            continue;
        }
        let content =
            mix(seed, comparison.leaves.iter().map(|column| span(column[row], column[row])));
        draw.offer(content, records, row as u32, 0);
    }
    let place = |(_, row, _): (u64, u32, u32)| {
        let row = row as usize;
        let places = (0..comparison.quasi).map(|q| comparison.leaves[q][row]).collect();
        (places, comparison.leaves[target][row])
    };
    let (places, classes) = draw.drawn().into_iter().map(place).unzip();
    LabelledRecords { places, classes }
}

/// Draws a sample of the release. Records with a missing or suppressed target are excluded.
pub(super) fn of_release(comparison: &Comparison, target: usize, seed: u64) -> LabelledRecords {
    let quasi = comparison.quasi;
    let class = |rest: &[u32]| {
        let line = &comparison.lines[target];
        let cover = &line.covers[rest[target - quasi] as usize];
        let leaf = cover.spans().first().map_or(0, |(leaf, _)| *leaf);
        (cover.leaves() == 1 && line.missing != Some(leaf)).then_some(leaf)
    };
    let mut draw = Draw::new(comparison.published, seed);
    for (g, group) in comparison.groups.iter().enumerate() {
        for (r, (rest, records)) in group.rest.iter().enumerate() {
            if class(rest).is_none() {
                continue;
            }
            let cells = group.cells.iter().chain(rest).zip(&comparison.lines);
            let spans = cells.flat_map(|(&cell, line)| line.covers[cell as usize].spans());
            let content = mix(seed, spans.map(|&(lo, hi)| span(lo, hi)));
            draw.offer(content, *records, g as u32, r as u32);
        }
    }
    let place = |(_, g, r): (u64, u32, u32)| {
        let group = &comparison.groups[g as usize];
        (group.cells.clone(), class(&group.rest[r as usize].0).unwrap_or(0))
    };
    let (places, classes) = draw.drawn().into_iter().map(place).unzip();
    LabelledRecords { places, classes }
}

fn span(lo: u32, hi: u32) -> u64 {
    u64::from(lo) << 32 | u64::from(hi)
}

/// A sample of the records with the smallest hashes of their contents. It does not depend on the
/// order of reading, and equal records have equal hashes.
struct Draw {
    seed: u64,
    limit: u64,
    kept: Vec<(u64, u32, u32)>,
}

impl Draw {
    fn new(records: u64, seed: u64) -> Draw {
        // Hashes are uniform, so about twice as many as needed are below this limit. The others
        // need not be kept.
        let share = (2 * MOST_RECORDS) as f64 / records.max(1) as f64;
        let limit = if share >= 1.0 { u64::MAX } else { (share * u64::MAX as f64) as u64 };
        Draw { seed, limit, kept: Vec::new() }
    }

    fn offer(&mut self, content: u64, records: u64, row: u32, part: u32) {
        for copy in 0..records {
            let hash = mix(self.seed, [content, copy]);
            if hash <= self.limit {
                self.kept.push((hash, row, part));
            }
        }
    }

    fn drawn(mut self) -> Vec<(u64, u32, u32)> {
        self.kept.sort_unstable();
        self.kept.truncate(MOST_RECORDS);
        self.kept
    }
}
