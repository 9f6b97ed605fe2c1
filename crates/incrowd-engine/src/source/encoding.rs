//! Converts text in other encodings to UTF-8 while it is read.

use std::io::{self, Read};

/// Character encoding of a text file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, which includes ASCII.
    #[default]
    Utf8,
    /// Windows-1252, a superset of the printable characters of Latin-1.
    Windows1252,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
}

impl Encoding {
    /// Names in a job file. A byte order mark at the beginning of the file overrides the byte order
    /// of UTF-16.
    pub const ALL: [(&'static str, Encoding); 4] = [
        ("utf-8", Encoding::Utf8),
        ("latin1", Encoding::Windows1252),
        ("windows-1252", Encoding::Windows1252),
        ("utf-16", Encoding::Utf16Le),
    ];

    /// Guesses the encoding from the first bytes of a text. Bytes that are neither ASCII nor UTF-8
    /// indicate Windows-1252 only if no multi-byte UTF-8 character occurs. A text with both is
    /// damaged UTF-8.
    pub(super) fn sniff(text: &[u8]) -> Encoding {
        match text {
            [0xff, 0xfe, ..] => return Encoding::Utf16Le,
            [0xfe, 0xff, ..] => return Encoding::Utf16Be,
            _ => {}
        }
        let mut strange = false;
        for chunk in text.utf8_chunks() {
            if !chunk.valid().is_ascii() {
                return Encoding::Utf8;
            }
            strange |= !chunk.invalid().is_empty();
        }
        // The sample may end within a multi-byte character. That does not indicate another
        // encoding.
        let cut = std::str::from_utf8(text).is_err_and(|e| e.error_len().is_none());
        if strange && !cut { Encoding::Windows1252 } else { Encoding::Utf8 }
    }

    /// Wraps a reader of text in this encoding in a reader of UTF-8.
    pub(super) fn decode(self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let encoding = match self {
            Encoding::Utf8 => return reader,
            Encoding::Windows1252 => encoding_rs::WINDOWS_1252,
            Encoding::Utf16Le => encoding_rs::UTF_16LE,
            Encoding::Utf16Be => encoding_rs::UTF_16BE,
        };
        // A byte order mark takes precedence over the stated byte order.
        let decoder = encoding.new_decoder();
        Box::new(Decoded {
            reader,
            decoder,
            raw: vec![0; 1 << 16],
            text: Vec::new(),
            given: 0,
            ended: false,
        })
    }
}

struct Decoded {
    reader: Box<dyn Read + Send>,
    decoder: encoding_rs::Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    given: usize,
    ended: bool,
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.ended {
            let n = match self.reader.read(&mut self.raw) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            self.ended = n == 0;
            let most = self.decoder.max_utf8_buffer_length(n).unwrap_or(4 * n + 16);
            self.text.resize(most, 0);
            let (_, _, written, wrong) =
                self.decoder.decode_to_utf8(&self.raw[..n], &mut self.text, self.ended);
            if wrong {
                let what = format!("it is not {}", self.decoder.encoding().name());
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            self.text.truncate(written);
            self.given = 0;
        }
        let n = buffer.len().min(self.text.len() - self.given);
        buffer[..n].copy_from_slice(&self.text[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        encoding.decode(Box::new(io::Cursor::new(bytes.to_vec()))).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(Encoding::sniff(b"name\nAnn\n"), Encoding::Utf8);
        assert_eq!(Encoding::sniff("Zoë".as_bytes()), Encoding::Utf8);
        assert_eq!(Encoding::sniff(b"Zo\xeb;M\xfcller"), Encoding::Windows1252);
        assert_eq!(Encoding::sniff(&"Zoë".as_bytes()[..3]), Encoding::Utf8);
        assert_eq!(Encoding::sniff(b"\xff\xfea\0"), Encoding::Utf16Le);
        let both = [&b"Zo\xeb "[..], "Zoë".as_bytes()].concat();
        assert_eq!(Encoding::sniff(&both), Encoding::Utf8, "damaged, and refused as such");
    }

    #[test]
    fn text_is_the_same_in_every_encoding() {
        let text = "näme;größe\nZoë;1,5\n€\n".repeat(9_000);
        let utf16: Vec<u8> =
            std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(Encoding::Utf16Le, &utf16).unwrap(), text);
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(Encoding::Utf16Be, &big).unwrap(), text);
        let (windows, _, wrong) = encoding_rs::WINDOWS_1252.encode(&text);
        assert!(!wrong);
        assert_eq!(decoded(Encoding::Windows1252, &windows).unwrap(), text);
        assert!(decoded(Encoding::Utf16Le, b"\x00\xd8a\0").is_err(), "half a pair");
    }
}
