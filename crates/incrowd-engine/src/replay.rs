//! Writing a release that carries columns from the records: the records are read again, each finds its row, and what is
//! carried goes with it through a shuffle (or a sort) on disk.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use incrowd_core::{Error, GroupId, MISSING, Plan, Progress, Result};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use crate::cells::{Cells, Texts, published, ranks};
use crate::emit::{Spare, while_writing};
use crate::fold::RowIndex;
use crate::order::generator;
use crate::pending::write_failed;
use crate::private_stream::PrivateStream;
use crate::shares::Shares;
use crate::sink::{Renderer, Rows, Sink};
use crate::source::{Place, Records, Source, Trouble, Worker};
use crate::withheld_draw::{Fate, WithheldDraw};
use crate::{Content, FoldSpec, Order, Output};

/// Carried text per bucket, about.
const BUCKET_BYTES: u64 = 48 << 20;
const MOST_BUCKETS: u64 = 512;
/// What a worker keeps of a bucket before it hands it in.
const STAGE: usize = 32 << 10;
/// What a bucket keeps in memory before it goes to disk.
const MEMORY: usize = 1 << 20;
/// Records rendered at once.
const BLOCK: usize = 1 << 14;
const NULL: u32 = u32::MAX;

/// Records on their way to the release. The file has no name, so that nothing of it survives this process.
#[derive(Default)]
struct Bucket {
    memory: Vec<u8>,
    file: Option<File>,
}

impl Bucket {
    fn add(&mut self, records: &[u8], directory: &Path) -> std::io::Result<()> {
        self.memory.extend_from_slice(records);
        if self.memory.len() < MEMORY {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(directory)?),
        };
        file.write_all(&self.memory)?;
        self.memory.clear();
        Ok(())
    }

    fn into_bytes(self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(mut file) = self.file {
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut bytes)?;
        }
        bytes.extend_from_slice(&self.memory);
        Ok(bytes)
    }
}

/// How a record finds its bucket.
enum Routing<'a> {
    AtRandom(Box<ChaCha20Rng>),
    ByRow(&'a [u32]),
}

struct Replayer<'a> {
    index: &'a RowIndex,
    plan: &'a Plan<'a>,
    renderer: &'a Renderer,
    drop_missing: bool,
    carried: usize,
    /// Counts the records that name nobody, if it is kept whose records they are.
    unnamed: Option<&'a AtomicU32>,
    buckets: &'a [Mutex<Bucket>],
    directory: &'a Path,
    routing: Routing<'a>,
    withheld: &'a WithheldDraw<'a>,
    shares: &'a Shares,
    rng: ChaCha20Rng,
    stage: Vec<Vec<u8>>,
    codes: Vec<u32>,
    published: u64,
    suppressed: u64,
    progress: &'a dyn Progress,
}

impl Worker for Replayer<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        for record in 0..records.len() {
            self.record(records, record).map_err(|says| Trouble { record, says, help: None })?;
        }
        self.progress.advance(records.len() as u64);
        Ok(())
    }
}

impl Replayer<'_> {
    fn record<R: Records>(&mut self, records: &R, record: usize) -> Result<(), String> {
        const CHANGED: &str = " was not there before: the input changed while it was read";
        self.codes.clear();
        for slot in 0..self.index.width() {
            self.codes.push(self.index.code(slot, records.get(record, slot)).ok_or(CHANGED)?);
        }
        if self.drop_missing && self.codes.contains(&MISSING) {
            return Ok(());
        }
        let row = self.index.row(&self.codes).ok_or(CHANGED)?;
        let row = match self.withheld.draw(row, &mut self.rng) {
            Fate::Row(row) => row,
            Fate::Withheld => return Ok(()),
            Fate::Unknown => return Err(CHANGED.to_owned()),
        };
        let row = self.plan.dataset().row_of_fold(row).ok_or(CHANGED)?;
        let row = self.shares.draw(row.0, &mut self.rng).ok_or(CHANGED)?;
        if self.plan.partition().group(row as usize).is_none() {
            self.suppressed += 1;
            return Ok(());
        }
        self.published += 1;
        let bucket = match &mut self.routing {
            Routing::AtRandom(rng) => rng.random_range(0..self.buckets.len()),
            Routing::ByRow(bucket_of) => bucket_of[row as usize] as usize,
        };
        let out = &mut self.stage[bucket];
        out.extend_from_slice(&row.to_le_bytes());
        if let Some(unnamed) = self.unnamed {
            let text = records.get(record, self.index.width() + self.carried);
            let person = self.index.person(text, unnamed).ok_or(CHANGED)?;
            out.extend_from_slice(&person.to_le_bytes());
        }
        for slot in 0..self.carried {
            let Some(text) = records.get(record, self.index.width() + slot) else {
                out.extend_from_slice(&NULL.to_le_bytes());
                continue;
            };
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            self.renderer.spell(text, out);
            let length = (out.len() - start - 4) as u32;
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
        if out.len() >= STAGE { self.hand_in(bucket) } else { Ok(()) }
    }

    fn hand_in(&mut self, bucket: usize) -> Result<(), String> {
        let mut shared = self.buckets[bucket].lock().expect("no worker panics while it holds a bucket");
        let added = shared.add(&self.stage[bucket], self.directory);
        self.stage[bucket].clear();
        added.map_err(|e| format!(" could not be kept in a temporary file: {e}"))
    }
}

