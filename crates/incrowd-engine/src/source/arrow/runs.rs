//! Decoder for Parquet's hybrid of run-length encoding and bit packing.

/// Reader for values of `width` bits in a range of bytes.
#[derive(Debug)]
pub(super) struct Runs {
    width: u32,
    at: usize,
    end: usize,
    run: Run,
}

#[derive(Debug)]
enum Run {
    /// Remaining repetitions of one value.
    Same { number: u32, left: u64 },
    /// Remaining bit-packed values. The next one starts at this bit of the bytes.
    Packed { bit: u64, left: u64 },
}

impl Runs {
    /// Returns `None` if the range or the bit width is invalid.
    pub(super) fn new(width: u32, at: usize, end: usize, bytes: &[u8]) -> Option<Runs> {
        let there = at <= end && end <= bytes.len() && width <= u32::BITS;
        there.then_some(Runs { width, at, end, run: Run::Same { number: 0, left: 0 } })
    }

    /// Largest value with this bit width.
    pub(super) fn highest(&self) -> u32 {
        u32::MAX.unbounded_shr(u32::BITS - self.width)
    }

    /// Reads the next values. Returns `None` if there are too few.
    pub(super) fn fill(&mut self, bytes: &[u8], mut out: &mut [u32]) -> Option<()> {
        while !out.is_empty() {
            let taken = match &mut self.run {
                Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => {
                    self.begin(bytes)?;
                    continue;
                }
                Run::Same { number, left } => {
                    let taken = out.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    out[..taken].fill(*number);
                    *left -= taken as u64;
                    taken
                }
                Run::Packed { bit, left } => {
                    let taken = out.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    let after = *bit + taken as u64 * u64::from(self.width);
                    if after > self.end as u64 * 8 {
                        return None;
                    }
                    unpack(bytes, *bit, self.width, &mut out[..taken]);
                    *bit = after;
                    *left -= taken as u64;
                    taken
                }
            };
            out = &mut out[taken..];
        }
        Some(())
    }

    /// Returns the value of the first run if it repeats one value at least `times` times.
    pub(super) fn is_one(&mut self, bytes: &[u8], times: usize) -> Option<u32> {
        if let Run::Same { left: 0, .. } = self.run {
            self.begin(bytes)?;
        }
        match self.run {
            Run::Same { number, left } if left >= times as u64 => Some(number),
            _ => None,
        }
    }

    /// Reads the header of the next run.
    fn begin(&mut self, bytes: &[u8]) -> Option<()> {
        let mut header = 0u64;
        for shift in (0..).step_by(7) {
            let byte = *bytes.get(self.at..self.end)?.first()?;
            self.at += 1;
            header |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            // The header is a varint of at most 32 bits.
            if shift >= 28 {
                return None;
            }
        }
        let own = self.at..self.end;
        self.run = if header & 1 == 1 {
            let bit = self.at as u64 * 8;
            // Bit-packed values come in groups of eight. The last group may be truncated.
            let groups = header >> 1;
            self.at =
                self.end.min(self.at.saturating_add((groups * u64::from(self.width)) as usize));
            Run::Packed { bit, left: groups * 8 }
        } else {
            let length = self.width.div_ceil(8) as usize;
            let number = bytes.get(own)?.get(..length)?;
            self.at += length;
            let number = number.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
            if number > self.highest() {
                return None;
            }
            Run::Same { number, left: header >> 1 }
        };
        Some(())
    }
}

/// Unpacks values of `width` bits, starting at a bit. All of them must be within the bytes.
fn unpack(bytes: &[u8], mut bit: u64, width: u32, mut out: &mut [u32]) {
    let one = |bit: u64| -> u32 {
        // A value of up to 32 bits that starts within the first byte is always within eight bytes.
        let rest = bytes.get((bit / 8) as usize..).unwrap_or_default();
        let eight = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight[..rest.len()].copy_from_slice(rest);
            eight
        });
        (u64::from_le_bytes(eight) >> (bit % 8)) as u32 & u32::MAX.unbounded_shr(u32::BITS - width)
    };
    // An earlier call may have stopped within a group of eight. Unpack single values up to the next
    // byte boundary.
    while !bit.is_multiple_of(8) && !out.is_empty() {
        out[0] = one(bit);
        bit += u64::from(width);
        out = &mut out[1..];
    }
    let whole = bytes.get((bit / 8) as usize..).unwrap_or_default();
    let done = match width {
        1 => eights::<1>(whole, out),
        2 => eights::<2>(whole, out),
        3 => eights::<3>(whole, out),
        4 => eights::<4>(whole, out),
        5 => eights::<5>(whole, out),
        6 => eights::<6>(whole, out),
        7 => eights::<7>(whole, out),
        8 => eights::<8>(whole, out),
        9 => eights::<9>(whole, out),
        10 => eights::<10>(whole, out),
        11 => eights::<11>(whole, out),
        12 => eights::<12>(whole, out),
        13 => eights::<13>(whole, out),
        14 => eights::<14>(whole, out),
        15 => eights::<15>(whole, out),
        16 => eights::<16>(whole, out),
        _ => 0,
    };
    bit += done as u64 * u64::from(width);
    for number in &mut out[done..] {
        *number = one(bit);
        bit += u64::from(width);
    }
}

