//! Realistic tables: dates in every order, codes, classifications, columns that are functions of
//! others, and bounds that hold on the published bytes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use incrowd::job::{Input, Job, parse};
use incrowd::profile::{InitOptions, Preset};
use incrowd::{Anonymizer, Judging, Progress, Report};
use incrowd_testing::{data, or_skip};

/// A table in a directory of its own.
fn table(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

fn drafted(path: &Path, preset: Option<Preset>) -> String {
    let input = Input { paths: vec![path.to_owned().into()], ..Input::default() };
    let options = InitOptions { input, roles: Vec::new(), k: 3, job: "job.toml".into(), preset };
    options.run().unwrap().text
}

fn job(text: &str, dir: &Path) -> Job {
    parse("job.toml", text, dir).unwrap_or_else(|e| panic!("{e}\n{text}")).job
}

/// Makes the release of a job, verifies it, and returns its cells by column.
fn released(text: &str, dir: &Path) -> (Report, Vec<String>) {
    let mut job = job(text, dir);
    job.output.iter_mut().for_each(|output| output.replace = true);
    let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(Judging::of(&job).verify().unwrap().holds());
    let mut reader = csv::Reader::from_path(&report.tables[0]).unwrap();
    let cells = reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
    (report, cells)
}

/// Returns 60 days of the year 1972 in a format, each also with day and month swapped if that is a
/// date.
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
    // These are the same days, so they are published in the same form.
    for (what, cells) in &releases[1..] {
        assert_eq!(*cells, releases[0].1, "{what}");
    }
}

#[test]
fn dates_without_a_hierarchy_are_ranges_of_dates() {
    let (dir, _) = table(&format!("born,x\n{}", days(|d, m| format!("{d:02}.{m:02}.1972"))));
    let text = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n\
                [columns]\nborn = \"quasi\"\nx = \"drop\"\n\
                [[models]]\nname = \"k-anonymity\"\nk = 3\n";
    let (_, cells) = released(text, dir.path());
    assert!(cells.iter().all(|cell| cell.contains("1972-") && !cell.contains('.')), "{cells:?}");
}

