//! Reading the whole table once, all threads working: units of work are handed out in the order of the table, and whatever
//! is wrong with it is reported for the first record it is wrong with.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{StringArray, StringViewArray};
use arrow_buffer::NullBuffer;
use incrowd_core::{Error, Progress, Result};

use crate::database::Sending;

use super::chunks::{Chunk, Chunks};
use super::directory::{Partitioned, Slot};
use super::scan::Fields;
use super::{Format, Part, Source, arrow, unreadable};
use crate::intern::Short;

/// A batch of records, of whatever format.
pub(crate) trait Records: Sync {
    fn len(&self) -> usize;
    /// The text of a cell; `None` is a null.
    fn get(&self, record: usize, slot: usize) -> Option<&[u8]>;
    /// The text of a cell, and the same as a [`Short`] if it is one.
    #[inline]
    fn cell(&self, record: usize, slot: usize) -> Option<(&[u8], Option<Short>)> {
        self.get(record, slot).map(|text| (text, Short::of(text)))
    }
    /// The cells of a slot as numbers of texts, if that is how they came.
    fn coded(&self, slot: usize) -> Option<CodedCells<'_>> {
        let _ = slot;
        None
    }
    /// The cells of a slot as views of texts, if that is how they came.
    fn views(&self, slot: usize) -> Option<&StringViewArray> {
        let _ = slot;
        None
    }
    /// The cells of a slot as whole numbers, if that is what they are.
    fn whole(&self, slot: usize) -> Option<WholeCells<'_>> {
        let _ = slot;
        None
    }
}

/// Cells that are whole numbers, spelled in digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeCells<'a> {
    pub(crate) values: &'a [i64],
    /// Which of them are there, if not all.
    pub(crate) nulls: Option<&'a NullBuffer>,
}

/// Cells as numbers of texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodedCells<'a> {
    /// For each record the number of its text, or [`NO_TEXT`] for a null.
    pub(crate) codes: &'a [u32],
    pub(crate) texts: &'a StringArray,
}

/// Something wrong with a record.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Its position in the batch.
    pub(crate) record: usize,
    /// The sentence that follows the place.
    pub(crate) says: String,
    /// What would work.
    pub(crate) help: Option<String>,
}

/// Works on batches, one worker per thread.
pub(crate) trait Worker: Send {
    /// How many of so many slots it still looks at; those after them need not be read.
    fn slots(&self, all: usize) -> usize {
        all
    }
    fn visit<R: Records>(&mut self, at: Place, records: &R) -> Result<(), Trouble>;
}

/// Where a batch stands: unit of work, and the number of its records before the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) unit: u64,
    pub(crate) before: u64,
}

/// What a scan of the whole table gave.
pub(crate) struct Scan<W> {
    pub(crate) workers: Vec<W>,
    /// The digest of the files' bytes, if asked for.
    pub(crate) digest: Option<String>,
    counts: Vec<(u64, usize, u64)>,
    parts: Vec<PathBuf>,
}

impl<W> Scan<W> {
    /// The place of a record in words.
    pub(crate) fn place(&self, at: Place, record: usize) -> String {
        place(&self.counts, &self.parts, at, record)
    }

    /// The number of a record from 0 on, all files together.
    pub(crate) fn number(&self, at: Place, record: usize) -> u64 {
        let earlier: u64 = self.counts.iter().filter(|c| c.0 < at.unit).map(|c| c.2).sum();
        earlier + at.before + record as u64
    }
}

fn place(counts: &[(u64, usize, u64)], parts: &[PathBuf], at: Place, record: usize) -> String {
    let part = counts.iter().find(|c| c.0 == at.unit).map_or(0, |c| c.1);
    let earlier: u64 = counts.iter().filter(|c| c.0 < at.unit && c.1 == part).map(|c| c.2).sum();
    let number = earlier + at.before + record as u64 + 1;
    match parts {
        [_] => format!("record {number}"),
        _ => format!("record {number} of `{}`", parts[part].display()),
    }
}

/// What a worker does next.
enum Unit {
    /// Whole records of delimited text.
    Chunk(Chunk),
    /// A row group or a record batch of a typed file.
    Section(usize),
}

