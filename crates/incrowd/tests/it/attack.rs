//! Attacks on releases made by incrowd.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use incrowd::job::{Job, Numbers, PopulationJob, RoleName};
use incrowd::{
    Anonymizer, AttackReport, AttackRequest, Finding, Judging, Limit, MemoryRelease, Value,
};
use incrowd_core::HierarchySpec;

/// People whose disease follows from their residence; the last one is an outlier.
fn people() -> String {
    let mut table = String::from("name,age,zip,disease,income\n");
    for i in 0..200_u32 {
        let disease = ["flu", "cold", "gout", "none"][(i * 7 % 13 % 4) as usize];
        table += &format!(
            "p{i},{},021{:02},{disease},{}\n",
            20 + i * 37 % 50,
            i * 17 % 20,
            1000 + i * 31 % 400
        );
    }
    table + "victim,99,02199,plague,9000\n"
}

/// Only the residence of the same people.
fn zips() -> String {
    people().lines().map(|line| format!("{}\n", line.split(',').nth(2).unwrap())).collect()
}

fn release(dir: &Path, name: &str, quasi: &[&str], k: i64) -> PathBuf {
    let table = dir.join("people.csv");
    std::fs::write(&table, people()).unwrap();
    let mut job = Job::default();
    job.input.paths = vec![table.into()];
    for column in quasi {
        job.set_role(column, RoleName::Quasi);
    }
    for column in ["disease", "income"] {
        job.set_role(column, RoleName::Sensitive);
    }
    job.add_model("k-anonymity", [("k", Value::Integer(k))]);
    let path = dir.join(name);
    job.write_to(&path);
    Anonymizer::new(&job).run().unwrap();
    path
}

fn found<'a>(report: &'a AttackReport, name: &str, column: Option<&str>) -> &'a Finding {
    let fits = |f: &&Finding| f.attack == name && f.column.as_deref() == column;
    report.attacked.iter().map(|a| &a.finding).find(fits).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn a_planted_victim_is_found_in_the_weak_release_and_not_in_the_strong_one() {
    let dir = tempfile::tempdir().unwrap();
    let (weak, strong) = (
        release(dir.path(), "weak.csv", &["age", "zip"], 1),
        release(dir.path(), "strong.csv", &["age", "zip"], 10),
    );
    let voters = dir.path().join("voters.csv");
    std::fs::write(&voters, "name,age,zip\nvictim,99,02199\n").unwrap();
    let report = |path: &Path| {
        let mut judging = Judging::new(path);
        judging.population =
            Some(PopulationJob { paths: vec![dir.path().join("people.csv").into()], memory: None });
        let request = AttackRequest {
            external: Some(voters.clone().into()),
            limits: vec![Limit { attack: "prosecutor".into(), quantity: None, most: 0.1 }],
            ..AttackRequest::default()
        };
        judging.attack(&request).unwrap()
    };
    let (weak, strong) = (report(&weak), report(&strong));
    assert!(!weak.holds() && strong.holds());
    for (name, column) in [
        ("prosecutor", None),
        ("journalist", None),
        ("homogeneity", Some("disease")),
        ("proximity", Some("income")),
        ("equijoin", None),
        ("equijoin", Some("disease")),
    ] {
        assert_eq!(found(&weak, name, column).worst, 1.0, "{name}");
        assert!(found(&strong, name, column).worst < 1.0, "{name}");
    }
    assert!(found(&strong, "journalist", None).worst <= 0.1);
    assert_eq!(
        found(&strong, "journalist", None).fact("short"),
        Some(0.0),
        "everybody is in the population"
    );
    assert_eq!(
        found(&strong, "equijoin", None).fact("one_group"),
        Some(1.0),
        "strict cuts do not overlap"
    );
    // The plague is 1 of 201 records; in a group of at least ten it is at most 1 of 10.
    assert_eq!(found(&weak, "skewness", Some("disease")).worst, 201.0);
    assert!(found(&strong, "skewness", Some("disease")).worst <= 20.1);
    // The data owner sees the exposed groups.
    let exposed = weak.exposed(found(&weak, "skewness", Some("disease")));
    assert_eq!(exposed[0].cells, [("age", "99"), ("zip", "02199")]);
}

#[test]
fn two_releases_of_the_same_people_reveal_more_than_each() {
    let dir = tempfile::tempdir().unwrap();
    let first = release(dir.path(), "first.csv", &["age", "zip"], 4);
    let second = release(dir.path(), "second.csv", &["zip"], 9);
    let judging = Judging::new(&first);
    let mut request = AttackRequest {
        second: Some(Judging::new(second)),
        external: Some(dir.path().join("people.csv").into()),
        only: vec!["intersection".into()],
        ..AttackRequest::default()
    };
    let report = judging.attack(&request).unwrap();
    let disease = found(&report, "intersection", Some("disease"));
    // Everybody is in both, so every true value remains, and nobody is excluded.
    assert_eq!((disease.of, disease.fact("not_in_both")), (201, Some(0.0)));
    assert_eq!(found(&report, "intersection", Some("income")).fact("not_in_both"), Some(0.0));
    // Intersecting a release with itself adds nothing.
    let mut itself = request.clone();
    itself.second = Some(Judging::new(first));
    let itself = judging.attack(&itself).unwrap();
    let alone = found(&itself, "intersection", Some("disease"));
    assert_eq!(alone.at_risk, 0);
    assert!(disease.average > alone.average, "{} {}", disease.average, alone.average);
    request.external = None;
    let worst = judging.attack(&request).unwrap();
    assert!(found(&worst, "intersection", Some("disease")).worst >= disease.worst);
    // People are looked up in the second release by all of its quasi-identifiers, also those that
    // the first release lacks.
    request.external = Some(dir.path().join("people.csv").into());
    request.second = Some(judging.clone());
    let by_zip = Judging::new(release(dir.path(), "zip.csv", &["zip"], 4));
    let both = by_zip.attack(&request).unwrap();
    let income = found(&both, "intersection", Some("income"));
    assert_eq!((income.of, income.fact("not_in_both")), (201, Some(0.0)));
    std::fs::write(dir.path().join("zips.csv"), zips()).unwrap();
    request.external = Some(dir.path().join("zips.csv").into());
    let less = by_zip.attack(&request).unwrap();
    let less = found(&less, "intersection", Some("income"));
    assert!(income.average > less.average, "{} {}", income.average, less.average);
}

