//! Persons on the command line: the flag, the note without it, and the messages.

use crate::test_dir::TestDir;

/// Visits of patients, most of whom come two or three times.
fn visits() -> String {
    let mut table = String::from("patient_nbr,age,sex,disease\n");
    for n in 0..120u32 {
        let disease = ["flu", "cold", "gout"][(n % 3) as usize];
        table += &format!(
            "{},{},{},{disease}\n",
            4000 + n * 7 % 47,
            20 + n * 11 % 40,
            ["F", "M"][(n % 2) as usize]
        );
    }
    table
}

const FLAGS: &str = "--quasi age,sex --sensitive disease -k 4 -o out.csv";

#[test]
fn a_repeating_identifier_gives_a_note() {
    let test = TestDir::new();
    test.write("visits.csv", visits());
    let expected = ["identifier `patient_nbr` occurs in several records", "--person"];
    test.succeeds(&format!("anonymize visits.csv --identifier patient_nbr {FLAGS}"))
        .reports(&expected);
    let done = test.succeeds(&format!("anonymize visits.csv --person patient_nbr {FLAGS}"));
    assert!(!done.stderr.contains("occurs in several"), "{done}");
    done.prints(&["47 of 47 persons; the smallest group has", "one person has"]);
}

/// Required and available counts must have the same unit.
#[test]
fn unreachable_counts_are_reported_in_persons() {
    let test = TestDir::new();
    test.write("visits.csv", visits());
    let flags = FLAGS.replace("-k 4", "-k 48");
    test.succeeds(&format!("anonymize visits.csv --identifier patient_nbr {flags}"));
    test.refuses(&format!("anonymize visits.csv --person patient_nbr {flags}")).exits(1).reports(&[
        "k-anonymity(k=48) cannot be satisfied: with all 47 persons in one group the smallest group is 47, and 48 is needed",
        "choose weaker parameters, or provide more persons",
    ]);
    let flags = FLAGS.replace("-k 4", "-k 121");
    test.refuses(&format!("anonymize visits.csv --identifier patient_nbr {flags}"))
        .exits(1)
        .reports(&[
            "with all 120 records in one group the smallest group is 120",
            "provide more records",
        ]);
}

#[test]
fn init_proposes_the_person_column() {
    let test = TestDir::new();
    test.write("visits.csv", visits());
    test.succeeds("init visits.csv");
    let job = test.text("job.toml");
    assert!(job.contains("person = \"patient_nbr\"   # identifies the person"), "{job}");
    test.succeeds("anonymize job.toml").prints(&["persons", "holds"]);
    let manifest = test.text("visits.release.json");
    assert!(manifest.contains("\"unit\": \"persons\""), "{manifest}");
    assert!(!test.text("visits.release.csv").contains("patient"));
}

#[test]
fn verify_reports_models_that_it_cannot_check() {
    let test = TestDir::new();
    test.write("visits.csv", visits());
    test.succeeds(&format!("anonymize visits.csv --person patient_nbr {FLAGS}"));
    test.run("verify out.csv")
        .exits(1)
        .prints(&["k-anonymity(k=4)   UNKNOWN"])
        .reports(&["count persons", "--original"]);
    let known = "verify out.csv --original visits.csv --person patient_nbr";
    test.succeeds(known)
        .prints(&["k-anonymity(k=4)   holds", "47 persons; the smallest group has"]);
    let answer = test.succeeds(&format!("{known} --json")).json();
    assert_eq!(answer["unit"], "persons");
    assert!(answer["smallest_group"].as_u64().unwrap() >= 4);
    test.refuses("verify out.csv --original visits.csv --person patient")
        .exits(2)
        .reports(&["no column `patient`"]);
    test.succeeds(
        "attack out.csv --original visits.csv --person patient_nbr --only prosecutor,persons",
    )
    .prints(&["persons", "two records are known", "all records are known"]);
}

/// Any table with distinct identifiers has one record per person, whatever it is about.
#[test]
fn an_original_without_repeated_persons_must_be_that_of_the_release() {
    let test = TestDir::new();
    let people = "1,30,flu\n2,30,cold\n3,30,gout\n";
    let again = people.replace(",30", ".0,30");
    test.write("one.csv", format!("id,age,disease\n{people}"));
    test.write("two.csv", format!("id,age,disease\n{again}"));
    test.write("all.csv", format!("id,age,disease\n{people}{again}"));
    let lines = people.lines().chain(again.lines()).enumerate();
    let numbered: String = lines.map(|(n, line)| format!("{n},{line}\n")).collect();
    test.write("numbered.csv", format!("row,id,age,disease\n{numbered}"));
    let other: String = (1..=6).map(|n| format!("{n},31,flu\n")).collect();
    test.write("other.csv", format!("id,age,disease\n{other}"));
    let flags = "--quasi age --sensitive disease -k 3";
    test.succeeds(&format!("anonymize one.csv two.csv --person id {flags} -o out.csv"));
    for wrong in [
        "--original one.csv --person id",
        "--original other.csv --person id",
        "--original numbered.csv --person row",
    ] {
        for k in [3, 6] {
            test.run(&format!("verify out.csv {wrong} -k {k}"))
                .exits(1)
                .prints(&["UNKNOWN"])
                .reports(&["a table with other numbers of records or persons"]);
        }
    }
    let right = "verify out.csv --original all.csv --person id";
    test.succeeds(&format!("{right} -k 3")).prints(&["holds", "3 persons"]);
    test.run(&format!("{right} -k 6")).exits(1).prints(&["FAILS"]);
    // The manifest of a release that counts records does not count persons, so it is made again.
    test.succeeds(&format!("anonymize numbered.csv {flags} -o records.csv"));
    test.succeeds("verify records.csv --original numbered.csv --person row").prints(&["holds"]);
    test.run("verify records.csv --original other.csv --person id")
        .exits(1)
        .prints(&["UNKNOWN"])
        .reports(&["the release differs"]);
    test.run("verify records.csv --original one.csv --person id").exits(1).prints(&["UNKNOWN"]);
}

/// If the manifest states one record per person, the release is not made again.
#[test]
fn a_release_of_one_record_per_person_is_verified() {
    let test = TestDir::with_people();
    let flags = "--quasi age,zip --sensitive disease -k 2";
    test.succeeds(&format!("anonymize people.csv --person name {flags} -o out.csv"));
    test.succeeds("verify out.csv --original people.csv --person name").prints(&["holds"]);
    test.succeeds("verify out.csv").prints(&["holds"]);
}
