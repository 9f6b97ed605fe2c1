//! A compressed file below 10 MiB needs less than 1 GiB of memory. It is read, or refused with one
//! message.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use arrow_array::{
    FixedSizeBinaryArray, Int8Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use parquet::file::properties::WriterProperties;

use crate::test_dir::{Outcome, TestDir};

/// The memory limit of a run.
const MOST: u64 = 1 << 30;

/// Returns the peak memory of a process in bytes.
fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Runs a command and watches its memory until it ends.
fn watched(test: &TestDir, args: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
    command.current_dir(test.path()).args(args.split_whitespace());
    command.env("XDG_CONFIG_HOME", test.path().join("config"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        most = most.max(peak(&child).unwrap_or(0));
        if most > MOST {
            child.kill().ok();
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    let mut stderr = Vec::new();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    let done = Outcome::new(args, std::process::Output { status, stdout: Vec::new(), stderr });
    assert!(most < MOST, "it took {} MiB\n{done}", most >> 20);
    assert!((0..=2).contains(&done.code), "{done}");
    done
}

/// Writes a compressed file of repeated chunks.
fn packed(test: &TestDir, name: &str, pieces: &[(&[u8], usize)]) {
    test.write(name, compressed(pieces));
    small(test, name);
}

/// Returns compressed repeated chunks.
pub(crate) fn compressed(pieces: &[(&[u8], usize)]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for (piece, times) in pieces {
        // Large writes are fast.
        let many = (1 << 20) / piece.len().max(1) + 1;
        let block = piece.repeat(many.min(*times));
        (0..times / many).for_each(|_| out.write_all(&block).unwrap());
        (0..times % many).for_each(|_| out.write_all(piece).unwrap());
    }
    out.finish().unwrap()
}

fn small(test: &TestDir, name: &str) {
    assert!(std::fs::metadata(test.path().join(name)).unwrap().len() < 10 << 20, "{name} is small");
}

/// Returns every command that reads a table, with this table. Outside of the complete tests, every
/// second of them.
fn commands(table: &str, quasi: &str) -> Vec<String> {
    let all = vec![
        format!("profile {table}"),
        format!("init {table} -o {table}.toml"),
        format!("anonymize {table} --quasi {quasi} -k 2 --algorithm mondrian -o out.csv"),
        format!("verify {table} --quasi {quasi} -k 2"),
        format!("attack {table} --quasi {quasi}"),
        format!("measure {table} {table} --quasi {quasi}"),
    ];
    all.into_iter().step_by(incrowd_testing::step(2)).collect()
}

#[test]
fn a_header_without_an_end_is_refused_early() {
    let test = TestDir::with_people();
    packed(&test, "long.csv.gz", &[(b"a", 1_400_000_000)]);
    packed(&test, "wide.csv.gz", &[(b",", 1_400_000_000)]);
    packed(&test, "ends.csv.gz", &[(b",", 15 << 20), (b"\n1\n", 1)]);
    for (name, expected) in
        [("long.csv.gz", "16 MiB"), ("wide.csv.gz", "16 MiB"), ("ends.csv.gz", "65536 columns")]
    {
        for args in commands(name, "a") {
            watched(&test, &args).exits(2).reports(&["error:", expected]);
        }
    }
    test.write(
        "names.csv",
        format!("{}\n", (0..100_000).map(|i| format!("{i:x}")).collect::<Vec<_>>().join(",")),
    );
    test.refuses("profile names.csv").exits(2).reports(&["more than 65536 columns"]);
}

#[test]
fn a_record_without_an_end_is_refused_early() {
    let test = TestDir::with_people();
    packed(&test, "long.csv.gz", &[(b"a,b\n1,", 1), (b"x", 1_400_000_000), (b"\n", 1)]);
    packed(&test, "open.csv.gz", &[(b"a,b\n1,\"", 1), (b"x\n", 700_000_000)]);
    for name in ["long.csv.gz", "open.csv.gz"] {
        for args in commands(name, "a,b") {
            watched(&test, &args).exits(2);
        }
    }
    watched(&test, "profile long.csv.gz").reports(&["a record longer than 16 MiB"]);
}

#[test]
fn highly_compressible_records_do_not_fill_the_memory() {
    let test = TestDir::with_people();
    packed(&test, "records.csv.gz", &[(b"a,b,c\n", 1), (b"1,2,3\n", 120_000_000)]);
    watched(&test, "profile records.csv.gz")
        .exits(2)
        .reports(&["a file of its size should", "unpack it"]);
    watched(&test, "init records.csv.gz -o new.toml")
        .exits(2)
        .reports(&["a file of its size should"]);
    // Long texts that differ at the end.
    let mut text = String::from("a,b\n");
    let prefix = "x".repeat(240);
    (0..800_000).for_each(|i| text.push_str(&format!("{prefix}{i},{}\n", i % 7)));
    packed(&test, "texts.csv.gz", &[(text.as_bytes(), 1)]);
    for args in commands("texts.csv.gz", "a,b") {
        watched(&test, &args);
    }
    let anonymize = "anonymize texts.csv.gz --quasi a,b -k 2 -o out.csv";
    watched(&test, anonymize).exits(2).reports(&["a file of its size should"]);
}

/// Writes columns of similar texts, or of one repeated number.
fn parquet(
    test: &TestDir,
    name: &str,
    columns: usize,
    texts: Option<(usize, usize)>,
    groups: usize,
) {
    let kind = if texts.is_some() { DataType::Utf8 } else { DataType::Int64 };
    let fields: Vec<Field> =
        (0..columns).map(|i| Field::new(format!("c{i}"), kind.clone(), false)).collect();
    let schema = Arc::new(Schema::new(fields));
    let array: arrow_array::ArrayRef = match texts {
        Some((count, length)) => {
            let prefix = "x".repeat(length);
            Arc::new(StringArray::from_iter_values((0..count).map(|i| format!("{prefix}{i}"))))
        }
        None => Arc::new(Int64Array::from_value(7, 1 << 22)),
    };
    let batch = RecordBatch::try_new(schema.clone(), vec![array; columns]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_encoding(Encoding::PLAIN)
        .set_dictionary_page_size_limit(1 << 30)
        .set_data_page_size_limit(1 << 30)
        .set_max_row_group_row_count(Some(1 << 22))
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let file = std::fs::File::create(test.path().join(name)).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    (0..groups).for_each(|_| writer.write(&batch).unwrap());
    writer.close().unwrap();
    small(test, name);
}

#[test]
fn dictionaries_and_runs_of_parquet_do_not_fill_the_memory() {
    let test = TestDir::with_people();
    parquet(&test, "dictionary.parquet", 1, Some((60_000, 1000)), 1);
    parquet(&test, "dictionaries.parquet", 12, Some((30_000, 2000)), 1);
    parquet(&test, "runs.parquet", 10, None, 4);
    for name in ["dictionary.parquet", "dictionaries.parquet"] {
        for args in commands(name, "c0") {
            watched(&test, &args);
        }
    }
    watched(&test, "profile runs.parquet").exits(2).reports(&["a file of its size should"]);
    watched(&test, "verify runs.parquet --quasi c0,c1 -k 2").exits(0);
    // One dictionary below the limit is read; twelve together are too large.
    watched(&test, "profile dictionary.parquet").exits(0);
    watched(&test, "profile dictionaries.parquet").exits(2).reports(&["unpack to much more"]);
}

/// Writes columns of texts with long common prefixes, which a page stores once.
fn common_prefixes(test: &TestDir, name: &str, columns: usize) {
    let fields: Vec<Field> =
        (0..columns).map(|i| Field::new(format!("c{i}"), DataType::Utf8, false)).collect();
    let schema = Arc::new(Schema::new(fields));
    let prefix = "x".repeat(100_000);
    let texts = StringArray::from_iter_values((0..14_000).map(|i| format!("{prefix}{}", i % 9)));
    let texts: arrow_array::ArrayRef = Arc::new(texts);
    let batch = RecordBatch::try_new(schema.clone(), vec![texts; columns]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_data_page_size_limit(1 << 30)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let file = std::fs::File::create(test.path().join(name)).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    small(test, name);
}

/// Writes 2,000 lists of 50,000 equal items.
fn equal_items(test: &TestDir, name: &str) {
    let (lists, items) = (2_000, 50_000);
    let field = Arc::new(Field::new_list_field(DataType::Int8, false));
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(items, lists));
    let items = Int8Array::from_value(7, items * lists);
    let lists = ListArray::new(field.clone(), offsets, Arc::new(items), None);
    let schema = Schema::new(vec![Field::new("c0", DataType::List(field), false)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(lists)]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let file = std::fs::File::create(test.path().join(name)).unwrap();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    small(test, name);
}

#[test]
fn common_prefixes_and_lists_of_parquet_do_not_fill_the_memory() {
    let test = TestDir::with_people();
    common_prefixes(&test, "prefixes.parquet", 3);
    equal_items(&test, "lists.parquet");
    for args in commands("prefixes.parquet", "c0") {
        watched(&test, &args);
    }
    watched(&test, "profile prefixes.parquet").exits(0);
    for args in commands("lists.parquet", "c0") {
        watched(&test, &args).exits(2).reports(&["its lists hold much more"]);
    }
}

/// Copies a Parquet file with another footer, in which all columns are changed.
fn with_footer(
    test: &TestDir,
    (from, to): (&str, &str),
    change: impl Fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) {
    let file = std::fs::File::open(test.path().join(from)).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
    let mut builder = metadata.into_builder();
    let groups = builder.take_row_groups().into_iter().map(|group| {
        let mut builder = group.into_builder();
        let columns = builder.take_columns().into_iter();
        let columns = columns.map(|column| change(column.into_builder()).build().unwrap());
        let columns = columns.collect();
        builder.set_column_metadata(columns).build().unwrap()
    });
    let groups = groups.collect();
    let metadata = builder.set_row_groups(groups).build();
    let mut bytes = test.bytes(from);
    let end = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    bytes.truncate(end - footer as usize);
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    test.write(to, bytes);
}

/// The library follows the page headers, whatever the footer states.
#[test]
fn a_footer_that_contradicts_the_pages_of_parquet_does_not_fill_the_memory() {
    let test = TestDir::with_people();
    common_prefixes(&test, "prefixes.parquet", 3);
    with_footer(&test, ("prefixes.parquet", "encodings.parquet"), |column| {
        column.set_encodings(vec![Encoding::PLAIN])
    });
    watched(&test, "profile encodings.parquet").exits(0);
    equal_items(&test, "lists.parquet");
    with_footer(&test, ("lists.parquet", "values.parquet"), |column| column.set_num_values(10));
    let refused = watched(&test, "profile values.parquet").exits(2);
    refused.reports(&["do not have as many values as it states"]);
}

/// Many row groups could otherwise share one large dictionary.
#[test]
fn columns_of_parquet_that_overlap_in_the_file_are_refused() {
    let test = TestDir::with_people();
    parquet(&test, "runs.parquet", 2, None, 2);
    with_footer(&test, ("runs.parquet", "shared.parquet"), |column| {
        column.set_dictionary_page_offset(None).set_data_page_offset(4)
    });
    watched(&test, "profile shared.parquet").exits(2).reports(&["it states columns that overlap"]);
}

/// A missing value of a fixed length takes no bytes in a page, but all of its length in a batch.
#[test]
fn missing_values_of_a_fixed_length_do_not_fill_the_memory() {
    let test = TestDir::with_people();
    let length = 1 << 20;
    let cells = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        std::iter::repeat_n(None::<&[u8]>, 50),
        length,
    );
    let field = Field::new("c0", DataType::FixedSizeBinary(length), true);
    let batch =
        RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(cells.unwrap())])
            .unwrap();
    let file = std::fs::File::create(test.path().join("fixed.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    (0..40).for_each(|_| writer.write(&batch).unwrap());
    writer.close().unwrap();
    watched(&test, "profile fixed.parquet").exits(2);
}

#[test]
fn a_compressed_table_equals_the_plain_one() {
    let test = TestDir::with_people();
    let mut text = String::from("a,b,c,d\n");
    (0..60_000).for_each(|i| text.push_str(&format!("{i},{i},{i},{}\n", i % 3)));
    packed(&test, "t.csv.gz", &[(text.as_bytes(), 1)]);
    test.write("t.csv", &text);
    let profiles =
        ["t.csv", "t.csv.gz"].map(|name| test.succeeds(&format!("profile {name} --json")).stdout);
    assert_eq!(profiles[0], profiles[1]);
}
