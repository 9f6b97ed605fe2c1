//! Tables that cannot be read or do not fit: the message says what and where, and never shows a
//! cell.

use std::io::Write;

use crate::test_dir::TestDir;

const ASKED: &str = "--quasi age,zip -k 2 -o out.csv";

/// A directory with an old release and this table.
fn setup_with(name: &str, table: impl AsRef<[u8]>) -> TestDir {
    let test = TestDir::with_old_release();
    test.write(name, table);
    test
}

/// Refuses the table `t.csv`.
fn refuses(table: impl AsRef<[u8]>, expected: &[&str]) {
    let test = setup_with("t.csv", table);
    test.refuses(&format!("anonymize t.csv {ASKED}")).exits(2).reports(expected);
}

#[test]
fn a_missing_file_is_named() {
    let test = TestDir::with_old_release();
    test.refuses(&format!("anonymize nobody.csv {ASKED}"))
        .exits(2)
        .reports(&["there is no file `nobody.csv`"]);
}

#[test]
fn a_directory_without_a_table_is_refused() {
    let test = setup_with("parts/notes.md", "age,zip\n1,2\n");
    let expected = &["the directory `parts` holds no table", "incrowd reads"];
    test.refuses(&format!("anonymize parts {ASKED}")).exits(2).reports(expected);
}

#[test]
fn a_pattern_without_matches_is_named() {
    let test = TestDir::with_old_release();
    test.refuses(&format!("anonymize part-*.csv {ASKED}"))
        .exits(2)
        .reports(&["no file matches `part-*.csv`"]);
}

#[test]
fn a_truncated_gzip_file_is_refused() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"age,zip\n").unwrap();
    for i in 0..5000_u32 {
        writeln!(gzip, "{},S3CR3T{}", i % 90, i.wrapping_mul(2_654_435_761)).unwrap();
    }
    let whole = gzip.finish().unwrap();
    for kept in [20, whole.len() / 2, whole.len() - 1] {
        let test = setup_with("t.csv.gz", &whole[..kept]);
        let expected = &["`t.csv.gz` is truncated"];
        test.refuses(&format!("anonymize t.csv.gz {ASKED}")).exits(2).reports(expected);
    }
}

#[test]
fn a_ragged_record_is_named_by_its_number() {
    refuses("age,zip\n1,2\n3,4\n5,S3CR3T,6\n", &["record 3 has 3 fields, the header has 2"]);
    refuses("age,zip\n1,2\n3\n5,S3CR3T\n", &["record 2 has 1 field, the header has 2"]);
}

#[test]
fn a_ragged_record_of_the_second_file_is_named_with_its_file() {
    let test = setup_with("a.csv", "age,zip\n1,2\n3,4\n");
    test.write("b.csv", "age,zip\n1,2\n3,S3CR3T,4\n");
    let expected = &["record 2 of `b.csv` has 3 fields"];
    test.refuses(&format!("anonymize a.csv b.csv {ASKED}")).exits(2).reports(expected);
}

#[test]
fn files_with_different_columns_are_not_one_table() {
    let test = setup_with("b.csv", "age,zipp\n1,2\n");
    test.write("a.csv", "age,zip\n1,2\n");
    let expected = &["`b.csv` does not have the same columns as `a.csv`"];
    test.refuses(&format!("anonymize a.csv b.csv {ASKED}")).exits(2).reports(expected);
}

#[test]
fn two_columns_with_one_name_are_refused() {
    let expected = &["`t.csv` has two columns of one name (columns 1 and 3)", "rename"];
    refuses("age,zip,age\n1,2,S3CR3T\n1,2,S3CR3T\n", expected);
}

#[test]
fn an_unknown_column_gives_a_suggestion() {
    let test = TestDir::with_old_release();
    let expected = &["no column `agee`", "did you mean `age`?"];
    test.refuses("anonymize people.csv --quasi agee,zip -k 2 -o out.csv")
        .exits(2)
        .reports(expected);
    let expected = &["no column `colour`", "known names: name, age, zip, disease"];
    test.refuses("anonymize people.csv --quasi colour,zip -k 2 -o out.csv")
        .exits(2)
        .reports(expected);
}

