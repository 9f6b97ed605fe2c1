//! The loss of numeric intervals agrees with the width of their labels.

use incrowd_core::domain::Domain;
use incrowd_core::hierarchy::intervals::Intervals;
use incrowd_core::{Code, ColumnSpec, FoldedColumn, HierarchySpec, Taxonomy};

/// The ends of a label such as `[3, 4]`, or of a single number.
fn ends(label: &str) -> Option<(f64, f64)> {
    match label.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => {
            let (lo, hi) = inner.split_once(", ")?;
            Some((lo.parse().ok()?, hi.parse().ok()?))
        }
        None => label.parse().ok().map(|x| (x, x)),
    }
}

fn check(t: &Taxonomy, values: &[&str]) {
    let (min, max) = (0.0, 10.0);
    for (i, value) in values.iter().enumerate() {
        let x: f64 = value.parse().unwrap();
        for level in 0..t.height() {
            let node = t.at_level(Code(i as u32), level);
            let (lo, hi) = ends(t.label(node)).unwrap();
            assert!(lo <= x && x <= hi, "level {level} of the value at {i} does not cover it");
            let width = (hi.min(max) - lo.max(min)) / (max - min);
            let single = t.width(node) == 1 && t.children(node).is_empty();
            let expected = if single { 0.0 } else { width };
            assert!(
                (t.ncp(node) - expected).abs() < 1e-12,
                "{} costs {}",
                t.label(node),
                t.ncp(node)
            );
        }
    }
}

const WHOLE: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

#[test]
fn the_loss_of_integers_is_the_width_of_their_label() {
    check(&Intervals::fixed(2.0, 0.0, 2, 2).unwrap().build("x", &WHOLE).unwrap(), &WHOLE);
}

#[test]
fn integers_in_intervals_of_fractional_width_have_that_loss() {
    check(&Intervals::fixed(2.5, 0.0, 2, 2).unwrap().build("x", &WHOLE).unwrap(), &WHOLE);
}

#[test]
fn the_loss_of_reals_is_the_width_of_their_label() {
    let values = ["0", "0.5", "1.25", "2.5", "3.75", "9.5", "10"];
    check(&Intervals::fixed(1.25, 0.0, 3, 2).unwrap().build("x", &values).unwrap(), &values);
}

#[test]
fn spellings_of_one_number_share_a_leaf() {
    let texts = ["", "9", "9.0", "09", "2.5"].map(str::to_owned).to_vec();
    let column = FoldedColumn { name: "x".into(), texts };
    let intervals = HierarchySpec::Intervals(Intervals::fixed(1.0, 0.0, 1, 2).unwrap());
    let spec = ColumnSpec { hierarchy: Some(intervals), ..ColumnSpec::default() };
    let (domain, codes) = Domain::build(&column, &spec, None).unwrap();
    assert_eq!((codes[1], codes[1], domain.leaves()), (codes[2], codes[3], 2));
}

/// Decimal fractions are not exact binary fractions, but a label must cover its numbers.
#[test]
fn every_decimal_number_is_in_its_intervals() {
    let texts: Vec<String> = (-300..1200).map(|i| format!("{}", f64::from(i) / 100.0)).collect();
    let values: Vec<&str> = texts.iter().map(String::as_str).collect();
    for width in [0.01, 0.05, 0.1, 0.2, 0.3, 0.7, 1.1] {
        for origin in [0.0, 0.1, -0.3] {
            let t = Intervals::fixed(width, origin, 3, 2).unwrap().build("x", &values).unwrap();
            for value in &values {
                let (x, code) = (value.parse::<f64>().unwrap(), t.code(value).unwrap());
                for level in 0..t.height() {
                    let (lo, hi) = ends(t.label(t.at_level(code, level))).unwrap();
                    assert!(
                        lo <= x && x <= hi,
                        "width {width}, origin {origin}: {x} in [{lo}, {hi}]"
                    );
                }
            }
        }
    }
}
