//! Information loss of the released cells, measured on the domains of the original.

use std::cmp::Ordering;

use incrowd_core::dataset::Quasi;
use incrowd_core::metric::{ColumnTally, Tally};
use incrowd_core::{Error, Folded, Result};
use rayon::prelude::*;

use crate::utility::Cover;

/// Sums the information loss of a release. Its first columns are the quasi-identifiers in the order
/// of `domains`. `suppressed` is the number of suppressed records. Returns an error if a column has
/// a cell that is not in its domain.
pub fn tally(release: &Folded, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
    let published = release.records();
    let of = |(q, quasi): (usize, &Quasi)| column(release, q, quasi, published + suppressed);
    let columns = || domains.par_iter().enumerate().map(of).collect::<Vec<Result<ColumnTally>>>();
    let (columns, group_sizes) = rayon::join(columns, || group_sizes(release, domains.len()));
    // The error of the first column is returned, independent of the order of execution.
    let columns = columns.into_iter().collect::<Result<_>>()?;
    Ok(Tally { columns, group_sizes, published, suppressed })
}

/// Loss of a cell, per record that has it.
#[derive(Clone, Copy)]
struct Cost {
    ncp: f64,
    loss: f64,
    depth: u64,
    /// Information content of the cell in bits.
    bits: f64,
    /// Number of records with the cell.
    records: u64,
}

impl Cost {
    /// A total order in which only equal costs compare as equal.
    fn order(&self, other: &Cost) -> Ordering {
        let numbers = self.ncp.total_cmp(&other.ncp).then(self.loss.total_cmp(&other.loss));
        let numbers = numbers.then(self.bits.total_cmp(&other.bits));
        numbers.then((self.depth, self.records).cmp(&(other.depth, other.records)))
    }
}

/// Sums the loss of one column. `all` is the number of records of the original.
fn column(release: &Folded, q: usize, quasi: &Quasi, all: u64) -> Result<ColumnTally> {
    let quasi = quasi.measured();
    let texts = &release.columns[q].texts;
    let mut records = vec![0u64; texts.len()];
    for row in 0..release.rows() {
        records[release.row(row)[q] as usize] += release.weights[row];
    }
    let used: Vec<usize> = (0..texts.len()).filter(|&code| records[code] > 0).collect();
    let bits = Bits::new(&quasi.counts);
    let cost = |&code: &usize| {
        let cell = quasi.domain.read(&texts[code])?;
        let information = || bits.of_cover(&Cover::of_cell(&quasi.domain, &cell));
        Some(Cost {
            ncp: quasi.domain.cell_ncp(&cell),
            loss: quasi.domain.cell_loss(&cell),
            depth: quasi.domain.cell_depth(&cell) as u64,
            bits: if bits.records > 0 { information() } else { 0.0 },
            records: records[code],
        })
    };
    let Some(mut costs) = used.par_iter().map(cost).collect::<Option<Vec<Cost>>>() else {
        return Err(Error::input(format!(
            "column `{}` of the release has a cell that is neither a value of the original nor a \
             generalization of its values",
            quasi.name
        ))
        .help("provide the hierarchies of the release"));
    };
    let mut sums = ColumnTally {
        name: quasi.name.clone(),
        leaf_depth: quasi.leaf_depth,
        weight: quasi.weight,
        ..ColumnTally::default()
    };
    // The costs are sorted before they are summed, so rounding does not depend on the order of
    // rows.
    costs.par_sort_unstable_by(Cost::order);
    let mut published = 0.0;
    for cost in costs {
        let n = cost.records;
        sums.ncp += n as f64 * cost.ncp;
        sums.loss += n as f64 * cost.loss;
        sums.depth += n * cost.depth;
        published += n as f64 * cost.bits;
    }
    sums.all_bits = bits.all(&quasi.counts);
    // The remaining entropy is defined only if the counts are those of the original table.
    let known = bits.records > 0 && bits.records == all;
    sums.open_bits = if known { sums.all_bits - published } else { f64::NAN };
    Ok(sums)
}

/// Frequencies of the leaves of a column in the original.
struct Bits {
    /// Number of records with a smaller leaf. It has one entry more than there are leaves.
    before: Vec<u64>,
    records: u64,
}

impl Bits {
    fn new(counts: &[u64]) -> Bits {
        let mut before = vec![0];
        before.extend(counts.iter().scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        }));
        Bits { records: before.last().copied().unwrap_or(0), before }
    }

    /// Returns the information content of an event with this many records, in bits.
    fn of(&self, records: u64) -> f64 {
        -(records.max(1) as f64 / self.records as f64).log2()
    }

    fn of_cover(&self, cover: &Cover) -> f64 {
        let within =
            |&(lo, hi): &(u32, u32)| self.before[hi as usize + 1] - self.before[lo as usize];
        self.of(cover.spans().iter().map(within).sum())
    }

    fn all(&self, counts: &[u64]) -> f64 {
        counts.iter().filter(|n| **n > 0).map(|&n| n as f64 * self.of(n)).sum()
    }
}

fn group_sizes(release: &Folded, quasi: usize) -> Vec<u64> {
    // Rows are distinct, so each row is a group if there are no other columns.
    if release.columns.len() == quasi {
        let mut sizes = release.weights.clone();
        sizes.sort_unstable();
        return sizes;
    }
    // A group usually has several rows. This capacity rarely grows more than once.
    let mut sizes: hashbrown::HashMap<&[u32], u64> =
        hashbrown::HashMap::with_capacity(release.rows() / 4);
    for row in 0..release.rows() {
        *sizes.entry(&release.row(row)[..quasi]).or_insert(0) += release.weights[row];
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes
}
