//! The engine for a single machine.

use std::path::Path;

use arrow_schema::DataType;
use incrowd_core::number::{Number, is_quantity, looks_numeric, parse_number};
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Dataset, Error, Folded, Plan, Progress, Result, Silent};
use rayon::prelude::*;

use crate::Note;
use crate::formula::read_formulas;
use crate::location::Location;
use crate::record_values::ExaminedColumns;
use crate::sink::{Renderer, Sink};
use crate::source::{Batches, Format, Options, Place, Records, Source, Trouble, Worker};
use crate::store::{FileStore, MemoryStore, Occupied, Places, Store, TableColumn};
use crate::table::fold::{fold, fold_each, fold_with};
use crate::table::{CodedTable, Keeping, MEMORY, WrittenRecords};
use crate::written_numbers::WrittenNumbers;
use crate::{Content, Engine, FoldSpec, Output, ReadBack, Receipt, Sent, Shape, emit, shape};

/// The engine for a single machine: a source with the table, and a store for the release.
#[derive(Debug)]
pub struct Embedded {
    source: Source,
    store: Box<dyn Store>,
    /// Per-record data of the last fold, for passthrough columns.
    table: Option<CodedTable>,
    /// Upper limit for the bytes of those cells in memory.
    memory: u64,
    /// The person of each record of the staged tables, in the order of the published records.
    /// Present only where a person may have several records.
    persons: Vec<Option<WrittenNumbers>>,
    /// The sampling weights of the rows of the staged tables, with their counts. If present, the
    /// written numbers are row indices in place of persons.
    weighed: Vec<Option<Weighed>>,
    /// For each staged table, the columns that are published in another form than their labels.
    shapes: Vec<Shape>,
    /// The amount of data that a database sent for the last fold.
    sent: Option<Sent>,
}

/// For each row, the sum of sampling weights and the count.
#[derive(Debug)]
struct Weighed(Vec<(u64, u64)>);

impl Weighed {
    fn of(data: &Dataset) -> Option<Weighed> {
        let own = |row| (data.represented(row), data.weight(row));
        data.has_sampling_weights().then(|| Weighed((0..data.rows()).map(own).collect()))
    }

    /// The sampling weight of `records` records of a row: their share of the row's sum.
    fn share(&self, row: u32, records: u64) -> u64 {
        let (represented, all) = self.0[row as usize];
        let own = u128::from(represented) * u128::from(records) / u128::from(all.max(1));
        u64::try_from(own).unwrap_or(u64::MAX)
    }
}

impl Embedded {
    /// Makes an engine that reads from `source` and publishes to `store`.
    pub fn new(source: Source, store: impl Store + 'static) -> Embedded {
        Embedded::with_store(source, Box::new(store))
    }

    /// Makes an engine with a boxed store.
    pub fn with_store(source: Source, store: Box<dyn Store>) -> Embedded {
        let (persons, weighed, shapes) = (Vec::new(), Vec::new(), Vec::new());
        let (table, memory, sent) = (None, MEMORY, None);
        Embedded { source, store, table, memory, persons, weighed, shapes, sent }
    }

    /// Sets the upper limit for the bytes of passthrough cells in memory. Further cells go to an
    /// unnamed temporary file in the directory of the release.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Embedded {
        Embedded { memory: bytes, ..self }
    }

    /// Makes an engine that reads files and publishes files.
    pub fn open(
        locations: impl IntoIterator<Item: Into<Location>>,
        options: &Options,
    ) -> Result<Embedded> {
        Ok(Embedded::new(Source::open(locations, options)?, FileStore::default()))
    }

    /// Makes an engine that reads a table in memory and publishes to memory. The returned store
    /// gives access to the releases.
    pub fn in_memory(table: &Batches) -> Result<(Embedded, MemoryStore)> {
        let store = MemoryStore::new();
        Ok((Embedded::new(Source::of_batches(table)?, store.clone()), store))
    }
}

