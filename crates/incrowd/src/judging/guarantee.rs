//! Guarantees about single cells, checked on a published table that was read back.

use incrowd_core::dataset::Quasi;
use incrowd_core::number::{is_quantity, parse_number};
use incrowd_core::{Code, ColumnSpec, Domain, Error, Folded, HierarchySpec, Result, limits};

use crate::job::reading::Reading;

/// Fails if a cell violates its column's `top`, `bottom` or `min_level`. Levels are checked only if
/// the domains are known.
pub(crate) fn check(release: &Folded, reading: &Reading, domains: Option<&[Quasi]>) -> Result<()> {
    for (name, spec) in &reading.quasi {
        let is_bounded = !spec.limits.is_none() || spec.min_level.is_some();
        let Some(at) = release.column(name).filter(|_| is_bounded) else { continue };
        let mut quasi = domains.into_iter().flatten();
        let domain = quasi.find(|quasi| quasi.name == *name).map(|quasi| &quasi.domain);
        // A text of no row is not published. Markers of missing values were replaced by labels.
        let texts = &release.columns[at].texts;
        let mut used = vec![false; texts.len()];
        (0..release.rows()).for_each(|row| used[release.row(row)[at] as usize] = true);
        let published = texts.iter().zip(&used).skip(1).filter(|(_, used)| **used);
        let published = published.map(|(text, _)| text.as_str());
        let broken = limits::broken(spec, domain, published, &reading.missing);
        if broken > 0 {
            let key = match spec.limits {
                limits::Limits { top: Some(_), .. } => "top",
                limits::Limits { bottom: Some(_), .. } => "bottom",
                _ => "min_level",
            };
            return Err(Error::unsatisfiable(format!(
                "column `{name}` has {broken} distinct cells that are finer than its `{key}` allows"
            ))
            .help("choose another algorithm, or leave the guarantee out")
            .at(format!("columns.{name}.{key}")));
        }
    }
    Ok(())
}

/// Returns warnings about values that are not codes of their classification: their number, not the
/// values.
pub(crate) fn misfits(domains: &[Quasi], reading: &Reading) -> Vec<String> {
    let mut warnings = Vec::new();
    for (quasi, (name, spec)) in domains.iter().zip(&reading.quasi) {
        let (Domain::Taxonomy(tree), Some(HierarchySpec::Known(known))) =
            (&quasi.domain, &spec.hierarchy)
        else {
            continue;
        };
        let leaves = (0..tree.leaves()).map(|code| tree.label(tree.leaf(Code(code))));
        let strange =
            leaves.filter(|label| *label != reading.missing_label() && !known.fits(label)).count();
        if strange > 0 {
            let what = if strange == 1 {
                "1 value is".to_owned()
            } else {
                format!("{strange} values are")
            };
            warnings.push(format!(
                "column `{name}`: {what} not in the classification `{}`, \
                 and can only be published unchanged or as `*`",
                known.name
            ));
        }
    }
    warnings
}

/// Returns warnings about columns of numbers that are treated as text because some have leading
/// zeros. They have no group means.
pub(crate) fn without_means(domains: &[Quasi], reading: &Reading) -> Vec<String> {
    let is_code = |(quasi, (_, spec)): &(&Quasi, &(String, ColumnSpec))| {
        let domain = &quasi.domain;
        if !matches!(domain, Domain::Labels(_)) || spec.kind.is_some() {
            return false;
        }
        let texts = (0..domain.leaves()).map(|code| domain.label(Code(code), Code(code)));
        let texts = texts.filter(|text| text != reading.missing_label());
        let texts: Vec<String> = texts.collect();
        // Another warning is about quantities that are treated as text.
        texts.iter().all(|text| parse_number(text).is_some())
            && !texts.iter().all(|text| is_quantity(text))
    };
    let columns = domains.iter().zip(&reading.quasi).filter(is_code);
    let warning = |(_, (name, _)): (&Quasi, &(String, ColumnSpec))| {
        format!(
            "column `{name}` holds numbers with leading zeros: it is treated as text, and its \
             group means are not published; if these are quantities, set `kind = \"numeric\"` \
             for this column"
        )
    };
    columns.map(warning).collect()
}

/// Returns warnings about numeric columns that are published as text, because computing with them
/// would round them.
pub(crate) fn too_many_digits(domains: &[Quasi], reading: &Reading) -> Vec<String> {
    let is_rounded = |(quasi, (_, spec)): &(&Quasi, &(String, ColumnSpec))| {
        let domain = &quasi.domain;
        if !matches!(domain, Domain::Labels(_)) {
            return false;
        }
        let texts = (0..domain.leaves()).map(|code| domain.label(Code(code), Code(code)));
        let mut texts = texts.filter(|text| text != reading.missing_label()).peekable();
        spec.kind.is_none() && texts.peek().is_some() && texts.all(|text| is_quantity(&text))
    };
    let columns = domains.iter().zip(&reading.quasi).filter(is_rounded);
    let warning = |(_, (name, _)): (&Quasi, &(String, ColumnSpec))| {
        format!(
            "column `{name}` holds numbers with more digits than can be represented: \
             it is treated as text; round them beforehand, or give it intervals as a hierarchy"
        )
    };
    columns.map(warning).collect()
}
