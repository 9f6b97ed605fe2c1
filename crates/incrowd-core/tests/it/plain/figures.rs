//! `wang2009`, Figures 1 to 3 and 6 and Example 7.1, counterexamples to its theorems, and random
//! tables of which a prototype judged every subset.

use incrowd_core::outlier::Standing;
use serde_json::Value as Json;

use super::{Case, list, text};

const FIGURE_1: &str = "plain_fig1_microdata.json";

fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

fn records(json: &Json) -> Vec<usize> {
    list(json).iter().map(|n| n.as_u64().unwrap() as usize).collect()
}

fn numbers(json: &Json) -> Vec<f64> {
    list(json).iter().map(|x| x.as_f64().unwrap()).collect()
}

fn standing(case: &Case, wanted: Standing) -> Vec<usize> {
    (0..case.rows.len())
        .filter(|&record| case.outliers.standing(case.rows[record]) == wanted)
        .collect()
}

#[test]
fn figure_1_has_one_global_and_one_local_outlier() {
    let vectors = read(incrowd_testing::fixture(FIGURE_1));
    let case = Case::new(&vectors["config"], &vectors["data"]);
    let expected = &vectors["expected"];
    assert_eq!(case.outliers.need(), expected["need_far"].as_u64().unwrap());
    let (ranges, income) = case.outliers.ranges();
    let range = |name: &str| {
        (expected["scale"][name][0].as_f64().unwrap(), expected["scale"][name][1].as_f64().unwrap())
    };
    assert_eq!((ranges, income), (vec![range("Age")], range("Income")));
    assert_eq!(standing(&case, Standing::Global), records(&expected["global_outliers"]));
    assert_eq!(standing(&case, Standing::Local), records(&expected["local_outliers"]));
    // Justin's quasi-identifiers; only the age is a distance attribute.
    let good = case.outliers.good_at(&[20.0]);
    let values = case.outliers.values();
    let bad = (0..values.len()).filter(|&rank| !good.get(rank as u32)).map(|rank| values[rank]);
    assert_eq!(bad.collect::<Vec<_>>(), numbers(&expected["bad_for_Justin_QI"]));
}

/// Checks that the matrix of a group is the expected one. Expected corners contain all
/// quasi-identifiers.
fn agrees(case: &Case, group: &Json, of: &[usize]) {
    let (region, values) = (case.region(of), case.set(of));
    let ends: Vec<Vec<f64>> =
        region.extents.iter().map(|extent| vec![extent.ends.0, extent.ends.1]).collect();
    if let Some(expected) = group["box"].as_array() {
        assert_eq!(ends, expected.iter().map(numbers).collect::<Vec<_>>());
    }
    let matrix = case.outliers.matrix(&region, &values).unwrap();
    let bad: Vec<f64> =
        matrix.bad_values.iter().map(|&rank| case.outliers.values()[rank as usize]).collect();
    assert_eq!(bad, numbers(&group["all_bad_values"]));
    let on_distance =
        |corner: Vec<f64>| case.outliers.attributes().map(|q| corner[q]).collect::<Vec<f64>>();
    let mut corners: Vec<Vec<f64>> =
        list(&group["all_bad_corners"]).iter().map(|corner| on_distance(numbers(corner))).collect();
    corners.dedup();
    assert_eq!(matrix.bad_corners, corners);
    let plain = matrix.bad_values.is_empty() && matrix.bad_corners.is_empty();
    assert_eq!(
        case.outliers.plain(&region, &values).is_ok(),
        plain,
        "the search agrees with the matrix"
    );
    assert_eq!(plain && group["k_ok"] == true, group["plain"] == true);
    if let Some(provable) = group["outlier_provable"].as_bool() {
        assert_eq!(!case.outliers.assignable(&region, &case.values(of)), provable);
    }
}

/// The records of Figure 1 in a published group, found by their incomes.
fn released(vectors: &Json, data: &Json, group: &Json) -> Vec<usize> {
    let names = ["Age", "Gender", "Zipcode"];
    assert_eq!(list(&group["qi"]).len(), names.len());
    let own =
        |row: &&Json| names.iter().zip(list(&group["qi"])).all(|(name, cell)| row[*name] == *cell);
    let incomes: Vec<&Json> =
        list(&vectors["release"]).iter().filter(own).map(|row| &row["Income"]).collect();
    assert!(!incomes.is_empty());
    (0..list(data).len()).filter(|&record| incomes.contains(&&data[record]["Income"])).collect()
}

#[test]
fn figures_2a_2b_and_3_are_judged_as_in_the_paper() {
    let data = read(incrowd_testing::fixture(FIGURE_1))["data"].clone();
    for release in [
        incrowd_testing::fixture("plain_fig2a_release.json"),
        incrowd_testing::fixture("plain_fig2b_release.json"),
        incrowd_testing::fixture("plain_fig3_release.json"),
    ] {
        let vectors = read(release);
        let case = Case::new(&vectors["config"], &data);
        for group in list(&vectors["expected"]["groups"]) {
            agrees(&case, group, &released(&vectors, &data, group));
        }
    }
}

#[test]
fn example_7_1_adds_a_tuple_that_makes_the_group_plain() {
    let vectors = read(incrowd_testing::fixture("plain_example_7_1.json"));
    let case = Case::new(&vectors["config"], &read(incrowd_testing::fixture(FIGURE_1))["data"]);
    for group in list(&vectors["groups"]) {
        let of: Vec<usize> = records(&group["tuple_ids"]).iter().map(|id| id - 1).collect();
        agrees(&case, group, &of);
    }
}

