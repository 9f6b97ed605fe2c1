//! Column builders. Numbers use the smallest type that fits all values up to now. Texts are
//! dictionary-encoded.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int8Array, Int32Array, Int64Array, StringArray,
    UInt32Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use hashbrown::HashMap;

use super::bytes::text;
use super::{Budget, Damage, date};
use crate::intern::Interner;

/// Cost of a distinct value in addition to its bytes, here and in later steps: offsets and entries
/// of hash tables.
const ENTRY: usize = 96;
/// Number of times that the bytes of a distinct text are taken from the budget. Commands copy them
/// into dictionaries and labels.
const COPIES: usize = 4;
/// Maximum length of a value label in bytes. Stata allows 32,000 characters of up to four bytes,
/// SPSS fewer.
const LONGEST_LABEL: usize = 4 * 32_000;

/// The cells of a column.
pub(super) enum Cells {
    Text(Texts),
    Numbers(Numbers),
}

/// Appends a value. The capacity grows by less than a factor of two, because doubling would use up
/// to twice the memory in the budget.
fn push<T>(values: &mut Vec<T>, value: T) {
    if values.len() == values.capacity() {
        values.reserve_exact((values.len() / 4).max(16));
    }
    values.push(value);
}

/// Dictionary-encoded texts.
pub(super) struct Texts {
    /// Code of each cell; 0 is a missing cell.
    codes: Vec<u32>,
    dictionary: Interner,
    /// Total bytes of the distinct texts.
    bytes: usize,
}

impl Texts {
    pub(super) fn new() -> Texts {
        Texts { codes: Vec::new(), dictionary: Interner::new(), bytes: 0 }
    }

    /// Returns the code of a text. The empty text is a missing cell.
    pub(super) fn code(&mut self, text: &str, budget: &mut Budget) -> Result<u32, Damage> {
        if text.is_empty() {
            return Ok(0);
        }
        if let Some(code) = self.dictionary.get(text.as_bytes()) {
            return Ok(code);
        }
        budget.take(text.len().saturating_mul(COPIES) + ENTRY)?;
        self.bytes += text.len();
        if i32::try_from(self.bytes).is_err() {
            return Err(
                "a column has more than 2 GiB of distinct text; export it as CSV or Parquet".into(),
            );
        }
        Ok(self.dictionary.intern(text.as_bytes()))
    }

    /// Appends a cell by its code, or 0 for a missing cell.
    pub(super) fn push_code(&mut self, code: u32, budget: &mut Budget) -> Result<(), Damage> {
        budget.take(size_of::<u32>())?;
        push(&mut self.codes, code);
        Ok(())
    }

    pub(super) fn push(&mut self, text: Option<&str>, budget: &mut Budget) -> Result<(), Damage> {
        let code = self.code(text.unwrap_or_default(), budget)?;
        self.push_code(code, budget)
    }

    fn array(self) -> ArrayRef {
        let (bytes, ends) = self.dictionary.into_bytes();
        // `code` has checked that the offsets fit.
        let offsets: ScalarBuffer<i32> = ends.iter().map(|end| *end as i32).collect();
        let values = StringArray::new(OffsetBuffer::new(offsets), Buffer::from_vec(bytes), None);
        let nulls = NullBuffer::from_iter(self.codes.iter().map(|code| *code != 0));
        let keys = self.codes.into_iter().map(|code| code.saturating_sub(1)).collect::<Vec<u32>>();
        let keys =
            UInt32Array::new(keys.into(), Some(nulls).filter(|nulls| nulls.null_count() > 0));
        Arc::new(DictionaryArray::<UInt32Type>::new(keys, Arc::new(values)))
    }
}

