//! Lengths of texts in Parquet pages with the encoding DELTA_BYTE_ARRAY.
//!
//! Such a page stores for every text the length of the prefix that it shares with the text before,
//! then the lengths of the remaining suffixes, then the suffixes. A short page can therefore stand
//! for very long texts. Their lengths are examined before the texts are decoded.

/// An upper bound for the length of the longest text: the longest prefix and the longest suffix.
/// `None` if the page is damaged.
pub(super) fn longest(values: &[u8]) -> Option<u64> {
    let (prefix, rest) = highest(values)?;
    let (suffix, _) = highest(rest)?;
    prefix.checked_add(suffix)
}

/// The highest of the numbers at the start of `bytes`, in the encoding DELTA_BINARY_PACKED, and the
/// bytes after them. `None` if they are damaged or negative.
///
/// The header has the number of values per block, the number of miniblocks per block, the number of
/// values, and the first value. A block has the lowest difference between neighbours and the bit
/// width of each miniblock, then the bit-packed differences above the lowest one.
fn highest(mut bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (block, miniblocks) = (varint(&mut bytes)?, varint(&mut bytes)?);
    let (mut left, mut value) = (varint(&mut bytes)?, signed(&mut bytes)?);
    let of_miniblock = block.checked_div(miniblocks).filter(|n| *n > 0 && n % 8 == 0)?;
    if left == 0 {
        return Some((0, bytes));
    }
    let mut highest = value;
    left -= 1;
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
            for at in 0..of_miniblock.min(left) {
                let difference = lowest.checked_add_unsigned(bits(packed, at, width)?)?;
                value = value.checked_add(difference)?;
                highest = highest.max(value);
            }
            left = left.saturating_sub(of_miniblock);
        }
    }
    Some((u64::try_from(highest).ok()?, bytes))
}

/// The number at an index of bit-packed numbers of `width` bits.
fn bits(packed: &[u8], index: u64, width: u8) -> Option<u64> {
    if width == 0 {
        return Some(0);
    }
    if width > 56 {
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
            let bound = pages(&texts).iter().map(|page| longest(page.buffer()).unwrap()).max();
            prop_assert!((longest_text..=2 * longest_text).contains(&bound.unwrap()));
        }

        #[test]
        fn damaged_pages_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = longest(&bytes);
        }
    }
}
