//! Outliers: verification of and attacks on the figures of `wang2009`, and the matching of a
//! release with its original compared with brute force.

use incrowd_audit::attack::{Adversary, Distinguished, MODES, Published, distinguish};
use incrowd_audit::{Original, Verification, verify_with_original};
use incrowd_core::model::PrivacyModel;
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
    Folded::from_records(
        &COLUMNS,
        rows.iter().map(|row| row.iter().map(|cell| Some(*cell)).collect()),
        false,
    )
}

fn figure_1() -> (Json, Dataset) {
    let data = read(incrowd_testing::fixture("plain_fig1_microdata.json"))["data"].clone();
    let specs = specs();
    let encoded =
        Dataset::encode(fold(&data), &specs.each_ref(), &[&SensitiveSpec::default()], "?").unwrap();
    (data, encoded)
}

fn privacy_model(k: u64, level: &str) -> PrivacyModel {
    let given = [
        ("k", Value::Integer(k as i64)),
        ("p", Value::Real(0.75)),
        ("d", Value::Real(0.6)),
        ("distance_attributes", Value::Words(vec!["Age".into()])),
        ("level", Value::Word(level.into())),
    ];
    PrivacyModel::new("plain-k-anonymity", given.map(|(n, v)| (n.to_owned(), v))).unwrap()
}