/// Numbers. The minimum of each integer type, and NaN, encode missing cells.
pub(super) enum Numbers {
    Int8(Vec<i8>),
    Int32(Vec<i32>),
    Double(Vec<f64>),
}

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers::Int8(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Numbers::Int8(values) => values.len(),
            Numbers::Int32(values) => values.len(),
            Numbers::Double(values) => values.len(),
        }
    }

    /// Bytes per cell.
    fn width(&self) -> usize {
        match self {
            Numbers::Int8(_) => size_of::<i8>(),
            Numbers::Int32(_) => size_of::<i32>(),
            Numbers::Double(_) => size_of::<f64>(),
        }
    }

    fn get(&self, at: usize) -> Option<f64> {
        match self {
            Numbers::Int8(values) => Some(values[at]).filter(|x| *x != i8::MIN).map(f64::from),
            Numbers::Int32(values) => Some(values[at]).filter(|x| *x != i32::MIN).map(f64::from),
            Numbers::Double(values) => Some(values[at]).filter(|x| !x.is_nan()),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(super) fn push(&mut self, number: Option<f64>, budget: &mut Budget) -> Result<(), Damage> {
        while !self.fits(number) {
            self.widen(budget)?;
        }
        budget.take(self.width())?;
        match self {
            Numbers::Int8(values) => push(values, number.map_or(i8::MIN, |x| x as i8)),
            Numbers::Int32(values) => push(values, number.map_or(i32::MIN, |x| x as i32)),
            Numbers::Double(values) => push(values, number.unwrap_or(f64::NAN)),
        }
        Ok(())
    }

    fn fits(&self, number: Option<f64>) -> bool {
        let Some(x) = number else { return true };
        match self {
            Numbers::Int8(_) => x as i8 > i8::MIN && f64::from(x as i8) == x,
            Numbers::Int32(_) => x as i32 > i32::MIN && f64::from(x as i32) == x,
            Numbers::Double(_) => true,
        }
    }

    fn widen(&mut self, budget: &mut Budget) -> Result<(), Damage> {
        let before = self.width() * self.len();
        budget.take(if before == self.len() { 3 * before } else { before })?;
        *self = match self {
            Numbers::Int8(values) => Numbers::Int32(
                values
                    .iter()
                    .map(|x| if *x == i8::MIN { i32::MIN } else { i32::from(*x) })
                    .collect(),
            ),
            _ => Numbers::Double(self.iter().map(|x| x.unwrap_or(f64::NAN)).collect()),
        };
        Ok(())
    }

    /// Converts the numbers to an Arrow array. Integers keep the smallest type that fits.
    fn array(self) -> ArrayRef {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let nulls = NullBuffer::from_iter(self.iter().map(|x| x.is_some()));
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        match self {
            Numbers::Int8(values) => Arc::new(Int8Array::new(values.into(), nulls)),
            Numbers::Int32(values) => Arc::new(Int32Array::new(values.into(), nulls)),
            Numbers::Double(values) => {
                let whole = |x: &f64| x.is_nan() || (x.fract() == 0.0 && x.abs() < EXACT);
                match values.iter().all(whole) {
                    // NaN becomes 0, and the cell is null.
                    true => {
                        let values: Vec<i64> = values.into_iter().map(|x| x as i64).collect();
                        Arc::new(Int64Array::new(values.into(), nulls))
                    }
                    false => Arc::new(Float64Array::new(values.into(), nulls)),
                }
            }
        }
    }

    /// Converts the cells to texts with `spell`.
    pub(super) fn spelled(
        self,
        budget: &mut Budget,
        spell: impl Fn(f64) -> Option<String>,
    ) -> Result<Texts, Damage> {
        self.coded(budget, |x, texts, budget| texts.code(&spell(x).unwrap_or_default(), budget))
    }

    /// Converts the cells to texts. `code_of` returns the code of a number's text.
    fn coded(
        self,
        budget: &mut Budget,
        mut code_of: impl FnMut(f64, &mut Texts, &mut Budget) -> Result<u32, Damage>,
    ) -> Result<Texts, Damage> {
        let mut texts = Texts::new();
        // Most columns have few distinct numbers. Each of them is formatted once.
        let mut known: HashMap<u64, u32> = HashMap::new();
        for number in self.iter() {
            let code = match number.map(|x| (x, known.get(&key(x)).copied())) {
                None => 0,
                Some((_, Some(code))) => code,
                Some((x, None)) => {
                    budget.take(ENTRY)?;
                    let code = code_of(x, &mut texts, budget)?;
                    known.insert(key(x), code);
                    code
                }
            };
            texts.push_code(code, budget)?;
        }
        budget.give_back(self.width() * self.len() + ENTRY * known.len());
        Ok(texts)
    }

    /// Converts numbers to dates. `day` returns days since 1970-01-01.
    pub(super) fn dates(
        self,
        budget: &mut Budget,
        day: impl Fn(f64) -> f64,
    ) -> Result<Cells, Damage> {
        self.spelled(budget, |x| date(day(x))).map(Cells::Text)
    }

    /// Replaces codes by their value labels, if every occurring code has a label.
    pub(super) fn labelled(
        self,
        labels: &Labels<'_>,
        budget: &mut Budget,
    ) -> Result<Cells, Damage> {
        let all = self.iter().flatten().all(|x| labels.get(x).is_some());
        if !all || self.iter().flatten().next().is_none() {
            return Ok(Cells::Numbers(self));
        }
        // Many numbers may have one label. It is decoded once for all of them.
        let mut decoded: HashMap<(*const u8, usize), u32> = HashMap::new();
        let texts = self.coded(budget, |x, texts, budget| {
            let label = labels.get(x).unwrap_or_default();
            let place = (label.as_ptr(), label.len());
            if let Some(code) = decoded.get(&place) {
                return Ok(*code);
            }
            // A label of a Stata file is followed by the other labels, after a zero.
            let begins = &label[..label.len().min(LONGEST_LABEL + 1)];
            if begins.len() > LONGEST_LABEL && !begins.contains(&0) {
                return Err("a value label has more than 32,000 characters".into());
            }
            budget.take(ENTRY)?;
            let code = texts.code(&text(label), budget)?;
            decoded.insert(place, code);
            Ok(code)
        })?;
        budget.give_back(ENTRY * decoded.len());
        Ok(Cells::Text(texts))
    }
}

/// Bit pattern of a number, with -0 mapped to 0.
fn key(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

/// Value labels: undecoded text by number.
#[derive(Default)]
pub(super) struct Labels<'a>(HashMap<u64, &'a [u8]>);

impl<'a> Labels<'a> {
    /// Adds a label. If a number has several labels, the first one is used.
    pub(super) fn add(&mut self, number: f64, label: &'a [u8]) {
        self.0.entry(key(number)).or_insert(label);
    }

    fn get(&self, number: f64) -> Option<&'a [u8]> {
        self.0.get(&key(number)).copied()
    }
}

