//! The engine for one machine.

use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use incrowd_core::number::{Number, looks_numeric, parse_number};
use incrowd_core::{Dataset, Error, Folded, Plan, Progress, Result, Silent};

use crate::fold::{RowIndex, fold};
use crate::sink::{Renderer, Sink};
use crate::source::{Format, Options, Place, Records, Source, Trouble, Worker};
use crate::{Content, Engine, FoldSpec, Output, Pending, Receipt, emit, replay};

/// Reads and writes files on this machine.
#[derive(Debug)]
pub struct Embedded {
    source: Source,
    last: Option<(FoldSpec, Option<RowIndex>)>,
}

impl Embedded {
    /// Opens the files of a table.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Embedded> {
        Ok(Embedded { source: Source::open(paths, options)?, last: None })
    }

    /// The files the table is read from.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.source.files()
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Reads a whole published table: its texts folded over all columns asked for, and the digest of its bytes.
    pub fn read_release(
        path: &Path,
        options: &Options,
        columns: &[String],
        progress: &dyn Progress,
    ) -> Result<(Folded, String, Vec<String>)> {
        let options = Options { digest: true, ..options.clone() };
        let source = Source::open(&[path.to_owned()], &options)?;
        let spec = FoldSpec { columns: columns.to_vec(), ..FoldSpec::default() };
        progress.step("verifying", Some(source.bytes()));
        let result = fold(&source, &spec, progress)?;
        Ok((result.folded, result.digest.unwrap_or_default(), source.columns().to_vec()))
    }

    /// The type of a published column in formats that have types.
    fn data_type(&self, name: &str, content: Content, data: &Dataset) -> Result<DataType> {
        let own = || -> Result<Option<DataType>> {
            // A column that the table does not have was made for the release.
            let position = self.source.columns().iter().position(|own| own == name);
            Ok(position.and_then(|at| self.source.column(at).data_type.clone()))
        };
        match content {
            Content::Quasi(_) | Content::Category(_) => Ok(DataType::Utf8),
            Content::Carried => Ok(own()?.unwrap_or(DataType::Utf8)),
            Content::Sensitive(s) => Ok(own()?.unwrap_or_else(|| sniffed(&data.sensitive()[s].values))),
        }
    }
}

/// Numbers stay numbers when text becomes a typed format.
fn sniffed(values: &[String]) -> DataType {
    let mut present = values.iter().filter(|v| !v.is_empty()).peekable();
    // Digits that do not fit 64 bits are a code, and rounding would make two codes one.
    let whole = |v: &str| !v.contains(['.', 'e', 'E']);
    let exact =
        |v: &String| looks_numeric(v) && (!whole(v) || matches!(parse_number(v), Some(Number::Integer(_))));
    if present.peek().is_none() || !present.clone().all(exact) {
        DataType::Utf8
    } else if present.all(|v| matches!(parse_number(v), Some(Number::Integer(_)))) {
        DataType::Int64
    } else {
        DataType::Float64
    }
}

impl Embedded {
    /// Writes a table that follows from a plan alone, whatever was folded.
    pub fn write(
        &self,
        plan: &Plan<'_>,
        output: &Output,
        target: &mut Pending,
        progress: &dyn Progress,
    ) -> Result<u64> {
        let (renderer, sink) = self.begin(plan, output, target)?;
        progress.step("writing", Some(plan.dataset().records()));
        emit::emit(plan, output, &renderer, sink, progress)
    }

    fn begin(&self, plan: &Plan<'_>, output: &Output, target: &mut Pending) -> Result<(Renderer, Sink)> {
        let format = Format::of_path(target.target())?;
        let mut columns = Vec::with_capacity(output.columns.len());
        for (name, content) in &output.columns {
            columns.push((name.clone(), self.data_type(name, *content, plan.dataset())?));
        }
        let renderer = Renderer::new(target.target(), format, &columns);
        let sink = Sink::create(target.writer()?, target.target().to_owned(), format, &renderer, &columns)?;
        Ok((renderer, sink))
    }
}

impl Engine for Embedded {
    fn columns(&self) -> &[String] {
        self.source.columns()
    }

    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        progress.step("reading", Some(self.source.bytes()));
        let result = fold(&self.source, spec, progress)?;
        self.last = Some((spec.clone(), result.index));
        Ok(result.folded)
    }

    fn apply(
        &mut self,
        plan: &Plan<'_>,
        output: &Output,
        target: &mut Pending,
        progress: &dyn Progress,
    ) -> Result<Receipt> {
        let Some((spec, index)) = &self.last else {
            return Err(Error::bug("a plan was applied before any fold"));
        };
        let data = plan.dataset();
        let (renderer, sink) = self.begin(plan, output, target)?;
        progress.step("writing", Some(data.records()));
        let suppressed_rows = (0..data.rows()).filter(|&row| plan.partition().group(row).is_none());
        let carries = output.columns.iter().any(|(_, content)| *content == Content::Carried);
        let receipt = if carries {
            let Some(index) = index else {
                return Err(Error::bug("columns are carried but were not planned for"));
            };
            let directory =
                target.path().parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let (published, suppressed) = replay::replay(
                &self.source,
                spec,
                index,
                plan,
                output,
                &renderer,
                sink,
                directory,
                progress,
            )?;
            Receipt { published, suppressed }
        } else {
            let suppressed = suppressed_rows.map(|row| data.weight(row)).sum();
            Receipt { published: emit::emit(plan, output, &renderer, sink, progress)?, suppressed }
        };
        if receipt.published + receipt.suppressed != data.records() {
            if carries {
                return Err(Error::input("the input changed while it was read"));
            }
            return Err(Error::bug(format!(
                "{} records were published and {} suppressed of {}",
                receipt.published,
                receipt.suppressed,
                data.records()
            )));
        }
        Ok(receipt)
    }

    fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        struct Finder<'a>(&'a [u8], Option<(Place, usize)>);
        impl Worker for Finder<'_> {
            fn visit<R: Records>(&mut self, at: Place, records: &R) -> Result<(), Trouble> {
                let found = (0..records.len()).find(|&r| records.get(r, 0) == Some(self.0));
                if let Some(record) = found {
                    self.1 = self.1.into_iter().chain([(at, record)]).min();
                }
                Ok(())
            }
        }
        let wanted = [self.source.position(column)?];
        let scan = self.source.scan(&wanted, || Finder(text.as_bytes(), None), &Silent, || {})?;
        let first = scan.workers.iter().filter_map(|finder| finder.1).min();
        Ok(first.map(|(at, record)| scan.place(at, record)))
    }
}
