//! Changed manifests, signatures, and cells that a spreadsheet would evaluate.

use crate::test_dir::TestDir;

const FLAGS: &str = "--quasi age,zip --sensitive disease -o out.csv";

#[test]
fn a_changed_manifest_is_detected() {
    let test = TestDir::with_people();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -k 4"));
    let done = test.succeeds("verify out.csv --json").json();
    assert_eq!((&done["manifest_as_made"], &done["holds"]), (&true.into(), &true.into()));
    let made = test.text("out.release.json");
    // Changed white space does not matter.
    let value: serde_json::Value = serde_json::from_str(&made).unwrap();
    test.write("out.release.json", value.to_string());
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=4)   holds"]);
    let lower_k = made.replace("\"k\": 4", "\"k\": 2");
    let mut fewer = value.clone();
    fewer["job"]["columns"].as_object_mut().unwrap().shift_remove("zip");
    let mut other_digest = value.clone();
    other_digest["digest"] = "".into();
    for changed in [lower_k, fewer.to_string(), other_digest.to_string()] {
        assert_ne!(changed, made);
        test.write("out.release.json", changed);
        let done = test.run("verify out.csv").exits(1);
        done.prints(&["manifest DIFFERS from its own digest: it was changed after it was written"]);
    }
    let mut without = value.clone();
    without.as_object_mut().unwrap().shift_remove("manifest_digest");
    test.write("out.release.json", without.to_string());
    test.succeeds("verify out.csv")
        .reports(&["note: the manifest does not contain its own digest"]);
}

#[test]
fn a_signature_is_checked_with_its_key() {
    let test = TestDir::with_people();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -k 2 --sign my.key"));
    test.succeeds("verify out.csv --check my.key").prints(&["signed   by the key"]);
    assert_eq!(test.succeeds("verify out.csv --check my.key --json").json()["signed"], true);
    // An adversary who can compute the digest, but has another key.
    test.write("other.csv", test.bytes("people.csv"));
    test.succeeds("anonymize other.csv --quasi age,zip -k 2 -o o.csv --sign other.key");
    test.run("verify out.csv --check other.key").exits(1).prints(&["signed   FAILS"]);
    let mut forged = test.json("out.release.json");
    forged["signature"] = test.json("o.release.json")["signature"].clone();
    test.write("out.release.json", forged.to_string());
    test.run("verify out.csv --check my.key").exits(1).prints(&["signed   FAILS"]);
    forged.as_object_mut().unwrap().shift_remove("signature");
    test.write("out.release.json", forged.to_string());
    test.run("verify out.csv --check my.key").exits(1).prints(&["signed   FAILS"]);
    test.succeeds("verify out.csv");
    test.refuses("verify out.csv --check no.key")
        .exits(2)
        .reports(&["there is no key in `no.key`"]);
    test.refuses("verify out.csv --check people.csv").exits(2);
    // Signing again with the same key.
    test.succeeds(&format!("anonymize people.csv {FLAGS} -k 2 --sign my.key"));
    test.succeeds("verify out.csv --check my.key");
    let expected = &["the release would overwrite a file that is read"];
    std::fs::rename(test.path().join("my.key"), test.path().join("key.csv")).unwrap();
    test.refuses("anonymize people.csv --quasi age -k 2 -o key.csv --sign key.csv")
        .exits(2)
        .reports(expected);
}

#[test]
fn formulas_are_escaped_on_request() {
    let test = TestDir::new();
    let mut people = "age,city,disease,note\n".to_owned();
    for i in 0..8 {
        let city = ["=Oslo", "-Rome"][i % 2];
        people += &format!(
            "{},{city},\"=HYPERLINK(\"\"http://x\"\",{})\",{}\n",
            20 + i,
            i % 3,
            ["-5", "@sum(1)"][i % 2]
        );
    }
    test.write("people.csv", people);
    let flags = "--quasi age,city --sensitive disease --passthrough note -k 2 --model l-diversity:l=2,on=disease";
    for name in ["out.csv", "out.tsv", "out.csv.gz"] {
        test.succeeds(&format!("anonymize people.csv {flags} -o {name} --csv-safe --replace"));
        test.succeeds(&format!("verify {name}"))
            .prints(&["k-anonymity(k=2)   holds", "digest   matches"]);
        test.succeeds(&format!("measure people.csv {name} --only ncp"));
        let done = test.succeeds(&format!("attack {name} --second {name} --json"));
        assert!(!done.stdout.contains("'="), "{done}");
    }
    let mut reader = csv::Reader::from_path(test.path().join("out.csv")).unwrap();
    let mut numbers = 0;
    for record in reader.records() {
        for cell in &record.unwrap() {
            numbers += u32::from(cell == "-5");
            assert!(cell == "-5" || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        }
    }
    assert_eq!(numbers, 4, "numbers stay numbers");
    // Typed formats have no formulas, and the setting has no effect there.
    test.succeeds(&format!("anonymize people.csv {flags} -o out.parquet --csv-safe --replace"));
    test.succeeds("verify out.parquet");
    // Without the flag cells are unchanged.
    test.succeeds(&format!("anonymize people.csv {flags} -o plain.csv"));
    assert!(test.text("plain.csv").contains("\"=HYPERLINK"));
    test.write("named.csv", test.text("people.csv").replace("note", "@note"));
    let args = "anonymize named.csv --quasi age --passthrough @note -k 2 -o n.csv --csv-safe";
    test.refuses(args).exits(2).reports(&["the name of the column `@note` as a formula"]);
}
