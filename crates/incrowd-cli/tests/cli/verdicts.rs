//! The verdict about a release is the same everywhere; the contents of a manifest suffice for it.

use crate::test_dir::TestDir;

/// Stays in a hospital; every patient has two.
fn stays() -> String {
    let stay = |i: usize| format!("{},{},{}\n", i / 2, 20 + i % 5, ["a", "b", "c"][i % 3]);
    format!("patient,age,ward\n{}", (0..60).map(stay).collect::<String>())
}

#[test]
fn undecided_is_not_success() {
    let test = TestDir::new();
    test.write("stays.csv", stays());
    test.succeeds(
        "anonymize stays.csv --person patient --quasi age --sensitive ward -k 5 -o out.csv",
    );
    test.run("verify out.csv")
        .exits(1)
        .prints(&["k-anonymity(k=5)   UNKNOWN", "verdict  UNDECIDED"]);
    let answer = test.run("verify out.csv --json").exits(1).json();
    assert!(answer["holds"].is_null() && answer["models"][0]["holds"].is_null(), "{answer}");
    test.run("report out.csv -o page.html")
        .exits(1)
        .prints(&["UNDECIDED whether all guarantees hold"]);
    let page = test.text("page.html");
    assert!(
        page.contains("Undecided: 0 of 1 guarantees") && !page.contains("The guarantee holds"),
        "{page}"
    );
    assert!(test.run("report out.csv -o page.html --json").exits(1).json()["holds"].is_null());
    // With the original it can be decided.
    let known = "--original stays.csv --person patient";
    test.succeeds(&format!("verify out.csv {known}")).prints(&["k-anonymity(k=5)   holds"]);
    assert_eq!(test.succeeds(&format!("verify out.csv {known} --json")).json()["holds"], true);
    test.succeeds(&format!("report out.csv {known} -o page.html")).prints(&["all guarantees hold"]);
    assert!(test.text("page.html").contains("The guarantee holds"));
    // A failure takes precedence over undecided.
    test.write("out.csv", test.text("out.csv").replacen(",a\n", ",b\n", 1));
    assert_eq!(test.run("verify out.csv --json").exits(1).json()["holds"], false);
}

#[test]
fn a_population_estimated_by_weights_is_undecided_without_them() {
    let test = TestDir::new();
    let person = |i: usize| format!("{},{},{}\n", 20 + i % 6, ["f", "m"][i % 2], 3 + i % 4);
    test.write("sample.csv", format!("age,sex,pw\n{}", (0..60).map(person).collect::<String>()));
    test.succeeds(
        "anonymize sample.csv --quasi age,sex --weight pw --model k-map:k=20 --algorithm mondrian -o out.csv",
    );
    test.run("verify out.csv").exits(1).prints(&[
        "UNKNOWN   the population is estimated from sampling weights",
        "verdict  UNDECIDED",
    ]);
    assert!(test.run("verify out.csv --json").exits(1).json()["holds"].is_null());
}

#[test]
fn an_attack_without_a_limit_has_no_verdict() {
    let test = TestDir::with_old_release();
    assert!(test.succeeds("attack out.csv --json").json()["holds"].is_null());
    assert_eq!(test.succeeds("attack out.csv --limit prosecutor=1 --json").json()["holds"], true);
    assert_eq!(
        test.run("attack out.csv --limit prosecutor=0.0001 --json").exits(1).json()["holds"],
        false
    );
}

#[test]
fn hierarchies_without_files_are_read_from_the_manifest() {
    let test = TestDir::new();
    let person = |i: usize| {
        let (day, zip, age) = (1 + i * 7 % 28, 47_900 + i * 13 % 90, 18 + i * 5 % 60);
        let (diagnosis, country) = (
            ["E11.9", "E10.1", "I10", "J45.0"][i % 4],
            ["France", "Spain", "Japan", "China"][i % 4],
        );
        format!(
            "2021-{:02}-{day:02},{zip},{age},{},{diagnosis},{country},{}\n",
            1 + i % 12,
            20 + i % 9,
            ["flu", "cold"][i % 2]
        )
    };
    let header = "seen,zip,age,height,diagnosis,country,disease\n";
    test.write("people.csv", format!("{header}{}", (0..96).map(person).collect::<String>()));
    let made = |output: &str, dates: &str, k: u32| {
        format!(
            "anonymize people.csv --quasi seen,zip,age,height,diagnosis,country --sensitive disease -k {k} --algorithm mondrian \
             --hierarchy seen={dates} --hierarchy zip=mask:right,# --hierarchy age=intervals:5,3,2,3 --hierarchy height=cuts:22,25/25 \
             --hierarchy diagnosis=icd10 --hierarchy country=countries -o {output}"
        )
    };
    test.succeeds(&made("one.csv", "dates:month,year", 4));
    test.succeeds(&made("two.csv", "dates", 6));
    let stated = test.json("one.release.json")["metrics"]["ncp"].as_f64().unwrap();
    let measured = test.succeeds("measure people.csv one.csv --only ncp --json").json();
    assert_eq!(measured["metrics"]["ncp"].as_f64().unwrap(), stated, "{measured}");
    test.succeeds("attack one.csv --original people.csv");
    test.succeeds("attack one.csv --second two.csv --external people.csv");
    // Without known people, the labels of intervals and dates determine which records can belong to
    // one person.
    test.succeeds("attack one.csv --second two.csv --only intersection");
    test.succeeds("report one.csv --original people.csv -o page.html --owner owner.html");
    // Stated hierarchies take precedence, and hierarchy files must still be given.
    test.write(
        "zips.csv",
        (47_900..47_990).map(|zip| format!("{zip};{};*\n", zip / 10)).collect::<String>(),
    );
    test.succeeds(
        "anonymize people.csv --quasi zip -k 4 --algorithm mondrian --hierarchy zip=zips.csv -o three.csv",
    );
    test.refuses("measure people.csv three.csv")
        .exits(2)
        .reports(&["column `zip` was generalized along a hierarchy (file)"]);
    test.succeeds("measure people.csv three.csv --hierarchy zip=zips.csv");
}

