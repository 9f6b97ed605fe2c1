//! Local suppression and microaggregation on the command line.

use crate::test_dir::TestDir;

const TABLE: &str = "age,sex,city\n30,F,Oslo\n30,F,Oslo\n30,F,Oslo\n31,F,Oslo\n41,M,Rome\n41,M,Rome\n41,M,Rome\n41,M,Pau\n";

fn setup() -> TestDir {
    let test = TestDir::new();
    test.write("t.csv", TABLE);
    test
}

#[test]
fn a_cell_is_missing_and_the_manifest_states_what_it_matches() {
    let test = setup();
    let done = test
        .succeeds("anonymize t.csv --quasi age,sex,city -k 3 --set cells=suppress --missing-cells any -o r.csv");
    done.prints(&[
        "a missing cell matches any value",
        "missing  2 cells in 2 records: age 1",
        "only one",
    ]);
    let told = &test.json("r.release.json")["job"];
    assert_eq!(
        (&told["cells"], &told["missing_cells"]["matches"]),
        (&"suppress".into(), &"any".into())
    );
    assert!(told["missing_cells"]["worth"].as_str().unwrap().contains("rule out"));
    let records = test.records("r.csv");
    assert!(
        records.contains(&"*,F,Oslo".to_owned()) && records.contains(&"41,M,*".to_owned()),
        "{records:?}"
    );
    test.succeeds("verify r.csv")
        .prints(&["holds   smallest group 4", "a missing cell matches any value"]);
    // The verdict of the page is not "good" without naming the assumed adversary.
    test.succeeds("report r.csv -o p.html");
    let page = test.text("p.html");
    assert!(
        page.contains("class=\"verdict amber\"")
            && page.contains("Not k-anonymity in the usual sense")
    );
    assert!(!page.contains("class=\"verdict good\""));
    test.run("verify r.csv --missing-cells alone").exits(1).prints(&["FAILS"]);
}

#[test]
fn a_foreign_table_is_verified_with_both_rules_for_missing_cells() {
    let test = setup();
    test.write("theirs.csv", "age,sex\n30,F\n30,NA\n30,F\n41,M\n41,M\nNA,M\n");
    test.succeeds("verify theirs.csv --quasi age,sex -k 3 --missing-cells any")
        .prints(&["holds   smallest group 3"]);
    test.run("verify theirs.csv --quasi age,sex -k 3").exits(1).prints(&["FAILS"]);
    let asked =
        "verify theirs.csv --quasi age --sensitive sex --model l-diversity:l=2 --missing-cells any";
    test.run(asked).exits(2).reports(&["do not form groups"]);
}

#[test]
fn means_of_groups_are_published_by_mdav() {
    let test = TestDir::new();
    test.write("n.csv", "x,y\n1,10\n2,11\n3,12\n50,90\n51,91\n52,98\n");
    let done =
        test.succeeds("anonymize n.csv --quasi x,y -k 3 --algorithm mdav --numbers mean -o r.csv");
    done.prints(&["in 2 groups", "mdav     2 groups: SSE/SST"]);
    assert_eq!(test.records("r.csv")[..3], ["2,11", "2,11", "2,11"]);
}

#[test]
fn numbers_with_leading_zeros_have_no_means_and_give_a_note() {
    let test = TestDir::new();
    test.write("n.csv", "age,s\n05,y\n06,y\n17,y\n18,y\n");
    let asked = "anonymize n.csv --quasi age --sensitive s -k 2 -o r.csv";
    test.succeeds(&format!("{asked} --numbers mean"))
        .reports(&["column `age` holds numbers with leading zeros", "kind = \"numeric\""]);
    assert_eq!(test.records("r.csv")[0], "\"{05, 06}\",y");
    for flags in ["--numbers mean --kind age=numeric", "--numbers mean --kind age=text", ""] {
        let done = test.succeeds(&format!("{asked} {flags}"));
        assert!(!done.stderr.contains("leading zeros"), "{done}");
    }
    test.succeeds(&format!("{asked} --numbers mean --kind age=numeric"));
    assert_eq!(test.records("r.csv"), ["17.5,y", "17.5,y", "5.5,y", "5.5,y"]);
}
