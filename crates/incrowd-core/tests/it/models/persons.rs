//! Persons as the unit of counting: comparison with an independent prototype, and with all choices
//! of one record per person in small groups.

use incrowd_core::model::BoundModel;
use incrowd_core::{Categories, ColumnSpec, Dataset, Folded, GroupSummary, SensitiveSpec, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::{count, privacy_model, word};

/// A record: its group, its person, its value.
type Record = (usize, u32, String);

fn categories() -> SensitiveSpec {
    let names = ["0", "1", "2", "3", "4"];
    let lists = ["high", "low", "none"].iter().enumerate().map(|(i, name)| {
        let own = names
            .iter()
            .enumerate()
            .filter(|(n, _)| n % 3 == i)
            .map(|(_, value)| (*value).to_owned());
        ((*name).to_owned(), own.collect())
    });
    SensitiveSpec {
        categories: Some(Categories::new(lists.collect()).unwrap()),
        ..SensitiveSpec::default()
    }
}

/// The table and its group summaries. With `by_person` the table has persons.
fn table(records: &[Record], by_person: bool) -> (Dataset, Vec<GroupSummary>) {
    let cells: Vec<[String; 2]> =
        records.iter().map(|(group, _, value)| [format!("g{group}"), value.clone()]).collect();
    let cells = cells.iter().map(|row| row.iter().map(|cell| Some(cell.as_str())).collect());
    let mut folded = Folded::from_records(&["group", "a"], cells, false);
    if by_person {
        let of_row = |row: usize| {
            let texts: Vec<&str> = folded
                .row(row)
                .iter()
                .zip(&folded.columns)
                .map(|(&code, c)| c.texts[code as usize].as_str())
                .collect();
            let own =
                records.iter().filter(move |r| format!("g{}", r.0) == texts[0] && r.2 == texts[1]);
            own.map(|record| record.1).collect::<Vec<u32>>()
        };
        let persons: Vec<u32> = (0..folded.rows()).flat_map(of_row).collect();
        folded = folded.with_persons(persons);
    }
    let text = folded.clone();
    let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[&categories()], "?").unwrap();
    let mut groups =
        vec![GroupSummary::empty(1); records.iter().map(|r| r.0 + 1).max().unwrap_or(0)];
    for of_fold in 0..text.rows() {
        let cell = &text.columns[0].texts[text.row(of_fold)[0] as usize];
        let row = data.row_of_fold(of_fold as u32).unwrap().index();
        groups[cell[1..].parse::<usize>().unwrap()].add_row(&data, row);
    }
    (data, groups)
}

fn bind(data: &Dataset, name: &str, params: &[(&str, Value)]) -> Box<dyn BoundModel> {
    privacy_model(name, params).model.bind(data).unwrap()
}

fn holds(data: &Dataset, group: &GroupSummary, name: &str, params: &[(&str, Value)]) -> bool {
    bind(data, name, params).admits(group).holds
}

/// The cases of the prototype; the judged group is the first group of its table.
fn vectors() -> Vec<(Json, Vec<Record>)> {
    let file: Json = serde_json::from_str(incrowd_testing::fixture("persons.json")).unwrap();
    let list = |json: &Json| -> Vec<(u32, String)> {
        let pair = |pair: &Json| (pair[0].as_u64().unwrap() as u32, pair[1].to_string());
        json.as_array().unwrap().iter().map(pair).collect()
    };
    let vector = |case: &Json| {
        let (group, mut rest) = (list(&case["group"]), list(&case["table"]));
        for record in &group {
            let at = rest
                .iter()
                .position(|other| other == record)
                .expect("a group is part of its table");
            rest.remove(at);
        }
        let group = group.into_iter().map(|(person, value)| (0, person, value));
        let records =
            group.chain(rest.into_iter().map(|(person, value)| (1, person, value))).collect();
        (case.clone(), records)
    };
    file["groups"].as_array().unwrap().iter().map(vector).collect()
}

