//! Encoder for Parquet's hybrid of run-length encoding and bit packing.

/// Minimum length of a run.
const RUN: usize = 8;

/// Appends values below 2^width. The width must be in 1..=32. Values may be appended by several
/// calls if each call but the last has a multiple of eight values.
pub(super) fn encode(numbers: &[u32], width: u8, out: &mut Vec<u8>) {
    let (mut at, mut packed) = (0, 0);
    while at < numbers.len() {
        let first = numbers[at];
        let run = match numbers[at..].first_chunk::<RUN>() {
            Some(eight) if *eight == [first; RUN] => {
                numbers[at..].iter().take_while(|n| **n == first).count()
            }
            // Fewer than eight values may be left.
            _ => 0,
        };
        if run > 0 {
            // A following bit-packed group must start at a multiple of eight. Shorten the run
            // unless it is the last one.
            let run = if at + run < numbers.len() { run - run % RUN } else { run };
            pack(&numbers[packed..at], width, out);
            repeat(first, run, width, out);
            at += run;
            packed = at;
        } else {
            at += RUN.min(numbers.len() - at);
        }
    }
    pack(&numbers[packed..], width, out);
}

/// Appends a run of one value.
pub(super) fn repeat(number: u32, times: usize, width: u8, out: &mut Vec<u8>) {
    varint((times as u64) << 1, out);
    out.extend_from_slice(&number.to_le_bytes()[..usize::from(width).div_ceil(8)]);
}

/// Appends bit-packed groups of eight values. Only the last group of the column may be incomplete.
fn pack(numbers: &[u32], width: u8, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    varint((groups as u64) << 1 | 1, out);
    let (start, size) = (out.len(), usize::from(width));
    // Each group is written as whole machine words. The next group overwrites the excess bytes, and
    // the last excess is truncated.
    out.resize(start + groups * size + 32, 0);
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut at = start;
    for eight in eights.iter().chain((!rest.is_empty()).then_some(&last)) {
        if width <= 8 {
            let word = (0..8).fold(0, |word, i| word | u64::from(eight[i]) << (i * size));
            out[at..at + 8].copy_from_slice(&word.to_le_bytes());
        } else {
            // Two values fit into a word.
            for (pair, own) in eight.as_chunks::<2>().0.iter().enumerate() {
                let word = u128::from(u64::from(own[0]) | u64::from(own[1]) << size);
                let bit = pair * 2 * size;
                let place = at + bit / 8;
                let mut bytes = [0; 16];
                bytes.copy_from_slice(&out[place..place + 16]);
                // Keep only the bits before the position. The bits after it are excess of an
                // earlier word.
                let before = u128::from_le_bytes(bytes) & !(!0 << (bit % 8));
                out[place..place + 16].copy_from_slice(&(before | word << (bit % 8)).to_le_bytes());
            }
        }
        at += size;
    }
    out.truncate(start + groups * size);
}

fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Number of bits for values below `count`.
pub(super) fn width(count: usize) -> u8 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes the output of `encode`, one value at a time.
    fn decode(mut bytes: &[u8], width: u8, count: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (mut header, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if header & 1 == 0 {
                let size = usize::from(width).div_ceil(8);
                let value = bytes[..size].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
                bytes = &bytes[size..];
                numbers.extend(std::iter::repeat_n(value, (header >> 1) as usize));
            } else {
                let size = (header >> 1) as usize * usize::from(width);
                let bit = |i: usize| u32::from(bytes[i / 8] >> (i % 8) & 1);
                let number = |n: usize| {
                    (0..usize::from(width))
                        .map(|b| bit(n * usize::from(width) + b) << b)
                        .sum::<u32>()
                };
                numbers.extend((0..(header >> 1) as usize * 8).map(number));
                bytes = &bytes[size..];
            }
        }
        assert!(bytes.is_empty());
        assert!(numbers[count..].iter().all(|n| *n == 0));
        numbers.truncate(count);
        numbers
    }

    proptest! {
        #[test]
        fn written_numbers_are_read_back(
            runs in prop::collection::vec((any::<u32>(), 1..40usize), 0..30),
            width in 1..=32u8,
        ) {
            let mask = u32::MAX >> (32 - u32::from(width));
            let run = |(n, times): &(u32, usize)| std::iter::repeat_n(n & mask, *times % 13 + 1);
            let numbers: Vec<u32> = runs.iter().flat_map(run).collect();
            let mut bytes = Vec::new();
            encode(&numbers, width, &mut bytes);
            prop_assert_eq!(decode(&bytes, width, numbers.len()), numbers);
        }
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(width), [1, 1, 1, 2, 2, 3, 8, 9]);
    }
}
