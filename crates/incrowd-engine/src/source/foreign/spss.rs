//! SPSS system files (.sav, .zsav), plain or compressed, with value labels, missing values and dates.

use std::io::Read;

use super::bytes::{Bytes, text};
use super::{Cells, Damage, Table, date, labelled};

/// A variable; a text longer than eight bytes takes several places in a record.
#[derive(Default)]
struct Variable {
    short: String,
    name: String,
    /// Bytes of a text; 0 for a number.
    width: usize,
    /// How many places of eight bytes it takes.
    places: usize,
    /// How numbers are shown.
    format: u8,
    range: Option<(f64, f64)>,
    missing: Vec<f64>,
    labels: Vec<(f64, String)>,
}

/// Seconds from 1582-10-14 to 1970-01-01.
const EPOCH: f64 = 12_219_379_200.0;
/// The formats of dates, and of dates with times of the day.
const DATES: &[u8] = &[20, 22, 23, 24, 38, 39, 41];

pub(super) fn read(bytes: &[u8]) -> Result<Table, Damage> {
    let mut at = Bytes::new(bytes, false);
    at.take(64)?;
    let layout = at.i32()?;
    at.big = !(2..=3).contains(&layout);
    let _places = at.i32()?;
    let compression = at.i32()?;
    let (_weight, _cases) = (at.i32()?, at.i32()?);
    let bias = at.f64()?;
    at.take(9 + 8 + 64 + 3)?;
    if !(0..=2).contains(&compression) {
        return Err("it is compressed in a way that is not read; save it without".into());
    }
    let mut variables: Vec<Variable> = Vec::new();
    // For each place of a record the variable that begins there.
    let mut begins: Vec<Option<usize>> = Vec::new();
    let mut pending: Vec<([u8; 8], String)> = Vec::new();
    loop {
        match at.i32()? {
            2 => dictionary(&mut at, &mut variables, &mut begins)?,
            3 => {
                pending.clear();
                for _ in 0..at.count()? {
                    let value: [u8; 8] = at.take(8)?.try_into().map_err(|_| "it ends too early")?;
                    let length = usize::from(at.byte()?);
                    let label = text(at.take(length)?);
                    at.take((8 - (1 + length) % 8) % 8)?;
                    pending.push((value, label));
                }
            }
            4 => {
                for _ in 0..at.count()? {
                    let place = (at.i32()? as usize).wrapping_sub(1);
                    let Some(Some(variable)) = begins.get(place).copied() else { continue };
                    if variables[variable].width == 0 {
                        let code = |value: &[u8; 8]| Bytes::new(value, at.big).f64();
                        let labels = pending
                            .iter()
                            .map(|(value, label)| Ok((code(value)?, label.trim_end().to_owned())));
                        variables[variable].labels = labels.collect::<Result<_, Damage>>()?;
                    }
                }
            }
            6 => {
                let lines = at.count()?;
                at.take(lines.saturating_mul(80))?;
            }
            7 => {
                let kind = at.i32()?;
                let (size, count) = (at.count()?, at.count()?);
                let data = at.take(size.saturating_mul(count))?;
                if kind == 13 {
                    long_names(&text(data), &mut variables);
                }
            }
            999 => {
                at.i32()?;
                break;
            }
            _ => return Err("its parts do not fit together".into()),
        }
    }
    if variables.is_empty() || begins.is_empty() {
        return Err("it has no variables".into());
    }
    let unpacked = if compression == 2 { blocks(at, bytes)? } else { Vec::new() };
    let at = if compression == 2 { Bytes::new(&unpacked, at.big) } else { at };
    records(at, compression > 0, bias, begins.len(), variables)
}

/// The records of a .zsav file: blocks that zlib compressed, listed at the end of the file. Unpacked they are what a compressed .sav
/// file has.
fn blocks(mut at: Bytes<'_>, bytes: &[u8]) -> Result<Vec<u8>, Damage> {
    let odd = || "its parts do not fit together";
    let part = |from: u64, length: u64| {
        let (from, length) = (usize::try_from(from).ok()?, usize::try_from(length).ok()?);
        bytes.get(from..)?.get(..length)
    };
    let (_from, list, length) = (at.u64()?, at.u64()?, at.u64()?);
    let mut list = Bytes::new(part(list, length).ok_or_else(odd)?, at.big);
    list.take(16)?;
    let _most = list.u32()?;
    let mut unpacked = Vec::new();
    // Blocks follow one another; none is unpacked twice.
    let mut after = 0;
    for _ in 0..list.u32()? {
        let (_place, from) = (list.u64()?, list.u64()?);
        let (size, length) = (u64::from(list.u32()?), u64::from(list.u32()?));
        let packed = part(from, length).filter(|_| from >= after).ok_or_else(odd)?;
        after = from + length;
        let read = flate2::read::ZlibDecoder::new(packed).take(size).read_to_end(&mut unpacked);
        if read.map_err(|_| "a compressed block is damaged")? as u64 != size {
            return Err("a compressed block is damaged".into());
        }
    }
    Ok(unpacked)
}

