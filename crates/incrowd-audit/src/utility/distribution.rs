//! Distributions over leaves, of the original and of the reconstruction from a release.

use super::comparison::Line;

/// Returns the share of the original's records per leaf.
pub(crate) fn original(line: &Line) -> Vec<f64> {
    let records: u64 = line.counts.iter().sum();
    line.counts.iter().map(|&n| n as f64 / records.max(1) as f64).collect()
}

/// Returns the reconstruction: the records of each cell are distributed evenly over its leaves.
pub(crate) fn reconstructed(line: &Line) -> Vec<f64> {
    let published: u64 = line.published.iter().sum();
    // Cells with a single leaf are counted in integers, so that an unmodified column is
    // reconstructed without rounding errors.
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
