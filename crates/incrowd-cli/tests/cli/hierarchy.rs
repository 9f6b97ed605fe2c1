//! `incrowd hierarchy build | lint | show`

use crate::test_dir::TestDir;

const TABLE: &str = "age,zip,born,country
3,02139,2001-03-05,Peru
17,02141,1999-12-31,Japan
51,90210,1980-01-01,Peru
19,02140,1981-02-03,Chile
?,,NA,Japan
";

const TREE: &str = "America = [\"Peru\", \"Chile\"]\n[Asia]\nEast = [\"Japan\"]\n";

fn setup() -> TestDir {
    let test = TestDir::new();
    test.write("t.csv", TABLE);
    test.write("tree.toml", TREE);
    test
}

#[test]
fn masks_hide_one_character_after_the_other() {
    let test = setup();
    let masked = "02139;0213*;021**;02***;0****;*\n02140;0214*;021**;02***;0****;*\n\
                  02141;0214*;021**;02***;0****;*\n90210;9021*;902**;90***;9****;*\n";
    assert_eq!(test.succeeds("hierarchy build t.csv zip --kind mask").stdout, masked);
    test.succeeds("hierarchy build t.csv zip --kind mask:left")
        .prints(&["90210;*0210;**210;***10;****0;*\n"]);
}

#[test]
fn intervals_widen_by_their_factor() {
    let test = setup();
    let two = "3;[0, 4];[0, 9];*\n17;[15, 19];[10, 19];*\n19;[15, 19];[10, 19];*\n51;[50, 54];[50, 59];*\n";
    assert_eq!(test.succeeds("hierarchy build t.csv age --kind intervals:5,2").stdout, two);
    let done = test.succeeds("hierarchy build t.csv age --kind intervals:10,2,3,1");
    done.prints(&["3;[1, 10];[1, 30];*\n", "51;[51, 60];[31, 60];*\n"]);
}

#[test]
fn regular_intervals_are_made_from_the_range() {
    let test = setup();
    let built = "3;3;[3, 4];[3, 6];*\n17;17;[17, 18];[15, 18];*\n19;19;[19, 20];[19, 20];*\n51;[21, 51];[21, 51];[21, 51];*\n";
    let done = test.succeeds("hierarchy build t.csv age --kind mdr:3,20");
    assert_eq!(done.stdout, built);
    test.succeeds("hierarchy build t.csv age --kind mdr:none")
        .prints(&["3;[3, 4];[3, 6];[3, 10];*\n"]);
    let shown = test.succeeds("hierarchy show mdr:3,20 --table t.csv --column age");
    shown.prints(&["*   4 values, 4 levels", "├─ [3, 6]   (1)", "└─ [21, 51]   (1)"]);
    let born = test.succeeds("hierarchy show mdr --table t.csv --column born");
    born.prints(&["[1980-01-01, ", "2001-03-05"]);
    let json = test.succeeds("hierarchy show mdr:none --table t.csv --column age --json").json();
    assert_eq!(json["label"], "*");
    test.refuses("hierarchy show mdr --table t.csv --column country")
        .exits(2)
        .reports(&["neither a number nor a date"]);
    test.refuses("hierarchy build t.csv age --kind mdr:a,b").exits(2).reports(&["mdr[:LOW,HIGH]"]);
    test.refuses("hierarchy build t.csv age --kind mdr:60,70")
        .exits(2)
        .reports(&["no value between the bounds"]);
}

#[test]
fn dates_become_months_quarters_years_and_decades() {
    let done = setup().succeeds("hierarchy build t.csv born --kind dates");
    done.prints(&[
        "1999-12-31;1999-12;1999-Q4;1999;1990s;*\n",
        "1980-01-01;1980-01;1980-Q1;1980;1980s;*\n",
    ]);
}

#[test]
fn a_tree_becomes_a_line_per_value() {
    let built = setup().succeeds("hierarchy build t.csv country --kind tree.toml").stdout;
    for line in ["Peru;America;", "Chile;America;", "Japan;East;Asia;*"] {
        assert!(built.contains(line), "{line}\n{built}");
    }
    assert_eq!(built.lines().count(), 3);
}

