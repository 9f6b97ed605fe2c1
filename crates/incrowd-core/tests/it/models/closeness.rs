//! t-closeness: the three closed forms compared with the solution of the transport problem.

use proptest::prelude::*;

use super::{Millionths, Row, Table, agree, occurrences, tables, with_tree, word};
use incrowd_core::SensitiveSpec;

/// The least work of moving `supply` onto `demand`, which have the same total: repeatedly sends as
/// much as possible along a cheapest path of the residual network.
pub(super) fn transport(
    supply: &[i128],
    demand: &[i128],
    cost: &dyn Fn(usize, usize) -> i128,
) -> i128 {
    let (n, m) = (supply.len(), demand.len());
    let (mut supply, mut demand) = (supply.to_vec(), demand.to_vec());
    let mut flow = vec![vec![0i128; m]; n];
    let mut work = 0;
    while supply.iter().any(|&left| left > 0) {
        // Shortest distances from the sources with remaining supply (Bellman–Ford). Sinks are
        // numbered after sources.
        let mut distance: Vec<Option<i128>> = vec![None; n + m];
        let mut before = vec![usize::MAX; n + m];
        (0..n).filter(|&i| supply[i] > 0).for_each(|i| distance[i] = Some(0));
        for _ in 0..n + m {
            for i in 0..n {
                for j in 0..m {
                    if let Some(d) = distance[i]
                        && distance[n + j].is_none_or(|known| d + cost(i, j) < known)
                    {
                        (distance[n + j], before[n + j]) = (Some(d + cost(i, j)), i);
                    }
                    if let Some(d) = distance[n + j]
                        && flow[i][j] > 0
                        && distance[i].is_none_or(|known| d - cost(i, j) < known)
                    {
                        (distance[i], before[i]) = (Some(d - cost(i, j)), n + j);
                    }
                }
            }
        }
        let open = (0..m).filter(|&j| demand[j] > 0 && distance[n + j].is_some());
        let goal = open.min_by_key(|&j| distance[n + j]).unwrap();
        let mut path = vec![n + goal];
        while before[path[path.len() - 1]] != usize::MAX {
            path.push(before[path[path.len() - 1]]);
        }
        let source = path[path.len() - 1];
        let mut amount = demand[goal].min(supply[source]);
        for step in path.windows(2).filter(|step| step[0] < n) {
            amount = amount.min(flow[step[0]][step[1] - n]);
        }
        for step in path.windows(2) {
            if step[0] < n {
                flow[step[0]][step[1] - n] -= amount;
            } else {
                flow[step[1]][step[0] - n] += amount;
            }
        }
        work += amount * distance[n + goal].unwrap();
        supply[source] -= amount;
        demand[goal] -= amount;
    }
    work
}

/// Judges every group at thresholds around its distance, which is work / (unit · N · n).
fn check(
    rows: &[Row],
    specs: &[SensitiveSpec],
    distance: &str,
    values: &[&str],
    unit: i128,
    cost: &dyn Fn(usize, usize) -> i128,
) {
    let table = Table::new(rows, specs);
    let whole = table.whole(0);
    for group in 0..table.groups.len() {
        let own = table.column(group, 0);
        let (all, n) = (whole.len() as i128, own.len() as i128);
        let supply: Vec<i128> =
            values.iter().map(|v| i128::from(occurrences(&own, v)) * all).collect();
        let demand: Vec<i128> =
            values.iter().map(|v| i128::from(occurrences(&whole, v)) * n).collect();
        let (work, scale) = (transport(&supply, &demand, cost), unit.max(1) * all * n);
        for t in Millionths::around(work, scale).into_iter().filter(|t| t.0 <= 1_000_000) {
            let model = table.bind(
                "t-closeness",
                &[("t", t.value()), ("distance", word(distance)), ("on", word("a"))],
            );
            agree(
                &model.admits(&table.groups[group]),
                work as f64 / scale as f64,
                t.at_most(work, scale),
            );
        }
    }
}

const DISEASES: &[&str] = &["flu", "cold", "gout", "none", "HIV", "acne"];
/// In the order of the numbers, not of the texts.
const SALARIES: &[&str] = &["-2.5", "3", "4", "10", "1e3"];