/// Hands out work in the order of the table.
struct Queue<'a> {
    source: &'a Source,
    next: u64,
    part: usize,
    chunks: Option<Chunks>,
    within: usize,
    hasher: Option<blake3::Hasher>,
    /// The columns that a database need send, and what of them.
    wanted: Option<&'a [usize]>,
    sending: Sending,
}

impl Queue<'_> {
    /// The next unit; `room` is that of a chunk that is no longer needed.
    fn next(&mut self, careful: bool, mut room: Vec<u8>) -> Result<Option<(u64, usize, Unit)>> {
        while let Some(part) = self.source.parts.get(self.part) {
            let unit = match part.format {
                Format::Csv(_) => {
                    if self.chunks.is_none() {
                        self.chunks = Some(Chunks::open(
                            part,
                            self.hasher.clone(),
                            self.source.past,
                            self.wanted,
                            self.sending,
                        )?);
                    }
                    let chunks = self.chunks.as_mut().expect("opened above");
                    let chunk = chunks.next(careful, std::mem::take(&mut room))?;
                    if chunk.is_none() {
                        self.hasher = self.chunks.take().and_then(Chunks::into_hasher);
                    }
                    chunk.map(Unit::Chunk)
                }
                Format::Parquet | Format::Arrow => {
                    if self.within == 0
                        && let Some(hasher) = &mut self.hasher
                    {
                        hash(part, hasher, &AtomicBool::new(false))?;
                    }
                    let sections = part.typed.as_ref().map_or(0, arrow::Typed::sections);
                    self.within += 1;
                    (self.within <= sections).then_some(Unit::Section(self.within - 1))
                }
            };
            if let Some(unit) = unit {
                self.next += 1;
                return Ok(Some((self.next - 1, self.part, unit)));
            }
            self.part += 1;
            self.within = 0;
        }
        Ok(None)
    }
}

/// Bytes that are hashed before it is asked whether anybody still wants to know.
const HASHED: usize = 4 << 20;

/// Adds the bytes of a typed file, or of one in memory, unless the work stops.
fn hash(part: &Part, hasher: &mut blake3::Hasher, stop: &AtomicBool) -> Result<()> {
    let stopped = || stop.load(Ordering::Relaxed);
    if let Some(bytes) = part.typed.as_ref().and_then(arrow::Typed::in_memory) {
        for own in bytes.chunks(HASHED).take_while(|_| !stopped()) {
            hasher.update(own);
        }
        return Ok(());
    }
    let failed = |e| unreadable(&part.path, &e);
    let mut file = std::fs::File::open(&part.path).map_err(failed)?;
    while !stopped() && std::io::copy(&mut file.by_ref().take(HASHED as u64), hasher).map_err(failed)? > 0 {}
    Ok(())
}

impl Source {
    /// Reads the whole table once, all threads working. Slot `i` of a batch is the column `wanted[i]`. If a line break
    /// inside quotes shows that chunks were cut wrongly, `reset` is called and everything is read again with care.
    pub(crate) fn scan<W: Worker>(
        &self,
        wanted: &[usize],
        worker: impl Fn() -> W + Sync,
        progress: &dyn Progress,
        reset: impl Fn(),
    ) -> Result<Scan<W>> {
        self.scan_sent(wanted, Sending::Records, worker, progress, reset)
    }

    /// The same, where a database may send distinct rows in place of records: then one slot more has their counts.
    pub(crate) fn scan_sent<W: Worker>(
        &self,
        wanted: &[usize],
        sending: Sending,
        worker: impl Fn() -> W + Sync,
        progress: &dyn Progress,
        reset: impl Fn(),
    ) -> Result<Scan<W>> {
        if let Some(remote) = self.remote() {
            return Err(crate::remote::refused(remote.name()));
        }
        loop {
            let careful = self.careful.load(Ordering::Relaxed);
            match self.scan_once(wanted, sending, &worker, careful, progress)? {
                Some(scan) => return Ok(scan),
                None => {
                    self.careful.store(true, Ordering::Relaxed);
                    reset();
                }
            }
        }
    }

