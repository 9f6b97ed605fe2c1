//! Requests that have no meaning, or that no release can keep.

use crate::room::Room;

/// Refuses `anonymize people.csv` with these flags.
fn refuses(flags: &str, code: i32, says: &[&str]) {
    let room = Room::with_old_release();
    room.refuses(&format!("anonymize people.csv -o out.csv {flags}")).exits(code).says(says);
}

#[test]
fn k_of_zero_is_refused() {
    refuses("--quasi age,zip -k 0", 2, &["`k` of `k-anonymity` cannot be `0`", "at least 1"]);
    refuses("--quasi age,zip --model k-anonymity:k=0", 2, &["`k` of `k-anonymity` cannot be `0`"]);
}

#[test]
fn k_that_is_no_whole_number_is_refused() {
    for k in ["2.5", "two", "-3"] {
        let says = &["`k` of `k-anonymity` cannot be", k, "a whole number"];
        refuses(&format!("--quasi age,zip --model k-anonymity:k={k}"), 2, says);
    }
    refuses("--quasi age,zip -k two", 2, &["two", "-k"]);
}

#[test]
fn more_than_the_table_has_cannot_be_kept() {
    let says = &["k-anonymity(k=9) cannot be kept", "8 records", "9 is needed", "ask for less"];
    refuses("--quasi age,zip -k 9", 1, says);
}

#[test]
fn records_left_out_do_not_count_for_k() {
    let room = Room::with_old_release();
    room.write("t.csv", "age,zip\n1,2\n1,2\n?,S3CR3T\n");
    let says = &["k-anonymity(k=3) cannot be kept", "all 2 records"];
    room.refuses("anonymize t.csv --quasi age,zip -k 3 -o out.csv").exits(1).says(says);
}

#[test]
fn a_release_without_a_promise_is_refused() {
    refuses("--quasi age,zip", 2, &["promises nothing", "(-k, --model)"]);
}

#[test]
fn a_release_without_quasi_identifiers_is_refused() {
    refuses("-k 2", 2, &["no column is a quasi-identifier", "--quasi"]);
    refuses("-k 2 --sensitive disease", 2, &["no column is a quasi-identifier"]);
}

#[test]
fn an_unknown_model_comes_with_the_near_miss() {
    let says = &["there is no model `k-anonimity`", "did you mean `k-anonymity`?"];
    refuses("--quasi age,zip --model k-anonimity:k=2", 2, says);
}

#[test]
fn an_unknown_parameter_of_a_model_comes_with_the_near_miss() {
    let says = &["`k-anonymity` has no parameter `kk`", "did you mean `k`?"];
    refuses("--quasi age,zip --model k-anonymity:kk=2", 2, says);
}

#[test]
fn a_parameter_that_must_be_given_is_asked_for() {
    refuses("--quasi age,zip --model k-anonymity", 2, &["`k-anonymity` needs `k`"]);
}

#[test]
fn an_unknown_algorithm_comes_with_the_near_miss() {
    let says = &["there is no algorithm `mondrain`", "did you mean `mondrian`?"];
    refuses("--quasi age,zip -k 2 --algorithm mondrain", 2, says);
}

#[test]
fn an_unknown_option_of_the_algorithm_comes_with_the_near_miss() {
    let says = &["`mondrian` has no parameter `undersize`", "did you mean `undersized`?"];
    refuses("--quasi age,zip -k 2 --algorithm mondrian --set undersize=block", 2, says);
    let says = &["`auto` has no parameter `undersize`", "`undersized` is a parameter of `mondrian`"];
    refuses("--quasi age,zip -k 2 --set undersize=block", 2, says);
    let says = &["`undersized` of `mondrian` cannot be `blok`", "pool or block", "did you mean `block`?"];
    refuses("--quasi age,zip -k 2 --algorithm mondrian --set undersized=blok", 2, says);
    let says = &["`priority` names `ages`", "did you mean `age`?"];
    refuses(
        "--quasi age,zip -k 2 --algorithm mondrian --set dimension=priority --set priority=ages",
        2,
        says,
    );
}