#[test]
fn groups_are_judged_like_the_prototype() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 120);
    let number = |text: &str| Value::Real(text.parse().unwrap());
    let mut repeated = 0;
    for (case, records) in &vectors {
        let (data, groups) = table(records, true);
        let group = &groups[0];
        repeated += u32::from(data.persons().is_some());
        assert_eq!(
            data.size_of((0..data.rows()).filter(|&row| data.quasi_codes(row) == [0])),
            case["persons"]
        );
        let verdicts = |key: &str| {
            case[key]
                .as_object()
                .unwrap()
                .iter()
                .map(|(p, holds)| (p.clone(), holds.as_bool().unwrap()))
        };
        for (k, expected) in verdicts("k") {
            assert_eq!(
                holds(&data, group, "k-anonymity", &[("k", count(k.parse().unwrap()))]),
                expected
            );
        }
        for (alpha, expected) in verdicts("alpha") {
            let given = [("alpha", number(&alpha)), ("k", count(1)), ("on", word("a"))];
            assert_eq!(holds(&data, group, "alpha-k-anonymity", &given), expected, "{case}");
        }
        for kind in ["frequency", "distinct", "entropy"] {
            for (l, expected) in verdicts(kind).filter(|(l, _)| !l.contains('.')) {
                let given =
                    [("l", count(l.parse().unwrap())), ("kind", word(kind)), ("on", word("a"))];
                assert_eq!(
                    holds(&data, group, "l-diversity", &given),
                    expected,
                    "{kind} {l} {case}"
                );
            }
        }
        let recursive = [
            ("l", count(2)),
            ("kind", word("recursive")),
            ("c", Value::Real(2.0)),
            ("on", word("a")),
        ];
        let expected = case["recursive"]["c=2,l=2"].as_bool().unwrap();
        assert_eq!(holds(&data, group, "l-diversity", &recursive), expected, "{case}");
        for (beta, expected) in verdicts("beta") {
            let given = [("beta", number(&beta)), ("kind", word("basic")), ("on", word("a"))];
            assert_eq!(holds(&data, group, "beta-likeness", &given), expected, "{case}");
        }
        let fraction = |key: &str| {
            let text = case[key].as_str().unwrap();
            let (part, whole) = text.split_once('/').unwrap_or((text, "1"));
            part.parse::<f64>().unwrap() / whole.parse::<f64>().unwrap()
        };
        let close = bind(&data, "t-closeness", &[("t", Value::Real(1.0)), ("on", word("a"))]);
        assert!((close.admits(group).have - fraction("t_equal")).abs() < 1e-12, "{case}");
        let range = case["k_e_range"].as_f64().unwrap();
        for (e, expected) in [(range, true), (range + 0.5, false)] {
            let given = [("k", count(1)), ("e", Value::Real(e)), ("on", word("a"))];
            assert_eq!(holds(&data, group, "k-e-anonymity", &given), expected, "{case}");
        }
        let near = [("epsilon", Value::Real(1.0)), ("m", count(1)), ("on", word("a"))];
        let near = bind(&data, "epsilon-m-anonymity", &near).admits(group);
        assert!((near.have - fraction("epsilon_share_1")).abs() < 1e-12, "{case}");
    }
    assert!(repeated > 100, "most cases have persons with several records");
}

/// All choices of one record per person.
fn choices(records: &[Record]) -> Vec<Vec<Record>> {
    let mut persons: Vec<u32> = records.iter().map(|record| record.1).collect();
    persons.sort_unstable();
    persons.dedup();
    let mut all: Vec<Vec<Record>> = vec![Vec::new()];
    for person in persons {
        let own: Vec<&Record> = records.iter().filter(|record| record.1 == person).collect();
        all = all
            .into_iter()
            .flat_map(|chosen| {
                own.iter()
                    .map(move |record| chosen.iter().cloned().chain([(*record).clone()]).collect())
            })
            .collect();
    }
    all
}

/// A model, its parameters, and whether its verdict is exact or only conservative.
type ChoiceModel = (&'static str, Vec<(&'static str, Value)>, bool);

