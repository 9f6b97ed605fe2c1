//! Small files of other programs that describe large tables. A file below 10 MiB needs less than
//! 1 GiB of memory. It is read, or there is one error with a help text. Failed allocations end the
//! process, so every command here runs within that limit.

use std::io::Read;

use incrowd_testing::foreign::{
    Packing, nested_parquet, shared_strings, spss, stata, stata_labels, stata_long,
    stata_long_cell, workbook,
};

use crate::test_dir::{Outcome, SECRET, TestDir};

/// The memory limit for a file below 10 MiB, in MiB.
const MEMORY: u64 = 1024;
/// The error for a table that does not fit.
const LARGE: &[&str] = &["MiB of memory", "CSV or Parquet"];

/// A directory with one small file.
fn setup(name: &str, content: Vec<u8>) -> TestDir {
    assert!(content.len() < 10 << 20, "{name} has {} bytes", content.len());
    let test = TestDir::new();
    test.write(name, content);
    test
}

/// Runs a command that must be refused within the limit, with one message and no cell.
fn refused(test: &TestDir, args: &str) -> Outcome {
    let before = test.names();
    let done = test.run_within(MEMORY, args).exits(2);
    assert_eq!(done.stdout, "", "{done}");
    assert_eq!(done.stderr.matches("error:").count(), 1, "{done}");
    assert!(!done.stderr.contains("panicked") && !done.stderr.contains(SECRET), "{done}");
    assert!(done.stderr.len() < 2000, "{done}");
    assert_eq!(test.names(), before, "{done}");
    done
}

fn inline(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

fn number(place: &str, x: usize) -> String {
    format!("<c r=\"{place}\"><v>{x}</v></c>")
}

fn row(number: usize, cells: &str) -> String {
    format!("<row r=\"{number}\">{cells}</row>")
}

#[test]
fn a_cell_at_the_end_of_a_sheet_allocates_no_cells_before_it() {
    let mut rows = row(1, &inline("A1", "age"));
    for i in (1 << 20) - 9..=1 << 20 {
        rows += &row(i, &(number(&format!("A{i}"), 30) + &number(&format!("XFD{i}"), 5)));
    }
    let test = setup("far.xlsx", workbook(&rows, "<sst/>", "<styleSheet/>"));
    test.run_within(MEMORY, "anonymize far.xlsx --quasi age -k 2 -o out.csv").exits(0);
    assert_eq!(test.records("out.csv").len(), 10);
}

/// A workbook with one column of numbers, and one number in the last column.
pub(crate) fn mostly_empty_workbook() -> Vec<u8> {
    let mut rows = row(1, &inline("A1", "age"));
    for i in 2..60_000 {
        rows += &row(i, &number(&format!("A{i}"), i % 90));
    }
    rows += &row(60_000, &number("XFD60000", 5));
    workbook(&rows, "<sst/>", "<styleSheet/>")
}

#[test]
fn a_workbook_that_is_mostly_empty_is_refused_before_it_is_filled() {
    let test = setup("wide.xlsx", mostly_empty_workbook());
    for command in ["profile", "init"] {
        refused(&test, &format!("{command} wide.xlsx")).reports(LARGE);
    }
}

#[test]
fn counts_stated_by_a_workbook_are_not_trusted() {
    let rows = row(1, "<c r=\"A1\" t=\"s\"><v>0</v></c>") + &row(2, &number("A2", 7));
    for count in ["18446744073709551615", "4000000000", "-1", "x"] {
        let strings =
            format!("<sst count=\"{count}\" uniqueCount=\"{count}\"><si><t>age</t></si></sst>");
        let styles = format!(
            "<styleSheet><cellXfs count=\"{count}\"><xf numFmtId=\"0\"/></cellXfs></styleSheet>"
        );
        let test = setup("counts.xlsx", workbook(&rows, &strings, &styles));
        test.run_within(MEMORY, "profile counts.xlsx").exits(0).prints(&["age"]);
    }
}

/// A workbook in which all records share one string of this many bytes.
pub(crate) fn shared_string(length: usize, records: usize) -> Vec<u8> {
    let long = SECRET.repeat(length / SECRET.len());
    let mut rows = row(1, &(inline("A1", "age") + &inline("B1", "note")));
    for i in 2..records + 2 {
        let cells =
            number(&format!("A{i}"), i % 9) + &format!("<c r=\"B{i}\" t=\"s\"><v>0</v></c>");
        rows += &row(i, &cells);
    }
    workbook(&rows, &shared_strings(&[&long]), "<styleSheet/>")
}

#[test]
fn a_long_string_shared_by_many_cells_of_a_workbook_is_stored_once() {
    let test = setup("shared.xlsx", shared_string(1 << 20, 5_000));
    test.run_within(MEMORY, "profile shared.xlsx").exits(0).prints(&["5,000 records", "note"]);
    test.run_within(MEMORY, "anonymize shared.xlsx --quasi age --drop note -k 2 -o out.csv")
        .exits(0);
    assert_eq!(test.records("out.csv").len(), 5_000);
}

#[test]
fn a_workbook_that_expands_to_very_long_texts_is_refused() {
    let long = SECRET.repeat((40 << 20) / SECRET.len());
    let rows = row(1, &inline("A1", "age")) + &row(2, &inline("A2", &long));
    for (rows, strings) in [
        (rows.as_str(), "<sst/>".to_owned()),
        ("", shared_strings(&[&long])),
        (&" ".repeat(40 << 20), String::new()),
    ] {
        let test = setup("long.xlsx", workbook(rows, &strings, "<styleSheet/>"));
        refused(&test, "profile long.xlsx");
    }
}

#[test]
fn the_names_of_sheets_in_a_message_are_few_and_short() {
    let sheet = format!("<sheet name=\"{}&#10;&#27;[31m\" r:id=\"rId0\"/>", "x".repeat(10_000));
    let book = format!("<workbook><sheets>{}</sheets></workbook>", sheet.repeat(5_000));
    let relation = |kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Id=\"rId0\" Type=\"x/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let file = incrowd_testing::foreign::zip(&[
        ("_rels/.rels", relation("officeDocument", "xl/workbook.xml").as_bytes()),
        ("xl/workbook.xml", book.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relation("worksheet", "sheet1.xml").as_bytes()),
    ]);
    let test = setup("sheets.xlsx", file);
    let done = refused(&test, "profile sheets.xlsx").reports(&["5000 sheets"]);
    assert!(!done.stderr.contains('\u{1b}'), "{done}");
    refused(&test, "profile sheets.xlsx --sheet xx").reports(&["no sheet `xx`"]);
}

