//! Writing a release from the plan alone: without carried columns every record of a row looks the same, so the records need
//! not be read again.

use std::sync::{Arc, mpsc};

use incrowd_core::{GroupId, Plan, Progress, Result};
use rayon::prelude::*;

use crate::cells::{Cells, NO_TEXT, Texts, published, ranks};
use crate::lines::Lines;
use crate::order::{Look, Shuffled, Sorted, generator, shuffle};
use crate::private_stream::PrivateStream;
use crate::sink::{Block, Renderer, Rows, Sink};
use crate::{Content, Order, Output};

/// Blocks that are rendered at once.
const WINDOW: usize = 32;

/// Records as numbers: of each its group, then the codes of its sensitive values. The group's cells are all that must be
/// looked for elsewhere.
struct Bucket<'a> {
    cells: &'a Cells<'a>,
    looks: Vec<u32>,
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
            Content::Carried => NO_TEXT,
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
        Renderer::Text { delimiter, .. } => {
            let lines = Lines::new(&cells, *delimiter);
            let render = |looks: Vec<u32>| Ok(Block::Text(lines.render(&looks)));
            let look = |row: usize, out: &mut Vec<u32>| lines.look(row, out);
            write_all(plan, output.order, lines.width(), &look, &render, sink, persons, progress)
        }
        Renderer::Arrow(_) | Renderer::Parquet(_) => {
            let width = 1 + plan.dataset().sensitive().len();
            let render = |looks: Vec<u32>| renderer.render(&Bucket { cells: &cells, looks, width });
            let look = |row: usize, out: &mut Vec<u32>| {
                out.push(cells.row(row as u32).1.0);
                out.extend_from_slice(plan.dataset().sensitive_codes(row));
            };
            write_all(plan, output.order, width, &look, &render, sink, persons, progress)
        }
    }
}

/// Brings the records in order, bucket by bucket, and renders the buckets on all threads. If somebody is to be told whose records
/// they are, each record's person goes through the order with it, and is taken off before rendering.
#[expect(clippy::too_many_arguments, reason = "all of it is the state of one table")]
fn write_all(
    plan: &Plan<'_>,
    order: Order,
    width: usize,
    look_of_row: &(dyn Fn(usize, &mut Vec<u32>) + Sync),
    render: &(dyn Fn(Vec<u32>) -> Result<Block> + Sync),
    sink: Sink,
    mut told: Option<&mut PrivateStream>,
    progress: &dyn Progress,
) -> Result<u64> {
    let persons = plan.dataset().persons().filter(|_| told.is_some());
    let own = |row: usize, nth: u64, out: &mut Vec<u32>| {
        look_of_row(row, out);
        if let Some(persons) = persons {
            out.push(persons.person(persons.of_row(row)[nth as usize]));
        }
    };
    let look: Look<'_> = &own;
    let shown = width;
    let width = width + usize::from(persons.is_some());
    let records = published(plan);
    let (mut shuffled, mut sorted) = (None, None);
    match order {
        Order::Shuffled => shuffled = Some(Shuffled::new(records, look, generator())),
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
        (_, Some(buckets)) => buckets.next().map(|looks| (looks, None)),
        _ => None,
    };
    let mut published = 0;
    while_writing(sink, |send| {
        loop {
            let window: Vec<_> = std::iter::from_fn(&mut next).take(WINDOW).collect();
            if window.is_empty() {
                return Ok(());
            }
            let records: u64 = window.iter().map(|(looks, _)| (looks.len() / width) as u64).sum();
            let blocks = window.into_par_iter().map(|(mut looks, rng)| {
                if let Some(mut rng) = rng {
                    shuffle(&mut looks, width, &mut rng);
                }
                let own: Vec<u32> = if persons.is_some() { take_last(&mut looks, shown) } else { Vec::new() };
                render(looks).map(|block| (block, own))
            });
            for block in blocks.collect::<Vec<Result<(Block, Vec<u32>)>>>() {
                let (block, own) = block?;
                send(block)?;
                if let Some(told) = &mut told {
                    told.add(&own)?;
                }
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

/// Runs `produce` while another thread writes what it sends.
pub(crate) fn while_writing(
    mut sink: Sink,
    produce: impl FnOnce(&mut dyn FnMut(Block) -> Result<()>) -> Result<()>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel::<Block>(WINDOW);
        let writer = scope.spawn(move || -> Result<()> {
            for block in receiver {
                sink.write(block)?;
            }
            sink.finish()
        });
        let produced = produce(&mut |block| {
            // A closed channel means that the writer failed; its own error says why.
            sender.send(block).map_err(|_| incrowd_core::Error::resources("writing stopped"))
        });
        drop(sender);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(produced)
    })
}
