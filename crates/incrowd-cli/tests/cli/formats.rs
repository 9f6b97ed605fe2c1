//! Every format that can be written is verified on its bytes, and can be read again as a table.

use incrowd::FORMATS;

use crate::room::Room;

const FLAGS: &str =
    "--identifier name --quasi age,zip --hierarchy zip=mask --sensitive disease -k 2 --order sorted";

/// Every ending of a file name that asks for a format on the list.
fn endings() -> impl Iterator<Item = String> {
    FORMATS.iter().flat_map(|card| {
        let ends: &[&str] = if card.compressed { &["", ".gz", ".zst"] } else { &[""] };
        card.extensions.iter().flat_map(|extension| ends.iter().map(move |end| format!("{extension}{end}")))
    })
}

/// What a release begins with, by the last part of its name.
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
        let room = Room::with_people();
        room.does(&format!("anonymize people.csv {FLAGS} -o r.{format}"));
        let mut names = ["people.csv", "r.release.json", &*format!("r.{format}")];
        names.sort_unstable();
        assert_eq!(room.names(), names);
        let done = room.does(&format!("verify r.{format}"));
        done.prints(&["8 records in", "k-anonymity(k=2)   holds", "digest   matches"]);
        room.run(&format!("verify r.{format} -k 8")).exits(1).prints(&["FAILS"]);
    }
}

#[test]
fn the_bytes_are_of_the_format_the_name_asks_for() {
    let room = Room::with_people();
    for format in endings() {
        let last = format.rsplit('.').next().unwrap();
        let Some((_, first)) = FIRST_BYTES.iter().find(|(end, _)| *end == last) else {
            panic!("add what a `.{last}` file begins with to `FIRST_BYTES` of {}", file!())
        };
        room.does(&format!("anonymize people.csv {FLAGS} -o r.{format}"));
        assert!(room.bytes(&format!("r.{format}")).starts_with(first), "{format}");
    }
}

#[test]
fn every_format_is_named_where_people_look() {
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
        let stated = format!("verify nothing --{} {} --quasi a -k 2", formats.flags[0].long, card.name);
        Room::new().refuses(&stated).says(&["there is no file `nothing`"]);
    }
}

/// A draft of a job puts a release beside its table, in the same format.
#[test]
fn a_drafted_job_keeps_the_format() {
    for card in FORMATS {
        for extension in card.extensions {
            let room = Room::with_people();
            let again = "--quasi age,zip --passthrough disease --unlinkable disease -k 1";
            room.does(&format!("anonymize people.csv {again} -o t.{extension}"));
            room.does(&format!("init t.{extension} -k 2 -o job.toml"));
            assert!(room.text("job.toml").contains(&format!("t.release.{extension}\"")), "{extension}");
        }
    }
}

#[test]
fn every_format_reads_back_as_the_same_table() {
    let room = Room::with_people();
    room.does(&format!("anonymize people.csv {FLAGS} -o plain.csv"));
    for format in endings() {
        room.does(&format!("anonymize people.csv {FLAGS} -o r.{format}"));
        // Every group is large enough, so nothing is generalized any more.
        let again =
            "--quasi age,zip --kind age=text --passthrough disease --unlinkable disease -k 1 --order sorted";
        room.does(&format!("anonymize r.{format} {again} -o again.csv"));
        assert_eq!(room.records("again.csv"), room.records("plain.csv"), "{format}");
    }
}

#[test]
fn a_format_can_be_stated_where_the_name_does_not_show_it() {
    let room = Room::with_people();
    room.does(&format!("anonymize people.csv {FLAGS} -o r.parquet"));
    room.write("r.data", room.bytes("r.parquet"));
    room.does("verify r.data --format parquet --quasi age,zip -k 2").prints(&["8 records in"]);
    room.write("people.data", crate::room::PEOPLE.replace(',', "%"));
    room.does("verify people.data --format csv --delimiter % --quasi age,zip -k 1").prints(&["8 records in"]);
}

#[test]
fn quotes_line_breaks_and_umlauts_survive() {
    let room = Room::new();
    room.write("t.csv", "age,tale\n1,\"says \"\"ü\"\", twice\"\n1,\"two\nlines\"\n");
    for format in endings() {
        room.does(&format!("anonymize t.csv --quasi age --sensitive tale -k 2 -o r.{format}"));
        room.does(&format!("verify r.{format}")).prints(&["2 records in 1"]);
    }
    let mut tales: Vec<String> = csv::Reader::from_path(room.path().join("r.csv"))
        .unwrap()
        .records()
        .map(|r| r.unwrap()[1].to_owned())
        .collect();
    tales.sort();
    assert_eq!(tales, ["says \"ü\", twice", "two\nlines"]);
}

#[test]
fn a_return_at_the_end_of_the_file_is_no_part_of_the_last_cell() {
    let room = Room::new();
    let asked = "anonymize t.csv --quasi zip --sensitive tale -k 2 -o r.csv";
    for end in ["cold\r", "\"cold\"\r", "cold\r\n\r", "cold\n\r"] {
        room.write("t.csv", format!("zip,tale\r\nA,flu\r\nA,{end}"));
        room.does(asked).prints(&["2 of 2 records in"]);
        assert_eq!(room.records("r.csv"), ["A,cold", "A,flu"], "{end:?}");
        assert!(!room.text("r.csv").contains('\r'), "{end:?}");
    }
    room.write("t.csv", "zip\r\nA\r\nB\r");
    assert_eq!(room.does("hierarchy build t.csv zip --kind mask").stdout, "A;*\nB;*\n");
    // Within quotation marks it is somebody's text.
    room.write("t.csv", "zip,tale\nA,flu\nA,\"cold\r\"");
    room.does(asked);
    assert!(room.text("r.csv").contains("A,\"cold\r\"\n"));
}
