//! Reports and comparisons of real tables.

use incrowd::job::{CompareJob, Input, Job, RoleName};
use incrowd::{Anonymizer, Ask, CompareRequest, Judging, Pages, Progress, Value};
use incrowd_testing::{data, or_skip};

/// Returns both pages of a release with these quasi-identifiers and sensitive columns.
fn pages(table: &std::path::Path, quasi: &[&str], sensitive: &[&str], k: i64) -> Pages {
    let dir = tempfile::tempdir().unwrap();
    let mut job = Job {
        input: Input { paths: vec![table.to_owned().into()], ..Input::default() },
        ..Job::default()
    };
    quasi.iter().for_each(|name| job.set_role(name, RoleName::Quasi));
    sensitive.iter().for_each(|name| job.set_role(name, RoleName::Sensitive));
    job.add_model("k-anonymity", [("k", Value::Integer(k))]);
    job.write_to(dir.path().join("r.csv"));
    Anonymizer::new(&job).run().unwrap();
    // Prediction takes longest and has its own tests.
    let only = ["ncp", "non_uniform_entropy", "query_error"].map(str::to_owned).to_vec();
    let mut ask = Ask { only, pairs: true, ..Ask::default() };
    ask.workload.queries = 300;
    Judging::of(&job).report(&ask).unwrap()
}

/// Charts are drawings, or lists of bars with their numbers.
fn charts(page: &str) -> usize {
    page.matches("role=\"img\"").count() + page.matches("<ul class=\"rows").count()
}

#[test]
fn real_tables_have_pages_of_a_moderate_size() {
    let data = or_skip!(data("adult.csv.gz"));
    let adult =
        ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"];
    let acs =
        ["sex", "age", "race", "citizenship", "marital", "education_level", "economic_region"];
    let tables: [(&str, &[&str], &[&str]); 3] = [
        ("adult.csv.gz", &adult, &["occupation", "income"]),
        ("acs2018_gov_employees.csv.gz", &acs, &["salary", "occupation"]),
        ("adult.csv.gz", &["age"], &[]),
    ];
    for (name, quasi, sensitive) in tables {
        let path = data.join(name);
        if !path.exists() {
            incrowd_testing::skipped(format_args!("no {name} in the directory of data"));
            continue;
        }
        let Pages { public, owner, decision, .. } = pages(&path, quasi, sensitive, 10);
        let owner = owner.unwrap();
        assert!(decision.holds(), "{name}");
        eprintln!("{name}: {} and {} bytes", public.len(), owner.len());
        assert!(public.len() < 2_000_000 && owner.len() < 2_000_000, "{name}");
        // Charts of group sizes, of the loss by column, of each column, and at least one band for
        // each of the two attacks.
        let columns = quasi.len() + sensitive.len();
        assert!(charts(&public) >= columns + 3, "{name}: {}", charts(&public));
        assert!(charts(&owner) > columns, "{name}: {}", charts(&owner));
        assert_eq!(public.contains("Associations between columns"), columns > 1, "{name}");
    }
}

/// Progress that is stopped but does not end work itself.
struct Stopped;

impl Progress for Stopped {
    fn step(&self, _: &str, _: Option<u64>) {}

    fn advance(&self, _: u64) {}

    fn is_stopped(&self) -> bool {
        true
    }
}

#[test]
fn more_privacy_costs_more_on_adult() {
    let data = or_skip!(data("adult.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let mut job = Job {
        input: Input { paths: vec![data.join("adult.csv.gz").into()], ..Input::default() },
        ..Job::default()
    };
    ["age", "education", "race", "sex"].iter().for_each(|name| job.set_role(name, RoleName::Quasi));
    job.set_role("occupation", RoleName::Sensitive);
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    job.compare = Some(CompareJob {
        algorithms: words(&["mondrian", "top-down"]),
        k: vec![2, 10, 50],
        models: words(&["k-anonymity", "l-diversity:l=4"]),
        ..CompareJob::default()
    });
    let mut request = CompareRequest::new(job, dir.path()).threads(2);
    let compared = request.run().unwrap();
    assert!(compared.complete() && compared.results.len() == 12);
    let scores = |i: usize| compared.results[i].scores.as_ref().unwrap();
    for start in [0, 3, 6, 9] {
        for (less, more) in [(start, start + 1), (start + 1, start + 2)] {
            assert!(scores(less).identity > scores(more).identity);
            assert!(scores(less).metric("ncp") < scores(more).metric("ncp"));
        }
    }
    // Diversity does not reduce the loss and does not make guessing easier.
    assert!(scores(3).metric("ncp") >= scores(0).metric("ncp"));
    assert!(scores(3).attribute <= scores(0).attribute);
    assert!(compared.choice.is_some_and(|i| compared.results[i].front));
    // A sweep that is stopped before it begins has no results.
    let other = tempfile::tempdir().unwrap();
    request.dir = other.path().to_owned();
    let stopped = request.progress(&Stopped).run().unwrap();
    assert!(!stopped.complete() && stopped.choice.is_none());
}
