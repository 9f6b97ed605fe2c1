//! Manifests that were changed, signatures, and cells that a spreadsheet would compute.

use crate::room::Room;

const FLAGS: &str = "--quasi age,zip --sensitive disease -o out.csv";

#[test]
fn a_changed_manifest_is_noticed() {
    let room = Room::with_people();
    room.does(&format!("anonymize people.csv {FLAGS} -k 4"));
    let done = room.does("verify out.csv --json").json();
    assert_eq!((&done["manifest_as_made"], &done["holds"]), (&true.into(), &true.into()));
    let made = room.text("out.release.json");
    // Blanks are nobody's business.
    let value: serde_json::Value = serde_json::from_str(&made).unwrap();
    room.write("out.release.json", value.to_string());
    room.does("verify out.csv").prints(&["k-anonymity(k=4)   holds"]);
    let lower_k = made.replace("\"k\": 4", "\"k\": 2");
    let mut fewer = value.clone();
    fewer["job"]["columns"].as_object_mut().unwrap().shift_remove("zip");
    let mut other_digest = value.clone();
    other_digest["digest"] = "".into();
    for changed in [lower_k, fewer.to_string(), other_digest.to_string()] {
        assert_ne!(changed, made);
        room.write("out.release.json", changed);
        let done = room.run("verify out.csv").exits(1);
        done.prints(&["manifest DIFFERS from its own digest: it was changed after it was made"]);
    }
    let mut without = value.clone();
    without.as_object_mut().unwrap().shift_remove("manifest_digest");
    room.write("out.release.json", without.to_string());
    room.does("verify out.csv").says(&["note: the manifest does not state its own digest"]);
}

#[test]
fn a_signature_is_checked_with_its_key() {
    let room = Room::with_people();
    room.does(&format!("anonymize people.csv {FLAGS} -k 2 --sign my.key"));
    room.does("verify out.csv --check my.key").prints(&["signed   by the key"]);
    assert_eq!(room.does("verify out.csv --check my.key --json").json()["signed"], true);
    // Somebody who can compute the digest, but has another key.
    room.write("other.csv", room.bytes("people.csv"));
    room.does("anonymize other.csv --quasi age,zip -k 2 -o o.csv --sign other.key");
    room.run("verify out.csv --check other.key").exits(1).prints(&["signed   FAILS"]);
    let mut forged = room.json("out.release.json");
    forged["signature"] = room.json("o.release.json")["signature"].clone();
    room.write("out.release.json", forged.to_string());
    room.run("verify out.csv --check my.key").exits(1).prints(&["signed   FAILS"]);
    forged.as_object_mut().unwrap().shift_remove("signature");
    room.write("out.release.json", forged.to_string());
    room.run("verify out.csv --check my.key").exits(1).prints(&["signed   FAILS"]);
    room.does("verify out.csv");
    room.refuses("verify out.csv --check no.key").exits(2).says(&["there is no key in `no.key`"]);
    room.refuses("verify out.csv --check people.csv").exits(2);
    // The same key signs again.
    room.does(&format!("anonymize people.csv {FLAGS} -k 2 --sign my.key"));
    room.does("verify out.csv --check my.key");
    let says = &["the release would overwrite a file that is read"];
    std::fs::rename(room.path().join("my.key"), room.path().join("key.csv")).unwrap();
    room.refuses("anonymize people.csv --quasi age -k 2 -o key.csv --sign key.csv").exits(2).says(says);
}

#[test]
fn no_cell_is_a_formula_if_that_is_asked_for() {
    let room = Room::new();
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
    room.write("people.csv", people);
    let flags =
        "--quasi age,city --sensitive disease --passthrough note -k 2 --model l-diversity:l=2,on=disease";
    for name in ["out.csv", "out.tsv", "out.csv.gz"] {
        room.does(&format!("anonymize people.csv {flags} -o {name} --csv-safe"));
        room.does(&format!("verify {name}")).prints(&["k-anonymity(k=2)   holds", "digest   matches"]);
        room.does(&format!("measure people.csv {name} --only ncp"));
        let done = room.does(&format!("attack {name} --second {name} --json"));
        assert!(!done.stdout.contains("'="), "{done}");
    }
    let mut reader = csv::Reader::from_path(room.path().join("out.csv")).unwrap();
    let mut numbers = 0;
    for record in reader.records() {
        for cell in &record.unwrap() {
            numbers += u32::from(cell == "-5");
            assert!(cell == "-5" || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        }
    }
    assert_eq!(numbers, 4, "numbers stay numbers");
    // Typed formats have no formulas, and what was said of text does not hurt there.
    room.does(&format!("anonymize people.csv {flags} -o out.parquet --csv-safe"));
    room.does("verify out.parquet");
    // Without the flag cells are as they were.
    room.does(&format!("anonymize people.csv {flags} -o plain.csv"));
    assert!(room.text("plain.csv").contains("\"=HYPERLINK"));
    room.write("named.csv", room.text("people.csv").replace("note", "@note"));
    let typed = "anonymize named.csv --quasi age --passthrough @note -k 2 -o n.csv --csv-safe";
    room.refuses(typed).exits(2).says(&["the name of the column `@note` for a formula"]);
}
