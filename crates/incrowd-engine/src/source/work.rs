//! Scans the whole table once with all threads. Units of work are handed out in table order. If
//! several records are invalid, the error reports the first one in table order.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::{StringArray, StringViewArray};
use arrow_buffer::NullBuffer;
use incrowd_core::{Error, Progress, Result};

use crate::database::Sending;

use super::chunks::{Chunk, Chunks};
use super::directory::{Partitioned, Slot};
use super::scan::Fields;
use super::{Part, Source, TableKind, arrow, unreadable};
use crate::intern::Short;

/// A batch of records of any format.
pub(crate) trait Records: Sync {
    fn len(&self) -> usize;
    /// Text of a cell, or `None` for a null.
    fn get(&self, record: usize, slot: usize) -> Option<&[u8]>;
    /// Text of a cell, together with its [`Short`] form if the text is short enough.
    #[inline]
    fn cell(&self, record: usize, slot: usize) -> Option<(&[u8], Option<Short>)> {
        self.get(record, slot).map(|text| (text, Short::of(text)))
    }
    /// The cells of a slot as dictionary codes, if the slot is dictionary-encoded.
    fn coded(&self, slot: usize) -> Option<CodedCells<'_>> {
        let _ = slot;
        None
    }
    /// The cells of a slot as string views, if the slot has them.
    fn views(&self, slot: usize) -> Option<&StringViewArray> {
        let _ = slot;
        None
    }
    /// The cells of a slot as integers, if the slot has them.
    fn whole(&self, slot: usize) -> Option<WholeCells<'_>> {
        let _ = slot;
        None
    }
}

/// Integer cells. Their text is the decimal representation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholeCells<'a> {
    pub(crate) values: &'a [i64],
    /// Validity bitmap, unless all cells are valid.
    pub(crate) nulls: Option<&'a NullBuffer>,
}

/// Dictionary-encoded cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodedCells<'a> {
    /// Code of each record, or [`NO_TEXT`] for a null.
    pub(crate) codes: &'a [u32],
    pub(crate) texts: &'a StringArray,
}

/// An invalid record.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Index of the record in the batch.
    pub(crate) record: usize,
    /// Message. It follows the position of the record.
    pub(crate) message: String,
    /// Advice on how to correct the record.
    pub(crate) help: Option<String>,
    /// An error that does not concern the record, such as a full disk. It replaces the message.
    pub(crate) error: Option<Box<Error>>,
}

impl Trouble {
    /// Reports an error that concerns no record.
    pub(crate) fn of_error(error: Error) -> Trouble {
        Trouble { record: 0, message: String::new(), help: None, error: Some(Box::new(error)) }
    }
}

/// Processes batches. Each thread has one worker.
pub(crate) trait Worker: Send {
    /// Number of slots, out of `all`, that the worker still needs. Later slots need not be read.
    fn slots(&self, all: usize) -> usize {
        all
    }
    fn visit<R: Records>(&mut self, at: Place, records: &R) -> Result<(), Trouble>;
    /// Estimate of the memory in bytes for the visited records. It includes entries added to shared
    /// tables and data derived later. The estimate uses counts only, so it does not depend on the
    /// number of threads.
    fn memory(&self) -> u64 {
        0
    }
}

/// Tracks the memory of the workers of a scan.
struct MemoryUse<'a> {
    /// Memory of all workers.
    all: &'a AtomicU64,
    /// Memory of this worker at the last update.
    own: u64,
    /// Limit for all workers.
    allowance: u64,
}

impl MemoryUse<'_> {
    fn check(&mut self, own: u64) -> Result<(), Stop> {
        let more = own.saturating_sub(self.own);
        let before = self.all.fetch_add(more, Ordering::Relaxed);
        self.own += more;
        if before.saturating_add(more) <= self.allowance {
            return Ok(());
        }
        Err(Stop::Error(too_large()))
    }
}

/// Reports a compressed or typed file that needs much more memory than files of its size do.
pub(crate) fn too_large() -> Error {
    Error::input(
        "the table has more records and distinct values than a file of its size should unpack to",
    )
    .help(
        "if you trust the file, unpack it or convert it to CSV: the limit is for compressed and typed files. \
         Fewer columns take less too",
    )
}

/// Position of a batch: the unit of work, and the number of records of that unit before the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) unit: u64,
    pub(crate) before: u64,
}