#[test]
fn a_hierarchy_that_is_none_is_refused() {
    let flags = |hierarchy: &str| format!("--quasi age,zip -k 2 --hierarchy {hierarchy}");
    refuses(&flags("zip=maks"), 2, &["hierarchy `maks` cannot be read", "no such file"]);
    refuses(&flags("zip"), 2, &["`zip` cannot be read", "--hierarchy COLUMN=HIERARCHY"]);
    refuses(&flags("zp=mask"), 2, &["column `zp` has no role", "from: --hierarchy", "did you mean `zip`?"]);
    refuses(&flags("age=intervals:wide"), 2, &["`width` cannot be `wide`", "intervals:WIDTH"]);
    refuses(&flags("age=intervals:0"), 2, &["width", "above 0"]);
    refuses(&flags("age=intervals:5,1.5"), 2, &["`levels` cannot be `1.5`: it takes a whole number"]);
}

#[test]
fn a_directory_without_hierarchies_is_refused() {
    let room = Room::with_old_release();
    room.write("hierarchies/sex.csv", "f;*\nm;*\n");
    let says = &["`hierarchies` has no hierarchy for any quasi-identifier", "age.csv"];
    room.refuses("anonymize people.csv --quasi age,zip -k 2 -o out.csv --hierarchies hierarchies")
        .exits(2)
        .says(says);
    refuses("--quasi age,zip -k 2 --hierarchies nowhere", 2, &["the directory `nowhere` cannot be read"]);
}

#[test]
fn a_broken_hierarchy_file_is_named_with_its_line() {
    let room = Room::with_old_release();
    room.write("zip.csv", "02139;A;X;*\n02140;A;Y;*\n");
    let says = &["hierarchy `zip.csv`, line 2", "not functional", "incrowd hierarchy lint zip.csv"];
    room.refuses("anonymize people.csv --quasi age,zip -k 2 -o out.csv --hierarchy zip=zip.csv")
        .exits(2)
        .says(says);
}

#[test]
fn a_column_has_one_role() {
    let says = &["column `age` is given two roles"];
    refuses("--quasi age,zip --sensitive age -k 2", 2, says);
}

#[test]
fn words_that_are_no_choice_come_with_the_near_miss() {
    for (flag, says, near) in [
        ("--kind age=numeral", "`kind` cannot be `numeral`", "numeric"),
        ("--labels zip=stars", "`labels` cannot be `stars`", "star"),
        ("--on-missing keeep", "`on_missing` cannot be `keeep`", "keep"),
        ("--default-role passthru", "`default_role` cannot be `passthru`", "passthrough"),
        ("--order sortd", "`order` cannot be `sortd`", "sorted"),
    ] {
        let from = format!("from: {}", flag.split(' ').next().unwrap());
        refuses(&format!("--quasi age,zip -k 2 {flag}"), 2, &[says, near, &from]);
    }
}

#[test]
fn numbers_and_characters_that_are_none_are_refused() {
    refuses(
        "--quasi age,zip -k 2 --domain age=9:1",
        2,
        &["`domain` must be two numbers, the lower one first", "from: --domain"],
    );
    refuses("--quasi age,zip -k 2 --suppression-limit 2", 2, &["a share of the records, from 0 to 1"]);
    refuses("--quasi age,zip -k 2 --delimiter ab", 2, &["`delimiter` cannot be `ab`", "a single character"]);
    refuses("--quasi age,zip -k 2 --format xls", 2, &["`format` cannot be `xls`", "parquet"]);
}

#[test]
fn an_unknown_flag_or_command_comes_with_the_near_miss() {
    let room = Room::with_old_release();
    room.refuses("anonymize people.csv --quasy age").exits(2).says(&["'--quasy'", "'--quasi'"]);
    room.refuses("anonymise people.csv").exits(2).says(&["'anonymise'", "'anonymize'"]);
}

#[test]
fn nothing_to_read_is_said() {
    let room = Room::with_old_release();
    let says = &["no input is given", "incrowd anonymize table.csv"];
    room.refuses("anonymize --quasi age,zip -k 2 -o out.csv").exits(2).says(says);
}

#[test]
fn a_domain_where_nothing_is_published_as_a_range_is_refused() {
    let says = |column| [format!("column `{column}` has a stated domain"), "no hierarchy".to_owned()];
    for (column, flags) in [
        ("disease", "--quasi age,disease --domain disease=0:120"),
        ("age", "--quasi age,zip --kind age=text --domain age=0:120"),
        ("age", "--quasi age,zip --hierarchy age=intervals:5 --domain age=0:120"),
    ] {
        let says = says(column);
        refuses(&format!("{flags} -k 2"), 2, &[&says[0], &says[1]]);
    }
}
