//! Stata files of versions 13 and later (formats 117 to 119), with value labels and dates.

use super::bytes::{Bytes, text};
use super::{Cells, Damage, Table, date, labelled};

/// What a column's bytes are.
#[derive(Clone, Copy)]
enum Type {
    Fixed(usize),
    Long,
    Double,
    Float,
    Int32,
    Int16,
    Int8,
}

impl Type {
    fn of(code: u16) -> Result<Type, Damage> {
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

    fn width(self) -> usize {
        match self {
            Type::Fixed(width) => width,
            Type::Long | Type::Double => 8,
            Type::Float | Type::Int32 => 4,
            Type::Int16 => 2,
            Type::Int8 => 1,
        }
    }
}

/// Days from 1960-01-01 to 1970-01-01.
const EPOCH: f64 = 3653.0;

/// The widths of names and texts of a format.
struct Widths {
    name: usize,
    format: usize,
    sort: usize,
}

pub(super) fn read(bytes: &[u8]) -> Result<Table, Damage> {
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
    let types = (0..columns).map(|_| Type::of(types.u16()?)).collect::<Result<Vec<Type>, Damage>>()?;
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
    let mut data = section(9, b"<data>")?;
    let width: usize = types.iter().map(|kind| kind.width()).sum();
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    if width == 0 || records.saturating_mul(width) > data.left() {
        return Err("it ends too early".into());
    }
    let mut texts: Vec<Vec<Option<String>>> = vec![Vec::new(); columns];
    let mut numbers: Vec<Vec<Option<f64>>> = vec![Vec::new(); columns];
    for _ in 0..records {
        for (column, kind) in types.iter().enumerate() {
            let number = match kind {
                Type::Fixed(width) => {
                    let cell = text(data.take(*width)?);
                    texts[column].push((!cell.is_empty()).then_some(cell));
                    continue;
                }
                Type::Long => {
                    let key = long_key(&mut data, version)?;
                    let found = long.get(&key).filter(|text| !text.is_empty());
                    texts[column].push(found.cloned());
                    continue;
                }
                // What is beyond these numbers is one of the 27 missing values.
                Type::Double => Some(data.f64()?).filter(|x| x.is_finite() && *x < 2f64.powi(1023)),
                Type::Float => {
                    Some(data.f32()?).filter(|x| x.is_finite() && *x < 2f32.powi(127)).map(shortest)
                }
                Type::Int32 => Some(data.i32()?).filter(|x| *x <= 2_147_483_620).map(f64::from),
                Type::Int16 => Some(data.u16()? as i16).filter(|x| *x <= 32_740).map(f64::from),
                Type::Int8 => Some(data.byte()? as i8).filter(|x| *x <= 100).map(f64::from),
            };
            numbers[column].push(number);
        }
    }
    let mut table = Table::default();
    for (column, name) in names.into_iter().enumerate() {
        let cells = match types[column] {
            Type::Fixed(_) | Type::Long => Cells::Text(std::mem::take(&mut texts[column])),
            _ => {
                let numbers = std::mem::take(&mut numbers[column]);
                let format = formats[column].trim_start_matches("%-").trim_start_matches('%');
                let own = labels.iter().find(|(label, _)| *label == label_names[column]);
                let dates = |per_day: f64| {
                    Cells::Text(numbers.iter().map(|x| x.and_then(|x| date(x / per_day - EPOCH))).collect())
                };
                match own {
                    _ if format.starts_with("td") || format.starts_with('d') => dates(1.0),
                    _ if format.starts_with("tc") || format.starts_with("tC") => dates(86_400_000.0),
                    Some((_, labels)) => labelled(numbers, labels),
                    None => Cells::Numbers(numbers),
                }
            }
        };
        table.columns.push((name, cells));
    }
    Ok(table)
}

/// The double that is written like the float: 0.1, not 0.10000000149.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

type Long = hashbrown::HashMap<(u64, u64), String>;

/// The column and the record that a long text is kept under.
fn long_key(data: &mut Bytes<'_>, version: u32) -> Result<(u64, u64), Damage> {
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

type Labels = Vec<(String, Vec<(f64, String)>)>;

fn value_labels(mut section: Bytes<'_>, width: usize) -> Result<Labels, Damage> {
    let mut all = Labels::new();
    while section.left() >= 5 {
        if section.take(5)? != b"<lbl>" {
            break;
        }
        section.count()?;
        let name = text(section.take(width)?);
        section.take(3)?;
        let (count, length) = (section.count()?, section.count()?);
        let places = (0..count).map(|_| section.u32()).collect::<Result<Vec<u32>, Damage>>()?;
        let codes = (0..count).map(|_| section.i32()).collect::<Result<Vec<i32>, Damage>>()?;
        let texts = section.take(length)?;
        let label = |place: u32| texts.get(place as usize..).map(text).unwrap_or_default();
        let labels =
            codes.iter().zip(&places).map(|(code, place)| (f64::from(*code), label(*place))).collect();
        all.push((name, labels));
        section.expect(b"</lbl>")?;
    }
    Ok(all)
}
