//! Records that are unique on columns published unchanged: errors, warnings, attack and pages.

use crate::test_dir::TestDir;

/// Forty people: a unique id each, an income that is unique for a quarter of them, a club.
fn people() -> String {
    let income = |n: u32| if n.is_multiple_of(4) { 10_000 + n } else { 20_000 };
    let line =
        |n: u32| format!("i{n},{},{},{}\n", 20 + n, income(n), ["golf", "chess"][(n % 2) as usize]);
    format!("id,age,income,club\n{}", (0..40).map(line).collect::<String>())
}

#[test]
fn an_identifier_passed_through_is_refused_unless_it_is_unlinkable() {
    let test = TestDir::new();
    test.write("people.csv", people());
    let args = "anonymize people.csv --quasi age -k 5 -o out.csv --passthrough id,club";
    let refused = test.refuses(args).exits(2);
    refused.reports(&["column `id`", "40 of 40 records are unique", "--unlinkable"]);
    assert_eq!(test.names(), ["people.csv"], "nothing was put in place");
    let done = test.succeeds(&format!("{args} --unlinkable id"));
    assert!(!done.stderr.contains("unique"), "{done}");
    test.succeeds("attack out.csv --only singling-out").prints(&[
        "singling-out of club",
        "declared as not linkable",
        "id",
    ]);
    // A job file with the equivalent setting.
    test.write(
        "job.toml",
        "[input]\npath = \"people.csv\"\n[output]\npath = \"out.csv\"\n[columns]\nage = \"quasi\"\n\
         id = { role = \"passthrough\", linkable = false }\n[[models]]\nname = \"k-anonymity\"\nk = 5\n",
    );
    test.succeeds("anonymize job.toml");
    test.succeeds("attack out.csv --only singling-out")
        .prints(&["not run", "declared as not linkable: id"]);
    let odd =
        test.refuses("anonymize people.csv --quasi age -k 5 -o out.csv --unlinkable age").exits(2);
    odd.reports(&["linkable", "passthrough or sensitive"]);
}

#[test]
fn a_quarter_of_unique_records_gives_a_warning_and_an_amber_banner() {
    let test = TestDir::new();
    test.write("people.csv", people());
    let args = "anonymize people.csv --quasi age -k 5 -o out.csv --report page.html --owner-report owner.html";
    let done = test.succeeds(&format!("{args} --passthrough income --sensitive club")).reports(&[
        "of 40 records, these are unique",
        "income 10",
        "docs/singling-out.md",
    ]);
    // No value is shown.
    assert!(!done.stderr.contains("100") && !done.stdout.contains("10004"), "{done}");
    let (page, owner) = (test.text("page.html"), test.text("owner.html"));
    assert!(page.contains("verdict amber") && !page.contains("verdict good"));
    assert!(
        owner.contains("verdict amber")
            && owner.contains("Unique records on columns published unchanged")
    );
    assert!(owner.contains("25 %"), "a quarter");
    test.succeeds(&format!("{args} --sensitive club"));
    assert!(test.text("page.html").contains("verdict good"));
    assert!(!test.text("owner.html").contains("verdict amber"));
}

#[test]
fn the_attack_has_a_limit_and_an_explanation() {
    let test = TestDir::new();
    test.write("people.csv", people());
    test.succeeds("anonymize people.csv --quasi age --sensitive income -k 5 -o out.csv");
    let attacked = test.succeeds("attack out.csv --only singling-out --limit singling-out=0.25");
    attacked.prints(&["singling-out of income", "25.0 %", "holds"]);
    test.run("attack out.csv --limit singling-out=0.2").exits(1).prints(&["EXCEEDED"]);
    test.run("attack out.csv --limit singling-out.worst=0.5").exits(1);
    test.succeeds("explain singling-out").prints(&["wp216", "passthrough"]);
    let answer = test
        .succeeds("anonymize people.csv --quasi age --sensitive income -k 5 -o out.csv --json")
        .json();
    assert_eq!(answer["private"]["singling_out"]["columns"][0]["alone"], 10);
    assert_eq!(answer["private"]["singling_out"]["singles_out"], true);
}
