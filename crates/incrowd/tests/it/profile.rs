//! Profiles, and the job files made from them.

use std::path::{Path, PathBuf};

use incrowd::job::{Input, RoleName, parse};
use incrowd::profile::{Draft, InitOptions, ProfileOptions, ValueKind};
use incrowd::risk::population::Sampling;
use incrowd::{Anonymizer, Judging};
use incrowd_synth::{Synth, Table};
use incrowd_testing::{data, or_skip};

fn input(path: &Path) -> Input {
    Input { paths: vec![path.into()], ..Input::default() }
}

fn draft(path: &Path, k: u64, job: &Path) -> Draft {
    let options =
        InitOptions { input: input(path), roles: Vec::new(), k, job: job.to_owned(), preset: None };
    options.run().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Drafts a job, runs it unchanged, and verifies its release.
fn runs(path: &Path, k: u64) -> Draft {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job.toml");
    let draft = draft(path, k, &job);
    let parsed = parse("job.toml", &draft.text, dir.path())
        .unwrap_or_else(|e| panic!("{e}\n{}", draft.text))
        .job;
    let report = Anonymizer::new(&parsed)
        .run()
        .unwrap_or_else(|e| panic!("{}: {e}\n{}", path.display(), draft.text));
    assert!(report.verification.holds() && report.records.published > 0, "{}", path.display());
    assert!(report.dropped_columns.is_empty(), "every column has a role");
    assert!(Judging::of(&parsed).verify().unwrap().holds(), "{}", path.display());
    draft
}

fn roles(draft: &Draft) -> impl Fn(&str) -> (RoleName, bool) + use<> {
    let roles: Vec<(String, RoleName, bool)> = draft
        .profile
        .columns
        .iter()
        .map(|c| (c.name.clone(), c.proposal.role, c.proposal.sure))
        .collect();
    move |name| {
        roles.iter().find(|(n, ..)| n == name).map(|(_, role, sure)| (*role, *sure)).unwrap()
    }
}

#[test]
fn drafts_for_generated_people_run_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    for table in [Table::Census, Table::Skewed] {
        let path = dir.path().join("people.csv");
        let mut file = std::fs::File::create(&path).unwrap();
        Synth::new(table, 3_000, 5).write_csv(&mut file).unwrap();
        let role = roles(&runs(&path, 7));
        assert_eq!(role("id"), (RoleName::Identifier, true));
        assert_eq!(role("age"), (RoleName::Quasi, true));
        assert_eq!(role("sex"), (RoleName::Quasi, true));
    }
    let path = dir.path().join("people.csv");
    let mut file = std::fs::File::create(&path).unwrap();
    Synth::new(Table::Census, 3_000, 5).write_csv(&mut file).unwrap();
    let draft = draft(&path, 5, Path::new("job.toml"));
    assert_eq!(roles(&draft)("disease"), (RoleName::Sensitive, true));
    assert!(
        draft.text.contains("zip = { role = \"quasi\", hierarchy = \"postal\""),
        "{}",
        draft.text
    );
    assert!(draft.text.contains("# name = \"l-diversity\""), "{}", draft.text);
}