#[test]
fn a_value_missing_from_its_hierarchy_is_named_by_its_record() {
    let test = setup_with("t.csv", "age,zip\n1,A\n2,B\n3,A\n4,S3CR3T\n5,S3CR3T\n");
    test.write("zip.csv", "A;*\nB;*\n");
    test.write("zip.toml", "letters = [\"A\", \"B\"]\n");
    for file in ["zip.csv", "zip.toml"] {
        let expected =
            &["column `zip` has a value missing from its hierarchy", "first at record 4"];
        test.refuses(&format!("anonymize t.csv {ASKED} --hierarchy zip={file}"))
            .exits(2)
            .reports(expected);
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_named_by_its_record() {
    let test = setup_with("t.csv", "age,zip\n1,A\n2,B\nS3CR3T,A\n");
    for (kind, expected) in [("numeric", "not a number"), ("date", "not a date")] {
        // No age is a date, and one is not a number.
        let at = if kind == "numeric" { "first at record 3" } else { "first at record 1" };
        let expected = &["column `age`", expected, at];
        test.refuses(&format!("anonymize t.csv {ASKED} --kind age={kind}"))
            .exits(2)
            .reports(expected);
    }
}

#[test]
fn values_outside_the_stated_domain_are_named_by_their_record() {
    let test = setup_with("t.csv", "age,zip\n1,S3CR3T\n2,S3CR3T\n130,S3CR3T\n");
    let expected = &["column `age` has values outside its `domain`", "first at record 3"];
    test.refuses(&format!("anonymize t.csv {ASKED} --domain age=0:120")).exits(2).reports(expected);
}

#[test]
fn text_that_is_not_utf_8_is_named_by_its_record() {
    refuses(b"age,zip\n1,\xc3\xa4\n3,S3CR3T\xff\n", &["record 2 is not valid UTF-8", "iconv"]);
}

#[test]
fn an_unclosed_quotation_mark_is_an_error() {
    refuses(
        "age,zip\n1,2\n3,\"S3CR3T\n4,5\n",
        &["record 2 opens a quoted field that is never closed"],
    );
}

#[test]
fn a_binary_file_is_refused() {
    refuses(b"age,zip\n1,\0S3CR3T\n", &["`t.csv` is not text"]);
}

#[test]
fn an_empty_file_is_not_a_table() {
    refuses("", &["`t.csv` is empty", "a header and at least one record"]);
    refuses("\n\n", &["`t.csv` is empty"]);
}

#[test]
fn a_header_without_records_is_not_a_table() {
    refuses("age,zip\n", &["the table has no records"]);
}

#[test]
fn a_table_whose_records_all_lack_a_value_is_refused() {
    let expected = &["all 3 records have a missing value", "on_missing = \"keep\""];
    refuses("age,zip,x\n?,1,S3CR3T\n2,NA,S3CR3T\n,3,S3CR3T\n", expected);
}

#[test]
fn the_first_record_of_a_file_without_a_header_is_not_shown() {
    let test = setup_with("t.csv", "S3CR3T,S3CR3T-34\nx,36\ny,51\n");
    test.write("zip.csv", "A;*\nB;*\n");
    for args in [
        format!("anonymize t.csv {ASKED}"),
        "verify t.csv --quasi age,zip -k 2".to_owned(),
        "measure t.csv t.csv --quasi age,zip".to_owned(),
        "hierarchy build t.csv zip --kind mask".to_owned(),
        "hierarchy lint zip.csv --table t.csv --column zip".to_owned(),
    ] {
        test.refuses(&args)
            .exits(2)
            .reports(&["the table has no column", "does the file have a header?"]);
    }
}

#[test]
fn a_value_that_does_not_fit_a_built_hierarchy_is_named_by_its_record() {
    let test = setup_with("dates.csv", "age,zip\n1,2001-01-01\n2,2001-01-01\n3,S3CR3T\n4,S3CR3T\n");
    test.write("numbers.csv", "age,zip\n1,5\n2,?\n3,7\n4,5\n5,S3CR3T\n");
    for (table, hierarchy, what, at) in [
        ("dates.csv", "dates", "not a date", "first at record 3"),
        ("numbers.csv", "intervals:5", "not a number", "first at record 5"),
        ("numbers.csv", "dates", "not a date", "first at record 1"),
    ] {
        let args = format!("anonymize {table} {ASKED} --hierarchy zip={hierarchy}");
        test.refuses(&args).exits(2).reports(&["column `zip`", what, at]);
    }
}
