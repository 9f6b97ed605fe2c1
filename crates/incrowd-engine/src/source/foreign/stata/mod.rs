//! Stata files (.dta) with value labels, missing values and dates. The modules for the versions
//! parse a file into a `Layout`. This module reads the records.

mod fixed;
mod tagged;

use hashbrown::HashMap;

use super::bytes::{Bytes, text};
use super::columns::{Cells, Labels, Numbers, Texts};
use super::{Budget, Damage, Table};

/// Storage type of a column.
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

/// Metadata of a column.
struct StataColumn {
    name: String,
    kind: Type,
    /// Display format. It identifies dates.
    format: String,
    /// Name of the set of value labels.
    labels: String,
}

impl StataColumn {
    /// Whether Stata could have written this metadata. In a damaged file, the bytes of cells could
    /// be interpreted as names, and names are shown in messages.
    fn is_plausible(&self) -> bool {
        is_name(&self.name)
            && self.format.starts_with('%')
            && self.format.chars().all(|c| !c.is_control())
            && (self.labels.is_empty() || is_name(&self.labels))
    }
}

/// Whether a text is a valid name in Stata: up to 32 letters, digits and underscores, not starting
/// with a digit.
fn is_name(name: &str) -> bool {
    let allowed = |c: char| c == '_' || c.is_alphanumeric() || (!c.is_ascii() && !c.is_control());
    (1..=32).contains(&name.chars().count())
        && name
            .chars()
            .all(|c| allowed(c) && c != char::REPLACEMENT_CHARACTER && !c.is_whitespace())
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Sets of value labels by name.
type Sets<'a> = HashMap<String, Labels<'a>>;

/// Long texts, which are stored outside the records, undecoded.
type Long<'a> = HashMap<(u64, u64), &'a [u8]>;

/// Metadata of a file, parsed from the parts before and after the records.
struct Layout<'a> {
    version: u32,
    columns: Vec<StataColumn>,
    labels: Sets<'a>,
    long: Long<'a>,
    records: usize,
    data: Bytes<'a>,
}

/// Days from 1960-01-01 to 1970-01-01.
const EPOCH: f64 = 3653.0;
/// Cost of a code of a long text in bytes.
const LONG_CODE: usize = 48;

pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Table, Damage> {
    let layout =
        if bytes.first() == Some(&b'<') { tagged::layout(bytes)? } else { fixed::layout(bytes)? };
    if !layout.columns.iter().all(StataColumn::is_plausible) {
        return Err("its list of variables makes no sense".into());
    }
    table(layout, budget)
}

/// Whether the first bytes are those of a file without tags: format version, byte order, 1, 0.
pub(super) fn is_fixed(first: &[u8]) -> bool {
    matches!(first, [version, 1 | 2, 1, 0, ..] if fixed::VERSIONS.contains(version))
}

