//! What the released cells cost, read off the release and measured on the domains of the original.

use incrowd_core::dataset::Quasi;
use incrowd_core::metric::{ColumnTally, Tally};
use incrowd_core::{Error, Folded, Result};

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
        }
        tally.columns.push(sums);
    }
    tally.group_sizes = group_sizes(release, domains.len());
    Ok(tally)
}

fn group_sizes(release: &Folded, quasi: usize) -> Vec<u64> {
    let mut sizes: hashbrown::HashMap<&[u32], u64> = hashbrown::HashMap::new();
    for row in 0..release.rows() {
        *sizes.entry(&release.row(row)[..quasi]).or_insert(0) += release.weights[row];
    }
    let mut sizes: Vec<u64> = sizes.into_values().collect();
    sizes.sort_unstable();
    sizes
}
