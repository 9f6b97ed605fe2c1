//! Formats 117 to 119 (Stata 13 and later), with tagged parts and a map of their offsets.

use super::super::Damage;
use super::super::bytes::{Bytes, text};
use super::{Layout, Long, Sets, StataColumn, Type, label_set};

fn kind(code: u16) -> Result<Type, Damage> {
    Ok(match code {
        1..=2045 => Type::Fixed(usize::from(code)),
        32768 => Type::Long,
        65526 => Type::Double,
        65527 => Type::Float,
        65528 => Type::Int32,
        65529 => Type::Int16,
        65530 => Type::Int8,
        _ => return Err("a column has no type that is known".into()),
    })
}

/// Field widths of names and texts that depend on the format.
struct Widths {
    name: usize,
    format: usize,
    sort: usize,
    label: usize,
}

/// Sequential reader of the parts of a file.
struct Parts<'a> {
    at: Bytes<'a>,
    /// Length of the file.
    length: usize,
    /// Offsets of the parts, according to the file.
    map: [u64; 14],
}

impl<'a> Parts<'a> {
    /// Consumes the opening tag of a part. The part must be at its offset in the map.
    fn open(&mut self, index: usize, tag: &str) -> Result<(), Damage> {
        if self.map[index] != (self.length - self.at.left()) as u64 {
            return Err("its parts do not fit together".into());
        }
        self.at.expect(format!("<{tag}>").as_bytes())
    }

    fn close(&mut self, tag: &str) -> Result<(), Damage> {
        self.at.expect(format!("</{tag}>").as_bytes())
    }

    /// Reads a part of this many bytes.
    fn part(&mut self, index: usize, tag: &str, size: usize) -> Result<Bytes<'a>, Damage> {
        self.open(index, tag)?;
        let part = Bytes::new(self.at.take(size)?, self.at.big);
        self.close(tag)?;
        Ok(part)
    }
}

// Long, because it follows the fixed order of the parts of such a file.
pub(super) fn layout(bytes: &[u8]) -> Result<Layout<'_>, Damage> {
    let mut at = Bytes::new(bytes, false);
    at.expect(b"<stata_dta><header><release>")?;
    let version = match at.take(3)? {
        b"117" => 117,
        b"118" => 118,
        b"119" => 119,
        _ => return Err("its version is not known".into()),
    };
    at.expect(b"</release><byteorder>")?;
    let big = match at.take(3)? {
        b"LSF" => false,
        b"MSF" => true,
        _ => return Err("its bytes are in no known order".into()),
    };
    at.big = big;
    at.expect(b"</byteorder><K>")?;
    let columns = if version == 119 { at.u32()? as usize } else { usize::from(at.u16()?) };
    at.expect(b"</K><N>")?;
    let records = if version == 117 { u64::from(at.u32()?) } else { at.u64()? };
    at.expect(b"</N><label>")?;
    let label = if version == 117 { usize::from(at.byte()?) } else { usize::from(at.u16()?) };
    at.take(label)?;
    at.expect(b"</label><timestamp>")?;
    let stamp = usize::from(at.byte()?);
    at.take(stamp)?;
    at.expect(b"</timestamp></header><map>")?;
    let mut map = [0u64; 14];
    for place in &mut map {
        *place = at.u64()?;
    }
    let widths = match version {
        117 => Widths { name: 33, format: 49, sort: 2, label: 81 },
        118 => Widths { name: 129, format: 57, sort: 2, label: 321 },
        _ => Widths { name: 129, format: 57, sort: 4, label: 321 },
    };
    at.expect(b"</map>")?;
    // The parts are consecutive, and the numbers of columns and records determine their lengths.
    // The map is only compared with the actual offsets. It is not used for seeking, so a damaged
    // map cannot select other bytes as a part.
    let mut parts = Parts { at, length: bytes.len(), map };
    // Each column takes more bytes than its name. This bounds the number of columns by the size of
    // the file.
    if columns.saturating_mul(widths.name) > bytes.len() {
        return Err("it ends too early".into());
    }
    let mut types = parts.part(2, "variable_types", columns.saturating_mul(2))?;
    let types = (0..columns).map(|_| kind(types.u16()?)).collect::<Result<Vec<Type>, Damage>>()?;
    let texts = |parts: &mut Parts<'_>, index, tag, width: usize| -> Result<Vec<String>, Damage> {
        let mut part = parts.part(index, tag, columns.saturating_mul(width))?;
        (0..columns).map(|_| part.take(width).map(text)).collect()
    };
    let names = texts(&mut parts, 3, "varnames", widths.name)?;
    parts.part(4, "sortlist", (columns + 1).saturating_mul(widths.sort))?;
    let formats = texts(&mut parts, 5, "formats", widths.format)?;
    let label_names = texts(&mut parts, 6, "value_label_names", widths.name)?;
    parts.part(7, "variable_labels", columns.saturating_mul(widths.label))?;
    parts.open(8, "characteristics")?;
    while parts.at.starts_with(b"<ch>") {
        parts.at.take(4)?;
        let length = parts.at.count()?;
        parts.at.take(length)?;
        parts.at.expect(b"</ch>")?;
    }
    parts.close("characteristics")?;
    let width: usize = types.iter().map(|kind| kind.width()).sum();
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    if width == 0 || records.saturating_mul(width) > parts.at.left() {
        return Err("it ends too early".into());
    }
    let data = parts.part(9, "data", records * width)?;
    parts.open(10, "strls")?;
    let long = long_texts(&mut parts.at, version)?;
    parts.close("strls")?;
    parts.open(11, "value_labels")?;
    let labels = value_labels(&mut parts.at, widths.name)?;
    parts.close("value_labels")?;
    let columns = names.into_iter().zip(types).zip(formats.into_iter().zip(label_names));
    let columns = columns
        .map(|((name, kind), (format, labels))| StataColumn { name, kind, format, labels })
        .collect();
    Ok(Layout { version, columns, labels, long, records, data })
}

/// Reads the key of a long text, which is a column and a record.
pub(super) fn long_key(data: &mut Bytes<'_>, version: u32) -> Result<(u64, u64), Damage> {
    if version == 117 {
        return Ok((u64::from(data.u32()?), u64::from(data.u32()?)));
    }
    let bits = if version == 119 { 24 } else { 16 };
    let both = data.u64()?;
    Ok(match data.big {
        false => (both & ((1 << bits) - 1), both >> bits),
        true => (both >> (64 - bits), both & (u64::MAX >> bits)),
    })
}

fn long_texts<'a>(section: &mut Bytes<'a>, version: u32) -> Result<Long<'a>, Damage> {
    let mut texts = Long::new();
    while section.starts_with(b"GSO") {
        section.take(3)?;
        let column = u64::from(section.u32()?);
        let record = if version == 117 { u64::from(section.u32()?) } else { section.u64()? };
        let _binary = section.byte()?;
        let length = section.count()?;
        texts.insert((column, record), section.take(length)?);
    }
    Ok(texts)
}

fn value_labels<'a>(section: &mut Bytes<'a>, width: usize) -> Result<Sets<'a>, Damage> {
    let mut all = Sets::new();
    while section.starts_with(b"<lbl>") {
        section.take(5)?;
        section.count()?;
        let name = text(section.take(width)?);
        section.take(3)?;
        let labels = label_set(section)?;
        all.entry(name).or_insert(labels);
        section.expect(b"</lbl>")?;
    }
    Ok(all)
}