/// The records of a bucket in memory.
struct Loaded<'a> {
    cells: &'a Cells<'a>,
    bytes: &'a [u8],
    /// Where each record starts.
    starts: &'a [usize],
    header: usize,
    /// For each published column its position among the carried ones.
    carried: &'a [Option<usize>],
    /// How many columns are carried.
    count: usize,
    /// Where every carried cell starts, record by record, if there are too many to look for them from the record's start on.
    places: Vec<usize>,
}

/// So many carried cells are passed by without a list of their places.
const FEW: usize = 16;

impl<'a> Loaded<'a> {
    fn new(
        cells: &'a Cells<'a>,
        bytes: &'a [u8],
        starts: &'a [usize],
        header: usize,
        carried: &'a [Option<usize>],
        count: usize,
    ) -> Loaded<'a> {
        let mut places = Vec::new();
        if count > FEW {
            places.reserve(starts.len() * count);
            for start in starts {
                let mut at = start + header;
                for _ in 0..count {
                    places.push(at);
                    at += 4 + length(bytes, at).unwrap_or(0);
                }
            }
        }
        Loaded { cells, bytes, starts, header, carried, count, places }
    }

    /// Where a carried cell of a record starts.
    fn place(&self, index: usize, position: usize) -> usize {
        if self.count > FEW {
            return self.places[index * self.count + position];
        }
        let start = self.starts[index] + self.header;
        (0..position).fold(start, |at, _| at + 4 + length(self.bytes, at).unwrap_or(0))
    }
}