/// A variable, or a further place of the one before.
fn dictionary(
    at: &mut Bytes<'_>,
    variables: &mut Vec<Variable>,
    begins: &mut Vec<Option<usize>>,
) -> Result<(), Damage> {
    let width = at.i32()?;
    let (has_label, missing, print, _write) = (at.i32()?, at.i32()?, at.i32()?, at.i32()?);
    let short = text(at.take(8)?).trim_end().to_owned();
    if has_label == 1 {
        let length = at.count()?;
        at.take(length.next_multiple_of(4))?;
    }
    let mut values = Vec::new();
    for _ in 0..missing.unsigned_abs().min(3) {
        values.push(at.f64()?);
    }
    if width < 0 {
        begins.push(None);
        match variables.last_mut() {
            Some(variable) => variable.places += 1,
            None => return Err("its parts do not fit together".into()),
        }
        return Ok(());
    }
    let range = (missing < 0 && values.len() >= 2).then(|| (values.remove(0), values.remove(0)));
    begins.push(Some(variables.len()));
    variables.push(Variable {
        name: short.clone(),
        short,
        width: usize::try_from(width).unwrap_or(0),
        places: 1,
        format: (print >> 16) as u8,
        range,
        missing: values,
        labels: Vec::new(),
    });
    Ok(())
}

/// `SHORT=Long name`, separated by tabs.
fn long_names(list: &str, variables: &mut [Variable]) {
    for pair in list.split('\t') {
        if let Some((short, long)) = pair.split_once('=') {
            for variable in variables.iter_mut().filter(|variable| variable.short.eq_ignore_ascii_case(short))
            {
                long.clone_into(&mut variable.name);
            }
        }
    }
}

/// A place of a record.
enum Place {
    Bytes([u8; 8]),
    Number(f64),
    Missing,
}

/// The places of the records, one after another.
struct Places<'a> {
    at: Bytes<'a>,
    /// The codes of a block that are left, if places are compressed.
    codes: Option<std::vec::IntoIter<u8>>,
    bias: f64,
}

impl Places<'_> {
    /// The next place; `None` at the end.
    fn next(&mut self) -> Result<Option<Place>, Damage> {
        let literal = |at: &mut Bytes<'_>| -> Result<Place, Damage> {
            Ok(Place::Bytes(at.take(8)?.try_into().map_err(|_| "it ends too early")?))
        };
        let Some(codes) = &mut self.codes else {
            return if self.at.left() < 8 { Ok(None) } else { literal(&mut self.at).map(Some) };
        };
        loop {
            let Some(code) = codes.next() else {
                if self.at.left() < 8 {
                    return Ok(None);
                }
                *codes = self.at.take(8)?.to_vec().into_iter();
                continue;
            };
            return Ok(Some(match code {
                0 => continue,
                252 => return Ok(None),
                253 => literal(&mut self.at)?,
                254 => Place::Bytes(*b"        "),
                255 => Place::Missing,
                code => Place::Number(f64::from(code) - self.bias),
            }));
        }
    }
}

fn records(
    at: Bytes<'_>,
    compressed: bool,
    bias: f64,
    places: usize,
    variables: Vec<Variable>,
) -> Result<Table, Damage> {
    let big = at.big;
    let mut source = Places { at, codes: compressed.then(|| Vec::new().into_iter()), bias };
    let mut texts: Vec<Vec<Option<String>>> = variables.iter().map(|_| Vec::new()).collect();
    let mut numbers: Vec<Vec<Option<f64>>> = variables.iter().map(|_| Vec::new()).collect();
    'records: loop {
        let mut read = 0;
        for (column, variable) in variables.iter().enumerate() {
            let mut bytes = Vec::with_capacity(8 * variable.places);
            let mut number = None;
            for _ in 0..variable.places {
                let place = match source.next()? {
                    Some(place) => place,
                    None if read == 0 => break 'records,
                    None => return Err("it ends within a record".into()),
                };
                read += 1;
                match place {
                    Place::Bytes(own) => {
                        number = Some(Bytes::new(&own, big).f64()?);
                        bytes.extend_from_slice(&own);
                    }
                    Place::Number(x) => number = Some(x),
                    Place::Missing => number = None,
                }
            }
            if variable.width > 0 {
                let cell = text(&bytes[..variable.width.min(bytes.len())]).trim_end().to_owned();
                texts[column].push((!cell.is_empty()).then_some(cell));
            } else {
                numbers[column].push(number.filter(|x| variable.is_there(*x)));
            }
        }
        if read != places {
            return Err("its parts do not fit together".into());
        }
    }
    let mut table = Table::default();
    for (column, variable) in variables.into_iter().enumerate() {
        let cells = if variable.width > 0 {
            Cells::Text(std::mem::take(&mut texts[column]))
        } else if DATES.contains(&variable.format) {
            let day = |x: &Option<f64>| x.and_then(|x| date((x - EPOCH) / 86_400.0));
            Cells::Text(numbers[column].iter().map(day).collect())
        } else {
            labelled(std::mem::take(&mut numbers[column]), &variable.labels)
        };
        table.columns.push((variable.name, cells));
    }
    Ok(table)
}

impl Variable {
    /// Whether a number is a value: neither missing in the system's sense nor in the user's.
    fn is_there(&self, x: f64) -> bool {
        let in_range = self.range.is_some_and(|(lo, hi)| (lo..=hi).contains(&x));
        x.is_finite() && x > -f64::MAX && !in_range && !self.missing.contains(&x)
    }
}
