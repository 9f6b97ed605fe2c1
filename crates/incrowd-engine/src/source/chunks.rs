//! Cutting delimited text into chunks of whole records.

use std::fs::File;
use std::io::{self, Read};

use incrowd_core::{Error, Result};

use crate::database::{Blocks, Sending};
use crate::past::PastReader;

use super::{Compression, Format, Part, scan, unreadable};

/// How much text a chunk has, about.
const CHUNK: usize = 1 << 20;
/// A single record longer than this is a missing quotation mark, not a record.
const LONGEST_RECORD: usize = 256 << 20;

/// Whole records.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// How many bytes of the file, compressed or not, were read for it.
    pub(super) read: u64,
}

/// A table being cut.
pub(super) enum Chunks {
    File(Box<Cutting>),
    /// A relation of a database sends whole records.
    Relation(Box<Sent>),
}

/// What a relation sends.
pub(super) struct Sent {
    part: Part,
    blocks: Blocks,
    hasher: Option<blake3::Hasher>,
}

/// A file being cut.
pub(super) struct Cutting {
    part: Part,
    reader: Box<dyn Read + Send>,
    raw: std::sync::Arc<std::sync::Mutex<Raw>>,
    carry: Vec<u8>,
    begun: bool,
    ended: bool,
    told: u64,
}

/// What is learned from the raw bytes of the file on their way through.
#[derive(Default)]
struct Raw {
    bytes: u64,
    hasher: Option<blake3::Hasher>,
}

struct Watch {
    file: Box<dyn Read + Send>,
    raw: std::sync::Arc<std::sync::Mutex<Raw>>,
}

impl Read for Watch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        let mut raw = self.raw.lock().map_err(|_| io::Error::other("a reader panicked"))?;
        raw.bytes += n as u64;
        if let Some(hasher) = &mut raw.hasher {
            hasher.update(&buffer[..n]);
        }
        Ok(n)
    }
}

/// Opens a file for reading its text.
fn text_of(part: &Part, watch: Watch) -> io::Result<Box<dyn Read + Send>> {
    let bytes: Box<dyn Read + Send> = match part.format {
        Format::Csv(Compression::Gzip) => {
            Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, watch)))
        }
        Format::Csv(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::new(watch)?),
        _ => Box::new(watch),
    };
    Ok(part.encoding.decode(bytes))
}

