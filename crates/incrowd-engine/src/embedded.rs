//! The engine for one machine.

use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use incrowd_core::number::{Number, looks_numeric, parse_number};
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Dataset, Error, Folded, Plan, Progress, Result, Silent};
use rayon::prelude::*;

use crate::Note;
use crate::beside::Beside;
use crate::fold::{RowIndex, Told, fold, fold_with};
use crate::formula::read_formulas;
use crate::private_stream::PrivateStream;
use crate::sink::{Renderer, Sink};
use crate::source::{Batches, Format, Options, Place, Records, Source, Trouble, Worker};
use crate::store::{FileStore, MemoryStore, Places, Store, TableColumn};
use crate::{Content, Engine, FoldSpec, Output, ReadBack, Receipt, Sent, Shape, emit, replay, shape};

/// The engine for one machine: a table in files or in memory, and a store for what is released of it.
#[derive(Debug)]
pub struct Embedded {
    source: Source,
    store: Box<dyn Store>,
    last: Option<(FoldSpec, Option<RowIndex>)>,
    /// Whose records the staged tables have, where a person may have several: in the order of the records.
    persons: Vec<Option<PrivateStream>>,
    /// How many people the rows of the staged tables stand for, and their records: then the stream has rows in place of persons.
    weighed: Vec<Option<Weighed>>,
    /// What the staged tables show in another way than its label.
    shapes: Vec<Shape>,
    /// What a database sent for the last fold.
    sent: Option<Sent>,
}

/// How many people rows stand for, and how many records they have.
#[derive(Debug)]
struct Weighed(Vec<(u64, u64)>);

impl Weighed {
    fn of(data: &Dataset) -> Option<Weighed> {
        let own = |row| (data.represented(row), data.weight(row));
        data.is_weighed().then(|| Weighed((0..data.rows()).map(own).collect()))
    }

    /// What so many records of a row stand for.
    fn share(&self, row: u32, records: u64) -> u64 {
        let (represented, all) = self.0[row as usize];
        let own = u128::from(represented) * u128::from(records) / u128::from(all.max(1));
        u64::try_from(own).unwrap_or(u64::MAX)
    }
}

impl Embedded {
    /// Takes a table from one place and puts releases in another.
    pub fn new(source: Source, store: impl Store + 'static) -> Embedded {
        Embedded::with_store(source, Box::new(store))
    }

    /// The same with a store of any kind.
    pub fn with_store(source: Source, store: Box<dyn Store>) -> Embedded {
        let (persons, weighed, shapes) = (Vec::new(), Vec::new(), Vec::new());
        Embedded { source, store, last: None, persons, weighed, shapes, sent: None }
    }

    /// A table in files, and releases in files.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Embedded> {
        Ok(Embedded::new(Source::open(paths, options)?, FileStore::default()))
    }

    /// A table in memory, and releases in memory; the store gives access to them.
    pub fn in_memory(table: &Batches) -> Result<(Embedded, MemoryStore)> {
        let store = MemoryStore::new();
        Ok((Embedded::new(Source::of_batches(table)?, store.clone()), store))
    }
}

/// The type of a published column in formats that have types.
pub(crate) fn published_type(
    source: &Source,
    name: &str,
    content: Content,
    plan: &Plan<'_>,
) -> Result<DataType> {
    let own = || -> Result<Option<DataType>> {
        // A column that the table does not have was made for the release.
        let position = source.columns().iter().position(|own| own == name);
        let own = position.and_then(|at| source.column(at).data_type.clone());
        // A list may lack elements, which its text does not tell.
        let is_list = |own: &DataType| matches!(own, DataType::List(_) | DataType::LargeList(_));
        Ok(own.map(|own| if is_list(&own) { DataType::Utf8 } else { own }))
    };
    match content {
        Content::Quasi(_) | Content::Category(_) => Ok(DataType::Utf8),
        Content::OfGroup => Ok(DataType::Float64),
        Content::Low(q) | Content::High(q) => {
            let end = |label: &String| {
                let (low, high) = shape::ends(label);
                if matches!(content, Content::Low(_)) { low } else { high }.unwrap_or_default().to_owned()
            };
            let found = sniffed(&plan.labels(q).iter().map(end).collect::<Vec<_>>());
            Ok(if found == DataType::Utf8 { DataType::Int64 } else { found })
        }
        Content::Mean(_) => Ok(DataType::Float64),
        Content::List(_) => Ok(DataType::new_list(DataType::Utf8, true)),
        Content::Carried => Ok(own()?.unwrap_or(DataType::Utf8)),
        Content::Sensitive(s) => Ok(own()?.unwrap_or_else(|| sniffed(&plan.dataset().sensitive()[s].values))),
    }
}

