//! What the released cells cost, read off the release and measured on the domains of the original.

use incrowd_core::dataset::Quasi;
use incrowd_core::metric::{ColumnTally, Tally};
use incrowd_core::{Error, Folded, Result};

use crate::utility::Cover;

/// Tallies a release whose first columns are the quasi-identifiers, in the order of `domains`. `suppressed` is the number
/// of records that are not in it. Fails if a cell is not one a column of that domain can have.
pub fn tally(release: &Folded, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
    let mut tally = Tally { published: release.records(), suppressed, ..Tally::default() };
    for (q, quasi) in domains.iter().enumerate() {
        let column = &release.columns[q];
        let mut records = vec![0u64; column.texts.len()];
        for row in 0..release.rows() {
            records[release.row(row)[q] as usize] += release.weights[row];
        }
        // Summed in the order of the texts, so that the last digit does not depend on who read what first.
        let mut used: Vec<usize> = (0..column.texts.len()).filter(|&code| records[code] > 0).collect();
        used.sort_by(|&a, &b| column.texts[a].cmp(&column.texts[b]));
        let mut sums = ColumnTally {
            name: quasi.name.clone(),
            leaf_depth: quasi.leaf_depth,
            weight: quasi.weight,
            ..ColumnTally::default()
        };
        let bits = Bits::new(&quasi.counts);
        let mut told = 0.0;
        for code in used {
            let Some(cell) = quasi.domain.read(&column.texts[code]) else {
                return Err(Error::input(format!(
                    "column `{}` of the release has a cell that is neither a value of the original nor a \
                     generalization of its values",
                    quasi.name
                ))
                .help("give the hierarchies the release was made with"));
            };
            sums.ncp += records[code] as f64 * quasi.domain.cell_ncp(&cell);
            sums.loss += records[code] as f64 * quasi.domain.cell_loss(&cell);
            sums.depth += records[code] * quasi.domain.cell_depth(&cell) as u64;
            if bits.records > 0 {
                told += records[code] as f64 * bits.told(&Cover::of_cell(&quasi.domain, &cell));
            }
        }
        sums.all_bits = bits.all(&quasi.counts);
        // Without the original's counts, or with people of another table, there is nothing to hold it against.
        let known = bits.records > 0 && bits.records == tally.published + suppressed;
        sums.open_bits = if known { sums.all_bits - told } else { f64::NAN };
        tally.columns.push(sums);
    }
    tally.group_sizes = group_sizes(release, domains.len());
    Ok(tally)
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
    // Groups have several rows; room for one row in four is rarely asked for twice.
    let mut sizes: hashbrown::HashMap<&[u32], u64> = hashbrown::HashMap::with_capacity(release.rows() / 4);
    for row in 0..release.rows() {
        *sizes.entry(&release.row(row)[..quasi]).or_insert(0) += release.weights[row];
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes
}
