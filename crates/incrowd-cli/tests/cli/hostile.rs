//! Files of the wrong kind: a table in place of a job, a record in place of a header, numbers that
//! no interval can hold. Nothing hangs, and no message shows a cell.

use crate::test_dir::{SECRET, TestDir};

/// A table whose first line is a record.
fn headless() -> String {
    format!(
        "{SECRET} one,{SECRET}town,31\n{SECRET} two,{SECRET}ville,32\n{SECRET} six,{SECRET}burg,33\n"
    )
}

/// A directory with an old release, the table `t.csv` and a table without a header.
fn setup() -> TestDir {
    let test = TestDir::with_old_release();
    test.write("t.csv", format!("name,city,age\n{}", headless()));
    test.write("headless.csv", headless());
    test
}

#[test]
fn a_table_given_as_a_job_is_not_quoted() {
    let test = setup();
    for (name, text) in [
        ("x.toml", headless()),
        ("y.toml", format!("{SECRET} = {SECRET}\n")),
        ("z.toml", format!("[{SECRET}],x\n{SECRET}=\"\n")),
    ] {
        test.write(name, text);
        test.refuses(&format!("anonymize {name}")).exits(2).reports(&[name, "line 1"]);
        test.refuses(&format!("anonymize --job {name}")).exits(2).reports(&[name]);
    }
    test.refuses("anonymize --job headless.csv").exits(2).reports(&["is this a table?"]);
    test.refuses("verify t.csv --job t.csv").exits(2);
    test.refuses("verify t.csv --manifest t.csv").exits(2).reports(&["not a manifest"]);
}

#[test]
fn invalid_toml_is_quoted_at_lines_with_a_key() {
    let test = setup();
    test.write("job.toml", "[input]\npath = \"t.csv\n");
    test.refuses("anonymize job.toml").exits(2).reports(&["path = \"t.csv", "job.toml:2"]);
}

#[test]
fn a_record_in_the_first_line_is_not_shown_as_names() {
    let test = setup();
    let near = format!("{SECRET}towm").replace(SECRET, "S3CR3X");
    for args in [
        format!("anonymize headless.csv --quasi {near} -k 2 -o out.csv"),
        format!("profile headless.csv --quasi {near}"),
        format!("init headless.csv --quasi {near}"),
        "anonymize headless.csv --quasi age -k 2 -o out.csv".to_owned(),
        "anonymize t.csv --quasi age -k 2 --population headless.csv --model k-map:k=2 -o out.csv"
            .to_owned(),
        "compare headless.csv --quasi age -k 2".to_owned(),
    ] {
        test.refuses(&args).exits(2).reports(&["header"]);
    }
    test.refuses("anonymize t.csv --quasi age -k 2 --external headless.csv --id name -o out.csv")
        .exits(2);
}

#[test]
fn names_above_numbers_are_suggested() {
    let test = setup();
    test.refuses("anonymize t.csv --quasi agee -k 2 -o out.csv")
        .exits(2)
        .reports(&["did you mean `age`?"]);
}

#[test]
fn an_invalid_header_is_not_shown() {
    let test = setup();
    test.write("open.csv", format!("name,\"city,age\n{}", headless()));
    test.refuses("anonymize open.csv --quasi age -k 2 -o out.csv")
        .exits(2)
        .reports(&["never closed"]);
    test.write("twice.csv", format!("{SECRET},{SECRET}\na,b\n"));
    test.refuses("anonymize twice.csv --quasi age -k 2 -o out.csv")
        .exits(2)
        .reports(&["columns 1 and 2"]);
}

#[test]
fn a_long_column_name_is_refused_and_not_shown() {
    let test = setup();
    let long = SECRET.repeat(4096 / SECRET.len() + 1);
    test.write("names.csv", format!("age,{long}\n31,1\n32,2\n"));
    for args in ["profile names.csv", "anonymize names.csv --quasi age -k 2 -o out.csv"] {
        test.refuses(args).exits(2).reports(&["more than 4096 bytes (column 2)", "header"]);
    }
}

#[test]
fn a_name_below_the_limit_does_not_widen_the_profile_for_all() {
    let test = setup();
    test.write("names.csv", format!("age,{}\n31,a\n32,b\n", "x".repeat(4096)));
    let done = test.succeeds("profile names.csv");
    let roles = done.stdout.split("proposed roles").nth(1).unwrap();
    let of_age = roles.lines().find(|line| line.starts_with(" age ")).unwrap();
    assert!(of_age.len() < 200, "{of_age}");
}

#[test]
fn a_table_given_as_a_hierarchy_is_not_quoted() {
    let test = setup();
    for name in ["t.csv", "headless.csv"] {
        test.refuses(&format!(
            "anonymize t.csv --quasi city -k 2 --hierarchy city={name} -o out.csv"
        ))
        .exits(2)
        .reports(&["hierarchy", "line"]);
    }
}

#[test]
fn intervals_too_narrow_for_their_numbers_are_refused() {
    let test = setup();
    for (ages, width) in
        [("1\n2\n3\n1e20", "5"), ("39\n40\n41\n42", "1e-17"), ("1\n2\n3\n1e308", "100")]
    {
        let records: String = ages.lines().map(|age| format!("{age},x\n")).collect();
        test.write("n.csv", format!("age,d\n{records}"));
        for asked in [
            format!("--quasi age --sensitive d --hierarchy age=intervals:{width}"),
            format!("--quasi d --sensitive age --hierarchy age=intervals:{width}"),
        ] {
            let done = test.run(&format!("anonymize n.csv {asked} -k 2 -o n.out.csv"));
            assert!([0, 2].contains(&done.code), "{done}");
        }
    }
}

#[test]
fn a_range_beyond_the_largest_number_is_measured() {
    let test = setup();
    test.write("n.csv", "age,d\n-1.7e308,a\n1.7e308,b\n3,a\n4,b\n");
    test.succeeds("anonymize n.csv --quasi age --sensitive d -k 4 -o n.out.csv");
    assert_eq!(test.json("n.out.release.json")["metrics"]["ncp"], 1.0);
}

#[test]
fn a_model_that_needs_a_hierarchy_asks_for_it() {
    let test = setup();
    test.write("n.csv", "age,d\n1,low\n2,mid\n3,high\n4,low\n5,mid\n6,high\n");
    test.write("d.csv", "low;a;*\nmid;a;*\nhigh;b;*\n");
    for distance in ["ordered", "hierarchical"] {
        let model = format!("--model t-closeness:t=0.9,distance={distance}");
        test.succeeds(&format!(
            "anonymize n.csv --quasi age --sensitive d -k 2 {model} --hierarchy d=d.csv -o n.out.csv"
        ));
        test.refuses("verify n.out.csv")
            .exits(2)
            .reports(&["needs its hierarchy (file)", "--hierarchy"]);
        test.succeeds("verify n.out.csv --hierarchy d=d.csv");
    }
}

#[test]
fn a_message_is_short_for_long_parameters() {
    let test = setup();
    test.write(
        "job.toml",
        format!("[input]\npath = \"{}\"\n[columns]\nage = \"quasi\"\n", "a".repeat(100_000)),
    );
    test.write(
        "deep.toml",
        format!("[columns]\nage = {}1{}\n", "{ a = ".repeat(5000), " }".repeat(5000)),
    );
    test.write("dots.toml", format!("[columns]\nage{} = 1\n", ".a".repeat(60)));
    for name in ["job.toml", "deep.toml", "dots.toml"] {
        let done = test.refuses(&format!("anonymize {name}")).exits(2);
        assert!(done.stderr.len() < 10_000, "{} bytes", done.stderr.len());
    }
}