/// How many texts a column has that follows from the plan, at most.
fn texts_of(plan: &Plan<'_>, content: Content) -> Option<usize> {
    match content {
        Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
            Some(plan.labels(q).len())
        }
        Content::Sensitive(s) | Content::Category(s) => Some(plan.dataset().sensitive()[s].values.len()),
        Content::Mean(_) | Content::OfGroup => Some(plan.partition().groups()),
        Content::Carried => None,
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
    fn begin_table(&mut self, table: usize, plan: &Plan<'_>, output: &Output) -> Result<(Renderer, Sink)> {
        let described = output.columns.iter().map(|(name, content)| {
            let as_it_is = matches!(content, Content::Carried | Content::Sensitive(_));
            let own = self.source.columns().iter().position(|own| own == name).filter(|_| as_it_is);
            let sql = own.and_then(|at| self.source.column(at).sql);
            let data_type = published_type(&self.source, name, *content, plan)?;
            let stated = output.says.iter().find(|(column, _)| column == name).map(|(_, says)| *says);
            let says = stated.unwrap_or_else(|| content.says(plan));
            Ok(TableColumn { name: name.clone(), data_type, sql, says })
        });
        let described = described.collect::<Result<Vec<_>>>()?;
        let staging = self.store.stage(table, &described)?;
        let mut columns = Vec::with_capacity(output.columns.len());
        for ((name, content), TableColumn { data_type, .. }) in output.columns.iter().zip(described) {
            let data_type = match data_type {
                // An Arrow file has one dictionary of a column, and which values will be carried is not known at its start.
                DataType::Dictionary(_, values)
                    if *content == Content::Carried && staging.format == Format::Arrow =>
                {
                    *values
                }
                other => other,
            };
            columns.push((name.clone(), data_type));
        }
        let renderer = Renderer::new(&staging.target, staging.format, &columns, staging.dialect)
            .harmless(staging.csv_safe)
            .escaping(staging.escape);
        let texts = |column: usize| texts_of(plan, output.columns[column].1);
        let renderer = if staging.in_codes { renderer.in_codes(texts) } else { renderer };
        let sink = Sink::create(staging.writer, staging.target, staging.format, &renderer, &columns)?;
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
        self.sent = result.sent;
        Ok(result.folded)
    }

    fn sent(&self) -> Option<Sent> {
        self.sent
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn begin(&mut self, places: &Places) -> Result<()> {
        let reads = self.source.identities();
        self.store.begin(&Places { reads, ..places.clone() })
    }

    fn stage(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
        progress: &dyn Progress,
    ) -> Result<Receipt> {
        let data = plan.dataset();
        let (renderer, sink) = self.begin_table(table, plan, output)?;
        progress.step("writing", Some(data.records()));
        let suppressed_rows =
            (0..data.rows()).into_par_iter().filter(|&row| plan.partition().group(row).is_none());
        let carries = output.columns.iter().any(|(_, content)| *content == Content::Carried);
        let told = data.persons().is_some() || data.is_weighed();
        let mut persons = told.then(|| PrivateStream::new(self.store.spill()));
        let receipt = if carries {
            let Some((spec, Some(index))) = &self.last else {
                return Err(Error::bug("columns are carried but were not planned for"));
            };
            let (published, suppressed) = replay::replay(
                &self.source,
                spec,
                index,
                plan,
                output,
                &renderer,
                sink,
                self.store.spill(),
                persons.as_mut(),
                progress,
            )?;
            Receipt { published, suppressed }
        } else {
            let suppressed = suppressed_rows.map(|row| data.weight(row)).sum();
            Receipt {
                published: emit::emit(plan, output, &renderer, sink, persons.as_mut(), progress)?,
                suppressed,
            }
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
        self.persons.resize_with(self.persons.len().max(table + 1), || None);
        self.persons[table] = persons;
        self.weighed.resize_with(self.weighed.len().max(table + 1), || None);
        self.weighed[table] = Weighed::of(data);
        self.shapes.resize_with(self.shapes.len().max(table + 1), Shape::default);
        self.shapes[table] = output.shape.clone();
        Ok(receipt)
    }

    fn read_back(
        &self,
        table: usize,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let source = self.store.open(table)?;
        let shape = self.shapes.get(table).cloned().unwrap_or_default();
        let persons = self.persons.get(table).and_then(Option::as_ref);
        let persons = persons.map(PrivateStream::read).transpose()?;
        let weighed = self.weighed.get(table).and_then(Option::as_ref);
        let share = |row: u32, records: u64| weighed.map_or(0, |weighed| weighed.share(row, records));
        let weights = weighed.map(|_| &share as &dyn Fn(u32, u64) -> u64);
        let told = Told { numbers: persons.as_deref(), weights };
        let mut read = source.read_shaped_of(columns, &shape, told, beside, progress)?;
        if !beside.columns.is_empty() && weighed.is_none() {
            read.seen.persons = persons;
        }
        if self.store.is_csv_safe(table) {
            read_formulas(&mut read.folded);
        }
        Ok(read)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        self.persons.clear();
        self.store.publish(manifest)
    }

    fn journal(&self) -> Option<&Path> {
        self.store.journal()
    }

    fn note(&mut self, note: Note) -> Result<()> {
        self.store.note(note)
    }

    fn discard(&mut self) {
        self.persons.clear();
        self.store.discard();
    }

    fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        self.source.locate(column, text)
    }
}

impl Source {
    /// Reads a whole published table: its texts folded over the columns asked for, others looked at record by record, and the
    /// digest of its bytes if the source computes one.
    pub fn read_release(
        &self,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        self.read_release_of(columns, Told::default(), beside, progress)
    }

    /// The same with what somebody knows of its records.
    pub(crate) fn read_release_of(
        &self,
        columns: &[String],
        told: Told<'_>,
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let spec = FoldSpec { columns: columns.to_vec(), ..FoldSpec::default() };
        progress.step("verifying", Some(self.bytes()));
        let result = fold_with(self, &spec, told, beside, progress)?;
        let digest = result.digest.unwrap_or_default();
        let (folded, seen) = (result.folded, result.seen);
        Ok(ReadBack { folded, seen, digest, columns: self.columns().to_vec() })
    }

    /// Folds the table, without a way to find its rows again.
    pub fn fold(&self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        progress.step("reading", Some(self.bytes()));
        Ok(fold(self, &FoldSpec { replay: false, ..spec.clone() }, progress)?.folded)
    }

    /// Where a text occurs first in a column, in words for a message: `record 4811`.
    pub fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        struct Finder<'a>(&'a [u8], Option<(Place, usize)>, Option<DecimalMark>);
        impl Finder<'_> {
            /// Whether a number is written in another way than it is spelled here.
            fn is_spelled(&self, own: Option<&[u8]>) -> bool {
                let text = own.and_then(|own| std::str::from_utf8(own).ok());
                let read = self.2.zip(text).and_then(|(mark, text)| mark.read(text));
                read.is_some_and(|read| read.as_bytes() == self.0)
            }
        }
        impl Worker for Finder<'_> {
            fn visit<R: Records>(&mut self, at: Place, records: &R) -> Result<(), Trouble> {
                let own = |r: usize| records.get(r, 0);
                let found = (0..records.len()).find(|&r| own(r) == Some(self.0) || self.is_spelled(own(r)));
                if let Some(record) = found {
                    self.1 = self.1.into_iter().chain([(at, record)]).min();
                }
                Ok(())
            }
        }
        let wanted = [self.position(column)?];
        let scan = self.scan(&wanted, || Finder(text.as_bytes(), None, self.decimal()), &Silent, || {})?;
        let first = scan.workers.iter().filter_map(|finder| finder.1).min();
        Ok(first.map(|(at, record)| scan.place(at, record)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use incrowd_core::model::Promise;
    use incrowd_core::{Code, ColumnSpec, Dataset, Partition, RowId, Span, Value};

    /// Two groups: two records of a and one of b, two of c and one of a. `swap` exchanges an entry of the private stream in the
    /// first with one in the second, each given by how many records the person has.
    fn smallest_group(swap: Option<(usize, usize)>) -> u64 {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("in.csv");
        std::fs::write(&input, "who,age\na,1\na,1\nb,1\nc,2\nc,2\na,2\n").unwrap();
        let mut engine = Embedded::open(&[input], &Options::default()).unwrap();
        let tables = vec![dir.path().join("out.csv")];
        engine.begin(&Places { tables, manifest: dir.path().join("out.json"), ..Places::default() }).unwrap();
        let (columns, person) = (vec!["age".to_owned()], Some("who".to_owned()));
        let spec = FoldSpec { columns: columns.clone(), person, ..FoldSpec::default() };
        let folded = engine.fold(&spec, &Silent).unwrap();
        let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[], "?").unwrap();
        let mut partition = Partition::new(1, 2);
        for row in 0..2 {
            let code = Code(data.quasi_codes(row as usize)[0]);
            partition.add(&[Span { lo: code, hi: code }], [RowId(row)]).unwrap();
        }
        let columns_out = vec![("age".to_owned(), Content::Quasi(0))];
        let output = Output { columns: columns_out, order: Order::Sorted, ..Output::default() };
        engine.stage(0, &Plan::new(&data, &partition), &output, &Silent).unwrap();
        if let Some((one, other)) = swap {
            // Records are sorted by age; how often a code occurs says who it is: a has three records, c two, b one.
            let stream = engine.persons[0].as_mut().unwrap();
            let kept = stream.read().unwrap();
            let often = |at: usize| kept.iter().filter(|code| **code == kept[at]).count();
            let place =
                |group: usize, times: usize| (3 * group..3 * group + 3).find(|&at| often(at) == times);
            let mut swapped = kept.clone();
            swapped.swap(place(0, one).unwrap(), place(1, other).unwrap());
            *stream = PrivateStream::new(dir.path());
            stream.add(&swapped).unwrap();
        }
        let back = engine.read_back(0, &columns, Beside::default(), &Silent).unwrap();
        let release = Dataset::of_release(back.folded, 1, &[]).unwrap();
        let promise = Promise::new("k-anonymity", [("k".to_owned(), Value::Integer(2))]).unwrap();
        let model = promise.model.bind(&release).unwrap();
        let group = |row: usize| model.admits(&release.summary(std::iter::once(row)));
        let smallest = (0..release.rows()).map(|row| group(row).have as u64).min().unwrap();
        assert_eq!((0..release.rows()).all(|row| group(row).holds), smallest >= 2);
        smallest
    }

    #[test]
    fn the_check_reads_persons_from_the_private_stream() {
        assert_eq!(smallest_group(None), 2);
        // A record of a in either group: nothing changes.
        assert_eq!(smallest_group(Some((3, 3))), 2);
        // b against c: a and c, c and b and a.
        assert_eq!(smallest_group(Some((1, 2))), 2);
        // b against a: the first group has nobody but a.
        assert_eq!(smallest_group(Some((1, 3))), 1);
    }
}
