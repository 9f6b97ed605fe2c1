//! Decoders for the two compressions of SAS records: run-length encoding (`compress=char`) and Ross
//! Data Compression (`compress=binary`).

use super::Damage;

/// Compression of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Runs,
    Ross,
}

impl Packing {
    /// Detects the compression from the first text block, which contains its name.
    pub(super) fn named_in(text: &[u8]) -> Packing {
        let names = |name: &[u8]| text.windows(name.len()).any(|window| window == name);
        match (names(b"SASYZCRL"), names(b"SASYZCR2")) {
            (true, _) => Packing::Runs,
            (_, true) => Packing::Ross,
            _ => Packing::None,
        }
    }

    /// Decompresses a record of `width` bytes into `row`.
    pub(super) fn unpack(
        self,
        packed: &[u8],
        width: usize,
        row: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let whole = match self {
            Packing::None => return Err("a compressed record is damaged".into()),
            // Two interpretations of the length of command 4 are known. Only the correct one gives
            // a record of `width` bytes.
            Packing::Runs => [256, 16].iter().any(|step| runs(packed, width, *step, row).is_some()),
            Packing::Ross => ross(packed, width, row).is_some(),
        };
        if whole { Ok(()) } else { Err("a compressed record is damaged".into()) }
    }
}

/// Input and output of a decoder. Methods return `None` if the input is too short or the output
/// would exceed `width`.
struct Decoder<'a> {
    packed: std::slice::Iter<'a, u8>,
    row: &'a mut Vec<u8>,
    width: usize,
}

impl<'a> Decoder<'a> {
    fn new(packed: &'a [u8], width: usize, row: &'a mut Vec<u8>) -> Decoder<'a> {
        row.clear();
        Decoder { packed: packed.iter(), row, width }
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

    /// Copies `count` bytes that start `back` bytes before the end of the output. The ranges may
    /// overlap.
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

/// Run-length encoding. The upper four bits of a command are its kind, and the lower four bits are
/// a count.
fn runs(packed: &[u8], width: usize, step: usize, row: &mut Vec<u8>) -> Option<()> {
    let mut decoder = Decoder::new(packed, width, row);
    while let Some(command) = decoder.byte() {
        let count = command & 0x0f;
        match command >> 4 {
            // Kind 1 continues the range of lengths of kind 0, so the whole byte is the count.
            0 | 1 => {
                let more = decoder.byte()?;
                decoder.copy(64 + more + 256 * command)?;
            }
            2 => decoder.copy(96 + count)?,
            3 => return None,
            4 => {
                let more = decoder.byte()?;
                let byte = decoder.byte()? as u8;
                decoder.repeat(byte, 18 + more + step * count)?;
            }
            what @ 5..=7 => {
                let more = decoder.byte()?;
                decoder.repeat([b'@', b' ', 0][what - 5], 17 + more + 256 * count)?;
            }
            what @ 8..=11 => decoder.copy(16 * (what - 8) + 1 + count)?,
            12 => {
                let byte = decoder.byte()? as u8;
                decoder.repeat(byte, 3 + count)?;
            }
            what => decoder.repeat([b'@', b' ', 0][what - 13], 2 + count)?,
        }
    }
    decoder.is_whole()
}

/// Ross Data Compression. Each of sixteen flag bits states whether the next item is a command or a
/// literal byte.
fn ross(packed: &[u8], width: usize, row: &mut Vec<u8>) -> Option<()> {
    let mut decoder = Decoder::new(packed, width, row);
    let (mut flags, mut left) = (0, 0);
    while !decoder.packed.as_slice().is_empty() {
        if left == 0 {
            flags = decoder.byte()? << 8 | decoder.byte()?;
            left = 16;
            continue;
        }
        left -= 1;
        if flags >> left & 1 == 0 {
            decoder.copy(1)?;
            continue;
        }
        let command = decoder.byte()?;
        let count = command & 0x0f;
        match command >> 4 {
            0 => {
                let byte = decoder.byte()? as u8;
                decoder.repeat(byte, 3 + count)?;
            }
            1 => {
                let count = 19 + count + 16 * decoder.byte()?;
                let byte = decoder.byte()? as u8;
                decoder.repeat(byte, count)?;
            }
            2 => {
                let back = 3 + count + 16 * decoder.byte()?;
                let count = 16 + decoder.byte()?;
                decoder.again(back, count)?;
            }
            short => {
                let back = 3 + count + 16 * decoder.byte()?;
                decoder.again(back, short)?;
            }
        }
    }
    decoder.is_whole()
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
        // Three literal bytes, two blanks, five zeros, four times `x`, seventeen blanks and one
        // more.
        let packed = [0x82, b'a', b'b', b'c', 0xe0, 0xf3, 0xc1, b'x', 0x60, 1];
        let expected = [&b"abc  "[..], &[0; 5], b"xxxx", &[b' '; 18]].concat();
        assert_eq!(unpacked(Packing::Runs, &packed, expected.len()), Some(expected));
        // Long copies, and both interpretations of a long run of one byte.
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
        // `abcd`, a copy of three bytes from four bytes back, a run of five, a long run, a long
        // copy.
        let flags = 0b0000_1111_0000_0000u16.to_be_bytes();
        let packed =
            [&flags[..], b"abcd", &[0x31, 0], &[0x02, b'z'], &[0x10, 1, b'q'], &[0x20, 2, 3]]
                .concat();
        let mut expected = b"abcdabczzzzz".to_vec();
        expected.extend([b'q'; 35]);
        for _ in 0..19 {
            expected.push(expected[expected.len() - 35]);
        }
        assert_eq!(unpacked(Packing::Ross, &packed, expected.len()), Some(expected.clone()));
        assert_eq!(unpacked(Packing::Ross, &packed, expected.len() - 1), None);
        // A copy from before the start of the output.
        assert_eq!(unpacked(Packing::Ross, &[0x80, 0, 0x3f, 0], 3), None);
    }
}
