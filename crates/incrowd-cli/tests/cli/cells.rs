//! Local suppression and microaggregation as people type them.

use crate::room::Room;

const TABLE: &str =
    "age,sex,city\n30,F,Oslo\n30,F,Oslo\n30,F,Oslo\n31,F,Oslo\n41,M,Rome\n41,M,Rome\n41,M,Rome\n41,M,Pau\n";

fn room() -> Room {
    let room = Room::new();
    room.write("t.csv", TABLE);
    room
}

#[test]
fn a_cell_is_missing_and_the_manifest_says_what_it_matches() {
    let room = room();
    let done = room
        .does("anonymize t.csv --quasi age,sex,city -k 3 --set cells=suppress --missing-cells any -o r.csv");
    done.prints(&["a missing cell matches any value", "missing  2 cells in 2 records: age 1", "one only"]);
    let told = &room.json("r.release.json")["job"];
    assert_eq!((&told["cells"], &told["missing_cells"]["matches"]), (&"suppress".into(), &"any".into()));
    assert!(told["missing_cells"]["worth"].as_str().unwrap().contains("rule out"));
    let records = room.records("r.csv");
    assert!(
        records.contains(&"*,F,Oslo".to_owned()) && records.contains(&"41,M,*".to_owned()),
        "{records:?}"
    );
    room.does("verify r.csv").prints(&["holds   smallest group 4", "a missing cell matches any value"]);
    // The page does not call it good without saying against whom.
    room.does("report r.csv -o p.html");
    let page = room.text("p.html");
    assert!(page.contains("class=\"verdict amber\"") && page.contains("Not k-anonymity in the usual sense"));
    assert!(!page.contains("class=\"verdict good\""));
    room.run("verify r.csv --missing-cells alone").exits(1).prints(&["FAILS"]);
}

#[test]
fn a_table_made_elsewhere_is_judged_either_way() {
    let room = room();
    room.write("theirs.csv", "age,sex\n30,F\n30,NA\n30,F\n41,M\n41,M\nNA,M\n");
    room.does("verify theirs.csv --quasi age,sex -k 3 --missing-cells any")
        .prints(&["holds   smallest group 3"]);
    room.run("verify theirs.csv --quasi age,sex -k 3").exits(1).prints(&["FAILS"]);
    let asked = "verify theirs.csv --quasi age --sensitive sex --model l-diversity:l=2 --missing-cells any";
    room.run(asked).exits(2).says(&["no groups"]);
}

#[test]
fn means_of_groups_are_published_by_mdav() {
    let room = Room::new();
    room.write("n.csv", "x,y\n1,10\n2,11\n3,12\n50,90\n51,91\n52,98\n");
    let done = room.does("anonymize n.csv --quasi x,y -k 3 --algorithm mdav --numbers mean -o r.csv");
    done.prints(&["in 2 groups", "mdav     2 groups: SSE/SST"]);
    assert_eq!(room.records("r.csv")[..3], ["2,11", "2,11", "2,11"]);
}
