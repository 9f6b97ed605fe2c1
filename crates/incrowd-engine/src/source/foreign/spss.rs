//! SPSS system files (.sav, .zsav), uncompressed or compressed, with value labels, missing values
//! and dates.

use std::io::{self, BufRead, BufReader, Read};

use flate2::read::ZlibDecoder;
use hashbrown::HashMap;

use super::bytes::{Bytes, text};
use super::columns::{Cells, Labels, Numbers, Texts};
use super::{Budget, Damage, Table};

/// A variable. A record consists of segments of eight bytes. A text longer than eight bytes takes
/// several segments.
#[derive(Default)]
struct Variable {
    short: String,
    name: String,
    /// Bytes of a text, or 0 for a number.
    width: usize,
    /// Number of segments.
    places: usize,
    /// Display format of numbers.
    format: u8,
    range: Option<(f64, f64)>,
    missing: Vec<f64>,
    /// Index of its set of value labels. Variables may share a set.
    labels: Option<usize>,
}

/// Seconds from 1582-10-14 to 1970-01-01.
const EPOCH: f64 = 12_219_379_200.0;
/// Longest accepted name in bytes. SPSS allows 64.
const LONGEST_NAME: usize = 256;
/// Codes of date and datetime formats.
const DATES: &[u8] = &[20, 22, 23, 24, 38, 39, 41];

pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Table, Damage> {
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
    // For each segment of a record, the variable that starts there.
    let mut begins: Vec<Option<usize>> = Vec::new();
    // Sets of value labels. A dictionary record with labels is followed by one with the variables
    // that use them.
    let mut sets: Vec<Labels<'_>> = Vec::new();
    loop {
        match at.i32()? {
            2 => dictionary(&mut at, &mut variables, &mut begins)?,
            3 => {
                let mut labels = Labels::default();
                for _ in 0..at.count()? {
                    let number = at.f64()?;
                    let length = usize::from(at.byte()?);
                    labels.add(number, at.take(length)?.trim_ascii_end());
                    at.take((8 - (1 + length) % 8) % 8)?;
                }
                sets.push(labels);
            }
            4 => {
                for _ in 0..at.count()? {
                    let place = (at.i32()? as usize).wrapping_sub(1);
                    let Some(Some(variable)) = begins.get(place).copied() else { continue };
                    if variables[variable].width == 0 {
                        variables[variable].labels = sets.len().checked_sub(1);
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
    let big = at.big;
    let data: Box<dyn BufRead + '_> = match compression {
        2 => Box::new(BufReader::new(CompressedBlocks::new(at, bytes)?)),
        _ => Box::new(at.take(at.left())?),
    };
    let places = Segments { data, big, codes: (compression > 0).then_some(([0; 8], 8)), bias };
    records(places, begins.len(), variables, &sets, budget)
}

/// Decompressing reader for the data of a .zsav file: zlib blocks, listed at the end of the file.
/// The decompressed data have the layout of a compressed .sav file.
struct CompressedBlocks<'a> {
    /// Compressed bytes and decompressed size of each block.
    blocks: std::vec::IntoIter<(&'a [u8], u64)>,
    /// Decoder of the current block, and number of bytes it still has to return.
    current: Option<(ZlibDecoder<&'a [u8]>, u64)>,
}

impl<'a> CompressedBlocks<'a> {
    fn new(mut at: Bytes<'a>, bytes: &'a [u8]) -> Result<CompressedBlocks<'a>, Damage> {
        let odd = || "its parts do not fit together";
        let part = |from: u64, length: u64| {
            let (from, length) = (usize::try_from(from).ok()?, usize::try_from(length).ok()?);
            bytes.get(from..)?.get(..length)
        };
        let (_from, list, length) = (at.u64()?, at.u64()?, at.u64()?);
        let mut list = Bytes::new(part(list, length).ok_or_else(odd)?, at.big);
        list.take(16)?;
        let _most = list.u32()?;
        let mut blocks = Vec::new();
        // Blocks must be in ascending order without overlap, so that none is decompressed twice.
        let mut after = 0;
        for _ in 0..list.u32()? {
            let (_place, from) = (list.u64()?, list.u64()?);
            let (size, length) = (u64::from(list.u32()?), u64::from(list.u32()?));
            let packed = part(from, length).filter(|_| from >= after).ok_or_else(odd)?;
            after = from + length;
            blocks.push((packed, size));
        }
        Ok(CompressedBlocks { blocks: blocks.into_iter(), current: None })
    }
}

impl Read for CompressedBlocks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some((decoder, left)) = self.current.as_mut().filter(|(_, left)| *left > 0) {
                let most = buffer.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                let read = decoder.read(&mut buffer[..most])?;
                *left -= read as u64;
                // The block is shorter than stated in the list.
                let damaged = read == 0 && most > 0;
                return if damaged { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) };
            }
            let Some((packed, size)) = self.blocks.next() else { return Ok(0) };
            self.current = Some((ZlibDecoder::new(packed), size));
        }
    }
}

