//! Writing a release from the plan alone: without carried columns every record of a row looks the same, so the records need
//! not be read again.

use std::sync::mpsc;

use incrowd_core::{GroupId, Plan, Progress, Result};
use rayon::prelude::*;

use crate::order::{Look, Shuffled, Sorted, generator, shuffle};
use crate::sink::{Block, Renderer, Rows, Sink};
use crate::{Content, Order, Output};

/// Blocks that are rendered at once.
const WINDOW: usize = 32;

/// Lines whose groups are touched before they are written.
const TOUCHED: usize = 64;

/// Texts of a column in the spelling of the sink.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    null: Option<u32>,
}

impl Texts {
    #[inline]
    fn get(&self, index: u32) -> Option<&[u8]> {
        if self.null == Some(index) {
            return None;
        }
        let i = index as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        Some(&self.bytes[start..self.ends[i] as usize])
    }

    fn new<'a>(texts: impl Iterator<Item = &'a str>, renderer: &Renderer) -> Texts {
        let mut all = Texts::default();
        for text in texts {
            renderer.spell(text.as_bytes(), &mut all.bytes);
            all.ends.push(all.bytes.len() as u32);
        }
        all
    }
}

/// The cells of published columns that follow from a row's number.
pub(crate) struct Cells<'a> {
    plan: &'a Plan<'a>,
    columns: Vec<(Content, Texts)>,
}

impl<'a> Cells<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>, output: &Output, renderer: &Renderer) -> Cells<'a> {
        let columns = output.columns.iter().map(|(_, content)| {
            let texts = match *content {
                Content::Quasi(q) => Texts::new(plan.labels(q).iter().map(String::as_str), renderer),
                Content::Sensitive(s) => {
                    let column = &plan.dataset().sensitive()[s];
                    let shown = column.values.iter().enumerate().map(|(code, value)| {
                        if column.missing == Some(code as u32) {
                            output.missing.as_str()
                        } else {
                            value.as_str()
                        }
                    });
                    let mut texts = Texts::new(shown, renderer);
                    texts.null = column.missing.filter(|_| renderer.has_null());
                    texts
                }
                Content::Carried => Texts::default(),
            };
            (*content, texts)
        });
        Cells { plan, columns: columns.collect() }
    }

    /// The cell of a column that is not carried.
    #[inline]
    pub(crate) fn cell(&self, (row, group): (u32, GroupId), column: usize) -> Option<&[u8]> {
        let (content, texts) = &self.columns[column];
        match *content {
            Content::Quasi(q) => texts.get(self.plan.cells(group)[q]),
            Content::Sensitive(s) => texts.get(self.plan.dataset().sensitive_codes(row as usize)[s]),
            Content::Carried => None,
        }
    }

    /// A row with its group; rows asked for are published, so they have one.
    #[inline]
    pub(crate) fn row(&self, row: u32) -> (u32, GroupId) {
        (row, self.plan.partition().group(row as usize).unwrap_or(GroupId(0)))
    }
}

/// Published lines of text, put together from what is the same for a whole group and the sensitive values between.
struct Lines<'a> {
    cells: &'a Cells<'a>,
    /// For each group the text before, between and after the sensitive columns, delimiters included.
    segments: Vec<u8>,
    /// Where each segment ends.
    ends: Vec<u64>,
    /// The published positions of the sensitive columns, and their positions among the sensitive ones.
    sensitive: Vec<(usize, usize)>,
}

impl<'a> Lines<'a> {
    fn new(cells: &'a Cells<'a>, delimiter: u8) -> Lines<'a> {
        let mut lines = Lines { cells, segments: Vec::new(), ends: Vec::new(), sensitive: Vec::new() };
        for (column, (content, _)) in cells.columns.iter().enumerate() {
            if let Content::Sensitive(s) = *content {
                lines.sensitive.push((column, s));
            }
        }
        for group in 0..cells.plan.partition().groups() {
            for (column, (content, _)) in cells.columns.iter().enumerate() {
                if column > 0 {
                    lines.segments.push(delimiter);
                }
                if let Content::Sensitive(_) = content {
                    lines.ends.push(lines.segments.len() as u64);
                } else {
                    let cell = cells.cell((0, GroupId(group as u32)), column).unwrap_or_default();
                    lines.segments.extend_from_slice(cell);
                }
            }
            lines.segments.push(b'\n');
            lines.ends.push(lines.segments.len() as u64);
        }
        lines
    }

    /// What must be known of a row to write its line.
    fn look(&self, row: usize, out: &mut Vec<u32>) {
        out.push(self.cells.row(row as u32).1.0);
        let codes = self.cells.plan.dataset().sensitive_codes(row);
        out.extend(self.sensitive.iter().map(|&(_, s)| codes[s]));
    }

    /// How many numbers a look has, which is also how many segments a group has.
    fn width(&self) -> usize {
        1 + self.sensitive.len()
    }

    fn start(&self, segment: usize) -> usize {
        if segment == 0 { 0 } else { self.ends[segment - 1] as usize }
    }

    fn render(&self, looks: &[u32]) -> Vec<u8> {
        let width = self.width();
        let records = looks.len() / width;
        let groups = self.cells.plan.partition().groups().max(1);
        let mut out =
            Vec::with_capacity(records * (self.segments.len() / groups + 16 * self.sensitive.len() + 8));
        for block in looks.chunks(TOUCHED * width) {
            // Groups lie anywhere in memory. Touching those of a block first lets the processor wait for all at once.
            let touch = |look: &[u32]| {
                let start = self.start(look[0] as usize * width);
                let next = self.segments.get(start + 64).copied().unwrap_or(0);
                self.segments.get(start).copied().unwrap_or(0) ^ next
            };
            std::hint::black_box(block.chunks_exact(width).fold(0, |sum, look| sum ^ touch(look)));
            for look in block.chunks_exact(width) {
                let mut segment = look[0] as usize * width;
                let mut start = self.start(segment);
                for (&(column, _), &code) in self.sensitive.iter().zip(&look[1..]) {
                    let end = self.ends[segment] as usize;
                    out.extend_from_slice(&self.segments[start..end]);
                    out.extend_from_slice(self.cells.columns[column].1.get(code).unwrap_or_default());
                    start = end;
                    segment += 1;
                }
                out.extend_from_slice(&self.segments[start..self.ends[segment] as usize]);
            }
        }
        out
    }
}

