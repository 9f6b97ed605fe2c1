//! Records with missing values.

use crate::test_dir::TestDir;

const TABLE: &str = "age,zip,disease\n34,A,flu\n34,A,cold\n?,B,flu\n51,NA,none\n51,,flu\n";

fn setup() -> TestDir {
    let test = TestDir::new();
    test.write("t.csv", TABLE);
    test
}

const ASKED: &str = "anonymize t.csv --quasi age,zip --sensitive disease -o r.csv";

#[test]
fn they_are_dropped_and_counted_by_default() {
    let test = setup();
    let done = test.succeeds(&format!("{ASKED} -k 2"));
    done.prints(&["2 of 5 records in 1", "3 dropped for a missing value (age 1, zip 2)"]);
    let records = &test.json("r.release.json")["records"];
    assert_eq!((&records["read"], &records["dropped_missing"]), (&5.into(), &3.into()));
    assert_eq!(test.records("r.csv"), ["34,A,cold", "34,A,flu"]);
}

#[test]
fn they_are_kept_on_request() {
    let test = setup();
    let done = test.succeeds(&format!("{ASKED} -k 1 --on-missing keep"));
    assert!(!done.stdout.contains("dropped"), "{done}");
    let manifest = test.json("r.release.json");
    let records = &manifest["records"];
    assert_eq!((&records["read"], &records["dropped_missing"]), (&5.into(), &0.into()));
    assert_eq!(
        (&records["published"], &manifest["job"]["on_missing"]),
        (&5.into(), &"keep".into())
    );
    // All are published as the first marker that occurs, which is the empty cell.
    let kept = [",B,flu", "34,A,cold", "34,A,flu", "51,,flu", "51,,none"];
    assert_eq!(test.records("r.csv"), kept);
    test.succeeds("verify r.csv").prints(&["5 records in 3 groups"]);
    test.succeeds(&format!("{ASKED} -k 1 --on-missing keep --output-missing ?"));
    let kept = ["34,A,cold", "34,A,flu", "51,?,flu", "51,?,none", "?,B,flu"];
    assert_eq!(test.records("r.csv"), kept);
    test.succeeds("verify r.csv").prints(&["5 records in 3 groups"]);
}

#[test]
fn kept_records_need_a_group_like_all_others() {
    let test = setup();
    test.succeeds(&format!("{ASKED} -k 2 --on-missing keep"));
    test.succeeds("verify r.csv").prints(&["5 records in 2 groups", "smallest group 2"]);
}

#[test]
fn the_missing_markers_can_be_set() {
    let test = setup();
    test.succeeds(&format!("{ASKED} -k 1 --missing ?"));
    assert_eq!(test.json("r.release.json")["records"]["dropped_missing"], 1);
    test.succeeds(&format!("{ASKED} -k 1 --missing ?,NA,A"));
    assert_eq!(test.json("r.release.json")["records"]["dropped_missing"], 4);
}

#[test]
fn columns_without_a_role_may_lack_values() {
    let test = setup();
    test.succeeds(
        "anonymize t.csv --quasi age --passthrough zip --sensitive disease -k 2 -o r.csv",
    );
    assert_eq!(test.json("r.release.json")["records"]["dropped_missing"], 1);
}

#[test]
fn kept_missing_cells_are_not_beyond_a_bound() {
    let test = TestDir::new();
    test.write("b.csv", "age,s\nNA,y\n5,y\n6,y\n40,y\n");
    let asked = "anonymize b.csv --quasi age --sensitive s -k 1 --on-missing keep -o o.csv";
    for (flags, expected) in [
        ("--top age=30", ["5,y", "6,y", ">=30,y", "NA,y"]),
        ("--bottom age=6", ["40,y", "<=6,y", "<=6,y", "NA,y"]),
        // This text is not one of `[input] missing`.
        ("--top age=30 --output-missing none", ["5,y", "6,y", ">=30,y", "none,y"]),
    ] {
        test.succeeds(&format!("{asked} {flags}"));
        assert_eq!(test.records("o.csv"), expected, "{flags}");
        test.succeeds("verify o.csv").prints(&["holds"]);
    }
    test.succeeds(&format!("{asked} --hierarchy age=intervals:5 --min-level age=1"));
    assert_eq!(test.records("o.csv")[3], "NA,y");
    test.succeeds("verify o.csv").prints(&["holds"]);
}