/// Every kind of column with its own treatment in a job file, and names that need quotes.
#[test]
fn a_table_with_all_kinds_of_columns_runs_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a \"table\".tsv");
    let mut text = String::from(
        "e-mail\tdate of birth\tadmitted\tzip\tZähler.1\tscore\tflag\tcomment\t\
         disease\tweight\ta \\ \"b\"\tempty\tnothing\n",
    );
    for i in 0..200u32 {
        let score = if i % 50 == 7 { "N".to_owned() } else { (i % 23).to_string() };
        text += &format!(
            "p{i}@example.org\t19{:02}-0{}-1{}\t{:02}/0{}/2021\t0{}\t{}\t{score}\t{}\t\
             the person came in on day {i}\t{}\t{}\t{}\t\tx\n",
            40 + i % 50,
            1 + i % 9,
            i % 10,
            1 + i % 28,
            1 + i % 9,
            2130 + i % 40,
            i % 3,
            ["Y", "N"][(i % 2) as usize],
            ["flu", "cold", "none"][(i % 3) as usize],
            700 + i * 13,
            ["u", "v"][(i % 2) as usize],
        );
    }
    std::fs::write(&path, text).unwrap();
    let draft = runs(&path, 4);
    let role = roles(&draft);
    assert_eq!(role("e-mail"), (RoleName::Identifier, true));
    assert_eq!(role("date of birth"), (RoleName::Quasi, true));
    assert_eq!(role("comment"), (RoleName::Drop, true));
    assert_eq!(role("disease"), (RoleName::Sensitive, true));
    assert_eq!(role("weight"), (RoleName::Drop, true));
    assert_eq!(role("empty"), (RoleName::Drop, true));
    assert_eq!(role("nothing"), (RoleName::Drop, true));
    for line in [
        "\"date of birth\" = { role = \"quasi\", hierarchy = \"dates\" }",
        "admitted = { role = \"quasi\", hierarchy = \"dates\" }",
        "zip = { role = \"quasi\", hierarchy = \"postal\" }",
        // `N` is a regular value of `flag`, so it cannot be listed as missing for `score`.
        "score = { role = \"quasi\", kind = \"text\", labels = \"star\" }",
        "missing = [\"\", \"?\", \"NA\"]\n",
    ] {
        assert!(draft.text.contains(line), "{line}\n{}", draft.text);
    }
    assert!(!draft.text.contains("example.org"), "a draft has no cells");
}

#[test]
fn markers_among_numbers_become_missing_and_incomplete_records_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let rows: String = (0..100)
        .map(|i| {
            format!(
                "{},{}\n",
                20 + i % 30,
                if i % 4 == 0 { "N".into() } else { (i % 7).to_string() }
            )
        })
        .collect();
    std::fs::write(&path, format!("age,children\n{rows}")).unwrap();
    let draft = runs(&path, 3);
    assert_eq!(draft.profile.columns[1].kind, ValueKind::Integer);
    assert_eq!(draft.profile.incomplete, 25);
    assert!(draft.text.contains("missing = [\"\", \"?\", \"NA\", \"N\"]"), "{}", draft.text);
    assert!(draft.text.contains("on_missing = \"keep\""), "{}", draft.text);
}

#[test]
fn tables_without_a_possible_job_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let ask = |text: &str, k| {
        std::fs::write(&path, text).unwrap();
        let options = InitOptions {
            input: input(&path),
            roles: Vec::new(),
            k,
            job: "job.toml".into(),
            preset: None,
        };
        options.run().unwrap_err().message().to_owned()
    };
    assert!(ask("age\n1\n2\n", 5).contains("groups of 5"));
    assert!(ask("age\n", 5).contains("no records"));
    assert!(
        ask("email\na@example.org\nb@example.org\nc@example.org\n", 2).contains("quasi-identifier")
    );
}

/// Uniqueness by hand: on age and sex the records 1 and 2 are equal, 3 and 4 unique; without age
/// none is.
#[test]
fn a_profile_agrees_with_counting_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "age,sex,x\n30,f,?\n30,f,1\n41,m,1\n42,m,1\n").unwrap();
    let asked = ProfileOptions {
        input: input(&path),
        quasi: vec!["age".into(), "sex".into()],
        sampling: Some(Sampling::Fraction(1.0)),
        share: 0.5,
        ..ProfileOptions::default()
    };
    let found = asked.run().unwrap();
    let json = found.to_json();
    assert_eq!((&json["records"], &json["columns"]), (&4.into(), &3.into()));
    let private = &json["private"];
    assert_eq!(private["uniqueness"]["unique"], 2);
    assert_eq!(private["uniqueness"]["without_column"][0]["unique"], 0);
    assert_eq!(private["uniqueness"]["without_column"][1]["unique"], 2);
    assert_eq!(private["uniqueness"]["group_sizes"][1]["groups"], 1);
    // On sex and x the first two records are unique, because a missing value is a value of its own.
    let set = |columns: &[&str]| serde_json::json!({ "columns": columns, "unique": 2, "unique_share": 0.5 });
    assert_eq!(
        private["singling_out"]["sets"],
        serde_json::json!([set(&["age"]), set(&["sex", "x"])])
    );
    assert_eq!(private["population"]["chosen"]["unique"], 2.0);
    assert_eq!(
        (&private["columns"][2]["missing"], &private["columns"][2]["distinct"]),
        (&1.into(), &1.into())
    );
    assert_eq!(json.as_object().unwrap().len(), 3, "everything else is private");
}