fn table(layout: Layout<'_>, budget: &mut Budget) -> Result<Table, Damage> {
    let Layout { version, columns, labels, long, records, mut data } = layout;
    budget.take_columns(columns.len())?;
    let fresh = |column: &StataColumn| match column.kind {
        Type::Fixed(_) | Type::Long => Cells::Text(Texts::new()),
        _ => Cells::Numbers(Numbers::new()),
    };
    let mut all: Vec<Cells> = columns.iter().map(fresh).collect();
    // Codes of long texts by column, so that a text is decoded once and not for every cell.
    let mut long_codes: Vec<HashMap<(u64, u64), u32>> =
        columns.iter().map(|_| HashMap::new()).collect();
    // Since format 113, the 27 largest values are missing values. Before, only the largest one is.
    let (int8, int16, int32) =
        if version >= 113 { (100, 32_740, 2_147_483_620) } else { (126, 32_766, 2_147_483_646) };
    for _ in 0..records {
        for (at, (StataColumn { kind, .. }, cells)) in columns.iter().zip(&mut all).enumerate() {
            let number = match (kind, &mut *cells) {
                (Type::Fixed(width), Cells::Text(texts)) => {
                    texts.push(Some(&text(data.take(*width)?)), budget)?;
                    continue;
                }
                (_, Cells::Text(texts)) => {
                    let key = tagged::long_key(&mut data, version)?;
                    let code = match (long_codes[at].get(&key), long.get(&key)) {
                        (Some(code), _) => *code,
                        (None, None) => 0,
                        (None, Some(bytes)) => {
                            budget.take(LONG_CODE)?;
                            let code = texts.code(&text(bytes), budget)?;
                            long_codes[at].insert(key, code);
                            code
                        }
                    };
                    texts.push_code(code, budget)?;
                    continue;
                }
                (Type::Fixed(_) | Type::Long, _) => None,
                (Type::Double, _) => Some(data.f64()?).filter(|x| is_there(*x, version)),
                (Type::Float, _) => {
                    Some(data.f32()?).filter(|x| x.is_finite() && *x < 2f32.powi(127)).map(shortest)
                }
                (Type::Int32, _) => Some(data.i32()?).filter(|x| *x <= int32).map(f64::from),
                (Type::Int16, _) => Some(data.u16()? as i16).filter(|x| *x <= int16).map(f64::from),
                (Type::Int8, _) => Some(data.byte()? as i8).filter(|x| *x <= int8).map(f64::from),
            };
            if let Cells::Numbers(numbers) = cells {
                numbers.push(number, budget)?;
            }
        }
    }
    drop(long_codes);
    let mut table = Table::default();
    for (StataColumn { name, format, labels: set, .. }, cells) in columns.into_iter().zip(all) {
        let cells = match cells {
            Cells::Text(_) => cells,
            Cells::Numbers(numbers) => shown(numbers, &format, labels.get(&set), budget)?,
        };
        table.columns.push((name, cells));
    }
    Ok(table)
}

/// Converts numbers to their meaning: dates by format, categories by value labels.
fn shown(
    numbers: Numbers,
    format: &str,
    labels: Option<&Labels<'_>>,
    budget: &mut Budget,
) -> Result<Cells, Damage> {
    let format = format.trim_start_matches("%-").trim_start_matches('%');
    match labels {
        _ if format.starts_with("td") || format.starts_with('d') => {
            numbers.dates(budget, |x| x - EPOCH)
        }
        _ if format.starts_with("tc") || format.starts_with("tC") => {
            numbers.dates(budget, |x| x / 86_400_000.0 - EPOCH)
        }
        Some(labels) => numbers.labelled(labels, budget),
        None => Ok(Cells::Numbers(numbers)),
    }
}

/// Whether a double is not missing. Up to format 105, 2^333 was the missing value.
fn is_there(x: f64, version: u32) -> bool {
    x.is_finite() && x < 2f64.powi(1023) && !(version <= 105 && x == 2f64.powi(333))
}

/// Converts a float to the double with the same shortest decimal form: 0.1, not 0.10000000149.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

/// Parses a set of value labels: number of labels, length of the texts, offset of each text, value
/// of each label, texts.
fn label_set<'a>(section: &mut Bytes<'a>) -> Result<Labels<'a>, Damage> {
    let (count, length) = (section.count()?, section.count()?);
    let size = count.saturating_mul(4);
    let mut places = Bytes::new(section.take(size)?, section.big);
    let mut codes = Bytes::new(section.take(size)?, section.big);
    let texts = section.take(length)?;
    let mut labels = Labels::default();
    for _ in 0..count {
        let text = texts.get(places.u32()? as usize..).unwrap_or_default();
        labels.add(f64::from(codes.i32()?), text);
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_told_from_other_texts() {
        for name in ["a", "_long", "Alter_2", "größe", "年齢", &"x".repeat(32)] {
            assert!(is_name(name), "{name}");
        }
        for other in
            ["", "2a", "a b", "a-b", "a.b", "Anna Muster", "a\u{7}", "\u{fffd}", &"x".repeat(33)]
        {
            assert!(!is_name(other), "{other}");
        }
    }
}
