//! Writes a release. Records are put in their published order as a few numbers each. All threads
//! render them, and one thread writes.

use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};

use incrowd_core::{GroupId, Plan, Progress, Result};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::cells::{Cells, NO_TEXT, Passthrough, Texts, published, ranks};
use crate::group_cells::GroupCells;
use crate::lines::Lines;
use crate::order::{self, Shuffled, Sorted, generator, shuffle};
use crate::packing::Packing;
use crate::sink::{Block, Renderer, Rows, Sink};
use crate::table::assign::RecordsByRow;
use crate::table::{CodedTable, StoredCell, StoredCells};
use crate::written_numbers::WrittenNumbers;
use crate::{Content, Order, Output};

/// The number of buckets that are shuffled in parallel.
const WINDOW: usize = 32;

/// The approximate number of bytes that are rendered in parallel, and the maximum number of bytes
/// that wait to be written. Both are small, so that the text is still in the processor's cache when
/// it is written.
const TEXT: usize = 4 << 20;
const WAITING: usize = 2 * TEXT;

/// The approximate number of bytes that one thread renders at a time.
const PIECE: usize = 1 << 18;

/// Records of a typed format, as numbers: the group, the codes of the sensitive values, and the
/// record's id if there are passthrough columns.
struct NumberedRecords<'a> {
    cells: &'a Cells<'a>,
    of_groups: &'a GroupCells,
    stored: Option<&'a StoredCells<'a>>,
    numbers: &'a [u32],
    width: usize,
}

impl NumberedRecords<'_> {
    /// The id of the record whose numbers after the group begin at `at`.
    fn id(&self, at: u32) -> u32 {
        self.numbers[at as usize + self.width - 2]
    }

    fn stored(&self, at: u32, column: usize) -> StoredCell<'_> {
        match self.stored.zip(self.cells.stored[column]) {
            Some((stored, column)) => stored.get(self.id(at), column),
            None => StoredCell::Null,
        }
    }

    fn stored_code(&self, at: u32, column: usize) -> u32 {
        match self.stored(at, column) {
            StoredCell::Code(code) => code,
            StoredCell::Text(_) | StoredCell::Null => NO_TEXT,
        }
    }
}

impl Rows for NumberedRecords<'_> {
    type Row = (u32, GroupId);

    fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    #[inline]
    fn row(&self, index: usize) -> Self::Row {
        let at = index * self.width;
        (at as u32 + 1, GroupId(self.numbers[at]))
    }

    #[inline]
    fn cell(&self, (at, group): Self::Row, column: usize) -> Option<&[u8]> {
        let texts = &self.cells.columns[column].1;
        match self.cells.columns[column].0 {
            Content::Sensitive(s) | Content::Category(s) => {
                texts.get(self.numbers[at as usize + s])
            }
            Content::Passthrough => {
                let (stored, column) = self.stored.zip(self.cells.stored[column])?;
                stored.text(self.id(at), column)
            }
            _ => self.cells.of_group(group, column),
        }
    }

    fn texts(&self, column: usize) -> Option<&Arc<Texts>> {
        self.cells.texts(column)
    }

    fn codes(&self, rows: &[Self::Row], column: usize, out: &mut Vec<u32>) {
        match self.cells.columns[column].0 {
            Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                self.of_groups.extend(q, rows.iter().map(|(_, group)| *group), out);
            }
            Content::Sensitive(s) | Content::Category(s) => {
                out.extend(rows.iter().map(|(at, _)| self.numbers[*at as usize + s]));
            }
            Content::Mean(_) | Content::OfGroup => {
                out.extend(rows.iter().map(|(_, group)| group.0))
            }
            Content::Passthrough => {
                out.extend(rows.iter().map(|(at, _)| self.stored_code(*at, column)));
            }
        }
    }
}