/// Reads a variable, or the continuation segment of the previous one.
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
        labels: None,
    });
    Ok(())
}

/// Applies a list of `SHORT=Long name` pairs, separated by tabs.
fn long_names(list: &str, variables: &mut [Variable]) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, variable) in variables.iter().enumerate() {
        places.entry(variable.short.to_ascii_uppercase()).or_insert(place);
    }
    for pair in list.split('\t') {
        if let Some((short, long)) = pair.split_once('=')
            && long.len() <= LONGEST_NAME
            && let Some(&place) = places.get(&short.to_ascii_uppercase())
        {
            long.clone_into(&mut variables[place].name);
        }
    }
}

/// A segment of a record.
enum Segment {
    Bytes([u8; 8]),
    Number(f64),
    Missing,
}

/// Reader for the segments of the records.
struct Segments<'a> {
    data: Box<dyn BufRead + 'a>,
    big: bool,
    /// Eight compression codes and the number of codes used, if the data are compressed.
    codes: Option<([u8; 8], usize)>,
    bias: f64,
}

impl Segments<'_> {
    /// Reads the next eight bytes. Returns `None` if there are fewer.
    fn eight(&mut self) -> Result<Option<[u8; 8]>, Damage> {
        let mut bytes = [0; 8];
        let mut read = 0;
        while read < bytes.len() {
            match self.data.read(&mut bytes[read..]).map_err(|_| "a compressed block is damaged")? {
                0 => return Ok(None),
                more => read += more,
            }
        }
        Ok(Some(bytes))
    }

    /// Reads the next segment. Returns `None` at the end.
    fn next(&mut self) -> Result<Option<Segment>, Damage> {
        loop {
            let Some((codes, used)) = self.codes else {
                return Ok(self.eight()?.map(Segment::Bytes));
            };
            let Some(&code) = codes.get(used) else {
                let Some(codes) = self.eight()? else { return Ok(None) };
                self.codes = Some((codes, 0));
                continue;
            };
            self.codes = Some((codes, used + 1));
            return Ok(Some(match code {
                0 => continue,
                252 => return Ok(None),
                253 => Segment::Bytes(self.eight()?.ok_or("it ends too early")?),
                254 => Segment::Bytes(*b"        "),
                255 => Segment::Missing,
                code => Segment::Number(f64::from(code) - self.bias),
            }));
        }
    }
}

fn records(
    mut source: Segments<'_>,
    places: usize,
    variables: Vec<Variable>,
    sets: &[Labels<'_>],
    budget: &mut Budget,
) -> Result<Table, Damage> {
    let fresh = |variable: &Variable| match variable.width {
        0 => Cells::Numbers(Numbers::new()),
        _ => Cells::Text(Texts::new()),
    };
    budget.take_columns(variables.len())?;
    let mut columns: Vec<Cells> = variables.iter().map(fresh).collect();
    let mut bytes = Vec::new();
    'records: loop {
        let mut read = 0;
        for (variable, cells) in variables.iter().zip(&mut columns) {
            bytes.clear();
            let mut number = None;
            for _ in 0..variable.places {
                let place = match source.next()? {
                    Some(place) => place,
                    None if read == 0 => break 'records,
                    None => return Err("it ends within a record".into()),
                };
                read += 1;
                match place {
                    Segment::Bytes(own) => {
                        number = Some(Bytes::new(&own, source.big).f64()?);
                        bytes.extend_from_slice(&own);
                    }
                    Segment::Number(x) => number = Some(x),
                    Segment::Missing => number = None,
                }
            }
            match cells {
                Cells::Text(texts) => {
                    let cell = text(&bytes[..variable.width.min(bytes.len())]);
                    texts.push(Some(cell.trim_end()), budget)?;
                }
                Cells::Numbers(numbers) => {
                    numbers.push(number.filter(|x| variable.is_there(*x)), budget)?
                }
            }
        }
        if read != places {
            return Err("its parts do not fit together".into());
        }
    }
    let mut table = Table::default();
    for (variable, cells) in variables.into_iter().zip(columns) {
        let cells = match (cells, variable.labels.and_then(|set| sets.get(set))) {
            (Cells::Numbers(numbers), _) if DATES.contains(&variable.format) => {
                numbers.dates(budget, |x| (x - EPOCH) / 86_400.0)?
            }
            (Cells::Numbers(numbers), Some(labels)) => numbers.labelled(labels, budget)?,
            (cells, _) => cells,
        };
        table.columns.push((variable.name, cells));
    }
    Ok(table)
}

impl Variable {
    /// Whether a number is neither system-missing nor user-missing.
    fn is_there(&self, x: f64) -> bool {
        let in_range = self.range.is_some_and(|(lo, hi)| (lo..=hi).contains(&x));
        x.is_finite() && x > -f64::MAX && !in_range && !self.missing.contains(&x)
    }
}