fn verified(release: &Folded, data: &Dataset, privacy_model: PrivacyModel) -> Verification {
    let original = Original::read(release, data, &Silent).unwrap();
    let texts = Dataset::of_release(release.clone(), 3, &[&SensitiveSpec::default()]).unwrap();
    verify_with_original(&texts, &[privacy_model], None, Some((&original, release))).unwrap()
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
fn results_for_figures_2a_2b_and_3_follow_the_definition() {
    let (_, data) = figure_1();
    for text in [
        incrowd_testing::fixture("plain_fig2a_release.json"),
        incrowd_testing::fixture("plain_fig2b_release.json"),
        incrowd_testing::fixture("plain_fig3_release.json"),
    ] {
        let vectors = read(text);
        let (expected, k) = (&vectors["expected"], vectors["config"]["k"].as_u64().unwrap());
        let release = fold(&vectors["release"]);
        let paper = verified(&release, &data, privacy_model(k, "paper"));
        assert_eq!(paper.holds(), expected["plain_k_anonymous"].as_bool().unwrap());
        let groups = expected["groups"].as_array().unwrap();
        let failing = |key: &str| groups.iter().filter(|group| group[key] == false).count() as u64;
        assert_eq!(paper.judgements[0].failing, failing("plain"));
        assert_eq!(
            verified(&release, &data, privacy_model(k, "strong")).judgements[0].failing,
            failing("strong")
        );

        let found = attacked(&release, &data);
        // The rows of Figure 1 are distinct, so a row is a record.
        let leaks = expected["leakage"]["corner"].as_object().unwrap();
        assert!(!leaks.is_empty());
        for (record, leak) in leaks {
            let record: usize = record.parse().unwrap();
            let row = data.row_of_fold(record as u32).unwrap().index();
            let own = found.iter().find(|o| o.row == row).unwrap();
            assert!(leak.is_object());
            for (mode, name) in MODES.iter().enumerate() {
                let want = &expected["leakage"][*name][record.to_string()];
                assert_eq!(
                    own.leakage[mode].presence,
                    want["presence"].as_f64().unwrap(),
                    "{name}"
                );
                assert_eq!(
                    own.leakage[mode].association,
                    want["association"].as_f64().unwrap(),
                    "{name}"
                );
            }
            let values =
                expected["conditional_values_per_outlier"][record.to_string()].as_u64().unwrap();
            assert_eq!(own.values, values, "record {record}");
        }
        // Outliers that are not listed match no group.
        let listed = expected["leakage"]["corner"].as_object().unwrap();
        let record =
            |row: usize| (0..9).find(|&r| data.row_of_fold(r).unwrap().index() == row).unwrap();
        assert!(
            found
                .iter()
                .filter(|o| !listed.contains_key(&record(o.row).to_string()))
                .all(|o| !o.fits)
        );
    }
}

#[test]
fn a_table_that_is_not_a_release_of_the_original_fails() {
    let (_, data) = figure_1();
    let vectors = read(incrowd_testing::fixture("plain_fig3_release.json"));
    let sound = vectors["release"].clone();
    for (row, column, cell, unmatched) in [
        // An income that occurs once in the original, and one that does not occur.
        (4, "Income", "120", 1.0),
        (4, "Income", "77", 1.0),
        // Cells that match nobody with that income.
        (0, "Zipcode", "[6001, 6002]", 1.0),
    ] {
        let mut changed = sound.clone();
        changed[row][column] = Json::from(cell);
        let verification = verified(&fold(&changed), &data, privacy_model(1, "paper"));
        let judgement = &verification.judgements[0];
        assert!(!judgement.holds, "{column} {cell}");
        assert_eq!(judgement.measures, "records without a matching record of the original");
        assert_eq!(judgement.have, unmatched);
    }
    assert!(verified(&fold(&sound), &data, privacy_model(4, "strong")).holds());
}

#[test]
fn without_the_original_the_error_names_an_alternative() {
    let vectors = read(incrowd_testing::fixture("plain_fig3_release.json"));
    let release = fold(&vectors["release"]);
    let texts = Dataset::of_release(release, 3, &[&SensitiveSpec::default()]).unwrap();
    let error: Error =
        verify_with_original(&texts, &[privacy_model(4, "paper")], None, None).unwrap_err();
    assert!(error.message().contains("needs the original table"));
    assert!(error.advice().unwrap().contains("l-diversity"));
}

#[test]
fn a_cell_that_cannot_be_read_is_refused_without_showing_it() {
    let (_, data) = figure_1();
    let mut vectors = read(incrowd_testing::fixture("plain_fig3_release.json"));
    vectors["release"][0]["Age"] = Json::from("S3CR3T");
    let error = Original::read(&fold(&vectors["release"]), &data, &Silent).unwrap_err();
    assert!(error.message().contains("column `Age`") && !error.message().contains("S3CR3T"));
}

/// Returns the least number of unmatched records, by brute force.
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
    fn the_matching_is_maximal(
        people in prop::collection::vec((0u8..6, 0u8..2), 1..7),
        published in prop::collection::vec((0u8..6, 0u8..4, 0u8..3), 1..6),
    ) {
        let published: Vec<(u8, u8, u8)> =
            published.into_iter().map(|(lo, n, s)| (lo, lo + n, s)).collect();
        let fold = |rows: &[[String; 2]]| {
            let cells = rows.iter().map(|r| r.iter().map(|c| Some(c.as_str())).collect());
            Folded::from_records(&["q", "s"], cells, false)
        };
        let texts: Vec<[String; 2]> =
            people.iter().map(|(q, s)| [q.to_string(), s.to_string()]).collect();
        let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
        let data = Dataset::encode(fold(&texts), &[&spec], &[&SensitiveSpec::default()], "?");
        let data = data.unwrap();
        let cell = |(lo, hi, s): &(u8, u8, u8)| [format!("[{lo}, {hi}]"), s.to_string()];
        let release = fold(&published.iter().map(cell).collect::<Vec<_>>());
        let original = Original::read(&release, &data, &Silent).unwrap();
        let mut people: Vec<Option<(u8, u8)>> = people.into_iter().map(Some).collect();
        prop_assert_eq!(original.unmatched_records(), slow(&published, &mut people) as u64);
    }

    /// There is one group with all people, so that every value is in it. The remaining values are
    /// computed set by set and value by value.
    #[test]
    fn known_attributes_leave_the_values_that_make_an_outlier_on_them(
        people in prop::collection::vec((0u8..5, 0u8..5, 0u8..5, 0u8..6), 4..25),
        p in 6u8..17,
        d in 3u8..10,
    ) {
        let names = ["a", "b", "c", "s"];
        let fold = |rows: &[[String; 4]]| {
            let cells = rows.iter().map(|r| r.iter().map(|c| Some(c.as_str())).collect());
            Folded::from_records(&names, cells, false)
        };
        let texts: Vec<[String; 4]> =
            people.iter().map(|&(a, b, c, s)| [a, b, c, s].map(|x| x.to_string())).collect();
        let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
        let specs = [spec.clone(), spec.clone(), spec];
        let sensitive = SensitiveSpec::default();
        let data = Dataset::encode(fold(&texts), &specs.each_ref(), &[&sensitive], "?").unwrap();
        let range = || "[0, 4]".to_owned();
        let cells: Vec<[String; 4]> =
            people.iter().map(|person| [range(), range(), range(), person.3.to_string()]).collect();
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
            let codes = data.quasi_codes(row);
            let place: Vec<f64> =
                attributes.iter().map(|&q| data.quasi()[q].domain.place(Code(codes[q]))).collect();
            let good = outliers.good_at(&place);
            let count = outliers.values().len();
            Bits::of(count, (0..count as u32).filter(|&rank| !good.get(rank)))
        };
        let whole = Outliers::new(&data, &settings(&[0, 1, 2])).unwrap();
        let sets: [&[usize]; 6] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]];
        for one in &found {
            let all = bad(&[0, 1, 2], one.row);
            let rank = |row: usize| whole.rank(data.sensitive_codes(row)[0]);
            let codes = data.quasi_codes(one.row);
            let own: Vec<u32> = (0..data.rows())
                .filter(|&row| data.quasi_codes(row) == codes && all.get(rank(row)))
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
            let equal_patterns = |own: u32| {
                all.ranks().filter(|&rank| sets.iter().all(|set| {
                    let here = bad(set, one.row);
                    here.get(rank) == here.get(own)
                })).count() as u64
            };
            let fewest = own.iter().map(|&rank| equal_patterns(rank)).min();
            prop_assert_eq!(one.projected.by_pattern, fewest);
        }
    }
}
