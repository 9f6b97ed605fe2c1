//! What the list of keys gives: flags with their help, old spellings, and where a value comes from.

use incrowd::job::keys::{Command, Form, flags_of};

use crate::room::Room;

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
    let room = Room::new();
    for command in Command::ALL {
        let help = room.does(&format!("{} --help", format!("{command:?}").to_lowercase())).stdout;
        for (key, flag) in flags_of(command).filter(|(_, flag)| flag.form != Form::Argument) {
            assert!(help.contains(&format!("--{}", flag.long)), "{command:?} has no --{}", flag.long);
            // Help breaks lines where it likes.
            let said = flag.about.unwrap_or(key.about).split_whitespace().collect::<Vec<_>>().join(" ");
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(help.contains(&said), "{command:?}: {said}");
        }
    }
}

#[test]
fn help_names_the_defaults_there_are() {
    let room = Room::new();
    let help = room.does("compare -h").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("[default: auto:metric=ncp, mondrian, top-down]"), "{help}");
    assert!(help.contains("[default: 2, 5, 10, 20, 50]"), "{help}");
    let help = room.does("anonymize -h").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let names: Vec<&str> = incrowd::recode::ALGORITHMS.iter().map(|card| card.name).collect();
    assert!(help.contains(&format!("The algorithm ({}) [default: auto]", names.join(", "))), "{help}");
}

#[test]
fn another_release_of_a_job_has_pages_of_its_own() {
    let room = Room::with_people();
    room.write("job.toml", JOB);
    let done = room.does("anonymize job.toml");
    assert!(!done.stderr.contains("goes to"), "{done}");
    let (public, owner) = (room.bytes("people.html"), room.bytes("owner.html"));
    let note = "the report goes to `other.report.html`, the owner's report goes to `other.owner.html`";
    room.does("anonymize job.toml -k 4 -o other.csv").says(&[note]);
    assert_eq!((room.bytes("people.html"), room.bytes("owner.html")), (public, owner));
    assert!(room.text("other.report.html").contains("k=4"));
    assert!(room.names().contains(&"other.owner.html".to_owned()));
    room.does("anonymize job.toml -k 4 -o third.csv --report third.html");
    assert!(room.names().contains(&"third.html".to_owned()));
    assert!(!room.names().contains(&"third.report.html".to_owned()));
}

#[test]
fn old_flags_work_with_a_hint() {
    let room = Room::with_people();
    let asked = "anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o r.csv";
    let old = "--category disease:Any=flu,cold,none,gout --publish-sa disease=both";
    room.does(&format!("{asked} {old}")).says(&["note: `--publish-sa` is now called `--publish`"]);
    assert!(room.text("r.csv").starts_with("age,zip,disease,disease_category\n"));
    assert_eq!(room.does(&format!("{asked} {} -q", old.replace("-sa", ""))).stderr, "");
}

#[test]
fn errors_say_which_flag_a_value_comes_from() {
    let room = Room::with_old_release();
    room.write("job.toml", JOB);
    for (flags, code, says) in [
        ("-k 0", 2, &["`k` of `k-anonymity` cannot be `0`", "from: -k"]),
        ("-k 99", 1, &["cannot be kept", "from: -k"]),
        ("-o no/such.csv", 2, &["its directory does not exist", "from: -o"]),
        ("--model l-diversity:l=x", 2, &["`l` of `l-diversity` cannot be `x`", "from: --model"]),
        ("--algorithm mondrian --set undersized=blok", 2, &["cannot be `blok`", "from: --set"]),
        ("--quasi agee", 2, &["no column `agee`", "from: --quasi"]),
    ] {
        let done = room.refuses(&format!("anonymize job.toml {flags}")).exits(code).says(says);
        assert!(!done.stderr.contains("job.toml:"), "points into the job file\n{done}");
    }
}

