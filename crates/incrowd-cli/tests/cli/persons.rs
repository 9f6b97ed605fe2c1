//! Persons on the command line: the flag, what is remarked without it, and what is said of it.

use crate::room::Room;

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
fn an_identifier_that_repeats_is_remarked() {
    let room = Room::new();
    room.write("visits.csv", visits());
    let says = ["identifier `patient_nbr` occurs in several records", "--person"];
    room.does(&format!("anonymize visits.csv --identifier patient_nbr {FLAGS}")).says(&says);
    let done = room.does(&format!("anonymize visits.csv --person patient_nbr {FLAGS}"));
    assert!(!done.stderr.contains("occurs in several"), "{done}");
    done.prints(&["47 of 47 persons; the smallest group has", "one person has"]);
}

/// The unit of what is asked and of what there is must be the same.
#[test]
fn what_no_group_of_persons_can_have_is_told_in_persons() {
    let room = Room::new();
    room.write("visits.csv", visits());
    let flags = FLAGS.replace("-k 4", "-k 48");
    room.does(&format!("anonymize visits.csv --identifier patient_nbr {flags}"));
    room.refuses(&format!("anonymize visits.csv --person patient_nbr {flags}")).exits(1).says(&[
        "k-anonymity(k=48) cannot be kept: with all 47 persons in one group the smallest group is 47, and 48 is needed",
        "ask for less, or bring more persons",
    ]);
    let flags = FLAGS.replace("-k 4", "-k 121");
    room.refuses(&format!("anonymize visits.csv --identifier patient_nbr {flags}"))
        .exits(1)
        .says(&["with all 120 records in one group the smallest group is 120", "bring more records"]);
}

#[test]
fn init_names_the_column_that_tells_persons_apart() {
    let room = Room::new();
    room.write("visits.csv", visits());
    room.does("init visits.csv");
    let job = room.text("job.toml");
    assert!(job.contains("person = \"patient_nbr\"   # whose record it is"), "{job}");
    room.does("anonymize job.toml").prints(&["persons", "holds"]);
    let manifest = room.text("visits.release.json");
    assert!(manifest.contains("\"unit\": \"persons\""), "{manifest}");
    assert!(!room.text("visits.release.csv").contains("patient"));
}

#[test]
fn verify_says_what_it_cannot_know() {
    let room = Room::new();
    room.write("visits.csv", visits());
    room.does(&format!("anonymize visits.csv --person patient_nbr {FLAGS}"));
    room.does("verify out.csv")
        .prints(&["k-anonymity(k=4)   UNKNOWN"])
        .says(&["count persons", "--original"]);
    let known = "verify out.csv --original visits.csv --person patient_nbr";
    room.does(known).prints(&["k-anonymity(k=4)   holds", "47 persons; the smallest group has"]);
    let answer = room.does(&format!("{known} --json")).json();
    assert_eq!(answer["unit"], "persons");
    assert!(answer["smallest_group"].as_u64().unwrap() >= 4);
    room.refuses("verify out.csv --original visits.csv --person patient")
        .exits(2)
        .says(&["no column `patient`"]);
    room.does("attack out.csv --original visits.csv --person patient_nbr --only prosecutor,persons")
        .prints(&["persons", "two of whose records are known", "all of whose records are known"]);
}
