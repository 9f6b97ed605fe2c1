//! Names of columns and files are untrusted. On a terminal or in a log they must not contain escape
//! sequences, control characters or changes of text direction. JSON and files have them exactly.

use crate::test_dir::TestDir;

const AGE: &str = "a\u{1b}[31mge";
const ZIP: &str = "zip\u{9b}2J";
const DISEASE: &str = "dis\u{202e}ease\u{7}";

/// People, with a column for each name.
fn people(test: &TestDir, name: &str) {
    let mut table = format!("\"line\nbreak\",{AGE},{ZIP},{DISEASE}\n");
    for i in 0..60 {
        table += &format!(
            "p{i},{},{},{}\n",
            20 + i % 30,
            10_000 + i % 7,
            ["flu", "cold", "none"][i % 3]
        );
    }
    test.write(name, table);
}

fn acts(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn names_of_columns_and_files_do_not_control_the_terminal() {
    let test = TestDir::new();
    people(&test, "people.csv");
    people(&test, "f\u{1b}[2Jile.csv");
    let release = format!("people.csv --quasi {AGE},{ZIP} --sensitive {DISEASE} -k 2 -o out.csv");
    let mut all = String::new();
    for (args, code) in [
        ("profile people.csv".to_owned(), 0),
        ("profile people.csv --all".to_owned(), 0),
        ("profile f\u{1b}[2Jile.csv --all".to_owned(), 0),
        ("init people.csv -k 2 -o job.toml".to_owned(), 0),
        (format!("anonymize {release}"), 0),
        (format!("anonymize {release} --model l-diversity:l=2,on={DISEASE} --report r.html"), 0),
        ("verify out.csv".to_owned(), 0),
        ("measure people.csv out.csv".to_owned(), 0),
        ("attack out.csv --original people.csv --all".to_owned(), 0),
        ("compare job.toml --algorithms mondrian --k 2 -o compared".to_owned(), 0),
        // Errors that name columns and files, also those about the arguments.
        ("verify people.csv f\u{1b}]0;x\u{7}ile.csv".to_owned(), 2),
        ("verify people.csv f\u{202e}ile.csv".to_owned(), 2),
        ("f\u{202e}ile.csv".to_owned(), 2),
        ("completions f\u{202e}ile.csv".to_owned(), 2),
        ("anonymize --f\u{202e}ile.csv".to_owned(), 2),
        ("anonymize people.csv --quasi a[31mge -k 2 -o x.csv".to_owned(), 2),
        ("anonymize f\u{1b}[2Jil.csv --quasi age -k 2 -o x.csv".to_owned(), 2),
        (
            format!(
                "anonymize people.csv --quasi {DISEASE} --kind {DISEASE}=numeric -k 2 -o x.csv"
            ),
            2,
        ),
    ] {
        let done = test.run(&args);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!said.contains(acts), "{args:?}: {said:?}");
        done.exits(code);
        all += &said;
    }
    for spelled in ["a\\u{1b}[31mge", "zip\\u{9b}2J", "dis\\u{202e}ease\\u{7}", "line\\nbreak"] {
        assert!(all.contains(spelled), "{spelled} is not in {all}");
    }
    assert!(
        !all.lines().any(|line| line.trim_start().starts_with("break")),
        "a name is a line: {all}"
    );
    // A place in a job file is shown with its text.
    test.write(
        "bad.toml",
        format!("[input]\npath = \"people.csv\"\n[columns]\n\"{ZIP}\u{202e}\" = \"nonsense\"\n"),
    );
    let done = test.run("anonymize bad.toml").exits(2);
    assert!(!done.stderr.contains(acts) && done.stderr.contains("bad.toml:4"), "{:?}", done.stderr);
}

#[test]
fn json_and_files_have_names_exactly() {
    let test = TestDir::new();
    people(&test, "people.csv");
    let done = test.run("profile people.csv --json").exits(0);
    assert!(!done.stdout.contains(acts), "{:?}", done.stdout);
    let told: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    let text = told.to_string();
    for name in [AGE, ZIP, DISEASE, "line\nbreak"] {
        let exact = serde_json::to_string(name).unwrap();
        assert!(text.contains(&exact), "{name:?}: {text}");
    }
    test.run(&format!(
        "anonymize people.csv --quasi {AGE},{ZIP} --sensitive {DISEASE} -k 2 -o out.csv"
    ))
    .exits(0);
    assert!(
        test.text("out.csv").starts_with(&format!("{AGE},{ZIP},{DISEASE}\n")),
        "{}",
        test.text("out.csv")
    );
}

#[test]
fn names_do_not_imitate_lines_of_the_output() {
    const NAME: &str = "dis\nverify   k-anonymity(k=9)   holds";
    let test = TestDir::new();
    let record = |i: usize| format!("{},{}\n", 20 + i % 6, ["flu", "cold", "none"][i % 3]);
    let records: String = (0..60).map(record).collect();
    test.write("people.csv", format!("age,\"{NAME}\"\n{records}"));
    let quoted = serde_json::to_string(NAME).unwrap();
    test.write(
        "job.toml",
        format!(
            "[input]\npath = \"people.csv\"\n[output]\npath = \"out.csv\"\n\
             [columns]\nage = \"quasi\"\n{quoted} = \"sensitive\"\n\
             [[models]]\nname = \"k-anonymity\"\nk = 2\n\
             [[models]]\nname = \"l-diversity\"\nl = 2\non = {quoted}\n"
        ),
    );
    for args in [
        "anonymize job.toml --all",
        "verify out.csv",
        "verify out.csv --original people.csv",
        "attack out.csv --all",
        "measure people.csv out.csv",
        "report out.csv -o page.html",
        "profile people.csv --all",
        "compare job.toml --algorithms mondrian --k 2 -o compared",
    ] {
        let done = test.succeeds(args);
        let imitated = "verify   k-anonymity(k=9)";
        let mut lines = done.stdout.lines().chain(done.stderr.lines());
        assert!(!lines.any(|line| line.trim_start().starts_with(imitated)), "{done}");
    }
}
