//! Outliers: the figures of `wang2009` as a verifier and as an adversary see them, and the matching of a release with its
//! original against trying every way.

use incrowd_audit::attack::{Adversary, Distinguished, MODES, Published, distinguish};
use incrowd_audit::{Original, Verification, verify_beside};
use incrowd_core::model::Promise;
use incrowd_core::outlier::{Bits, Outliers, Scale, Settings};
use incrowd_core::{
    Code, ColumnSpec, Dataset, Error, Folded, HierarchySpec, Kind, SensitiveSpec, Silent, Value,
};
use proptest::prelude::*;
use serde_json::Value as Json;

const COLUMNS: [&str; 4] = ["Age", "Gender", "Zipcode", "Income"];

fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

fn specs() -> [ColumnSpec; 3] {
    let numeric = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    let hierarchy = Some(HierarchySpec::Arx { name: "gender".into(), text: "M;*\nF;*\n".into() });
    [numeric.clone(), ColumnSpec { hierarchy, ..ColumnSpec::default() }, numeric]
}

fn fold(records: &Json) -> Folded {
    let rows: Vec<Vec<&str>> = records
        .as_array()
        .unwrap()
        .iter()
        .map(|record| COLUMNS.iter().map(|name| record[*name].as_str().unwrap()).collect())
        .collect();
    Folded::from_records(&COLUMNS, rows.iter().map(|row| row.iter().map(|cell| Some(*cell)).collect()), false)
}

fn figure_1() -> (Json, Dataset) {
    let data = read(incrowd_testing::fixture("plain_fig1_microdata.json"))["data"].clone();
    let specs = specs();
    let encoded = Dataset::encode(fold(&data), &specs.each_ref(), &[&SensitiveSpec::default()], "?").unwrap();
    (data, encoded)
}

fn promise(k: u64, level: &str) -> Promise {
    let given = [
        ("k", Value::Integer(k as i64)),
        ("p", Value::Real(0.75)),
        ("d", Value::Real(0.6)),
        ("distance_attributes", Value::Words(vec!["Age".into()])),
        ("level", Value::Word(level.into())),
    ];
    Promise::new("plain-k-anonymity", given.map(|(n, v)| (n.to_owned(), v))).unwrap()
}

fn verified(release: &Folded, data: &Dataset, promise: Promise) -> Verification {
    let original = Original::read(release, data, &Silent).unwrap();
    let texts = Dataset::of_release(release.clone(), 3, &[&SensitiveSpec::default()]).unwrap();
    verify_beside(&texts, &[promise], None, Some((&original, release))).unwrap()
}

fn attacked(release: &Folded, data: &Dataset) -> Vec<Distinguished> {
    let specs = specs();
    let adversary = Adversary::new(Published::new(release, &specs), &[]);
    let settings = Settings {
        p: 0.75,
        d: 0.6,
        distance_attributes: vec!["Age".into()],
        scale: Scale::Trimmed,
        bounds: Vec::new(),
        on: String::new(),
        density: None,
    };
    let original = Original::read(release, data, &Silent).unwrap();
    distinguish(&original, &adversary, &settings, &Silent).unwrap()
}

#[test]
fn figures_2a_2b_and_3_are_judged_and_attacked_as_the_definition_says() {
    let (_, data) = figure_1();
    for text in [
        incrowd_testing::fixture("plain_fig2a_release.json"),
        incrowd_testing::fixture("plain_fig2b_release.json"),
        incrowd_testing::fixture("plain_fig3_release.json"),
    ] {
        let vectors = read(text);
        let (expected, k) = (&vectors["expected"], vectors["config"]["k"].as_u64().unwrap());
        let release = fold(&vectors["release"]);
        let paper = verified(&release, &data, promise(k, "paper"));
        assert_eq!(paper.holds(), expected["plain_k_anonymous"].as_bool().unwrap());
        let groups = expected["groups"].as_array().unwrap();
        let failing = |key: &str| groups.iter().filter(|group| group[key] == false).count() as u64;
        assert_eq!(paper.judgements[0].failing, failing("plain"));
        assert_eq!(verified(&release, &data, promise(k, "strong")).judgements[0].failing, failing("strong"));

        let found = attacked(&release, &data);
        // Rows of Figure 1 are all different, so a row is a record.
        for (record, leak) in expected["leakage"]["corner"].as_object().unwrap() {
            let record: usize = record.parse().unwrap();
            let row = data.row_of_fold(record as u32).unwrap().index();
            let own = found.iter().find(|o| o.row == row).unwrap();
            assert!(leak.is_object());
            for (mode, name) in MODES.iter().enumerate() {
                let want = &expected["leakage"][*name][record.to_string()];
                assert_eq!(own.leakage[mode].presence, want["presence"].as_f64().unwrap(), "{name}");
                assert_eq!(own.leakage[mode].association, want["association"].as_f64().unwrap(), "{name}");
            }
            let values = expected["conditional_values_per_outlier"][record.to_string()].as_u64().unwrap();
            assert_eq!(own.values, values, "record {record}");
        }
        // Who is not listed matches no group.
        let listed = expected["leakage"]["corner"].as_object().unwrap();
        let record = |row: usize| (0..9).find(|&r| data.row_of_fold(r).unwrap().index() == row).unwrap();
        assert!(found.iter().filter(|o| !listed.contains_key(&record(o.row).to_string())).all(|o| !o.fits));
    }
}