#[test]
fn a_release_that_was_renamed_with_its_manifest_is_recognized() {
    let test = TestDir::with_old_release();
    let rename = |from: &str, to: &str| {
        std::fs::rename(test.path().join(from), test.path().join(to)).unwrap()
    };
    rename("out.csv", "moved.csv");
    rename("out.release.json", "moved.release.json");
    test.succeeds("verify moved.csv")
        .prints(&["k-anonymity(k=2)   holds", "digest   matches the manifest"]);
    test.succeeds("attack moved.csv");
    test.succeeds("measure people.csv moved.csv");
    // If it is also changed, it is another table, which is reported.
    test.write("moved.csv", test.text("moved.csv").replacen("flu", "cold", 1));
    test.refuses("verify moved.csv").exits(2).reports(&[
        "the manifest `moved.release.json` is about another table",
        "it names `out.csv` and has another digest",
        "--quasi",
    ]);
    // An original next to the manifest of its release is not taken for the release.
    test.refuses("verify people.csv").exits(2);
}

#[test]
fn formulas_behind_blanks_are_made_harmless() {
    let test = TestDir::new();
    let notes =
        [" =1+1", "\u{a0}=1+1", "\u{feff}+1+a", "\n@sum(1)", "\u{200b}-a", "＝1+1", " -5", "plain"];
    let person = |i: usize| format!("{},x,\"{}\"\n", 20 + i % 4, notes[i % notes.len()]);
    test.write(
        "people.csv",
        format!("age,disease,note\n{}", (0..32).map(person).collect::<String>()),
    );
    test.succeeds(
        "anonymize people.csv --quasi age --sensitive disease --passthrough note -k 2 -o out.csv --csv-safe",
    );
    let mut reader = csv::Reader::from_path(test.path().join("out.csv")).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for record in reader.records() {
        seen.insert(record.unwrap()[2].to_owned());
    }
    let expected = notes.map(|note| {
        if note == " -5" || note == "plain" { note.to_owned() } else { format!("'{note}") }
    });
    assert_eq!(seen, expected.into_iter().collect());
    test.succeeds("verify out.csv");
}

#[test]
fn the_original_does_not_make_a_guarantee_of_means_unknown() {
    let test = TestDir::new();
    let people = |shift: i32| -> String {
        (1..=6).map(|id| format!("{id},{}\n", 19 + id + shift)).collect()
    };
    test.write("t.csv", format!("id,age\n{}", people(0)));
    test.succeeds("anonymize t.csv --person id --quasi age -k 3 --numbers mean -o out.csv");
    let verify = "verify out.csv --original t.csv --person id";
    test.succeeds(verify).prints(&["k-anonymity(k=3)   holds"]);
    // With another number of records the persons are unknown.
    test.write("t.csv", format!("id,age\n{}7,22\n", people(0)));
    let done = test.run(verify);
    assert!(done.code == 1 && done.stdout.contains("UNKNOWN"), "{done}");
}

#[test]
fn groups_with_equal_means_have_one_mean_weight() {
    let test = TestDir::new();
    test.write("t.csv", "age,w\n20,5\n22,5\n21,50\n21,50\n");
    test.succeeds(
        "anonymize t.csv --quasi age --weight w --publish-weight group-mean -k 2 --algorithm ascent \
         --numbers mean -o out.csv",
    );
    assert_eq!(test.records("out.csv"), ["21,27.5"; 4]);
}

#[test]
fn a_report_names_the_check_that_failed() {
    let test = TestDir::with_old_release();
    let manifest = test.text("out.release.json");
    let groups = test.json("out.release.json")["groups"].as_u64().unwrap();
    let changed = manifest.replacen(&format!("\"groups\": {groups}"), "\"groups\": 99", 1);
    assert_ne!(manifest, changed);
    test.write("out.release.json", changed);
    let done = test.run("report out.csv -o page.html").exits(1).prints(&["a check FAILS"]);
    assert!(!done.stdout.contains("a guarantee FAILS"), "{done}");
    assert!(test.text("page.html").contains("The manifest differs from its own digest"));
    // A guarantee that fails is named as such.
    let done = test.run("report out.csv --quasi age,zip -k 5 -o other.html").exits(1);
    done.prints(&["a guarantee FAILS"]);
}

#[test]
fn a_stated_treatment_of_missing_values_takes_precedence_over_the_manifest() {
    let test = TestDir::new();
    test.write("t.csv", "age,zip\n20,A\n22,A\n?,B\n24,B\n");
    let keep = "--on-missing keep --algorithm mondrian";
    test.succeeds(&format!(
        "anonymize t.csv --quasi age,zip -k 2 {keep} --numbers mean -o out.csv"
    ));
    test.succeeds("verify out.csv").prints(&["means of groups   hold"]);
    // Stated roles do not change how the release was made.
    test.succeeds("verify out.csv --quasi age,zip -k 2").prints(&["means of groups   hold"]);
    test.run("verify out.csv --on-missing drop").exits(1).prints(&["means of groups   FAILS"]);
}
