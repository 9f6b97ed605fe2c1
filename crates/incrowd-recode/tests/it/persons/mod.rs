//! All algorithms with all models on random tables in which persons have several records. The
//! groups that a reader sees are counted from the records, independently of folds and summaries.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use incrowd_core::model::PrivacyModel;
use incrowd_core::{
    Categories, ColumnSpec, Dataset, Folded, HierarchySpec, Kind, ParamKind, Partition, Plan,
    SensitiveSpec, Silent, Value,
};
use incrowd_recode::alike::join_alike;
use incrowd_recode::ungrouped::{Suppressed, finish_suppression};
use incrowd_recode::{ALGORITHMS, Method};
use proptest::prelude::*;

use crate::possible::possible;

/// A record: age, country, city, value, person, and another value.
type Record = (u32, usize, usize, usize, u32, usize);

const COUNTRIES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const CITIES: [&str; 4] = ["p", "q", "r", "s"];
const VALUES: [&str; 4] = ["1", "2", "5", "9"];
const OTHERS: [&str; 3] = ["u", "v", "w"];

fn texts(record: &Record) -> [String; 5] {
    let &(age, country, city, value, _, other) = record;
    let words = [COUNTRIES[country], CITIES[city], VALUES[value], OTHERS[other]].map(str::to_owned);
    let [country, city, value, other] = words;
    [age.to_string(), country, city, value, other]
}

/// Returns the table, and the row of each record.
fn table(records: &[Record]) -> (Dataset, Vec<usize>) {
    let cells: Vec<[String; 5]> = records.iter().map(texts).collect();
    let rows = cells.iter().map(|row| row.iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(&["age", "country", "city", "value", "other"], rows, false);
    let of_fold = |row: usize| -> Vec<&str> {
        folded
            .row(row)
            .iter()
            .zip(&folded.columns)
            .map(|(&code, c)| c.texts[code as usize].as_str())
            .collect()
    };
    let row_of: Vec<usize> = cells
        .iter()
        .map(|cells| (0..folded.rows()).find(|&row| of_fold(row) == cells.each_ref()).unwrap())
        .collect();
    let own = |row: usize| {
        records.iter().zip(&row_of).filter(move |(_, own)| **own == row).map(|(r, _)| r.4)
    };
    let persons: Vec<u32> = (0..folded.rows()).flat_map(own).collect();
    let folded = folded.with_persons(persons);
    let hierarchy = HierarchySpec::Arx {
        name: "country".into(),
        text: "a;A;*\nb;A;*\nc;A;*\nd;B;*\ne;B;*\nf;C;*\n".into(),
    };
    let country = ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() };
    let city = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
    let lists = [("bad", ["1", "2"]), ("good", ["5", "9"])];
    let lists =
        lists.map(|(name, values)| (name.to_owned(), values.map(str::to_owned).to_vec())).to_vec();
    let value = SensitiveSpec {
        categories: Some(Categories::new(lists).unwrap()),
        ..SensitiveSpec::default()
    };
    let (age, other) = (ColumnSpec::default(), SensitiveSpec::default());
    let data = Dataset::encode(folded, &[&age, &country, &city], &[&value, &other], "?").unwrap();
    let row_of = row_of.iter().map(|&row| data.row_of_fold(row as u32).unwrap().index()).collect();
    (data, row_of)
}

/// Each model of the first sensitive column, and one job with two models of both columns.
fn jobs() -> Vec<Vec<PrivacyModel>> {
    let entropy = |on: &str| {
        let params = [
            ("l", Value::Integer(2)),
            ("kind", Value::Word("entropy".into())),
            ("on", Value::Word(on.into())),
        ];
        PrivacyModel::new("l-diversity", params.map(|(name, value)| (name.to_owned(), value)))
            .unwrap()
    };
    let single = privacy_models().into_iter().map(|privacy_model| vec![privacy_model]);
    single.chain([vec![entropy("value"), entropy("other")]]).collect()
}