#[test]
fn what_only_a_file_could_say_can_be_typed() {
    let room = Room::with_people();
    let asked = "anonymize people.csv --quasi age,zip -k 2 --order sorted -q";
    room.does(&format!("{asked} --hierarchy age=cuts:40,60 --hierarchy zip=mask:right,# -o typed.csv"));
    room.write(
        "job.toml",
        "[input]\npath = \"people.csv\"\n[output]\npath = \"file.csv\"\norder = \"sorted\"\n[columns]\n\
         age = { role = \"quasi\", hierarchy = { cuts = [40, 60] } }\n\
         zip = { role = \"quasi\", hierarchy = { mask = { char = \"#\" } } }\n[[models]]\nname = \"k-anonymity\"\nk = 2\n",
    );
    room.does("anonymize job.toml -q");
    assert_eq!(room.text("typed.csv"), room.text("file.csv"));
    assert!(room.text("typed.csv").contains('#'));
    room.write("tabs.tsv", crate::room::PEOPLE.replace(',', "\t"));
    room.write(
        "tabs.toml",
        room.text("job.toml").replace("\"people.csv\"", "\"tabs.tsv\"\ndelimiter = \"\\t\""),
    );
    room.does("anonymize tabs.toml -q -o tabs.csv");
    assert_eq!(room.text("tabs.csv"), room.text("file.csv"));
}

#[test]
fn how_the_original_is_read_says_nothing_about_the_release() {
    let room = Room::new();
    // A blank is no delimiter that would be sniffed.
    room.write("people.csv", crate::room::PEOPLE.replace(',', " "));
    let job = JOB.replace("\"people.csv\"", "\"people.csv\"\ndelimiter = \" \"").replace("report = ", "# ");
    room.write(
        "job.toml",
        job.replace("owner_# \"owner.html\"", "manifest = \"of-r.json\"\ndelimiter = \",\""),
    );
    room.does("anonymize job.toml -q");
    room.does("verify people.release.csv --job job.toml").prints(&["digest   matches the manifest"]);
    room.does("measure people.csv people.release.csv --job job.toml").prints(&["ncp"]);
    room.does("report people.release.csv --job job.toml --owner o.html -o p.html")
        .prints(&["keeps its promises"]);
    let turned = room.text("people.release.csv").replace(',', ";").replace("; ", ", ").replace(';', "/");
    room.write("turned.csv", turned);
    let asked = "measure people.csv turned.csv --job job.toml";
    room.does(&format!("{asked} --delimiter /")).prints(&["ncp"]);
    room.refuses(asked).exits(2).says(&["no column"]);
    // Without a job file the manifest says the roles.
    room.write("commas.csv", crate::room::PEOPLE);
    room.does("measure commas.csv people.release.csv --manifest of-r.json").prints(&["ncp"]);
}

/// Pages of a report tell commands to type; so does the list of keys.
const COMMANDS_TO_TYPE: [&str; 6] = [
    "report/settings.rs",
    "compare/page.rs",
    "keys/input.rs",
    "keys/output.rs",
    "keys/promises.rs",
    "job/tests.rs",
];

#[test]
fn the_library_names_keys_and_not_flags() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for library in ["incrowd", "incrowd-core", "incrowd-recode", "incrowd-audit", "incrowd-engine"] {
        let mut folders = vec![crates.join(library).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() { folders.push(entry) } else { files.push(entry) }
            }
        }
    }
    files.retain(|file| !COMMANDS_TO_TYPE.iter().any(|exempt| file.ends_with(exempt)));
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
        for (i, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap();
            let flag = |(at, _)| {
                let before = code[..at].chars().next_back();
                let after = code[at + 2..].chars().next();
                after.is_some_and(|c| c.is_ascii_lowercase()) && before.is_some_and(|c| " \"`(".contains(c))
            };
            assert!(!code.match_indices("--").any(flag), "{}:{} names a flag: {line}", file.display(), i + 1);
        }
    }
}