/// Result of a scan of the whole table.
pub(crate) struct Scan<W> {
    pub(crate) workers: Vec<W>,
    /// Digest of the files' bytes, if requested.
    pub(crate) digest: Option<String>,
    counts: Vec<(u64, usize, u64)>,
    parts: Vec<PathBuf>,
}

impl<W> Scan<W> {
    /// Separates the workers from the data needed to locate records.
    pub(crate) fn into_workers(self) -> (Vec<W>, Scan<()>) {
        let Scan { workers, digest, counts, parts } = self;
        (workers, Scan { workers: Vec::new(), digest, counts, parts })
    }

    /// Describes the position of a record for a message.
    pub(crate) fn place(&self, at: Place, record: usize) -> String {
        place(&self.counts, &self.parts, at, record)
    }

    /// Index of a record from 0, counted over all files.
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

/// A unit of work.
enum Unit {
    /// Whole records of delimited text.
    Chunk(Chunk),
    /// A row group or a record batch of a typed file.
    Section(usize),
}

/// Hands out units of work in table order.
struct Queue<'a> {
    source: &'a Source,
    next: u64,
    part: usize,
    chunks: Option<Chunks>,
    within: usize,
    hasher: Option<blake3::Hasher>,
    /// Columns that a database must send, and whether it sends records or groups.
    wanted: Option<&'a [usize]>,
    sending: Sending,
}