impl Rows for Loaded<'_> {
    type Row = (u32, GroupId, usize);

    fn len(&self) -> usize {
        self.starts.len()
    }

    fn row(&self, index: usize) -> Self::Row {
        let start = self.starts[index];
        let (row, group) = self.cells.row(number(self.bytes, start));
        (row, group, index)
    }

    fn cell(&self, (row, group, index): Self::Row, column: usize) -> Option<&[u8]> {
        let Some(position) = self.carried[column] else { return self.cells.cell((row, group), column) };
        let at = self.place(index, position);
        length(self.bytes, at).map(|n| &self.bytes[at + 4..at + 4 + n])
    }

    fn texts(&self, column: usize) -> Option<&Arc<Texts>> {
        self.cells.texts(column)
    }

    fn code(&self, (row, group, _): Self::Row, column: usize) -> u32 {
        self.cells.code((row, group), column)
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn length(bytes: &[u8], at: usize) -> Option<usize> {
    Some(number(bytes, at)).filter(|n| *n != NULL).map(|n| n as usize)
}

/// Writes all records; returns how many were published and how many suppressed.
#[allow(clippy::too_many_arguments)]
pub(crate) fn replay(
    source: &Source,
    spec: &FoldSpec,
    index: &RowIndex,
    plan: &Plan<'_>,
    output: &Output,
    renderer: &Renderer,
    sink: Sink,
    directory: &Path,
    mut persons: Option<&mut PrivateStream>,
    progress: &dyn Progress,
) -> Result<(u64, u64)> {
    let mut wanted: Vec<usize> =
        spec.columns.iter().map(|name| source.position(name)).collect::<Result<_>>()?;
    let mut carried = Vec::with_capacity(output.columns.len());
    let mut count = 0;
    for (name, content) in &output.columns {
        carried.push((*content == Content::Carried).then_some(count));
        if *content == Content::Carried {
            wanted.push(source.position(name)?);
            count += 1;
        }
    }
    // Before what is carried a record has its row, and its person if it is kept whose it is.
    let named = persons.is_some() && plan.dataset().persons().is_some();
    let header = if named { 8 } else { 4 };
    if let Some(person) = spec.person.as_ref().filter(|_| named) {
        wanted.push(source.position(person)?);
    }
    let unnamed = AtomicU32::new(0);
    let bucket_count = source.bytes().div_ceil(BUCKET_BYTES).clamp(1, MOST_BUCKETS) as usize;
    let buckets: Vec<Mutex<Bucket>> = (0..bucket_count).map(|_| Mutex::default()).collect();
    let ranks = (output.order == Order::Sorted).then(|| ranks(plan));
    let bucket_of = ranks.as_ref().map(|ranks| even_buckets(ranks, &published(plan), bucket_count));
    let shares = Shares::new(plan);
    let withheld = WithheldDraw::new(plan);
    let worker = || Replayer {
        index,
        plan,
        renderer,
        drop_missing: spec.drop_missing,
        carried: count,
        unnamed: (header > 4).then_some(&unnamed),
        buckets: &buckets,
        directory,
        routing: match &bucket_of {
            Some(bucket_of) => Routing::ByRow(bucket_of),
            None => Routing::AtRandom(Box::new(generator())),
        },
        withheld: &withheld,
        shares: &shares,
        rng: generator(),
        stage: vec![Vec::new(); bucket_count],
        codes: Vec::new(),
        published: 0,
        suppressed: 0,
        progress,
    };
    let silent = incrowd_core::Silent;
    let reset = || {
        buckets.iter().for_each(|b| *b.lock().expect("no worker is left") = Bucket::default());
        shares.reset(plan);
        withheld.reset();
    };
    let mut scan = source.scan(&wanted, worker, &silent, reset)?;
    let (mut written, mut suppressed) = (0, 0);
    for worker in &mut scan.workers {
        written += worker.published;
        suppressed += worker.suppressed;
        for bucket in 0..bucket_count {
            worker.hand_in(bucket).map_err(|says| Error::resources(format!("a record{says}")))?;
        }
    }
    drop(scan);
    if !withheld.complete() {
        return Err(Error::input("the input changed while it was read"));
    }
    let cells = Cells::new(plan, output, renderer);
    let mut rng = generator();
    while_writing(sink, &Spare::default(), |send| {
        for bucket in buckets {
            let bucket = bucket.into_inner().expect("no worker is left");
            let bytes = bucket.into_bytes().map_err(|e| write_failed(directory, &e))?;
            let mut starts = starts(&bytes, header, count);
            match &ranks {
                None => starts.shuffle(&mut rng),
                Some(ranks) => sort(&mut starts, &bytes, ranks, header, count),
            }
            for block in starts.chunks(BLOCK) {
                let rows = Loaded::new(&cells, &bytes, block, header, &carried, count);
                send(renderer.render(&rows)?)?;
                if let Some(persons) = &mut persons {
                    let own: Vec<u32> =
                        block.iter().map(|&start| number(&bytes, start + header - 4)).collect();
                    persons.add(&own)?;
                }
            }
        }
        Ok(())
    })?;
    Ok((written, suppressed))
}

fn starts(bytes: &[u8], header: usize, carried: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        starts.push(at);
        at = end(bytes, at, header, carried);
    }
    starts
}

fn end(bytes: &[u8], start: usize, header: usize, carried: usize) -> usize {
    (0..carried).fold(start + header, |at, _| at + 4 + length(bytes, at).unwrap_or(0))
}

/// By rank of the row, then by what is carried, so that nothing of the input order is left, nor of whose records they are.
fn sort(starts: &mut [usize], bytes: &[u8], ranks: &[u32], header: usize, carried: usize) {
    let key = |&start: &usize| {
        (ranks[number(bytes, start) as usize], &bytes[start + header..end(bytes, start, header, carried)])
    };
    starts.sort_by(|a, b| key(a).cmp(&key(b)));
}

/// Buckets of about as many records each, in the order of the ranks.
fn even_buckets(ranks: &[u32], records: &[u64], buckets: usize) -> Vec<u32> {
    let highest = ranks.iter().max().map_or(0, |&r| r as usize + 1);
    let mut by_rank = vec![0u64; highest];
    ranks.iter().zip(records).for_each(|(&rank, &n)| by_rank[rank as usize] += n);
    let total: u64 = records.iter().sum();
    let mut before = 0;
    let bucket_of_rank: Vec<u32> = by_rank
        .iter()
        .map(|n| {
            let bucket = before * buckets as u64 / total.max(1);
            before += n;
            (bucket as u32).min(buckets as u32 - 1)
        })
        .collect();
    ranks.iter().map(|&rank| bucket_of_rank[rank as usize]).collect()
}