fn privacy_models() -> Vec<PrivacyModel> {
    let word = |text: &str| Value::Word(text.to_owned());
    let given: [(&str, Vec<(&str, Value)>); 15] = [
        ("k-anonymity", vec![("k", Value::Integer(2))]),
        ("k-anonymity", vec![("k", Value::Integer(4))]),
        ("l-diversity", vec![("l", Value::Integer(2))]),
        ("l-diversity", vec![("l", Value::Integer(2)), ("kind", word("entropy"))]),
        ("l-diversity", vec![("l", Value::Integer(2)), ("kind", word("frequency"))]),
        (
            "l-diversity",
            vec![("l", Value::Integer(2)), ("kind", word("recursive")), ("c", Value::Integer(3))],
        ),
        ("t-closeness", vec![("t", Value::Real(0.4))]),
        ("alpha-k-anonymity", vec![("alpha", Value::Real(0.7)), ("k", Value::Integer(3))]),
        ("k-e-anonymity", vec![("k", Value::Integer(2)), ("e", Value::Real(1.0))]),
        ("epsilon-m-anonymity", vec![("epsilon", Value::Real(1.0)), ("m", Value::Integer(1))]),
        ("beta-likeness", vec![("beta", Value::Real(1.0))]),
        ("delta-disclosure", vec![("delta", Value::Real(2.0))]),
        ("p-sensitive", vec![("p", Value::Integer(2)), ("k", Value::Integer(3))]),
        (
            "p-alpha-sensitive",
            vec![("p", Value::Integer(2)), ("alpha", Value::Integer(1)), ("k", Value::Integer(2))],
        ),
        (
            "p-plus-alpha-sensitive",
            vec![("p", Value::Integer(2)), ("alpha", Value::Integer(1)), ("k", Value::Integer(2))],
        ),
    ];
    let privacy_model = |(name, params): (&str, Vec<(&str, Value)>)| {
        PrivacyModel::about(name, params.into_iter().map(|(n, v)| (n.to_owned(), v)), &["value"])
            .unwrap()
    };
    given.into_iter().map(privacy_model).collect()
}

/// All algorithms with default parameters, and with every other value of one choice parameter.
/// Each has a name. Algorithms that publish two linked tables are missing: they have no groups of
/// cells.
fn methods() -> Vec<(String, Method)> {
    let mut methods = Vec::new();
    for card in ALGORITHMS.iter().filter(|card| card.name != "anatomy") {
        methods.push((card.name.to_owned(), Method::new(card.name, []).unwrap()));
        for param in card.params {
            let ParamKind::Choice(words) = param.kind else { continue };
            for word in words.iter().filter(|word| param.default != Some(**word)) {
                let mut given = vec![(param.name.to_owned(), Value::Word((*word).to_owned()))];
                if *word == "priority" {
                    let order = ["city", "age"].map(str::to_owned).to_vec();
                    given.push(("priority".to_owned(), Value::Words(order)));
                }
                let name = format!("{} {}={word}", card.name, param.name);
                methods.push((name, Method::new(card.name, given).unwrap()));
            }
        }
    }
    methods
}

/// Returns whether the algorithm announces that it refuses a model with every table.
fn is_refused(method: &Method, privacy_model: &PrivacyModel) -> bool {
    let card = privacy_model.model.card();
    method.algorithm.needs_merging() && !card.survives.merging
        || card.needs.iter().any(|need| !method.algorithm.supplies(*need))
}

/// Returns whether the algorithm announces that it refuses a model that it supports, because the
/// groups of this table may have persons in common.
fn is_refused_here(method: &Method, privacy_model: &PrivacyModel, data: &Dataset) -> bool {
    let overlapping = data.persons().is_some_and(|persons| !persons.nested());
    let survives = privacy_model.model.card().survives;
    method.algorithm.needs_merging() && survives.merging && !survives.overlapping && overlapping
}

/// The number of releases, by the name of the method and the index of the job.
type Releases = RefCell<BTreeMap<(String, usize), u64>>;

/// Returns the records and the rows of each group that a reader sees.
fn visible_groups<'r>(
    data: &Dataset,
    partition: &Partition,
    row_of: &[usize],
    records: &'r [Record],
) -> (Vec<Vec<&'r Record>>, Vec<Vec<usize>>) {
    let plan = Plan::new(data, partition);
    let mut groups: BTreeMap<Vec<&str>, (Vec<&Record>, BTreeSet<usize>)> = BTreeMap::new();
    for (record, &row) in records.iter().zip(row_of) {
        let Some(group) = partition.group(row) else { continue };
        let cells = (0..data.quasi().len()).map(|q| plan.text(group, q)).collect();
        let own = groups.entry(cells).or_default();
        own.0.push(record);
        own.1.insert(row);
    }
    groups.into_values().map(|(records, rows)| (records, rows.into_iter().collect())).unzip()
}