#[test]
fn the_theorems_have_counterexamples() {
    let vectors = read(incrowd_testing::fixture("plain_counterexamples.json"));
    let (mut outlier_free, mut without_group, mut proved) = (0, 0, 0);
    for vector in list(&vectors["cases"]) {
        let case = Case::new(&vector["config"], &vector["data"]);
        let k = vector["config"]["k"].as_u64().unwrap() as usize;
        if let Some(corners) = vector["corner_bad"].as_array() {
            // Theorem 4.1: every corner is bad, but the person in the middle is not an outlier.
            for corner in corners {
                let value = corner[1].as_f64().unwrap();
                let rank = case.outliers.values().iter().position(|x| *x == value).unwrap() as u32;
                assert_eq!(
                    !case.outliers.good_at(&numbers(&corner[0])).get(rank),
                    corner[2] == true
                );
            }
            let person = vector["o_row"].as_u64().unwrap() as usize;
            let place: f64 = text(&vector["data"][person]["q"]).parse().unwrap();
            let good = case.outliers.good_at(&[place]);
            let bad: Vec<bool> =
                (0..case.outliers.values().len() as u32).map(|rank| !good.get(rank)).collect();
            assert!(list(&vector["o_bad"]).iter().eq(&bad));
            outlier_free += 1;
        } else if vector["plain_groups"].is_u64() {
            // Theorem 6.2: local outliers that fit into no plain group.
            assert_eq!(standing(&case, Standing::Local), records(&vector["local_outliers"]));
            let n = case.rows.len();
            let subset =
                |set: usize| (0..n).filter(|record| set >> record & 1 == 1).collect::<Vec<_>>();
            assert!(!(1..1 << n).any(|set| case.plain(&subset(set), k)));
            let forced = case.outliers.forced(&case.data);
            assert_eq!(
                (forced.may_fit, forced.removals(), forced.all_decided),
                (0, n as u64, true)
            );
            without_group += 1;
        } else {
            // Theorem 5.1: a plain group in which an outlier can be proved.
            let of = records(&vector["group_rows"]);
            assert!(case.plain(&of, k));
            assert!(!case.outliers.assignable(&case.region(&of), &case.values(&of)));
            proved += 1;
        }
    }
    assert_eq!((outlier_free, without_group, proved), (1, 1, 3));
}

#[test]
fn random_tables_agree_with_brute_force_over_every_subset() {
    let vectors = read(incrowd_testing::fixture("plain_random.json"));
    let (mut plain, mut broken) = (0, 0);
    for vector in list(&vectors["cases"]) {
        let (config, expected) = (&vector["config"], &vector["expected"]);
        let case = Case::new(config, &vector["data"]);
        assert_eq!(case.outliers.need(), expected["need_far"].as_u64().unwrap());
        assert_eq!(standing(&case, Standing::Global), records(&expected["global_outliers"]));
        assert_eq!(standing(&case, Standing::Local), records(&expected["local_outliers"]));
        for group in list(&expected["groups"]) {
            agrees(&case, group, &records(&group["rows"]));
        }
        let (n, k) = (case.rows.len(), config["k"].as_u64().unwrap() as usize);
        let global = standing(&case, Standing::Global);
        let subset =
            |set: &u32| (0..n).filter(|record| set >> record & 1 == 1).collect::<Vec<usize>>();
        let sets: Vec<Vec<usize>> = (1u32..1 << n).map(|set| subset(&set)).collect();
        let plain_sets: Vec<&Vec<usize>> = sets.iter().filter(|set| case.plain(set, k)).collect();
        assert_eq!(plain_sets.len() as u64, expected["plain_subsets"].as_u64().unwrap());
        assert!(plain_sets.iter().all(|set| !set.iter().any(|record| global.contains(record))));
        // The bound counts every local outlier that is in a plain group.
        let local = standing(&case, Standing::Local);
        let fitting =
            local.iter().filter(|record| plain_sets.iter().any(|set| set.contains(record))).count();
        assert!(case.outliers.forced(&case.data).may_fit >= fitting as u64);
        plain += plain_sets.len();
        // Plain groups need not survive merging; groups with equal boxes do.
        for (i, a) in plain_sets.iter().enumerate() {
            for b in
                plain_sets[i + 1..].iter().filter(|b| !b.iter().any(|record| a.contains(record)))
            {
                let union: Vec<usize> = a.iter().chain(b.iter()).copied().collect();
                let holds = case.plain(&union, k);
                broken += usize::from(!holds);
                assert!(holds || case.region(a) != case.region(b));
            }
        }
    }
    assert!(broken > 0, "some unions are not plain");
    assert!(plain > 100, "the tables have plain groups: {plain}");
}

#[test]
fn figure_6_lists_the_values_in_order() {
    let vectors = read(incrowd_testing::fixture("plain_fig6_sorted_lists.json"));
    let figure_1 = read(incrowd_testing::fixture(FIGURE_1));
    let case = Case::new(&figure_1["config"], &figure_1["data"]);
    for (q, name) in ["Age", "Gender", "Zipcode"].iter().enumerate() {
        let mut order: Vec<usize> =
            (0..9).filter(|&r| case.outliers.standing(case.rows[r]) != Standing::Global).collect();
        order.sort_by_key(|&record| (case.data.quasi_codes(case.rows[record])[q], record));
        let ids = list(&vectors["lists"][*name])
            .iter()
            .map(|entry| entry[0].as_u64().unwrap() as usize - 1);
        assert_eq!(order, ids.collect::<Vec<_>>(), "{name}");
    }
    let mut order: Vec<usize> = (0..9).filter(|&r| r != 5).collect();
    order
        .sort_by_key(|&record| case.outliers.rank(case.data.sensitive_codes(case.rows[record])[0]));
    let ids = list(&vectors["lists"]["Income"])
        .iter()
        .map(|entry| entry[0].as_u64().unwrap() as usize - 1);
    assert_eq!(order, ids.collect::<Vec<_>>());
}
