//! Every output format is verified on its bytes and can be read as a table.

use incrowd::FORMATS;

use crate::test_dir::TestDir;

const FLAGS: &str = "--identifier name --quasi age,zip --hierarchy zip=mask --sensitive disease -k 2 --order sorted";

/// Returns every file name extension of the known formats.
fn endings() -> impl Iterator<Item = String> {
    FORMATS.iter().flat_map(|card| {
        let ends: &[&str] = if card.compressed { &["", ".gz", ".zst"] } else { &[""] };
        card.extensions
            .iter()
            .flat_map(|extension| ends.iter().map(move |end| format!("{extension}{end}")))
    })
}

/// The first bytes of a release, by the last part of its name.
const FIRST_BYTES: &[(&str, &[u8])] = &[
    ("csv", b"age,zip,disease\n"),
    ("txt", b"age,zip,disease\n"),
    ("tsv", b"age\tzip\tdisease\n"),
    ("gz", b"\x1f\x8b"),
    ("zst", b"\x28\xb5\x2f\xfd"),
    ("parquet", b"PAR1"),
    ("pq", b"PAR1"),
    ("arrow", b"ARROW1"),
    ("feather", b"ARROW1"),
    ("ipc", b"ARROW1"),
];

#[test]
fn every_format_is_written_and_verifies() {
    for format in endings() {
        let test = TestDir::with_people();
        test.succeeds(&format!("anonymize people.csv {FLAGS} -o r.{format} --replace"));
        let mut names = ["people.csv", "r.release.json", &*format!("r.{format}")];
        names.sort_unstable();
        assert_eq!(test.names(), names);
        let done = test.succeeds(&format!("verify r.{format}"));
        done.prints(&["8 records in", "k-anonymity(k=2)   holds", "digest   matches"]);
        test.run(&format!("verify r.{format} -k 8")).exits(1).prints(&["FAILS"]);
    }
}

#[test]
fn the_bytes_have_the_format_of_the_name() {
    let test = TestDir::with_people();
    for format in endings() {
        let last = format.rsplit('.').next().unwrap();
        let Some((_, first)) = FIRST_BYTES.iter().find(|(end, _)| *end == last) else {
            panic!("add what a `.{last}` file begins with to `FIRST_BYTES` of {}", file!())
        };
        test.succeeds(&format!("anonymize people.csv {FLAGS} -o r.{format} --replace"));
        assert!(test.bytes(&format!("r.{format}")).starts_with(first), "{format}");
    }
}

#[test]
fn every_format_is_documented() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let key = incrowd::job::keys::titled("[output] path").unwrap();
    let formats = incrowd::job::keys::titled("[input] format").unwrap();
    for card in FORMATS {
        let title = card.title;
        assert!(readme.contains(title), "README.md does not say that {title} is read and written");
        for extension in card.extensions {
            let said = format!("`.{extension}`");
            assert!(
                key.more.contains(&said),
                "add {said} to `more` of `[output] path` in job/keys/output.rs"
            );
        }
        let stated =
            format!("verify nothing --{} {} --quasi a -k 2", formats.flags[0].long, card.name);
        TestDir::new().refuses(&stated).reports(&["there is no file `nothing`"]);
    }
}

/// A drafted job writes the release next to its table, in the same format.
#[test]
fn a_drafted_job_keeps_the_format() {
    for card in FORMATS {
        for extension in card.extensions {
            let test = TestDir::with_people();
            let again = "--quasi age,zip --passthrough disease --unlinkable disease -k 1";
            test.succeeds(&format!("anonymize people.csv {again} -o t.{extension}"));
            test.succeeds(&format!("init t.{extension} -k 2 -o job.toml"));
            assert!(
                test.text("job.toml").contains(&format!("t.release.{extension}\"")),
                "{extension}"
            );
        }
    }
}

#[test]
fn every_format_reads_back_as_the_same_table() {
    let test = TestDir::with_people();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o plain.csv"));
    for format in endings() {
        test.succeeds(&format!("anonymize people.csv {FLAGS} -o r.{format} --replace"));
        // Every group is large enough, so nothing is generalized again.
        let again = "--quasi age,zip --kind age=text --passthrough disease --unlinkable disease -k 1 --order sorted";
        test.succeeds(&format!("anonymize r.{format} {again} -o again.csv"));
        assert_eq!(test.records("again.csv"), test.records("plain.csv"), "{format}");
    }
}

#[test]
fn a_format_can_be_stated_if_the_name_does_not_show_it() {
    let test = TestDir::with_people();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o r.parquet"));
    test.write("r.data", test.bytes("r.parquet"));
    test.succeeds("verify r.data --format parquet --quasi age,zip -k 2").prints(&["8 records in"]);
    test.write("people.data", crate::test_dir::PEOPLE.replace(',', "%"));
    test.succeeds("verify people.data --format csv --delimiter % --quasi age,zip -k 1")
        .prints(&["8 records in"]);
}

#[test]
fn quotes_line_breaks_and_umlauts_are_preserved() {
    let test = TestDir::new();
    test.write("t.csv", "age,tale\n1,\"expected \"\"ü\"\", twice\"\n1,\"two\nlines\"\n");
    for format in endings() {
        test.succeeds(&format!(
            "anonymize t.csv --quasi age --sensitive tale -k 2 -o r.{format} --replace"
        ));
        test.succeeds(&format!("verify r.{format}")).prints(&["2 records in 1"]);
    }
    let mut tales: Vec<String> = csv::Reader::from_path(test.path().join("r.csv"))
        .unwrap()
        .records()
        .map(|r| r.unwrap()[1].to_owned())
        .collect();
    tales.sort();
    assert_eq!(tales, ["expected \"ü\", twice", "two\nlines"]);
}

#[test]
fn a_return_at_the_end_of_the_file_is_not_part_of_the_last_cell() {
    let test = TestDir::new();
    let asked = "anonymize t.csv --quasi zip --sensitive tale -k 2 -o r.csv";
    for end in ["cold\r", "\"cold\"\r", "cold\r\n\r", "cold\n\r"] {
        test.write("t.csv", format!("zip,tale\r\nA,flu\r\nA,{end}"));
        test.succeeds(asked).prints(&["2 of 2 records in"]);
        assert_eq!(test.records("r.csv"), ["A,cold", "A,flu"], "{end:?}");
        assert!(!test.text("r.csv").contains('\r'), "{end:?}");
    }
    test.write("t.csv", "zip\r\nA\r\nB\r");
    assert_eq!(test.succeeds("hierarchy build t.csv zip --kind mask").stdout, "A;*\nB;*\n");
    // Within quotation marks it is part of the text.
    test.write("t.csv", "zip,tale\nA,flu\nA,\"cold\r\"");
    test.succeeds(asked);
    assert!(test.text("r.csv").contains("A,\"cold\r\"\n"));
}
