//! k-join-anonymity at the command line.

use crate::room::{Room, SECRET};

/// Patients, a tenth of the voters; the first patient is no voter.
fn room() -> Room {
    let room = Room::new();
    let (mut patients, mut voters) =
        (String::from("ssn,age,zip,disease\n"), String::from("ssn,name,age,zip\n"));
    for i in 0..600u32 {
        let (age, zip) = (20 + i * 37 % 60, 2100 + i * 17 % 40);
        if i > 0 {
            voters += &format!("s{i},n{i},{age},{zip}\n");
        }
        if i % 10 == 0 {
            patients += &format!("s{i},{age},{zip},{}\n", ["flu", "cold", "gout"][(i / 10 % 3) as usize]);
        }
    }
    room.write("patients.csv", patients);
    room.write("voters.csv", voters);
    room
}

const MAKE: &str = "anonymize patients.csv --quasi age,zip --sensitive disease -k 5 --external voters.csv --id ssn -o out.csv";

#[test]
fn two_tables_are_made_verified_attacked_and_measured() {
    for algorithm in ["mondrian", "top-down"] {
        for method in ["direct", "refinement"] {
            let room = room();
            let done =
                room.does(&format!("{MAKE} --algorithm {algorithm} --method {method} --audit audit.csv"));
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
                room.names(),
                ["audit.csv", "out.csv", "out.release.json", "out.si.csv", "patients.csv", "voters.csv"]
            );
            room.does("verify out.csv").prints(&[
                "k-anonymity(k=5)   holds",
                "rules    P1 to P5   hold",
                "matches the manifest",
            ]);
            let with = "verify out.csv --original patients.csv --external voters.csv --id ssn";
            let other_order = format!("{with} --quasi zip,age --sensitive disease");
            room.does(&other_order).prints(&["O1 to O3 with the originals   hold"]);
            room.does(with).prints(&["O1 to O3 with the originals   hold"]);
            room.does(&format!("{with} --audit audit.csv")).prints(&["O1 to O3 with the originals   hold"]);
            let attacked = room.does("attack out.csv --external voters.csv --population voters.csv --all");
            attacked.prints(&[
                "presence",
                "outside",
                "homogeneity of disease",
                "not run  trimming: has nothing to say",
            ]);
            room.run("attack out.csv --limit presence=0.0001").exits(1).prints(&["EXCEEDED"]);
            let measured =
                room.does("measure patients.csv out.csv --quasi age,zip --external voters.csv --id ssn");
            measured.prints(&["may be published", "ncp", "quer"]);
        }
    }
}

#[test]
fn json_keeps_apart_what_is_private() {
    let room = room();
    let made = room.does(&format!("{MAKE} --json")).json();
    assert_eq!(made["publication"], "k-join-anonymity");
    assert_eq!(made["files"].as_array().unwrap().len(), 2);
    assert!(made["private"]["join"]["metrics"]["ncp_microdata"].is_number());
    let manifest = room.json("out.release.json");
    assert!(manifest["private"].is_null() && manifest["algorithm"]["seed"].is_null());
    let verified =
        room.does("verify out.csv --original patients.csv --external voters.csv --id ssn --json").json();
    assert_eq!(
        (&verified["holds"], &verified["private"]["failures"]),
        (&true.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_changed_second_table_is_noticed() {
    let room = room();
    room.does(MAKE);
    let values = room.text("out.si.csv");
    room.write("out.si.csv", values.replacen("flu", "gout", 1));
    room.run("verify out.csv").exits(1).prints(&["of the sensitive values DIFFERS from the manifest"]);
    room.write("out.si.csv", values.lines().take(4).collect::<Vec<_>>().join("\n") + "\n");
    room.run("verify out.csv").exits(1).prints(&["rule     P3   FAILS"]);
}

#[test]
fn what_does_not_fit_is_refused_without_showing_a_cell() {
    let room = room();
    room.write("twice.csv", format!("ssn,age,zip\n{SECRET},1,2\n{SECRET},1,3\n"));
    room.write("short.csv", "ssn,age\n1,2\n");
    room.write("strange.csv", format!("ssn,age,zip\n1,{SECRET},2100\n"));
    room.write("double.csv", format!("ssn,age,zip,disease\n{SECRET},1,2,flu\n{SECRET},1,2,flu\n"));
    let with = |table: &str| MAKE.replace("voters.csv", table);
    room.refuses(&with("twice.csv")).exits(2).says(&["several records of 1 person", "do not agree"]);
    room.refuses(&with("short.csv")).exits(2).says(&["the external table has no column `zip`"]);
    room.refuses(&(with("strange.csv") + " --kind age=numeric"))
        .exits(2)
        .says(&["the external table", "`age`"]);
    room.refuses(&MAKE.replace("patients.csv", "double.csv"))
        .exits(2)
        .says(&["whom another record names too"]);
    room.refuses(&format!("{MAKE} --order shuffled")).exits(2).says(&["always sorted"]);
    room.refuses(&MAKE.replace(" --id ssn", "")).exits(2).says(&["[external] needs `id`"]);
    room.refuses(&format!("{} --trim greedy", MAKE.replace(" --external voters.csv --id ssn", "")))
        .exits(2)
        .says(&["[external] needs `path`", "from: --trim", "(--external)"]);
    room.refuses(&MAKE.replace("-k 5", "-k 61")).exits(1).says(&["cannot be kept"]);
}

#[test]
fn a_job_file_says_the_same() {
    let room = room();
    room.write(
        "job.toml",
        "[input]\npath = \"patients.csv\"\n[output]\npath = \"out.csv\"\n[columns]\nage = \"quasi\"\nzip = \"quasi\"\n\
         disease = \"sensitive\"\n[[models]]\nname = \"k-anonymity\"\nk = 5\n[external]\npath = \"voters.csv\"\nid = \"ssn\"\n\
         method = \"direct\"\non_conflict = \"mt\"\ntrim = \"greedy\"\n",
    );
    let done = room.does("anonymize job.toml");
    assert!(done.stderr.contains("tells who is in the table"), "{done}");
    room.does("verify out.csv --job job.toml --original patients.csv").prints(&["with the originals   hold"]);
    room.does("attack out.csv --population voters.csv --only trimming")
        .prints(&["people who are certainly in the microdata"]);
    room.write("bad.toml", room.text("job.toml").replace("direct", "directly"));
    room.refuses("anonymize bad.toml").exits(2).says(&["did you mean `direct`?"]);
}