/// The type of a published column in typed formats.
pub(crate) fn published_type(
    source: &Source,
    name: &str,
    content: Content,
    plan: &Plan<'_>,
) -> Result<DataType> {
    let own = || -> Result<Option<DataType>> {
        // A column that the source does not have was made for the release.
        let position = source.columns().iter().position(|own| own == name);
        let own = position.and_then(|at| source.column(at).data_type.clone());
        // A list may contain missing elements, which its text does not show. So it is published as
        // text.
        let is_list = |own: &DataType| matches!(own, DataType::List(_) | DataType::LargeList(_));
        Ok(own.map(|own| if is_list(&own) { DataType::Utf8 } else { own }))
    };
    match content {
        Content::Quasi(_) | Content::Category(_) => Ok(DataType::Utf8),
        Content::OfGroup => Ok(DataType::Float64),
        Content::Low(q) | Content::High(q) => {
            let end = |label: &String| {
                let (low, high) = shape::ends(label);
                if matches!(content, Content::Low(_)) { low } else { high }
                    .unwrap_or_default()
                    .to_owned()
            };
            let found = sniffed(&plan.labels(q).iter().map(end).collect::<Vec<_>>());
            Ok(if found == DataType::Utf8 { DataType::Int64 } else { found })
        }
        Content::Mean(_) => Ok(DataType::Float64),
        Content::List(_) => Ok(DataType::new_list(DataType::Utf8, true)),
        Content::Passthrough => Ok(own()?.unwrap_or(DataType::Utf8)),
        Content::Sensitive(s) => {
            Ok(own()?.unwrap_or_else(|| sniffed(&plan.dataset().sensitive()[s].values)))
        }
    }
}

/// An upper limit for the number of distinct texts of a column that follows from the plan.
fn texts_of(plan: &Plan<'_>, content: Content) -> Option<usize> {
    match content {
        Content::Quasi(q) | Content::Low(q) | Content::High(q) | Content::List(q) => {
            Some(plan.labels(q).len())
        }
        Content::Sensitive(s) | Content::Category(s) => {
            Some(plan.dataset().sensitive()[s].values.len())
        }
        Content::Mean(_) | Content::OfGroup => Some(plan.partition().groups()),
        Content::Passthrough => None,
    }
}

/// The type of a text column in a typed format: numbers stay numbers.
fn sniffed(values: &[String]) -> DataType {
    let mut present = values.iter().filter(|v| !v.is_empty()).peekable();
    // Numbers that the type would round stay texts. Rounding would change values and could make two
    // different values equal.
    let whole = |v: &String| is_quantity(v) && matches!(parse_number(v), Some(Number::Integer(_)));
    let all_whole = present.clone().all(whole);
    let exact = |v: &String| all_whole || looks_numeric(v);
    if present.peek().is_none() || !present.clone().all(exact) {
        DataType::Utf8
    } else if all_whole {
        DataType::Int64
    } else {
        DataType::Float64
    }
}

impl Embedded {
    /// The number of distinct texts of a passthrough column, unless nearly all of them differ.
    fn kept_texts(&self, name: &str) -> Option<usize> {
        let table = self.table.as_ref()?;
        Some(table.small_dictionary(table.position(name)?)?.len() as usize + 1)
    }