impl Queue<'_> {
    /// Returns the next unit. `room` is the buffer of an earlier chunk and is reused.
    fn next(&mut self, mut room: Vec<u8>) -> Result<Option<(u64, usize, Unit)>> {
        while let Some(part) = self.source.parts.get(self.part) {
            let unit = match &part.kind {
                TableKind::Text(_) | TableKind::Database(_) => {
                    if self.chunks.is_none() {
                        let of_part = |wanted: &[usize]| -> Vec<usize> {
                            wanted.iter().map(|&column| part.positions[column]).collect()
                        };
                        let wanted = self.wanted.map(of_part);
                        self.chunks = Some(Chunks::open(
                            part,
                            self.hasher.clone(),
                            wanted.as_deref(),
                            self.sending,
                        )?);
                    }
                    let chunks = self.chunks.as_mut().expect("opened above");
                    let chunk = chunks.next(std::mem::take(&mut room))?;
                    if chunk.is_none() {
                        self.hasher = self.chunks.take().and_then(Chunks::into_hasher);
                    }
                    chunk.map(Unit::Chunk)
                }
                TableKind::Typed(typed) => {
                    if self.within == 0
                        && let Some(hasher) = &mut self.hasher
                    {
                        hash(part, hasher, &AtomicBool::new(false))?;
                    }
                    self.within += 1;
                    (self.within <= typed.sections()).then_some(Unit::Section(self.within - 1))
                }
                TableKind::Remote(_) => None,
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

/// Bytes to hash between two checks of the stop flag.
const HASHED: usize = 4 << 20;

/// Adds the bytes of a typed file or of a table in memory to the digest. Returns early if the scan
/// stops.
fn hash(part: &Part, hasher: &mut blake3::Hasher, stop: &AtomicBool) -> Result<()> {
    let stopped = || stop.load(Ordering::Relaxed);
    if let Some(bytes) = part.typed().and_then(arrow::TypedFile::in_memory) {
        for own in bytes.chunks(HASHED).take_while(|_| !stopped()) {
            hasher.update(own);
        }
        return Ok(());
    }
    let failed = |e| unreadable(&part.path, &e);
    let mut file = part.open_file()?;
    while !stopped()
        && std::io::copy(&mut file.by_ref().take(HASHED as u64), hasher).map_err(failed)? > 0
    {}
    Ok(())
}

impl Source {
    /// Scans the whole table once with all threads. Slot `i` of a batch is the column `wanted[i]`.
    pub(crate) fn scan<W: Worker>(
        &self,
        wanted: &[usize],
        worker: impl Fn() -> W + Sync,
        progress: &dyn Progress,
    ) -> Result<Scan<W>> {
        self.scan_sent(wanted, Sending::Records, worker, progress)
    }

    /// Scans like `scan`, but a database may send distinct rows with counts instead of records. The
    /// counts are in one additional slot.
    pub(crate) fn scan_sent<W: Worker>(
        &self,
        wanted: &[usize],
        sending: Sending,
        worker: impl Fn() -> W + Sync,
        progress: &dyn Progress,
    ) -> Result<Scan<W>> {
        if let Some(remote) = self.remote() {
            return Err(crate::remote::refused(remote.name()));
        }
        // Text is hashed while it is read. Typed files are not read sequentially, so a separate
        // thread hashes them.
        let is_separate = self.digest && self.parts.iter().all(|part| part.typed().is_some());
        let scanning = Scanning {
            source: self,
            wanted,
            sending,
            progress,
            queue: Mutex::new(Queue {
                source: self,
                next: 0,
                part: 0,
                chunks: None,
                within: 0,
                hasher: (self.digest && !is_separate).then(blake3::Hasher::new),
                // A digest covers all columns, so all of them are requested.
                wanted: (!self.digest).then_some(wanted),
                sending,
            }),
            stop: AtomicBool::new(false),
            used: AtomicU64::new(0),
            allowance: self.allowance(),
            large: Mutex::new(()),
        };
        let (results, hashed) = scanning.on_all_threads(worker, is_separate);
        let mut scan = Scan {
            workers: Vec::new(),
            digest: None,
            counts: Vec::new(),
            parts: self.parts.iter().map(|part| part.path.clone()).collect(),
        };
        let mut stops = Vec::new();
        for ThreadResult { worker, done, stopped } in results {
            scan.workers.push(worker);
            scan.counts.extend(done);
            stops.extend(stopped);
        }
        // Units are handed out in order and each started unit is finished. The smallest unit with
        // an error is therefore the first one in table order.
        stops.sort_by_key(|(unit, _)| *unit);
        if let Some((unit, stop)) = stops.into_iter().next() {
            return Err(stop.explain(&scan.counts, &scan.parts, unit));
        }
        let queue = scanning.queue.into_inner().expect("no worker panics while it holds the queue");
        let hasher = hashed.transpose()?.or(queue.hasher);
        scan.digest = hasher.map(|hasher| format!("blake3:{}", hasher.finalize().to_hex()));
        Ok(scan)
    }
}

/// A scan that all threads share.
struct Scanning<'a> {
    source: &'a Source,
    wanted: &'a [usize],
    sending: Sending,
    progress: &'a dyn Progress,
    queue: Mutex<Queue<'a>>,
    stop: AtomicBool,
    /// Memory of all workers, and its limit.
    used: AtomicU64,
    allowance: u64,
    /// Lock for row groups that need much memory.
    large: Mutex<()>,
}

/// The result of a thread: the units that it processed with their parts and numbers of records, and
/// the first unit that it could not process.
struct ThreadResult<W> {
    worker: W,
    done: Vec<(u64, usize, u64)>,
    stopped: Option<(u64, Stop)>,
}

impl Scanning<'_> {
    /// Runs a worker on every thread, and hashes typed files on another one if requested.
    fn on_all_threads<W: Worker>(
        &self,
        worker: impl Fn() -> W + Sync,
        is_hashing: bool,
    ) -> (Vec<ThreadResult<W>>, Option<Result<blake3::Hasher>>) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let hash_all = || {
            let mut hasher = blake3::Hasher::new();
            let mut parts = self.source.parts.iter();
            parts.try_for_each(|part| hash(part, &mut hasher, &self.stop)).map(|()| hasher)
        };
        std::thread::scope(|scope| {
            let hashing = is_hashing.then(|| scope.spawn(hash_all));
            let spawn = |_| scope.spawn(|| self.process(worker()));
            let handles: Vec<_> = (0..threads).map(spawn).collect();
            let results = handles.into_iter().map(joined).collect();
            (results, hashing.map(joined))
        })
    }

    /// Processes units until the table ends or a thread stops.
    fn process<W: Worker>(&self, worker: W) -> ThreadResult<W> {
        let mut own = ThreadResult { worker, done: Vec::new(), stopped: None };
        let mut memory = MemoryUse { all: &self.used, own: 0, allowance: self.allowance };
        let (mut fields, mut room) = (Fields::default(), Vec::new());
        while !self.stop.load(Ordering::Relaxed) {
            // The queue is locked while a chunk is read and hashed, so the digest covers the bytes
            // in table order. The chunk is parsed without the lock.
            let spare = std::mem::take(&mut room);
            let next = {
                let queue = self.queue.lock();
                queue.expect("no worker panics while it holds the queue").next(spare)
            };
            let (number, part, unit) = match next {
                Ok(Some(unit)) => unit,
                Ok(None) => break,
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    // The error belongs to no unit. `u64::MAX` sorts it after the errors of units.
                    own.stopped = Some((u64::MAX, Stop::Error(error)));
                    break;
                }
            };
            let outcome = self.unit(
                (number, part),
                unit,
                &mut own.worker,
                &mut fields,
                &mut room,
                &mut memory,
            );
            own.done.push((number, part, *outcome.as_ref().unwrap_or(&0)));
            if let Err(end) = outcome {
                self.stop.store(true, Ordering::Relaxed);
                own.stopped = Some((number, end));
            }
        }
        own
    }

    /// Processes a unit and returns its number of records.
    fn unit<W: Worker>(
        &self,
        (number, part): (u64, usize),
        unit: Unit,
        worker: &mut W,
        fields: &mut Fields,
        room: &mut Vec<u8>,
        memory: &mut MemoryUse<'_>,
    ) -> Result<u64, Stop> {
        let part = &self.source.parts[part];
        // A database sends all wanted columns until its end.
        let needed = match part.relation() {
            Some(_) => self.wanted.len(),
            None => worker.slots(self.wanted.len()).min(self.wanted.len()),
        };
        let positions: Vec<usize> =
            self.wanted[..needed].iter().map(|&w| part.positions[w]).collect();
        // Columns from directory names are not read from the file.
        let (mut positions, slots) = match part.constants.is_empty() {
            true => (positions, Vec::new()),
            false => parted(&positions, part),
        };
        if positions.is_empty() && !slots.is_empty() {
            // At least one column must be read to count the records.
            positions.push(0);
        }
        match unit {
            Unit::Chunk(chunk) => {
                let at = Place { unit: number, before: 0 };
                let batch = match part.relation() {
                    // The database sent only the wanted columns. A null differs from an empty text.
                    Some(_) if !self.source.digest => {
                        let counts = usize::from(self.sending == Sending::Groups);
                        let sent: Vec<usize> = (0..positions.len() + counts).collect();
                        fields.with_nulls(true).scan(
                            &chunk.bytes,
                            part.delimiter,
                            sent.len().max(1),
                            &sent,
                        )?
                    }
                    _ => fields.with_nulls(false).scan(
                        &chunk.bytes,
                        part.delimiter,
                        part.width,
                        &positions,
                    )?,
                };
                visit(worker, at, &batch, &slots, memory)?;
                self.progress.advance(chunk.read);
                let records = batch.len() as u64;
                *room = chunk.bytes;
                Ok(records)
            }
            Unit::Section(section) => {
                let mut before = 0;
                for batch in arrow::section(part, section, &positions, &self.large)? {
                    let batch = batch?;
                    let at = Place { unit: number, before };
                    visit(worker, at, &batch, &slots, memory)?;
                    before += batch.len() as u64;
                }
                let sections = part.typed().map_or(1, arrow::TypedFile::sections).max(1);
                self.progress.advance(part.bytes / sections as u64);
                Ok(before)
            }
        }
    }
}

