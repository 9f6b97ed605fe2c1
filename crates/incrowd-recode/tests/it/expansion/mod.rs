//! Expansion: the paper's table, random tables with a known optimum, and requirements of all
//! releases.

use std::cell::RefCell;
use std::collections::BTreeMap;

use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::outlier::Standing;
use incrowd_core::{
    ColumnSpec, Dataset, Extent, Fault, Folded, GroupId, GroupSummary, HierarchySpec, Kind,
    Partition, Region, SensitiveSpec, Silent, Value,
};
use incrowd_recode::expansion::ExpansionReport;
use incrowd_recode::{Method, Recoding};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::possible::possible;

const METHODS: [&str; 5] = ["expc-plus", "expc", "gnof", "gof", "remove-outliers"];

fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap()
}

fn encode(config: &Json, data: &[&Json]) -> Dataset {
    let quasi = list(&config["qi"]);
    let mut names: Vec<&str> = quasi.iter().map(|q| text(&q["name"])).collect();
    names.push(text(&config["sa"]["name"]));
    let spec = |q: &Json| match q["hierarchy"].as_array() {
        None => ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() },
        Some(paths) => {
            let line =
                |path: &Json| list(path).iter().map(text).collect::<Vec<_>>().join(";") + "\n";
            let hierarchy =
                HierarchySpec::Arx { name: "h".into(), text: paths.iter().map(line).collect() };
            ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() }
        }
    };
    let specs: Vec<ColumnSpec> = quasi.iter().map(spec).collect();
    let records =
        data.iter().map(|record| names.iter().map(|name| Some(text(&record[*name]))).collect());
    let folded = Folded::from_records(&names, records, false);
    Dataset::encode(folded, &specs.iter().collect::<Vec<_>>(), &[&SensitiveSpec::default()], "?")
        .unwrap()
}

fn privacy_model(config: &Json) -> PrivacyModel {
    let attributes = config["distance_attrs"]
        .as_array()
        .map_or_else(Vec::new, |names| names.iter().map(|name| text(name).to_owned()).collect());
    let given = [
        ("k", Value::Integer(config["k"].as_i64().unwrap())),
        ("p", Value::Real(config["p"].as_f64().unwrap())),
        ("d", Value::Real(config["d"].as_f64().unwrap())),
        ("scale", Value::Word(text(&config["scaling"]).to_owned())),
        ("distance_attributes", Value::Words(attributes)),
    ];
    PrivacyModel::new("plain-k-anonymity", given.map(|(n, v)| (n.to_owned(), v))).unwrap()
}

fn recode(
    name: &str,
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    most: u64,
) -> incrowd_core::Result<Recoding> {
    let seeds = ("seeds".to_owned(), Value::Word("sorted".to_owned()));
    Method::new(name, [seeds]).unwrap().algorithm.recode_and_report(data, models, most, &Silent)
}

/// Returns the loss of a partition. A row without a group has the full loss.
fn loss(data: &Dataset, partition: &Partition) -> f64 {
    let of_group = |group: GroupId| -> f64 {
        let spans = partition.spans(group).iter().zip(data.quasi());
        spans
            .map(|(span, quasi)| {
                let cell = quasi.domain.read(&quasi.domain.label(span.lo, span.hi)).unwrap();
                quasi.domain.cell_loss(&cell)
            })
            .sum()
    };
    let width = data.quasi().len() as f64;
    (0..data.rows())
        .map(|row| data.weight(row) as f64 * partition.group(row).map_or(width, of_group))
        .sum()
}

/// The models admit every group, with the extents of its labels. Groups with equal labels are
/// merged.
fn holds(data: &Dataset, partition: &Partition, models: &[Box<dyn BoundModel>]) {
    let label = |group: GroupId| -> Vec<String> {
        partition
            .spans(group)
            .iter()
            .zip(data.quasi())
            .map(|(s, q)| q.domain.label(s.lo, s.hi))
            .collect()
    };
    let mut groups: BTreeMap<Vec<String>, GroupSummary> = BTreeMap::new();
    for row in 0..data.rows() {
        let Some(group) = partition.group(row) else { continue };
        let spans = partition.spans(group);
        assert!(
            spans
                .iter()
                .zip(data.quasi_codes(row))
                .all(|(s, &code)| (s.lo.0..=s.hi.0).contains(&code))
        );
        let extents = spans
            .iter()
            .zip(data.quasi())
            .map(|(span, quasi)| Extent::of_group(&quasi.domain, *span, &[]))
            .collect();
        let summary = groups.entry(label(group)).or_insert_with(|| GroupSummary::empty(1));
        summary.add(data.weight(row), data.sensitive_codes(row));
        summary.region = Some(Region { extents });
    }
    assert!(groups.values().all(|group| models.iter().all(|model| model.admits(group).holds)));
}

