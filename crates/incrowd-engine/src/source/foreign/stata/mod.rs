//! Stata files (.dta) with value labels, missing values and dates. What a file of any version says is a `Layout`; its records are
//! read here.

mod fixed;
mod tagged;

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

/// A column as the file states it.
struct Column {
    name: String,
    kind: Type,
    /// How Stata shows it; dates are told by this.
    format: String,
    /// The set of value labels it has.
    labels: String,
}

/// Sets of value labels by name.
type Labels = Vec<(String, Vec<(f64, String)>)>;

/// Texts that are kept apart from the records.
type Long = hashbrown::HashMap<(u64, u64), String>;

/// All that a file says before and after its records.
struct Layout<'a> {
    version: u32,
    columns: Vec<Column>,
    labels: Labels,
    long: Long,
    records: usize,
    data: Bytes<'a>,
}

/// Days from 1960-01-01 to 1970-01-01.
const EPOCH: f64 = 3653.0;

pub(super) fn read(bytes: &[u8]) -> Result<Table, Damage> {
    let layout = if bytes.first() == Some(&b'<') { tagged::layout(bytes)? } else { fixed::layout(bytes)? };
    table(layout)
}

/// Whether the first bytes are those of a file without tags: the number of its format, the order of its bytes, 1, 0.
pub(super) fn is_fixed(first: &[u8]) -> bool {
    matches!(first, [version, 1 | 2, 1, 0, ..] if fixed::VERSIONS.contains(version))
}

fn table(layout: Layout<'_>) -> Result<Table, Damage> {
    let Layout { version, columns, labels, long, records, mut data } = layout;
    let mut texts: Vec<Vec<Option<String>>> = vec![Vec::new(); columns.len()];
    let mut numbers: Vec<Vec<Option<f64>>> = vec![Vec::new(); columns.len()];
    // Since format 113 there are 27 missing values at the upper end; before, the highest number is one.
    let (int8, int16, int32) =
        if version >= 113 { (100, 32_740, 2_147_483_620) } else { (126, 32_766, 2_147_483_646) };
    for _ in 0..records {
        for (column, Column { kind, .. }) in columns.iter().enumerate() {
            let number = match kind {
                Type::Fixed(width) => {
                    let cell = text(data.take(*width)?);
                    texts[column].push((!cell.is_empty()).then_some(cell));
                    continue;
                }
                Type::Long => {
                    let key = tagged::long_key(&mut data, version)?;
                    let found = long.get(&key).filter(|text| !text.is_empty());
                    texts[column].push(found.cloned());
                    continue;
                }
                Type::Double => Some(data.f64()?).filter(|x| is_there(*x, version)),
                Type::Float => {
                    Some(data.f32()?).filter(|x| x.is_finite() && *x < 2f32.powi(127)).map(shortest)
                }
                Type::Int32 => Some(data.i32()?).filter(|x| *x <= int32).map(f64::from),
                Type::Int16 => Some(data.u16()? as i16).filter(|x| *x <= int16).map(f64::from),
                Type::Int8 => Some(data.byte()? as i8).filter(|x| *x <= int8).map(f64::from),
            };
            numbers[column].push(number);
        }
    }
    let mut table = Table::default();
    for (column, Column { name, kind, format, labels: set }) in columns.into_iter().enumerate() {
        let cells = match kind {
            Type::Fixed(_) | Type::Long => Cells::Text(std::mem::take(&mut texts[column])),
            _ => shown(std::mem::take(&mut numbers[column]), &format, &labels, &set),
        };
        table.columns.push((name, cells));
    }
    Ok(table)
}

/// Numbers as what they stand for: dates by their format, categories by their labels.
fn shown(numbers: Vec<Option<f64>>, format: &str, labels: &Labels, set: &str) -> Cells {
    let format = format.trim_start_matches("%-").trim_start_matches('%');
    let dates = |per_day: f64| {
        Cells::Text(numbers.iter().map(|x| x.and_then(|x| date(x / per_day - EPOCH))).collect())
    };
    match labels.iter().find(|(name, _)| name == set) {
        _ if format.starts_with("td") || format.starts_with('d') => dates(1.0),
        _ if format.starts_with("tc") || format.starts_with("tC") => dates(86_400_000.0),
        Some((_, labels)) => labelled(numbers, labels),
        None => Cells::Numbers(numbers),
    }
}

/// Whether a double is a value. Up to format 105 one number in the middle was the missing one.
fn is_there(x: f64, version: u32) -> bool {
    x.is_finite() && x < 2f64.powi(1023) && !(version <= 105 && x == 2f64.powi(333))
}

/// The double that is written like the float: 0.1, not 0.10000000149.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

/// A set of labels whose texts lie one after another: how many, how long, where each begins, what each is for, the texts.
fn label_set(section: &mut Bytes<'_>) -> Result<Vec<(f64, String)>, Damage> {
    let (count, length) = (section.count()?, section.count()?);
    let places = (0..count).map(|_| section.u32()).collect::<Result<Vec<u32>, Damage>>()?;
    let codes = (0..count).map(|_| section.i32()).collect::<Result<Vec<i32>, Damage>>()?;
    let texts = section.take(length)?;
    let label = |place: u32| texts.get(place as usize..).map(text).unwrap_or_default();
    Ok(codes.iter().zip(&places).map(|(code, place)| (f64::from(*code), label(*place))).collect())
}
