//! `incrowd measure` computes the numbers of the manifest from original and release.

use crate::test_dir::TestDir;

const JOB: &str = r#"[input]
path = "people.csv"
on_missing = "ON_MISSING"
[output]
path = "r.csv"
[columns]
age = { role = "quasi", domain = [0, 120] }
zip = { role = "quasi", hierarchy = { mask = {} } }
born = { role = "quasi", hierarchy = "dates" }
city = { role = "quasi", labels = "star" }
shoe = { role = "quasi", hierarchy = { intervals = { width = 2 } } }
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 3
"#;

/// People with columns of all kinds, some with missing values.
fn setup(on_missing: &str) -> TestDir {
    let test = TestDir::new();
    let mut table = String::from("age,zip,born,city,shoe,disease\n");
    for i in 0..60_u32 {
        let (a, b, c) = (i * 37 % 61, i * 17 % 23, i * 7 % 5);
        let city = if i % 11 == 3 { "?".to_owned() } else { format!("city {c}") };
        table += &format!(
            "{},021{:02},19{:02}-0{}-11,{city},{},flu\n",
            18 + a,
            b,
            40 + b,
            c + 1,
            36 + c
        );
    }
    test.write("people.csv", table);
    test.write("job.toml", JOB.replace("ON_MISSING", on_missing));
    test
}

#[test]
fn measuring_agrees_with_the_manifest() {
    for on_missing in ["drop", "keep"] {
        let test = setup(on_missing);
        test.succeeds("anonymize job.toml");
        let measured = test.succeeds("measure people.csv r.csv --job job.toml --json").json();
        let manifest = test.json("r.release.json");
        assert_eq!(measured["metrics"], manifest["metrics"]);
        assert_eq!(measured["records"]["published"], manifest["records"]["published"]);
        assert_eq!(measured["records"]["suppressed"], 0);
        let ncp = manifest["metrics"]["ncp"].as_f64().unwrap();
        assert!(ncp > 0.0 && ncp < 1.0, "{ncp}");
    }
}

#[test]
fn the_manifest_replaces_hierarchies() {
    let test = TestDir::with_people();
    test.succeeds("anonymize people.csv --quasi age,zip -k 2 -o r.csv");
    let measured = test.succeeds("measure people.csv r.csv --json").json();
    assert_eq!(measured["metrics"], test.json("r.release.json")["metrics"]);
}

#[test]
fn records_missing_from_the_release_count_as_suppressed() {
    let test = TestDir::with_people();
    test.write("r.csv", "age,zip\n\"[22, 67]\",*\n\"[22, 67]\",*\n");
    let done = test.succeeds("measure people.csv r.csv --quasi age,zip --labels zip=star");
    done.prints(&["suppressed", "6"]);
    let measured =
        test.succeeds("measure people.csv r.csv --quasi age,zip --labels zip=star --json").json();
    assert_eq!(measured["records"]["suppressed"], 6);
    // Two records share a group; each of the six suppressed ones counts as many as the table has.
    assert_eq!(measured["metrics"]["discernibility"], (2 * 2 + 6 * 8) as f64);
    assert_eq!(measured["metrics"]["ncp"], 1.0);
}

#[test]
fn an_unchanged_table_has_no_loss() {
    let test = TestDir::with_people();
    let measured = test.succeeds("measure people.csv people.csv --quasi age,zip --json").json();
    assert_eq!(measured["metrics"]["ncp"], 0.0);
    let done = test.succeeds("measure people.csv people.csv --quasi age,zip");
    done.prints(&["may be published", "records", "ncp", "discernibility", "\n age ", "\n zip "]);
}

#[test]
fn a_table_that_is_not_a_release_is_refused_without_showing_a_cell() {
    let test = TestDir::with_people();
    test.write("r.csv", "age,zip\n\"[22, 67]\",S3CR3T\n");
    let expected =
        &["column `zip` of the release has a cell that is neither a value of the original"];
    test.refuses("measure people.csv r.csv --quasi age,zip").exits(2).reports(expected);
    test.write("r.csv", "age,zip\n".to_owned() + &"34,02139\n".repeat(9));
    let expected = &["the release has 9 records, the original only 8"];
    test.refuses("measure people.csv r.csv --quasi age,zip").exits(2).reports(expected);
    test.refuses("measure people.csv r.csv")
        .exits(2)
        .reports(&["which columns are quasi-identifiers?"]);
    test.refuses("measure people.csv none.csv --quasi age")
        .exits(2)
        .reports(&["there is no file `none.csv`"]);
}