/// The manifest states the text of missing cells, because it is not the label that readers expect.
#[test]
fn a_release_whose_missing_cells_have_the_default_text_is_read_with_other_markers() {
    let test = TestDir::new();
    test.write("m.csv", "age,sex,pay\n20,a,1\n-,a,-\n-,a,2\n30,b,3\n31,b,3\n70,c,4\n80,c,5\n");
    test.write(
        "job.toml",
        "[input]\npath = \"m.csv\"\nmissing = [\"-\", \"\"]\non_missing = \"keep\"\n\
         [output]\npath = \"o.csv\"\nmissing = \"?\"\n[columns]\n\
         age = { role = \"quasi\", top = 60 }\nsex = \"quasi\"\n\
         pay = { role = \"sensitive\", kind = \"numeric\" }\n\
         [[models]]\nname = \"k-anonymity\"\nk = 2\n\
         [[models]]\nname = \"t-closeness\"\nt = 1.0\non = \"pay\"\n",
    );
    test.succeeds("anonymize job.toml");
    assert!(test.records("o.csv").contains(&"?,a,?".to_owned()), "{}", test.text("o.csv"));
    assert_eq!(test.json("o.release.json")["job"]["written"]["missing"], "?");
    test.succeeds("verify o.csv").prints(&["k-anonymity(k=2)", "holds", "digest   matches"]);
    test.succeeds("measure m.csv o.csv").prints(&["ncp"]);
    test.succeeds("attack o.csv --original m.csv").prints(&["prosecutor"]);
    test.succeeds("report o.csv -o o.html").prints(&["all guarantees hold"]);
    // By default the label is `?`, and an entry would say nothing new.
    test.write("d.csv", "age,sex\n20,a\n?,a\n?,a\n30,b\n31,b\n");
    test.succeeds("anonymize d.csv --quasi age,sex -k 1 --on-missing keep -o p.csv");
    assert!(test.records("p.csv").contains(&"?,a".to_owned()), "{}", test.text("p.csv"));
    assert!(test.json("p.release.json")["job"]["written"].is_null());
    test.succeeds("verify p.csv").prints(&["holds"]);
}

#[test]
fn kept_missing_cells_of_every_spelling_cover_people_without_a_value() {
    let test = TestDir::new();
    for missing in ["", "?", "NA"] {
        let table = format!("c,age\nx,{missing}\nx,{missing}\ny,20\ny,30\nz,40\nz,50\n");
        test.write("t.csv", table);
        for flags in ["", "--output-missing -", "--output-missing ?"] {
            test.succeeds(&format!(
                "anonymize t.csv --quasi c,age --on-missing keep -k 2 --population t.csv \
                 --model k-map:k=2 --algorithm mondrian {flags} -o out.csv"
            ));
            let attack = "attack out.csv --population t.csv --only journalist --json";
            let answer = test.succeeds(attack).json();
            assert_eq!(answer["attacks"][0]["facts"]["uncovered"], 0, "{missing} {flags}");
            assert_eq!(answer["attacks"][0]["worst"], 0.5, "{missing} {flags}");
        }
    }
    test.write("few.csv", "c,a\nx,\nx,\ny,\ny,1\n");
    test.succeeds(
        "anonymize few.csv --quasi c,a --on-missing keep -k 2 --population few.csv \
         --model k-map:k=2 --algorithm mondrian -o few_out.csv",
    );
}

#[test]
fn a_bounded_column_of_stars_is_compared_with_a_population() {
    let test = TestDir::new();
    test.write("t.csv", "age,sex\n20,a\n30,b\n40,c\n50,d\n");
    let asked = "anonymize t.csv --quasi age,sex --top age=45 --bottom age=25 -k 4 -o out.csv";
    test.succeeds(&format!("{asked} --population t.csv --model k-map:k=2"));
    assert_eq!(test.records("out.csv"), ["*,\"{a, b, c, d}\""; 4]);
    test.succeeds("verify out.csv --population t.csv").prints(&["k-map(k=2)   holds"]);
    test.succeeds("attack out.csv --population t.csv");
}