/// The result of a thread. Its panic continues in this thread.
fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Passes records to a worker, with the columns from directory names added.
fn visit<W: Worker, R: Records>(
    worker: &mut W,
    at: Place,
    records: &R,
    slots: &[Slot<'_>],
    memory: &mut MemoryUse<'_>,
) -> Result<(), Stop> {
    let visited = match slots {
        [] => worker.visit(at, records),
        slots => worker.visit(at, &Partitioned { records, slots }),
    };
    visited.map_err(|trouble| Stop::Trouble(at, trouble))?;
    memory.check(worker.memory())
}

/// Positions to read from the file, and the source of each slot.
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

/// Reason for an early end of a scan.
#[derive(Debug)]
pub(crate) enum Stop {
    Error(Error),
    /// A quoted field that starts in this record is not closed at the end of the chunk.
    OpenQuote {
        record: usize,
    },
    /// A record whose number of fields differs from the header.
    Ragged {
        record: usize,
        fields: usize,
        width: usize,
    },
    /// A byte sequence in this record is not valid UTF-8.
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
            Stop::Trouble(_, Trouble { error: Some(error), .. }) => *error,
            Stop::Trouble(at, trouble) => {
                let at = Place { unit, before: at.before };
                let error =
                    Error::input(format!("{}{}", place(counts, parts, at, trouble.record), trouble.message));
                match trouble.help {
                    Some(help) => error.help(help),
                    None => error,
                }
            }
        }
    }
}
