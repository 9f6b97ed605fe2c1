//! Writing a release from the plan alone: without carried columns every record of a row looks the same, so the records need
//! not be read again.

use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};

use incrowd_core::{GroupId, Plan, Progress, Result};
use rayon::prelude::*;

use crate::cells::{Cells, NO_TEXT, Texts, published, ranks};
use crate::group_cells::GroupCells;
use crate::lines::Lines;
use crate::looks::Packing;
use crate::order::{Look, Shuffled, Sorted, generator, shuffle};
use crate::private_stream::PrivateStream;
use crate::sink::{Block, Renderer, Rows, Sink};
use crate::{Content, Order, Output};

/// Buckets that are shuffled at once.
const WINDOW: usize = 32;

/// Text that is rendered at once, about, and text that waits for the disk: so little that it is still at hand when it is written.
const TEXT: usize = 4 << 20;
const WAITING: usize = 2 * TEXT;

/// Text of a piece that one thread renders, about.
const PIECE: usize = 1 << 18;

/// Records as numbers: of each its group, then the codes of its sensitive values. The group's cells are all that must be
/// looked for elsewhere.
struct Bucket<'a> {
    cells: &'a Cells<'a>,
    of_groups: &'a GroupCells,
    looks: &'a [u32],
    width: usize,
}

impl Rows for Bucket<'_> {
    type Row = (u32, GroupId);

    fn len(&self) -> usize {
        self.looks.len() / self.width
    }

    #[inline]
    fn row(&self, index: usize) -> Self::Row {
        let at = index * self.width;
        (at as u32 + 1, GroupId(self.looks[at]))
    }

    #[inline]
    fn cell(&self, row: Self::Row, column: usize) -> Option<&[u8]> {
        self.cells.columns[column].1.get(self.code(row, column))
    }

    fn texts(&self, column: usize) -> Option<&Arc<Texts>> {
        self.cells.texts(column)
    }

    #[inline]
    fn code(&self, (at, group): Self::Row, column: usize) -> u32 {
        match self.cells.columns[column].0 {
            Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                self.cells.plan.cells(group)[q]
            }
            Content::Mean(_) => group.0,
            Content::Sensitive(s) | Content::Category(s) => self.looks[at as usize + s],
            Content::OfGroup => group.0,
            Content::Carried => NO_TEXT,
        }
    }

    fn codes(&self, rows: &[Self::Row], column: usize, out: &mut Vec<u32>) {
        // What a column holds is asked once and not for each row.
        match self.cells.columns[column].0 {
            Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
                self.of_groups.extend(q, rows.iter().map(|(_, group)| *group), out);
            }
            Content::Sensitive(s) | Content::Category(s) => {
                out.extend(rows.iter().map(|(at, _)| self.looks[*at as usize + s]));
            }
            Content::Mean(_) | Content::OfGroup => out.extend(rows.iter().map(|(_, group)| group.0)),
            Content::Carried => out.extend(rows.iter().map(|_| NO_TEXT)),
        }
    }
}

/// Writes all published records; returns how many.
pub(crate) fn emit(
    plan: &Plan<'_>,
    output: &Output,
    renderer: &Renderer,
    sink: Sink,
    persons: Option<&mut PrivateStream>,
    progress: &dyn Progress,
) -> Result<u64> {
    let cells = Cells::new(plan, output, renderer);
    match renderer {
        Renderer::Text { .. } => {
            let lines = Lines::new(&cells, &renderer.marks());
            let render = |looks: &[u32], room| Ok(Block::Text(lines.render(looks, room)));
            let look = |row: usize, out: &mut Vec<u32>| lines.look(row, out);
            let length = lines.mean_length();
            let looks = Looks { highest: lines.highest(), length, look: &look, render: &render };
            write_all(plan, output.order, &looks, sink, persons, progress)
        }
        Renderer::Arrow(_) | Renderer::Parquet(_) => {
            let width = 1 + plan.dataset().sensitive().len();
            let of_groups = GroupCells::new(plan.all_cells(), plan.dataset().quasi().len());
            let render = |looks: &[u32], _| {
                renderer.render(&Bucket { cells: &cells, of_groups: &of_groups, looks, width })
            };
            let look = |row: usize, out: &mut Vec<u32>| {
                out.push(cells.row(row as u32).1.0);
                out.extend_from_slice(plan.dataset().sensitive_codes(row));
            };
            // Texts are written once and then as numbers, however long they are.
            let groups = plan.partition().groups().saturating_sub(1) as u32;
            let values = plan.dataset().sensitive().iter().map(|column| column.values.len() as u32);
            let highest = std::iter::once(groups).chain(values).collect();
            let looks = Looks { highest, length: 0, look: &look, render: &render };
            write_all(plan, output.order, &looks, sink, persons, progress)
        }
    }
}

/// How records become numbers, and numbers what is written.
struct Looks<'a> {
    /// The highest of each number that a record has.
    highest: Vec<u32>,
    /// How many bytes a record will have in the mean.
    length: usize,
    look: &'a (dyn Fn(usize, &mut Vec<u32>) + Sync),
    render: Render<'a>,
}

