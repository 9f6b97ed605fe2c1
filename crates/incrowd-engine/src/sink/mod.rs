//! Writing tables: several threads render rows into blocks, and one thread writes the blocks.

pub(crate) mod arrow;
mod parquet;
pub(crate) mod text;

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use incrowd_core::numerals::{self, DecimalMark};
use incrowd_core::{Error, Result};
use rayon::prelude::*;

use crate::cells::Texts;
use crate::source::Format;
use crate::store::Escape;
use crate::{Dialect, delimiter_of, formula};

/// Rows to be rendered in a typed format.
pub(crate) trait Rows: Sync {
    /// Resolved reference to a row.
    type Row: Copy;
    fn len(&self) -> usize;
    fn row(&self, index: usize) -> Self::Row;
    /// A cell, or `None` for a null.
    fn cell(&self, row: Self::Row, column: usize) -> Option<&[u8]>;
    /// The texts of a column whose cells are determined by the plan.
    fn texts(&self, column: usize) -> Option<&Arc<Texts>>;
    /// Appends the index into `texts` for each of the rows.
    fn codes(&self, rows: &[Self::Row], column: usize, out: &mut Vec<u32>);
}

/// Destination of the bytes of a table.
pub(crate) type Bytes = Box<dyn Write + Send>;

/// Rendered rows.
pub(crate) enum Block {
    Text(Vec<u8>),
    Batch(RecordBatch),
    Columns(parquet::Columns),
}

impl Block {
    /// Size of the text in bytes.
    pub(crate) fn text(&self) -> usize {
        match self {
            Block::Text(bytes) => bytes.len(),
            Block::Batch(_) | Block::Columns(_) => 0,
        }
    }
}

/// Renders rows in a format.
#[derive(Clone, Debug)]
pub(crate) enum Renderer {
    Text { columns: usize, delimiter: u8, decimal: DecimalMark, harmless: bool, escape: Escape },
    Arrow(SchemaRef),
    Parquet(SchemaRef),
}

impl Renderer {
    /// Creates a renderer for the format of a file with these columns. Only typed formats use the
    /// types.
    pub(crate) fn new(
        target: &Path,
        format: Format,
        columns: &[(String, DataType)],
        dialect: Dialect,
    ) -> Renderer {
        match format {
            Format::Csv(_) => Renderer::Text {
                columns: columns.len(),
                delimiter: dialect.delimiter.unwrap_or_else(|| delimiter_of(target)),
                decimal: dialect.decimal,
                harmless: false,
                escape: Escape::Quotes,
            },
            Format::Parquet => Renderer::Parquet(arrow::schema(columns)),
            Format::Arrow => Renderer::Arrow(arrow::schema(columns)),
        }
    }

    /// Sets whether text cells are written so that spreadsheets do not interpret them as formulas.
    pub(crate) fn harmless(mut self, wanted: bool) -> Renderer {
        if let Renderer::Text { harmless, .. } = &mut self {
            *harmless = wanted;
        }
        self
    }

    /// Sets the escaping of text cells.
    pub(crate) fn escaping(mut self, by: Escape) -> Renderer {
        if let Renderer::Text { escape, .. } = &mut self {
            *escape = by;
        }
        self
    }

    /// Dictionary-encodes the columns that are determined by the plan, for a table that stays in
    /// memory. `texts` returns the maximum number of texts of such a column, and `None` for other
    /// columns.
    pub(crate) fn in_codes(self, texts: impl Fn(usize) -> Option<usize>) -> Renderer {
        match self {
            Renderer::Arrow(schema) => Renderer::Arrow(arrow::in_codes(&schema, texts)),
            other => other,
        }
    }

    /// Whether a column has one dictionary for the whole table.
    pub(crate) fn has_dictionary(&self, column: usize) -> bool {
        match self {
            Renderer::Text { .. } | Renderer::Parquet(_) => false,
            Renderer::Arrow(schema) => {
                matches!(schema.field(column).data_type(), DataType::Dictionary(..))
            }
        }
    }

    /// Builds the dictionaries of all columns in parallel, before the rendering starts.
    pub(crate) fn prepare(&self, columns: &[&Texts]) {
        if let Renderer::Arrow(schema) = self {
            columns.par_iter().zip(schema.fields().par_iter()).for_each(|(texts, field)| {
                arrow::coded::prepare(texts, field.data_type());
            });
        }
    }