    /// `None` means that a chunk ended inside quotes, so that the cuts between chunks were wrong.
    fn scan_once<W: Worker>(
        &self,
        wanted: &[usize],
        sending: Sending,
        worker: &(impl Fn() -> W + Sync),
        careful: bool,
        progress: &dyn Progress,
    ) -> Result<Option<Scan<W>>> {
        // Pieces of text are hashed as they are read. Whoever reads a typed file jumps, so its bytes are hashed beside the work.
        let beside = self.digest && self.parts.iter().all(|part| part.typed.is_some());
        let hasher = (self.digest && !beside).then(blake3::Hasher::new);
        // A digest is that of the whole table.
        let sent = (!self.digest).then_some(wanted);
        let queue = Mutex::new(Queue {
            source: self,
            next: 0,
            part: 0,
            chunks: None,
            within: 0,
            hasher,
            wanted: sent,
            sending,
        });
        let stop = AtomicBool::new(false);
        let work = || {
            let mut state = worker();
            let mut fields = Fields::default();
            let (mut done, mut room) = (Vec::new(), Vec::new());
            while !stop.load(Ordering::Relaxed) {
                let spare = std::mem::take(&mut room);
                let unit =
                    queue.lock().expect("no worker panics while it holds the queue").next(careful, spare);
                let (number, part, unit) = match unit {
                    Ok(Some(unit)) => unit,
                    Ok(None) => break,
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        return (state, done, Some((u64::MAX, Stop::Error(error))));
                    }
                };
                let outcome = self.run(
                    number,
                    &self.parts[part],
                    unit,
                    (wanted, sending),
                    &mut fields,
                    &mut state,
                    progress,
                    &mut room,
                );
                match outcome {
                    Ok(records) => done.push((number, part, records)),
                    Err(end) => {
                        stop.store(true, Ordering::Relaxed);
                        done.push((number, part, 0));
                        return (state, done, Some((number, end)));
                    }
                }
            }
            (state, done, None)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let hash_all = || {
            let mut hasher = blake3::Hasher::new();
            self.parts.iter().try_for_each(|part| hash(part, &mut hasher, &stop)).map(|()| hasher)
        };
        let (results, hashed): (Vec<_>, _) = std::thread::scope(|scope| {
            let hashing = beside.then(|| scope.spawn(hash_all));
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let joined = handles.into_iter().map(|handle| handle.join());
            let joined = joined.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            let results = joined.collect();
            let hashed = hashing.map(|handle| handle.join());
            (results, hashed.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
        });
        let mut scan = Scan {
            workers: Vec::new(),
            digest: None,
            counts: Vec::new(),
            parts: self.parts.iter().map(|part| part.path.clone()).collect(),
        };
        let mut stops = Vec::new();
        for (state, done, stopped) in results {
            scan.workers.push(state);
            scan.counts.extend(done);
            stops.extend(stopped);
        }
        // Units are handed out in order and finished once begun, so the earliest stop is the first of the table.
        stops.sort_by_key(|(unit, _)| *unit);
        match stops.into_iter().next() {
            None => {}
            Some((_, Stop::OpenQuote { .. })) if !careful => return Ok(None),
            Some((unit, stop)) => return Err(stop.explain(&scan.counts, &scan.parts, unit)),
        }
        let queue = queue.into_inner().expect("no worker panics while it holds the queue");
        let hasher = hashed.transpose()?.or(queue.hasher);
        scan.digest = hasher.map(|hasher| format!("blake3:{}", hasher.finalize().to_hex()));
        Ok(Some(scan))
    }

    #[allow(clippy::too_many_arguments)]
    fn run<W: Worker>(
        &self,
        number: u64,
        part: &Part,
        unit: Unit,
        (wanted, sending): (&[usize], Sending),
        fields: &mut Fields,
        worker: &mut W,
        progress: &dyn Progress,
        room: &mut Vec<u8>,
    ) -> Result<u64, Stop> {
        let wanted = &wanted[..worker.slots(wanted.len()).min(wanted.len())];
        let positions: Vec<usize> = wanted.iter().map(|&w| part.positions[w]).collect();
        // Columns that the names of directories tell are not read.
        let (mut positions, slots) = match part.constants.is_empty() {
            true => (positions, Vec::new()),
            false => parted(&positions, part),
        };
        if positions.is_empty() && !slots.is_empty() {
            // Somebody has to count the records.
            positions.push(0);
        }
        match unit {
            Unit::Chunk(chunk) => {
                let at = Place { unit: number, before: 0 };
                let batch = match &part.database {
                    // Only what is wanted was sent, and a null is not an empty text.
                    Some(_) if !self.digest => {
                        let counts = usize::from(sending == Sending::Groups);
                        let sent: Vec<usize> = (0..positions.len() + counts).collect();
                        fields.with_nulls(true).scan(
                            &chunk.bytes,
                            part.delimiter,
                            sent.len().max(1),
                            &sent,
                        )?
                    }
                    _ => {
                        fields.with_nulls(false).scan(&chunk.bytes, part.delimiter, part.width, &positions)?
                    }
                };
                visit(worker, at, &batch, &slots)?;
                progress.advance(chunk.read);
                let records = batch.len() as u64;
                *room = chunk.bytes;
                Ok(records)
            }
            Unit::Section(section) => {
                let mut before = 0;
                for batch in arrow::section(part, section, &positions)? {
                    let batch = batch?;
                    let at = Place { unit: number, before };
                    visit(worker, at, &batch, &slots)?;
                    before += batch.len() as u64;
                }
                let sections = part.typed.as_ref().map_or(1, arrow::Typed::sections).max(1);
                progress.advance(part.bytes / sections as u64);
                Ok(before)
            }
        }
    }
}

/// Lets a worker visit records, with the columns that the names of directories tell.
fn visit<W: Worker, R: Records>(
    worker: &mut W,
    at: Place,
    records: &R,
    slots: &[Slot<'_>],
) -> Result<(), Stop> {
    let visited = match slots {
        [] => worker.visit(at, records),
        slots => worker.visit(at, &Partitioned { records, slots }),
    };
    visited.map_err(|trouble| Stop::Trouble(at, trouble))
}

/// The positions that are read from the file, and where each slot comes from.
fn parted<'a>(positions: &[usize], part: &'a Part) -> (Vec<usize>, Vec<Slot<'a>>) {
    let mut read = Vec::new();
    let slot = |&position: &usize| match position.checked_sub(part.width) {
        Some(constant) => Slot::Constant(part.constants[constant].1.as_deref()),
        None => {
            read.push(position);
            Slot::Read(read.len() - 1)
        }
    };
    let slots = positions.iter().map(slot).collect();
    (read, slots)
}

/// Why a scan stops early.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(Error),
    /// A quoted field, opened in this record, was still open at the end of a chunk.
    OpenQuote {
        record: usize,
    },
    /// A record with another number of fields than the header.
    Ragged {
        record: usize,
        fields: usize,
        width: usize,
    },
    /// A byte that is not UTF-8, at this record.
    NotUtf8 {
        record: usize,
    },
    Trouble(Place, Trouble),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl Stop {
    fn explain(self, counts: &[(u64, usize, u64)], parts: &[PathBuf], unit: u64) -> Error {
        let whole = |record| place(counts, parts, Place { unit, before: 0 }, record);
        match self {
            Stop::Error(error) => error,
            Stop::OpenQuote { record } => {
                Error::input(format!("{} opens a quoted field that is never closed", whole(record)))
                    .help("the file may be truncated, or a quotation mark may be missing")
            }
            Stop::Ragged { record, fields, width } => {
                let (s, place) = (if fields == 1 { "" } else { "s" }, whole(record));
                Error::input(format!("{place} has {fields} field{s}, the header has {width}"))
                    .help("quote fields that contain the delimiter, or state the delimiter in [input]")
            }
            Stop::NotUtf8 { record } => Error::input(format!("{} is not valid UTF-8", whole(record))).help(
                "state `[input] encoding`, for example latin1, or convert the file: iconv -f LATIN1 -t UTF-8",
            ),
            Stop::Trouble(at, trouble) => {
                let at = Place { unit, before: at.before };
                let error =
                    Error::input(format!("{}{}", place(counts, parts, at, trouble.record), trouble.says));
                match trouble.help {
                    Some(help) => error.help(help),
                    None => error,
                }
            }
        }
    }
}
