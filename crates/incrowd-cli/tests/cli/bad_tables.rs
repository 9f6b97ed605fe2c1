//! Tables that cannot be read or do not fit: the message says what and where, and never shows a cell.

use std::io::Write;

use crate::room::Room;

const ASKED: &str = "--quasi age,zip -k 2 -o out.csv";

/// A room with an old release, and this table.
fn room_with(name: &str, table: impl AsRef<[u8]>) -> Room {
    let room = Room::with_old_release();
    room.write(name, table);
    room
}

/// Refuses the table `t.csv`.
fn refuses(table: impl AsRef<[u8]>, says: &[&str]) {
    let room = room_with("t.csv", table);
    room.refuses(&format!("anonymize t.csv {ASKED}")).exits(2).says(says);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let room = Room::with_old_release();
    room.refuses(&format!("anonymize nobody.csv {ASKED}")).exits(2).says(&["there is no file `nobody.csv`"]);
}

#[test]
fn a_directory_without_a_table_is_refused() {
    let room = room_with("parts/notes.md", "age,zip\n1,2\n");
    let says = &["the directory `parts` holds no table", "incrowd reads"];
    room.refuses(&format!("anonymize parts {ASKED}")).exits(2).says(says);
}

#[test]
fn a_pattern_that_matches_nothing_is_named() {
    let room = Room::with_old_release();
    room.refuses(&format!("anonymize part-*.csv {ASKED}")).exits(2).says(&["no file matches `part-*.csv`"]);
}

#[test]
fn a_truncated_gzip_file_is_not_half_a_table() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"age,zip\n").unwrap();
    for i in 0..5000_u32 {
        writeln!(gzip, "{},S3CR3T{}", i % 90, i.wrapping_mul(2_654_435_761)).unwrap();
    }
    let whole = gzip.finish().unwrap();
    for kept in [20, whole.len() / 2, whole.len() - 1] {
        let room = room_with("t.csv.gz", &whole[..kept]);
        let says = &["`t.csv.gz` is truncated"];
        room.refuses(&format!("anonymize t.csv.gz {ASKED}")).exits(2).says(says);
    }
}

#[test]
fn a_ragged_record_is_named_by_its_number() {
    refuses("age,zip\n1,2\n3,4\n5,S3CR3T,6\n", &["record 3 has 3 fields, the header has 2"]);
    refuses("age,zip\n1,2\n3\n5,S3CR3T\n", &["record 2 has 1 field, the header has 2"]);
}

#[test]
fn a_ragged_record_of_the_second_file_is_named_with_its_file() {
    let room = room_with("a.csv", "age,zip\n1,2\n3,4\n");
    room.write("b.csv", "age,zip\n1,2\n3,S3CR3T,4\n");
    let says = &["record 2 of `b.csv` has 3 fields"];
    room.refuses(&format!("anonymize a.csv b.csv {ASKED}")).exits(2).says(says);
}

#[test]
fn files_with_other_columns_are_not_one_table() {
    let room = room_with("b.csv", "age,zipp\n1,2\n");
    room.write("a.csv", "age,zip\n1,2\n");
    let says = &["`b.csv` does not have the same columns as `a.csv`"];
    room.refuses(&format!("anonymize a.csv b.csv {ASKED}")).exits(2).says(says);
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let says = &["`t.csv` has two columns of one name (columns 1 and 3)", "rename"];
    refuses("age,zip,age\n1,2,S3CR3T\n1,2,S3CR3T\n", says);
}

#[test]
fn an_unknown_column_comes_with_the_near_miss() {
    let room = Room::with_old_release();
    let says = &["no column `agee`", "did you mean `age`?"];
    room.refuses("anonymize people.csv --quasi agee,zip -k 2 -o out.csv").exits(2).says(says);
    let says = &["no column `colour`", "known are: name, age, zip, disease"];
    room.refuses("anonymize people.csv --quasi colour,zip -k 2 -o out.csv").exits(2).says(says);
}

