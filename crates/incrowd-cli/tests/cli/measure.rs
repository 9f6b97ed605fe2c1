//! `incrowd measure` reads original and release and comes to the numbers of the manifest.

use crate::room::Room;

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

/// People with all kinds of columns, some of them with a value missing.
fn room(on_missing: &str) -> Room {
    let room = Room::new();
    let mut table = String::from("age,zip,born,city,shoe,disease\n");
    for i in 0..60_u32 {
        let (a, b, c) = (i * 37 % 61, i * 17 % 23, i * 7 % 5);
        let city = if i % 11 == 3 { "?".to_owned() } else { format!("city {c}") };
        table += &format!("{},021{:02},19{:02}-0{}-11,{city},{},flu\n", 18 + a, b, 40 + b, c + 1, 36 + c);
    }
    room.write("people.csv", table);
    room.write("job.toml", JOB.replace("ON_MISSING", on_missing));
    room
}

#[test]
fn measuring_agrees_with_the_manifest() {
    for on_missing in ["drop", "keep"] {
        let room = room(on_missing);
        room.does("anonymize job.toml");
        let measured = room.does("measure people.csv r.csv --job job.toml --json").json();
        let manifest = room.json("r.release.json");
        assert_eq!(measured["metrics"], manifest["metrics"]);
        assert_eq!(measured["records"]["published"], manifest["records"]["published"]);
        assert_eq!(measured["records"]["suppressed"], 0);
        let ncp = manifest["metrics"]["ncp"].as_f64().unwrap();
        assert!(ncp > 0.0 && ncp < 1.0, "{ncp}");
    }
}

#[test]
fn without_hierarchies_the_manifest_is_enough() {
    let room = Room::with_people();
    room.does("anonymize people.csv --quasi age,zip -k 2 -o r.csv");
    let measured = room.does("measure people.csv r.csv --json").json();
    assert_eq!(measured["metrics"], room.json("r.release.json")["metrics"]);
}

#[test]
fn records_the_release_lacks_count_as_suppressed() {
    let room = Room::with_people();
    room.write("r.csv", "age,zip\n\"[22, 67]\",*\n\"[22, 67]\",*\n");
    let done = room.does("measure people.csv r.csv --quasi age,zip --labels zip=star");
    done.prints(&["suppressed", "6"]);
    let measured = room.does("measure people.csv r.csv --quasi age,zip --labels zip=star --json").json();
    assert_eq!(measured["records"]["suppressed"], 6);
    // Two records share a group; each of the six counts as often as the table has records.
    assert_eq!(measured["metrics"]["discernibility"], (2 * 2 + 6 * 8) as f64);
    assert_eq!(measured["metrics"]["ncp"], 1.0);
}

#[test]
fn an_unchanged_table_costs_nothing() {
    let room = Room::with_people();
    let measured = room.does("measure people.csv people.csv --quasi age,zip --json").json();
    assert_eq!(measured["metrics"]["ncp"], 0.0);
    let done = room.does("measure people.csv people.csv --quasi age,zip");
    done.prints(&["records", "ncp", "discernibility", "ncp of age", "ncp of zip"]);
}

#[test]
fn what_is_no_release_of_the_table_is_refused_without_showing_a_cell() {
    let room = Room::with_people();
    room.write("r.csv", "age,zip\n\"[22, 67]\",S3CR3T\n");
    let says = &["column `zip` of the release has a cell that is neither a value of the original"];
    room.refuses("measure people.csv r.csv --quasi age,zip").exits(2).says(says);
    room.write("r.csv", "age,zip\n".to_owned() + &"34,02139\n".repeat(9));
    let says = &["the release has 9 records, the original only 8"];
    room.refuses("measure people.csv r.csv --quasi age,zip").exits(2).says(says);
    room.refuses("measure people.csv r.csv").exits(2).says(&["which columns are quasi-identifiers?"]);
    room.refuses("measure people.csv none.csv --quasi age").exits(2).says(&["there is no file `none.csv`"]);
}

#[test]
fn a_hierarchy_the_manifest_only_names_is_asked_for() {
    let room = room("drop");
    room.does("anonymize job.toml");
    room.refuses("measure people.csv r.csv").exits(2).says(&["generalized with a hierarchy", "--job"]);
}
