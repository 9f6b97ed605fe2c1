//! The list of keys: flags with their help, old spellings, and the origin of a value.

use incrowd::job::keys::{Command, Form, flags_of};

use crate::test_dir::TestDir;

const JOB: &str = r#"[input]
path = "people.csv"
[output]
path = "people.release.csv"
report = "people.html"
owner_report = "owner.html"
[columns]
age = "quasi"
zip = "quasi"
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 2
"#;

#[test]
fn every_flag_on_the_list_is_a_flag_of_its_commands() {
    let test = TestDir::new();
    for command in Command::ALL {
        let help =
            test.succeeds(&format!("{} --help", format!("{command:?}").to_lowercase())).stdout;
        for (key, flag) in flags_of(command).filter(|(_, flag)| flag.form != Form::Argument) {
            assert!(
                help.contains(&format!("--{}", flag.long)),
                "{command:?} has no --{}",
                flag.long
            );
            // Help breaks lines at arbitrary places.
            let said =
                flag.about.unwrap_or(key.about).split_whitespace().collect::<Vec<_>>().join(" ");
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(help.contains(&said), "{command:?}: {said}");
        }
    }
}

#[test]
fn help_names_the_defaults() {
    let test = TestDir::new();
    let help = test.succeeds("compare -h").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("[default: auto:metric=ncp, mondrian, top-down]"), "{help}");
    assert!(help.contains("[default: 2, 5, 10, 20, 50]"), "{help}");
    let help =
        test.succeeds("anonymize -h").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<&str> =
        incrowd::front_end::recode::ALGORITHMS.iter().map(|card| card.name).collect();
    assert!(
        help.contains(&format!("The algorithm ({}) [default: auto]", names.join(", "))),
        "{help}"
    );
}

#[test]
fn another_release_of_a_job_has_separate_pages() {
    let test = TestDir::with_people();
    test.write("job.toml", JOB);
    let done = test.succeeds("anonymize job.toml");
    assert!(!done.stderr.contains("goes to"), "{done}");
    let (public, owner) = (test.bytes("people.html"), test.bytes("owner.html"));
    let note =
        "the report goes to `other.report.html`, the owner's report goes to `other.owner.html`";
    test.succeeds("anonymize job.toml -k 4 -o other.csv").reports(&[note]);
    assert_eq!((test.bytes("people.html"), test.bytes("owner.html")), (public, owner));
    assert!(test.text("other.report.html").contains("k=4"));
    assert!(test.names().contains(&"other.owner.html".to_owned()));
    test.succeeds("anonymize job.toml -k 4 -o third.csv --report third.html");
    assert!(test.names().contains(&"third.html".to_owned()));
    assert!(!test.names().contains(&"third.report.html".to_owned()));
}

#[test]
fn old_flags_work_with_a_note() {
    let test = TestDir::with_people();
    let asked = "anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o r.csv";
    let old = "--category disease:Any=flu,cold,none,gout --publish-sa disease=both";
    test.succeeds(&format!("{asked} {old}"))
        .reports(&["note: `--publish-sa` is now called `--publish`"]);
    assert!(test.text("r.csv").starts_with("age,zip,disease,disease_category\n"));
    assert_eq!(test.succeeds(&format!("{asked} {} -q", old.replace("-sa", ""))).stderr, "");
}

#[test]
fn errors_name_the_flag_of_a_value() {
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB);
    for (flags, code, expected) in [
        ("-k 0", 2, &["`k` of `k-anonymity` cannot be `0`", "from: -k"]),
        ("-k 99", 1, &["cannot be satisfied", "from: -k"]),
        ("-o no/such.csv", 2, &["its directory does not exist", "from: -o"]),
        ("--model l-diversity:l=x", 2, &["`l` of `l-diversity` cannot be `x`", "from: --model"]),
        ("--algorithm mondrian --set undersized=blok", 2, &["cannot be `blok`", "from: --set"]),
        ("--quasi agee", 2, &["no column `agee`", "from: --quasi"]),
    ] {
        let done =
            test.refuses(&format!("anonymize job.toml {flags}")).exits(code).reports(expected);
        assert!(!done.stderr.contains("job.toml:"), "points into the job file\n{done}");
    }
}