#[test]
fn other_spreadsheets_are_recognized() {
    let opendocument =
        incrowd_testing::foreign::zip(&[("mimetype", b"x"), ("content.xml", b"<a/>")]);
    let relations = "<Relationships><Relationship Id=\"a\" Type=\"x/officeDocument\" Target=\"xl/workbook.bin\"/>\
                     </Relationships>";
    let binary = incrowd_testing::foreign::zip(&[("_rels/.rels", relations.as_bytes())]);
    for (name, content, what) in
        [("t.ods", opendocument, "an OpenDocument file"), ("t.xlsb", binary, "a binary Excel file")]
    {
        refused(&setup(name, content), &format!("profile {name}"))
            .reports(&[what, "save it as .xlsx"]);
    }
}

/// A Stata file with one label of 30,000 bytes for the answers of all records.
pub(crate) fn long_label(records: usize) -> Vec<u8> {
    let mut label = SECRET.repeat(30_000 / SECRET.len()).into_bytes();
    label.push(0);
    let data: Vec<u8> = (0..records).flat_map(|i| [1, (i % 80) as u8]).collect();
    let labels = stata_labels("answers", &[(1, 0)], &label);
    let columns = [("answer", BYTE, "answers"), ("age", BYTE, "")];
    stata(&columns, records as u64, &data, b"", &labels)
}

#[test]
fn a_release_of_long_sensitive_texts_is_written_in_chunks() {
    let test = setup("labels.dta", long_label(20_000));
    // 600 MB of text.
    test.run_within(512, "anonymize labels.dta --quasi age --sensitive answer -k 2 -o out.csv.gz")
        .exits(0);
    // The text in a passthrough column.
    let args = "anonymize labels.dta --quasi age --passthrough answer -k 2 -o passed.csv";
    test.run_within(MEMORY, args).exits(0);
}

/// Types of columns in Stata files.
const BYTE: u16 = 65530;
const LONG: u16 = 32768;

#[test]
fn a_long_label_of_many_records_of_a_stata_file_is_stored_once() {
    let test = setup("labels.dta", long_label(300_000));
    test.run_within(MEMORY, "profile labels.dta").exits(0).prints(&["300,000 records", "answer"]);
    test.run_within(MEMORY, "anonymize labels.dta --quasi age --drop answer -k 2 -o out.csv")
        .exits(0);
}