    /// Appends a cell, escaped for the format.
    pub(crate) fn spell(&self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            Renderer::Text { columns, delimiter, decimal, harmless, escape } => {
                let text = if *harmless { formula::harmless(text, *decimal) } else { text.into() };
                match escape {
                    Escape::Quotes => text::escape(&text, *delimiter, *columns == 1, out),
                    Escape::Backslashes => text::escape_by_backslashes(&text, out),
                    Escape::Lengths => text::with_length(&text, *columns == 1, out),
                }
            }
            Renderer::Arrow(_) | Renderer::Parquet(_) => out.extend_from_slice(text),
        }
    }

    /// The texts of a column with the decimal mark of the format.
    pub(crate) fn numbers<'t>(&self, texts: &'t [String]) -> Cow<'t, [String]> {
        match self {
            Renderer::Text { decimal, .. } => numerals::written(texts, *decimal),
            Renderer::Arrow(_) | Renderer::Parquet(_) => Cow::Borrowed(texts),
        }
    }

    /// Whether the format distinguishes nulls from empty texts.
    pub(crate) fn has_null(&self) -> bool {
        !matches!(self, Renderer::Text { .. })
    }

    pub(crate) fn render<R: Rows>(&self, rows: &R) -> Result<Block> {
        match self {
            Renderer::Text { .. } => Err(Error::bug("lines of text are rendered elsewhere")),
            Renderer::Arrow(schema) => arrow::batch(rows, schema).map(Block::Batch),
            Renderer::Parquet(schema) => arrow::columns(rows, schema, true).map(Block::Columns),
        }
    }
}

/// A table that is being written, in one of the formats.
pub(crate) enum Sink {
    Text(Box<text::TextSink>),
    Arrow(Box<arrow::ArrowSink>),
    Parquet(Box<parquet::ParquetSink>),
}

impl Sink {
    /// Starts a table. For text, it writes the header.
    pub(crate) fn create(
        file: Bytes,
        target: PathBuf,
        format: Format,
        renderer: &Renderer,
        columns: &[(String, DataType)],
    ) -> Result<Sink> {
        match (renderer, format) {
            (Renderer::Text { escape, .. }, Format::Csv(compression)) => {
                let mut header = Vec::new();
                match escape {
                    Escape::Quotes => {
                        for (i, (name, _)) in columns.iter().enumerate() {
                            if i > 0 {
                                header.push(renderer.delimiter());
                            }
                            renderer.spell(name.as_bytes(), &mut header);
                        }
                        header.push(b'\n');
                    }
                    Escape::Backslashes => {}
                    Escape::Lengths => header.extend_from_slice(text::BINARY_BEGINS),
                }
                let last = if *escape == Escape::Lengths { text::BINARY_ENDS } else { &[] };
                text::TextSink::create(file, target, compression, &header, last)
                    .map(|sink| Sink::Text(Box::new(sink)))
            }
            (Renderer::Arrow(schema), _) => arrow::ArrowSink::create(file, target, schema)
                .map(|sink| Sink::Arrow(Box::new(sink))),
            (Renderer::Parquet(schema), _) => parquet::ParquetSink::create(file, target, schema)
                .map(|sink| Sink::Parquet(Box::new(sink))),
            _ => unreachable!("a renderer is made for its format"),
        }
    }

    /// Writes a block. Returns its text buffer for reuse.
    pub(crate) fn write(&mut self, block: Block) -> Result<Vec<u8>> {
        match (self, block) {
            (Sink::Text(sink), Block::Text(bytes)) => return sink.write(&bytes).map(|()| bytes),
            (Sink::Arrow(sink), Block::Batch(batch)) => sink.write(&batch)?,
            (Sink::Parquet(sink), Block::Columns(columns)) => sink.write(columns)?,
            _ => unreachable!("blocks are rendered for their sink"),
        }
        Ok(Vec::new())
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Sink::Text(sink) => sink.finish(),
            Sink::Arrow(sink) => sink.finish(),
            Sink::Parquet(sink) => sink.finish(),
        }
    }
}

impl Renderer {
    /// The separators around text cells.
    pub(crate) fn marks(&self) -> text::Marks {
        match self {
            Renderer::Text { columns, delimiter, escape, .. } => {
                text::Marks::new(*columns, *delimiter, *escape)
            }
            Renderer::Arrow(_) | Renderer::Parquet(_) => text::Marks::new(0, b',', Escape::Quotes),
        }
    }

    fn delimiter(&self) -> u8 {
        match self {
            Renderer::Text { delimiter, .. } => *delimiter,
            Renderer::Arrow(_) | Renderer::Parquet(_) => b',',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts the bytes that were written but not flushed.
    struct Counting(Arc<AtomicUsize>);

    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.fetch_add(bytes.len(), Ordering::Relaxed);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            self.0.store(0, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn a_finished_file_is_flushed() {
        for name in ["r.csv", "r.csv.gz", "r.csv.zst", "r.arrow", "r.parquet"] {
            let columns = [("age".to_owned(), DataType::Utf8)];
            let (target, format) = (PathBuf::from(name), Format::of_path(Path::new(name)).unwrap());
            let renderer = Renderer::new(&target, format, &columns, Dialect::default());
            let left = Arc::new(AtomicUsize::new(1));
            let file: Bytes = Box::new(Counting(left.clone()));
            Sink::create(file, target, format, &renderer, &columns).unwrap().finish().unwrap();
            assert_eq!(left.load(Ordering::Relaxed), 0, "{name}");
        }
    }
}
