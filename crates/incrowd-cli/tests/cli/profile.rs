//! `incrowd profile` and `incrowd init`.

use crate::room::Room;

/// Sixty people with an address each; age and zip together single many of them out.
fn people() -> String {
    let mut table = String::from("email,age,zip,disease\n");
    for i in 0..60 {
        table +=
            &format!("p{i}@example.org,{},021{:02},{}\n", 20 + i * 7 % 40, i % 12, ["flu", "cold"][i % 2]);
    }
    table
}

#[test]
fn a_profile_tells_counts_and_no_cells() {
    let room = Room::new();
    room.write("people.csv", people());
    let done = room.does("profile people.csv --sampling-fraction 0.1").prints(&[
        "may be published",
        "60 records, 4 columns",
        "for the data owner only",
        "holds e-mail addresses",
        "email",
        "pitman",
        "zayatz",
        "snb",
    ]);
    assert!(!done.stdout.contains("example.org") && !done.stdout.contains("02105"), "{done}");
    assert_eq!(done.stderr, "", "{done}");
    assert_eq!(room.names(), ["people.csv"]);
}

#[test]
fn all_but_the_size_of_the_table_is_private() {
    let room = Room::new();
    room.write("people.csv", people());
    let answer = room.does("profile people.csv --quasi age,zip --share 0 --json").json();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["records", "columns", "private"]);
    assert_eq!(answer["private"]["uniqueness"]["columns"], serde_json::json!(["age", "zip"]));
    assert_eq!(answer["private"]["singling_out"]["records_needed"], 1);
}

#[test]
fn the_draft_runs_as_it_is_and_is_not_overwritten() {
    let room = Room::new();
    room.write("people.csv", people());
    room.does("init people.csv").prints(&["job.toml", "identifier", "email", "sensitive", "disease"]);
    assert!(room.text("job.toml").contains("# holds e-mail addresses\nemail = \"identifier\""));
    room.does("anonymize job.toml").prints(&["k-anonymity(k=5)", "holds"]);
    room.does("verify people.release.csv").prints(&["holds"]);
    room.write("job.toml", "mine");
    room.refuses("init people.csv").exits(2).says(&["`job.toml` is there already", "--force"]);
    assert_eq!(room.text("job.toml"), "mine");
    room.does("init people.csv --force -k 3 --quasi disease --drop zip");
    let job = room.text("job.toml");
    assert!(job.contains("k = 3") && job.contains("zip = \"drop\""), "{job}");
    assert!(job.contains("disease = { role = \"quasi\" }"), "{job}");
    room.does("anonymize job.toml").prints(&["k-anonymity(k=3)"]);
}

#[test]
fn a_draft_in_another_directory_finds_its_table() {
    let room = Room::new();
    room.write("data/people.csv", people());
    room.write("jobs/keep", "");
    let answer = room.does("init data/people.csv -o jobs/job.toml --json").json();
    assert_eq!(answer["job"], "jobs/job.toml");
    assert_eq!(answer["private"]["columns"]["identifier"], serde_json::json!(["email"]));
    room.does("anonymize jobs/job.toml").prints(&["jobs/people.release.csv"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let room = Room::new();
    room.write("people.csv", people());
    for (typed, says) in [
        ("profile nobody.csv", "there is no file"),
        ("profile people.csv --quasi agee", "age"),
        ("profile people.csv --share 1.5", "between 0 and 1"),
        ("profile people.csv --max-columns 0", "at least one column"),
        ("profile people.csv --population-size 3", "smaller than its sample"),
        ("profile people.csv --sampling-fraction 0", "sampling fraction"),
        ("profile people.csv --sampling-fraction 0.5 --population-size 900", "cannot be used with"),
        ("profile", "TABLE"),
        ("init people.csv -k 61", "groups of 61"),
        ("init people.csv -k 0", "0"),
        ("init people.csv -o people.csv --force", "overwrite the table"),
        ("init people.csv --quasi age --drop age", "two roles"),
    ] {
        room.refuses(typed).exits(2).says(&[says]);
    }
    assert_eq!(room.names(), ["people.csv"]);
}