/// Models that must hold for every choice of records.
fn choice_models() -> Vec<ChoiceModel> {
    let on = || ("on", word("a"));
    let mut all = Vec::new();
    for n in 1..4 {
        all.push(("k-anonymity", vec![("k", count(n + 1))], true));
        all.push(("l-diversity", vec![("l", count(n)), ("kind", word("frequency")), on()], true));
        all.push(("l-diversity", vec![("l", count(n)), ("kind", word("distinct")), on()], false));
        all.push(("l-diversity", vec![("l", count(n)), ("kind", word("entropy")), on()], false));
        let recursive =
            vec![("l", count(n)), ("kind", word("recursive")), ("c", Value::Real(1.5)), on()];
        all.push(("l-diversity", recursive, false));
        let alpha = Value::Real([0.34, 0.5, 0.75][n as usize - 1]);
        all.push((
            "alpha-k-anonymity",
            vec![("alpha", alpha.clone()), ("k", count(2)), on()],
            true,
        ));
        all.push(("p-sensitive", vec![("p", count(n)), ("k", count(2)), on()], false));
        all.push((
            "epsilon-m-anonymity",
            vec![("epsilon", Value::Real(1.0)), ("m", count(n)), on()],
            true,
        ));
        let relative = vec![
            ("epsilon", Value::Real(1.5)),
            ("m", count(n)),
            ("neighbourhood", word("relative")),
            on(),
        ];
        all.push(("epsilon-m-anonymity", relative, true));
        let e = Value::Real(n as f64 - 0.5);
        all.push(("k-e-anonymity", vec![("k", count(1)), ("e", e.clone()), on()], true));
        all.push(("k-e-anonymity", vec![("k", count(2)), ("e", e), on()], false));
        for name in ["p-alpha-sensitive", "p-plus-alpha-sensitive"] {
            let base = [("k", count(1)), ("alpha", Value::Real(n as f64 / 2.0)), on()];
            all.push((name, [vec![("p", count(1))], base.to_vec()].concat(), true));
            all.push((name, [vec![("p", count(n))], base.to_vec()].concat(), false));
            let mean = [("k", count(1)), ("p", count(1)), ("alpha", Value::Real(0.0)), on()];
            all.push((
                name,
                [mean.to_vec(), vec![("mean_weight", Value::Real(0.3))]].concat(),
                true,
            ));
            all.push((
                name,
                [mean.to_vec(), vec![("max_category_share", alpha.clone())]].concat(),
                true,
            ));
        }
    }
    all
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((0u32..5, 0u32..5), 1..8).prop_map(|list| {
        list.into_iter().map(|(person, value)| (0, person, value.to_string())).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// An admitted group satisfies the model for every choice. If the verdict is exact, a refused
    /// group violates it for some choice.
    #[test]
    fn a_model_holds_for_every_choice_of_one_record_per_person(records in records()) {
        let (data, groups) = table(&records, true);
        let chosen: Vec<(Dataset, Vec<GroupSummary>)> =
            choices(&records).iter().map(|chosen| table(chosen, false)).collect();
        for (name, params, exact) in choice_models() {
            let admitted = holds(&data, &groups[0], name, &params);
            let each = chosen.iter().all(|(data, groups)| holds(data, &groups[0], name, &params));
            prop_assert!(!admitted || each, "{} {:?} admits {:?}", name, params, records);
            prop_assert!(!exact || admitted == each, "{} {:?} refuses {:?}", name, params, records);
        }
    }

    /// Shares of persons in a group and in the table, computed by definition.
    #[test]
    fn shares_are_shares_of_persons(
        list in prop::collection::vec((0usize..3, 0u32..5, 0u32..3), 2..20),
        digits in 0u64..30,
    ) {
        let mut records: Vec<Record> =
            list.into_iter().map(|(g, p, v)| (g, p, v.to_string())).collect();
        // Groups are numbered without gaps.
        let mut used: Vec<usize> = records.iter().map(|r| r.0).collect();
        used.sort_unstable();
        used.dedup();
        records.iter_mut().for_each(|r| r.0 = used.iter().position(|g| *g == r.0).unwrap());
        let (data, groups) = table(&records, true);
        let persons = |chosen: &dyn Fn(&Record) -> bool| {
            let mut all: Vec<u32> = records.iter().filter(|r| chosen(r)).map(|r| r.1).collect();
            all.sort_unstable();
            all.dedup();
            all.len() as f64
        };
        let beta = digits as f64 / 10.0;
        for (g, group) in groups.iter().enumerate() {
            let values = ["0", "1", "2"];
            let gains = values.iter().filter(|v| persons(&|r| r.2 == **v) > 0.0).map(|v| {
                let q = persons(&|r| r.0 == g && r.2 == *v) / persons(&|r| r.0 == g);
                let p = persons(&|r| r.2 == *v) / persons(&|_| true);
                (q, p)
            });
            let gains: Vec<(f64, f64)> = gains.collect();
            let expected = gains.iter().map(|(q, p)| (q - p) / p).fold(0.0, f64::max);
            let given = [("beta", Value::Real(beta)), ("kind", word("basic")), ("on", word("a"))];
            let verdict = bind(&data, "beta-likeness", &given).admits(group);
            prop_assert!((verdict.have - expected).abs() < 1e-9);
            prop_assert!((expected - beta).abs() < 1e-9 || verdict.holds == (expected < beta));
            let given = [("delta", Value::Real(beta)), ("on", word("a"))];
            let verdict = bind(&data, "delta-disclosure", &given).admits(group);
            let expected = gains.iter().map(|(q, p)| (q / p).ln().abs()).fold(0.0, f64::max);
            prop_assert!(verdict.have == expected || (verdict.have - expected).abs() < 1e-9);
            // Every person has the weight 1, divided among her records.
            let share = |chosen: &dyn Fn(&Record) -> bool, value: &str| {
                let own: Vec<&Record> = records.iter().filter(|r| chosen(r)).collect();
                let each = own.iter().filter(|r| r.2 == value);
                let of_person = |r: &Record| own.iter().filter(|other| other.1 == r.1).count();
                let weight = |r: &&&Record| 1.0 / of_person(r) as f64;
                each.map(|r| weight(&r)).sum::<f64>() / persons(&|r| chosen(r))
            };
            let moved = |v: &&str| (share(&|r| r.0 == g, v) - share(&|_| true, v)).abs() / 2.0;
            let expected: f64 = values.iter().map(moved).sum();
            let given = [("t", Value::Real(1.0)), ("on", word("a"))];
            let verdict = bind(&data, "t-closeness", &given).admits(group);
            prop_assert!((verdict.have - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn a_union_of_two_admitted_groups_may_be_refused() {
    let record = |group, person, value: &str| (group, person, value.to_owned());
    let records = [record(0, 1, "0"), record(0, 2, "1"), record(1, 1, "1"), record(1, 2, "0")];
    let (data, groups) = table(&records, true);
    let frequency = privacy_model(
        "l-diversity",
        &[("l", count(2)), ("kind", word("frequency")), ("on", word("a"))],
    );
    let model = frequency.model.bind(&data).unwrap();
    assert!(groups.iter().all(|group| model.admits(group).holds));
    let mut union = groups[0].clone();
    union.merge(&groups[1]);
    assert!(!model.admits(&union).holds);
    // The verdict on the whole table therefore proves nothing, and nothing may be pruned.
    assert!(!frequency.survives_merging(&data));
    assert!(frequency.bind_for_release(&data).is_ok());
    assert!(privacy_model("k-anonymity", &[("k", count(2))]).survives_merging(&data));
    assert!(privacy_model("k-anonymity", &[("k", count(3))]).bind_for_release(&data).is_err());
    // If the records of a person have the same quasi-identifiers, groups do not overlap.
    let (nested, _) = table(&[record(0, 1, "0"), record(0, 1, "1"), record(1, 2, "0")], true);
    assert!(nested.persons().unwrap().nested() && frequency.survives_merging(&nested));
}

/// So many records per person that no common denominator fits: the error is within the slack, on
/// the strict side.
#[test]
fn distances_are_rounded_to_the_strict_side() {
    let many = (0..97u32).map(|n| (0usize, 0u32, (n % 5).to_string()));
    let others = (1..40u32)
        .flat_map(|person| (0..person + 1).map(move |n| (1usize, person, (n % 4).to_string())));
    let records: Vec<Record> = many.chain(others).collect();
    let (data, groups) = table(&records, true);
    let have = bind(&data, "t-closeness", &[("t", Value::Real(1.0)), ("on", word("a"))])
        .admits(&groups[0])
        .have;
    let share = |group: Option<usize>, value: &str| {
        let persons = if group == Some(0) { 0..1 } else { 0..40u32 };
        let own = |person: u32| {
            let own = records.iter().filter(move |r| r.1 == person);
            own.clone().filter(|r| r.2 == value).count() as f64 / own.count() as f64
        };
        persons.clone().map(own).sum::<f64>() / f64::from(persons.len() as u32)
    };
    let expected: f64 = ["0", "1", "2", "3", "4"]
        .iter()
        .map(|v| (share(Some(0), v) - share(None, v)).abs() / 2.0)
        .sum();
    assert!((have - expected).abs() < 1e-9 && have >= expected - 1e-15, "{have} {expected}");
}
