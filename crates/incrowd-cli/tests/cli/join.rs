//! k-join-anonymity on the command line.

use crate::test_dir::{SECRET, TestDir};

/// Patients, who are a tenth of the voters; the first patient is not a voter.
fn setup() -> TestDir {
    let test = TestDir::new();
    let (mut patients, mut voters) =
        (String::from("ssn,age,zip,disease\n"), String::from("ssn,name,age,zip\n"));
    for i in 0..600u32 {
        let (age, zip) = (20 + i * 37 % 60, 2100 + i * 17 % 40);
        if i > 0 {
            voters += &format!("s{i},n{i},{age},{zip}\n");
        }
        if i % 10 == 0 {
            patients +=
                &format!("s{i},{age},{zip},{}\n", ["flu", "cold", "gout"][(i / 10 % 3) as usize]);
        }
    }
    test.write("patients.csv", patients);
    test.write("voters.csv", voters);
    test
}

const MAKE: &str = "anonymize patients.csv --quasi age,zip --sensitive disease -k 5 --external voters.csv --id ssn -o out.csv";

#[test]
fn two_tables_are_made_verified_attacked_and_measured() {
    for algorithm in ["mondrian", "top-down"] {
        for method in ["direct", "refinement"] {
            let test = setup();
            let done = test.succeeds(&format!(
                "{MAKE} --algorithm {algorithm} --method {method} --audit audit.csv"
            ));
            done.prints(&[
                "may be published",
                "people of both tables in",
                "values   out.si.csv   60 sensitive values",
                "k-anonymity(k=5)   holds",
                "for the data owner only",
                "1 records of the table are not in the external table",
                "audit    audit.csv",
            ]);
            assert_eq!(
                test.names(),
                [
                    "audit.csv",
                    "out.csv",
                    "out.release.json",
                    "out.si.csv",
                    "patients.csv",
                    "voters.csv"
                ]
            );
            test.succeeds("verify out.csv").prints(&[
                "k-anonymity(k=5)   holds",
                "rules    P1 to P5   hold",
                "matches the manifest",
            ]);
            let with = "verify out.csv --original patients.csv --external voters.csv --id ssn";
            let other_order = format!("{with} --quasi zip,age --sensitive disease");
            test.succeeds(&other_order).prints(&["O1 to O3 with the originals   hold"]);
            test.succeeds(with).prints(&["O1 to O3 with the originals   hold"]);
            test.succeeds(&format!("{with} --audit audit.csv"))
                .prints(&["O1 to O3 with the originals   hold"]);
            let attacked =
                test.succeeds("attack out.csv --external voters.csv --population voters.csv --all");
            attacked.prints(&[
                "presence",
                "outside",
                "homogeneity of disease",
                "not run  trimming: does not apply",
            ]);
            test.run("attack out.csv --limit presence=0.0001").exits(1).prints(&["EXCEEDED"]);
            let measured = test.succeeds(
                "measure patients.csv out.csv --quasi age,zip --external voters.csv --id ssn",
            );
            measured.prints(&["may be published", "ncp", "quer"]);
        }
    }
}

#[test]
fn json_separates_private_results() {
    let test = setup();
    let made = test.succeeds(&format!("{MAKE} --json")).json();
    assert_eq!(made["publication"], "k-join-anonymity");
    assert_eq!(made["files"].as_array().unwrap().len(), 2);
    assert!(made["private"]["join"]["metrics"]["ncp_microdata"].is_number());
    let manifest = test.json("out.release.json");
    assert!(manifest["private"].is_null() && manifest["algorithm"]["seed"].is_null());
    let verified = test
        .succeeds("verify out.csv --original patients.csv --external voters.csv --id ssn --json")
        .json();
    assert_eq!(
        (&verified["holds"], &verified["private"]["failures"]),
        (&true.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_changed_second_table_is_detected() {
    let test = setup();
    test.succeeds(MAKE);
    let values = test.text("out.si.csv");
    test.write("out.si.csv", values.replacen("flu", "gout", 1));
    test.run("verify out.csv")
        .exits(1)
        .prints(&["of the sensitive values DIFFERS from the manifest"]);
    test.write("out.si.csv", values.lines().take(4).collect::<Vec<_>>().join("\n") + "\n");
    test.run("verify out.csv").exits(1).prints(&["rule     P3   FAILS"]);
}

#[test]
fn invalid_requests_are_refused_without_showing_a_cell() {
    let test = setup();
    test.write("twice.csv", format!("ssn,age,zip\n{SECRET},1,2\n{SECRET},1,3\n"));
    test.write("short.csv", "ssn,age\n1,2\n");
    test.write("strange.csv", format!("ssn,age,zip\n1,{SECRET},2100\n"));
    test.write("double.csv", format!("ssn,age,zip,disease\n{SECRET},1,2,flu\n{SECRET},1,2,flu\n"));
    let with = |table: &str| MAKE.replace("voters.csv", table);
    test.refuses(&with("twice.csv"))
        .exits(2)
        .reports(&["several records of 1 person", "do not agree"]);
    test.refuses(&with("short.csv")).exits(2).reports(&["the external table has no column `zip`"]);
    test.refuses(&(with("strange.csv") + " --kind age=numeric"))
        .exits(2)
        .reports(&["the external table", "`age`"]);
    test.refuses(&MAKE.replace("patients.csv", "double.csv"))
        .exits(2)
        .reports(&["an identifier of another record in"]);
    test.refuses(&format!("{MAKE} --order shuffled")).exits(2).reports(&["always sorted"]);
    test.refuses(&MAKE.replace(" --id ssn", "")).exits(2).reports(&["[external] needs `id`"]);
    test.refuses(&format!("{} --trim greedy", MAKE.replace(" --external voters.csv --id ssn", "")))
        .exits(2)
        .reports(&["[external] needs `path`", "from: --trim", "(--external)"]);
    test.refuses(&MAKE.replace("-k 5", "-k 61")).exits(1).reports(&["cannot be satisfied"]);
}

#[test]
fn a_job_file_is_equivalent_to_flags() {
    let test = setup();
    test.write(
        "job.toml",
        "[input]\npath = \"patients.csv\"\n[output]\npath = \"out.csv\"\n[columns]\nage = \"quasi\"\nzip = \"quasi\"\n\
         disease = \"sensitive\"\n[[models]]\nname = \"k-anonymity\"\nk = 5\n[external]\npath = \"voters.csv\"\nid = \"ssn\"\n\
         method = \"direct\"\non_conflict = \"mt\"\ntrim = \"greedy\"\n",
    );
    let done = test.succeeds("anonymize job.toml");
    assert!(done.stderr.contains("reveals who is in the table"), "{done}");
    test.succeeds("verify out.csv --job job.toml --original patients.csv")
        .prints(&["with the originals   hold"]);
    test.succeeds("attack out.csv --population voters.csv --only trimming")
        .prints(&["people who are certainly in the microdata"]);
    test.write("bad.toml", test.text("job.toml").replace("direct", "directly"));
    test.refuses("anonymize bad.toml").exits(2).reports(&["did you mean `direct`?"]);
}
