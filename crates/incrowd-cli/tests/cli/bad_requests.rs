//! Requests that are invalid or that no release can satisfy.

use crate::test_dir::TestDir;

/// Refuses `anonymize people.csv` with these flags.
fn refuses(flags: &str, code: i32, expected: &[&str]) {
    let test = TestDir::with_old_release();
    test.refuses(&format!("anonymize people.csv -o out.csv {flags}")).exits(code).reports(expected);
}

#[test]
fn k_of_zero_is_refused() {
    refuses("--quasi age,zip -k 0", 2, &["`k` of `k-anonymity` cannot be `0`", "at least 1"]);
    refuses("--quasi age,zip --model k-anonymity:k=0", 2, &["`k` of `k-anonymity` cannot be `0`"]);
}

#[test]
fn k_that_is_not_a_whole_number_is_refused() {
    for k in ["2.5", "two", "-3"] {
        let expected = &["`k` of `k-anonymity` cannot be", k, "a whole number"];
        refuses(&format!("--quasi age,zip --model k-anonymity:k={k}"), 2, expected);
    }
    refuses("--quasi age,zip -k two", 2, &["two", "-k"]);
}

#[test]
fn k_larger_than_the_table_cannot_be_reached() {
    let expected = &[
        "k-anonymity(k=9) cannot be satisfied",
        "8 records",
        "9 is needed",
        "choose weaker parameters",
    ];
    refuses("--quasi age,zip -k 9", 1, expected);
}

#[test]
fn dropped_records_do_not_count_for_k() {
    let test = TestDir::with_old_release();
    test.write("t.csv", "age,zip\n1,2\n1,2\n?,S3CR3T\n");
    let expected = &["k-anonymity(k=3) cannot be satisfied", "all 2 records"];
    test.refuses("anonymize t.csv --quasi age,zip -k 3 -o out.csv").exits(1).reports(expected);
}

#[test]
fn a_release_without_a_model_is_refused() {
    refuses("--quasi age,zip", 2, &["has no privacy model", "(-k, --model)"]);
}

#[test]
fn a_release_without_quasi_identifiers_is_refused() {
    refuses("-k 2", 2, &["no column is a quasi-identifier", "--quasi"]);
    refuses("-k 2 --sensitive disease", 2, &["no column is a quasi-identifier"]);
}

#[test]
fn an_unknown_model_gives_a_suggestion() {
    let expected = &["there is no model `k-anonimity`", "did you mean `k-anonymity`?"];
    refuses("--quasi age,zip --model k-anonimity:k=2", 2, expected);
}

#[test]
fn an_unknown_parameter_of_a_model_gives_a_suggestion() {
    let expected = &["`k-anonymity` has no parameter `kk`", "did you mean `k`?"];
    refuses("--quasi age,zip --model k-anonymity:kk=2", 2, expected);
}

#[test]
fn a_missing_required_parameter_is_named() {
    refuses("--quasi age,zip --model k-anonymity", 2, &["`k-anonymity` needs `k`"]);
}

#[test]
fn an_unknown_algorithm_gives_a_suggestion() {
    let expected = &["there is no algorithm `mondrain`", "did you mean `mondrian`?"];
    refuses("--quasi age,zip -k 2 --algorithm mondrain", 2, expected);
}

#[test]
fn an_unknown_option_of_the_algorithm_gives_a_suggestion() {
    let expected = &["`mondrian` has no parameter `undersize`", "did you mean `undersized`?"];
    refuses("--quasi age,zip -k 2 --algorithm mondrian --set undersize=block", 2, expected);
    let expected =
        &["`auto` has no parameter `undersize`", "`undersized` is a parameter of `mondrian`"];
    refuses("--quasi age,zip -k 2 --set undersize=block", 2, expected);
    let expected =
        &["`undersized` of `mondrian` cannot be `blok`", "pool or block", "did you mean `block`?"];
    refuses("--quasi age,zip -k 2 --algorithm mondrian --set undersized=blok", 2, expected);
    let expected = &["`priority` names `ages`", "did you mean `age`?"];
    refuses(
        "--quasi age,zip -k 2 --algorithm mondrian --set dimension=priority --set priority=ages",
        2,
        expected,
    );
}