#[test]
fn figure_1_is_published_without_bill() {
    let vectors: Json =
        serde_json::from_str(incrowd_testing::fixture("plain_fig1_microdata.json")).unwrap();
    let data = encode(&vectors["config"], &list(&vectors["data"]).iter().collect::<Vec<_>>());
    let models = [privacy_model(&vectors["config"]).model.bind(&data).unwrap()];
    for name in METHODS {
        let recoding = recode(name, &data, &models, 9).unwrap();
        let partition = &recoding.partition;
        holds(&data, partition, &models);
        let report: ExpansionReport = recoding.report_as().cloned().unwrap();
        let forced = report.forced.unwrap();
        assert_eq!((forced.outliers.global, forced.outliers.local, forced.may_fit), (1, 1, 1));
        assert_eq!(report.removed_global, 1);
        // Records are rows here: Bill is the sixth, Justin the third.
        let group = |record: u32| partition.group(data.row_of_fold(record).unwrap().index());
        assert_eq!(group(5), None, "{name}");
        assert_eq!(group(2).is_none(), name == "remove-outliers", "{name}");
        assert_eq!(report.removed_local, u64::from(name == "remove-outliers"));
    }
}

#[test]
fn random_tables_satisfy_the_model_and_are_never_better_than_the_optimum() {
    let vectors: Json =
        serde_json::from_str(incrowd_testing::fixture("plain_random.json")).unwrap();
    let (mut made, mut best) = (0, 0);
    for vector in list(&vectors["cases"]) {
        let records: Vec<&Json> = list(&vector["data"]).iter().collect();
        let data = encode(&vector["config"], &records);
        let privacy_model = privacy_model(&vector["config"]);
        let models = [privacy_model.model.bind(&data).unwrap()];
        let optimal = vector["expected"]["optimal_total_il"].as_f64();
        let plain_subsets = vector["expected"]["plain_subsets"].as_u64().unwrap();
        for name in METHODS {
            match recode(name, &data, &models, data.records()) {
                Ok(recoding) => {
                    let partition = &recoding.partition;
                    holds(&data, partition, &models);
                    let (loss, optimal) = (loss(&data, partition), optimal.unwrap());
                    assert!(
                        loss >= optimal - 1e-9,
                        "{name}: {loss} is less than the optimum, {optimal}"
                    );
                    made += 1;
                    best += usize::from(loss <= optimal + 1e-9);
                    let report: ExpansionReport = recoding.report_as().cloned().unwrap();
                    let out =
                        report.removed_global + report.removed_local + report.removed_residues;
                    let absent = (0..data.rows()).filter(|&row| partition.group(row).is_none());
                    assert_eq!(out, absent.map(|row| data.weight(row)).sum::<u64>());
                    assert!(out >= report.forced.unwrap().removals());
                    let mut reversed = records.clone();
                    reversed.reverse();
                    let other = encode(&vector["config"], &reversed);
                    let bound = [privacy_model.model.bind(&other).unwrap()];
                    let again = recode(name, &other, &bound, other.records()).unwrap();
                    let same = (self::loss(&other, &again.partition) - loss).abs() < 1e-9;
                    assert!(same, "the result depends on the order of the records");
                }
                Err(error) => {
                    assert_eq!(error.fault(), Fault::Unsatisfiable, "{error}");
                    assert!(
                        plain_subsets == 0
                            || name != "expc-plus"
                            || error.message().contains("no group"),
                        "{error}"
                    );
                }
            }
        }
    }
    eprintln!("{made} releases, {best} of them optimal");
    assert!(made > 60 && best > 10, "{made} {best}");
}