#[test]
fn a_value_missing_from_its_hierarchy_is_named_by_its_record() {
    let room = room_with("t.csv", "age,zip\n1,A\n2,B\n3,A\n4,S3CR3T\n5,S3CR3T\n");
    room.write("zip.csv", "A;*\nB;*\n");
    room.write("zip.toml", "letters = [\"A\", \"B\"]\n");
    for file in ["zip.csv", "zip.toml"] {
        let says = &["column `zip` has a value missing from its hierarchy", "first at record 4"];
        room.refuses(&format!("anonymize t.csv {ASKED} --hierarchy zip={file}")).exits(2).says(says);
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_named_by_its_record() {
    let room = room_with("t.csv", "age,zip\n1,A\n2,B\nS3CR3T,A\n");
    for (kind, says) in [("numeric", "not a number"), ("date", "not a date")] {
        // No age is a date, but one of them is no number.
        let at = if kind == "numeric" { "first at record 3" } else { "first at record 1" };
        let says = &["column `age`", says, at];
        room.refuses(&format!("anonymize t.csv {ASKED} --kind age={kind}")).exits(2).says(says);
    }
}

#[test]
fn values_outside_the_stated_domain_are_named_by_their_record() {
    let room = room_with("t.csv", "age,zip\n1,S3CR3T\n2,S3CR3T\n130,S3CR3T\n");
    let says = &["column `age` has values outside its stated domain", "first at record 3"];
    room.refuses(&format!("anonymize t.csv {ASKED} --domain age=0:120")).exits(2).says(says);
}

#[test]
fn text_that_is_not_utf_8_is_named_by_its_record() {
    refuses(b"age,zip\n1,\xc3\xa4\n3,S3CR3T\xff\n", &["record 2 is not valid UTF-8", "iconv"]);
}

#[test]
fn a_quotation_mark_that_is_never_closed_is_said() {
    refuses("age,zip\n1,2\n3,\"S3CR3T\n4,5\n", &["record 2 opens a quoted field that is never closed"]);
}

#[test]
fn a_file_that_is_no_text_is_refused() {
    refuses(b"age,zip\n1,\0S3CR3T\n", &["`t.csv` is not text"]);
}

#[test]
fn an_empty_file_is_no_table() {
    refuses("", &["`t.csv` is empty", "a header and at least one record"]);
    refuses("\n\n", &["`t.csv` is empty"]);
}

#[test]
fn a_header_alone_is_no_table() {
    refuses("age,zip\n", &["the table has no records"]);
}

#[test]
fn a_table_whose_records_all_lack_a_value_is_refused() {
    let says = &["all 3 records have a missing value", "on_missing = \"keep\""];
    refuses("age,zip,x\n?,1,S3CR3T\n2,NA,S3CR3T\n,3,S3CR3T\n", says);
}

#[test]
fn the_first_record_of_a_file_without_a_header_is_not_shown() {
    let room = room_with("t.csv", "S3CR3T,S3CR3T-34\nx,36\ny,51\n");
    room.write("zip.csv", "A;*\nB;*\n");
    for typed in [
        format!("anonymize t.csv {ASKED}"),
        "verify t.csv --quasi age,zip -k 2".to_owned(),
        "measure t.csv t.csv --quasi age,zip".to_owned(),
        "hierarchy build t.csv zip --kind mask".to_owned(),
        "hierarchy lint zip.csv --table t.csv --column zip".to_owned(),
    ] {
        room.refuses(&typed).exits(2).says(&["the table has no column", "does the file have a header?"]);
    }
}

#[test]
fn a_value_no_hierarchy_can_be_made_of_is_named_by_its_record() {
    let room = room_with("dates.csv", "age,zip\n1,2001-01-01\n2,2001-01-01\n3,S3CR3T\n4,S3CR3T\n");
    room.write("numbers.csv", "age,zip\n1,5\n2,?\n3,7\n4,5\n5,S3CR3T\n");
    for (table, hierarchy, what, at) in [
        ("dates.csv", "dates", "not a date", "first at record 3"),
        ("numbers.csv", "intervals:5", "not a number", "first at record 5"),
        ("numbers.csv", "dates", "not a date", "first at record 1"),
    ] {
        let typed = format!("anonymize {table} {ASKED} --hierarchy zip={hierarchy}");
        room.refuses(&typed).exits(2).says(&["column `zip`", what, at]);
    }
}
