//! What the released cells cost, read off the release and measured on the domains of the original.

use std::cmp::Ordering;

use incrowd_core::dataset::Quasi;
use incrowd_core::metric::{ColumnTally, Tally};
use incrowd_core::{Error, Folded, Result};
use rayon::prelude::*;

use crate::utility::Cover;

/// Tallies a release whose first columns are the quasi-identifiers, in the order of `domains`. `suppressed` is the number
/// of records that are not in it. Fails if a cell is not one a column of that domain can have.
pub fn tally(release: &Folded, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
    let published = release.records();
    let of = |(q, quasi): (usize, &Quasi)| column(release, q, quasi, published + suppressed);
    let columns = || domains.par_iter().enumerate().map(of).collect::<Vec<Result<ColumnTally>>>();
    let (columns, group_sizes) = rayon::join(columns, || group_sizes(release, domains.len()));
    // What is wrong with the first column is told, whichever was looked at first.
    let columns = columns.into_iter().collect::<Result<_>>()?;
    Ok(Tally { columns, group_sizes, published, suppressed })
}

/// What a cell of a column adds for each record that has it.
#[derive(Clone, Copy)]
struct Cost {
    ncp: f64,
    loss: f64,
    depth: u64,
    told: f64,
    /// How many have it.
    records: u64,
}

impl Cost {
    /// Some order of costs, in which only those are alike that add the same.
    fn order(&self, other: &Cost) -> Ordering {
        let numbers = self.ncp.total_cmp(&other.ncp).then(self.loss.total_cmp(&other.loss));
        let numbers = numbers.then(self.told.total_cmp(&other.told));
        numbers.then((self.depth, self.records).cmp(&(other.depth, other.records)))
    }
}

/// The column at a position, of a table that had so many records.
fn column(release: &Folded, q: usize, quasi: &Quasi, all: u64) -> Result<ColumnTally> {
    let texts = &release.columns[q].texts;
    let mut records = vec![0u64; texts.len()];
    for row in 0..release.rows() {
        records[release.row(row)[q] as usize] += release.weights[row];
    }
    let used: Vec<usize> = (0..texts.len()).filter(|&code| records[code] > 0).collect();
    let bits = Bits::new(&quasi.counts);
    let cost = |&code: &usize| {
        let cell = quasi.domain.read(&texts[code])?;
        let cover = || bits.told(&Cover::of_cell(&quasi.domain, &cell));
        Some(Cost {
            ncp: quasi.domain.cell_ncp(&cell),
            loss: quasi.domain.cell_loss(&cell),
            depth: quasi.domain.cell_depth(&cell) as u64,
            told: if bits.records > 0 { cover() } else { 0.0 },
            records: records[code],
        })
    };
    let Some(mut costs) = used.par_iter().map(cost).collect::<Option<Vec<Cost>>>() else {
        return Err(Error::input(format!(
            "column `{}` of the release has a cell that is neither a value of the original nor a generalization of its values",
            quasi.name
        ))
        .help("give the hierarchies the release was made with"));
    };
    let mut sums = ColumnTally {
        name: quasi.name.clone(),
        leaf_depth: quasi.leaf_depth,
        weight: quasi.weight,
        ..ColumnTally::default()
    };
    // Summed in an order of their own, so that the last digit does not depend on who read what first.
    costs.par_sort_unstable_by(Cost::order);
    let mut told = 0.0;
    for cost in costs {
        let n = cost.records;
        sums.ncp += n as f64 * cost.ncp;
        sums.loss += n as f64 * cost.loss;
        sums.depth += n * cost.depth;
        told += n as f64 * cost.told;
    }
    sums.all_bits = bits.all(&quasi.counts);
    // Without the original's counts, or with people of another table, there is nothing to hold it against.
    let known = bits.records > 0 && bits.records == all;
    sums.open_bits = if known { sums.all_bits - told } else { f64::NAN };
    Ok(sums)
}

/// How common the leaves of a column are in the original.
struct Bits {
    /// How many records have a leaf before this one.
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

    /// The bits that knowing this much of a record tells.
    fn of(&self, records: u64) -> f64 {
        -(records.max(1) as f64 / self.records as f64).log2()
    }

    fn told(&self, cover: &Cover) -> f64 {
        let within = |&(lo, hi): &(u32, u32)| self.before[hi as usize + 1] - self.before[lo as usize];
        self.of(cover.spans().iter().map(within).sum())
    }

    fn all(&self, counts: &[u64]) -> f64 {
        counts.iter().filter(|n| **n > 0).map(|&n| n as f64 * self.of(n)).sum()
    }
}

fn group_sizes(release: &Folded, quasi: usize) -> Vec<u64> {
    // Rows differ, so that without other columns each is a group.
    if release.columns.len() == quasi {
        let mut sizes = release.weights.clone();
        sizes.sort_unstable();
        return sizes;
    }
    // Groups have several rows; room for one row in four is rarely asked for twice.
    let mut sizes: hashbrown::HashMap<&[u32], u64> = hashbrown::HashMap::with_capacity(release.rows() / 4);
    for row in 0..release.rows() {
        *sizes.entry(&release.row(row)[..quasi]).or_insert(0) += release.weights[row];
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes
}
