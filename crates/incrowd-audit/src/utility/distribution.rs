//! Distributions over leaves: the original's, and the one a reader reconstructs from a release.

use super::comparison::Line;

/// The share of the original's records at each leaf.
pub(crate) fn original(line: &Line) -> Vec<f64> {
    let records: u64 = line.counts.iter().sum();
    line.counts.iter().map(|&n| n as f64 / records.max(1) as f64).collect()
}

/// What a reader reconstructs: each cell's records spread evenly over the leaves the cell covers.
pub(crate) fn reconstructed(line: &Line) -> Vec<f64> {
    let published: u64 = line.published.iter().sum();
    // Single leaves are counted in whole records, so that an untouched column is reconstructed to the last bit.
    let mut single = vec![0u64; line.leaves as usize];
    let mut wide = vec![0.0; line.leaves as usize];
    for (cover, &records) in line.covers.iter().zip(&line.published) {
        if let ([(leaf, _)], 1) = (cover.spans(), cover.leaves()) {
            single[*leaf as usize] += records;
            continue;
        }
        let each = records as f64 / f64::from(cover.leaves());
        for &(lo, hi) in cover.spans() {
            wide[lo as usize..=hi as usize].iter_mut().for_each(|mass| *mass += each);
        }
    }
    let total = published.max(1) as f64;
    single.iter().zip(&wide).map(|(&single, wide)| (single as f64 + wide) / total).collect()
}
