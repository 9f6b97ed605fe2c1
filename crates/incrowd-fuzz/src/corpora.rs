//! Valid inputs to damage. They are generated and contain no data about real people.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int16Type;
use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int32Array, NullArray,
    RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray,
};
use arrow_schema::{Field, Schema};
use incrowd_testing::foreign::{self, Packing};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// A marker in every cell. No message may contain it.
pub(crate) const CANARY: &str = "Zaunkoenig";

pub(crate) fn tables() -> Vec<Vec<u8>> {
    let mut plain = "age,city,born,disease\n".to_owned();
    for i in 0..12 {
        plain += &format!(
            "{},{CANARY} {},19{}-03-0{},{CANARY}{}\n",
            20 + i * 3,
            i % 4,
            50 + i,
            1 + i % 9,
            i % 3
        );
    }
    let quoted = plain.replace(',', "\",\"").replace('\n', "\"\r\n\"");
    let quoted = format!("\"{}", quoted.trim_end_matches('"'));
    let semicolons = plain.replace(',', ";").replace("20;", "?;");
    vec![plain.into_bytes(), quoted.into_bytes(), semicolons.into_bytes()]
}

fn batch(part: usize) -> RecordBatch {
    let n = || 0..5i32;
    let word = |i: i32| format!("{CANARY} {}", i % 3);
    let words: Vec<Option<String>> = n().map(|i| (i != 2).then(|| word(i))).collect();
    let texts = || words.iter().map(Option::as_deref);
    let mut lists = ListBuilder::new(StringBuilder::new());
    n().for_each(|i| lists.append_value((0..i % 3).map(|j| Some(word(j)))));
    let money =
        Decimal128Array::from_iter_values(n().map(i128::from)).with_precision_and_scale(9, 2);
    let columns: Vec<(&str, ArrayRef)> = match part {
        0 => vec![
            ("number", Arc::new(Int32Array::from_iter(n().map(|i| (i != 1).then_some(i))))),
            ("text", Arc::new(StringArray::from_iter(texts()))),
            ("word", Arc::new(texts().collect::<DictionaryArray<Int16Type>>())),
            ("real", Arc::new(Float64Array::from_iter_values(n().map(|i| f64::from(i) / 3.0)))),
        ],
        _ => vec![
            ("view", Arc::new(StringViewArray::from_iter(texts()))),
            ("day", Arc::new(Date32Array::from_iter_values(n().map(|i| i * 400)))),
            (
                "moment",
                Arc::new(TimestampMillisecondArray::from_iter_values(
                    n().map(|i| i64::from(i) * 123_456_789),
                )),
            ),
            ("money", Arc::new(money.expect("two places of nine"))),
            ("list", Arc::new(lists.finish())),
            ("nothing", Arc::new(NullArray::new(5))),
        ],
    };
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
        .expect("columns fit")
}

pub(crate) fn arrow_files() -> Vec<Vec<u8>> {
    let file = |part| {
        let batch = batch(part);
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("memory");
        writer.write(&batch).expect("memory");
        writer.write(&batch.slice(1, 3)).expect("memory");
        writer.finish().expect("memory");
        writer.into_inner().expect("memory")
    };
    vec![file(0), file(1)]
}

pub(crate) fn parquet_files() -> Vec<Vec<u8>> {
    let file = |part, compression| {
        let batch = batch(part);
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))
                .expect("memory");
        writer.write(&batch).expect("memory");
        writer.close().expect("memory");
        bytes
    };
    let zstd = Compression::ZSTD(Default::default());
    vec![
        file(0, Compression::UNCOMPRESSED),
        file(0, zstd),
        file(1, Compression::SNAPPY),
        foreign::nested_parquet(3),
        foreign::nested_parquet(20_000),
    ]
}

/// The first row of the workbooks, with the column names.
pub(crate) const HEADER: &str = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c>\
    <c r=\"C1\" t=\"inlineStr\"><is><t>born</t></is></c></row>";
/// The separator between the documents of a workbook before it is zipped.
pub(crate) const NEXT: &str = "<?next?>";

/// Workbooks: documents that are damaged before they are zipped, so that most damage reaches the
/// parser, and a zipped file.
pub(crate) fn workbooks() -> Vec<Vec<u8>> {
    let row = |i: usize| {
        format!(
            "<row r=\"{0}\"><c r=\"A{0}\"><v>{1}</v></c><c r=\"B{0}\" t=\"s\"><v>{2}</v></c><c r=\"C{0}\" s=\"1\"><v>2{1}.5</v></c>\
             <c t=\"inlineStr\"><is><r><t xml:space=\"preserve\"> {CANARY} {i}&amp;</t></r></is></c><c t=\"b\"><f>A1</f><v>1</v></c></row>",
            i + 2,
            20 + 3 * i,
            2 + i % 2
        )
    };
    let rows: String = std::iter::once(HEADER.to_owned()).chain((0..6).map(row)).collect();
    let strings = foreign::shared_strings(&[
        "age",
        "city",
        &format!("{CANARY} a"),
        &format!("{CANARY} _x000D_"),
    ]);
    let styles = "<styleSheet><numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"yyyy-mm-dd\"/></numFmts>\
                  <cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>";
    let packed = foreign::workbook(&rows, &strings, styles);
    vec![[rows.as_str(), NEXT, &strings, NEXT, styles].concat().into_bytes(), packed]
}

