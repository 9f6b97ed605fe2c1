//! Formats 104 to 115 (Stata 4 to 12), with consecutive parts of fixed width.

use super::super::Damage;
use super::super::bytes::{Bytes, text};
use super::super::columns::Labels;
use super::{Layout, Long, Sets, StataColumn, Type, label_set};

/// Supported formats.
pub(super) const VERSIONS: &[u8] = &[104, 105, 108, 110, 111, 112, 113, 114, 115];

/// Field widths that depend on the format.
struct Widths {
    file_label: usize,
    stamp: usize,
    name: usize,
    format: usize,
    label: usize,
    /// Width of the length field of an expansion field; 0 if there are none. Programs store
    /// additional data in expansion fields.
    expansion: usize,
}

impl Widths {
    fn of(version: u8) -> Widths {
        let (file_label, label) = if version > 105 { (81, 81) } else { (32, 32) };
        Widths {
            file_label,
            stamp: if version > 104 { 18 } else { 0 },
            name: if version > 108 { 33 } else { 9 },
            format: match version {
                114.. => 49,
                105..=113 => 12,
                _ => 7,
            },
            label,
            expansion: match version {
                109.. => 4,
                105..=108 => 2,
                _ => 0,
            },
        }
    }
}

/// Storage type of a column. Before format 111, letters denote the numeric types.
fn kind(code: u8, version: u8) -> Result<Type, Damage> {
    let code = match (version < 111, code) {
        (true, b'b') => 251,
        (true, b'i') => 252,
        (true, b'l') => 253,
        (true, b'f') => 254,
        (true, b'd') => 255,
        (true, 128..) => code - 127,
        (true, _) => 0,
        (false, code) => code,
    };
    Ok(match code {
        1..=244 => Type::Fixed(usize::from(code)),
        251 => Type::Int8,
        252 => Type::Int16,
        253 => Type::Int32,
        254 => Type::Float,
        255 => Type::Double,
        _ => return Err("a column has no type that is known".into()),
    })
}

pub(super) fn layout(bytes: &[u8]) -> Result<Layout<'_>, Damage> {
    let mut at = Bytes::new(bytes, false);
    let version = at.byte()?;
    if !VERSIONS.contains(&version) {
        return Err("its version is not known".into());
    }
    at.big = at.byte()? == 1;
    at.take(2)?;
    let widths = Widths::of(version);
    let columns = usize::from(at.u16()?);
    let records = at.u32()? as usize;
    at.take(widths.file_label + widths.stamp)?;
    let kinds: Vec<Type> =
        at.take(columns)?.iter().map(|code| kind(*code, version)).collect::<Result<_, _>>()?;
    let mut texts = |width: usize| -> Result<Vec<String>, Damage> {
        (0..columns).map(|_| at.take(width).map(text)).collect()
    };
    let names = texts(widths.name)?;
    // The columns by which the records are sorted, terminated by 0.
    for _ in 0..=columns {
        if usize::from(at.u16()?) > columns {
            return Err("its list of variables makes no sense".into());
        }
    }
    let mut texts = |width: usize| -> Result<Vec<String>, Damage> {
        (0..columns).map(|_| at.take(width).map(text)).collect()
    };
    let formats = texts(widths.format)?;
    let label_names = texts(widths.name)?;
    at.take(columns * widths.label)?;
    if widths.expansion > 0 {
        loop {
            let kind = at.byte()?;
            let length = if widths.expansion == 4 { at.count()? } else { usize::from(at.u16()?) };
            if kind == 0 {
                break;
            }
            at.take(length)?;
        }
    }
    let width: usize = kinds.iter().map(|kind| kind.width()).sum();
    let size = records.saturating_mul(width);
    if width == 0 || size > at.left() {
        return Err("it ends too early".into());
    }
    let data = Bytes::new(at.take(size)?, at.big);
    // Programs write different labels before format 108. If the labels cannot be parsed, the column
    // keeps its codes.
    let labels = if version >= 108 {
        label_sets(at, &widths)?
    } else {
        short_label_sets(at).unwrap_or_default()
    };
    let columns = names.into_iter().zip(kinds).zip(formats.into_iter().zip(label_names));
    let columns = columns
        .map(|((name, kind), (format, labels))| StataColumn { name, kind, format, labels })
        .collect();
    Ok(Layout { version: u32::from(version), columns, labels, long: Long::new(), records, data })
}

fn label_sets<'a>(mut at: Bytes<'a>, widths: &Widths) -> Result<Sets<'a>, Damage> {
    let mut all = Sets::new();
    while at.left() > 0 {
        at.count()?;
        let name = text(at.take(widths.name)?);
        at.take(3)?;
        let labels = label_set(&mut at)?;
        all.entry(name).or_insert(labels);
    }
    Ok(all)
}

/// Labels of up to eight bytes for small integers.
fn short_label_sets(mut at: Bytes<'_>) -> Result<Sets<'_>, Damage> {
    let mut all = Sets::new();
    while at.left() > 0 {
        let count = usize::from(at.u16()?);
        let name = text(at.take(9)?);
        at.take(1)?;
        let mut codes = Bytes::new(at.take(2 * count)?, at.big);
        let mut labels = Labels::default();
        for _ in 0..count {
            labels.add(f64::from(codes.u16()? as i16), at.take(8)?);
        }
        all.entry(name).or_insert(labels);
    }
    Ok(all)
}