#[test]
fn an_invalid_hierarchy_is_refused() {
    let flags = |hierarchy: &str| format!("--quasi age,zip -k 2 --hierarchy {hierarchy}");
    refuses(&flags("zip=maks"), 2, &["hierarchy `maks` cannot be read", "no such file"]);
    refuses(&flags("zip"), 2, &["`zip` cannot be read", "--hierarchy COLUMN=HIERARCHY"]);
    refuses(
        &flags("zp=mask"),
        2,
        &["column `zp` has no role", "from: --hierarchy", "did you mean `zip`?"],
    );
    refuses(&flags("age=intervals:wide"), 2, &["`width` cannot be `wide`", "intervals:WIDTH"]);
    refuses(&flags("age=intervals:0"), 2, &["width", "above 0"]);
    refuses(
        &flags("age=intervals:5,1.5"),
        2,
        &["`levels` cannot be `1.5`: it takes a whole number"],
    );
}

#[test]
fn a_directory_without_hierarchies_is_refused() {
    let test = TestDir::with_old_release();
    test.write("hierarchies/sex.csv", "f;*\nm;*\n");
    let expected = &["`hierarchies` has no hierarchy for any quasi-identifier", "age.csv"];
    test.refuses("anonymize people.csv --quasi age,zip -k 2 -o out.csv --hierarchies hierarchies")
        .exits(2)
        .reports(expected);
    refuses(
        "--quasi age,zip -k 2 --hierarchies nowhere",
        2,
        &["the directory `nowhere` cannot be read"],
    );
}

#[test]
fn an_invalid_hierarchy_file_is_named_with_its_line() {
    let test = TestDir::with_old_release();
    test.write("zip.csv", "02139;A;X;*\n02140;A;Y;*\n");
    let expected =
        &["hierarchy `zip.csv`, line 2", "not functional", "incrowd hierarchy lint zip.csv"];
    test.refuses("anonymize people.csv --quasi age,zip -k 2 -o out.csv --hierarchy zip=zip.csv")
        .exits(2)
        .reports(expected);
}

#[test]
fn a_column_has_one_role() {
    let expected = &["column `age` is given two roles"];
    refuses("--quasi age,zip --sensitive age -k 2", 2, expected);
}

#[test]
fn unknown_choices_give_a_suggestion() {
    for (flag, expected, near) in [
        ("--kind age=numeral", "`kind` cannot be `numeral`", "numeric"),
        ("--labels zip=stars", "`labels` cannot be `stars`", "star"),
        ("--on-missing keeep", "`on_missing` cannot be `keeep`", "keep"),
        ("--default-role passthru", "`default_role` cannot be `passthru`", "passthrough"),
        ("--order sortd", "`order` cannot be `sortd`", "sorted"),
    ] {
        let from = format!("from: {}", flag.split(' ').next().unwrap());
        refuses(&format!("--quasi age,zip -k 2 {flag}"), 2, &[expected, near, &from]);
    }
}

#[test]
fn invalid_numbers_and_characters_are_refused() {
    refuses(
        "--quasi age,zip -k 2 --domain age=9:1",
        2,
        &["`domain` must be two numbers, the lower one first", "from: --domain"],
    );
    refuses(
        "--quasi age,zip -k 2 --suppression-limit 2",
        2,
        &["a share of the records, from 0 to 1"],
    );
    refuses(
        "--quasi age,zip -k 2 --delimiter ab",
        2,
        &["`delimiter` cannot be `ab`", "a single character"],
    );
    refuses("--quasi age,zip -k 2 --format xls", 2, &["`format` cannot be `xls`", "parquet"]);
}

#[test]
fn an_unknown_flag_or_command_gives_a_suggestion() {
    let test = TestDir::with_old_release();
    test.refuses("anonymize people.csv --quasy age").exits(2).reports(&["'--quasy'", "'--quasi'"]);
    test.refuses("anonymise people.csv").exits(2).reports(&["'anonymise'", "'anonymize'"]);
}

#[test]
fn a_missing_input_is_an_error() {
    let test = TestDir::with_old_release();
    let expected = &["no input is given", "incrowd anonymize table.csv"];
    test.refuses("anonymize --quasi age,zip -k 2 -o out.csv").exits(2).reports(expected);
}

#[test]
fn a_domain_without_published_ranges_is_refused() {
    let expected =
        |column| [format!("column `{column}` has a `domain`"), "no hierarchy".to_owned()];
    for (column, flags) in [
        ("disease", "--quasi age,disease --domain disease=0:120"),
        ("age", "--quasi age,zip --kind age=text --domain age=0:120"),
        ("age", "--quasi age,zip --hierarchy age=intervals:5 --domain age=0:120"),
    ] {
        let expected = expected(column);
        refuses(&format!("{flags} -k 2"), 2, &[&expected[0], &expected[1]]);
    }
}
