//! The two ways in which SAS compresses a record: runs of bytes (`compress=char`), and Ross's data compression (`compress=binary`).

use super::Damage;

/// How records are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Runs,
    Ross,
}

impl Packing {
    /// The first block of texts names the way.
    pub(super) fn named_in(text: &[u8]) -> Packing {
        let names = |name: &[u8]| text.windows(name.len()).any(|window| window == name);
        match (names(b"SASYZCRL"), names(b"SASYZCR2")) {
            (true, _) => Packing::Runs,
            (_, true) => Packing::Ross,
            _ => Packing::None,
        }
    }

    /// Puts the record of `width` bytes that was packed into `row`.
    pub(super) fn unpack(self, packed: &[u8], width: usize, row: &mut Vec<u8>) -> Result<(), Damage> {
        let whole = match self {
            Packing::None => return Err("a compressed record is damaged".into()),
            // The length of one command is told in two ways; only one can give a whole record.
            Packing::Runs => [256, 16].iter().any(|step| runs(packed, width, *step, row).is_some()),
            Packing::Ross => ross(packed, width, row).is_some(),
        };
        if whole { Ok(()) } else { Err("a compressed record is damaged".into()) }
    }
}

/// Bytes that are read and bytes that were written; `None` once either does not suffice.
struct Both<'a> {
    packed: std::slice::Iter<'a, u8>,
    row: &'a mut Vec<u8>,
    width: usize,
}

impl<'a> Both<'a> {
    fn new(packed: &'a [u8], width: usize, row: &'a mut Vec<u8>) -> Both<'a> {
        row.clear();
        Both { packed: packed.iter(), row, width }
    }

    fn byte(&mut self) -> Option<usize> {
        self.packed.next().map(|byte| usize::from(*byte))
    }

    fn room(&self, count: usize) -> Option<()> {
        (self.row.len() + count <= self.width).then_some(())
    }

    fn copy(&mut self, count: usize) -> Option<()> {
        self.room(count)?;
        let (copied, rest) = self.packed.as_slice().split_at_checked(count)?;
        self.row.extend_from_slice(copied);
        self.packed = rest.iter();
        Some(())
    }

    fn repeat(&mut self, byte: u8, count: usize) -> Option<()> {
        self.room(count)?;
        self.row.resize(self.row.len() + count, byte);
        Some(())
    }

    /// Copies from what was written, `back` bytes before its end; both may overlap.
    fn again(&mut self, back: usize, count: usize) -> Option<()> {
        self.room(count)?;
        let from = self.row.len().checked_sub(back)?;
        for index in from..from + count {
            let byte = *self.row.get(index)?;
            self.row.push(byte);
        }
        Some(())
    }

    fn is_whole(&self) -> Option<()> {
        (self.row.len() == self.width).then_some(())
    }
}

/// Commands of a byte: four bits what, four bits how many.
fn runs(packed: &[u8], width: usize, step: usize, row: &mut Vec<u8>) -> Option<()> {
    let mut both = Both::new(packed, width, row);
    while let Some(command) = both.byte() {
        let count = command & 0x0f;
        match command >> 4 {
            // The second kind goes on where the first ends, so the whole byte counts.
            0 | 1 => {
                let more = both.byte()?;
                both.copy(64 + more + 256 * command)?;
            }
            2 => both.copy(96 + count)?,
            3 => return None,
            4 => {
                let more = both.byte()?;
                let byte = both.byte()? as u8;
                both.repeat(byte, 18 + more + step * count)?;
            }
            what @ 5..=7 => {
                let more = both.byte()?;
                both.repeat([b'@', b' ', 0][what - 5], 17 + more + 256 * count)?;
            }
            what @ 8..=11 => both.copy(16 * (what - 8) + 1 + count)?,
            12 => {
                let byte = both.byte()? as u8;
                both.repeat(byte, 3 + count)?;
            }
            what => both.repeat([b'@', b' ', 0][what - 13], 2 + count)?,
        }
    }
    both.is_whole()
}

/// Sixteen bits say which of the next sixteen items are commands and which are bytes as they are.
fn ross(packed: &[u8], width: usize, row: &mut Vec<u8>) -> Option<()> {
    let mut both = Both::new(packed, width, row);
    let (mut flags, mut left) = (0, 0);
    while !both.packed.as_slice().is_empty() {
        if left == 0 {
            flags = both.byte()? << 8 | both.byte()?;
            left = 16;
            continue;
        }
        left -= 1;
        if flags >> left & 1 == 0 {
            both.copy(1)?;
            continue;
        }
        let command = both.byte()?;
        let count = command & 0x0f;
        match command >> 4 {
            0 => {
                let byte = both.byte()? as u8;
                both.repeat(byte, 3 + count)?;
            }
            1 => {
                let count = 19 + count + 16 * both.byte()?;
                let byte = both.byte()? as u8;
                both.repeat(byte, count)?;
            }
            2 => {
                let back = 3 + count + 16 * both.byte()?;
                let count = 16 + both.byte()?;
                both.again(back, count)?;
            }
            short => {
                let back = 3 + count + 16 * both.byte()?;
                both.again(back, short)?;
            }
        }
    }
    both.is_whole()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packing: Packing, packed: &[u8], width: usize) -> Option<Vec<u8>> {
        let mut row = Vec::new();
        packing.unpack(packed, width, &mut row).ok().map(|()| row)
    }

    #[test]
    fn runs_are_unpacked() {
        // Three bytes as they are, two blanks, five zeros, four times x, seventeen blanks and one more.
        let packed = [0x82, b'a', b'b', b'c', 0xe0, 0xf3, 0xc1, b'x', 0x60, 1];
        let expected = [&b"abc  "[..], &[0; 5], b"xxxx", &[b' '; 18]].concat();
        assert_eq!(unpacked(Packing::Runs, &packed, expected.len()), Some(expected));
        // Long copies, and both ways to count a long run of one byte.
        let long = [&[0x01, 2][..], &[7; 64 + 2 + 256]].concat();
        assert_eq!(unpacked(Packing::Runs, &long, 322), Some(vec![7; 322]));
        for width in [18 + 3 + 16, 18 + 3 + 256] {
            assert_eq!(unpacked(Packing::Runs, &[0x41, 3, b'y'], width), Some(vec![b'y'; width]));
        }
        assert_eq!(unpacked(Packing::Runs, &[0x41, 3, b'y'], 100), None);
        assert_eq!(unpacked(Packing::Runs, &[0x82, b'a'], 3), None);
    }

    #[test]
    fn ross_is_unpacked() {
        // abcd, then three from four back, then a run of five, then a long run, then a long copy.
        let flags = 0b0000_1111_0000_0000u16.to_be_bytes();
        let packed =
            [&flags[..], b"abcd", &[0x31, 0], &[0x02, b'z'], &[0x10, 1, b'q'], &[0x20, 2, 3]].concat();
        let mut expected = b"abcdabczzzzz".to_vec();
        expected.extend([b'q'; 35]);
        for _ in 0..19 {
            expected.push(expected[expected.len() - 35]);
        }
        assert_eq!(unpacked(Packing::Ross, &packed, expected.len()), Some(expected.clone()));
        assert_eq!(unpacked(Packing::Ross, &packed, expected.len() - 1), None);
        // From before the beginning.
        assert_eq!(unpacked(Packing::Ross, &[0x80, 0, 0x3f, 0], 3), None);
    }
}