fn persons<'r>(records: impl Iterator<Item = &'r &'r Record>) -> usize {
    records.map(|record| record.4).collect::<BTreeSet<u32>>().len()
}

/// Checks and counts the releases of all methods with all jobs. Only two things are skipped: a
/// model that the algorithm announces to refuse, and models that one group of all records violates.
fn check(
    records: &[Record],
    suppressible: u64,
    how: Suppressed,
    releases: &Releases,
) -> Result<(), TestCaseError> {
    let (data, row_of) = table(records);
    let methods = methods();
    for (job, privacy_model) in jobs().into_iter().enumerate() {
        for (name, method) in &methods {
            let title = format!("{name} with {}", privacy_model[0].title());
            let announced =
                privacy_model.iter().any(|privacy_model| is_refused(method, privacy_model));
            prop_assert_eq!(method.accepts(&privacy_model).is_err(), announced, "{}", &title);
            let announced_here = privacy_model
                .iter()
                .any(|privacy_model| is_refused_here(method, privacy_model, &data));
            let refused = method.accepts_table(&privacy_model, &data).is_err();
            prop_assert_eq!(refused, announced_here, "{}", &title);
            if announced || announced_here {
                continue;
            }
            let data = method.algorithm.prepare(data.clone()).unwrap();
            let bound = privacy_model
                .iter()
                .map(|privacy_model| privacy_model.bind_for_release(&data))
                .collect();
            let Some(models) = possible::<Vec<_>>(bound, &title)? else { continue };
            // No algorithm may fail if it could publish all records as one group.
            let whole = data.whole();
            let is_possible = models.iter().all(|model| model.admits(&whole).holds);
            let made = method.algorithm.recode_and_report(&data, &models, suppressible, &Silent);
            let Some(recoding) = possible(made, &title)? else {
                prop_assert!(!is_possible, "{title}: nothing was published");
                continue;
            };
            let published =
                recoding.domains.clone().map(|domains| data.clone().with_domains(domains));
            let published = published.as_ref().unwrap_or(&data);
            let joined = join_alike(published, &privacy_model, &models, recoding.partition);
            let Some(partition) = possible(joined, &title)? else {
                prop_assert!(!is_possible, "{title}: groups were not joined");
                continue;
            };
            let is_complete = (0..data.rows()).all(|row| partition.group(row).is_some());
            prop_assert!(is_complete || suppressible > 0, "{title}: records are missing");
            let finished =
                finish_suppression(&data, &privacy_model, &models, partition, how, suppressible);
            let Some(partition) = possible(finished, &title)? else {
                // Without some records, other groups may violate the models.
                prop_assert!(!is_complete, "{title}: the suppression of nothing failed");
                continue;
            };
            // If every person has one record, records of one row may be in different groups. They
            // are interchangeable.
            let mut row_of = row_of.clone();
            for (new, part) in (data.rows()..).zip(partition.divided()) {
                let alike = row_of.iter_mut().filter(|row| **row == part.row.index());
                alike.take(part.records as usize).for_each(|row| *row = new);
            }
            let data = data.divided(partition.divided());
            let published = match recoding.domains {
                Some(domains) => data.clone().with_domains(domains),
                None => data.clone(),
            };
            let (groups, rows) = visible_groups(&published, &partition, &row_of, records);
            prop_assert!(!groups.is_empty(), "{title}: no groups");
            *releases.borrow_mut().entry((name.clone(), job)).or_default() += 1;
            let least =
                models[0].least_persons().or(models[0].least_records()).unwrap_or(1) as usize;
            for group in &groups {
                let n = persons(group.iter());
                prop_assert!(n >= least, "{title}: {n} persons in a group");
                for value in 0..VALUES.len() {
                    let holders = persons(group.iter().filter(|record| record.3 == value));
                    let most = if title.contains("kind=frequency") { n / 2 } else { n };
                    prop_assert!(
                        holders <= most,
                        "{title}: {holders} of {n} persons have one value"
                    );
                    if title.contains("alpha-k-anonymity") {
                        prop_assert!(
                            holders * 10 <= n * 7,
                            "{title}: {holders} of {n} persons have one value"
                        );
                    }
                }
            }
            // The published table may be smaller than the one that the models were bound to.
            let left =
                data.with_counts(
                    |row| if partition.group(row).is_some() { data.weight(row) } else { 0 },
                );
            for privacy_model in &privacy_model {
                let model = privacy_model.model.bind(&left).unwrap();
                for rows in &rows {
                    let group = left.summary(rows.iter().copied());
                    prop_assert!(
                        model.admits(&group).holds,
                        "{title}: {} is violated",
                        privacy_model.title()
                    );
                }
            }
        }
    }
    Ok(())
}

