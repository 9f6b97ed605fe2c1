//! Verification against the original: releases after suppression, the two tables of anatomy, and
//! tables with several records per person.

use std::collections::BTreeMap;

use crate::skewed::{ARGS, SKEWED, setup, table};
use crate::test_dir::{SECRET, TestDir};

/// Every published record comes from the table, and from a different record. A forged record is
/// detected, and so is a table that the manifest's method would have treated differently.
#[test]
fn the_owner_verifies_against_the_original() {
    let test = setup(SKEWED);
    let rules = "--hierarchy zip=mask --suppression r-suppression:l=3";
    test.succeeds(&format!("{ARGS} -o out.csv -k 2 {rules}"));
    let args = "verify out.csv --original people.csv --hierarchy zip=mask";
    let done = test.succeeds(args);
    let (public, private) = done.stdout.split_once("for the data owner only").unwrap();
    assert!(public.starts_with("may be published") && !public.contains("withheld"), "{done}");
    for word in [
        "every published record comes from it",
        "l-candidacy holds",
        "some random draw gives this result",
    ] {
        assert!(private.contains(word), "{word}\n{done}");
    }
    // The manifest also states the mask.
    assert_eq!(test.succeeds("verify out.csv --original people.csv").stdout, done.stdout);
    let json = test.succeeds(&format!("{args} --json")).json();
    let own = &json["private"]["original"];
    assert_eq!((&own["holds"], &own["records_not_of_the_original"]), (&true.into(), &0.into()));
    assert!(json["original"].is_null() && json["suppression"].is_null());
    // All published ages are changed to 20: more people than have that age.
    let honest = test.text("out.csv");
    let forged = honest.lines().enumerate().map(|(i, line)| {
        let cell = line
            .strip_prefix('"')
            .map_or_else(|| line.find(',').unwrap(), |cell| cell.find('"').unwrap() + 2);
        if i == 0 { line.to_owned() } else { format!("20{}", &line[cell..]) }
    });
    test.write("out.csv", forged.collect::<Vec<_>>().join("\n") + "\n");
    let done = test.run(args).exits(1);
    assert!(done.stdout.contains("do not come from it, or use a record twice"), "{done}");
    test.write("out.csv", honest);
    // A table of the same people with other diseases.
    test.write("other.csv", test.text("people.csv").replace("gout", "cold"));
    let done = test.run("verify out.csv --original other.csv --hierarchy zip=mask").exits(1);
    assert!(
        done.stdout.contains("FAILS") && done.stdout.contains("NO random draw gives this result"),
        "{done}"
    );
}

#[test]
fn anatomy_is_verified_against_the_original_and_measured() {
    let test = setup(SKEWED);
    let args = "anonymize people.csv --quasi age,zip --sensitive disease -o out.csv --algorithm anatomy --set l=3";
    test.succeeds(&format!("{args} --suppression r-suppression:l=3 --suppression-key my.key"));
    test.succeeds("verify out.csv --original people.csv")
        .prints(&["every published record comes from it", "holds"]);
    let measured = test.succeeds("measure people.csv out.csv");
    assert!(measured.stdout.starts_with("for the data owner only"), "{measured}");
    measured.prints(&["and values of a sensitive column", "average class size"]);
    let json = test.succeeds("measure people.csv out.csv --json").json();
    assert_eq!(json.as_object().unwrap().len(), 1, "{json}");
    assert_eq!(json["private"]["utility"]["query_error"]["sensitive_predicate"], true);
    test.refuses("measure people.csv out.csv --only classification")
        .exits(2)
        .reports(&["linked only by groups"]);
    // Groups hide values, not people: identities are attacked by the exact quasi-identifiers.
    let qit = test.text("out.csv");
    let mut people: BTreeMap<&str, u64> = BTreeMap::new();
    qit.lines()
        .skip(1)
        .for_each(|line| *people.entry(line.rsplit_once(',').unwrap().0).or_default() += 1);
    let least = *people.values().min().unwrap() as f64;
    let json = test
        .succeeds(
            "attack out.csv --only prosecutor,homogeneity,equijoin --external people.csv --json",
        )
        .json();
    let worst = |attack: &str| {
        let found = json["attacks"].as_array().unwrap().iter().find(|a| a["attack"] == attack);
        found.unwrap_or_else(|| panic!("{attack}: {json}"))["worst"].as_f64().unwrap()
    };
    assert_eq!((worst("prosecutor"), worst("equijoin")), (1.0 / least, 1.0 / least));
    assert!(worst("homogeneity") < 0.34);
    // A record with quasi-identifiers that do not occur in the table.
    let first = qit.lines().nth(1).unwrap().to_owned();
    let (_, rest) = first.split_once(',').unwrap();
    test.write("out.csv", qit.replacen(&first, &format!("19,{rest}"), 1));
    let json = test.run("verify out.csv --original people.csv --json").exits(1).json();
    let own = &json["private"]["original"];
    assert_eq!(
        (&own["records_not_of_the_original"], &own["groups_not_of_the_original"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn several_records_of_a_person_are_refused() {
    let test = TestDir::new();
    let mut text = "id,age,zip,disease\n".to_owned();
    for (i, line) in table(SKEWED).lines().skip(1).enumerate() {
        text += &format!("{SECRET}{},{line}\n", if i == 150 { 3 } else { i });
    }
    test.write("people.csv", &text);
    let args = format!("{ARGS} --identifier id -o out.csv --suppression safe-d:l=3");
    test.refuses(&args).exits(2).reports(&[
        "1 record is of people who have another one",
        "`id`",
        "keep one record",
    ]);
    test.refuses("anonymize people.csv --quasi age,zip --sensitive disease --identifier id --algorithm anatomy --set l=2 -o a.csv")
        .exits(2)
        .reports(&["people who have another one"]);
    // A record without a name has no second record, and dropped records do not count.
    let nobody = text.replacen(&format!("{SECRET}3,"), "?,", 1);
    test.write("people.csv", nobody);
    test.succeeds(&args);
    let lost = text.lines().map(|line| {
        if line.starts_with(&format!("{SECRET}3,")) && line.ends_with("gout") {
            line.replace("gout", "?")
        } else {
            line.to_owned()
        }
    });
    test.write("people.csv", lost.collect::<Vec<_>>().join("\n") + "\n");
    test.succeeds(&format!("{args} --again"));
}