#[test]
fn an_ambiguous_order_must_be_stated() {
    let rows: String =
        (0..40).map(|i| format!("{:02}/{:02}/1972\n", 1 + i % 12, 1 + i % 11)).collect();
    let (dir, path) = table(&format!("born\n{rows}"));
    let text = |more: &str| {
        format!(
            "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n\
             [columns]\nborn = {{ role = \"quasi\"{more} }}\n\
             [[models]]\nname = \"k-anonymity\"\nk = 2\n"
        )
    };
    let refused = Anonymizer::new(job(&text(""), dir.path())).run().unwrap_err();
    assert!(refused.message().contains("whether the day or the month comes first"), "{refused}");
    assert!(!refused.to_string().contains("1972"), "no cell is shown");
    released(&text(", format = \"MM/DD/YYYY\""), dir.path());
    let drafted = drafted(&path, None);
    assert!(
        drafted.contains("format = \"DD/MM/YYYY\"")
            && drafted.contains("LOOK: its dates can be read as"),
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
fn a_classification_needs_no_file_and_warns_about_other_values() {
    let codes = ["E11.9", "E11.0", "E10.1", "I10", "I21.9", "J45.0", "fall"];
    let rows: String = (0..140).map(|i| format!("{},x\n", codes[i % 7])).collect();
    let (dir, _) = table(&format!("diagnosis,x\n{rows}"));
    let text = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n[columns]\n\
                diagnosis = { role = \"quasi\", hierarchy = \"icd10\", min_level = 1 }\n\
                x = \"drop\"\n\
                [[models]]\nname = \"k-anonymity\"\nk = 5\n";
    let (report, cells) = released(text, dir.path());
    let warning = "column `diagnosis`: 1 value is not in the classification `icd10`, \
                   and can only be published unchanged or as `*`";
    assert_eq!(report.warnings, [warning]);
    assert!(cells.iter().all(|cell| !codes.contains(&cell.as_str())), "{cells:?}");
    assert!(cells.iter().any(|cell| cell == "E11.-"));
}

#[test]
fn columns_that_are_functions_of_another_become_its_hierarchy() {
    let rows: String = (0..720)
        .map(|i| format!("m{:02},d{},r{},{}\n", i % 24, i % 24 / 4, i % 24 / 12, 20 + i % 7))
        .collect();
    let (dir, path) = table(&format!("municipality,district,region,age\n{rows}"));
    let text = drafted(&path, None);
    let line =
        "municipality = { role = \"quasi\", hierarchy = { columns = [\"district\", \"region\"] } }";
    assert!(
        text.contains(line)
            && text.contains("district = \"drop\"")
            && text.contains("region = \"drop\""),
        "{text}"
    );
    let coarse = text.replace("k = 3", "k = 40");
    let (_, cells) = released(&coarse, dir.path());
    assert!(cells.iter().any(|cell| cell.starts_with('d') || cell.starts_with('r')), "{cells:?}");
    // A town in two districts makes no tree.
    let torn = std::fs::read_to_string(&path).unwrap() + "m00,d5,r1,33\n";
    std::fs::write(&path, torn).unwrap();
    let refused = Anonymizer::new(job(&coarse, dir.path())).run().unwrap_err();
    assert!(
        refused.message().starts_with("column `district` does not follow from `municipality`"),
        "{refused}"
    );
}

/// Counts the steps that process as many bytes as the table has.
struct Readings(u64, AtomicU64);

impl Progress for Readings {
    fn step(&self, _: &str, total: Option<u64>) {
        self.1.fetch_add(u64::from(total == Some(self.0)), Ordering::Relaxed);
    }
    fn advance(&self, _: u64) {}
}

#[test]
fn the_table_is_read_once_and_once_more_for_all_hierarchies_of_columns() {
    let row = |i: u32| format!("p{i},t{},d{},s{},q{},v{}\n", i % 24, i % 4, i % 15, i % 3, i % 7);
    let rows: String = (0..240).map(row).collect();
    let (dir, path) = table(&format!("id,town,district,street,quarter,illness\n{rows}"));
    let bytes = std::fs::metadata(&path).unwrap().len();
    let of_columns = "town = { role = 'quasi', hierarchy = { columns = ['district'] } }\n\
                      street = { role = 'quasi', hierarchy = { columns = ['quarter'] } }\n\
                      district = 'drop'\nquarter = 'drop'\n";
    let people = "id = 'identifier'\ntown = 'quasi'\nillness = 'sensitive'\n";
    let k = "[[models]]\nname = 'k-anonymity'\nk = 2\n";
    let anatomy = "[[models]]\nname = 'l-diversity'\nl = 2\n[algorithm]\nname = 'anatomy'\nl = 2\n";
    let suppression = format!("{k}[suppression]\nname = 'r-suppression'\nl = 2\nseed = 3\n");
    for (columns, more, readings) in
        [(of_columns, k, 2), (people, anatomy, 1), (people, &suppression, 1)]
    {
        let text = format!(
            "[input]\npath = 't.csv'\n[output]\npath = 'o{readings}{}.csv'\n\
             [columns]\n{columns}{more}",
            more.len()
        );
        let counted = Readings(bytes, AtomicU64::new(0));
        Anonymizer::new(job(&text, dir.path()))
            .progress(&counted)
            .run()
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(counted.1.into_inner(), readings, "{text}");
    }
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
            let report =
                Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{algorithm} {age}: {e}"));
            let mut reader = csv::Reader::from_path(&report.tables[0]).unwrap();
            for record in reader.records() {
                let record = record.unwrap();
                let numbers = record[0]
                    .split(|c: char| !c.is_ascii_digit())
                    .filter_map(|n| n.parse::<u32>().ok());
                let most = numbers.clone().max().unwrap_or(0);
                assert!(most < 90 || &record[0] == ">=90", "{algorithm} {age}: {}", &record[0]);
                assert!(numbers.min().unwrap_or(17) >= 16, "{algorithm} {age}: {}", &record[0]);
                assert!(
                    record[1].ends_with("**") || &record[1] == "*",
                    "{algorithm}: {}",
                    &record[1]
                );
            }
            assert!(Judging::of(&job).verify().unwrap().holds());
        }
    }
}

#[test]
fn a_release_that_violates_a_bound_is_detected() {
    let rows: String = (0..40).map(|i| format!("{}\n", 80 + i % 20)).collect();
    let (dir, _) = table(&format!("age\n{rows}"));
    let text = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n\
                [columns]\nage = { role = \"quasi\", top = 90 }\n\
                [[models]]\nname = \"k-anonymity\"\nk = 2\n";
    released(text, dir.path());
    let path = dir.path().join("o.csv");
    let forged = std::fs::read_to_string(&path).unwrap().replace(">=90", "\"[90, 99]\"");
    std::fs::write(&path, forged).unwrap();
    let refused = Judging::of(&job(text, dir.path())).verify().unwrap_err();
    assert!(
        refused.message().contains("finer than its `top` allows")
            || refused.message().contains("are finer"),
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
        let job = "[input]\npath = \"t.csv\"\n[output]\npath = \"o.csv\"\n\
                   [columns]\nage = \"quasi\"\n\"größe\" = \"quasi\"\n\
                   [[models]]\nname = \"k-anonymity\"\nk = 3\n";
        released(job, dir.path());
        let release = std::fs::read_to_string(dir.path().join("o.csv")).unwrap();
        assert!(release.starts_with("age,größe\n") && release.contains("Zürich"), "{release}");
    }
}

/// Compares the drafts of `init` for the public tables with `init.expected`, which has a line for
/// each column, with its reason above it.
#[test]
fn drafts_for_public_tables_are_the_expected_ones() {
    let data = or_skip!(data("adult.csv.gz"));
    let mut tables: Vec<PathBuf> =
        std::fs::read_dir(data).unwrap().map(|e| e.unwrap().path()).collect();
    tables.retain(|path| path.to_string_lossy().ends_with(".csv.gz"));
    tables.sort();
    let mut found = String::new();
    for path in tables {
        found += &format!("\n[{}]\n", path.file_name().unwrap().to_string_lossy());
        let text = drafted(&path, None);
        let columns = text
            .lines()
            .skip_while(|line| *line != "[columns]")
            .skip(1)
            .take_while(|line| !line.is_empty());
        columns
            .filter(|line| !line.starts_with('#'))
            .for_each(|line| found += &format!("{line}\n"));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/init.expected");
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    let expected: String = written
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(found, expected, "if the draft is better than what is written down, say there why");
    let lines: Vec<&str> = written.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[1].contains(" = ")) {
        assert!(pair[0].starts_with("# "), "{} stands there without an argument", pair[1]);
    }
}

/// Returns a release as text, after verification with its manifest.
fn published(text: &str, dir: &Path) -> String {
    let mut job = job(text, dir);
    job.output.iter_mut().for_each(|output| output.replace = true);
    let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let release = &report.tables[0];
    // With the manifest alone, and with the job.
    assert!(Judging::new(release).verify().unwrap().holds(), "{text}");
    assert!(Judging::of(&job).verify().unwrap().holds(), "{text}");
    std::fs::read_to_string(release).unwrap_or_default()
}

fn asking(input: &str, output: &str, columns: &str) -> String {
    format!(
        "[input]\npath = \"t.csv\"\n{input}[output]\norder = \"sorted\"\n{output}[columns]\n\
         {columns}\
         [[models]]\nname = \"k-anonymity\"\nk = 3\n"
    )
}

/// Writes sixty people with a height and a wage, in one of two notations.
fn measured(comma: bool) -> String {
    let mark = |text: String| if comma { text.replace('.', ",") } else { text };
    let (cut, name) = if comma { (';', "a;b") } else { (',', "plain") };
    let rows = (0..60u32).map(|i| {
        let wage = 900 + 37 * i;
        let wage = match comma {
            true => {
                format!("{}.{:03},5", wage / 1000, wage % 1000).trim_start_matches("0.").to_owned()
            }
            false => format!("{wage}.5"),
        };
        format!("{}{cut}{wage}{cut}\"{name}\"\n", mark(format!("{}.{}", 150 + i / 2, i % 10)))
    });
    format!("height{cut}wage{cut}note\n{}", rows.collect::<String>())
}

#[test]
fn a_decimal_comma_is_read_and_kept() {
    let columns = "height = \"quasi\"\nwage = \"sensitive\"\nnote = \"drop\"\n";
    let ask = asking("", "path = \"o.csv\"\n", columns);
    let (dir, _) = table(&measured(true));
    let comma = published(&ask, dir.path());
    let (dir, _) = table(&measured(false));
    let point = published(&ask, dir.path());
    assert!(comma.starts_with("height;wage\n") && point.starts_with("height,wage\n"));
    assert!(
        comma.lines().skip(1).all(|line| line.starts_with("[15")
            || line.starts_with("[16")
            || line.starts_with("[17"))
    );
    // Equal numbers make equal groups.
    let plain = |text: &str| {
        let mut rows: Vec<Vec<String>> = csv::ReaderBuilder::new()
            .delimiter(if text.contains(';') { b';' } else { b',' })
            .from_reader(text.as_bytes())
            .records()
            .map(|record| {
                record.unwrap().iter().map(|c| c.replace(", ", " ~ ").replace(',', ".")).collect()
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(plain(&comma), plain(&point));
    assert!(comma.contains(",5\n"), "wages keep their comma: {}", comma.lines().nth(1).unwrap());
    // Another decimal mark on request.
    let (dir, _) = table(&measured(true));
    let ask = asking("", "path = \"o.csv\"\ndelimiter = \",\"\ndecimal = \".\"\n", columns);
    assert_eq!(plain(&published(&ask, dir.path())), plain(&point));
    assert!(published(&ask, dir.path()).starts_with("height,wage\n"));
}

#[test]
fn numbers_with_thousands_are_numbers_in_a_profile() {
    let (_dir, path) = table(&measured(true));
    let text = drafted(&path, None);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("height = ").contains("numeric"), "{text}");
    let rows: String =
        (0..40).map(|i| format!("\"{},{:03}\",x{}\n", 1 + i % 5, 100 + i, i % 3)).collect();
    let (_dir, path) = table(&format!("stock,kind\n{rows}"));
    let text = drafted(&path, None);
    assert!(
        text.lines().any(|line| line.starts_with("stock = ") && line.contains("numeric")),
        "{text}"
    );
}

#[test]
fn the_delimiter_is_kept_unless_the_extension_implies_another() {
    let text = measured(true);
    for (name, cut) in [("o.csv", ';'), ("o.tsv", '\t'), ("o.txt", ';')] {
        let (dir, _) = table(&text);
        let ask = asking(
            "",
            &format!("path = \"{name}\"\n"),
            "height = \"quasi\"\nwage = \"sensitive\"\n",
        );
        assert!(published(&ask, dir.path()).starts_with(&format!("height{cut}wage\n")), "{name}");
    }
    let (dir, _) = table(&text.replace(';', "\t"));
    let ask = asking("", "path = \"o.csv\"\n", "height = \"quasi\"\nwage = \"sensitive\"\n");
    assert!(published(&ask, dir.path()).starts_with("height,wage\n"), "a csv file has no tabs");
}

/// Writes forty people, some without an age or a town.
fn lacking(marker: &str) -> String {
    let rows = (0..40).map(|i| {
        let age = if i % 4 == 0 { marker.to_owned() } else { format!("{}", 20 + i) };
        let town = if i % 8 == 0 { marker } else { ["Graz", "Linz"][i % 2] };
        let work = if i % 5 == 0 { marker } else { "cook" };
        format!("{age},{town},{work}\n")
    });
    format!("age,town,work\n{}", rows.collect::<String>())
}

#[test]
fn missing_values_keep_their_text() {
    let columns = "age = \"quasi\"\ntown = \"quasi\"\nwork = \"sensitive\"\n";
    for (marker, more, shown) in
        [("", "", ""), ("?", "", "?"), ("NA", "", "NA"), ("-9", "missing = [\"-9\"]\n", "-9")]
    {
        let (dir, _) = table(&lacking(marker));
        let ask = asking(&format!("on_missing = \"keep\"\n{more}"), "path = \"o.csv\"\n", columns);
        let text = published(&ask, dir.path());
        let last = |line: &str| line.rsplit(',').next().unwrap().to_owned();
        let works: Vec<String> = text.lines().skip(1).map(last).collect();
        assert_eq!(works.iter().filter(|work| *work == shown).count(), 8, "{marker}: {text}");
        // People without an age are in one group.
        assert!(
            text.lines().any(|line| line.starts_with(&format!("{shown},"))),
            "{marker}: {text}"
        );
    }
    let (dir, _) = table(&lacking(""));
    let ask = asking("on_missing = \"keep\"\n", "path = \"o.csv\"\nmissing = \"none\"\n", columns);
    assert!(published(&ask, dir.path()).contains(",none\n"));
}

/// Returns the columns of a release with their types, and the cells of one as text.
fn typed(text: &str, dir: &Path) -> (Vec<(String, String)>, Vec<arrow_array::RecordBatch>) {
    let mut job = job(text, dir);
    // A release of another format has the same manifest name.
    job.output.iter_mut().for_each(|output| output.replace = true);
    Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let release = job.output.as_ref().unwrap().path.clone();
    assert!(Judging::new(&release).verify().unwrap().holds());
    let file = std::fs::File::open(release.file().unwrap()).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
    let schema = reader.schema();
    let columns =
        schema.fields().iter().map(|f| (f.name().clone(), f.data_type().to_string())).collect();
    (columns, reader.map(Result::unwrap).collect())
}

#[test]
fn ranges_are_two_columns_of_numbers() {
    use arrow_array::Array;
    let columns = "age = \"quasi\"\ntown = \"quasi\"\nwork = \"sensitive\"\n";
    let (dir, _) = table(&lacking(""));
    for (path, extra) in [
        ("o.csv", ""),
        ("p.csv", "hierarchy = { intervals = { width = 10 } }, "),
        ("q.csv", "top = 50, "),
    ] {
        let columns =
            columns.replace("age = \"quasi\"", &format!("age = {{ {extra}role = \"quasi\" }}"));
        let ask = asking("", &format!("path = \"{path}\"\nnumbers = \"low-high\"\n"), &columns);
        let text = published(&ask, dir.path());
        assert!(text.starts_with("age_low,age_high,town,work\n"), "{text}");
        let is_range = |line: &str| {
            let mut cells = line.split(',');
            let end = |cell: Option<&str>| cell.unwrap().parse::<f64>().ok();
            let (low, high) = (end(cells.next()), end(cells.next()));
            low.is_some_and(|low| high.is_none_or(|high| low <= high))
        };
        assert!(text.lines().skip(1).all(is_range), "{text}");
        if path == "q.csv" {
            assert!(
                text.lines().any(|line| line.contains(",,")),
                "an open range has no upper end: {text}"
            );
        }
    }
    // The bounds are those of the ranges as text.
    let range = published(&asking("", "path = \"o.csv\"\n", columns), dir.path());
    let ends =
        published(&asking("", "path = \"o.csv\"\nnumbers = \"low-high\"\n", columns), dir.path());
    let as_ends =
        |line: &str| line.replacen("\"[", "", 1).replacen(", ", ",", 1).replacen("]\"", "", 1);
    let mut expected: Vec<String> = range.lines().skip(1).map(as_ends).collect();
    let mut found: Vec<String> = ends.lines().skip(1).map(str::to_owned).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    let ask =
        asking("on_missing = \"keep\"\n", "path = \"o.arrow\"\nnumbers = \"low-high\"\n", columns);
    let (types, batches) = typed(&ask, dir.path());
    assert_eq!(
        types[..2],
        [("age_low".to_owned(), "Int64".to_owned()), ("age_high".to_owned(), "Int64".to_owned())]
    );
    let nulls: usize = batches.iter().map(|batch| batch.column(0).null_count()).sum();
    assert!(nulls >= 10, "{nulls} people without an age have no range");
    // A column of that name would be read as one of the bounds.
    std::fs::write(dir.path().join("t.csv"), "age,age_low\n1,1\n1,1\n1,1\n").unwrap();
    let ask = asking(
        "",
        "path = \"other.csv\"\nnumbers = \"low-high\"\n",
        "age = \"quasi\"\nage_low = \"passthrough\"\n",
    );
    let error = Anonymizer::new(job(&ask, dir.path())).run().unwrap_err();
    assert!(
        error.message().contains("age_low") && error.key() == Some("output.numbers"),
        "{error}"
    );
}

#[test]
fn a_missing_value_whose_label_is_a_number_has_no_ends() {
    use arrow_array::Array;
    let input = "missing = [\"99999\"]\non_missing = \"keep\"\n";
    let (dir, _) = table(&lacking("99999"));
    for extra in ["", "hierarchy = { intervals = { width = 10 } }, "] {
        let columns =
            format!("age = {{ {extra}role = \"quasi\" }}\ntown = \"drop\"\nwork = \"sensitive\"\n");
        let ask = |path: &str| {
            asking(input, &format!("path = \"{path}\"\nnumbers = \"low-high\"\n"), &columns)
        };
        let text = published(&ask("o.csv"), dir.path());
        let without = text.lines().filter(|line| line.starts_with(",,")).count();
        assert!(without >= 10 && !text.contains("99999,"), "{extra}: {text}");
        let (types, batches) = typed(&ask("o.arrow"), dir.path());
        assert_eq!(types[0], ("age_low".to_owned(), "Int64".to_owned()));
        let nulls: usize = batches.iter().map(|batch| batch.column(0).null_count()).sum();
        assert!(nulls >= 10, "{extra}: {nulls} people without an age have no range");
        // Both ends empty are read as a cell that covers all ages.
        let measured = Judging::of(&job(&ask("o.arrow"), dir.path())).measure(None).unwrap();
        assert!(measured.metrics().ncp() >= 0.25, "{extra}");
    }
}

#[test]
fn sets_are_lists_and_missing_values_are_null_in_typed_formats() {
    use arrow_array::Array;
    let columns =
        "age = { role = \"quasi\", kind = \"text\" }\ntown = \"quasi\"\nwork = \"sensitive\"\n";
    let (dir, _) = table(&lacking(""));
    for file in ["o.arrow", "o.parquet"] {
        let ask = asking("", &format!("path = \"{file}\"\nsets = \"list\"\n"), columns);
        if file == "o.parquet" {
            published(&ask, dir.path());
            continue;
        }
        let (types, _) = typed(&ask, dir.path());
        assert!(types[0].1.starts_with("List"), "{types:?}");
        assert_eq!(types[2].1, "Utf8");
    }
    let ask = asking(
        "on_missing = \"keep\"\n",
        "path = \"o.arrow\"\n",
        "age = \"quasi\"\nwork = \"sensitive\"\n",
    );
    let (_, batches) = typed(&ask, dir.path());
    let nulls = |column: usize| -> usize {
        batches.iter().map(|batch| batch.column(column).null_count()).sum()
    };
    assert_eq!((nulls(0), nulls(1)), (10, 8));
    let ask = asking("", "path = \"o.csv\"\nsets = \"list\"\n", columns);
    let error = Anonymizer::new(job(&ask, dir.path())).run().unwrap_err();
    assert_eq!(error.key(), Some("output.sets"), "{error}");
}

#[test]
fn a_directory_is_a_table_and_its_partition_names_are_columns() {
    let dir = tempfile::tempdir().unwrap();
    for (part, town) in [
        ("year=2020/town=Graz", 0),
        ("year=2020/town=S%C3%A3o%20Jos%C3%A9", 1),
        ("year=2021/town=__HIVE_DEFAULT_PARTITION__", 2),
    ] {
        let at = dir.path().join("people").join(part);
        std::fs::create_dir_all(&at).unwrap();
        let rows: String = (0..6).map(|i| format!("{},{}\n", 30 + town * 10 + i, i % 2)).collect();
        std::fs::write(at.join("part-0.csv"), format!("age,ill\n{rows}")).unwrap();
        std::fs::write(at.join("_SUCCESS"), "").unwrap();
    }
    let ask = "[input]\npath = \"people\"\non_missing = \"keep\"\n[output]\npath = \"o.csv\"\n\
               [columns]\nage = \"quasi\"\n\
               year = \"passthrough\"\ntown = \"passthrough\"\nill = \"sensitive\"\n\
               [[models]]\nname = \"k-anonymity\"\nk = 6\n";
    let text = published(ask, dir.path());
    let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    assert_eq!((text.lines().count(), count("Graz"), count("São José")), (19, 6, 6), "{text}");
    assert_eq!((count("2020"), count("2021")), (12, 6), "{text}");
    // A directory without partitions, and one without a table.
    let plain = dir.path().join("people/year=2020/town=Graz");
    let ask = |path: &Path| {
        format!(
            "[input]\npath = {:?}\n[output]\npath = \"o.csv\"\n\
             [columns]\nage = \"quasi\"\nill = \"sensitive\"\n\
             [[models]]\nname = \"k-anonymity\"\nk = 3\n",
            path
        )
    };
    assert_eq!(published(&ask(&plain), dir.path()).lines().count(), 7);
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let error =
        Anonymizer::new(job(&ask(&dir.path().join("empty")), dir.path())).run().unwrap_err();
    assert!(error.message().contains("holds no table"), "{error}");
}

#[test]
fn means_are_those_of_the_groups_and_of_the_table() {
    let columns = "age = \"quasi\"\ntown = \"quasi\"\nwork = \"sensitive\"\n";
    let (dir, path) = table(&lacking(""));
    let ask = asking("", "path = \"o.csv\"\nnumbers = \"mean\"\n", columns);
    let text = published(&ask, dir.path());
    // People without a town or an age were dropped; the others are those of the table.
    let kept = lacking("")
        .lines()
        .skip(1)
        .filter(|line| line.split(',').all(|cell| !cell.is_empty()))
        .fold((0.0, 0), |(sum, n), line| {
            (sum + line.split(',').next().unwrap().parse::<f64>().unwrap(), n + 1)
        });
    let found = text.lines().skip(1).fold((0.0, 0), |(sum, n), line| {
        (sum + line.split(',').next().unwrap().parse::<f64>().unwrap(), n + 1)
    });
    assert_eq!(found.1, kept.1);
    assert!((found.0 - kept.0).abs() < 1e-4, "{found:?} {kept:?}");
    // Their loss is that of their ranges.
    let cost =
        |ask: &str| Anonymizer::new(job(ask, dir.path())).run().unwrap().manifest.metrics.ncp();
    let ranges = asking("", "path = \"r.csv\"\n", columns);
    assert_eq!(cost(&ask), cost(&ranges));
    assert!(cost(&ask) > 0.0);
    // Commands that would read means as single values refuse them.
    let mut judging = Judging::new(dir.path().join("o.csv"));
    judging.original = Some(Input { paths: vec![path.into()], ..Input::default() });
    let error = judging.measure(None).unwrap_err();
    assert!(error.message().contains("group means"), "{error}");
    let bounded = asking(
        "",
        "path = \"o.csv\"\nnumbers = \"mean\"\n",
        "age = { role = \"quasi\", top = 50 }\n",
    );
    assert_eq!(
        Anonymizer::new(job(&bounded, dir.path())).run().unwrap_err().key(),
        Some("output.numbers")
    );
}