/// The first bytes of the text.
pub(super) fn beginning(part: &Part, bytes: u64) -> Result<Vec<u8>> {
    let failed = |e: io::Error| unreadable(&part.path, &e);
    let file = File::open(&part.path).map_err(failed)?;
    let mut text = Vec::new();
    let reader = text_of(part, Watch { file: Box::new(file), raw: Default::default() }).map_err(failed)?;
    reader.take(bytes).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

impl Chunks {
    /// Opens a file, past the system's cache if that is asked for, or a relation of a database, of which only some columns are sent
    /// if that is enough.
    pub(super) fn open(
        part: &Part,
        hasher: Option<blake3::Hasher>,
        past: bool,
        wanted: Option<&[usize]>,
        sending: Sending,
    ) -> Result<Chunks> {
        match &part.database {
            Some(relation) => {
                let (part, blocks) = (part.clone(), relation.read(wanted, sending)?);
                Ok(Chunks::Relation(Box::new(Sent { part, blocks, hasher })))
            }
            None => Cutting::open(part, hasher, past).map(|file| Chunks::File(Box::new(file))),
        }
    }

    /// The state of the digest after the whole table was read.
    pub(super) fn into_hasher(self) -> Option<blake3::Hasher> {
        match self {
            Chunks::File(file) => file.raw.lock().ok().and_then(|mut raw| raw.hasher.take()),
            Chunks::Relation(sent) => sent.hasher,
        }
    }

    /// The next chunk. Careless cuts assume that no record has a line break inside quotes; the scanner notices if that
    /// was wrong. `room` is that of a chunk that is no longer needed.
    pub(super) fn next(&mut self, careful: bool, room: Vec<u8>) -> Result<Option<Chunk>> {
        match self {
            Chunks::File(file) => file.next(careful, room),
            Chunks::Relation(sent) => {
                let Some(block) = sent.blocks.next() else { return Ok(None) };
                let bytes = block.map_err(|e| unreadable(&sent.part.path, &e))?;
                if let Some(hasher) = &mut sent.hasher {
                    hasher.update(&bytes);
                }
                Ok(Some(Chunk { read: bytes.len() as u64, bytes }))
            }
        }
    }
}

impl Cutting {
    fn open(part: &Part, hasher: Option<blake3::Hasher>, past: bool) -> Result<Cutting> {
        let failed = |e: io::Error| unreadable(&part.path, &e);
        let file: Box<dyn Read + Send> = match past.then(|| PastReader::open(&part.path)).flatten() {
            Some(past) => Box::new(past),
            None => Box::new(File::open(&part.path).map_err(failed)?),
        };
        let raw = std::sync::Arc::new(std::sync::Mutex::new(Raw { bytes: 0, hasher }));
        let reader = text_of(part, Watch { file, raw: raw.clone() }).map_err(failed)?;
        let carry = Vec::new();
        Ok(Cutting { part: part.clone(), reader, raw, carry, begun: false, ended: false, told: 0 })
    }

    fn next(&mut self, careful: bool, room: Vec<u8>) -> Result<Option<Chunk>> {
        // What lies in the room is written over, so that nothing has to be cleared.
        let mut bytes = room;
        let mut used = self.carry.len();
        bytes.resize(bytes.len().max(used), 0);
        bytes[..used].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut want = CHUNK;
        let end = loop {
            if !self.ended {
                let end = want.max(used + (1 << 16));
                bytes.resize(bytes.len().max(end), 0);
                let read = fill(&mut self.reader, &mut bytes[used..end]);
                let read = read.map_err(|e| unreadable(&self.part.path, &e))?;
                self.ended = read == 0;
                used += read;
            }
            if !self.begun {
                let start = if bytes[..used].starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
                match header_end(&bytes[start..used], self.part.delimiter) {
                    Some(end) => {
                        bytes.drain(..start + end);
                        used -= start + end;
                        self.begun = true;
                    }
                    None if self.ended => return Ok(None),
                    None => {
                        want = self.more(want)?;
                        continue;
                    }
                }
            }
            let text = &bytes[..used];
            if self.ended {
                if text.is_empty() {
                    return Ok(None);
                }
                break used;
            }
            match if careful { record_end(text, self.part.delimiter) } else { line_end(text) } {
                Some(end) => {
                    self.carry.extend_from_slice(&text[end..]);
                    break end;
                }
                None => want = self.more(want)?,
            }
        };
        bytes.truncate(end);
        let total = self.raw.lock().map_or(0, |raw| raw.bytes);
        let read = total - self.told;
        self.told = total;
        Ok(Some(Chunk { bytes, read }))
    }

    fn more(&self, want: usize) -> Result<usize> {
        if want >= LONGEST_RECORD {
            return Err(Error::input(format!(
                "`{}` has a record longer than 256 MiB",
                self.part.path.display()
            ))
            .help("a quotation mark may be missing"));
        }
        Ok(want * 2)
    }
}

/// Reads until there is no more room, or nothing more to read.
fn fill(reader: &mut dyn Read, room: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < room.len() {
        match reader.read(&mut room[read..]) {
            Ok(0) => break,
            Ok(n) => read += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(read)
}

/// Where the last line ends.
fn line_end(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', bytes).map(|i| i + 1)
}

/// Where the last record ends that is complete for sure.
fn record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut last = None;
    walk(bytes, delimiter, |end| {
        last = Some(end);
        true
    });
    last
}

/// How the first line of a text ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FirstLine {
    /// With a line break.
    Ends,
    /// With the text.
    Endless,
    /// Within a quoted field.
    Open,
}

/// How the header ends, as far as the text goes.
pub(super) fn header(bytes: &[u8], delimiter: u8) -> FirstLine {
    if header_end(bytes, delimiter).is_some() {
        return FirstLine::Ends;
    }
    // Marks that close are even in number after the last one that opens; a line break shows that none did.
    let start = bytes.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(bytes.len());
    match scan::ends_within_quotes(&bytes[start..], delimiter) {
        true => FirstLine::Open,
        false => FirstLine::Endless,
    }
}

/// Where the header ends, blank lines before it included.
fn header_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut header = None;
    let mut start = 0;
    walk(bytes, delimiter, |end| {
        let blank = bytes[start..end].iter().all(|b| matches!(b, b'\r' | b'\n'));
        header = Some(end);
        start = end;
        blank
    });
    header.filter(|&end| !bytes[..end].iter().all(|b| matches!(b, b'\r' | b'\n')))
}

/// Calls `each` with every position after a record's line end until it says no.
fn walk(bytes: &[u8], delimiter: u8, mut each: impl FnMut(usize) -> bool) {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\n', &bytes[at..]) {
        let here = at + found;
        at = here + 1;
        if bytes[here] == b'\n' {
            if !each(at) {
                return;
            }
            continue;
        }
        let opens = here == 0 || bytes[here - 1] == delimiter || bytes[here - 1] == b'\n';
        if !opens {
            continue;
        }
        loop {
            let Some(close) = memchr::memchr(b'"', &bytes[at..]) else { return };
            at += close + 1;
            if bytes.get(at) != Some(&b'"') {
                break;
            }
            at += 1;
        }
        // A file may end right after the doubled mark's first half: then nothing more is certain.
        if at >= bytes.len() {
            return;
        }
        // Text after the closing mark may hold marks that mean nothing.
        if let Some(skip) = memchr::memchr2(delimiter, b'\n', &bytes[at..]) {
            at += skip;
        } else {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_only_between_records() {
        assert_eq!(record_end(b"a,b\nc,\"d\ne\"\nf", b','), Some(12));
        assert_eq!(record_end(b"a,b\nc,\"d\ne", b','), Some(4));
        assert_eq!(record_end(b"a,5\" pipe\nb,c\n", b','), Some(14));
        assert_eq!(record_end(b"\"a\"\"\n\",b\n", b','), Some(9));
        assert_eq!(record_end(b"\"a\"", b','), None);
        assert_eq!(line_end(b"a\nb"), Some(2));
    }

    #[test]
    fn finds_the_header() {
        assert_eq!(header_end(b"a,b\nc,d\n", b','), Some(4));
        assert_eq!(header_end(b"\n\r\n\"a\nx\",b\nc,d\n", b','), Some(11));
        assert_eq!(header_end(b"a,b", b','), None);
        assert_eq!(header(b"a,\"b\"\n1", b','), FirstLine::Ends);
        assert_eq!(header(b"a,\"b\nc,d\n", b','), FirstLine::Open);
        assert_eq!(header(b"a,\"b\"", b','), FirstLine::Endless);
        assert_eq!(header(b"a,b\"", b','), FirstLine::Endless);
    }
}