#[test]
fn invalid_profile_options_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, "age,sex\n30,f\n31,m\n").unwrap();
    let usual = || ProfileOptions { input: input(&path), ..ProfileOptions::default() };
    let says = |asked: ProfileOptions| asked.run().unwrap_err().message().to_owned();
    assert!(says(ProfileOptions { share: 2.0, ..usual() }).contains("between 0 and 1"));
    assert!(says(ProfileOptions { most: Some(0), ..usual() }).contains("at least one column"));
    assert!(says(ProfileOptions { quasi: vec!["agee".into()], ..usual() }).contains("agee"));
    assert!(says(ProfileOptions { columns: vec!["agee".into()], ..usual() }).contains("agee"));
    assert!(
        says(ProfileOptions { sampling: Some(Sampling::PopulationSize(1)), ..usual() })
            .contains("smaller")
    );
}

#[test]
fn drafts_for_all_real_tables_run_unchanged() {
    let data = or_skip!(data("adult.csv.gz"));
    let mut tables: Vec<PathBuf> =
        std::fs::read_dir(data).unwrap().map(|e| e.unwrap().path()).collect();
    tables.retain(|path| path.to_string_lossy().ends_with(".csv.gz"));
    tables.sort();
    assert!(!tables.is_empty());
    for path in tables.iter().step_by(incrowd_testing::step(3)) {
        runs(path, 5);
    }
}

#[test]
fn adult_gets_the_usual_roles() {
    let data = or_skip!(data("adult.csv.gz"));
    let role = roles(&draft(&data.join("adult.csv.gz"), 5, Path::new("job.toml")));
    for name in [
        "age",
        "sex",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "relationship",
    ] {
        assert_eq!(role(name), (RoleName::Quasi, true), "{name}");
    }
    assert_eq!(role("income"), (RoleName::Sensitive, true));
    assert_eq!(role("fnlwgt"), (RoleName::Drop, true));
    assert_eq!(role("education-num"), (RoleName::Drop, true));
}

/// Every fifth or twelfth record of Adult as a sample of Adult. The true number of unique records
/// is known, so the chosen estimate can be compared with it: the error is below a fifth.
#[test]
fn population_uniqueness_of_adult_is_estimated_from_samples_of_it() {
    let data = or_skip!(data("adult.csv.gz"));
    let quasi =
        ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"];
    let ask = |path: &Path, sampling| {
        let asked = ProfileOptions {
            input: input(path),
            columns: quasi.map(str::to_owned).to_vec(),
            quasi: quasi.map(str::to_owned).to_vec(),
            most: Some(1),
            sampling,
            ..ProfileOptions::default()
        };
        asked.run().unwrap()
    };
    let all = ask(&data.join("adult.csv.gz"), None);
    let truth = all.uniqueness.unwrap().sizes.of_size(1) as f64;
    let dir = tempfile::tempdir().unwrap();
    for (step, estimator) in [(5, "snb"), (12, "pitman")] {
        let path = dir.path().join(format!("{step}.csv"));
        let mut out = csv::Writer::from_path(&path).unwrap();
        let file = std::fs::File::open(data.join("adult.csv.gz")).unwrap();
        let mut reader = csv::Reader::from_reader(flate2::read::MultiGzDecoder::new(file));
        out.write_record(reader.headers().unwrap()).unwrap();
        for record in reader.records().step_by(step) {
            out.write_record(&record.unwrap()).unwrap();
        }
        out.flush().unwrap();
        drop(out);
        let population =
            ask(&path, Some(Sampling::PopulationSize(all.records))).population.unwrap();
        let (name, uniques) = population.chosen.unwrap();
        assert_eq!(name, estimator);
        assert!((uniques / truth - 1.0).abs() < 0.2, "{uniques} of {truth} by {name}");
    }
}