/// Stata files: one with tags, labels and long texts, and one with fixed widths.
pub(crate) fn stata_files() -> Vec<Vec<u8>> {
    let mut town = CANARY.as_bytes().to_vec();
    town.resize(12, 0);
    let record =
        |i: u8| [&[20 + i, 1 + i % 2][..], &town, &foreign::stata_long_cell(4, 1)].concat();
    let data: Vec<u8> = (0..6).flat_map(record).collect();
    let texts = format!("{CANARY} yes\0{CANARY} no\0");
    let labels =
        foreign::stata_labels("answers", &[(1, 0), (2, CANARY.len() as u32 + 5)], texts.as_bytes());
    let columns =
        [("age", 65530, ""), ("answer", 65530, "answers"), ("town", 12, ""), ("note", 32768, "")];
    let tagged =
        foreign::stata(&columns, 6, &data, &foreign::stata_long(4, 1, CANARY.as_bytes()), &labels);
    vec![tagged, include_bytes!("../../incrowd-engine/tests/data/people114.dta").to_vec()]
}

/// SPSS files with all kinds of compression.
pub(crate) fn spss_files() -> Vec<Vec<u8>> {
    let int = |x: i32| x.to_le_bytes();
    let label = [&1f64.to_le_bytes()[..], b"\x07", &CANARY.as_bytes()[..7]].concat();
    let more = [&int(3)[..], &int(1), &label, &int(4), &int(1), &int(1)].concat();
    let file = |packing: Packing| {
        let text = format!("{CANARY:16}");
        let record = |i: u8| match packing {
            Packing::Plain => [&f64::from(i).to_le_bytes()[..], text.as_bytes()].concat(),
            // Eight codes: a number, two texts that follow, and padding.
            _ => [&[101 + i, 253, 253, 0, 0, 0, 0, 0][..], text.as_bytes()].concat(),
        };
        let data: Vec<u8> = (0..6).flat_map(record).collect();
        foreign::spss(&[("AGE", 0), ("TOWN", 16)], &more, packing, &mut data.as_slice())
    };
    vec![file(Packing::Plain), file(Packing::Bytes), file(Packing::Zlib)]
}

pub(crate) fn hierarchies() -> Vec<Vec<u8>> {
    let line = |i: usize| format!("{CANARY} {i};{CANARY} group {};*\n", i / 2);
    let lines: String = (0..6).map(line).collect();
    let tree = format!(
        "[West]\n\"{CANARY} group\" = [\"{CANARY} 1\", \"{CANARY} 2\"]\n[East]\nb = [\"{CANARY} 3\", 4]\n"
    );
    vec![lines.replace(';', ",").into_bytes(), lines.into_bytes(), tree.into_bytes()]
}

pub(crate) fn jobs() -> Vec<Vec<u8>> {
    let job = r#"[input]
path = "t.csv"
missing = ["", "?"]

[output]
path = "out.csv"

[columns]
age = { role = "quasi", kind = "numeric", domain = [0, 120] }
city = { role = "quasi", hierarchy = { tree = { West = ["a", "b"], East = ["c"] } } }
zip = { role = "quasi", hierarchy = { mask = { char = "*", from = "right" } } }
born = { role = "quasi", hierarchy = { intervals = { width = 5, levels = 3 } } }
disease = { role = "sensitive", categories = { "Top" = ["x"], "Low" = ["y"] } }

[[models]]
name = "k-anonymity"
k = 3

[[models]]
name = "t-closeness"
t = 0.25
on = "disease"

[algorithm]
name = "mondrian"
suppression_limit = 0.05
"#;
    let mut corpus = tables();
    corpus.truncate(1);
    corpus.insert(0, job.as_bytes().to_vec());
    corpus
}

/// The staged file in forged journals.
pub(crate) const STAGED: &str = ".out.csv.00000000000000ff.incrowd-partial";

/// Journals of all formats, without a valid authentication code.
pub(crate) fn journals() -> Vec<Vec<u8>> {
    let code = "0".repeat(64);
    let old = ".out.csv.00000000000000fe.incrowd-old";
    let file = format!("file {STAGED} victim.txt {old} replaces 644 1 7\nnote victim.txt owned\n");
    let first = format!("incrowd journal 1\n{file}see victim.txt\ndigest {code}\n\nundo\n");
    let later = |format: &str, place: &str, file: &str| {
        let name = ".out.csv.0123456789abcdef.incrowd-journal";
        let head = format!("incrowd journal {format}\nplace {name} {place}\npublication 1\nfirst");
        format!("{head}\n{file}code {code}\n\ndone {code}\n")
    };
    let second = later("2", "1 2", &file);
    let third = later("3", "1 2 3 4", &file.replace("replaces", "1:born:2"));
    vec![first.into_bytes(), second.into_bytes(), third.into_bytes()]
}
