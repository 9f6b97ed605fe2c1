//! The tree of regular intervals compared with an independent prototype.

use incrowd_core::hierarchy::mdr::mean_difference::two_sigma;
use incrowd_core::hierarchy::mdr::{Mdr, Outliers, Quantile};
use incrowd_core::{Code, Taxonomy};
use proptest::prelude::*;
use serde_json::Value;

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn sample(values: &[f64]) -> Vec<(f64, u64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
}

fn close(have: f64, want: &Value) -> bool {
    (have - want.as_f64().unwrap()).abs() < 1e-8
}

#[test]
fn mean_differences_and_bounds_of_outliers_agree_with_the_prototype() {
    let vectors: Value =
        serde_json::from_str(incrowd_testing::fixture("mdr_mean_difference.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    for (i, case) in cases.iter().enumerate() {
        let sample = sample(&numbers(&case["values"]));
        assert!(close(Quantile::Cuts.mean_difference(&sample), &case["md_cutpoints"]), "case {i}");
        assert!(close(Quantile::Chunk.mean_difference(&sample), &case["md_blocks"]), "case {i}");
        let (lo, hi) = two_sigma(&sample);
        assert!(
            close(lo, &case["mu_minus_2sigma"]) && close(hi, &case["mu_plus_2sigma"]),
            "case {i}"
        );
    }
    assert_eq!(cases.len(), 30);
}

/// The ends of a published interval; a plain number is both.
fn ends(label: &str) -> (f64, f64) {
    match label.strip_prefix('[').and_then(|l| l.strip_suffix(']')).and_then(|l| l.split_once(", "))
    {
        Some((lo, hi)) => (lo.parse().unwrap(), hi.parse().unwrap()),
        None => (label.parse().unwrap(), label.parse().unwrap()),
    }
}

/// The intervals of a level, counted from the root, in order.
fn level(tree: &Taxonomy, depth: usize) -> Vec<(f64, f64)> {
    let at = |code: u32| tree.label(tree.at_level(Code(code), tree.height() - depth)).to_owned();
    let mut labels: Vec<String> = (0..tree.leaves()).map(at).collect();
    labels.dedup();
    labels.iter().map(|label| ends(label)).collect()
}

#[test]
fn every_level_of_the_tree_agrees_with_the_prototype() {
    let vectors: Value = serde_json::from_str(incrowd_testing::fixture("mdr_tree.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    for (i, case) in cases.iter().enumerate() {
        let real = case["options"]["round"] == "none";
        let text = |x: &f64| if real { format!("{x:?}") } else { x.to_string() };
        let texts: Vec<String> = numbers(&case["values"]).iter().map(text).collect();
        let values: Vec<&str> = texts.iter().map(String::as_str).collect();
        let outliers = match &case["options"]["outliers"] {
            Value::Array(bounds) => {
                Outliers::Bounds(bounds[0].as_f64().unwrap(), bounds[1].as_f64().unwrap())
            }
            word if word == "none" => Outliers::None,
            _ => Outliers::TwoSigma,
        };
        let factors = case["options"]["factors"].as_array().map_or_else(
            || vec![1, 2, 4],
            |factors| factors.iter().map(|f| f.as_u64().unwrap() as u32).collect(),
        );
        let counts = vec![case["multiplicity"].as_u64().unwrap(); values.len()];
        let mdr = Mdr::new(outliers, factors, Quantile::Cuts, None).unwrap();
        let tree = mdr.build("x", &values, Some(&counts), None).unwrap();
        let grid = tree.grid().unwrap();
        assert!(close(grid.width, &case["md"]), "case {i}");
        assert!(close(grid.lo, &case["core"][0]) && close(grid.hi, &case["core"][1]), "case {i}");
        // The prototype counts an empty cell that would begin at the greatest real number.
        let beyond = u64::from(real);
        assert_eq!(grid.cells() + beyond, case["U"].as_u64().unwrap(), "case {i}");
        for depth in 1..=3 {
            let expected = case["levels"][depth.to_string()].as_array().unwrap();
            let have = level(&tree, depth);
            assert_eq!(have.len(), expected.len(), "case {i}, level {depth}");
            for ((lo, hi), want) in have.iter().zip(expected) {
                assert!(
                    close(*lo, &want[0]) && close(*hi, &want[1]),
                    "case {i}, level {depth}: {lo} {hi}"
                );
            }
        }
    }
    assert_eq!(cases.len(), 7);
}

proptest! {
    /// For all numbers and settings: a value is in its cell on every level, cells of a level do not
    /// overlap, and every cell is inside a cell of the next level.
    #[test]
    fn values_are_in_their_cells(
        values in prop::collection::btree_set(-400i64..400, 1..60),
        real in any::<bool>(),
        which in 0u8..3,
        width in prop::option::of(1u32..30),
        chunk in any::<bool>(),
    ) {
        let text = |x: &i64| if real { format!("{:?}", *x as f64 / 7.0) } else { x.to_string() };
        let texts: Vec<String> = values.iter().map(text).collect();
        let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
        let middle = texts[texts.len() / 2].parse::<f64>().unwrap();
        let outliers = match which {
            0 => Outliers::TwoSigma,
            1 => Outliers::None,
            _ => Outliers::Bounds(middle - 30.0, middle + 25.0),
        };
        let quantile = if chunk { Quantile::Chunk } else { Quantile::Cuts };
        let mdr = Mdr::new(outliers, vec![1, 2, 4], quantile, width.map(f64::from)).unwrap();
        let tree = mdr.build("x", &refs, Some(&vec![1; refs.len()]), None).unwrap();
        for text in &texts {
            let x: f64 = text.parse().unwrap();
            let canonical = if real { x.to_string() } else { text.clone() };
            let code = tree.code(&canonical).unwrap();
            let mut inner: Option<(f64, f64)> = None;
            for depth in (1..=3).rev() {
                let node = tree.at_level(code, tree.height().saturating_sub(depth));
                if node == tree.root() {
                    continue;
                }
                let (lo, hi) = ends(tree.label(node));
                prop_assert!(lo <= x && x <= hi, "{x} in {lo}..{hi}");
                prop_assert!(inner.is_none_or(|(a, b)| lo <= a && b <= hi));
                inner = Some((lo, hi));
                let found = tree.node(tree.label(node)).map(|n| tree.span(n));
                prop_assert_eq!(found, Some(tree.span(node)));
            }
        }
        for depth in 1..=tree.height().min(3) {
            let cells = level(&tree, depth);
            let apart = |w: &[(f64, f64)]| if real { w[0].1 <= w[1].0 } else { w[0].1 < w[1].0 };
            prop_assert!(cells.windows(2).all(apart));
        }
    }
}