#[test]
fn every_key_of_the_file_has_a_flag() {
    let test = TestDir::with_people();
    let asked = "anonymize people.csv --quasi age,zip -k 2 --order sorted -q";
    test.succeeds(&format!(
        "{asked} --hierarchy age=cuts:40,60 --hierarchy zip=mask:right,# -o typed.csv"
    ));
    test.write(
        "job.toml",
        "[input]\npath = \"people.csv\"\n[output]\npath = \"file.csv\"\norder = \"sorted\"\n[columns]\n\
         age = { role = \"quasi\", hierarchy = { cuts = [40, 60] } }\n\
         zip = { role = \"quasi\", hierarchy = { mask = { char = \"#\" } } }\n[[models]]\nname = \"k-anonymity\"\nk = 2\n",
    );
    test.succeeds("anonymize job.toml -q");
    assert_eq!(test.text("typed.csv"), test.text("file.csv"));
    assert!(test.text("typed.csv").contains('#'));
    test.write("tabs.tsv", crate::test_dir::PEOPLE.replace(',', "\t"));
    test.write(
        "tabs.toml",
        test.text("job.toml").replace("\"people.csv\"", "\"tabs.tsv\"\ndelimiter = \"\\t\""),
    );
    test.succeeds("anonymize tabs.toml -q -o tabs.csv");
    assert_eq!(test.text("tabs.csv"), test.text("file.csv"));
}

#[test]
fn input_settings_of_the_job_do_not_apply_to_the_release() {
    let test = TestDir::new();
    // A blank is never detected as a delimiter.
    test.write("people.csv", crate::test_dir::PEOPLE.replace(',', " "));
    let job = JOB
        .replace("\"people.csv\"", "\"people.csv\"\ndelimiter = \" \"")
        .replace("report = ", "# ");
    test.write(
        "job.toml",
        job.replace("owner_# \"owner.html\"", "manifest = \"of-r.json\"\ndelimiter = \",\""),
    );
    test.succeeds("anonymize job.toml -q");
    test.succeeds("verify people.release.csv --job job.toml")
        .prints(&["digest   matches the manifest"]);
    test.succeeds("measure people.csv people.release.csv --job job.toml").prints(&["ncp"]);
    test.succeeds("report people.release.csv --job job.toml --owner o.html -o p.html")
        .prints(&["all guarantees hold"]);
    let turned =
        test.text("people.release.csv").replace(',', ";").replace("; ", ", ").replace(';', "/");
    test.write("turned.csv", turned);
    let asked = "measure people.csv turned.csv --job job.toml";
    test.succeeds(&format!("{asked} --delimiter /")).prints(&["ncp"]);
    test.refuses(asked).exits(2).reports(&["no column"]);
    // Without a job file the manifest gives the roles.
    test.write("commas.csv", crate::test_dir::PEOPLE);
    test.succeeds("measure commas.csv people.release.csv --manifest of-r.json").prints(&["ncp"]);
}

/// Pages of a report contain commands, and so does the list of keys.
const COMMANDS_TO_TYPE: [&str; 6] = [
    "report/settings.rs",
    "compare/page.rs",
    "keys/input.rs",
    "keys/output.rs",
    "keys/models.rs",
    "job/tests.rs",
];

#[test]
fn the_library_names_keys_instead_of_flags() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for library in ["incrowd", "incrowd-core", "incrowd-recode", "incrowd-audit", "incrowd-engine"]
    {
        let mut folders = vec![crates.join(library).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() { folders.push(entry) } else { files.push(entry) }
            }
        }
    }
    files.retain(|file| !COMMANDS_TO_TYPE.iter().any(|exempt| file.ends_with(exempt)));
    assert!(files.len() > 100, "{}", files.len());
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
        for (i, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let flag = |(at, _)| {
                let before = code[..at].chars().next_back();
                let after = code[at + 2..].chars().next();
                after.is_some_and(|c| c.is_ascii_lowercase())
                    && before.is_some_and(|c| " \"`(".contains(c))
            };
            assert!(
                !code.match_indices("--").any(flag),
                "{}:{} names a flag: {line}",
                file.display(),
                i + 1
            );
        }
    }
}
