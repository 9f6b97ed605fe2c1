//! Changes of the input that must not change the release.

use std::path::Path;

use incrowd::front_end::recode::{ALGORITHMS, Card, Method};
use incrowd::job::{Job, RoleName};
use incrowd::model::Need;
use incrowd::{Anonymizer, Fault, Value};
use incrowd_synth::{Synth, Table};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde_json::Value as Json;

use crate::columns::COLUMNS;
use crate::release::{Case, alike, cases};

/// Returns the bytes and the metrics of a release, or the error.
fn release(case: &Case, dir: &Path, people: &[usize]) -> Release {
    case.write(dir, people.iter().copied());
    let report = Anonymizer::new(case.parsed(dir, "out.csv"))
        .run()
        .map_err(|e| (e.fault(), e.message().to_owned()))?;
    let metrics = report.manifest.to_json()["metrics"].clone();
    Ok((std::fs::read(dir.join("out.csv")).unwrap(), metrics))
}

type Release = Result<(Vec<u8>, Json), (Fault, String)>;

/// Returns whether two releases have the same bytes, and checks that their metrics then agree. If
/// both fail for the same reason, the case is rejected, so that it does not count as a passed one.
fn same(a: &Release, b: &Release) -> Result<bool, TestCaseError> {
    let ((a, cost), (b, other)) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) => {
            prop_assert_eq!(a, b);
            return Err(TestCaseError::reject("no release is possible"));
        }
        _ => return Ok(false),
    };
    prop_assert!(a != b || alike(cost, other), "the same release, but other metrics");
    Ok(a == b)
}

fn sorted() -> impl Strategy<Value = Case> {
    cases().prop_map(|case| Case { sorted: true, ..case })
}

fn permuted() -> impl Strategy<Value = (Case, Vec<usize>)> {
    sorted().prop_flat_map(|mut case| {
        // Relaxed cuts of numbers in several spellings have their own test.
        case.relaxed &= !case.quasi.iter().any(|&c| COLUMNS[c].name == "income");
        let people: Vec<usize> = (0..case.people.len()).collect();
        (Just(case), Just(people).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(incrowd_testing::cases(150))
    })]

    #[test]
    fn the_order_of_the_input_is_not_visible_in_a_sorted_release((case, order) in permuted()) {
        let dir = tempfile::tempdir().unwrap();
        let people: Vec<usize> = (0..case.people.len()).collect();
        let first = release(&case, dir.path(), &people);
        let second = release(&case, dir.path(), &order);
        prop_assert!(same(&first, &second)?, "another order, another release");
    }

    /// A dropped record must have no influence on the release: neither on the cuts nor on the
    /// domain by which the loss is measured.
    #[test]
    fn records_dropped_for_missing_values_have_no_influence(mut case in sorted()) {
        case.keep = false;
        // A fifth of the first quasi-identifier's values is missing.
        let first = case.quasi[0];
        let lacking = case.people.iter_mut().filter(|person| person[first] < 51);
        lacking.for_each(|person| person[first] %= 12);
        // An input without a complete record has other errors than an empty one.
        prop_assume!(!case.published().is_empty());
        let dir = tempfile::tempdir().unwrap();
        let all: Vec<usize> = (0..case.people.len()).collect();
        let whole = release(&case, dir.path(), &all);
        let kept = release(&case, dir.path(), &case.published());
        prop_assert!(same(&whole, &kept)?, "dropped records have an influence on the release");
    }
}

/// `0` and `-0.0` are one number but two texts, so two distinct rows without a defined order.
#[test]
fn the_order_of_the_input_is_not_visible_where_a_number_has_several_spellings() {
    let dir = tempfile::tempdir().unwrap();
    let job = "[input]\npath = 'in.csv'\n[output]\npath = 'out.csv'\norder = 'sorted'\n[columns]\n\
               x = { role = 'quasi', kind = 'numeric' }\n[[models]]\nname = 'k-anonymity'\nk = 2\n\
               [algorithm]\nname = 'mondrian'\ncut = 'relaxed'\n";
    let job =
        incrowd::job::parse("job.toml", job, dir.path()).unwrap_or_else(|e| panic!("{e}")).job;
    let release = |table: &str| {
        std::fs::write(dir.path().join("in.csv"), table).unwrap();
        Anonymizer::new(&job).run().unwrap();
        std::fs::read(dir.path().join("out.csv")).unwrap()
    };
    let first = release("x\n0\n-0.0\n-0.0\n-0.0\n5\n");
    assert!(first == release("x\n-0.0\n-0.0\n-0.0\n0\n5\n"), "another order, another release");
}

