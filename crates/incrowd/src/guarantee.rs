//! Guarantees about single cells, judged on a published table that was read back.

use incrowd_core::dataset::Quasi;
use incrowd_core::{Code, Domain, Error, Folded, HierarchySpec, Result, limits};

use crate::reading::Reading;

/// Fails if a cell says more than its column's `top`, `bottom` or `min_level` allow. Levels are judged where the lines are known.
pub(crate) fn check(release: &Folded, reading: &Reading, lines: Option<&[Quasi]>) -> Result<()> {
    for (name, spec) in &reading.quasi {
        let Some(column) = release.columns.iter().find(|column| column.name == *name) else { continue };
        let line = lines.into_iter().flatten().find(|line| line.name == *name).map(|line| &line.domain);
        let texts = column.texts.iter().skip(1).map(String::as_str);
        let broken = limits::broken(spec, line, texts, reading.missing_label());
        if broken > 0 {
            let key = match spec.limits {
                limits::Limits { top: Some(_), .. } => "top",
                limits::Limits { bottom: Some(_), .. } => "bottom",
                _ => "min_level",
            };
            return Err(Error::unsatisfiable(format!(
                "column `{name}` has {broken} different cells that say more than its `{key}` allows"
            ))
            .help("choose another algorithm, or leave the guarantee out")
            .at(format!("columns.{name}.{key}")));
        }
    }
    Ok(())
}

/// What is told of values that are no codes of their classification: how many, not which.
pub(crate) fn misfits(lines: &[Quasi], reading: &Reading) -> Vec<String> {
    let mut told = Vec::new();
    for (line, (name, spec)) in lines.iter().zip(&reading.quasi) {
        let (Domain::Taxonomy(tree), Some(HierarchySpec::Known(known))) = (&line.domain, &spec.hierarchy)
        else {
            continue;
        };
        let leaves = (0..tree.leaves()).map(|code| tree.label(tree.leaf(Code(code))));
        let strange = leaves.filter(|label| *label != reading.missing_label() && !known.fits(label)).count();
        if strange > 0 {
            let what = if strange == 1 { "1 value is".to_owned() } else { format!("{strange} values are") };
            told.push(format!(
                "column `{name}`: {what} not in the classification `{}`, and can only be published as it is or as `*`",
                known.name
            ));
        }
    }
    told
}