/// Writes all published records and returns their number. `records` has the passthrough columns, if
/// there are any. The person or the row of each written record is appended to `followed`.
pub(crate) fn emit(
    plan: &Plan<'_>,
    output: &Output,
    renderer: &Renderer,
    sink: Sink,
    records: Option<&CodedTable>,
    followed: Option<&mut WrittenNumbers>,
    progress: &dyn Progress,
) -> Result<u64> {
    let assigned = records
        .map(|records| Ok(Passthrough { records, by_row: RecordsByRow::new(records, plan)? }));
    let passthrough: Option<Passthrough<'_>> = assigned.transpose()?;
    let passthrough = passthrough.as_ref();
    let cells = Cells::new(plan, output, renderer, passthrough);
    let stored_length = records.map_or(0, CodedTable::mean_length);
    match renderer {
        Renderer::Text { .. } => {
            let lines = Lines::new(&cells, renderer);
            let render = |numbers: &[u32], stored: Option<&StoredCells<'_>>, room: Vec<u8>| {
                Ok(Block::Text(lines.render(numbers, stored, room)))
            };
            let description = Description {
                highest: lines.highest(),
                length: lines.mean_length() + stored_length,
                describe: &|row, out| lines.describe(row, out),
                render: &render,
            };
            let job = Job { plan, order: output.order, passthrough, description: &description };
            job.write(sink, followed, progress)
        }
        Renderer::Arrow(_) | Renderer::Parquet(_) => {
            let width = 1 + plan.dataset().sensitive().len() + usize::from(passthrough.is_some());
            let of_groups = GroupCells::new(plan.all_cells(), plan.dataset().quasi().len());
            let render = |numbers: &[u32], stored: Option<&StoredCells<'_>>, _: Vec<u8>| {
                let of_groups = &of_groups;
                renderer.render(&NumberedRecords {
                    cells: &cells,
                    of_groups,
                    stored,
                    numbers,
                    width,
                })
            };
            let groups = plan.partition().groups().saturating_sub(1) as u32;
            let values = plan.dataset().sensitive().iter().map(|column| column.values.len() as u32);
            let description = Description {
                highest: std::iter::once(groups).chain(values).collect(),
                // Only stored cells are counted. Other texts are written once, and then as
                // dictionary indices.
                length: stored_length,
                describe: &|row, out| {
                    out.push(cells.row(row as u32).1.0);
                    out.extend_from_slice(plan.dataset().sensitive_codes(row));
                },
                render: &render,
            };
            let job = Job { plan, order: output.order, passthrough, description: &description };
            job.write(sink, followed, progress)
        }
    }
}

/// Functions that describe rows as numbers and render these numbers.
struct Description<'a> {
    /// The maximum of each number of a row.
    highest: Vec<u32>,
    /// The mean size of a record in bytes.
    length: usize,
    describe: &'a (dyn Fn(usize, &mut Vec<u32>) + Sync),
    render: Render<'a>,
}

/// Renders a block from the numbers of records and their stored cells. The buffer is reused.
type Render<'a> = &'a (dyn Fn(&[u32], Option<&StoredCells<'_>>, Vec<u8>) -> Result<Block> + Sync);

/// The inputs of writing a table.
struct Job<'a> {
    plan: &'a Plan<'a>,
    order: Order,
    passthrough: Option<&'a Passthrough<'a>>,
    description: &'a Description<'a>,
}

/// Buckets of packed records in the order of writing. A bucket that must be shuffled first has a
/// generator.
type Buckets = Vec<(order::Bucket, Option<ChaCha20Rng>)>;

/// The numbers of a record after those of its row.
struct Tail<'a> {
    /// Provides the record's id, if there are passthrough columns.
    by_row: Option<&'a RecordsByRow>,
    /// Whether the record's person or row follows.
    is_followed: bool,
}