#[test]
fn a_release_that_is_none_of_the_original_fails() {
    let (_, data) = figure_1();
    let vectors = read(incrowd_testing::fixture("plain_fig3_release.json"));
    let sound = vectors["release"].clone();
    for (row, column, cell, says) in [
        // Justin's income twice, and somebody's not at all.
        (4, "Income", "120", 1.0),
        (4, "Income", "77", 1.0),
        // Cells that nobody with that income fits.
        (0, "Zipcode", "[6001, 6002]", 1.0),
    ] {
        let mut changed = sound.clone();
        changed[row][column] = Json::from(cell);
        let verification = verified(&fold(&changed), &data, promise(1, "paper"));
        let judgement = &verification.judgements[0];
        assert!(!judgement.holds, "{column} {cell}");
        assert_eq!(judgement.measures, "records that no record of the original can stand for");
        assert_eq!(judgement.have, says);
    }
    assert!(verified(&fold(&sound), &data, promise(4, "strong")).holds());
}

#[test]
fn without_the_original_it_says_what_could_be_checked() {
    let vectors = read(incrowd_testing::fixture("plain_fig3_release.json"));
    let release = fold(&vectors["release"]);
    let texts = Dataset::of_release(release, 3, &[&SensitiveSpec::default()]).unwrap();
    let error: Error = verify_beside(&texts, &[promise(4, "paper")], None, None).unwrap_err();
    assert!(error.message().contains("needs the original table"));
    assert!(error.advice().unwrap().contains("--model l-diversity:l=K"));
}

#[test]
fn a_cell_of_another_column_is_refused_without_naming_it() {
    let (_, data) = figure_1();
    let mut vectors = read(incrowd_testing::fixture("plain_fig3_release.json"));
    vectors["release"][0]["Age"] = Json::from("S3CR3T");
    let error = Original::read(&fold(&vectors["release"]), &data, &Silent).unwrap_err();
    assert!(error.message().contains("column `Age`") && !error.message().contains("S3CR3T"));
}