struct Bucket<'a> {
    cells: &'a Cells<'a>,
    rows: Vec<u32>,
}

impl Rows for Bucket<'_> {
    type Row = (u32, GroupId);

    fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn row(&self, index: usize) -> Self::Row {
        self.cells.row(self.rows[index])
    }

    #[inline]
    fn cell(&self, row: Self::Row, column: usize) -> Option<&[u8]> {
        self.cells.cell(row, column)
    }
}

/// How many records of each row are published.
pub(crate) fn published(plan: &Plan<'_>) -> Vec<u64> {
    let records = |row| if plan.partition().group(row).is_some() { plan.dataset().weight(row) } else { 0 };
    (0..plan.dataset().rows()).map(records).collect()
}

/// Published rows sorted by their cells: first the quasi-identifiers as printed, then the sensitive values. Returns for each
/// row its rank; rows that look alike share one. Suppressed rows come last.
pub(crate) fn ranks(plan: &Plan<'_>) -> Vec<u32> {
    let width = plan.dataset().quasi().len();
    let mut rank_of_label: Vec<Vec<u32>> = Vec::with_capacity(width);
    for q in 0..width {
        let labels = plan.labels(q);
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_by(|&a, &b| labels[a as usize].cmp(&labels[b as usize]));
        let mut rank = vec![0; labels.len()];
        order.iter().enumerate().for_each(|(r, &label)| rank[label as usize] = r as u32);
        // Equal texts of different spans read the same.
        for pair in order.windows(2) {
            if labels[pair[0] as usize] == labels[pair[1] as usize] {
                rank[pair[1] as usize] = rank[pair[0] as usize];
            }
        }
        rank_of_label.push(rank);
    }
    let key = |row: u32| {
        let group = plan.partition().group(row as usize);
        let labels = group.map(|g| {
            plan.cells(g)
                .iter()
                .zip(&rank_of_label)
                .map(|(&l, ranks)| ranks[l as usize])
                .collect::<Vec<u32>>()
        });
        (labels.is_none(), labels, plan.dataset().sensitive_codes(row as usize))
    };
    let mut order: Vec<u32> = (0..plan.dataset().rows() as u32).collect();
    order.par_sort_by_cached_key(|&row| key(row));
    let mut ranks = vec![0; order.len()];
    let mut rank = 0;
    for pair in 0..order.len() {
        if pair > 0 && key(order[pair - 1]) != key(order[pair]) {
            rank += 1;
        }
        ranks[order[pair] as usize] = rank;
    }
    ranks
}

/// Writes all published records; returns how many.
pub(crate) fn emit(
    plan: &Plan<'_>,
    output: &Output,
    renderer: &Renderer,
    sink: Sink,
    progress: &dyn Progress,
) -> Result<u64> {
    let cells = Cells::new(plan, output, renderer);
    match renderer {
        Renderer::Text { delimiter, .. } => {
            let lines = Lines::new(&cells, *delimiter);
            let render = |looks: Vec<u32>| Ok(Block::Text(lines.render(&looks)));
            let look = |row: usize, out: &mut Vec<u32>| lines.look(row, out);
            write_all(plan, output.order, lines.width(), &look, &render, sink, progress)
        }
        Renderer::Typed(_) => {
            let render = |rows: Vec<u32>| renderer.render(&Bucket { cells: &cells, rows });
            let look = |row: usize, out: &mut Vec<u32>| out.push(row as u32);
            write_all(plan, output.order, 1, &look, &render, sink, progress)
        }
    }
}

/// Brings the records in order, bucket by bucket, and renders the buckets on all threads.
fn write_all(
    plan: &Plan<'_>,
    order: Order,
    width: usize,
    look: Look<'_>,
    render: &(dyn Fn(Vec<u32>) -> Result<Block> + Sync),
    sink: Sink,
    progress: &dyn Progress,
) -> Result<u64> {
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
                render(looks)
            });
            for block in blocks.collect::<Vec<Result<Block>>>() {
                send(block?)?;
            }
            published += records;
            progress.advance(records);
        }
    })?;
    Ok(published)
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