/// Returns all tables of a sorted release of `people.csv` by an algorithm, made with this number of
/// threads. Algorithms for outliers also get a model about them.
fn sorted_releases(dir: &Path, algorithm: &Card, threads: usize) -> Vec<u8> {
    let params = algorithm.params.iter().filter(|param| param.default.is_none());
    let params = params.map(|param| (param.name.to_owned(), Value::Integer(2)));
    let knows_outliers =
        Method::new(algorithm.name, params).unwrap().algorithm.supplies(Need::Region);
    let mut tables = sorted_release(dir, algorithm, threads, false);
    if knows_outliers {
        tables.extend(sorted_release(dir, algorithm, threads, true));
    }
    tables
}

fn sorted_release(dir: &Path, algorithm: &Card, threads: usize, outliers: bool) -> Vec<u8> {
    let mut job = Job::default();
    job.input.paths = vec![dir.join("people.csv").into()];
    for column in ["age", "sex", "country"] {
        job.set_role(column, RoleName::Quasi);
    }
    // Outliers need numbers.
    job.set_role(if outliers { "income" } else { "disease" }, RoleName::Sensitive);
    algorithm.name.clone_into(&mut job.algorithm.name);
    let option =
        |(name, word): &(&str, &str)| ((*name).to_owned(), Value::Word((*word).to_owned()));
    job.algorithm.params = algorithm.repeatable.iter().map(option).collect();
    job.write_to(dir.join("out.csv"));
    let output = job.output.as_mut().unwrap();
    // The second table of another algorithm may be overwritten.
    (output.order, output.replace) = (incrowd::job::Order::Sorted, true);
    let linked = algorithm.name == "anatomy";
    if linked {
        job.algorithm.params = vec![("l".to_owned(), Value::Integer(2))];
        job.suppression = Some(crate::matrix::stated_seed());
    } else if outliers {
        let near = Value::Words(vec!["age".to_owned()]);
        job.add_model(
            "plain-k-anonymity",
            [("k", Value::Integer(2)), ("distance_attributes", near)],
        );
        job.algorithm.suppression_limit = 1.0;
    } else {
        job.add_model("k-anonymity", [("k", Value::Integer(4))]);
        job.add_model("l-diversity", [("l", Value::Integer(2))]);
        job.algorithm.suppression_limit = 0.05;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| Anonymizer::new(&job).run())
        .unwrap_or_else(|e| panic!("{}: {e}", algorithm.name));
    let tables: &[&str] = if linked { &["out.csv", "out.st.csv"] } else { &["out.csv"] };
    tables.iter().flat_map(|name| std::fs::read(dir.join(name)).unwrap()).collect()
}

/// The release must not reveal the order of the input, and repeated runs must give the same bytes.
#[test]
fn no_algorithm_shows_the_order_of_the_input_or_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = Vec::new();
    Synth::new(Table::Census, 1500, 5).write_csv(&mut csv).unwrap();
    let text = String::from_utf8(csv).unwrap();
    let (header, records) = text.split_once('\n').unwrap();
    let mut records: Vec<&str> = records.lines().collect();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(9);
    let mut releases: Vec<Vec<Vec<u8>>> = vec![Vec::new(); ALGORITHMS.len()];
    for threads in [1, 3, 3] {
        std::fs::write(
            dir.path().join("people.csv"),
            format!("{header}\n{}\n", records.join("\n")),
        )
        .unwrap();
        for (algorithm, releases) in ALGORITHMS.iter().zip(&mut releases) {
            releases.push(sorted_releases(dir.path(), algorithm, threads));
        }
        records.shuffle(&mut rng);
    }
    let names = ALGORITHMS.iter().map(|card| card.name);
    let differ =
        names.zip(releases).filter(|(_, releases)| releases.iter().any(|r| *r != releases[0]));
    let differ: Vec<&str> = differ.map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "another order, another release: {differ:?}");
}