/// A second release in memory, with or without its manifest, has the same effect as in a file.
#[test]
fn a_second_release_may_be_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let judging = Judging::new(release(dir.path(), "first.csv", &["zip"], 4));
    let text: String =
        (0..20).chain([99]).map(|i| format!("021{i:02};half {};*\n", i / 10)).collect();
    let arx = HierarchySpec::Arx { name: "zip.csv".into(), text };
    let people = dir.path().join("people.csv");
    let job = Job::of_file(&people).quasi(["age", "zip"]).sensitive(["disease", "income"]);
    let job = job.hierarchy("zip", arx);
    let alike = job.clone().k(4).output(dir.path().join("alike.csv"));
    Anonymizer::new(&alike).run().unwrap();
    let alike =
        Judging { columns: job.columns.clone(), ..Judging::new(dir.path().join("alike.csv")) };
    let mut by_ranges = BTreeMap::new();
    for numbers in [Numbers::Range, Numbers::LowHigh] {
        let mut job = job.clone().k(9).output(dir.path().join("second.csv"));
        job.output.as_mut().unwrap().numbers = numbers;
        Anonymizer::new(&job).run().unwrap();
        let released = Anonymizer::new(&job).run_in_memory().unwrap();
        let table = released.tables[0].table().unwrap();
        let held = MemoryRelease { tables: released.tables, manifest: released.report.manifest };
        let of_file =
            Judging { columns: job.columns.clone(), ..Judging::new(dir.path().join("second.csv")) };
        for external in [None, Some(people.clone().into())] {
            let found = |judging: &Judging, second: Judging| {
                let only = vec!["intersection".into()];
                let (second, external) = (Some(second), external.clone());
                let request = AttackRequest { second, external, only, ..AttackRequest::default() };
                judging.attack(&request).map(|report| report.to_json())
            };
            let reported = found(&judging, of_file.clone()).unwrap();
            let everybody = &reported["attacks"][0];
            assert_eq!(
                (&everybody["of"], &everybody["facts"]["not_in_both"]),
                (&201.into(), &0.into()),
                "{reported}"
            );
            assert_eq!(found(&judging, Judging::of_memory(held.clone(), &job)).unwrap(), reported);
            // Ranges and their bounds are equivalent.
            let before = by_ranges.entry(external.is_some()).or_insert_with(|| reported.clone());
            assert_eq!(*before, reported);
            // Without a manifest it is read like the first one; then the bounds of a range are two
            // unknown columns.
            if numbers == Numbers::Range {
                let bare = found(&alike, Judging::of_batches(table.clone())).unwrap();
                assert_eq!(bare, found(&alike, of_file.clone()).unwrap());
            }
            // Labels of a hierarchy that is not given are not interpreted.
            let error = found(&judging, Judging::new(dir.path().join("second.csv"))).unwrap_err();
            assert!(error.message().contains("column `zip` of the second release"), "{error}");
        }
    }
}

#[test]
fn the_same_release_gives_the_same_report() {
    let dir = tempfile::tempdir().unwrap();
    let path = release(dir.path(), "r.csv", &["age", "zip"], 3);
    let mut judging = Judging::new(&path);
    judging.population =
        Some(PopulationJob { paths: vec![dir.path().join("people.csv").into()], memory: None });
    let one = judging.attack(&AttackRequest::default()).unwrap();
    for _ in 0..3 {
        // Another publication has the records in another order.
        release(dir.path(), "r.csv", &["age", "zip"], 3);
        let other = judging.attack(&AttackRequest::default()).unwrap();
        assert_eq!(one.to_json(), other.to_json());
        assert_eq!(one.details(), other.details());
    }
}

#[test]
fn debug_output_shows_no_cell() {
    let dir = tempfile::tempdir().unwrap();
    let path = release(dir.path(), "r.csv", &["age", "zip"], 1);
    let report = Judging::new(&path).attack(&AttackRequest::default()).unwrap();
    let shown = format!("{report:?}{:?}", report.exposed(&report.attacked[0].finding));
    assert!(!shown.contains("plague") && !shown.contains("02199"));
}

#[test]
fn a_guess_without_the_release_counts_all_spellings_of_a_value() {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("t.csv");
    std::fs::write(&release, "zip,v\nA,1\nA,1.0\nA,01\nA,2\n").unwrap();
    let judging = Judging::new(&release).with_role(["zip"], RoleName::Quasi);
    let judging = judging.with_role(["v"], RoleName::Sensitive);
    let report = judging.attack(&AttackRequest::default()).unwrap();
    assert_eq!(report.guessed_without("v"), Some(0.75));
}
