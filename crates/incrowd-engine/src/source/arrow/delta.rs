//! Lengths of texts in Parquet pages with the encodings DELTA_BYTE_ARRAY and
//! DELTA_LENGTH_BYTE_ARRAY.
//!
//! A page of the first kind stores for every text the length of the prefix that it shares with the
//! text before, then the lengths of the remaining suffixes, then the suffixes. A short page can
//! therefore stand for very long texts. A page of the second kind stores the lengths, then the
//! texts. The lengths are examined before the texts are decoded.

/// An upper bound for the length of the longest text of a page with the encoding DELTA_BYTE_ARRAY:
/// the longest prefix and the longest suffix. `None` if the page is damaged, or has more than `most`
/// texts.
pub(super) fn longest(values: &[u8], most: u64) -> Option<u64> {
    let (prefixes, rest) = lengths(values, most)?;
    let (suffixes, _) = lengths(rest, most)?;
    (prefixes.count == suffixes.count).then_some(prefixes.highest + suffixes.highest)
}

/// A list of lengths.
#[derive(Debug)]
pub(super) struct Lengths {
    count: u64,
    /// 0 for an empty list.
    highest: u64,
}

/// The lengths at the start of `bytes`, in the encoding DELTA_BINARY_PACKED, and the bytes after
/// them. `None` if they are damaged, if there are more than `most`, or if one is not in
/// `0..=i32::MAX`. The library wraps such a length, so its texts would be longer than the bound.
///
/// The header has the number of values per block, the number of miniblocks per block, the number of
/// values, and the first value. A block has the lowest difference between neighbours and the bit
/// width of each miniblock, then the bit-packed differences above the lowest one.
pub(super) fn lengths(mut bytes: &[u8], most: u64) -> Option<(Lengths, &[u8])> {
    let (block, miniblocks) = (varint(&mut bytes)?, varint(&mut bytes)?);
    let (count, mut value) = (varint(&mut bytes)?, signed(&mut bytes)?);
    let of_miniblock = block.checked_div(miniblocks).filter(|n| *n > 0 && n % 8 == 0)?;
    if count > most {
        return None;
    }
    let Some(mut left) = count.checked_sub(1) else {
        return Some((Lengths { count, highest: 0 }, bytes));
    };
    let mut highest = length(value)?;
    while left > 0 {
        let lowest = signed(&mut bytes)?;
        let widths = bytes.get(..usize::try_from(miniblocks).ok()?)?;
        bytes = &bytes[widths.len()..];
        for &width in widths {
            // Widths of miniblocks without values may be arbitrary.
            if left == 0 {
                break;
            }
            let size = of_miniblock.checked_mul(u64::from(width))? / 8;
            let packed = bytes.get(..usize::try_from(size).ok()?)?;
            bytes = &bytes[packed.len()..];
            let here = of_miniblock.min(left);
            if width == 0 {
                // The differences are equal and take no bytes, so their number is not bounded by
                // the bytes. The last length is the highest or the lowest one.
                value = value.checked_add(lowest.checked_mul(i64::try_from(here).ok()?)?)?;
                highest = highest.max(length(value)?);
            } else {
                for at in 0..here {
                    let difference = lowest.checked_add_unsigned(bits(packed, at, width)?)?;
                    value = value.checked_add(difference)?;
                    highest = highest.max(length(value)?);
                }
            }
            left -= here;
        }
    }
    Some((Lengths { count, highest }, bytes))
}

/// A number that is a valid length.
fn length(value: i64) -> Option<u64> {
    (0..=i64::from(i32::MAX)).contains(&value).then_some(value as u64)
}

/// The number at an index of bit-packed numbers of `width` bits.
fn bits(packed: &[u8], index: u64, width: u8) -> Option<u64> {
    if width > 32 {
        // Lengths are 32-bit numbers.
        return None;
    }
    let first = index * u64::from(width);
    let start = (first / 8) as usize;
    let mut word = [0; 8];
    let available = packed.get(start..packed.len().min(start + 8))?;
    word[..available.len()].copy_from_slice(available);
    Some(u64::from_le_bytes(word) >> (first % 8) & ((1 << width) - 1))
}

/// A number in groups of seven bits, lowest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A signed number in zigzag encoding.
fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = varint(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::column::page::Page;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// The data pages that the library writes for texts.
    fn pages(texts: &[String]) -> Vec<Page> {
        use arrow_array::{ArrayRef, RecordBatch, StringArray};
        use parquet::basic::Encoding;
        use parquet::file::reader::FileReader;
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let field = arrow_schema::Field::new("a", array.data_type().clone(), false);
        let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BYTE_ARRAY)
            .build();
        let mut file = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut file, schema.clone(), Some(properties))
                .unwrap();
        writer.write(&RecordBatch::try_new(schema, vec![array]).unwrap()).unwrap();
        writer.close().unwrap();
        let reader =
            parquet::file::serialized_reader::SerializedFileReader::new(bytes::Bytes::from(file))
                .unwrap();
        let group = reader.get_row_group(0).unwrap();
        group.get_column_page_reader(0).unwrap().map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn the_bound_is_between_the_longest_text_and_twice_its_length(
            texts in prop::collection::vec("(abc){0,200}[xyz]{0,9}", 1..400),
        ) {
            let longest_text = texts.iter().map(String::len).max().unwrap() as u64;
            let bound = pages(&texts)
                .iter()
                .map(|page| longest(page.buffer(), page.num_values().into()).unwrap())
                .max();
            prop_assert!((longest_text..=2 * longest_text).contains(&bound.unwrap()));
        }

        #[test]
        fn damaged_pages_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let bound = longest(&bytes, 1 << 20);
            prop_assert!(bound.is_none_or(|bound| bound <= 2 * i32::MAX as u64));
        }
    }

    /// A list of `count` lengths with one block of equal differences, which takes no bytes.
    fn equal_differences(count: u64, first: u64, difference: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        // First value and difference are in zigzag encoding.
        for mut number in [1 << 60, 1, count, 2 * first, 2 * difference, 0] {
            while number >= 0x80 {
                bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            bytes.push(number as u8);
        }
        bytes
    }

    #[test]
    fn lengths_that_take_no_bytes_are_not_counted_one_by_one() {
        let list = equal_differences;
        let of = |prefixes: Vec<u8>, suffixes: Vec<u8>, most| {
            longest(&[prefixes, suffixes].concat(), most)
        };
        // More lengths than values.
        assert_eq!(of(list(1 << 60, 0, 0), list(1 << 60, 0, 0), 1 << 20), None);
        assert_eq!(of(list(1 << 60, 3, 0), list(1 << 60, 4, 0), u64::MAX), Some(7));
        assert_eq!(of(list(1001, 3, 2), list(1001, 4, 0), 1001), Some(2007));
        assert_eq!(of(list(1000, 3, 0), list(1001, 4, 0), 2000), None, "different counts");
        // A length that the library would wrap.
        assert_eq!(of(list(1 << 40, 0, 1), list(1 << 40, 0, 0), u64::MAX), None);
    }
}