/// Bytes loaded for eight values.
const WINDOW: usize = 16;

/// Unpacks values of `W` bits, eight at a time while enough bytes remain. Returns the number of
/// values.
fn eights<const W: usize>(bytes: &[u8], out: &mut [u32]) -> usize {
    let mut done = 0;
    for (group, eight) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let Some(window) = bytes.get(group * W..).and_then(<[u8]>::first_chunk::<WINDOW>) else {
            break;
        };
        // Four values of `W` bits fit into eight bytes. The second four start at bit `4 * W`, which
        // is not a byte boundary if `W` is odd.
        let [front, back] = [0, W / 2].map(|at| {
            let mut own = [0; 8];
            own.copy_from_slice(&window[at..at + 8]);
            u64::from_le_bytes(own)
        });
        let back = back >> (4 * W % 8);
        for at in 0..4 {
            eight[at] = (front >> (at * W)) as u32 & !(u32::MAX << W);
            eight[at + 4] = (back >> (at * W)) as u32 & !(u32::MAX << W);
        }
        done += 8;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A run of one value with its length, or a list of values to pack.
    type Written = Result<(u32, usize), Vec<u32>>;

    /// Reference implementation of the encoder. It writes single bits.
    fn write(run: &Written, width: u32, to: &mut Vec<u8>) -> Vec<u32> {
        let mut header = |mut number: usize| {
            while number >= 0x80 {
                to.push(number as u8 | 0x80);
                number >>= 7;
            }
            to.push(number as u8);
        };
        match run {
            Ok((number, times)) => {
                header(times << 1);
                to.extend(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
                vec![*number; *times]
            }
            Err(numbers) => {
                let groups = numbers.len().div_ceil(8);
                header(groups << 1 | 1);
                let mut numbers = numbers.clone();
                numbers.resize(groups * 8, 0);
                let bits: Vec<bool> = numbers
                    .iter()
                    .flat_map(|n| (0..width).map(move |bit| n >> bit & 1 == 1))
                    .collect();
                to.extend(
                    bits.chunks(8).map(|byte| {
                        byte.iter().rev().fold(0, |all, bit| all << 1 | u8::from(*bit))
                    }),
                );
                numbers
            }
        }
    }

    fn cases() -> impl Strategy<Value = (u32, Vec<Written>)> {
        (0..=u32::BITS).prop_flat_map(|width| {
            let number =
                any::<u32>().prop_map(move |n| n & u32::MAX.unbounded_shr(u32::BITS - width));
            let run = prop_oneof![
                (number.clone(), 0usize..300).prop_map(Ok),
                prop::collection::vec(number, 0..300).prop_map(Err),
            ];
            (Just(width), prop::collection::vec(run, 0..5))
        })
    }

    proptest! {
        #[test]
        fn runs_are_read_as_they_were_written((width, runs) in cases(), pieces in prop::collection::vec(0usize..90, 1..40), front in 0usize..3) {
            let mut bytes = vec![7; front];
            let expected: Vec<u32> = runs.iter().flat_map(|run| write(run, width, &mut bytes)).collect();
            let mut own = Runs::new(width, front, bytes.len(), &bytes).unwrap();
            let mut found = Vec::new();
            for piece in pieces.into_iter().cycle().take(4000) {
                let mut out = vec![0; piece.min(expected.len() - found.len())];
                prop_assert!(own.fill(&bytes, &mut out).is_some());
                found.extend(out);
                if found.len() == expected.len() {
                    break;
                }
            }
            prop_assert_eq!(&found[..], &expected[..found.len()]);
            if found.len() == expected.len() {
                prop_assert!(own.fill(&bytes, &mut [0]).is_none(), "there is no more");
            }
            let mut short = Runs::new(width, front, bytes.len().saturating_sub(1).max(front), &bytes).unwrap();
            let _ = short.fill(&bytes, &mut vec![0; expected.len() + 1]);
        }

        #[test]
        fn any_bytes_are_numbers_or_none(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0u32..40, wanted in 0usize..5000) {
            if let Some(mut own) = Runs::new(width, 0, bytes.len(), &bytes) {
                let mut out = vec![0; wanted];
                if own.fill(&bytes, &mut out).is_some() {
                    prop_assert!(out.iter().all(|number| *number <= own.highest()));
                }
            }
        }
    }

    #[test]
    fn a_number_with_more_bits_than_there_are_is_damage() {
        let bytes = [4, 0xff];
        assert!(Runs::new(1, 0, 2, &bytes).unwrap().fill(&bytes, &mut [0, 0]).is_none());
        assert_eq!(Runs::new(8, 0, 2, &bytes).unwrap().is_one(&bytes, 2), Some(0xff));
        assert_eq!(Runs::new(8, 0, 2, &bytes).unwrap().is_one(&bytes, 3), None);
        assert!(Runs::new(33, 0, 2, &bytes).is_none() && Runs::new(1, 1, 3, &bytes).is_none());
    }
}
