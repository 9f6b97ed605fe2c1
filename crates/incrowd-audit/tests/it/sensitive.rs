//! p-sensitive, (p,α)- and (p⁺,α)-sensitive k-anonymity: the tables of the paper, and releases
//! that were verified by an independent prototype.

use incrowd_audit::attack::{Adversary, Card, Published};
use incrowd_audit::{Verification, verify};
use incrowd_core::model::PrivacyModel;
use incrowd_core::{
    Categories, ColumnSpec, Dataset, Folded, Publish, SensitiveSpec, Silent, Value,
};
use proptest::prelude::*;
use serde_json::Value as Json;

fn text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().unwrap().iter().map(text).collect()
}

/// `"5/2"`, `"2.5"` or `2`.
fn number(json: &Json) -> f64 {
    let text = text(json);
    match text.split_once('/') {
        Some((a, b)) => a.parse::<f64>().unwrap() / b.parse::<f64>().unwrap(),
        None => text.parse().unwrap(),
    }
}

fn categories(json: &Json) -> Categories {
    let named = |(i, values): (usize, &Json)| (format!("category {}", i + 1), texts(values));
    Categories::new(json.as_array().unwrap().iter().enumerate().map(named).collect()).unwrap()
}

/// The four models of the paper with the parameters of a case.
fn privacy_models(case: &Json) -> [(&'static str, PrivacyModel); 4] {
    let count = |name: &str| Value::Integer(case[name].as_i64().unwrap());
    let make = |name: &str, params: &[&str]| {
        let value = |p: &&str| match *p {
            "alpha" => ("alpha".to_owned(), Value::Real(number(&case["alpha"]))),
            p => (p.to_owned(), count(p)),
        };
        PrivacyModel::new(name, params.iter().map(value)).unwrap()
    };
    [
        ("k", make("k-anonymity", &["k"])),
        ("p", make("p-sensitive", &["p", "k"])),
        ("pa", make("p-alpha-sensitive", &["p", "alpha", "k"])),
        ("p+a", make("p-plus-alpha-sensitive", &["p", "alpha", "k"])),
    ]
}

/// Verifies a release whose last column is sensitive.
fn judge(
    rows: &[Vec<String>],
    spec: &SensitiveSpec,
    privacy_models: &[PrivacyModel],
) -> Verification {
    let width = rows[0].len();
    let names: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cells = rows.iter().map(|row| row.iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(&names, cells, false);
    let release =
        Dataset::of_release(folded, width - 1, &[spec]).map_err(|e| e.misfit.error).unwrap();
    verify(&release, privacy_models, None).unwrap()
}

fn check(name: &str, case: &Json, list: &Json) {
    let rows: Vec<Vec<String>> = case["rows"].as_array().unwrap().iter().map(texts).collect();
    let spec = SensitiveSpec { categories: Some(categories(list)), ..SensitiveSpec::default() };
    let (keys, privacy_models): (Vec<_>, Vec<_>) = privacy_models(case).into_iter().unzip();
    let found = judge(&rows, &spec, &privacy_models);
    assert!(!keys.is_empty() && keys.len() == found.judgements.len(), "{name}");
    for (key, judgement) in keys.iter().zip(&found.judgements) {
        assert_eq!(judgement.holds, case["verdict"][key].as_bool().unwrap(), "{name}: {key}");
    }
    // If a parameter is impossibly large, the reported value is the minimum over the groups.
    let own = if case["sa"].is_object() { &case["sa"] } else { case };
    let minimum = |model: &str, param: &str| {
        let mut params =
            vec![("p".to_owned(), Value::Integer(1)), ("k".to_owned(), Value::Integer(1))];
        if model != "p-sensitive" {
            params.push(("alpha".to_owned(), Value::Real(0.0)));
        }
        params.retain(|(name, _)| name != param);
        params.push((param.to_owned(), Value::Integer(1_000_000)));
        let privacy_model = PrivacyModel::new(model, params).unwrap();
        judge(&rows, &spec, &[privacy_model]).judgements[0].have
    };
    assert_eq!(minimum("p-sensitive", "p"), own["min_distinct"].as_f64().unwrap(), "{name}");
    assert_eq!(
        minimum("p-plus-alpha-sensitive", "p"),
        own["min_categories"].as_f64().unwrap(),
        "{name}"
    );
    assert!(
        (minimum("p-alpha-sensitive", "alpha") - number(&own["min_weight"])).abs() < 1e-12,
        "{name}"
    );
}

/// Compares the results of attacks with those of the prototype.
fn attacks(name: &str, case: &Json, list: &Json) {
    let rows: Vec<Vec<String>> = case["rows"].as_array().unwrap().iter().map(texts).collect();
    let width = rows[0].len();
    let names: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let cells = rows.iter().map(|row| row.iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(&names, cells, false);
    let specs = vec![ColumnSpec::default(); width - 1];
    let mut adversary = Adversary::new(Published::new(&folded, &specs), &[]);
    adversary.categories = vec![Some(categories(list))];
    let own = if case["sa"].is_object() { &case["sa"] } else { case };
    for (attack, fact, key) in [
        ("homogeneity", "groups", "homogeneous_groups"),
        ("homogeneity", "certain", "homogeneous_records"),
        ("similarity", "groups", "similarity_groups"),
        ("similarity", "certain", "similarity_records"),
        ("confidence", "value", "max_value_confidence"),
        ("confidence", "category", "max_category_confidence"),
    ] {
        let card = Card::find(attack).unwrap();
        let answer = (card.run)(&adversary, card.threshold(None).unwrap(), &Silent).unwrap();
        let found = answer.findings[0].fact(fact).unwrap();
        assert!((found - own[key].as_f64().unwrap()).abs() < 1e-12, "{name}: {key} is {found}");
    }
}

#[test]
fn tables_2_5_6_7_and_8_of_the_paper() {
    let vectors: Json =
        serde_json::from_str(incrowd_testing::fixture("psens_tables.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 10);
    for case in cases {
        check(&text(&case["name"]), case, &case["categories"]);
        attacks(&text(&case["name"]), case, &case["categories"]);
    }
}

#[test]
fn random_releases_agree_with_the_prototype() {
    let vectors: Json =
        serde_json::from_str(incrowd_testing::fixture("psens_checker_random.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 36);
    for (i, case) in cases.iter().enumerate() {
        check(&format!("case {i}"), case, &vectors["categories"]);
        attacks(&format!("case {i}"), case, &vectors["categories"]);
    }
}

#[test]
fn weights_are_ordinal() {
    let vectors: Json =
        serde_json::from_str(incrowd_testing::fixture("psens_weights.json")).unwrap();
    let entries = vectors["weights"].as_array().unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        let m = entry["categories"].as_u64().unwrap();
        assert_eq!(entry["weights"].as_array().unwrap().len() as u64, m);
        let list: Vec<Vec<String>> = (0..m).map(|i| vec![format!("v{i}")]).collect();
        let spec = SensitiveSpec {
            categories: Some(categories(&serde_json::json!(list))),
            ..SensitiveSpec::default()
        };
        for (i, weight) in entry["weights"].as_array().unwrap().iter().enumerate() {
            let params = [("p", 1.0), ("k", 1.0), ("alpha", 1e9)];
            let params = params.map(|(name, x)| {
                (
                    name.to_owned(),
                    if name == "alpha" { Value::Real(x) } else { Value::Integer(x as i64) },
                )
            });
            let privacy_model = PrivacyModel::new("p-alpha-sensitive", params).unwrap();
            let found = judge(&[vec!["g".into(), format!("v{i}")]], &spec, &[privacy_model]);
            assert!(
                (found.judgements[0].have - number(weight)).abs() < 1e-12,
                "{m} categories, value {i}"
            );
        }
    }
}

#[test]
fn mean_weight_and_category_share_are_stricter_than_the_sum_of_weights() {
    // Nine of ten have HIV. Two harmless records reach any alpha up to 2 in a group of any size.
    let list = serde_json::json!([["HIV"], ["Flu", "Cold"]]);
    let spec = SensitiveSpec { categories: Some(categories(&list)), ..SensitiveSpec::default() };
    let mut rows = vec![vec!["g".to_owned(), "HIV".to_owned()]; 18];
    rows.extend([vec!["g".to_owned(), "Flu".to_owned()], vec!["g".to_owned(), "Cold".to_owned()]]);
    let holds = |extra: &[(&str, f64)]| {
        let mut params = vec![
            ("p".to_owned(), Value::Integer(2)),
            ("k".to_owned(), Value::Integer(2)),
            ("alpha".to_owned(), Value::Real(2.0)),
        ];
        params.extend(extra.iter().map(|(name, x)| ((*name).to_owned(), Value::Real(*x))));
        let privacy_model = PrivacyModel::new("p-plus-alpha-sensitive", params).unwrap();
        judge(&rows, &spec, &[privacy_model]).judgements[0].holds
    };
    assert!(holds(&[]));
    assert!(holds(&[("mean_weight", 0.1), ("max_category_share", 0.9)]));
    assert!(!holds(&[("mean_weight", 0.11)]) && !holds(&[("max_category_share", 0.89)]));
}

#[test]
fn models_about_values_are_undecided_if_only_categories_are_published() {
    let list = serde_json::json!([["HIV", "Cancer"], ["Flu", "Cold"]]);
    let spec = SensitiveSpec {
        categories: Some(categories(&list)),
        publish: Some(Publish::Category),
        ..SensitiveSpec::default()
    };
    let rows = |values: &[&str]| -> Vec<Vec<String>> {
        values.iter().map(|v| vec!["g".to_owned(), (*v).to_owned()]).collect()
    };
    let case = serde_json::json!({ "k": 2, "p": 2, "alpha": 0 });
    let privacy_models: Vec<PrivacyModel> =
        privacy_models(&case).into_iter().map(|(_, privacy_model)| privacy_model).collect();
    let one = judge(&rows(&["category 1", "category 1"]), &spec, &privacy_models);
    let unknown: Vec<(bool, bool)> = one.judgements.iter().map(|j| (j.holds, j.unknown)).collect();
    assert_eq!(unknown, [(true, false), (false, true), (false, true), (false, false)]);
    let two = judge(&rows(&["category 1", "category 2"]), &spec, &privacy_models);
    assert!(two.judgements.iter().all(|j| j.holds && !j.unknown));
}

proptest! {
    /// Compares with all pairs of persons and records.
    #[test]
    fn overlap_is_the_union_of_all_groups_that_match_a_person(
        release in prop::collection::vec((0u32..8, 0u32..4, 0usize..4), 1..10),
        people in prop::collection::vec(0u32..12, 1..10),
    ) {
        let values = ["HIV", "Flu", "Cold", "Gout"];
        let cells: Vec<[String; 2]> = release
            .iter()
            .map(|&(lo, width, value)| {
                [format!("[{lo}, {}]", lo + width), values[value].to_owned()]
            })
            .collect();
        let published = Folded::from_records(
            &["age", "disease"],
            cells.iter().map(|row| row.iter().map(|cell| Some(cell.as_str())).collect()),
            false,
        );
        let ages: Vec<String> = people.iter().map(u32::to_string).collect();
        let records = ages.iter().map(|age| vec![Some(age.as_str())]);
        let table = Folded::from_records(&["age"], records, false);
        let kind = Some(incrowd_core::Kind::Numeric);
        let specs = [ColumnSpec { kind, ..ColumnSpec::default() }];
        let mut adversary = Adversary::new(Published::new(&published, &specs), &[]);
        adversary.set_population(Some(&table));
        let card = Card::find("overlap").unwrap();
        let answer = (card.run)(&adversary, 1.0, &Silent).unwrap();
        let finding = &answer.findings[0];
        let (mut worst, mut sum, mut at_risk, mut people_matched, mut several) =
            (0.0_f64, 0.0, 0, 0, 0);
        for &age in &people {
            let matching =
                release.iter().filter(|(lo, width, _)| (*lo..=lo + width).contains(&age));
            let mut counts = [0u32; 4];
            let mut groups: Vec<(u32, u32)> = Vec::new();
            for &(lo, width, value) in matching {
                counts[value] += 1;
                groups.push((lo, width));
            }
            groups.sort_unstable();
            groups.dedup();
            let all: u32 = counts.iter().sum();
            if all == 0 {
                continue;
            }
            let risk = f64::from(*counts.iter().max().unwrap()) / f64::from(all);
            worst = worst.max(risk);
            sum += risk;
            people_matched += 1;
            at_risk += u64::from(risk >= 1.0);
            several += u32::from(groups.len() > 1);
        }
        prop_assert_eq!((finding.of, finding.at_risk), (people_matched, at_risk));
        prop_assert!((finding.worst - worst).abs() < 1e-12);
        prop_assert!(
            people_matched == 0
                || (finding.average - sum / people_matched as f64).abs() < 1e-12
        );
        prop_assert_eq!(finding.fact("several"), Some(f64::from(several)));
    }
}
