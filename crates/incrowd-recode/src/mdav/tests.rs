//! Comparisons of the kd-tree and the groups with slow, simple implementations.

use incrowd_core::hierarchy::nested::Tree as Nested;
use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{ColumnSpec, Dataset, Folded, HierarchySpec, Kind, Params, Silent, Value};
use proptest::prelude::*;

use super::gather::{Members, Size, gather};
use super::space::Space;
use super::tree::KdTree;
use super::{CARD, Mdav, MdavReport};
use crate::Algorithm;

/// A table of two numbers, a hierarchy and plain text.
fn table(records: &[(i32, i32, usize, usize)], columns: usize) -> Dataset {
    let tree = Nested::parse(
        "tree",
        "north = ['oslo', 'bergen']\nsouth = { west = ['nice', 'pau'], east = ['rome'] }",
    );
    let number = || ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    let specs = [
        number(),
        number(),
        ColumnSpec {
            hierarchy: Some(HierarchySpec::Nested(tree.unwrap())),
            ..ColumnSpec::default()
        },
        ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
    ];
    let cities = ["oslo", "bergen", "nice", "pau", "rome"];
    let texts: Vec<[String; 4]> = records
        .iter()
        .map(|r| {
            [
                r.0.to_string(),
                r.1.to_string(),
                cities[r.2].to_owned(),
                ["a", "b", "c"][r.3].to_owned(),
            ]
        })
        .collect();
    let cells = texts
        .iter()
        .map(|record| record[..columns].iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(&["x", "y", "city", "job"][..columns], cells, true);
    let specs: Vec<&ColumnSpec> = specs[..columns].iter().collect();
    Dataset::encode(folded, &specs, &[], "?").map_err(|e| e.misfit.error).unwrap()
}

fn records(most: usize) -> impl Strategy<Value = Vec<(i32, i32, usize, usize)>> {
    prop::collection::vec((-20i32..20, -5i32..5, 0usize..5, 0usize..3), 1..most)
}

/// The rows by distance, the nearest first; ties by row number.
fn by_distance(space: &Space<'_>, point: &[f64], rows: &[u32]) -> Vec<(f64, u32)> {
    let mut all: Vec<(f64, u32)> =
        rows.iter().map(|&row| (space.distance(point, space.point(row)), row)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all
}

fn farthest(space: &Space<'_>, point: &[f64], rows: &[u32]) -> u32 {
    let all = by_distance(space, point, rows);
    let far = all[all.len() - 1].0;
    all.iter().filter(|row| row.0 == far).map(|row| row.1).min().unwrap()
}

/// MDAV as described in the paper, for records that all differ.
fn textbook(space: &Space<'_>, rows: usize, k: usize) -> Vec<Vec<u32>> {
    let mut left: Vec<u32> = (0..rows as u32).collect();
    let mut groups = Vec::new();
    let centre = |left: &[u32]| space.centre(&left.iter().map(|&row| (row, 1)).collect::<Vec<_>>());
    let around = |left: &mut Vec<u32>, row: u32| {
        let group: Vec<u32> =
            by_distance(space, space.point(row), left).iter().take(k).map(|r| r.1).collect();
        left.retain(|row| !group.contains(row));
        group
    };
    while left.len() >= 3 * k {
        let far = farthest(space, &centre(&left), &left);
        let opposite = farthest(space, space.point(far), &left);
        groups.push(around(&mut left, far));
        groups.push(around(&mut left, opposite));
    }
    if left.len() >= 2 * k {
        let far = farthest(space, &centre(&left), &left);
        groups.push(around(&mut left, far));
    }
    if !left.is_empty() {
        groups.push(left);
    }
    groups
}

fn sorted(groups: &[Members]) -> Vec<Vec<u32>> {
    let rows = |group: &Members| {
        let mut rows: Vec<u32> = group.iter().map(|row| row.0).collect();
        rows.sort_unstable();
        rows
    };
    let mut groups: Vec<Vec<u32>> = groups.iter().map(rows).collect();
    groups.sort();
    groups
}

fn k_anonymity(k: u64, data: &Dataset) -> Vec<Box<dyn BoundModel>> {
    let privacy_model =
        PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k as i64))]).unwrap();
    vec![privacy_model.model.bind(data).unwrap()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_tree_finds_the_same_rows_as_a_scan(
        records in records(90),
        columns in 1usize..5,
        removed in prop::collection::vec(0usize..90, 0..80),
        need in 1u64..9,
    ) {
        let data = table(&records, columns);
        let space = Space::new(&data);
        let mut tree = KdTree::new(&space, (0..data.rows() as u32).collect());
        let mut left: Vec<u32> = (0..data.rows() as u32).collect();
        for at in removed {
            if left.len() > 1 {
                let row = left.remove(at % left.len());
                tree.remove(row);
            }
            let from = space.point(left[at % left.len()]).to_vec();
            prop_assert_eq!(tree.rows(), left.clone());
            prop_assert_eq!(tree.farthest(&from), Some(farthest(&space, &from, &left)));
            let mut sum = 0;
            let mut near = by_distance(&space, &from, &left);
            near.retain(|&(_, row)| {
                let wanted = sum < need;
                sum += data.weight(row as usize);
                wanted
            });
            let near: Vec<u32> = near.into_iter().map(|row| row.1).collect();
            prop_assert_eq!(tree.nearest(&from, need, |row| data.weight(row as usize)), near);
        }
    }

    #[test]
    fn groups_of_records_that_differ_are_those_of_the_paper(
        records in prop::collection::vec(
            (-1_000_000i32..1_000_000, -1_000_000i32..1_000_000),
            1..70,
        ),
        columns in 1usize..3,
        k in 1usize..6,
    ) {
        // With this range of numbers, ties of distances do not occur.
        let mut records: Vec<_> = records.into_iter().map(|(x, y)| (x, y, 0, 0)).collect();
        records.sort_unstable();
        records.dedup_by_key(|r| r.0);
        let data = table(&records, columns);
        let space = Space::new(&data);
        let groups = gather(&space, &data, k as u64, Size::Fixed, false, usize::MAX, &Silent);
        let mut twin = textbook(&space, data.rows(), k);
        twin.iter_mut().for_each(|rows| rows.sort_unstable());
        twin.sort();
        prop_assert_eq!(sorted(&groups), twin);
    }

    #[test]
    fn every_record_is_in_one_group_of_enough_records(
        records in records(80),
        columns in 1usize..5,
        k in 1u64..6,
        variable in any::<bool>(),
        whole in any::<bool>(),
        block in 1usize..60,
    ) {
        let data = table(&records, columns);
        let space = Space::new(&data);
        let size = if variable { Size::Variable { gain: 0.9 } } else { Size::Fixed };
        let groups = gather(&space, &data, k, size, whole, block, &Silent);
        let mut grouped = vec![0u64; data.rows()];
        for group in &groups {
            let records: u64 = group.iter().map(|row| row.1).sum();
            prop_assert!(records >= k || data.records() < k);
            prop_assert!(group.iter().all(|row| row.1 > 0));
            group.iter().for_each(|&(row, n)| grouped[row as usize] += n);
        }
        prop_assert_eq!(grouped, (0..data.rows()).map(|row| data.weight(row)).collect::<Vec<_>>());
        if whole {
            let parts: usize = groups.iter().map(Vec::len).sum();
            prop_assert_eq!(parts, data.rows());
        }
    }

    #[test]
    fn moves_never_increase_the_distances(
        records in records(80),
        columns in 1usize..5,
        k in 1u64..6,
    ) {
        let data = table(&records, columns);
        if data.records() >= k {
            let mdav = Mdav { size: Size::Fixed, moves: true };
            let made = mdav.recode_and_report(&data, &k_anonymity(k, &data), 0, &Silent).unwrap();
            let report: &MdavReport = made.report_as().unwrap();
            prop_assert!(report.moved <= report.gathered + 1e-9);
            // The reported ratio is that of the groups.
            let data = data.clone().divided(made.partition.divided());
            let space = Space::new(&data);
            let mut groups: Vec<Members> = vec![Vec::new(); made.partition.groups()];
            let members = |row: usize| (row as u32, data.weight(row));
            for row in 0..data.rows() {
                groups[made.partition.group(row).unwrap().index()].push(members(row));
            }
            let sum = |group: &Members| {
                let centre = space.centre(group);
                let distance = |row: u32| space.distance(&centre, space.point(row));
                group.iter().map(|&(row, n)| n as f64 * distance(row)).sum::<f64>()
            };
            let whole: Members = (0..data.rows()).map(members).collect();
            let (within, all) = (groups.iter().map(sum).sum::<f64>(), sum(&whole));
            prop_assert!(all == 0.0 || (within / all - report.moved).abs() < 1e-6);
            // IL1s by its definition, on the original numbers.
            let numbers = columns.min(2);
            let point = |column: usize, row: usize| {
                let code = incrowd_core::Code(data.quasi_codes(row)[column]);
                data.quasi()[column].domain.place(code)
            };
            let count = |row: usize| data.weight(row) as f64;
            let n = data.records() as f64;
            let mut il1s = 0.0;
            for column in 0..numbers {
                let mean = |rows: &mut dyn Iterator<Item = usize>| {
                    let (mut sum, mut records) = (0.0, 0.0);
                    for row in rows {
                        sum += point(column, row) * count(row);
                        records += count(row);
                    }
                    sum / records
                };
                let middle = mean(&mut (0..data.rows()));
                let square = |row| (point(column, row) - middle).powi(2) * count(row);
                let squares: f64 = (0..data.rows()).map(square).sum();
                let deviation = (squares / (n - 1.0)).sqrt();
                if deviation > 0.0 {
                    for group in &groups {
                        let middle = mean(&mut group.iter().map(|row| row.0 as usize));
                        let distance = |&(row, n): &(u32, u64)| {
                            (point(column, row as usize) - middle).abs() * n as f64
                        };
                        il1s += group.iter().map(distance).sum::<f64>()
                            / (std::f64::consts::SQRT_2 * deviation);
                    }
                }
            }
            let expected = il1s / (n * numbers as f64);
            prop_assert!((report.il1s - expected).abs() < 1e-6, "{} {expected}", report.il1s);
        }
    }
}

#[test]
fn near_rows_join_a_group_of_variable_size() {
    // Three records near each other and four far from them. With k = 2, groups of fixed size must
    // separate one of the three.
    let records =
        [(0, 0), (1, 0), (2, 0), (18, 0), (19, 0), (-19, 4), (-20, 4)].map(|(x, y)| (x, y, 0, 0));
    let data = table(&records, 2);
    let space = Space::new(&data);
    let sizes = |size| {
        let mut sizes: Vec<usize> = gather(&space, &data, 2, size, false, usize::MAX, &Silent)
            .iter()
            .map(Vec::len)
            .collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes(Size::Variable { gain: 0.5 }), [2, 2, 3]);
}

#[test]
fn parameters_are_parsed() {
    let params =
        Params::new("mdav", CARD.params, [("size".to_owned(), Value::Word("variable".to_owned()))]);
    assert_eq!(
        Mdav::new(&params.unwrap()),
        Mdav { size: Size::Variable { gain: 0.2 }, moves: true }
    );
}
