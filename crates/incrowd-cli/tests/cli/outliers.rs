//! Outliers on the command line: release, verification, attack and profile, and which results stay
//! private.

use crate::test_dir::TestDir;

/// Nine people as in Figure 1 of the paper: Justin is young and earns much, Bill has the highest
/// income.
const FIGURE_1: &str = "\
name,age,gender,zip,income
Alice,20,F,6006,20
Bob,20,M,6011,25
Justin,20,M,6013,120
Carol,30,F,6001,30
Allan,30,M,6010,50
Bill,30,M,6022,2000000
Ben,40,M,6004,100
Susan,40,F,6002,110
David,40,M,6003,130
";

const MODEL: &str = "plain-k-anonymity:k=3,p=0.75,d=0.6,distance_attributes=age";

fn setup() -> TestDir {
    let test = TestDir::new();
    test.write("people.csv", FIGURE_1);
    test.write("gender.csv", "M;*\nF;*\n");
    test
}

fn made(options: &str) -> TestDir {
    let test = setup();
    let done = test.succeeds(&format!(
        "anonymize people.csv --quasi age,gender,zip --sensitive income --hierarchy gender=gender.csv --model {MODEL} \
         --algorithm expc-plus --set seeds=sorted --suppression-limit 0.3 -o r.csv {options}"
    ));
    done.prints(&[
        "may be published",
        "holds",
        "for the data owner only",
        "1 global, 1 local, 1 of which may fit",
    ]);
    test
}

const GENDER: &str = "--hierarchy gender=gender.csv";

#[test]
fn a_release_is_verified_only_with_its_original() {
    let test = made("");
    assert!(!test.text("r.csv").contains("2000000"), "Bill cannot be hidden");
    assert!(test.text("r.csv").contains(",120\n"), "Justin can");
    test.succeeds(&format!("verify r.csv {GENDER} --original people.csv"))
        .prints(&["plain-k-anonymity", "holds"]);
    let expected = &["needs the original table", "--original", "l-diversity"];
    test.refuses(&format!("verify r.csv {GENDER}")).exits(2).reports(expected);
    test.refuses("verify r.csv --original people.csv")
        .exits(2)
        .reports(&["`gender` was generalized along a hierarchy"]);
    let stronger = format!(
        "verify r.csv {GENDER} --original people.csv --model plain-k-anonymity:k=9,distance_attributes=age"
    );
    test.run(&stronger).exits(1).prints(&["FAILS", "fewest sensitive values"]);
    // It is not a release of another table.
    test.write("others.csv", FIGURE_1.replace(",120", ",121"));
    let other = format!("verify r.csv {GENDER} --original others.csv");
    test.run(&other)
        .exits(1)
        .prints(&["FAILS", "records without a matching record of the original 1"]);
}

#[test]
fn figure_2a_is_detected_by_verify_and_attack() {
    let test = setup();
    let cells = "age,gender,zip,income\n20,*,\"[6006, 6013]\",20\n20,*,\"[6006, 6013]\",25\n20,*,\"[6006, 6013]\",120\n";
    test.write("bad.csv", cells);
    let roles = format!(
        "--quasi age,gender,zip --sensitive income --kind age=numeric --kind zip=numeric {GENDER}"
    );
    let verify = format!("verify bad.csv {roles} --original people.csv --model {MODEL}");
    test.run(&verify)
        .exits(1)
        .prints(&["FAILS", "groups with a value that makes an outlier at every corner"]);
    let attack = format!(
        "attack bad.csv {roles} --original people.csv --outliers p=0.75,d=0.6,distance_attributes=age --only \
         distinguishability,outlier-values"
    );
    let json = test.succeeds(&format!("{attack} --json")).json();
    assert_eq!(
        json["attacks"].as_array().map(Vec::len),
        Some(0),
        "outliers are counted for the owner only"
    );
    let found = &json["private"]["attacks"][0];
    assert_eq!(found["attack"], "distinguishability");
    for mode in ["corner", "literal", "candidate"] {
        assert_eq!(found["facts"][format!("presence_{mode}")], 1.0);
        assert_eq!(found["facts"][format!("association_{mode}")], 1.0);
    }
    assert_eq!(json["private"]["attacks"][1]["worst"], 1.0);
    test.succeeds(&attack).prints(&[
        "for the data owner only",
        "distinguishability of income",
        "outlier-values of income",
    ]);
    test.run(&format!("{attack} --limit distinguishability=0.5")).exits(1).prints(&["EXCEEDED"]);
}

#[test]
fn inferences_about_hidden_outliers_are_reported() {
    let test = made("");
    let roles = format!(
        "--quasi age,gender,zip --sensitive income --kind age=numeric --kind zip=numeric {GENDER}"
    );
    let attack = format!(
        "attack r.csv {roles} --original people.csv --only distinguishability,outlier-values --json"
    );
    let json = test.succeeds(&attack).json();
    assert_eq!(json["private"]["attacks"][0]["worst"], 0.0, "nothing is proved");
    assert!(
        json["private"]["attacks"][1]["worst"].as_f64().unwrap() > 0.0,
        "and yet something is known"
    );
    // Without the original the message names the missing input.
    let done = test.succeeds(&format!("attack r.csv {roles} --only distinguishability"));
    done.prints(&["not run  distinguishability: needs the original table (--original)"]);
}

