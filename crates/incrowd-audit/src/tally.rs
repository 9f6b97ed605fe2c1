//! What the released cells cost, read off the release and measured on the domains of the original.

use incrowd_core::dataset::Quasi;
use incrowd_core::metric::{ColumnTally, Tally};
use incrowd_core::{Error, Folded, MISSING, Result};

/// Tallies a release whose first columns are the quasi-identifiers, in the order of `domains`. `suppressed` is the number
/// of records that are not in it. Fails if a cell is not one a column of that domain can have.
pub fn tally(release: &Folded, domains: &[Quasi], suppressed: u64) -> Result<Tally> {
    let mut tally = Tally { published: release.records(), suppressed, ..Tally::default() };
    for (q, quasi) in domains.iter().enumerate() {
        let column = &release.columns[q];
        let mut ncp = vec![0.0; column.texts.len()];
        let mut loss = vec![0.0; column.texts.len()];
        let mut read = vec![false; column.texts.len()];
        let mut sums = ColumnTally { name: quasi.name.clone(), ..ColumnTally::default() };
        for row in 0..release.rows() {
            let code = release.row(row)[q] as usize;
            if !read[code] {
                let text = if code as u32 == MISSING { "" } else { column.texts[code].as_str() };
                let Some(cell) = quasi.domain.read(text) else {
                    return Err(Error::input(format!(
                        "column `{}` of the release has a cell that is neither a value of the original nor a \
                         generalization of its values",
                        quasi.name
                    ))
                    .help("give the hierarchies the release was made with"));
                };
                ncp[code] = quasi.domain.cell_ncp(&cell);
                loss[code] = quasi.domain.cell_loss(&cell);
                read[code] = true;
            }
            let records = release.weights[row] as f64;
            sums.ncp += records * ncp[code];
            sums.loss += records * loss[code];
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
