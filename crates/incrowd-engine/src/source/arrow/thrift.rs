//! Parser for Thrift's compact protocol, which Parquet uses for its footer and page headers. It
//! stores nothing. It checks that every stated length is within the available bytes.

/// Maximum depth of nested structures.
const DEEPEST: u32 = 64;

const STRUCT: u8 = 12;

/// Reader with a position in the bytes.
#[derive(Debug)]
pub(super) struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Compact<'a> {
        Compact { bytes, at: 0 }
    }

    /// Number of bytes read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn leave(&mut self, bytes: u64) -> Option<()> {
        let left = (self.bytes.len() - self.at) as u64;
        (bytes <= left).then(|| self.at += bytes as usize)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a zigzag-encoded signed integer.
    pub(super) fn number(&mut self) -> Option<i64> {
        let n = self.varint()?;
        Some((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// Reads a structure. `each` receives the identifier and the type of every field, and returns
    /// whether it consumed the value.
    pub(super) fn structure(
        &mut self,
        depth: u32,
        each: &mut dyn FnMut(&mut Compact<'a>, i64, u8) -> Option<bool>,
    ) -> Option<()> {
        let mut field = 0;
        if depth > DEEPEST {
            return None;
        }
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            field = match header >> 4 {
                0 => self.number()?,
                delta => field + i64::from(delta),
            };
            let kind = header & 0x0f;
            // A boolean field has no value bytes, because its type (1 or 2) is the value.
            if !each(self, field, kind)? && kind > 2 {
                self.skip(kind, depth)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1..=3 => self.leave(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.leave(8),
            8 => {
                let length = self.varint()?;
                self.leave(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let size = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
                self.items(size, &[header & 0x0f], depth)
            }
            11 => match self.varint()? {
                0 => Some(()),
                size => {
                    let kinds = self.byte()?;
                    self.items(size, &[kinds >> 4, kinds & 0x0f], depth)
                }
            },
            STRUCT => self.structure(depth + 1, &mut |_, _, _| Some(false)),
            13 => self.leave(16),
            _ => None,
        }
    }

    fn items(&mut self, size: u64, kinds: &[u8], depth: u32) -> Option<()> {
        // Every item takes at least one byte.
        if size > (self.bytes.len() - self.at) as u64 || depth > DEEPEST {
            return None;
        }
        for _ in 0..size {
            for &kind in kinds {
                self.skip(kind, depth + 1)?;
            }
        }
        Some(())
    }
}

/// Whether the bytes are one structure and every length is valid.
pub(super) fn is_sound(bytes: &[u8]) -> bool {
    Compact::new(bytes).structure(0, &mut |_, _, _| Some(false)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_lengths_must_fit() {
        // Field 1: the integer -1; field 2: the text `ab`; field 3: a list of three booleans; a
        // stop.
        let sound = [0x15, 0x01, 0x18, 0x02, b'a', b'b', 0x19, 0x31, 1, 2, 1, 0x00];
        assert!(is_sound(&sound));
        for end in 0..sound.len() {
            assert!(!is_sound(&sound[..end]), "{end} bytes");
        }
        let mut long = sound;
        long[3] = 0x7f;
        assert!(!is_sound(&long));
        let mut many = sound;
        many[7] = 0xd1;
        assert!(!is_sound(&many));
        assert!(!is_sound(&[0x1c; 100]), "no end of structures");
    }
}
