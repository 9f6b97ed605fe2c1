//! Files that are not what they are taken for: a table where a job belongs, a record where a header belongs, numbers that no
//! interval can hold. Nothing hangs, and no message shows a cell.

use crate::room::{Room, SECRET};

/// A table whose first line is a record.
fn headless() -> String {
    format!("{SECRET} one,{SECRET}town,31\n{SECRET} two,{SECRET}ville,32\n{SECRET} six,{SECRET}burg,33\n")
}

/// A room with an old release, the table `t.csv` and a table without a header.
fn room() -> Room {
    let room = Room::with_old_release();
    room.write("t.csv", format!("name,city,age\n{}", headless()));
    room.write("headless.csv", headless());
    room
}

#[test]
fn a_table_where_a_job_belongs_is_not_quoted() {
    let room = room();
    for (name, text) in [
        ("x.toml", headless()),
        ("y.toml", format!("{SECRET} = {SECRET}\n")),
        ("z.toml", format!("[{SECRET}],x\n{SECRET}=\"\n")),
    ] {
        room.write(name, text);
        room.refuses(&format!("anonymize {name}")).exits(2).says(&[name, "line 1"]);
        room.refuses(&format!("anonymize --job {name}")).exits(2).says(&[name]);
    }
    room.refuses("anonymize --job headless.csv").exits(2).says(&["is this a table?"]);
    room.refuses("verify t.csv --job t.csv").exits(2);
    room.refuses("verify t.csv --manifest t.csv").exits(2).says(&["not a manifest"]);
}

#[test]
fn a_job_that_does_not_parse_is_still_shown_where_it_has_a_key() {
    let room = room();
    room.write("job.toml", "[input]\npath = \"t.csv\n");
    room.refuses("anonymize job.toml").exits(2).says(&["path = \"t.csv", "job.toml:2"]);
}

#[test]
fn a_record_in_the_first_line_is_not_taken_for_names() {
    let room = room();
    let near = format!("{SECRET}towm").replace(SECRET, "S3CR3X");
    for typed in [
        format!("anonymize headless.csv --quasi {near} -k 2 -o out.csv"),
        format!("profile headless.csv --quasi {near}"),
        format!("init headless.csv --quasi {near}"),
        "anonymize headless.csv --quasi age -k 2 -o out.csv".to_owned(),
        "anonymize t.csv --quasi age -k 2 --population headless.csv --model k-map:k=2 -o out.csv".to_owned(),
        "compare headless.csv --quasi age -k 2".to_owned(),
    ] {
        room.refuses(&typed).exits(2).says(&["header"]);
    }
    room.refuses("anonymize t.csv --quasi age -k 2 --external headless.csv --id name -o out.csv").exits(2);
}

#[test]
fn names_above_numbers_are_suggested() {
    let room = room();
    room.refuses("anonymize t.csv --quasi agee -k 2 -o out.csv").exits(2).says(&["did you mean `age`?"]);
}

#[test]
fn a_header_that_is_none_shows_nothing() {
    let room = room();
    room.write("open.csv", format!("name,\"city,age\n{}", headless()));
    room.refuses("anonymize open.csv --quasi age -k 2 -o out.csv").exits(2).says(&["never closed"]);
    room.write("twice.csv", format!("{SECRET},{SECRET}\na,b\n"));
    room.refuses("anonymize twice.csv --quasi age -k 2 -o out.csv").exits(2).says(&["columns 1 and 2"]);
}

#[test]
fn a_table_where_a_hierarchy_belongs_is_not_quoted() {
    let room = room();
    for name in ["t.csv", "headless.csv"] {
        room.refuses(&format!("anonymize t.csv --quasi city -k 2 --hierarchy city={name} -o out.csv"))
            .exits(2)
            .says(&["hierarchy", "line"]);
    }
}

#[test]
fn intervals_too_narrow_for_their_numbers_are_refused() {
    let room = room();
    for (ages, width) in [("1\n2\n3\n1e20", "5"), ("39\n40\n41\n42", "1e-17"), ("1\n2\n3\n1e308", "100")] {
        let records: String = ages.lines().map(|age| format!("{age},x\n")).collect();
        room.write("n.csv", format!("age,d\n{records}"));
        for asked in [
            format!("--quasi age --sensitive d --hierarchy age=intervals:{width}"),
            format!("--quasi d --sensitive age --hierarchy age=intervals:{width}"),
        ] {
            let done = room.run(&format!("anonymize n.csv {asked} -k 2 -o n.out.csv"));
            assert!([0, 2].contains(&done.code), "{done}");
        }
    }
}

#[test]
fn a_range_greater_than_any_number_is_measured() {
    let room = room();
    room.write("n.csv", "age,d\n-1.7e308,a\n1.7e308,b\n3,a\n4,b\n");
    room.does("anonymize n.csv --quasi age --sensitive d -k 4 -o n.out.csv");
    assert_eq!(room.json("n.out.release.json")["metrics"]["ncp"], 1.0);
}

#[test]
fn a_promise_along_a_hierarchy_asks_for_it() {
    let room = room();
    room.write("n.csv", "age,d\n1,low\n2,mid\n3,high\n4,low\n5,mid\n6,high\n");
    room.write("d.csv", "low;a;*\nmid;a;*\nhigh;b;*\n");
    for distance in ["ordered", "hierarchical"] {
        let model = format!("--model t-closeness:t=0.9,distance={distance}");
        room.does(&format!(
            "anonymize n.csv --quasi age --sensitive d -k 2 {model} --hierarchy d=d.csv -o n.out.csv"
        ));
        room.refuses("verify n.out.csv").exits(2).says(&["along a hierarchy (file)", "--hierarchy"]);
        room.does("verify n.out.csv --hierarchy d=d.csv");
    }
}

#[test]
fn a_message_is_short_whatever_was_written() {
    let room = room();
    room.write(
        "job.toml",
        format!("[input]\npath = \"{}\"\n[columns]\nage = \"quasi\"\n", "a".repeat(100_000)),
    );
    room.write("deep.toml", format!("[columns]\nage = {}1{}\n", "{ a = ".repeat(5000), " }".repeat(5000)));
    room.write("dots.toml", format!("[columns]\nage{} = 1\n", ".a".repeat(60)));
    for name in ["job.toml", "deep.toml", "dots.toml"] {
        let done = room.refuses(&format!("anonymize {name}")).exits(2);
        assert!(done.stderr.len() < 10_000, "{} bytes", done.stderr.len());
    }
}
