//! Copies a table with the reader and the writer of anonymization. It is the baseline of the
//! benchmarks.

use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow_schema::DataType;
use incrowd_core::{Progress, Result};

use crate::Pending;
use crate::cells::{NO_TEXT, Texts};
use crate::sink::{Block, Renderer, Rows, Sink};
use crate::source::{Format, Options, Place, Records, Source, Trouble, Worker};

struct Whole<'a, R>(&'a R);

impl<R: Records> Rows for Whole<'_, R> {
    type Row = usize;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn row(&self, index: usize) -> usize {
        index
    }

    fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        self.0.get(row, column)
    }

    fn texts(&self, _: usize) -> Option<&Arc<Texts>> {
        None
    }

    fn codes(&self, rows: &[usize], _: usize, out: &mut Vec<u32>) {
        out.extend(rows.iter().map(|_| NO_TEXT));
    }
}

struct Copier<'a> {
    renderer: &'a Renderer,
    columns: usize,
    sink: &'a Mutex<Sink>,
    records: u64,
}

impl Worker for Copier<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        let block = match self.renderer {
            Renderer::Text { delimiter, .. } => {
                let mut out = Vec::with_capacity(records.len() * self.columns * 8);
                for record in 0..records.len() {
                    for column in 0..self.columns {
                        if column > 0 {
                            out.push(*delimiter);
                        }
                        self.renderer
                            .spell(records.get(record, column).unwrap_or_default(), &mut out);
                    }
                    out.push(b'\n');
                }
                Block::Text(out)
            }
            Renderer::Arrow(_) | Renderer::Parquet(_) => {
                self.renderer.render(&Whole(records)).map_err(Trouble::of_error)?
            }
        };
        self.sink
            .lock()
            .expect("no worker panics while it writes")
            .write(block)
            .map_err(Trouble::of_error)?;
        self.records += records.len() as u64;
        Ok(())
    }
}

/// Reads, parses and writes a table without changing it. The order of the records may change.
/// Returns the number of records.
pub fn copy(from: &Path, to: &Path, options: &Options, progress: &dyn Progress) -> Result<u64> {
    let source = Source::open([from], options)?;
    let wanted: Vec<usize> = (0..source.columns().len()).collect();
    let columns: Vec<(String, DataType)> = wanted
        .iter()
        .map(|&i| {
            (
                source.column(i).name.clone(),
                source.column(i).data_type.clone().unwrap_or(DataType::Utf8),
            )
        })
        .collect();
    let target = Pending::create(to)?;
    let format = Format::of_path(to)?;
    let renderer = Renderer::new(to, format, &columns, crate::Dialect::default());
    let sink = Mutex::new(Sink::create(
        Box::new(target.writer()?),
        to.to_owned(),
        format,
        &renderer,
        &columns,
    )?);
    progress.step("copying", Some(source.bytes()));
    let worker = || Copier { renderer: &renderer, columns: wanted.len(), sink: &sink, records: 0 };
    let scan = source.scan(&wanted, worker, progress)?;
    let records = scan.workers.iter().map(|w| w.records).sum();
    drop(scan);
    sink.into_inner().expect("no worker is left").finish()?;
    target.publish()?;
    Ok(records)
}
