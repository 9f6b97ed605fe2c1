//! Formats 117 to 119, of Stata 13 and later: parts within tags, and a map of where they are.

use super::super::Damage;
use super::super::bytes::{Bytes, text};
use super::{Column, Labels, Layout, Long, Type, label_set};

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

/// The widths of names and texts of a format.
struct Widths {
    name: usize,
    format: usize,
    sort: usize,
}

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
        117 => Widths { name: 33, format: 49, sort: 2 },
        118 => Widths { name: 129, format: 57, sort: 2 },
        _ => Widths { name: 129, format: 57, sort: 4 },
    };
    let section = |index: usize, tag: &[u8]| -> Result<Bytes<'_>, Damage> {
        let from = usize::try_from(map[index]).ok().and_then(|from| bytes.get(from..));
        let mut section = Bytes::new(from.ok_or("its parts do not fit together")?, big);
        section.expect(tag)?;
        Ok(section)
    };
    // A column takes more than a name, so this many columns were stated rightly or there are not bytes enough.
    if columns.saturating_mul(widths.name) > bytes.len() {
        return Err("it ends too early".into());
    }
    let mut types = section(2, b"<variable_types>")?;
    let types = (0..columns).map(|_| kind(types.u16()?)).collect::<Result<Vec<Type>, Damage>>()?;
    let names_of = |index: usize, tag: &[u8], width: usize| -> Result<Vec<String>, Damage> {
        let mut section = section(index, tag)?;
        (0..columns).map(|_| section.take(width).map(text)).collect()
    };
    let names = names_of(3, b"<varnames>", widths.name)?;
    section(4, b"<sortlist>")?.take(widths.sort)?;
    let formats = names_of(5, b"<formats>", widths.format)?;
    let label_names = names_of(6, b"<value_label_names>", widths.name)?;
    let long = long_texts(section(10, b"<strls>")?, version)?;
    let labels = value_labels(section(11, b"<value_labels>")?, widths.name)?;
    let data = section(9, b"<data>")?;
    let width: usize = types.iter().map(|kind| kind.width()).sum();
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    if width == 0 || records.saturating_mul(width) > data.left() {
        return Err("it ends too early".into());
    }
    let columns = names.into_iter().zip(types).zip(formats.into_iter().zip(label_names));
    let columns =
        columns.map(|((name, kind), (format, labels))| Column { name, kind, format, labels }).collect();
    Ok(Layout { version, columns, labels, long, records, data })
}

/// The column and the record that a long text is kept under.
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

fn long_texts(mut section: Bytes<'_>, version: u32) -> Result<Long, Damage> {
    let mut texts = Long::new();
    while section.left() >= 3 {
        if section.take(3)? != b"GSO" {
            break;
        }
        let column = u64::from(section.u32()?);
        let record = if version == 117 { u64::from(section.u32()?) } else { section.u64()? };
        let _binary = section.byte()?;
        let length = section.count()?;
        texts.insert((column, record), text(section.take(length)?));
    }
    Ok(texts)
}

fn value_labels(mut section: Bytes<'_>, width: usize) -> Result<Labels, Damage> {
    let mut all = Labels::new();
    while section.left() >= 5 {
        if section.take(5)? != b"<lbl>" {
            break;
        }
        section.count()?;
        let name = text(section.take(width)?);
        section.take(3)?;
        all.push((name, label_set(&mut section)?));
        section.expect(b"</lbl>")?;
    }
    Ok(all)
}