    fn begin_table(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
    ) -> Result<(Renderer, Sink)> {
        let described = output.columns.iter().map(|(name, content)| {
            let as_it_is = matches!(content, Content::Passthrough | Content::Sensitive(_));
            let own = self.source.columns().iter().position(|own| own == name).filter(|_| as_it_is);
            let sql = own.and_then(|at| self.source.column(at).sql);
            let data_type = published_type(&self.source, name, *content, plan)?;
            let stated = output
                .descriptions
                .iter()
                .find(|(column, _)| column == name)
                .map(|(_, description)| *description);
            let description = stated.unwrap_or_else(|| content.description(plan));
            Ok(TableColumn { name: name.clone(), data_type, sql, description })
        });
        let described = described.collect::<Result<Vec<_>>>()?;
        let staging = self.store.stage(table, &described)?;
        let mut columns = Vec::with_capacity(output.columns.len());
        for ((name, content), TableColumn { data_type, .. }) in output.columns.iter().zip(described)
        {
            let data_type = match data_type {
                // An Arrow file has one dictionary per column, at its start. The values of a
                // passthrough column may not be known then.
                DataType::Dictionary(_, values)
                    if *content == Content::Passthrough && staging.format == Format::Arrow =>
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
        let texts = |column: usize| match &output.columns[column] {
            (name, Content::Passthrough) => self.kept_texts(name),
            (_, content) => texts_of(plan, *content),
        };
        let renderer = if staging.in_codes { renderer.in_codes(texts) } else { renderer };
        let sink =
            Sink::create(staging.writer, staging.target, staging.format, &renderer, &columns)?;
        Ok((renderer, sink))
    }
}

impl Engine for Embedded {
    fn columns(&self) -> &[String] {
        self.source.columns()
    }

    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        progress.step("reading", Some(self.source.bytes()));
        let keeping = Keeping { memory: self.memory, directory: self.store.spill() };
        let result = fold(&self.source, spec, keeping, progress)?;
        self.table = result.table;
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

    fn occupied(&self) -> Result<Occupied> {
        self.store.occupied()
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
        let passes = output.columns.iter().any(|(_, content)| *content == Content::Passthrough);
        let is_followed = data.persons().is_some() || data.has_sampling_weights();
        let mut persons = is_followed.then(|| WrittenNumbers::new(self.store.spill()));
        let records = self.table.as_ref().filter(|_| passes);
        let is_kept = |(name, content): &(String, Content)| {
            *content != Content::Passthrough
                || records.is_some_and(|own| own.position(name).is_some())
        };
        if !output.columns.iter().all(is_kept) {
            return Err(Error::bug("a passthrough column is published but was not kept"));
        }
        let published =
            emit::emit(plan, output, &renderer, sink, records, persons.as_mut(), progress)?;
        let suppressed = suppressed_rows.map(|row| data.weight(row)).sum();
        let receipt = Receipt { published, suppressed };
        if receipt.published + receipt.suppressed != data.records() {
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
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let source = self.store.open(table)?;
        let shape = self.shapes.get(table).cloned().unwrap_or_default();
        let persons = self.persons.get(table).and_then(Option::as_ref);
        let persons = persons.map(WrittenNumbers::read).transpose()?;
        let weighed = self.weighed.get(table).and_then(Option::as_ref);
        let share =
            |row: u32, records: u64| weighed.map_or(0, |weighed| weighed.share(row, records));
        let weights = weighed.map(|_| &share as &dyn Fn(u32, u64) -> u64);
        let written = persons.as_deref().map(|numbers| WrittenRecords { numbers, weights });
        let keeping = Keeping { memory: self.memory, directory: self.store.spill() };
        let mut read =
            source.read_shaped_of(columns, &shape, written, examined, keeping, progress)?;
        if self.store.is_csv_safe(table) {
            read_formulas(&mut read.folded);
        }
        Ok(read)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        self.table = None;
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
        self.table = None;
        self.persons.clear();
        self.store.discard();
    }

    fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        self.source.locate(column, text)
    }
}

impl Source {
    /// Reads a whole published table. Returns the fold of the requested columns, the columns that
    /// are examined record by record, and the digest of the bytes if the source computes one.
    pub fn read_release(
        &self,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let directory = std::env::temp_dir();
        let keeping = Keeping { memory: MEMORY, directory: &directory };
        self.read_release_of(columns, None, examined, keeping, progress)
    }

    /// Like [`Source::read_release`], with the per-record data that the writer of the table
    /// recorded.
    pub(crate) fn read_release_of(
        &self,
        columns: &[String],
        written: Option<WrittenRecords<'_>>,
        examined: ExaminedColumns<'_>,
        keeping: Keeping<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let spec = FoldSpec { columns: columns.to_vec(), ..FoldSpec::default() };
        progress.step("verifying", Some(self.bytes()));
        let result = fold_with(self, &spec, written, examined, keeping, progress)?;
        let digest = result.digest.unwrap_or_default();
        let (folded, record_values) = (result.folded, result.record_values);
        Ok(ReadBack { folded, record_values, digest, columns: self.columns().to_vec() })
    }

    /// Folds the table without storing data of single records.
    pub fn fold(&self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        progress.step("reading", Some(self.bytes()));
        let spec = FoldSpec { passthrough: Vec::new(), ..spec.clone() };
        let directory = std::env::temp_dir();
        let keeping = Keeping { memory: MEMORY, directory: &directory };
        Ok(fold(self, &spec, keeping, progress)?.folded)
    }

    /// Folds several sets of columns, each separately. No record is dropped. A table of files or in
    /// memory is read once; a database or another system counts the rows of each set.
    pub fn fold_each(
        &self,
        sets: &[Vec<String>],
        missing: &[String],
        progress: &dyn Progress,
    ) -> Result<Vec<Folded>> {
        if sets.len() < 2 || self.remote().is_some() || self.relation().is_some() {
            let spec = |columns: &Vec<String>| FoldSpec {
                columns: columns.clone(),
                missing: missing.to_vec(),
                ..FoldSpec::default()
            };
            return sets.iter().map(|columns| self.fold(&spec(columns), progress)).collect();
        }
        progress.step("reading", Some(self.bytes()));
        let directory = std::env::temp_dir();
        let keeping = Keeping { memory: MEMORY, directory: &directory };
        fold_each(self, sets, missing, keeping, progress)
    }

    /// The first occurrence of a text in a column, as a phrase for a message: `record 4811`.
    pub fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        struct Finder<'a>(&'a [u8], Option<(Place, usize)>, Option<DecimalMark>);
        impl Finder<'_> {
            /// Whether the cell is a number whose normalized spelling is the text.
            fn is_spelled(&self, own: Option<&[u8]>) -> bool {
                let text = own.and_then(|own| std::str::from_utf8(own).ok());
                let read = self.2.zip(text).and_then(|(mark, text)| mark.read(text));
                read.is_some_and(|read| read.as_bytes() == self.0)
            }
        }
        impl Worker for Finder<'_> {
            fn visit<R: Records>(&mut self, at: Place, records: &R) -> Result<(), Trouble> {
                let own = |r: usize| records.get(r, 0);
                let found =
                    (0..records.len()).find(|&r| own(r) == Some(self.0) || self.is_spelled(own(r)));
                if let Some(record) = found {
                    self.1 = self.1.into_iter().chain([(at, record)]).min();
                }
                Ok(())
            }
        }
        let wanted = [self.position(column)?];
        let scan = self.scan(&wanted, || Finder(text.as_bytes(), None, self.decimal()), &Silent)?;
        let first = scan.workers.iter().filter_map(|finder| finder.1).min();
        Ok(first.map(|(at, record)| scan.place(at, record)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use incrowd_core::model::PrivacyModel;
    use incrowd_core::{Code, ColumnSpec, Dataset, Partition, RowId, Span, Value};

    /// Makes two groups. The first has two records of a and one of b. The second has two records of
    /// c and one of a. `swap` exchanges an entry of the written numbers in the first group with one
    /// in the second. Each entry is given by the number of records of its person.
    fn smallest_group(swap: Option<(usize, usize)>) -> u64 {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("in.csv");
        std::fs::write(&input, "who,age\na,1\na,1\nb,1\nc,2\nc,2\na,2\n").unwrap();
        let mut engine = Embedded::open(&[input], &Options::default()).unwrap();
        let tables = vec![dir.path().join("out.csv").into()];
        engine
            .begin(&Places { tables, manifest: dir.path().join("out.json"), ..Places::default() })
            .unwrap();
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
            // Records are sorted by age. The number of occurrences of a code identifies the person:
            // a has three records, c two, b one.
            let stream = engine.persons[0].as_mut().unwrap();
            let kept = stream.read().unwrap();
            let often = |at: usize| kept.iter().filter(|code| **code == kept[at]).count();
            let place = |group: usize, times: usize| {
                (3 * group..3 * group + 3).find(|&at| often(at) == times)
            };
            let mut swapped = kept.clone();
            swapped.swap(place(0, one).unwrap(), place(1, other).unwrap());
            *stream = WrittenNumbers::new(dir.path());
            stream.add(&swapped).unwrap();
        }
        let back = engine.read_back(0, &columns, ExaminedColumns::default(), &Silent).unwrap();
        let release = Dataset::of_release(back.folded, 1, &[]).unwrap();
        let privacy_model =
            PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(2))]).unwrap();
        let model = privacy_model.model.bind(&release).unwrap();
        let group = |row: usize| model.admits(&release.summary(std::iter::once(row)));
        let smallest = (0..release.rows()).map(|row| group(row).have as u64).min().unwrap();
        assert_eq!((0..release.rows()).all(|row| group(row).holds), smallest >= 2);
        smallest
    }

    #[test]
    fn the_check_reads_persons_from_the_written_numbers() {
        assert_eq!(smallest_group(None), 2);
        // Exchanges a record of a with a record of a: nothing changes.
        assert_eq!(smallest_group(Some((3, 3))), 2);
        // Exchanges b with c. The groups are then {a, c} and {c, b, a}.
        assert_eq!(smallest_group(Some((1, 2))), 2);
        // Exchanges b with a. The first group then has only a.
        assert_eq!(smallest_group(Some((1, 3))), 1);
    }
}
