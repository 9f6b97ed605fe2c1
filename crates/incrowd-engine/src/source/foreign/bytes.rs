//! Bounds-checked reader. It consumes the bytes of a file from the front.

use super::Damage;

/// The bytes not yet read.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    /// Whether integers are big-endian.
    pub(super) big: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8], big: bool) -> Bytes<'a> {
        Bytes { rest, big }
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("it ends too early")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let mut array: [u8; N] = self.take(N)?.try_into().map_err(|_| "it ends too early")?;
        if self.big {
            array.reverse();
        }
        Ok(array)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Damage> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Damage> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Damage> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Damage> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Damage> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64, Damage> {
        self.array().map(f64::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Result<f32, Damage> {
        self.array().map(f32::from_le_bytes)
    }

    /// Reads a length or a count. It must not exceed the number of bytes left.
    pub(super) fn count(&mut self) -> Result<usize, Damage> {
        let count = self.i32()?;
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= self.left())
            .ok_or_else(|| "it ends too early".into())
    }

    pub(super) fn starts_with(&self, text: &[u8]) -> bool {
        self.rest.starts_with(text)
    }

    /// Reads the given bytes, or fails if other bytes follow.
    pub(super) fn expect(&mut self, text: &[u8]) -> Result<(), Damage> {
        if self.take(text.len())? == text {
            Ok(())
        } else {
            Err("its parts do not fit together".into())
        }
    }
}

/// Decodes a text up to the first zero byte. Bytes that are not UTF-8 are decoded as Windows-1252.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes[..end]).0.into_owned()
        }
    }
}
