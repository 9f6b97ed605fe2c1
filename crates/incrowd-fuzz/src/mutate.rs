//! Damage: flipped bits, changed bytes, moved chunks and inserted tokens. Equal seeds give equal
//! damage.

/// SplitMix64.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Tokens that are difficult for parsers of texts and numbers.
const WORDS: [&[u8]; 40] = [
    b"\"",
    b"\"\"",
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"*",
    b"[",
    b"]",
    b"{",
    b"}",
    b"[1, 2]",
    b"{a, b}",
    b"=",
    b"[[",
    b"#",
    b"'''",
    b"null",
    b"nan",
    b"inf",
    b"-",
    b"1e20",
    b"1e308",
    b"-1.7e308",
    b"1e-17",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"0",
    b"-0.0",
    b"2021-02-30",
    b"9999-12-31",
    b"\xe2\x80\x8b",
    b"?",
    b"intervals:1e-17",
];

/// Damages a text or file one to four times. `other` is the source of foreign chunks.
pub(crate) fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + 1 + dice.below(32)).min(bytes.len());
        match dice.below(9) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            2 if at < bytes.len() => {
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'\n'][dice.below(7)]
            }
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                let times = 1 + dice.below(3) * dice.below(40);
                (0..times).for_each(|_| drop(bytes.splice(at..at, piece.iter().copied())));
            }
            5 => bytes.truncate(at),
            6 if !other.is_empty() => {
                let from = dice.below(other.len());
                let to = (from + 1 + dice.below(64)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            // Replaces a number by another.
            7 => {
                let digits = |b: &u8| b.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(digits).map(|i| at + i) {
                    let length = bytes[start..].iter().take_while(|b| digits(b)).count();
                    bytes.splice(start..start + length, WORDS[24 + dice.below(12)].iter().copied());
                }
            }
            _ => drop(bytes.splice(at..at, WORDS[dice.below(WORDS.len())].iter().copied())),
        }
    }
}
