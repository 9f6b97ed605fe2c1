//! Writers of small Excel, Stata and SPSS files with arbitrary content, for tests.

use std::io::{Read, Write};

use flate2::write::{DeflateEncoder, ZlibEncoder};
use flate2::{Compression, Crc};

/// Writes a zip archive of deflated parts with these names.
pub fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut list) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let mut crc = Crc::new();
        crc.update(content);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).expect("memory");
        let packed = encoder.finish().expect("memory");
        let sizes = [crc.sum(), packed.len() as u32, content.len() as u32, name.len() as u32];
        // Version, flags, method, time and date, then the sizes, which end with the length of extra
        // fields.
        let mut common: Vec<u8> =
            [20u16, 0, 8, 0, 0x21].iter().flat_map(|x| x.to_le_bytes()).collect();
        common.extend(sizes.iter().flat_map(|x| x.to_le_bytes()));
        let at = file.len() as u32;
        file.extend([&b"PK\x03\x04"[..], &common, name.as_bytes(), &packed].concat());
        list.extend(
            [&b"PK\x01\x02\x14\0"[..], &common, &[0; 10], &at.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    let (at, size, count) = (file.len() as u32, list.len() as u32, parts.len() as u16);
    file.extend(list);
    file.extend([&b"PK\x05\x06\0\0\0\0"[..], &count.to_le_bytes(), &count.to_le_bytes()].concat());
    file.extend([&size.to_le_bytes()[..], &at.to_le_bytes(), &[0, 0]].concat());
    file
}

/// Writes a workbook with one sheet. `rows` is the content of its `sheetData`; `strings` and
/// `styles` are whole documents without their first line.
pub fn workbook(rows: &str, strings: &str, styles: &str) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let xml =
        |body: String| format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}").into_bytes();
    let related = |all: &[(&str, &str)]| {
        let relation = |(i, (kind, target)): (usize, &(&str, &str))| {
            format!("<Relationship Id=\"rId{i}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
        };
        let all: String = all.iter().enumerate().map(relation).collect();
        xml(format!("<Relationships xmlns=\"{PACKAGE}\">{all}</Relationships>"))
    };
    let book = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>\
         <sheet name=\"people\" sheetId=\"1\" r:id=\"rId0\"/></sheets></workbook>"
    );
    let sheet = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>");
    let parts = [
        ("worksheet", "sheet1.xml"),
        ("sharedStrings", "sharedStrings.xml"),
        ("styles", "styles.xml"),
    ];
    zip(&[
        ("_rels/.rels", &related(&[("officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", &xml(book)),
        ("xl/_rels/workbook.xml.rels", &related(&parts)),
        ("xl/sheet1.xml", &xml(sheet)),
        ("xl/sharedStrings.xml", &xml(strings.to_owned())),
        ("xl/styles.xml", &xml(styles.to_owned())),
    ])
}

/// Returns shared strings for [`workbook`].
pub fn shared_strings(strings: &[&str]) -> String {
    let items: String = strings.iter().map(|string| format!("<si><t>{string}</t></si>")).collect();
    format!("<sst uniqueCount=\"{}\">{items}</sst>", strings.len())
}

fn padded(text: &[u8], width: usize) -> Vec<u8> {
    let mut bytes = text.to_vec();
    bytes.resize(width, 0);
    bytes
}

/// Name, type and label set of a column of a Stata file.
pub type StataColumn<'a> = (&'a str, u16, &'a str);

/// Writes a Stata file of format 118 with columns of these names, types and label sets. `records`
/// are the bytes of the records, `long` those of [long texts](stata_long), `labels` those of [label
/// sets](stata_labels).
pub fn stata(
    columns: &[StataColumn<'_>],
    records: u64,
    data: &[u8],
    long: &[u8],
    labels: &[u8],
) -> Vec<u8> {
    let each =
        |f: &dyn Fn(&StataColumn<'_>) -> Vec<u8>| columns.iter().flat_map(f).collect::<Vec<u8>>();
    let mut file =
        b"<stata_dta><header><release>118</release><byteorder>LSF</byteorder><K>".to_vec();
    file.extend((columns.len() as u16).to_le_bytes());
    file.extend(b"</K><N>");
    file.extend(records.to_le_bytes());
    file.extend(b"</N><label>\0\0</label><timestamp>\0</timestamp></header>");
    let mut map = vec![0, file.len() as u64];
    let map_at = file.len() + "<map>".len();
    file.extend([&b"<map>"[..], &[0; 14 * 8], b"</map>"].concat());
    for (tag, part) in [
        ("variable_types", each(&|column| column.1.to_le_bytes().to_vec())),
        ("varnames", each(&|column| padded(column.0.as_bytes(), 129))),
        ("sortlist", vec![0; 2 * (columns.len() + 1)]),
        ("formats", each(&|_| padded(b"%9.0g", 57))),
        ("value_label_names", each(&|column| padded(column.2.as_bytes(), 129))),
        ("variable_labels", vec![0; 321 * columns.len()]),
        ("characteristics", Vec::new()),
        ("data", data.to_vec()),
        ("strls", long.to_vec()),
        ("value_labels", labels.to_vec()),
    ] {
        map.push(file.len() as u64);
        file.extend(
            [format!("<{tag}>").as_bytes(), &part, format!("</{tag}>").as_bytes()].concat(),
        );
    }
    map.push(file.len() as u64);
    file.extend(b"</stata_dta>");
    map.push(file.len() as u64);
    for (i, place) in map.iter().enumerate() {
        file[map_at + 8 * i..map_at + 8 * (i + 1)].copy_from_slice(&place.to_le_bytes());
    }
    file
}

/// Returns a long text for [`stata`], of a column and a record, both from 1.
pub fn stata_long(column: u32, record: u64, text: &[u8]) -> Vec<u8> {
    let length = text.len() as u32 + 1;
    [
        b"GSO",
        &column.to_le_bytes()[..],
        &record.to_le_bytes(),
        &[130],
        &length.to_le_bytes(),
        text,
        &[0],
    ]
    .concat()
}

/// Returns a cell of a column of type 32768: the position of its long text.
pub fn stata_long_cell(column: u64, record: u64) -> [u8; 8] {
    (column | record << 16).to_le_bytes()
}

/// Returns a label set for [`stata`]: the code of each label and its offset in `texts`, where each
/// text ends with a zero.
pub fn stata_labels(name: &str, labels: &[(i32, u32)], texts: &[u8]) -> Vec<u8> {
    let (count, length) = (labels.len() as u32, texts.len() as u32);
    let size = 8 + 8 * count + length;
    let mut set =
        [b"<lbl>", &size.to_le_bytes()[..], &padded(name.as_bytes(), 129), &[0; 3]].concat();
    set.extend([count.to_le_bytes(), length.to_le_bytes()].concat());
    set.extend(labels.iter().flat_map(|(_, place)| place.to_le_bytes()));
    set.extend(labels.iter().flat_map(|(code, _)| code.to_le_bytes()));
    set.extend([texts, b"</lbl>"].concat());
    set
}

/// The compression of an SPSS file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Eight bytes for every number.
    Plain = 0,
    /// One byte for most numbers (.sav).
    Bytes = 1,
    /// One byte for most numbers, deflated (.zsav).
    Zlib = 2,
}

/// Writes an SPSS file with variables of these names and widths (0 is a number, else a text).
/// `more` are further records of the dictionary, `data` the bytes of the records before they are
/// deflated.
pub fn spss(
    variables: &[(&str, i32)],
    more: &[u8],
    packing: Packing,
    data: &mut dyn Read,
) -> Vec<u8> {
    let int = |x: i32| x.to_le_bytes();
    let magic = if packing == Packing::Zlib { b"$FL3" } else { b"$FL2" };
    let mut file = [&magic[..], &[b' '; 60], &int(2), &int(variables.len() as i32)].concat();
    file.extend([int(packing as i32), int(0), int(-1)].concat());
    file.extend(100f64.to_le_bytes());
    file.extend([b' '; 9 + 8 + 64 + 3]);
    for (name, width) in variables {
        let format = if *width == 0 { 5 << 16 | 8 << 8 } else { 1 << 16 | width << 8 };
        file.extend([int(2), int(*width), int(0), int(0), int(format), int(format)].concat());
        file.extend(format!("{name:8}").as_bytes());
        // A text longer than eight bytes needs further variables.
        for _ in 1..(*width as usize).div_ceil(8) {
            file.extend([int(2), int(-1), int(0), int(0), int(0), int(0)].concat());
            file.extend([b' '; 8]);
        }
    }
    file.extend(more);
    file.extend([int(999), int(0)].concat());
    if packing != Packing::Zlib {
        data.read_to_end(&mut file).expect("memory");
        return file;
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let size = std::io::copy(data, &mut encoder).expect("memory");
    let packed = encoder.finish().expect("memory");
    let start = file.len() as u64;
    let list = start + 24 + packed.len() as u64;
    file.extend([start, list, 48].iter().flat_map(|x: &u64| x.to_le_bytes()));
    file.extend(&packed);
    file.extend([-100i64, 0].iter().flat_map(|x| x.to_le_bytes()));
    file.extend([int(0x3f_f000), int(1)].concat());
    file.extend([start, start + 24].iter().flat_map(|x| x.to_le_bytes()));
    file.extend([size as u32, packed.len() as u32].iter().flat_map(|x| x.to_le_bytes()));
    file
}

/// A Parquet file without records. Its column is within this number of nested groups.
pub fn nested_parquet(groups: u32) -> Vec<u8> {
    // The version, and a list of structures with a length of several bytes.
    let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
    let mut elements = groups + 2;
    while elements >= 0x80 {
        footer.push(elements as u8 | 0x80);
        elements >>= 7;
    }
    footer.push(elements as u8);
    // The root, the groups and the column. All but the column have one child.
    footer.extend(b"\x48\x01a\x15\x02\0");
    footer.extend(b"\x35\0\x18\x01a\x15\x02\0".repeat(groups as usize));
    footer.extend(b"\x15\x02\x25\0\x18\x01a\0");
    // No records, no row groups.
    footer.extend(b"\x16\0\x19\x0c\0");
    let length = (footer.len() as u32).to_le_bytes();
    [&b"PAR1"[..], &footer, &length, b"PAR1"].concat()
}