/// Asserts that every method made releases with at least this share of the jobs that it does not
/// refuse.
fn check_releases(
    releases: &Releases,
    share: f64,
    refuses: impl Fn(&Method, &PrivacyModel) -> bool,
) {
    let releases = releases.borrow();
    for (name, method) in methods() {
        let is_accepted =
            |job: &[PrivacyModel]| !job.iter().any(|privacy_model| refuses(&method, privacy_model));
        let jobs = jobs().into_iter().enumerate();
        let accepted: Vec<(usize, Vec<PrivacyModel>)> =
            jobs.filter(|job| is_accepted(&job.1)).collect();
        let is_missing =
            |job: &&(usize, Vec<PrivacyModel>)| !releases.contains_key(&(name.clone(), job.0));
        let missing: Vec<String> =
            accepted.iter().filter(is_missing).map(|(_, job)| job[0].title()).collect();
        assert!(!accepted.is_empty(), "{name} refuses all models");
        let made = (accepted.len() - missing.len()) as f64;
        assert!(
            made >= share * accepted.len() as f64,
            "{name} made no releases with {missing:?}, {made} others"
        );
    }
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((0u32..12, 0usize..6, 0usize..4, 0usize..4, 0u32..14, 0usize..3), 8..45)
}

/// 24 records of few persons with few distinct quasi-identifiers, so that groups often have equal
/// cells.
fn few_distinct() -> impl Strategy<Value = Vec<Record>> {
    (2u32..5, 12u32..22, 3usize..5).prop_flat_map(|(ages, persons, values)| {
        let record = (0..values, 0usize..3, 0..persons);
        let place = move |(value, other, person): (usize, usize, u32)| {
            (person * 7 % ages, (person % 2) as usize, 0, value, person, other)
        };
        prop::collection::vec(record.prop_map(place), 24)
    })
}

fn config() -> ProptestConfig {
    ProptestConfig::with_cases(24)
}

/// Returns whether the algorithm announces that it refuses a model if groups may have persons in
/// common.
fn is_refused_if_overlapping(method: &Method, privacy_model: &PrivacyModel) -> bool {
    let survives = privacy_model.model.card().survives;
    is_refused(method, privacy_model) || method.algorithm.needs_merging() && !survives.overlapping
}

#[test]
fn visible_groups_satisfy_every_model_by_person() {
    let releases = Releases::default();
    let suppressible = prop_oneof![Just(0u64), Just(5)];
    proptest!(config(), |(records in records(), most in suppressible, star in any::<bool>())| {
        let how = if star { Suppressed::Star } else { Suppressed::Absent };
        check(&records, most, how, &releases)?;
    });
    // Few random tables satisfy the strictest models.
    check_releases(&releases, 0.5, is_refused_if_overlapping);
}

/// The rows of a person differ only in their sensitive values and may be in two groups with equal
/// cells.
#[test]
fn groups_with_equal_cells_satisfy_every_model_together() {
    let releases = Releases::default();
    proptest!(config(), |(records in few_distinct())| {
        check(&records, 0, Suppressed::Absent, &releases)?;
    });
    check_releases(&releases, 0.5, is_refused_if_overlapping);
}

/// A person's records have equal quasi-identifiers, so that every algorithm accepts every model
/// that survives merging.
#[test]
fn persons_with_constant_quasi_identifiers_may_be_merged() {
    let releases = Releases::default();
    proptest!(config(), |(records in records())| {
        let records = with_constant_places(&records);
        let (data, _) = table(&records);
        prop_assert!(data.persons().is_none_or(|persons| persons.nested()));
        check(&records, 0, Suppressed::Absent, &releases)?;
    });
    check_releases(&releases, 0.5, is_refused);
}

