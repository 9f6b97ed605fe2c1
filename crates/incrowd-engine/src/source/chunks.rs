//! Splits delimited text into chunks of whole records.

use std::io::{self, Read};

use incrowd_core::{Error, Result};

use crate::database::{Blocks, Sending};

use super::{Compression, Part, TableKind, scan, unreadable};

/// Approximate size of a chunk in bytes.
const CHUNK: usize = 1 << 20;
/// Longest accepted record. A longer one indicates a missing quotation mark. For a file smaller
/// than this, the limit is the larger of [`LONGEST_PACKED`] and the size of the file.
const LONGEST_RECORD: usize = 256 << 20;
const LONGEST_PACKED: usize = 16 << 20;

/// Whole records.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// Bytes of the file that were read for this chunk. For a compressed file, these are compressed
    /// bytes.
    pub(super) read: u64,
}

/// Iterator state over the chunks of a table.
pub(super) enum Chunks {
    File(Box<Cutting>),
    /// A relation of a database. The server sends whole records.
    Relation(Box<Sent>),
}

/// Chunks that a database sends.
pub(super) struct Sent {
    part: Part,
    blocks: Blocks,
    hasher: Option<blake3::Hasher>,
}

/// Chunks of a file.
pub(super) struct Cutting {
    part: Part,
    reader: Box<dyn Read + Send>,
    raw: std::sync::Arc<std::sync::Mutex<Raw>>,
    carry: Vec<u8>,
    begun: bool,
    ended: bool,
    told: u64,
}

/// Size and digest of the raw bytes, updated while the file is read.
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

/// Opens a file and returns a reader of its decoded text.
fn text_of(part: &Part, watch: Watch) -> io::Result<Box<dyn Read + Send>> {
    let bytes: Box<dyn Read + Send> = match part.kind {
        TableKind::Text(Compression::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(
            io::BufReader::with_capacity(1 << 16, watch),
        )),
        TableKind::Text(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::new(watch)?),
        _ => Box::new(watch),
    };
    Ok(part.encoding.decode(bytes))
}

/// Returns the first bytes of the text.
pub(super) fn beginning(part: &Part, bytes: u64) -> Result<Vec<u8>> {
    let failed = |e: io::Error| unreadable(&part.path, &e);
    let file = part.open_file()?;
    let mut text = Vec::new();
    let reader =
        text_of(part, Watch { file: Box::new(file), raw: Default::default() }).map_err(failed)?;
    reader.take(bytes).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

impl Chunks {
    /// Opens a file or a relation of a database. A relation sends only the wanted columns where that
    /// is sufficient.
    pub(super) fn open(
        part: &Part,
        hasher: Option<blake3::Hasher>,
        wanted: Option<&[usize]>,
        sending: Sending,
    ) -> Result<Chunks> {
        match part.relation() {
            Some(relation) => {
                let (part, blocks) = (part.clone(), relation.read(wanted, sending)?);
                Ok(Chunks::Relation(Box::new(Sent { part, blocks, hasher })))
            }
            None => Cutting::open(part, hasher).map(|file| Chunks::File(Box::new(file))),
        }
    }

    /// State of the digest after the whole table was read.
    pub(super) fn into_hasher(self) -> Option<blake3::Hasher> {
        match self {
            Chunks::File(file) => file.raw.lock().ok().and_then(|mut raw| raw.hasher.take()),
            Chunks::Relation(sent) => sent.hasher,
        }
    }

    /// Returns the next chunk. `room` is the buffer of an earlier chunk and is reused.
    pub(super) fn next(&mut self, room: Vec<u8>) -> Result<Option<Chunk>> {
        match self {
            Chunks::File(file) => file.next(room),
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
    fn open(part: &Part, hasher: Option<blake3::Hasher>) -> Result<Cutting> {
        let failed = |e: io::Error| unreadable(&part.path, &e);
        let file = Box::new(part.open_file()?);
        let raw = std::sync::Arc::new(std::sync::Mutex::new(Raw { bytes: 0, hasher }));
        let reader = text_of(part, Watch { file, raw: raw.clone() }).map_err(failed)?;
        let carry = Vec::new();
        Ok(Cutting { part: part.clone(), reader, raw, carry, begun: false, ended: false, told: 0 })
    }

    fn next(&mut self, room: Vec<u8>) -> Result<Option<Chunk>> {
        // The old contents of the buffer are overwritten, so the buffer is not cleared.
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
            match last_record_end(text, self.part.delimiter) {
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
        let size = usize::try_from(self.part.bytes).unwrap_or(LONGEST_RECORD);
        let longest = LONGEST_RECORD.min(LONGEST_PACKED.max(size));
        if want >= longest {
            return Err(Error::input(format!(
                "`{}` has a record longer than {} MiB",
                self.part.path.display(),
                longest >> 20
            ))
            .help("a quotation mark may be missing"));
        }
        Ok(want * 2)
    }
}

/// Reads until the buffer is full or the input ends.
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

/// End of the last record that is certainly complete. Without quotation marks this is the last line
/// end, which is much faster to find.
fn last_record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    match memchr::memchr(b'"', bytes) {
        None => line_end(bytes),
        Some(_) => record_end(bytes, delimiter),
    }
}

/// End of the last line.
fn line_end(bytes: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', bytes).map(|i| i + 1)
}

/// End of the last record that is certainly complete, for text with quotation marks.
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
    /// It ends with a line break.
    Ends,
    /// It ends with the text, without a line break.
    Endless,
    /// It ends within a quoted field.
    Open,
}

/// Returns how the header ends within `bytes`.
pub(super) fn header(bytes: &[u8], delimiter: u8) -> FirstLine {
    if header_end(bytes, delimiter).is_some() {
        return FirstLine::Ends;
    }
    // No header end was found. Then the header either has no line break or has an open quoted
    // field.
    let start = bytes.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(bytes.len());
    match scan::ends_within_quotes(&bytes[start..], delimiter) {
        true => FirstLine::Open,
        false => FirstLine::Endless,
    }
}

/// End of the header. Blank lines before the header are included.
pub(super) fn header_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
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

/// Calls `each` with the position after the line end of every record. Stops when `each` returns
/// false.
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
        // The text may end between the two quotation marks of an escaped mark. Then the end of the
        // field is unknown.
        if at >= bytes.len() {
            return;
        }
        // Quotation marks in the text after a closing mark are ordinary characters.
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