/// Trees over the diseases with the path of each above its leaf, root last: balanced, unbalanced,
/// and with a chain.
const TREES: [(&str, [&[&str]; 6]); 3] = [
    (
        "viral = ['flu', 'cold', 'HIV']\nother = ['gout', 'none', 'acne']\n",
        [
            &["viral", "*"],
            &["viral", "*"],
            &["other", "*"],
            &["other", "*"],
            &["viral", "*"],
            &["other", "*"],
        ],
    ),
    (
        "ill = { airways = ['flu', 'cold'], skin = ['acne', 'HIV'] }\nwell = ['none', 'gout']\n",
        [
            &["airways", "ill", "*"],
            &["airways", "ill", "*"],
            &["well", "*"],
            &["well", "*"],
            &["skin", "ill", "*"],
            &["skin", "ill", "*"],
        ],
    ),
    (
        "a = { b = { c = ['flu', 'gout'], d = ['cold'] } }\ne = ['HIV', 'none', 'acne']\n",
        [
            &["c", "b", "a", "*"],
            &["d", "b", "a", "*"],
            &["c", "b", "a", "*"],
            &["e", "*"],
            &["e", "*"],
            &["e", "*"],
        ],
    ),
];

/// The height of a node above its deepest leaf.
fn height(paths: &[&[&str]], node: &str) -> i128 {
    let above =
        |path: &&&[&str]| path.iter().position(|label| *label == node).map(|at| at as i128 + 1);
    paths.iter().filter_map(|path| above(&path)).max().unwrap()
}

proptest! {
    #[test]
    fn equal_distance_is_the_least_work(rows in tables(DISEASES, 2)) {
        check(&rows, &[], "equal", DISEASES, 1, &|i, j| i128::from(i != j));
    }

    #[test]
    fn ordered_distance_is_the_least_work(rows in tables(SALARIES, 1)) {
        // Only values that occur have a rank.
        let occurs = |s: &&str| rows.iter().any(|r| r.1[0] == *s);
        let used: Vec<&str> = SALARIES.iter().copied().filter(occurs).collect();
        check(&rows, &[], "ordered", &used, used.len() as i128 - 1, &|i, j| i.abs_diff(j) as i128);
    }

    #[test]
    fn hierarchical_distance_is_the_least_work(rows in tables(DISEASES, 1), tree in 0usize..3) {
        let (toml, paths) = &TREES[tree];
        let top = height(paths, "*");
        let common = |i: usize, j: usize| {
            let lowest = paths[i].iter().find(|label| paths[j].contains(label)).unwrap();
            if i == j { 0 } else { height(paths, lowest) }
        };
        check(&rows, &[with_tree(toml)], "hierarchical", DISEASES, top, &common);
    }

    /// The leaves of a hierarchy also have an order.
    #[test]
    fn a_hierarchy_orders_its_leaves(rows in tables(DISEASES, 1)) {
        let order = ["flu", "cold", "acne", "HIV", "none", "gout"];
        let occurs = |s: &&str| rows.iter().any(|r| r.1[0] == *s);
        let used: Vec<&str> = order.into_iter().filter(occurs).collect();
        let cost = |i: usize, j: usize| i.abs_diff(j) as i128;
        check(&rows, &[with_tree(TREES[1].0)], "ordered", &used, used.len() as i128 - 1, &cost);
    }
}

#[test]
fn numbers_spelled_in_two_ways_have_one_rank() {
    let row = |group, value: &str| (group, vec![value.to_owned()], 1);
    let rows = [row(0, "1"), row(0, "1.0"), row(1, "2"), row(1, "1e0"), row(1, "3")];
    let table = Table::new(&rows, &[]);
    // P = (1, 0, 0), Q = (3/5, 1/5, 1/5): half of 2/5 + 1/5.
    let params =
        [("t", Millionths(300_000).value()), ("distance", word("ordered")), ("on", word("a"))];
    agree(&table.bind("t-closeness", &params).admits(&table.groups[0]), 0.3, true);
}