impl Cells {
    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Text(texts) => texts.codes.len(),
            Cells::Numbers(numbers) => numbers.len(),
        }
    }

    pub(super) fn array(self) -> ArrayRef {
        match self {
            Cells::Text(texts) => texts.array(),
            Cells::Numbers(numbers) => numbers.array(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    #[test]
    fn numbers_take_the_bytes_they_need() {
        let made = |all: &[Option<f64>]| {
            let (mut numbers, mut budget) = (Numbers::new(), Budget::of(0));
            all.iter().for_each(|x| numbers.push(*x, &mut budget).unwrap());
            assert_eq!(numbers.iter().collect::<Vec<_>>(), all);
            numbers.array().data_type().to_string()
        };
        assert_eq!(made(&[Some(-127.0), None, Some(127.0)]), "Int8");
        assert_eq!(made(&[Some(1.0), None, Some(-128.0)]), "Int32");
        assert_eq!(made(&[None, Some(f64::from(i32::MIN))]), "Int64");
        assert_eq!(made(&[None, Some(1e300)]), "Float64");
        assert_eq!(made(&[Some(300.0), None, Some(0.5)]), "Float64");
    }

    #[test]
    fn a_label_of_many_numbers_is_decoded_once_and_has_a_limited_length() {
        let made = |label: &[u8]| {
            let (mut numbers, mut budget) = (Numbers::new(), Budget::of(0));
            let mut labels = Labels::default();
            for number in 0..1000 {
                labels.add(f64::from(number), label);
                numbers.push(Some(f64::from(number)), &mut budget).unwrap();
            }
            let array = numbers.labelled(&labels, &mut budget).ok()?.array();
            Some((array.len(), array.as_any_dictionary().values().len()))
        };
        let long = [b'x'; LONGEST_LABEL + 1];
        assert_eq!(made(&long[1..]), Some((1000, 1)));
        assert_eq!(made(&long), None);
        // The label ends at a zero, whatever follows.
        assert_eq!(made(&[&long[1..], b"\0", &long].concat()), Some((1000, 1)));
    }

    #[test]
    fn a_text_is_kept_once_and_the_budget_knows_of_it() {
        let (mut texts, mut budget) = (Texts::new(), Budget::of(0));
        let long = "x".repeat(1 << 20);
        for _ in 0..1000 {
            texts.push(Some(&long), &mut budget).unwrap();
            texts.push(None, &mut budget).unwrap();
        }
        let array = Cells::Text(texts).array();
        assert_eq!((array.len(), array.null_count()), (2000, 1000));
        assert_eq!(array.as_any_dictionary().values().len(), 1);
        let mut texts = Texts::new();
        let fits =
            (0..1000).take_while(|n| texts.push(Some(&format!("{n}{long}")), &mut budget).is_ok());
        assert!((50..=64).contains(&fits.count()));
    }
}