#[test]
fn long_texts_shared_by_many_records_of_a_stata_file_are_stored_once() {
    let long = SECRET.repeat((1 << 19) / SECRET.len());
    let data: Vec<u8> = (0..1_200).flat_map(|_| stata_long_cell(1, 1)).collect();
    let file = stata(&[("note", LONG, "")], 1_200, &data, &stata_long(1, 1, long.as_bytes()), b"");
    // Far less than copies would need.
    let test = setup("long.dta", file);
    test.run_within(256, "profile long.dta").exits(0).prints(&["1,200 records", "note"]);
}

/// A Stata file with 20,000 labels of up to 120,000 bytes that end with the same bytes.
pub(crate) fn overlapping_labels() -> Vec<u8> {
    let mut texts = SECRET.repeat(120_000 / SECRET.len()).into_bytes();
    texts.push(0);
    let labels: Vec<(i32, u32)> = (0..20_000).map(|i| (i, i as u32)).collect();
    let data: Vec<u8> = (0..20_000i16).flat_map(i16::to_le_bytes).collect();
    stata(&[("answer", 65529, "a")], 20_000, &data, b"", &stata_labels("a", &labels, &texts))
}

#[test]
fn overlapping_labels_are_refused_once_they_are_too_large() {
    refused(&setup("overlap.dta", overlapping_labels()), "profile overlap.dta").reports(LARGE);
}

#[test]
fn a_label_that_is_longer_than_any_label_of_stata_is_refused() {
    let mut texts = SECRET.repeat((5 << 20) / SECRET.len()).into_bytes();
    texts.push(0);
    let labels: Vec<(i32, u32)> = (0..20_000).map(|i| (i, 0)).collect();
    let data: Vec<u8> = (0..20_000i16).flat_map(i16::to_le_bytes).collect();
    let labels = stata_labels("a", &labels, &texts);
    let file = stata(&[("answer", 65529, "a")], 20_000, &data, b"", &labels);
    refused(&setup("long.dta", file), "profile long.dta").reports(&["a value label has more than"]);
}

#[test]
fn no_cell_of_a_damaged_stata_file_is_read_as_a_column_name() {
    // A cell contains a list of names, and the map of the file points to it.
    let mut cell = format!("<varnames>{SECRET}").into_bytes();
    cell.resize(200, 0);
    let file = stata(&[("note", 200, "")], 1, &cell, b"", b"");
    let find = |what: &[u8]| file.windows(what.len()).position(|bytes| bytes == what).unwrap();
    let (map, there) = (find(b"<map>") + 5, find(&cell) as u64);
    let mut damaged = file.clone();
    damaged[map + 24..map + 32].copy_from_slice(&there.to_le_bytes());
    refused(&setup("map.dta", damaged), "profile map.dta")
        .reports(&["its parts do not fit together"]);

    // A file of Stata 4 with one column; one changed bit makes it Stata 6, which has a longer
    // header.
    let mut old = vec![104, 2, 1, 0, 1, 0, 2, 0, 0, 0];
    old.extend(
        [&[0; 32][..], &[127 + 100], b"note\0\0\0\0\0", &[0; 4], b"%9s\0\0\0\0", &[0; 9], &[0; 32]]
            .concat(),
    );
    let mut cell = [&[b' '; 5][..], b"d", SECRET.as_bytes()].concat();
    cell.resize(200, 0);
    old.extend(cell);
    let test = setup("old.dta", old.clone());
    test.succeeds("profile old.dta").prints(&["note", "2 records"]);
    old[0] = 108;
    test.write("old.dta", old);
    refused(&test, "profile old.dta");
}

#[test]
fn a_compressed_spss_file_needs_the_bytes_of_its_numbers() {
    // Ten numbers of one byte each in 3 million records.
    let names: Vec<String> = (0..10).map(|i| format!("V{i}")).collect();
    let variables: Vec<(&str, i32)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let record: Vec<u8> = (0..70_000).map(|i| 101 + (i / 10 % 7 + i % 10) as u8).collect();
    let mut data = Cycle { bytes: &record, at: 0 }.take(30_000_000);
    let test = setup("survey.zsav", spss(&variables, b"", Packing::Zlib, &mut data));
    test.run_within(400, "profile survey.zsav --quasi V0,V1")
        .exits(0)
        .prints(&["3,000,000 records"]);
}

