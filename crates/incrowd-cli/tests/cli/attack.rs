//! `incrowd attack`: exit code 0 on success, 1 if a limit is exceeded, 2 on errors.

use crate::test_dir::{PEOPLE, TestDir};

fn released() -> TestDir {
    let test = TestDir::with_people();
    test.succeeds(
        "anonymize people.csv --identifier name --quasi age,zip --sensitive disease -k 2 -o r.csv",
    );
    test
}

/// All named people are in the release; gus and hal form a group of two.
const HIERARCHY: &str =
    "02139;021**;*\n02140;021**;*\n02141;021**;*\n90210;902**;*\n90211;902**;*\n90213;902**;*\n";

fn with_hierarchy() -> TestDir {
    let test = TestDir::with_people();
    test.write("zip.csv", HIERARCHY);
    test.succeeds(
        "anonymize people.csv --quasi age,zip --hierarchy zip=zip.csv --sensitive disease -k 2 -o r.csv",
    );
    test
}

#[test]
fn roles_are_read_from_the_manifest() {
    let test = released();
    let short = test
        .succeeds("attack r.csv")
        .prints(&["attacks: --all shows the reasons", "\nverdict  5 attacks ran"]);
    assert!(!short.stdout.contains("\n\n\n"), "{short}");
    let done = test.succeeds("attack r.csv --all");
    assert_eq!(done.stderr, "", "{done}");
    done.prints(&[
        "table    r.csv   8 records in",
        "may be published",
        "prosecutor",
        "homogeneity of disease",
        "skewness of disease",
        "not run  journalist: needs a population table (--population)",
        "not run  proximity of disease: needs numbers",
        "not run  equijoin: needs an external table",
        "not run  intersection: needs a second release",
    ]);
}

#[test]
fn an_exceeded_limit_gives_exit_code_one() {
    let test = released();
    test.succeeds("attack r.csv --limit prosecutor=0.5").prints(&["limit    prosecutor   holds"]);
    let done = test.run("attack r.csv --limit prosecutor=0.49").exits(1);
    done.prints(&["limit    prosecutor   EXCEEDED   the worst risk is 0.5000, at most 0.4900"]);
    test.succeeds("attack r.csv --limit prosecutor.share=0 --threshold prosecutor=0.5");
    test.run("attack r.csv --limit prosecutor.share=0 --threshold prosecutor=0.49").exits(1);
    let answer = test.run("attack r.csv --limit marketer=0.1 --json").exits(1).json();
    assert_eq!(answer["holds"], false);
    let limit =
        &answer["attacks"].as_array().unwrap().iter().find(|a| a["attack"] == "marketer").unwrap()
            ["limits"][0];
    assert_eq!((&limit["on"], &limit["holds"]), (&"average".into(), &false.into()));
}

#[test]
fn a_limit_that_cannot_be_checked_is_an_error() {
    let test = released();
    let expected = &["`journalist` has a limit, but it was not run", "--population"];
    test.refuses("attack r.csv --limit journalist=0.5").exits(2).reports(expected);
    let expected = &["`homogeneity` has a limit, but it was not run", "add homogeneity to --only"];
    test.refuses("attack r.csv --only prosecutor --limit homogeneity=0").exits(2).reports(expected);
}

#[test]
fn private_results_are_separate() {
    let test = released();
    let answer = test.succeeds("attack r.csv --json").json();
    let mut public = answer.clone();
    let private = public.as_object_mut().unwrap().remove("private").unwrap();
    let cells: Vec<String> = test
        .records("r.csv")
        .iter()
        .map(|line| line.rsplit_once(',').unwrap().0.to_owned())
        .collect();
    let age = |line: &String| line.trim_start_matches('"').split(']').next().unwrap().to_owned();
    assert!(cells.iter().all(|line| !public.to_string().contains(&age(line))), "{public}");
    let exposed = &private["most_exposed"][0]["groups"][0];
    assert!(
        cells.iter().any(|line| exposed["cells"]["age"].as_str().unwrap().starts_with(&age(line))),
        "{private}"
    );
    assert_eq!(exposed["risk"], 0.5);
    let text = test.succeeds("attack r.csv").stdout;
    assert!(
        !text.contains("for the data owner only")
            && !cells.iter().any(|line| text.contains(&age(line))),
        "{text}"
    );
}