#[test]
fn a_hierarchy_file_named_in_the_manifest_is_required() {
    let test = TestDir::with_people();
    test.write(
        "zips.csv",
        "02139;021**;*\n02140;021**;*\n02141;021**;*\n90210;902**;*\n90211;902**;*\n90213;902**;*\n",
    );
    test.succeeds("anonymize people.csv --quasi zip -k 2 --hierarchy zip=zips.csv -o r.csv");
    test.refuses("measure people.csv r.csv")
        .exits(2)
        .reports(&["generalized along a hierarchy (file)", "job file"]);
}

/// 300 people whose income depends on their age, with a column that is missing for some of them.
fn earners() -> TestDir {
    let test = TestDir::new();
    let mut table = String::from("age,zip,income,club,disease\n");
    for i in 0..300_u32 {
        let age = 20 + i * 7 % 50;
        let (income, club) =
            (if age < 40 { "low" } else { "high" }, if i % 9 == 0 { "?" } else { "golf" });
        let club = if i % 2 == 0 { club } else { "chess" };
        table += &format!(
            "{age},021{:02},{income},{club},{}\n",
            i * 17 % 23,
            ["flu", "cold", "gout"][i as usize % 3]
        );
    }
    test.write("people.csv", table);
    test.succeeds(
        "anonymize people.csv --quasi age,zip --sensitive disease --passthrough income,club -k 5 -o r.csv",
    );
    test
}

#[test]
fn public_and_private_results_are_separate() {
    let test = earners();
    let text = test.succeeds("measure people.csv r.csv --pairs").stdout;
    let (public, private) = text.split_once("for the data owner only").expect("two sections");
    assert!(public.starts_with("may be published\n"), "{text}");
    for part in [
        "columns",
        "age × zip",
        "zip × disease",
        "queries: 1,000",
        "seed 1",
        "predicting disease",
        "AUC",
    ] {
        assert_eq!(public.contains(part), part != "AUC", "{part}\n{text}");
    }
    assert!(private.contains("up to 0.1 %") && private.contains("accuracy by fold"), "{text}");
    let json = test.succeeds("measure people.csv r.csv --pairs --json").json();
    assert_eq!(json["utility"]["columns"]["age"]["role"], "quasi");
    assert_eq!(json["utility"]["columns"]["disease"]["total_variation"], 0.0);
    assert_eq!(json["utility"]["association"].as_array().unwrap().len(), 3);
    assert!(json["utility"]["query_error"]["mean_bounded_error"].as_f64().unwrap() > 0.0);
    assert!(json["utility"]["query_error"].get("by_selectivity").is_none());
    assert_eq!(json["private"]["query_error"]["by_selectivity"].as_array().unwrap().len(), 4);
    assert_eq!(json["private"]["classification_by_fold"].as_array().unwrap().len(), 3);
}

#[test]
fn equal_seeds_give_equal_results() {
    let test = earners();
    let asked = "measure people.csv r.csv --json --seed";
    assert_eq!(
        test.succeeds(&format!("{asked} 5")).stdout,
        test.succeeds(&format!("{asked} 5")).stdout
    );
    let error = |seed: &str| {
        test.succeeds(&format!("{asked} {seed}")).json()["utility"]["query_error"].clone()
    };
    assert_ne!(error("5")["mean_bounded_error"], error("6")["mean_bounded_error"]);
    assert_eq!(error("6")["seed"], 6);
}