impl Job<'_> {
    /// The number of a record for verification: its person, or its row if records have sampling
    /// weights.
    fn followed(&self, row: usize, nth: u64) -> u32 {
        let Some(persons) = self.plan.dataset().persons() else { return row as u32 };
        // With passthrough columns, the person must be that of the very record whose cells are
        // published.
        let own = self
            .passthrough
            .and_then(|own| own.records.person(own.by_row.of_row(row)[nth as usize]));
        own.unwrap_or_else(|| persons.person(persons.of_row(row)[nth as usize]))
    }

    /// Puts the records in order and renders them bucket by bucket.
    fn write(
        &self,
        sink: Sink,
        mut followed: Option<&mut WrittenNumbers>,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let by_row = self.passthrough.map(|own| &own.by_row);
        let tail = Tail { by_row, is_followed: followed.is_some() };
        let mut highest = self.description.highest.clone();
        let id_position = highest.len();
        highest.extend(by_row.map(|_| u32::MAX));
        let rendered = highest.len();
        highest.extend(tail.is_followed.then_some(u32::MAX));
        // During ordering, a record takes one or two words if its numbers fit.
        let packing = Packing::new(&highest);
        let describe = |row: usize, nth: u64, out: &mut Vec<u32>| {
            let start = out.len();
            (self.description.describe)(row, out);
            if let Some(by_row) = tail.by_row {
                out.push(by_row.of_row(row)[nth as usize]);
            }
            if tail.is_followed {
                out.push(self.followed(row, nth));
            }
            packing.pack(out, start);
        };
        let mut order = InOrder::new(self, &describe, packing.words());
        let ids = |buckets: &Buckets| -> Vec<u32> {
            let parts = buckets.iter().flat_map(|(parts, _)| parts);
            let records = parts.flat_map(|part| part.chunks_exact(packing.words()));
            records.map(|record| packing.number(record, id_position)).collect()
        };
        // Long records are rendered in smaller pieces.
        let piece = (PIECE / self.description.length.max(1)).max(1) * rendered;
        let at_once = (TEXT / PIECE).max(1);
        let mut written = 0;
        let spare = Spare::default();
        while_writing(sink, &spare, |send| {
            while let Some(buckets) = order.next_walk(&describe)? {
                let stored = self.passthrough.map(|own| own.records.cells(|| ids(&buckets)));
                let stored = stored.transpose()?;
                let mut buckets = buckets.into_iter();
                loop {
                    let window: Buckets = buckets.by_ref().take(WINDOW).collect();
                    if window.is_empty() {
                        break;
                    }
                    let words: usize =
                        window.iter().flat_map(|(parts, _)| parts).map(Vec::len).sum();
                    let records = (words / packing.words()) as u64;
                    let left = tail.is_followed.then_some(rendered);
                    let ordered = in_published_order(window, &packing, left);
                    let pieces: Vec<&[u32]> =
                        ordered.iter().flat_map(|(numbers, _)| numbers.chunks(piece)).collect();
                    for pieces in pieces.chunks(at_once) {
                        let render = |piece: &&[u32]| {
                            (self.description.render)(piece, stored.as_ref(), spare.take())
                        };
                        let blocks: Vec<Result<Block>> = pieces.par_iter().map(render).collect();
                        for block in blocks {
                            send(block?)?;
                        }
                    }
                    if let Some(followed) = &mut followed {
                        ordered.iter().try_for_each(|(_, own)| followed.add(own))?;
                    }
                    written += records;
                    progress.advance(records);
                }
            }
            Ok(())
        })?;
        Ok(written)
    }
}

/// The records of a plan in their published order. They are produced in portions of bounded size.
enum InOrder<'a> {
    Shuffled(Box<Shuffled<'a>>),
    Sorted { rows: Sorted, ranks: Vec<u32>, passthrough: Option<&'a Passthrough<'a>> },
}

impl<'a> InOrder<'a> {
    fn new(job: &Job<'a>, describe: order::Describe<'a>, words: usize) -> InOrder<'a> {
        let records = published(job.plan);
        match job.order {
            Order::Shuffled => {
                let walks = job.passthrough.map_or(1, |own| own.records.walks());
                let rng = generator();
                InOrder::Shuffled(Box::new(Shuffled::new(records, describe, words, walks, rng)))
            }
            Order::Sorted => {
                let ranks = ranks(job.plan);
                let kept = records.iter().enumerate().filter(|(_, n)| **n > 0);
                let mut rows: Vec<(u32, u64)> = kept.map(|(row, &n)| (row as u32, n)).collect();
                rows.sort_by_key(|&(row, _)| ranks[row as usize]);
                let passthrough = job.passthrough;
                InOrder::Sorted { rows: Sorted::new(rows), ranks, passthrough }
            }
        }
    }

    fn next_walk(&mut self, describe: order::Describe<'_>) -> Result<Option<Buckets>> {
        let (rows, ranks, passthrough) = match self {
            InOrder::Shuffled(shuffled) => {
                let Some(buckets) = shuffled.next_walk() else { return Ok(None) };
                let mut with_generator = |bucket| (bucket, Some(shuffled.fork()));
                return Ok(Some(buckets.into_iter().map(&mut with_generator).collect()));
            }
            InOrder::Sorted { rows, ranks, passthrough } => (rows, ranks, passthrough),
        };
        let bucket = |records: &[(u32, u64)]| {
            let mut bucket = Vec::new();
            records.iter().for_each(|&(row, nth)| describe(row as usize, nth, &mut bucket));
            (vec![bucket], None)
        };
        let Some(own) = passthrough else {
            let stretch = rows.next_stretch(SORTED, |_, _| false);
            return Ok(stretch
                .map(|records| records.par_chunks(order::BUCKET as usize).map(bucket).collect()));
        };
        let most = match own.records.spilled_bytes_per_record() {
            0 => u64::MAX,
            bytes => (own.records.limit() / bytes).max(1),
        };
        let same = |a: u32, b: u32| ranks[a as usize] == ranks[b as usize];
        let Some(mut records) = rows.next_stretch(most, same) else { return Ok(None) };
        // Sorted by the published cells, then by the passthrough cells, so that the order of the
        // input has no influence.
        let id = |&(row, nth): &(u32, u64)| own.by_row.of_row(row as usize)[nth as usize];
        let stored = own.records.cells(|| records.iter().map(id).collect())?;
        records.par_sort_by(|a, b| {
            let by_rank = ranks[a.0 as usize].cmp(&ranks[b.0 as usize]);
            by_rank.then_with(|| stored.texts(id(a)).cmp(stored.texts(id(b))))
        });
        Ok(Some(records.par_chunks(order::BUCKET as usize).map(bucket).collect()))
    }
}