#[test]
fn a_compressed_spss_file_of_a_very_large_table_is_refused() {
    // Eight numbers of eight bytes each in 5 million records.
    let names: Vec<String> = (0..8).map(|i| format!("V{i}")).collect();
    let variables: Vec<(&str, i32)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let records = [&[253; 8][..], &0.5f64.to_le_bytes().repeat(8)].concat().repeat(100);
    let mut data = Cycle { bytes: &records, at: 0 }.take(50_000 * records.len() as u64);
    let test = setup("bomb.zsav", spss(&variables, b"", Packing::Zlib, &mut data));
    for command in ["profile bomb.zsav", "anonymize bomb.zsav --quasi V0 -k 2 -o out.csv"] {
        refused(&test, command).reports(LARGE);
    }
}

#[test]
fn labels_shared_by_many_variables_of_an_spss_file_are_stored_once() {
    let names: Vec<String> = (0..20_000).map(|i| format!("V{i}")).collect();
    let variables: Vec<(&str, i32)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    let int = |x: i32| x.to_le_bytes().to_vec();
    let mut more = [int(3), int(20_000)].concat();
    for i in 0..20_000 {
        more.extend(f64::from(i).to_le_bytes());
        more.extend(b"\x07label  ");
    }
    more.extend([int(4), int(20_000)].concat());
    (1..=20_000).for_each(|place| more.extend(int(place)));
    let test = setup(
        "labels.sav",
        spss(&variables, &more, Packing::Bytes, &mut std::io::repeat(101).take(200_000)),
    );
    test.run_within(MEMORY, "anonymize labels.sav --quasi V0 -k 2 -o out.csv").exits(0);
    assert!(test.text("out.csv").contains("label"));
}

#[test]
fn a_deeply_nested_parquet_schema_is_refused() {
    for groups in [64, 20_000, 1_000_000] {
        let test = setup("deep.parquet", nested_parquet(groups));
        for args in [
            "profile deep.parquet",
            "init deep.parquet -o new.toml",
            "anonymize deep.parquet --quasi a -k 2 -o out.csv",
            "verify deep.parquet --quasi a -k 2",
        ] {
            refused(&test, args).reports(&["its columns are nested too deeply"]);
        }
    }
    // A list of structures of lists is read to the end of its schema.
    let test = setup("nested.parquet", nested_parquet(3));
    let done = refused(&test, "anonymize nested.parquet --quasi a -k 2 -o out.csv");
    assert!(!done.stderr.contains("nested too deeply"), "{done}");
}

#[test]
fn long_names_of_a_small_workbook_are_refused_before_they_are_copied() {
    let long = SECRET.repeat((1 << 20) / SECRET.len());
    let names: String = (0..200)
        .map(|i| format!("<c r=\"{}{}1\" t=\"s\"><v>0</v></c>", letter(i / 26), letter(i % 26)))
        .collect();
    let rows = row(1, &names) + &row(2, &number("AA2", 7));
    let test = setup("names.xlsx", workbook(&rows, &shared_strings(&[&long]), "<styleSheet/>"));
    refused(&test, "profile names.xlsx").reports(&["more than 4096 bytes (column 1)"]);
}

fn letter(i: u32) -> char {
    char::from_u32('A' as u32 + i).unwrap()
}

#[test]
fn a_parquet_file_of_very_many_columns_is_refused() {
    // The root with a million columns, no records, no row groups.
    let columns = 1_000_000u32;
    let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
    footer.extend(varint(columns + 1));
    footer.extend(b"\x48\x01a\x15");
    footer.extend(varint(columns << 1));
    footer.push(0);
    footer.extend(b"\x15\x02\x25\0\x18\x01a\0".repeat(columns as usize));
    footer.extend(b"\x16\0\x19\x0c\0");
    let length = (footer.len() as u32).to_le_bytes();
    let file = [&b"PAR1"[..], &footer, &length, b"PAR1"].concat();
    let test = setup("wide.parquet", file);
    let done = test.run_within(256, "profile wide.parquet").exits(2);
    done.reports(&["has more than 65536 columns"]);
}

/// A number as Parquet writes lengths.
fn varint(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Repeats bytes endlessly.
struct Cycle<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Read for Cycle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let piece = &self.bytes[self.at..];
        let count = buffer.len().min(piece.len());
        buffer[..count].copy_from_slice(&piece[..count]);
        self.at = (self.at + count) % self.bytes.len();
        Ok(count)
    }
}
