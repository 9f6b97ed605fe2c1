//! Leaf order, node intervals, loss and lowest common ancestors, computed by hand for a taxonomy of
//! nine leaves.

use incrowd_core::hierarchy::arx;
use incrowd_core::{Code, Taxonomy};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(incrowd_testing::fixture("plain_taxonomy.json")).unwrap()
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned()).collect()
}

fn paths(vectors: &Value) -> Vec<Vec<String>> {
    vectors["hierarchy"].as_array().unwrap().iter().map(words).collect()
}

fn taxonomy() -> Taxonomy {
    Taxonomy::from_paths(&paths(&vectors())).unwrap()
}

/// The vectors count leaves from 1.
fn interval((first, last): (Code, Code)) -> [u64; 2] {
    [u64::from(first.0) + 1, u64::from(last.0) + 1]
}

fn expected(list: &Value) -> [u64; 2] {
    [list[0].as_u64().unwrap(), list[1].as_u64().unwrap()]
}

#[test]
fn leaves_are_in_depth_first_order_even_if_the_lines_are_not() {
    let (t, order) = (taxonomy(), words(&vectors()["leaf_order"]));
    assert_eq!(t.leaves() as usize, order.len());
    for (position, leaf) in order.iter().enumerate() {
        assert_eq!(t.code(leaf), Some(Code(position as u32)), "{leaf}");
        assert_eq!(t.label(t.leaf(Code(position as u32))), leaf);
    }
}

#[test]
fn every_node_is_the_interval_of_its_leaves() {
    let (t, vectors) = (taxonomy(), vectors());
    let intervals = vectors["node_intervals"].as_object().unwrap();
    for (label, ends) in intervals {
        let node = t.node(label).unwrap();
        assert_eq!(interval(t.span(node)), expected(ends), "{label}");
        assert_eq!(u64::from(t.width(node)), expected(ends)[1] - expected(ends)[0] + 1, "{label}");
    }
    assert_eq!(t.node_count(), intervals.len());
}

#[test]
fn loss_counts_the_leaves_beyond_the_first() {
    let (t, vectors) = (taxonomy(), vectors());
    let losses = vectors["loss"].as_object().unwrap();
    assert_eq!(losses.len(), t.node_count());
    for (label, loss) in losses {
        assert_eq!(t.loss(t.node(label).unwrap()), loss.as_f64().unwrap(), "{label}");
    }
}

#[test]
fn the_lowest_common_ancestor_is_that_of_both_ends() {
    let (t, vectors) = (taxonomy(), vectors());
    let cases = vectors["lca"].as_array().unwrap();
    for case in cases {
        let codes: Vec<Code> =
            words(&case["of"]).iter().map(|leaf| t.code(leaf).unwrap()).collect();
        let (lo, hi) = (*codes.iter().min().unwrap(), *codes.iter().max().unwrap());
        assert_eq!(
            interval(t.span(t.common(lo, hi))),
            expected(&case["interval"]),
            "{}",
            case["of"]
        );
    }
    assert_eq!(cases.len(), 4);
}

/// The slow twin: the narrowest node whose interval contains both leaves.
#[test]
fn common_is_the_narrowest_node_that_covers_both_for_every_pair() {
    let t = taxonomy();
    let labels: Vec<String> = paths(&vectors()).into_iter().flatten().collect();
    let spans: Vec<(Code, Code)> =
        labels.iter().map(|label| t.span(t.node(label).unwrap())).collect();
    for lo in 0..t.leaves() {
        for hi in lo..t.leaves() {
            let covers = |s: &&(Code, Code)| s.0.0 <= lo && hi <= s.1.0;
            let narrowest = spans.iter().filter(covers).map(|s| s.1.0 - s.0.0 + 1).min().unwrap();
            let common = t.common(Code(lo), Code(hi));
            let (first, last) = t.span(common);
            assert!(first.0 <= lo && hi <= last.0);
            assert_eq!(t.width(common), narrowest);
        }
    }
}

#[test]
fn a_hierarchy_file_gives_the_same_tree_as_its_paths() {
    let lines: Vec<String> = paths(&vectors()).iter().map(|path| path.join(";")).collect();
    let (read, made) = (arx::read("country.csv", &lines.join("\n")).unwrap(), taxonomy());
    assert_eq!(arx::write(&read), arx::write(&made));
    assert_eq!(read.node_count(), made.node_count());
}
