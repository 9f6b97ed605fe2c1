//! Hierarchies over values that are intervals, `[70-80)` or `15-19`: adjacent intervals are joined
//! by twos, by fours, and so on.

use super::lint::interval;
use super::{Extents, Taxonomy};
use crate::error::{Error, Result};

/// An interval: its ends and its text.
struct Band<'a> {
    lo: f64,
    hi: f64,
    text: &'a str,
}

/// The bands in order; `None` if a text is not an interval, or if two of them overlap.
fn bands<'a>(values: &[&'a str]) -> Option<Vec<Band<'a>>> {
    let band = |text: &&'a str| interval(text).map(|(lo, hi, _)| Band { lo, hi, text });
    let mut bands: Vec<Band<'_>> = values.iter().map(band).collect::<Option<_>>()?;
    bands.sort_by(|a, b| a.lo.total_cmp(&b.lo).then(a.hi.total_cmp(&b.hi)));
    let apart = bands.windows(2).all(|pair| pair[0].hi <= pair[1].lo && pair[0].lo < pair[1].lo);
    apart.then_some(bands)
}

/// Whether texts are intervals that do not overlap.
pub fn are_bands(values: &[&str]) -> bool {
    values.len() > 1 && bands(values).is_some()
}

/// Builds the tree over the bands in `values`. Labels are written in the format of the values.
pub(super) fn build(column: &str, values: &[&str]) -> Result<Taxonomy> {
    let bands = bands(values).ok_or_else(|| {
        Error::input(format!("column `{column}` does not hold disjoint intervals")).help(
            "intervals are written [70-80), 15-19, <18 or >=65; list texts that mean a missing \
             value in [input] missing",
        )
    })?;
    let ends = |bands: &[Band<'_>]| {
        let finite = bands.iter().flat_map(|band| [band.lo, band.hi]).filter(|x| x.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
    };
    let domain = ends(&bands);
    let mut extents = hashbrown::HashMap::new();
    let mut paths: Vec<Vec<String>> = Vec::with_capacity(bands.len());
    for (i, band) in bands.iter().enumerate() {
        extents.insert(band.text.to_owned(), ends(&bands[i..=i]));
        let mut path = vec![band.text.to_owned()];
        let mut width = 2;
        while width < bands.len() {
            let first = i / width * width;
            let joined = &bands[first..(first + width).min(bands.len())];
            let label = joined_label(&joined[0], &joined[joined.len() - 1]);
            extents.insert(label.clone(), ends(joined));
            path.push(label);
            width *= 2;
        }
        path.push("*".to_owned());
        paths.push(path);
    }
    let taxonomy = Taxonomy::from_paths(&paths)?;
    let extent = |node: usize| {
        let label = taxonomy.label(crate::NodeId(node as u32));
        extents.get(label).copied().unwrap_or(domain)
    };
    let of_node = (0..taxonomy.node_count()).map(extent).collect();
    Ok(taxonomy.with_extents(Extents { of_node, domain, integers: false }))
}

/// The start of the first and the end of the last band, in their format.
fn joined_label(first: &Band<'_>, last: &Band<'_>) -> String {
    if std::ptr::eq(first.text, last.text) {
        return first.text.to_owned();
    }
    match (first.lo.is_finite(), last.hi.is_finite()) {
        (false, false) => "*".to_owned(),
        // `<18` and `18-29` are joined to `<30` or `<=29`: the format of the last one determines
        // whether its end is included.
        (false, true) => {
            format!(
                "{}{}",
                if interval(last.text).is_some_and(|i| i.2) { "<" } else { "<=" },
                last.hi
            )
        }
        (true, false) => format!(">={}", first.lo),
        (true, true) => {
            let middle = first.text.find(['-', '–', ',', ';']).filter(|&at| at > 0);
            let (begin, end) = match (middle, last.text.rfind(['-', '–', ',', ';'])) {
                (Some(at), Some(end)) => (&first.text[..at], &last.text[end..]),
                _ => return format!("[{}, {}]", first.lo, last.hi),
            };
            let joined = format!("{begin}{end}");
            // Minus signs look like the mark between the ends. A label that does not parse back to
            // these ends is written as `[lo, hi]`.
            match interval(&joined) {
                Some((lo, hi, _)) if lo == first.lo && hi == last.hi => joined,
                _ => format!("[{}, {}]", first.lo, last.hi),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(values: &[&str]) -> Vec<Vec<String>> {
        let tree = build("age", values).unwrap();
        let up = |code: u32| {
            let leaf = tree.leaf(crate::Code(code));
            std::iter::successors(Some(leaf), |&n| tree.parent(n))
                .map(|n| tree.label(n).to_owned())
                .collect()
        };
        (0..tree.leaves()).map(up).collect()
    }

    #[test]
    fn joined_bands_are_written_like_their_parts() {
        let joined = paths(&["[70-80)", "[0-10)", "[10-20)", "[20-30)", "[30-40)"]);
        assert_eq!(joined[0], ["[0-10)", "[0-20)", "[0-40)", "*"]);
        assert_eq!(joined[4], ["[70-80)", "[70-80)", "[70-80)", "*"]);
        assert_eq!(
            paths(&["<18", "18-29", "30-44", "45-64", ">=65"])[0],
            ["<18", "<=29", "<=64", "*"]
        );
        assert_eq!(
            paths(&["<18", "18-29", "30-44", "45-64", ">=65"])[4],
            [">=65", ">=65", ">=65", "*"]
        );
        assert_eq!(paths(&["-10--5", "-4-0", "1-5"])[0], ["-10--5", "[-10, 0]", "*"]);
    }

    #[test]
    fn loss_is_measured_in_widths() {
        let tree = build("age", &["[0-10)", "[10-20)", "[20-60)", "[60-100)"]).unwrap();
        assert_eq!(tree.ncp(tree.node("[0-20)").unwrap()), 0.2);
        assert_eq!(tree.ncp(tree.node("[20-100)").unwrap()), 0.8);
    }

    #[test]
    fn bands_do_not_overlap() {
        assert!(
            are_bands(&["[0-10)", "[10-20)"])
                && !are_bands(&["[0-10)", "[5-20)"])
                && !are_bands(&["a", "b"])
        );
        assert!(build("age", &["0-9", "old"]).is_err());
    }
}