#[test]
fn errors_of_few_queries_are_not_published() {
    let test = earners();
    let json =
        test.succeeds("measure people.csv r.csv --only query_error --queries 20 --json").json();
    assert!(json["utility"]["query_error"].get("mean_relative_error").is_none(), "{json:#}");
    assert!(json["private"]["query_error"]["all"]["mean_bounded_error"].is_number(), "{json:#}");
    let text = test.succeeds("measure people.csv r.csv --only query_error --queries 20").stdout;
    let (public, _) = text.split_once("for the data owner only").unwrap();
    assert!(
        public.contains("fewer than 100 queries") && !public.contains("relative error"),
        "{text}"
    );
}

#[test]
fn a_passthrough_column_can_be_the_target() {
    let test = earners();
    let json = test.succeeds("measure people.csv r.csv --target income --json").json();
    let c = &json["utility"]["classification"];
    assert_eq!((&c["target"], &c["classes"]), (&"income".into(), &2.into()));
    assert_eq!(c["from_originals"]["accuracy"], 1.0);
    let (release, majority) = (&c["from_release"]["accuracy"], &c["majority"]["accuracy"]);
    assert!(release.as_f64() > majority.as_f64(), "{c:#}");
    assert_eq!(json["metrics"], test.json("r.release.json")["metrics"]);
    // Records without a target are in the release, but nothing can be learned from them.
    let json = test.succeeds("measure people.csv r.csv --target club --json").json();
    assert_eq!(json["records"], serde_json::json!({ "published": 300, "suppressed": 0 }));
    let missing = (0..300).filter(|i| i % 2 == 0 && i % 9 == 0).count();
    assert_eq!(json["utility"]["classification"]["records_drawn"]["original"], 300 - missing);
    assert_eq!(json["utility"]["classification"]["records_drawn"]["release"], 300 - missing);
    assert_eq!(json["utility"]["classification"]["classes"], 2);
}

#[test]
fn only_the_requested_measures_are_computed() {
    let test = earners();
    let text = test.succeeds("measure people.csv r.csv --only ncp,association").stdout;
    assert!(text.contains("ncp") && text.contains("age × zip"), "{text}");
    assert!(
        !text.contains("queries")
            && !text.contains("discernibility")
            && !text.contains("predicting"),
        "{text}"
    );
    let json = test.succeeds("measure people.csv r.csv --only non_uniform_entropy --json").json();
    let keys: Vec<&String> = json["utility"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["columns", "non_uniform_entropy"]);
    assert!(json["metrics"]["ncp"].is_number(), "what was there before stays");
}

#[test]
fn invalid_requests_are_refused() {
    let test = earners();
    let asked = "measure people.csv r.csv";
    for (args, expected) in [
        ("--only query_eror", "did you mean `query_error`?"),
        ("--target incom", "did you mean `income`?"),
        ("--target age", "is a quasi-identifier and cannot be the target"),
        ("--selectivity 0", "must be above 0"),
        ("--selectivity 2", "must be above 0"),
        ("--dimensions 0", "--dimensions"),
        ("--queries 0", "--queries"),
    ] {
        test.refuses(&format!("{asked} {args}")).exits(2).reports(&[expected]);
    }
    test.write("r.csv", "age,zip\n\"[20, 69]\",02100\n");
    test.refuses("measure people.csv r.csv --quasi age,zip --target income")
        .exits(2)
        .reports(&["the release has no column `income` to predict"]);
}

#[test]
fn sensitive_columns_missing_from_the_release_are_skipped() {
    let test = earners();
    test.write("s.csv", "age,zip\n\"[20, 69]\",02100\n\"[20, 69]\",02100\n");
    let json =
        test.succeeds("measure people.csv s.csv --quasi age,zip --sensitive disease --json").json();
    let columns: Vec<&String> = json["utility"]["columns"].as_object().unwrap().keys().collect();
    assert_eq!(columns, ["age", "zip"]);
    // All zips but one are suppressed, so the divergence is infinite, which JSON cannot represent.
    // The distance is finite.
    assert!(json["utility"]["columns"]["zip"]["kl_divergence"].is_null());
    assert!(json["utility"]["columns"]["zip"]["total_variation"].as_f64().unwrap() < 1.0);
    assert_eq!(json["private"]["lost_values"]["zip"], 22);
    test.succeeds("measure people.csv s.csv --quasi age,zip")
        .prints(&["infinite", "that no cell contains: zip 22"]);
}