/// One group of all records satisfies all models, so every method makes a release with every model
/// that it does not refuse.
#[test]
fn every_algorithm_makes_releases_with_every_model() {
    // Both records of a person have the same values.
    let record = |n: u32| {
        let (person, code) = (n / 2, n as usize);
        (n * 5 % 12, code % 6, code % 4, person as usize % 4, person, person as usize % 3)
    };
    let records: Vec<Record> = (0..60).map(record).collect();
    let releases = Releases::default();
    check(&records, 0, Suppressed::Absent, &releases).unwrap();
    check_releases(&releases, 1.0, is_refused_if_overlapping);
    let releases = Releases::default();
    check(&with_constant_places(&records), 0, Suppressed::Absent, &releases).unwrap();
    check_releases(&releases, 1.0, is_refused);
}

/// Returns the records with quasi-identifiers that depend only on the person.
fn with_constant_places(records: &[Record]) -> Vec<Record> {
    let place = |person: u32| ((person * 7) % 12, (person % 6) as usize, (person % 4) as usize);
    let moved = |&(_, _, _, value, person, other): &Record| {
        let (age, country, city) = place(person);
        (age, country, city, value, person, other)
    };
    records.iter().map(moved).collect()
}

proptest! {
    #![proptest_config(config())]

    /// Distinct persons, counted up to a limit and counted completely.
    #[test]
    fn counting_up_to_a_limit_agrees_with_counting(records in records(), least in 1u64..45) {
        let (data, row_of) = table(&records);
        prop_assume!(data.persons().is_some());
        let own = data.persons().unwrap();
        let (mut sofar, mut expected) = (BTreeSet::new(), None);
        for row in 0..data.rows() {
            let of_row = records.iter().zip(&row_of).filter(|(_, own)| **own == row);
            sofar.extend(of_row.map(|(record, _)| record.4));
            if expected.is_none() && sofar.len() as u64 >= least {
                expected = Some(row);
            }
        }
        prop_assert_eq!(own.reached_at(0..data.rows(), least), expected);
        prop_assert_eq!(own.reach(0..data.rows(), least), expected.is_some());
        prop_assert_eq!(data.people(), sofar.len() as u64);
        prop_assert_eq!(own.in_group(&data.whole().persons.unwrap()), sofar.len() as u64);
    }
}

#[test]
fn every_algorithm_makes_groups_of_persons() {
    let record = |n: u32| {
        let person = n / 3;
        (
            (n * 5) % 12,
            (n % 6) as usize,
            (n % 4) as usize,
            (n % 4) as usize,
            person,
            (n % 3) as usize,
        )
    };
    let records: Vec<Record> = (0..60).map(record).collect();
    let (data, row_of) = table(&records);
    let privacy_model = [privacy_models().swap_remove(1)];
    let models = [privacy_model[0].bind_for_release(&data).unwrap()];
    for (name, method) in methods() {
        method.accepts_table(&privacy_model, &data).unwrap();
        let data = method.algorithm.prepare(data.clone()).unwrap();
        let made = method.algorithm.recode_and_report(&data, &models, 0, &Silent);
        let Ok(recoding) = made else { panic!("{name} {made:?}") };
        let groups = visible_groups(&data, &recoding.partition, &row_of, &records).0;
        assert!(!groups.is_empty(), "{name}");
        assert!(groups.iter().all(|group| persons(group.iter()) >= 4), "{name}");
    }
}

#[test]
fn models_that_overlapping_persons_would_violate_are_refused_with_the_reason() {
    let records: Vec<Record> =
        (0..40).map(|n| (n % 12, (n % 6) as usize, 0, (n % 4) as usize, n / 2, 0)).collect();
    let (data, _) = table(&records);
    let privacy_model = [privacy_models().swap_remove(2)];
    for (name, method) in methods() {
        let refused = method.accepts_table(&privacy_model, &data);
        assert_eq!(refused.is_err(), method.algorithm.needs_merging(), "{name}");
        if let Err(error) = refused {
            assert!(error.to_string().contains("some persons have records that differ"), "{error}");
        }
    }
}
