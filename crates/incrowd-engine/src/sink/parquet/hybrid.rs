//! Small numbers as Parquet keeps them: runs of one number, and numbers packed bit by bit in groups of eight.

/// How many equal numbers make a run.
const RUN: usize = 8;

/// Appends numbers below 2^width; the width is at least 1 and at most 32.
pub(super) fn encode(numbers: &[u32], width: u8, out: &mut Vec<u8>) {
    let (mut at, mut packed) = (0, 0);
    while at < numbers.len() {
        let first = numbers[at];
        let same = |n: &&u32| **n == first;
        let run = match numbers.get(at..at + RUN) {
            Some(eight) if eight.iter().filter(same).count() == RUN => {
                numbers[at..].iter().take_while(same).count()
            }
            Some(_) => 0,
            // What is left is less than eight.
            None => 0,
        };
        if run > 0 {
            pack(&numbers[packed..at], width, out);
            varint((run as u64) << 1, out);
            out.extend_from_slice(&first.to_le_bytes()[..usize::from(width).div_ceil(8)]);
            at += run;
            packed = at;
        } else {
            at += RUN.min(numbers.len() - at);
        }
    }
    pack(&numbers[packed..], width, out);
}

/// Numbers in groups of eight; only the last group of all may lack some.
fn pack(numbers: &[u32], width: u8, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    varint((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * usize::from(width);
    let (mut bits, mut held) = (0u64, 0u32);
    for &number in numbers {
        bits |= u64::from(number) << held;
        held += u32::from(width);
        if held >= 32 {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            held -= 32;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..(held as usize).div_ceil(8)]);
    out.resize(end, 0);
}

fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// How many bits the numbers below `count` need.
pub(super) fn width(count: usize) -> u8 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads what `encode` wrote, number by number.
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
                    (0..usize::from(width)).map(|b| bit(n * usize::from(width) + b) << b).sum::<u32>()
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
        fn what_is_written_is_read(
            runs in prop::collection::vec((any::<u32>(), 1..40usize), 0..30),
            width in 1..=32u8,
        ) {
            let mask = u32::MAX >> (32 - u32::from(width));
            let numbers: Vec<u32> =
                runs.iter().flat_map(|(n, times)| std::iter::repeat_n(n & mask, *times % 13 + 1)).collect();
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