#[test]
fn details_have_one_line_for_each_distinct_row() {
    let test = released();
    let done = test.succeeds("attack r.csv --details d.csv");
    done.prints(&["for the data owner only", "most exposed to prosecutor", "details  d.csv"]);
    let text = test.text("d.csv");
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let header = lines.headers().unwrap().iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        header,
        [
            "age",
            "zip",
            "disease",
            "records",
            "prosecutor",
            "homogeneity of disease",
            "skewness of disease"
        ]
    );
    let rows: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
    let records: u64 = rows.iter().map(|row| row[3].parse::<u64>().unwrap()).sum();
    assert_eq!(records, 8);
    assert!(rows.iter().all(|row| (0.0..=1.0).contains(&row[4].parse::<f64>().unwrap())));
    test.succeeds("attack r.csv --details again.csv --quiet");
    assert_eq!(text, test.text("again.csv"), "the order of records shows");
}

#[test]
fn details_of_a_csv_safe_release_have_no_formulas() {
    let test = TestDir::new();
    test.write("t.csv", "age,disease\n20,=1+1\n21,flu\n22,=1+1\n30,flu\n31,flu\n32,=1+1\n");
    let asked = "anonymize t.csv --quasi age --sensitive disease -k 2";
    for (flag, expected, other) in [("--csv-safe", ",'=1+1,", ",=1+1,"), ("", ",=1+1,", "'")] {
        test.succeeds(&format!("{asked} -o r.csv --replace {flag}"));
        test.succeeds("attack r.csv --details d.csv --replace");
        let text = test.text("d.csv");
        assert!(text.contains(expected) && !text.contains(other), "{flag}: {text}");
    }
}

#[test]
fn population_and_external_table_are_joined() {
    let test = with_hierarchy();
    test.write("town.csv", PEOPLE.to_owned() + "ivy,35,02139,none\njon,23,90211,none\n");
    test.write("voters.csv", "who,zip,party\ngus,90211,blue\nzoe,99999,red\n");
    let how = "--quasi age,zip --hierarchy zip=zip.csv --sensitive disease";
    let answer = test
        .succeeds(&format!("attack r.csv {how} --population town.csv --external voters.csv --json"))
        .json();
    let found = |name: &str, column: Option<&str>| {
        let column = serde_json::json!(column);
        let all = answer["attacks"].as_array().unwrap();
        all.iter()
            .find(|a| a["attack"] == name && a["column"] == column)
            .unwrap_or_else(|| panic!("{name}"))
            .clone()
    };
    assert_eq!(found("journalist", None)["worst"], 0.5);
    let expected = found("marketer", None)["facts"]["expected_records"].as_f64().unwrap();
    assert!(expected < 4.0 && expected > 2.0, "{expected}");
    let join = found("equijoin", None);
    assert_eq!((&join["of"], &join["facts"]["unmatched"]), (&2.into(), &1.into()));
    assert_eq!(join["facts"]["further_columns"], 2);
    let notes = join["notes"].to_string();
    assert!(
        notes.contains("has no column age") && notes.contains("covered only by `*`"),
        "{notes}"
    );
    assert_eq!(
        found("skewness", Some("disease"))["notes"][0],
        "the prior is that of the population"
    );
}

#[test]
fn two_releases_of_the_same_people_are_intersected() {
    let test = TestDir::new();
    test.write(
        "one.csv",
        "age,disease\n\"[20, 30]\",flu\n\"[20, 30]\",cold\n\"[31, 40]\",gout\n\"[31, 40]\",cold\n",
    );
    test.write("two.csv", "age,disease\n\"[20, 40]\",flu\n\"[20, 40]\",gout\n");
    let args = "attack one.csv --quasi age --sensitive disease --second two.csv --only intersection --json";
    let answer = test.succeeds(args).json();
    let found = &answer["attacks"][0];
    assert_eq!(
        (&found["at_risk"], &found["of"], &found["worst"]),
        (&2.into(), &2.into(), &1.0.into())
    );
    assert_eq!(found["facts"]["not_in_both"], 2);
    test.write("people.csv", "age\n25\n35\n50\n");
    let found = &test.succeeds(&format!("{args} --external people.csv")).json()["attacks"][0];
    assert_eq!(
        (&found["at_risk"], &found["of"], &found["people"]),
        (&2.into(), &2.into(), &"targets in both".into())
    );
}

