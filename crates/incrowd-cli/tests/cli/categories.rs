//! Categories of sensitive values, and the errors of models that need them.

use serde_json::Value;

use crate::test_dir::{PEOPLE, TestDir};

const CATEGORIES: &str = "--category disease:top=flu,gout --category disease:low=cold,none";
const HIERARCHY: &str = "02139;02;*\n02140;02;*\n02141;02;*\n90210;90;*\n90211;90;*\n";

/// Each case of `psens_errors`: its arguments, the exit code and the message.
const CASES: [(&str, &str, i32, &[&str]); 9] = [
    ("k larger than the table", "p-alpha-sensitive:p=1,alpha=0,k=9", 1, &["is 8, and 9 is needed"]),
    (
        "p larger than the number of distinct SA values",
        "p-alpha-sensitive:p=5,alpha=0,k=2",
        1,
        &["different values is 4, and 5 is needed"],
    ),
    (
        "p larger than the number of categories present",
        "p-plus-alpha-sensitive:p=3,alpha=0,k=2",
        1,
        &["categories is 2, and 3 is needed"],
    ),
    (
        "alpha larger than the total weight of the table",
        "p-alpha-sensitive:p=2,alpha=5,k=2",
        1,
        &["weight is 4, and 5 is needed"],
    ),
    (
        "SA value without category",
        "p-alpha-sensitive:p=2,alpha=1,k=2 --category disease:top=flu,gout --category disease:low=cold",
        2,
        &["`disease` has a value in no category", "record 4", "put every value into a category"],
    ),
    (
        "SA value in two categories",
        "p-alpha-sensitive:p=2,alpha=1,k=2 --category disease:top=flu,gout,cold --category disease:low=cold,none",
        2,
        &["`top` and `low` have a value in common"],
    ),
    (
        "single category and alpha > 0",
        "p-alpha-sensitive:p=2,alpha=1,k=2 --category disease:all=flu,gout,cold,none",
        1,
        &["weight is 0, and 1 is needed"],
    ),
    (
        "QI value not in its hierarchy",
        "p-alpha-sensitive:p=2,alpha=1,k=2 --hierarchy zip=zip.csv",
        2,
        &["`zip`", "hierarchy", "record 8"],
    ),
    (
        "p > k is legal: groups simply need at least p rows",
        "p-alpha-sensitive:p=3,alpha=0,k=2",
        0,
        &[],
    ),
];

#[test]
fn the_cases_of_psens_errors() {
    let vectors: Value =
        serde_json::from_str(incrowd_testing::fixture("psens_errors.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), CASES.len());
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (_, model, code, expected) =
            CASES.iter().find(|c| c.0 == name).unwrap_or_else(|| panic!("{name}"));
        let categories = if model.contains("--category") { "" } else { CATEGORIES };
        for algorithm in ["mondrian", "full-domain", "local-recoding"] {
            let test = TestDir::with_old_release();
            test.write("zip.csv", HIERARCHY);
            let args = format!(
                "anonymize people.csv --quasi age,zip --sensitive disease -o out.csv --algorithm {algorithm} \
                 {categories} --model {model}"
            );
            if case["legal"] == true {
                assert_eq!(test.succeeds(&args).code, *code);
                test.succeeds("verify out.csv").prints(&["holds"]);
            } else {
                test.refuses(&args).exits(*code).reports(expected);
            }
        }
    }
}

#[test]
fn publication_of_a_column_with_categories() {
    let test = TestDir::with_people();
    let sensitive = |publish: &str| {
        let args = "anonymize people.csv --quasi age,zip --sensitive disease -o out.csv";
        test.succeeds(&format!(
            "{args} {CATEGORIES} --model p-plus-alpha-sensitive:p=2,alpha=1,k=3 {publish}"
        ));
        test.succeeds("verify out.csv").prints(&["holds"]);
        let header = test.text("out.csv").lines().next().unwrap().to_owned();
        let last = |line: &String| line.rsplit(',').next().unwrap().to_owned();
        (header, test.records("out.csv").iter().map(last).collect::<Vec<_>>())
    };
    let values: Vec<&str> = PEOPLE.lines().skip(1).map(|l| l.rsplit(',').next().unwrap()).collect();
    let (header, cells) = sensitive("");
    assert_eq!(header, "age,zip,disease");
    assert!(cells.iter().all(|cell| cell == "top" || cell == "low"), "only categories");
    let (header, cells) = sensitive("--publish-sa disease=value");
    assert_eq!(header, "age,zip,disease");
    assert!(cells.iter().all(|cell| values.contains(&cell.as_str())));
    let (header, cells) = sensitive("--publish-sa disease=both");
    assert!(header.starts_with("age,zip,disease,") && header.split(',').count() == 4, "{header}");
    assert!(
        cells.iter().all(|cell| cell == "top" || cell == "low"),
        "the category in a column of its own"
    );
}
