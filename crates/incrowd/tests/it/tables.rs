//! Tables as people have them: dates in every order, codes, classifications, columns that follow from one another, and bounds
//! that hold on the published bytes.

use std::path::{Path, PathBuf};

use incrowd::job::{Input, Job, parse};
use incrowd::profile::{InitOptions, Preset, init};
use incrowd::{Judging, Report, Silent, anonymize, verify};
use incrowd_testing::{data, or_skip};

/// A table in a directory of its own.
fn table(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

fn drafted(path: &Path, preset: Option<Preset>) -> String {
    let input = Input { paths: vec![path.to_owned()], ..Input::default() };
    let options = InitOptions { input, roles: Vec::new(), k: 3, job: "job.toml".into(), preset };
    init(&options, &Silent).unwrap().text
}

fn job(text: &str, dir: &Path) -> Job {
    parse("job.toml", text, dir).unwrap_or_else(|e| panic!("{e}\n{text}")).job
}

/// Makes the release of a job, verifies it anew, and gives its cells by column.
fn released(text: &str, dir: &Path) -> (Report, Vec<String>) {
    let job = job(text, dir);
    let report = anonymize(&job, &Silent).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(verify(&Judging::of(&job), &Silent).unwrap().holds());
    let mut reader = csv::Reader::from_path(&report.tables[0]).unwrap();
    let cells = reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
    (report, cells)
}

/// 60 days of the year 1972 as they are written elsewhere, each one in both months that a swap would make of it, if it can.
fn days(written: impl Fn(u32, u32) -> String) -> String {
    let rows = (0..60u32).map(|i| (1 + i % 28, 1 + i % 12));
    rows.map(|(day, month)| format!("{},x\n", written(day, month))).collect()
}

#[test]
fn dates_in_every_order_are_generalized_as_dates() {
    type Written = fn(u32, u32) -> String;
    let ways: [(&str, Written); 8] = [
        ("dots", |d, m| format!("{d:02}.{m:02}.1972")),
        ("short", |d, m| format!("{d}.{m}.1972")),
        ("day first", |d, m| format!("{d:02}/{m:02}/1972")),
        ("month first", |d, m| format!("{m:02}/{d:02}/1972")),
        ("zone", |d, m| format!("1972-{m:02}-{d:02}T10:00:00Z")),
        ("time", |d, m| format!("{d:02}.{m:02}.1972 23:18")),
        ("no marks", |d, m| format!("1972{m:02}{d:02}")),
        ("international", |d, m| format!("1972-{m:02}-{d:02}")),
    ];
    let mut releases = Vec::new();
    for (what, written) in ways {
        let (dir, path) = table(&format!("born,x\n{}", days(written)));
        let text = drafted(&path, None);
        let line = text.lines().find(|line| line.starts_with("born = ")).unwrap();
        assert!(line.contains("hierarchy = \"dates\"") && !line.contains("mask"), "{what}: {line}");
        let (_, mut cells) = released(&text, dir.path());
        cells.sort();
        assert!(cells.iter().all(|cell| cell.starts_with("1972")), "{what}");
        releases.push((what, cells));
    }
    // They are the same days, so they are published alike.
    for (what, cells) in &releases[1..] {
        assert_eq!(*cells, releases[0].1, "{what}");
    }
}

#[test]
fn dates_without_a_hierarchy_are_ranges_of_dates() {
    let (dir, _) = table(&format!("born,x\n{}", days(|d, m| format!("{d:02}.{m:02}.1972"))));
    let text = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\nborn = \"quasi\"\nx = \"drop\"\n\
                [[models]]\nname = \"k-anonymity\"\nk = 3\n";
    let (_, cells) = released(text, dir.path());
    assert!(cells.iter().all(|cell| cell.contains("1972-") && !cell.contains('.')), "{cells:?}");
}

#[test]
fn an_order_that_nothing_tells_must_be_stated() {
    let rows: String = (0..40).map(|i| format!("{:02}/{:02}/1972\n", 1 + i % 12, 1 + i % 11)).collect();
    let (dir, path) = table(&format!("born\n{rows}"));
    let text = |more: &str| {
        format!(
            "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\nborn = {{ role = \"quasi\"{more} }}\n\
             [[models]]\nname = \"k-anonymity\"\nk = 2\n"
        )
    };
    let refused = anonymize(&job(&text(""), dir.path()), &Silent).unwrap_err();
    assert!(refused.message().contains("whether the day or the month comes first"), "{refused}");
    assert!(!refused.to_string().contains("1972"), "no cell is shown");
    released(&text(", format = \"MM/DD/YYYY\""), dir.path());
    let drafted = drafted(&path, None);
    assert!(
        drafted.contains("format = \"DD/MM/YYYY\"") && drafted.contains("LOOK: its dates can be read as"),
        "{drafted}"
    );
    released(&drafted, dir.path());
}

#[test]
fn codes_are_categories_and_bands_are_intervals() {
    let rows: String = (0..200u32)
        .map(|i| {
            let source = [1, 7, 1, 4, 7, 1, 20][(i % 7) as usize];
            let band = 10 * (i % 8);
            format!("{},{},{source},[{band}-{}),{}\n", 1 + i % 2, 1 + i % 9, band + 10, i % 14)
        })
        .collect();
    let (dir, path) = table(&format!("SEX,RAC1P,admission_source_id,age,time_in_hospital\n{rows}"));
    let text = drafted(&path, None);
    for line in [
        "SEX = { role = \"quasi\", kind = \"text\" }",
        "RAC1P = { role = \"quasi\", kind = \"text\" }",
        "admission_source_id = { role = \"quasi\", kind = \"text\" }",
        "age = { role = \"quasi\", hierarchy = \"bands\" }",
        "time_in_hospital = { role = \"quasi\", kind = \"numeric\" }",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    released(&text, dir.path());
}

#[test]
fn a_classification_needs_no_file_and_tells_what_does_not_fit() {
    let codes = ["E11.9", "E11.0", "E10.1", "I10", "I21.9", "J45.0", "fall"];
    let rows: String = (0..140).map(|i| format!("{},x\n", codes[i % 7])).collect();
    let (dir, _) = table(&format!("diagnosis,x\n{rows}"));
    let text = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\n\
                diagnosis = { role = \"quasi\", hierarchy = \"icd10\", min_level = 1 }\nx = \"drop\"\n\
                [[models]]\nname = \"k-anonymity\"\nk = 5\n";
    let (report, cells) = released(text, dir.path());
    let told = "column `diagnosis`: 1 value is not in the classification `icd10`, and can only be published as it is or as `*`";
    assert_eq!(report.warnings, [told]);
    assert!(cells.iter().all(|cell| !codes.contains(&cell.as_str())), "{cells:?}");
    assert!(cells.iter().any(|cell| cell == "E11.-"));
}

#[test]
fn columns_that_follow_become_a_hierarchy() {
    let rows: String = (0..720)
        .map(|i| format!("m{:02},d{},r{},{}\n", i % 24, i % 24 / 4, i % 24 / 12, 20 + i % 7))
        .collect();
    let (dir, path) = table(&format!("municipality,district,region,age\n{rows}"));
    let text = drafted(&path, None);
    let line = "municipality = { role = \"quasi\", hierarchy = { columns = [\"district\", \"region\"] } }";
    assert!(
        text.contains(line) && text.contains("district = \"drop\"") && text.contains("region = \"drop\""),
        "{text}"
    );
    let coarse = text.replace("k = 3", "k = 40");
    let (_, cells) = released(&coarse, dir.path());
    assert!(cells.iter().any(|cell| cell.starts_with('d') || cell.starts_with('r')), "{cells:?}");
    // A town in two districts is no tree.
    let torn = std::fs::read_to_string(&path).unwrap() + "m00,d5,r1,33\n";
    std::fs::write(&path, torn).unwrap();
    let refused = anonymize(&job(&coarse, dir.path()), &Silent).unwrap_err();
    assert!(
        refused.message().starts_with("column `district` does not follow from `municipality`"),
        "{refused}"
    );
}

#[test]
fn bounds_hold_on_the_published_bytes() {
    let rows: String = (0..400).map(|i| format!("{},0{}\n", 10 + i % 90, 2100 + i % 60)).collect();
    let (dir, _) = table(&format!("age,zip\n{rows}"));
    for algorithm in ["mondrian", "ascent", "full-domain", "top-down", "local-recoding"] {
        for age in [
            "",
            ", hierarchy = { intervals = { width = 5 } }",
            ", hierarchy = { cuts = [18, 65] }",
            ", hierarchy = \"ages\"",
        ] {
            let text = format!(
                "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\n\
                 age = {{ role = \"quasi\", top = 90, bottom = 16{age} }}\n\
                 zip = {{ role = \"quasi\", hierarchy = \"postal\", min_level = 1 }}\n\
                 [[models]]\nname = \"k-anonymity\"\nk = 2\n[algorithm]\nname = \"{algorithm}\"\n"
            );
            let job = job(&text, dir.path());
            let report = anonymize(&job, &Silent).unwrap_or_else(|e| panic!("{algorithm} {age}: {e}"));
            let mut reader = csv::Reader::from_path(&report.tables[0]).unwrap();
            for record in reader.records() {
                let record = record.unwrap();
                let numbers =
                    record[0].split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
                let most = numbers.clone().max().unwrap_or(0);
                assert!(most < 90 || &record[0] == ">=90", "{algorithm} {age}: {}", &record[0]);
                assert!(numbers.min().unwrap_or(17) >= 16, "{algorithm} {age}: {}", &record[0]);
                assert!(record[1].ends_with("**") || &record[1] == "*", "{algorithm}: {}", &record[1]);
            }
            assert!(verify(&Judging::of(&job), &Silent).unwrap().holds());
        }
    }
}

#[test]
fn a_release_that_breaks_a_bound_is_found_out() {
    let rows: String = (0..40).map(|i| format!("{}\n", 80 + i % 20)).collect();
    let (dir, _) = table(&format!("age\n{rows}"));
    let text = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\nage = { role = \"quasi\", top = 90 }\n\
                [[models]]\nname = \"k-anonymity\"\nk = 2\n";
    released(text, dir.path());
    let path = dir.path().join("o.csv");
    let forged = std::fs::read_to_string(&path).unwrap().replace(">=90", "\"[90, 99]\"");
    std::fs::write(&path, forged).unwrap();
    let refused = verify(&Judging::of(&job(text, dir.path())), &Silent).unwrap_err();
    assert!(
        refused.message().contains("says more than its `top` allows")
            || refused.message().contains("say more"),
        "{refused}"
    );
}

#[test]
fn presets_follow_the_rules_of_the_field() {
    let rows: String = (0..300u32)
        .map(|i| {
            let born = format!("{:02}.{:02}.19{:02}", 1 + i % 28, 1 + i % 12, 20 + i % 60);
            format!(
                "{},{born},0{},c{},{}\n",
                20 + i % 80,
                2100 + i % 60,
                i % 40,
                ["flu", "cold"][(i % 2) as usize]
            )
        })
        .collect();
    let (dir, path) = table(&format!("age,born,zip,county,disease\n{rows}"));
    for (preset, top) in [(Preset::Hipaa, 90), (Preset::PublicUse, 85)] {
        let text = drafted(&path, Some(preset));
        for line in [
            &format!("age = {{ role = \"quasi\", kind = \"numeric\", top = {top} }}")[..],
            "born = { role = \"quasi\", hierarchy = \"dates\", min_level = 3 }",
            "zip = { role = \"quasi\", hierarchy = \"postal\", min_level = 1 }",
            "county = \"drop\"",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        released(&text, dir.path());
    }
}

#[test]
fn text_in_other_encodings_is_published_as_utf_8() {
    let rows: String = (0..60).map(|i| format!("{},Zürich\n", 20 + i % 10)).collect();
    let text = format!("age,größe\n{rows}");
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let utf16: Vec<u8> =
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes(), &latin, &utf16] {
        let (dir, path) = table("");
        std::fs::write(&path, bytes).unwrap();
        let job = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\nage = \"quasi\"\n\"größe\" = \"quasi\"\n\
                   [[models]]\nname = \"k-anonymity\"\nk = 3\n";
        released(job, dir.path());
        let release = std::fs::read_to_string(dir.path().join("o.csv")).unwrap();
        assert!(release.starts_with("age,größe\n") && release.contains("Zürich"), "{release}");
    }
}

/// What `init` makes of the public tables: a line for each column, in `init.expected`, with the reason where one could doubt.
#[test]
fn drafts_for_public_tables_are_those_written_down() {
    let data = or_skip!(data("adult.csv.gz"));
    let mut tables: Vec<PathBuf> = std::fs::read_dir(data).unwrap().map(|e| e.unwrap().path()).collect();
    tables.retain(|path| path.to_string_lossy().ends_with(".csv.gz"));
    tables.sort();
    let mut found = String::new();
    for path in tables {
        found += &format!("\n[{}]\n", path.file_name().unwrap().to_string_lossy());
        let text = drafted(&path, None);
        let columns =
            text.lines().skip_while(|line| *line != "[columns]").skip(1).take_while(|line| !line.is_empty());
        columns.filter(|line| !line.starts_with('#')).for_each(|line| found += &format!("{line}\n"));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/init.expected");
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let expected: String =
        written.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    if std::env::var_os("INCROWD_UPDATE_DOCS").is_some() && found != expected {
        std::fs::write(&file, &found).unwrap();
        return;
    }
    assert_eq!(found, expected);
}