#[test]
fn numbers_are_guessed_within_epsilon() {
    let test = TestDir::new();
    test.write("t.csv", "age,income\n1,1000\n1,1040\n2,1000\n2,9000\n");
    let args = "attack t.csv --quasi age --sensitive income --only proximity --json";
    let certain = |epsilon: &str| {
        test.succeeds(&format!("{args} {epsilon}")).json()["attacks"][0]["facts"]["certain"].clone()
    };
    assert_eq!(
        (certain("--epsilon income=20"), certain("--epsilon income=19")),
        (2.into(), 0.into())
    );
    assert_eq!(
        (certain("--epsilon income=2%"), certain("--epsilon income=1%")),
        (2.into(), 0.into())
    );
    assert_eq!(certain(""), 2);
}

#[test]
fn invalid_requests_are_refused() {
    let test = with_hierarchy();
    test.write("other.csv", "height\n1\n");
    for (args, expected) in [
        ("attack r.csv --only prosecuter", "did you mean `prosecutor`?"),
        ("attack r.csv --limit prosecutor", "write --limit prosecutor=0.1"),
        ("attack r.csv --limit prosecutor=-1", "write --limit prosecutor=0.1"),
        ("attack r.csv --limit prosecutor.wurst=1", "did you mean `worst`?"),
        ("attack r.csv --limit persecutor=0.1", "there is no attack `persecutor`"),
        ("attack r.csv --threshold homogeneity=2", "a number from 0 to 1"),
        ("attack r.csv --threshold homogeneity", "write --threshold homogeneity=0.8"),
        ("attack r.csv --epsilon diseases=1", "did you mean `disease`?"),
        ("attack r.csv --epsilon disease=much", "write --epsilon income=500"),
        ("attack r.csv --epsilon disease=100%", "a percentage below 100"),
        ("attack r.csv --population people.csv", "was generalized along a hierarchy (file)"),
        ("attack r.csv --details ./r.csv", "the details would overwrite a file that is read"),
        ("attack nobody.csv", "there is no file `nobody.csv`"),
        ("attack people.csv", "which columns are quasi-identifiers?"),
        ("attack people.csv --quasi age --external other.csv", "has none of the quasi-identifiers"),
        ("attack people.csv --quasi height", "no column `height`"),
        ("attack people.csv --quasi age --external none.csv", "there is no file `none.csv`"),
    ] {
        test.refuses(args).exits(2).reports(&[expected]);
    }
}

#[test]
fn labels_without_their_hierarchy_are_refused_without_showing_a_cell() {
    let test = TestDir::with_people();
    test.write("r.csv", "zip\nS3CR3T\nS3CR3T\n");
    let expected = &["no cell of column `zip` of the release covers a value", "--hierarchy"];
    test.refuses("attack r.csv --quasi zip --population people.csv").exits(2).reports(expected);
}

#[test]
fn two_releases_with_dates_and_intervals_are_intersected_by_their_labels() {
    let test = TestDir::new();
    let both = |day: &str, age: &str, disease: &str| format!("{day},\"{age}\",{disease}\n");
    test.write(
        "one.csv",
        format!(
            "born,age,disease\n{}{}",
            both("1961", "[20, 24]", "flu"),
            both("1961", "[20, 24]", "gout")
        ),
    );
    let flags =
        "--quasi born,age --sensitive disease --hierarchy born=dates --hierarchy age=intervals:5";
    let intersect = |two: String| {
        test.write("two.csv", format!("born,age,disease\n{two}"));
        let args = format!("attack one.csv {flags} --second two.csv --only intersection --json");
        test.succeeds(&args).json()["attacks"][0]["worst"].as_f64().unwrap_or(0.0)
    };
    // June 1961 is within 1961, and [20, 29] overlaps [20, 24]: a person in both has the flu.
    let same = both("1961-06", "[20, 29]", "flu") + &both("1961-06", "[20, 29]", "cold");
    assert_eq!(intersect(same), 1.0);
    // The first release has no person of 1971 and none above 29.
    assert!(
        intersect(both("1971-06", "[20, 29]", "flu") + &both("1971", "[20, 29]", "cold")) < 1.0
    );
    assert!(intersect(both("1961-06", "[30, 39]", "flu") + &both("1961", ">=30", "cold")) < 1.0);
}