#[test]
fn a_built_file_is_equivalent_to_its_recipe() {
    for (column, kind) in
        [("zip", "mask"), ("age", "intervals:5"), ("born", "dates"), ("country", "tree.toml")]
    {
        let test = setup();
        let done = test.succeeds(&format!("hierarchy build t.csv {column} --kind {kind} -o h.csv"));
        done.prints(&["wrote    h.csv"]);
        test.succeeds(&format!("hierarchy lint h.csv --table t.csv --column {column}"))
            .prints(&["0 errors, 0 warnings"]);
        let asked = format!("anonymize t.csv --quasi {column} -k 2 --order sorted");
        test.succeeds(&format!("{asked} --hierarchy {column}=h.csv -o file.csv"));
        test.succeeds(&format!("{asked} --hierarchy {column}={kind} -o kind.csv"));
        assert_eq!(test.records("file.csv"), test.records("kind.csv"), "{column}");
        let (file, kind) = (test.json("file.release.json"), test.json("kind.release.json"));
        assert_eq!(file["groups"], kind["groups"]);
    }
}

#[test]
fn a_directory_of_hierarchies_is_read_by_the_names_of_its_files() {
    let test = setup();
    test.succeeds("hierarchy build t.csv zip --kind mask -o zip.csv");
    test.write("h/zip.csv", test.bytes("zip.csv"));
    test.write("h/t_hierarchy_country.toml", TREE);
    test.succeeds("anonymize t.csv --quasi zip,country -k 2 --hierarchies h -o r.csv");
    let columns = &test.json("r.release.json")["job"]["columns"];
    assert_eq!(columns["zip"]["hierarchy"], "file");
    assert_eq!(columns["country"]["hierarchy"], "tree");
}

#[test]
fn building_reports_values_that_do_not_fit_and_shows_no_cell() {
    let test = setup();
    test.write("t.csv", format!("{TABLE}S3CR3T,S3CR3T,S3CR3T,S3CR3T\n"));
    for (column, kind, expected) in [
        ("country", "tree.toml", "column `country` has 1"),
        ("age", "intervals:5", "column `age` holds a value that is not a number"),
        ("born", "dates", "column `born` holds a value that is not a date"),
        ("contry", "tree.toml", "does the file have a header?"),
        ("zip", "maks", "hierarchy `maks` cannot be read"),
        ("age", "intervals:-1", "above 0"),
    ] {
        test.refuses(&format!("hierarchy build t.csv {column} --kind {kind} -o h.csv"))
            .exits(2)
            .reports(&[expected]);
    }
}

#[test]
fn lint_finds_ages_in_the_wrong_interval() {
    let test = setup();
    // The widely used age hierarchy puts 20, 25, 30, … one interval too low.
    test.write("age.csv", "19;15-19;10-19;*\n20;15-19;10-19;*\n21;20-24;20-29;*\n");
    let done = test.succeeds("hierarchy lint age.csv");
    done.prints(&[
        "warning: age.csv, line 2: label `15-19` does not contain its value `20`",
        "0 errors, 1 warning",
    ]);
    let found = test.succeeds("hierarchy lint age.csv --json").json();
    assert_eq!((&found["findings"][0]["line"], &found["errors"]), (&2.into(), &0.into()));
    test.write("p.csv", "age\n19\n20\n");
    let done = test.succeeds("anonymize p.csv --quasi age --hierarchy age=age.csv -k 1 -o r.csv");
    done.reports(&[
        "note: hierarchy of `age`, line 2: label `15-19` does not contain its value `20`",
    ]);
}