/// Whether every published record finds a record of its own, by trying all.
fn slow(published: &[(u8, u8, u8)], people: &mut Vec<Option<(u8, u8)>>) -> usize {
    let Some((&(lo, hi, value), rest)) = published.split_first() else { return 0 };
    let mut fewest = 1 + slow(rest, people);
    for at in 0..people.len() {
        if people[at].is_some_and(|(q, s)| (lo..=hi).contains(&q) && s == value) {
            let taken = people[at].take();
            fewest = fewest.min(slow(rest, people));
            people[at] = taken;
        }
    }
    fewest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_matching_leaves_as_few_records_as_possible(
        people in prop::collection::vec((0u8..6, 0u8..2), 1..7),
        published in prop::collection::vec((0u8..6, 0u8..4, 0u8..3), 1..6),
    ) {
        let published: Vec<(u8, u8, u8)> = published.into_iter().map(|(lo, n, s)| (lo, lo + n, s)).collect();
        let texts: Vec<[String; 2]> = people.iter().map(|(q, s)| [q.to_string(), s.to_string()]).collect();
        let folded = Folded::from_records(&["q", "s"], texts.iter().map(|r| r.iter().map(|c| Some(c.as_str())).collect()), false);
        let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
        let data = Dataset::encode(folded, &[&spec], &[&SensitiveSpec::default()], "?").unwrap();
        let cells: Vec<[String; 2]> = published.iter().map(|(lo, hi, s)| [format!("[{lo}, {hi}]"), s.to_string()]).collect();
        let release = Folded::from_records(&["q", "s"], cells.iter().map(|r| r.iter().map(|c| Some(c.as_str())).collect()), false);
        let original = Original::read(&release, &data, &Silent).unwrap();
        let mut people: Vec<Option<(u8, u8)>> = people.into_iter().map(Some).collect();
        prop_assert_eq!(original.strangers(), slow(&published, &mut people) as u64);
    }

    /// One group of everybody, so that every value stands in it: what is left is computed set by set and value by value.
    #[test]
    fn knowing_where_somebody_stands_out_leaves_the_values_that_do(
        people in prop::collection::vec((0u8..5, 0u8..5, 0u8..5, 0u8..6), 4..25),
        p in 6u8..17,
        d in 3u8..10,
    ) {
        let names = ["a", "b", "c", "s"];
        let fold = |rows: &[[String; 4]]| {
            Folded::from_records(&names, rows.iter().map(|r| r.iter().map(|c| Some(c.as_str())).collect()), false)
        };
        let texts: Vec<[String; 4]> = people.iter().map(|&(a, b, c, s)| [a, b, c, s].map(|x| x.to_string())).collect();
        let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
        let specs = [spec.clone(), spec.clone(), spec];
        let data = Dataset::encode(fold(&texts), &specs.each_ref(), &[&SensitiveSpec::default()], "?").unwrap();
        let cells: Vec<[String; 4]> = people.iter().map(|person| {
            ["[0, 4]".to_owned(), "[0, 4]".to_owned(), "[0, 4]".to_owned(), person.3.to_string()]
        }).collect();
        let release = fold(&cells);
        let settings = |attributes: &[usize]| Settings {
            p: f64::from(p) / 20.0,
            d: f64::from(d) / 10.0,
            distance_attributes: attributes.iter().map(|&q| names[q].to_owned()).collect(),
            scale: Scale::Original,
            bounds: Vec::new(),
            on: String::new(),
            density: None,
        };
        let adversary = Adversary::new(Published::new(&release, &specs), &[]);
        let original = Original::read(&release, &data, &Silent).unwrap();
        let found = distinguish(&original, &adversary, &settings(&[0, 1, 2]), &Silent).unwrap();
        let bad = |attributes: &[usize], row: usize| -> Bits {
            let outliers = Outliers::new(&data, &settings(attributes)).unwrap();
            let place: Vec<f64> =
                attributes.iter().map(|&q| data.quasi()[q].domain.place(Code(data.quasi_codes(row)[q]))).collect();
            let good = outliers.good_at(&place);
            let count = outliers.values().len();
            Bits::of(count, (0..count as u32).filter(|&rank| !good.get(rank)))
        };
        let whole = Outliers::new(&data, &settings(&[0, 1, 2])).unwrap();
        let sets: [&[usize]; 6] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]];
        for one in &found {
            let all = bad(&[0, 1, 2], one.row);
            let rank = |row: usize| whole.rank(data.sensitive_codes(row)[0]);
            let own: Vec<u32> = (0..data.rows())
                .filter(|&row| data.quasi_codes(row) == data.quasi_codes(one.row) && all.get(rank(row)))
                .map(rank)
                .collect();
            for size in 1..3 {
                let mut fewest = None;
                for set in sets.iter().filter(|set| set.len() == size) {
                    let here = bad(set, one.row);
                    if own.iter().any(|&rank| here.get(rank)) {
                        let left = all.and(&here).count();
                        fewest = Some(fewest.map_or(left, |n: u64| n.min(left)));
                    }
                }
                prop_assert_eq!(one.projected.by_size[size - 1], fewest);
            }
            let alike = |own: u32| {
                all.ranks().filter(|&rank| sets.iter().all(|set| {
                    let here = bad(set, one.row);
                    here.get(rank) == here.get(own)
                })).count() as u64
            };
            prop_assert_eq!(one.projected.by_pattern, own.iter().map(|&rank| alike(rank)).min());
        }
    }
}