/// Makes a block of numbers; there may be room for it in a text that was written already.
type Render<'a> = &'a (dyn Fn(&[u32], Vec<u8>) -> Result<Block> + Sync);

/// Brings the records in order, bucket by bucket, and renders the buckets on all threads. If somebody is to be told whose records
/// they are, each record's person goes through the order with it, and is taken off before rendering.
fn write_all(
    plan: &Plan<'_>,
    order: Order,
    looks: &Looks<'_>,
    sink: Sink,
    mut told: Option<&mut PrivateStream>,
    progress: &dyn Progress,
) -> Result<u64> {
    let (persons, following) = (plan.dataset().persons().filter(|_| told.is_some()), told.is_some());
    let mut highest = looks.highest.clone();
    let shown = highest.len();
    if following {
        highest.push(u32::MAX);
    }
    // While records are brought in order, each is one or two words if its numbers fit.
    let packing = Packing::new(&highest);
    let own = |row: usize, nth: u64, out: &mut Vec<u32>| {
        let start = out.len();
        (looks.look)(row, out);
        match persons {
            Some(persons) => out.push(persons.person(persons.of_row(row)[nth as usize])),
            None if following => out.push(row as u32),
            None => {}
        }
        packing.pack(out, start);
    };
    let look: Look<'_> = &own;
    // Long lines are rendered in smaller pieces, and fewer of them at once.
    let length = looks.length.max(1);
    let piece = (PIECE / length).max(1) * shown;
    let at_once = (TEXT / PIECE).max(1);
    let records = published(plan);
    let (mut shuffled, mut sorted) = (None, None);
    match order {
        Order::Shuffled => shuffled = Some(Shuffled::new(records, look, packing.words(), generator())),
        Order::Sorted => {
            let ranks = ranks(plan);
            let kept = records.iter().enumerate().filter(|(_, n)| **n > 0);
            let mut rows: Vec<(u32, u64)> = kept.map(|(row, &n)| (row as u32, n)).collect();
            rows.sort_by_key(|&(row, _)| ranks[row as usize]);
            sorted = Some(Sorted::new(rows, look));
        }
    }
    let mut next = || match (&mut shuffled, &mut sorted) {
        (Some(buckets), _) => {
            let rng = buckets.fork();
            buckets.next().map(|looks| (looks, Some(rng)))
        }
        (_, Some(buckets)) => buckets.next().map(|looks| (vec![looks], None)),
        _ => None,
    };
    let mut published = 0;
    let spare = Spare::default();
    while_writing(sink, &spare, |send| {
        loop {
            let window: Vec<_> = std::iter::from_fn(&mut next).take(WINDOW).collect();
            if window.is_empty() {
                return Ok(());
            }
            let words: usize = window.iter().flat_map(|(parts, _)| parts).map(Vec::len).sum();
            let records = (words / packing.words()) as u64;
            let shuffled = window.into_par_iter().map(|(parts, rng)| {
                let mut looks = parts.concat();
                drop(parts);
                if let Some(mut rng) = rng {
                    shuffle(&mut looks, packing.words(), &mut rng);
                }
                let mut looks = packing.unpacked(looks);
                let own: Vec<u32> = if following { take_last(&mut looks, shown) } else { Vec::new() };
                (looks, own)
            });
            let shuffled: Vec<(Vec<u32>, Vec<u32>)> = shuffled.collect();
            let pieces: Vec<&[u32]> = shuffled.iter().flat_map(|(looks, _)| looks.chunks(piece)).collect();
            for pieces in pieces.chunks(at_once) {
                let blocks = pieces.par_iter().map(|piece| (looks.render)(piece, spare.take()));
                for block in blocks.collect::<Vec<Result<Block>>>() {
                    send(block?)?;
                }
            }
            if let Some(told) = &mut told {
                shuffled.iter().try_for_each(|(_, own)| told.add(own))?;
            }
            published += records;
            progress.advance(records);
        }
    })?;
    Ok(published)
}

/// Takes the last number off each look, of which `shown` others are left.
fn take_last(looks: &mut Vec<u32>, shown: usize) -> Vec<u32> {
    let records = looks.len() / (shown + 1);
    let last = (0..records).map(|record| looks[record * (shown + 1) + shown]).collect();
    for record in 0..records {
        looks.copy_within(record * (shown + 1)..record * (shown + 1) + shown, record * shown);
    }
    looks.truncate(records * shown);
    last
}

/// Runs `produce` while another thread writes what it sends. Whoever produces waits while much text is not written yet.
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
            // A closed channel means that the writer failed; its own error says why.
            sender.send(block).map_err(|_| incrowd_core::Error::resources("writing stopped"))
        });
        drop(sender);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(produced)
    })
}

/// Texts that were written: there is room for others in them, which need not be asked of the system again.
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(written);
    }
}

/// How many bytes wait to be written.
#[derive(Default)]
struct Waiting {
    bytes: Mutex<usize>,
    written: Condvar,
}

impl Waiting {
    /// Waits until there is room, and takes it. A block that is larger than all the room goes alone.
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

/// Whoever waits for a writer that is gone would wait for ever.
struct Gone<'a>(&'a Waiting);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.less(usize::MAX);
    }
}
