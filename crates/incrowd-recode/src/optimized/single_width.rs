//! A single width for each column of regular intervals.
//!
//! Paper: `liu-itri`, section IV: the levels of the tree may be merged into one. For each column
//! the level with the least cost is chosen. Finer cells are published as the interval of that
//! level, wider cells become `*`. Outlier cells and the last cell of the grid do not change.
//!
//! Cells only become coarser, so every group is contained in one group of the result. Models that
//! survive merging still hold; other models are refused before. The number of people of a
//! population that a coarser cell covers would have to be checked again, so models about a
//! population are refused as well.

use incrowd_core::{Dataset, Domain, Error, GroupId, Partition, Result, Taxonomy};

use super::report::{SingleWidth, TrialReport};

/// Returns an error if the table has no regular intervals or a model needs a population.
pub(super) fn check(data: &Dataset) -> Result<()> {
    let gridded =
        |domain: &Domain| matches!(domain, Domain::Taxonomy(tree) if tree.grid().is_some());
    if !data.quasi().iter().any(|quasi| gridded(&quasi.domain)) {
        return Err(Error::job("`single_width` needs a column in regular intervals")
            .help("add numbers = \"mdr\", or give a numeric column hierarchy = \"mdr\"")
            .at("single_width"));
    }
    if data.population().is_some() {
        return Err(Error::job("`single_width` cannot be used with a model about a population")
            .help(
                "leave it out, or give the column a tree with one width: \
                 hierarchy = { mdr = { factors = [2] } }",
            )
            .at("single_width"));
    }
    Ok(())
}

/// Returns the domains of the table, each with a single width if it has regular intervals. Adds the
/// costs to the report.
pub(super) fn merge(
    data: &Dataset,
    partition: &Partition,
    report: &mut TrialReport,
) -> Result<Vec<Domain>> {
    let mut records = vec![0u64; partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            records[group.index()] += data.weight(row);
        }
    }
    let mut domains = Vec::with_capacity(data.quasi().len());
    for (q, quasi) in data.quasi().iter().enumerate() {
        let (tree, grid) = match &quasi.domain {
            Domain::Taxonomy(tree) if tree.grid().is_some() => (tree, tree.grid()),
            domain => {
                domains.push(domain.clone());
                continue;
            }
        };
        let cost = |tree: &Taxonomy| -> f64 {
            let group = |group: usize| {
                let span = partition.spans(GroupId(group as u32))[q];
                records[group] as f64 * tree.ncp(tree.common(span.lo, span.hi))
            };
            (0..partition.groups()).map(group).sum()
        };
        let mut best: Option<(f64, f64, Taxonomy)> = None;
        for grid in
            grid.into_iter().flat_map(|grid| grid.factors.iter().map(|&f| grid.with_factor(f)))
        {
            let width = grid.width * f64::from(grid.factors[0]);
            let Some(merged) = tree.regridded(grid).transpose()? else { continue };
            let after = cost(&merged);
            // Of equal costs, the finer width comes first.
            if best.as_ref().is_none_or(|(least, ..)| after < *least) {
                best = Some((after, width, merged));
            }
        }
        let (after, width, merged) = best.ok_or_else(|| Error::bug("a grid without a level"))?;
        let published = records.iter().sum::<u64>().max(1) as f64;
        let (before, after) = (cost(tree) / published, after / published);
        report.single_width.push(SingleWidth { column: quasi.name.clone(), width, before, after });
        domains.push(Domain::Taxonomy(merged));
    }
    Ok(domains)
}