/// The number of records that are sorted at once if no cells must be loaded for them.
const SORTED: u64 = WINDOW as u64 * order::BUCKET;

/// Shuffles the buckets that need it, and unpacks their records. If `left` is set, records keep
/// that many numbers, and the last one of each record is returned separately.
fn in_published_order(
    buckets: Buckets,
    packing: &Packing,
    left: Option<usize>,
) -> Vec<(Vec<u32>, Vec<u32>)> {
    let ordered = buckets.into_par_iter().map(|(parts, rng)| {
        let mut numbers = parts.concat();
        drop(parts);
        if let Some(mut rng) = rng {
            shuffle(&mut numbers, packing.words(), &mut rng);
        }
        let mut numbers = packing.unpacked(numbers);
        let last = left.map(|left| take_last(&mut numbers, left)).unwrap_or_default();
        (numbers, last)
    });
    ordered.collect()
}

/// Removes the last number of each record and returns these numbers. Each record keeps `left`
/// numbers.
fn take_last(numbers: &mut Vec<u32>, left: usize) -> Vec<u32> {
    let records = numbers.len() / (left + 1);
    let last = (0..records).map(|record| numbers[record * (left + 1) + left]).collect();
    for record in 0..records {
        numbers.copy_within(record * (left + 1)..record * (left + 1) + left, record * left);
    }
    numbers.truncate(records * left);
    last
}

/// Runs `produce` while another thread writes the blocks it sends. Sending waits while too many
/// bytes are unwritten.
pub(crate) fn while_writing(
    mut sink: Sink,
    spare: &Spare,
    produce: impl FnOnce(&mut dyn FnMut(Block) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let waiting = Waiting::default();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<Block>(WINDOW);
        let waiting = &waiting;
        let writer = scope.spawn(move || -> Result<()> {
            let _gone = Gone(waiting);
            for block in receiver {
                let bytes = block.text();
                spare.give(sink.write(block)?);
                waiting.less(bytes);
            }
            sink.finish()
        });
        let produced = produce(&mut |block| {
            waiting.more(block.text());
            // A closed channel means that the writer failed. The writer returns the cause.
            sender.send(block).map_err(|_| incrowd_core::Error::resources("writing stopped"))
        });
        drop(sender);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(produced)
    })
}

/// Most buffers that are kept for use again.
const MOST_SPARE: usize = WINDOW;

/// Buffers of written blocks, for reuse without a new allocation.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give(&self, written: Vec<u8>) {
        if written.capacity() == 0 {
            return;
        }
        // Not every producer reuses buffers. Without a limit, they would accumulate.
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(written);
        }
    }
}

/// The number of bytes that wait to be written.
#[derive(Default)]
struct Waiting {
    bytes: Mutex<usize>,
    written: Condvar,
}

impl Waiting {
    /// Waits until `bytes` fit below the limit, and adds them. A block above the limit waits until
    /// nothing else is waiting.
    fn more(&self, bytes: usize) {
        let waiting = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |waiting: &mut usize| *waiting > 0 && *waiting + bytes > WAITING;
        *self.written.wait_while(waiting, full).unwrap_or_else(PoisonError::into_inner) += bytes;
    }

    fn less(&self, bytes: usize) {
        let mut waiting = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(bytes);
        self.written.notify_one();
    }
}

/// Wakes up producers when the writer ends, also after an error. Without it they would wait for
/// ever.
struct Gone<'a>(&'a Waiting);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.less(usize::MAX);
    }
}