#[test]
fn profile_counts_outliers() {
    let test = setup();
    let flags = format!(
        "--quasi age,gender,zip {GENDER} --outliers on=income,p=0.75,d=0.6,distance_attributes=age"
    );
    let done = test.succeeds(&format!("profile people.csv {flags}"));
    done.prints(&[
        "outliers by income and age",
        "1 global, 1 local, 1 of which may fit",
        "at least 1 would have to be suppressed",
    ]);
    let json = test.succeeds(&format!("profile people.csv {flags} --json")).json();
    assert_eq!(json["private"]["outliers"]["outliers"]["removals_at_least"], 1);
    test.refuses("profile people.csv --quasi age --outliers on=name")
        .exits(2)
        .reports(&["not numeric"]);
    test.refuses("profile people.csv --quasi age --outliers on=income,p=0")
        .exits(2)
        .reports(&["above 0"]);
}

#[test]
fn bad_parameters_are_refused() {
    let test = setup();
    let table = "anonymize people.csv -o r.csv --quasi age,zip --sensitive income --algorithm expc-plus --suppression-limit 1";
    for (model, expected) in [
        ("plain-k-anonymity:k=0", "at least 1"),
        ("plain-k-anonymity:k=2,p=1.5", "from 0 to 1"),
        ("plain-k-anonymity:k=2,d=-1", "at least 0"),
        ("plain-k-anonymity:k=2,distance_attributes=income", "not a quasi-identifier"),
        ("plain-k-anonymity:k=2,distance_attributes=age,age", "twice"),
        ("plain-k-anonymity:k=2,bounds=age:40:20", "not a range"),
        ("plain-k-anonymity:k=2,bounds=age:25:90", "outside its given `bounds`"),
        ("plain-k-anonymity:k=2,bounds=shoe:1:2", "on which no distance is measured"),
        ("plain-k-anonymity:k=2,neighbours=5", "applies to density-based outliers"),
        ("plain-k-anonymity:k=2,threshold=2", "applies to density-based outliers"),
        ("plain-k-anonymity:k=2,outliers=lof,threshold=0.5", "at least 1"),
        ("plain-k-anonymity:k=2,outliers=lof,neighbours=0", "at least 1"),
    ] {
        test.refuses(&format!("{table} --model {model}")).exits(2).reports(&[expected]);
    }
    test.succeeds(&format!(
        "{table} --model plain-k-anonymity:k=2,distance_attributes=age,bounds=age:0:100"
    ));
}

/// Diagnoses have no numbers, but a hierarchy orders them: the rare one among the young is an
/// outlier.
#[test]
fn a_category_with_a_hierarchy_can_hide_its_outliers() {
    let test = TestDir::new();
    let mut table = "age,sex,diagnosis\n".to_owned();
    for i in 0..40 {
        let diagnosis = match i {
            0 => "dementia",
            _ if i < 20 => ["cold", "flu", "cough"][i % 3],
            _ => ["gout", "stroke", "dementia"][i % 3],
        };
        table += &format!("{},{},{diagnosis}\n", 20 + i, ["f", "m"][i % 2]);
    }
    test.write("people.csv", table);
    test.write("sex.csv", "f;*\nm;*\n");
    let tree =
        "cold;viral;*\nflu;viral;*\ncough;viral;*\ngout;old;*\nstroke;old;*\ndementia;old;*\n";
    test.write("diagnosis.csv", tree);
    let roles = "--quasi age,sex --sensitive diagnosis --hierarchy sex=sex.csv --hierarchy diagnosis=diagnosis.csv";
    let model = "plain-k-anonymity:k=2,p=0.8,d=0.6,distance_attributes=age";
    let flags = "--quasi age,sex --hierarchy sex=sex.csv --hierarchy diagnosis=diagnosis.csv \
                 --outliers on=diagnosis,p=0.8,d=0.6,distance_attributes=age";
    let profile = test.succeeds(&format!("profile people.csv {flags} --json")).json();
    let local = profile["private"]["outliers"]["outliers"]["local"].as_u64().unwrap();
    assert!(local > 0, "{profile}");
    test.succeeds(&format!(
        "anonymize people.csv {roles} --model {model} --algorithm expc-plus --set seeds=sorted --suppression-limit 0.4 \
         -o r.csv"
    ))
    .prints(&["holds", &format!("0 global, {local} local")]);
    let hierarchies = "--hierarchy sex=sex.csv --hierarchy diagnosis=diagnosis.csv";
    test.succeeds(&format!("verify r.csv {hierarchies} --original people.csv")).prints(&["holds"]);
    let attack = format!(
        "attack r.csv {roles} --kind age=numeric --original people.csv --only distinguishability --json"
    );
    assert_eq!(test.succeeds(&attack).json()["private"]["attacks"][0]["worst"], 0.0);
    // Without an order there is no distance.
    test.refuses("anonymize people.csv --quasi age,sex --sensitive diagnosis --model plain-k-anonymity:k=2 --algorithm expc-plus \
                  -o s.csv")
        .exits(2)
        .reports(&["outliers need numbers, dates, or a hierarchy"]);
}

#[test]
fn outliers_by_density_are_counted_and_hidden() {
    let test = setup();
    let lof = "outliers=lof,neighbours=2,threshold=1.4,distance_attributes=age";
    test.succeeds(&format!(
        "profile people.csv --quasi age,gender,zip {GENDER} --outliers on=income,{lof}"
    ))
    .prints(&["local outlier factor of 1.4 or more among 2 points", "0 global"]);
    test.succeeds(&format!(
        "anonymize people.csv --quasi age,gender,zip --sensitive income {GENDER} --model plain-k-anonymity:k=2,{lof} \
         --algorithm expc-plus --set seeds=sorted --suppression-limit 0.8 -o r.csv"
    ))
    .prints(&["outliers=lof", "holds"]);
    test.succeeds(&format!("verify r.csv {GENDER} --original people.csv")).prints(&["holds"]);
}