#[test]
fn records_that_must_be_suppressed_are_reported_before_the_search() {
    // Four people at the corners of a square, none of whom fits into a plain group.
    let config = serde_json::json!({
        "qi": [{ "name": "a" }, { "name": "b" }], "sa": { "name": "s" },
        "k": 2, "p": 0.7, "d": 0.5, "scaling": "original",
    });
    let records = [("0", "0", "0"), ("0", "1", "1"), ("1", "0", "1"), ("1", "1", "0")];
    let records = records.map(|(a, b, s)| serde_json::json!({ "a": a, "b": b, "s": s }));
    let data = encode(&config, &records.iter().collect::<Vec<_>>());
    let models = [privacy_model(&config).model.bind(&data).unwrap()];
    let error = recode("expc-plus", &data, &models, 2).unwrap_err();
    assert!(error.message().contains("at least 4 of 4 records must be suppressed"), "{error}");
    let error = recode("expc", &data, &models, 4).unwrap_err();
    assert!(
        error
            .message()
            .contains("no group of the 4 records satisfies the models; 4 of them are outliers")
    );
}

type Row = (u8, u8, u8, u8);

fn table(rows: &[Row]) -> Dataset {
    let cells: Vec<[String; 3]> = rows
        .iter()
        .flat_map(|&(a, b, s, n)| {
            vec![[a.to_string(), char::from(b'a' + b).to_string(), s.to_string()]; usize::from(n)]
        })
        .collect();
    let folded = Folded::from_records(
        &["a", "b", "s"],
        cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect()),
        false,
    );
    let tree = HierarchySpec::Arx { name: "h".into(), text: "a;A;*\nb;A;*\nc;B;*\nd;B;*\n".into() };
    let specs =
        [ColumnSpec::default(), ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() }];
    Dataset::encode(folded, &specs.each_ref(), &[&SensitiveSpec::default()], "?").unwrap()
}

/// With all settings, the models admit all groups, and a release with models without outliers
/// contains all records.
#[test]
fn groups_satisfy_the_models_and_global_outliers_are_suppressed() {
    let made_by: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let suppressions = RefCell::new(0);
    proptest!(ProptestConfig::with_cases(120), |(
        rows in prop::collection::vec((0u8..12, 0u8..4, 0u8..8, 1u8..4), 3..40),
        k in 1i64..4,
        p in 10u8..21,
        d in 2u8..12,
        ask in 0usize..4,
    )| {
        let data = table(&rows);
        let given = [
            ("k", Value::Integer(k)),
            ("p", Value::Real(f64::from(p) / 20.0)),
            ("d", Value::Real(f64::from(d) / 10.0)),
            ("semantics", Value::Word(["corner", "candidate"][ask % 2].into())),
            ("level", Value::Word(["paper", "strong"][ask / 2].into())),
            ("outlier_diversity", Value::Integer(1 + (ask as i64 % 3))),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value));
        let plain = PrivacyModel::new("plain-k-anonymity", given).unwrap();
        let models = [plain.model.bind(&data).unwrap()];
        for name in METHODS {
            let made = recode(name, &data, &models, data.records());
            let Some(Recoding { partition, .. }) = possible(made, name)? else { continue };
            prop_assert!(partition.groups() > 0, "{}", name);
            *made_by.borrow_mut().entry(name).or_default() += 1;
            holds(&data, &partition, &models);
            let outliers = models[0].outliers().unwrap();
            for row in 0..data.rows() {
                let stays = partition.group(row).is_some();
                let corner = ask % 2 == 0;
                prop_assert!(!(stays && corner && outliers.standing(row) == Standing::Global));
                *suppressions.borrow_mut() += u32::from(!stays);
            }
        }
        let count = PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))]).unwrap();
        if data.records() >= k as u64 {
            let models = [count.model.bind(&data).unwrap()];
            for name in METHODS {
                let made = recode(name, &data, &models, 0).unwrap();
                let is_grouped = |row| made.partition.group(row).is_some();
                prop_assert!((0..data.rows()).all(is_grouped), "{}", name);
                holds(&data, &made.partition, &models);
            }
        }
    });
    // Two thirds of the tables have releases.
    let made_by = made_by.into_inner();
    assert!(METHODS.iter().all(|name| made_by.get(name) >= Some(&20)), "{made_by:?}");
    assert!(suppressions.into_inner() > 0, "no row was suppressed");
}
