//! What becomes of records with a missing value.

use crate::room::Room;

const TABLE: &str = "age,zip,disease\n34,A,flu\n34,A,cold\n?,B,flu\n51,NA,none\n51,,flu\n";

fn room() -> Room {
    let room = Room::new();
    room.write("t.csv", TABLE);
    room
}

const ASKED: &str = "anonymize t.csv --quasi age,zip --sensitive disease -o r.csv";

#[test]
fn they_are_dropped_and_counted() {
    let room = room();
    let done = room.does(&format!("{ASKED} -k 2"));
    done.prints(&["2 of 5 records in 1", "3 dropped for a missing value (age 1, zip 2)"]);
    let records = &room.json("r.release.json")["records"];
    assert_eq!((&records["read"], &records["dropped_missing"]), (&5.into(), &3.into()));
    assert_eq!(room.records("r.csv"), ["34,A,cold", "34,A,flu"]);
}

#[test]
fn they_are_kept_where_that_is_asked_for() {
    let room = room();
    let done = room.does(&format!("{ASKED} -k 1 --on-missing keep"));
    assert!(!done.stdout.contains("dropped"), "{done}");
    let manifest = room.json("r.release.json");
    let records = &manifest["records"];
    assert_eq!((&records["read"], &records["dropped_missing"]), (&5.into(), &0.into()));
    assert_eq!((&records["published"], &manifest["job"]["on_missing"]), (&5.into(), &"keep".into()));
    // All as the first of the markers that occurs, which is the empty cell.
    let kept = [",B,flu", "34,A,cold", "34,A,flu", "51,,flu", "51,,none"];
    assert_eq!(room.records("r.csv"), kept);
    room.does("verify r.csv").prints(&["5 records in 3 groups"]);
    room.does(&format!("{ASKED} -k 1 --on-missing keep --output-missing ?"));
    let kept = ["34,A,cold", "34,A,flu", "51,?,flu", "51,?,none", "?,B,flu"];
    assert_eq!(room.records("r.csv"), kept);
    room.does("verify r.csv").prints(&["5 records in 3 groups"]);
}

#[test]
fn kept_ones_need_a_crowd_like_all_others() {
    let room = room();
    room.does(&format!("{ASKED} -k 2 --on-missing keep"));
    room.does("verify r.csv").prints(&["5 records in 2 groups", "smallest group 2"]);
}

#[test]
fn what_counts_as_missing_can_be_said() {
    let room = room();
    room.does(&format!("{ASKED} -k 1 --missing ?"));
    assert_eq!(room.json("r.release.json")["records"]["dropped_missing"], 1);
    room.does(&format!("{ASKED} -k 1 --missing ?,NA,A"));
    assert_eq!(room.json("r.release.json")["records"]["dropped_missing"], 4);
}

#[test]
fn columns_that_do_not_matter_may_lack_values() {
    let room = room();
    room.does("anonymize t.csv --quasi age --passthrough zip --sensitive disease -k 2 -o r.csv");
    assert_eq!(room.json("r.release.json")["records"]["dropped_missing"], 1);
}