#[test]
fn lint_fails_for_files_that_are_not_hierarchies() {
    let test = setup();
    for (text, expected) in [
        ("a;A;X;*\nb;A;Y;*\n", "line 2: level 1 is not functional"),
        ("a;A;*\na;B;*\n", "line 2: duplicate leaf `a`"),
        ("a;A;*\nb;B;all\n", "line 2: no single root"),
        ("a\n", "line 1: only one level"),
        ("", "the file has no lines"),
    ] {
        test.write("h.csv", text);
        test.run("hierarchy lint h.csv").exits(1).prints(&["error: h.csv", expected, "1 error, "]);
        assert!(test.run("hierarchy lint h.csv --json").exits(1).json()["errors"] == 1);
    }
    test.refuses("hierarchy lint none.csv")
        .exits(2)
        .reports(&["hierarchy `none.csv` cannot be read"]);
}

#[test]
fn lint_counts_values_missing_from_the_hierarchy() {
    let test = setup();
    test.write("h.csv", "Peru;*\nChile;*\n");
    let done = test.run("hierarchy lint h.csv --table t.csv --column country").exits(1);
    done.prints(&["1 of the 3 values of column `country` are missing from the file"]);
    test.refuses("hierarchy lint h.csv --table t.csv").exits(2).reports(&["--column"]);
    test.refuses("hierarchy lint h.csv --table t.csv --column contry")
        .exits(2)
        .reports(&["`country`"]);
}

#[test]
fn show_draws_the_tree() {
    let test = setup();
    let done = test
        .succeeds("hierarchy show tree.toml")
        .prints(&["3 values", "├─ America   (2)\n│  ├─ Peru\n"]);
    assert!(done.stdout.contains("└─ Asia   (1)\n   └─ East"), "{done}");
    let done = test.succeeds("hierarchy show tree.toml --depth 1");
    assert!(!done.stdout.contains("Peru"), "{done}");
    test.succeeds("hierarchy show tree.toml --most 1").prints(&["└─ … 1 more"]);
    let tree = test.succeeds("hierarchy show tree.toml --json").json();
    assert_eq!(tree["label"], "*");
    assert_eq!(tree["children"][0]["children"][1], "Chile");
    test.refuses("hierarchy show none.csv")
        .exits(2)
        .reports(&["hierarchy `none.csv` cannot be read"]);
}

/// The values of a hierarchy whose branches have different lengths. Every published label must be
/// on the path of the value, at least `min_level` steps above it.
#[test]
fn cells_of_an_uneven_hierarchy_cover_their_values() {
    let paths = ["a1;A;I;*", "a2;A;I;*", "b;I;*", "c1;D;C;J;*", "c2;D;C;J;*", "e;C;J;*", "f;*"];
    let test = TestDir::new();
    test.write("h.csv", paths.join("\n") + "\n");
    let values: Vec<&str> = paths.iter().map(|path| path.split(';').next().unwrap()).collect();
    // The number names the record in the release.
    let records = (0..42).map(|n| format!("{},{n}\n", values[n % values.len()]));
    test.write("t.csv", format!("x,n\n{}", records.collect::<String>()));
    let mut published = 0;
    for algorithm in ["full-domain", "mondrian", "auto", "ascent", "top-down", "local-recoding"] {
        for (level, cells) in [(1, "generalize"), (2, "generalize"), (1, "suppress")] {
            if cells == "suppress" && algorithm != "auto" {
                continue;
            }
            let args = format!(
                "anonymize t.csv --quasi x --hierarchy x=h.csv --min-level x={level} --passthrough n \
                 --unlinkable n -k 3 --algorithm {algorithm} --cells {cells} -o out.csv"
            );
            test.succeeds(&args);
            test.succeeds("verify out.csv --original t.csv");
            for record in test.records("out.csv") {
                let (cell, n) = record.split_once(',').unwrap();
                let path = paths[n.parse::<usize>().unwrap() % paths.len()];
                let step = path.split(';').position(|label| label == cell);
                let holds = cell == "*" || step.is_some_and(|step| step >= level);
                assert!(holds, "{algorithm} {level} {cells}: {cell} for {path}");
                published += usize::from(cell != "*");
            }
        }
    }
    assert!(published > 100, "{published} cells are not `*`");
}
