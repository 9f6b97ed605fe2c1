//! The compiled part of `incrowd.spark`. Spark work is done by Python objects whose methods are
//! called here. Only counts and plans are exchanged, as streams of record batches.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{Schema, SchemaRef};
use incrowd::front_end::engine::{
    Asked, Order, Part, PersonColumn, Places, PlannedPart, Receipt, Remote, RemoteEngine,
    RemoteParts, RemotePlan, RemoteStore, Rows, Whole,
};
use incrowd::job::keys::Command;
use incrowd::{Batches, Error, Location, Source};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::arguments::Arguments;
use crate::errors;
use crate::release::Release;
use crate::tables::{Given, capsule};
use crate::work::run;

/// The attribute of Python tables that another system holds.
pub(crate) const REMOTE: &str = "__incrowd_remote__";

/// A stream of rows for Python.
#[pyclass(frozen, module = "incrowd._incrowd")]
#[derive(Debug)]
pub(crate) struct Stream {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Stream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        capsule::give(py, RecordBatchIterator::new(batches, self.schema.clone()))
    }
}

impl Stream {
    fn of((schema, batches): &Rows) -> Stream {
        Stream { schema: schema.clone(), batches: batches.clone() }
    }
}

/// Reads the rows of a Python object.
fn rows(object: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let capsule = object.call_method1("__arrow_c_stream__", (object.py().None(),))?;
    let (schema, batches) = capsule::take(capsule.cast()?)?;
    let plain = SchemaRef::new(Schema::new(schema.fields().clone()));
    let batches = batches
        .into_iter()
        .map(|batch| RecordBatch::try_new(plain.clone(), batch.columns().to_vec()));
    let odd = |_| pyo3::exceptions::PyValueError::new_err("batches of different columns");
    let batches = batches.collect::<Result<_, _>>().map_err(odd)?;
    Ok((plain, batches))
}

/// Converts a Python exception. Of exceptions that are not ours only the class is shown, because
/// the message may contain a cell.
fn converted(py: Python<'_>, raised: &PyErr) -> Error {
    let value = raised.value(py);
    let text = |name: &str| value.getattr(name).ok().and_then(|text| text.extract::<String>().ok());
    let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let message = || text("message").unwrap_or_default();
    let error = match kind.as_str() {
        "InputError" => Error::input(message()),
        "JobError" => Error::job(message()),
        "Unsatisfiable" => Error::unsatisfiable(message()),
        "ResourcesError" => Error::resources(message()),
        "KeyboardInterrupt" => Error::resources("interrupted"),
        _ => return Error::bug(format!("`incrowd.spark` failed: {kind}")),
    };
    let error = match text("help") {
        Some(help) => error.help(help),
        None => error,
    };
    match text("key") {
        Some(key) => error.at(key),
        None => error,
    }
}

/// Calls a method and converts its result.
fn call<T>(
    object: &Py<PyAny>,
    method: &str,
    arguments: impl for<'py> PyCallArgs<'py>,
    answer: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
) -> incrowd::Result<T> {
    Python::attach(|py| {
        let answered = object.bind(py).call_method1(method, arguments).and_then(answer);
        answered.map_err(|raised| converted(py, &raised))
    })
}

/// Calls a method that returns rows.
fn call_rows(
    object: &Py<PyAny>,
    method: &str,
    arguments: impl for<'py> PyCallArgs<'py>,
) -> incrowd::Result<Rows> {
    call(object, method, arguments, |answer| rows(&answer))
}

/// Calls a method that returns a value.
fn call_value<T: for<'a, 'py> FromPyObject<'a, 'py>>(
    object: &Py<PyAny>,
    method: &str,
    arguments: impl for<'py> PyCallArgs<'py>,
) -> incrowd::Result<T> {
    call(object, method, arguments, |answer| answer.extract().map_err(Into::into))
}

/// Calls a method that returns nothing.
fn call_only(
    object: &Py<PyAny>,
    method: &str,
    arguments: impl for<'py> PyCallArgs<'py>,
) -> incrowd::Result<()> {
    call(object, method, arguments, |_| Ok(()))
}

/// A Spark DataFrame.
pub(crate) struct SparkTable {
    object: Py<PyAny>,
    name: String,
    schema: SchemaRef,
    knows_persons: bool,
    knows_weights: bool,
}

// Cells must not reach logs.
impl std::fmt::Debug for SparkTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparkTable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl SparkTable {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<SparkTable> {
        let (schema, _) = rows(&object.call_method0("schema")?)?;
        let name = object.getattr("name")?.extract()?;
        let knows = |what: &str| object.getattr(what)?.extract();
        let (knows_persons, knows_weights) = (knows("knows_persons")?, knows("knows_weights")?);
        Ok(SparkTable {
            object: object.clone().unbind(),
            name,
            schema,
            knows_persons,
            knows_weights,
        })
    }

    /// Wraps a Spark table as input.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Batches> {
        Ok(Batches::remote(Arc::new(SparkTable::new(object)?)))
    }
}

impl Remote for SparkTable {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn count(&self, columns: &[String]) -> incrowd::Result<Rows> {
        call_rows(&self.object, "count", (columns,))
    }

    fn unique_records(&self, sets: &[Vec<String>]) -> incrowd::Result<Vec<u64>> {
        call_value(&self.object, "unique_records", (sets,))
    }

    fn knows_persons(&self) -> bool {
        self.knows_persons
    }

    fn count_persons(
        &self,
        columns: &[String],
        person: Option<PersonColumn<'_>>,
    ) -> incrowd::Result<Rows> {
        let (name, missing) = person.map(|own| (own.name, own.missing)).unzip();
        let missing = missing.unwrap_or_default();
        call_rows(&self.object, "count_persons", (columns, name, missing))
    }

    fn knows_weights(&self) -> bool {
        self.knows_weights
    }

    fn count_weights(
        &self,
        columns: &[String],
        weight: Option<&str>,
        missing: &[String],
    ) -> incrowd::Result<Rows> {
        call_rows(&self.object, "count_weights", (columns, weight, missing))
    }

    fn unique_persons(&self, sets: &[Vec<String>]) -> incrowd::Result<(Vec<u64>, u64)> {
        call_value(&self.object, "unique_persons", (sets,))
    }

    fn repeating(&self, columns: &[String], missing: &[String]) -> incrowd::Result<Vec<String>> {
        call_value(&self.object, "repeating", (columns, missing))
    }

    fn digest(&self) -> incrowd::Result<String> {
        call_value(&self.object, "digest", ())
    }
}

/// The store of a release in Spark.
#[derive(Debug)]
struct SparkStore {
    object: Py<PyAny>,
}

impl RemoteStore for SparkStore {
    fn begin(&mut self, places: &Places) -> incrowd::Result<()> {
        if places.tables.len() != 1 {
            return Err(Error::job("Spark cannot publish a release of several tables atomically")
                .help("choose an algorithm that publishes one table")
                .at("algorithm.name"));
        }
        call_only(&self.object, "begin", (places.replace,))
    }

    fn count_and_keep(&mut self, columns: &[String], asked: Asked<'_>) -> incrowd::Result<Rows> {
        let (person, weight, missing) = match asked {
            Asked::Nothing => (None, None, &[][..]),
            Asked::Persons(PersonColumn { name, missing }) => (Some(name), None, missing),
            Asked::Weights(name, missing) => (None, Some(name), missing),
        };
        call_rows(&self.object, "count_and_keep", (columns, person, weight, missing))
    }

    fn stage(&mut self, _: usize, plan: &RemotePlan) -> incrowd::Result<u64> {
        let (columns, output_rows, slots, is_sorted, records) = planned(plan);
        let arguments =
            (columns, output_rows, slots, is_sorted, records, plan.persons, plan.weights);
        call_value(&self.object, "stage", arguments)
    }

    fn open(&self, _: usize) -> incrowd::Result<Arc<dyn Remote>> {
        let opened =
            |answer: Bound<'_, PyAny>| Ok(Arc::new(SparkTable::new(&answer)?) as Arc<dyn Remote>);
        call(&self.object, "open", (), opened)
    }

    fn publish(&mut self, manifest: &[u8]) -> incrowd::Result<()> {
        call_only(&self.object, "publish", (manifest,))
    }

    fn parts(&mut self) -> Option<&mut dyn RemoteParts> {
        Some(self)
    }

    fn discard(&mut self) {
        // Another error is already reported.
        drop(call_only(&self.object, "discard", ()));
    }
}

impl RemoteParts for SparkStore {
    fn too_many(&mut self, columns: &[String]) -> incrowd::Result<Option<(u64, u64)>> {
        call_value(&self.object, "too_many", (columns,))
    }

    fn fold(&mut self, columns: &[String]) -> incrowd::Result<()> {
        call_only(&self.object, "fold", (columns,))
    }

    fn values(&mut self, column: usize) -> incrowd::Result<Rows> {
        call_rows(&self.object, "values", (column,))
    }

    fn place(&mut self, codes: &[Rows], quasi: usize, drop_missing: bool) -> incrowd::Result<()> {
        let codes: Vec<Stream> = codes.iter().map(Stream::of).collect();
        call_only(&self.object, "place_rows", (codes, quasi, drop_missing))
    }

    fn codes(&mut self) -> incrowd::Result<Vec<Vec<u32>>> {
        call_value(&self.object, "codes", ())
    }

    fn borders(&mut self, part: &Part, pieces: usize) -> incrowd::Result<Vec<Vec<i64>>> {
        call_value(&self.object, "borders", (part, pieces))
    }

    fn cells(&mut self, part: &Part, borders: &[Vec<i64>]) -> incrowd::Result<Rows> {
        call_rows(&self.object, "cells", (part, borders))
    }

    fn rows(&mut self, part: &Part) -> incrowd::Result<Rows> {
        call_rows(&self.object, "part_rows", (part,))
    }

    fn keep(&mut self, plan: &RemotePlan) -> incrowd::Result<()> {
        call_only(&self.object, "keep", planned(plan))
    }

    fn has_workers(&mut self) -> incrowd::Result<bool> {
        call_value(&self.object, "has_workers", ())
    }

    fn plan(&mut self, parts: &[Part], whole: &Whole) -> incrowd::Result<()> {
        let column = |(name, rows): &(String, Rows)| (name.clone(), Stream::of(rows));
        let columns: Vec<(String, Stream)> = whole.columns.iter().map(column).collect();
        call_only(&self.object, "plan_parts", (parts, columns, &whole.marker))
    }

    fn planned(&mut self, part: usize) -> incrowd::Result<PlannedPart> {
        call(&self.object, "planned", (part,), |answer| taken(&answer))
    }

    fn write(&mut self) -> incrowd::Result<u64> {
        call_value(&self.object, "write_kept", ())
    }
}

/// A plan as method arguments.
type Planned = (Vec<(String, bool)>, Stream, Option<Stream>, bool, u64);

/// Converts a plan to method arguments.
fn planned(plan: &RemotePlan) -> Planned {
    let slots = plan.slots.as_ref().map(Stream::of);
    let is_sorted = plan.order == Order::Sorted;
    (plan.columns.clone(), Stream::of(&plan.output_rows), slots, is_sorted, plan.records)
}

/// Converts the answered plan of a part: the arguments of [`planned`], the number of suppressed
/// records, and further data.
fn taken(answer: &Bound<'_, PyAny>) -> PyResult<PlannedPart> {
    let (plan, suppressed, known): (Bound<'_, PyAny>, u64, String) = answer.extract()?;
    let (columns, output_rows, slots, is_sorted, records): (
        _,
        Bound<'_, PyAny>,
        Option<Bound<'_, PyAny>>,
        bool,
        u64,
    ) = plan.extract()?;
    let slots = slots.map(|slots| rows(&slots)).transpose()?;
    let order = if is_sorted { Order::Sorted } else { Order::Shuffled };
    let plan = RemotePlan {
        columns,
        output_rows: rows(&output_rows)?,
        slots,
        order,
        records,
        persons: false,
        weights: false,
    };
    Ok(PlannedPart { plan, receipt: Receipt { published: records, suppressed }, known })
}

/// The columns of a table, on a machine that has only some of its rows.
#[derive(Debug)]
struct Columns(SchemaRef);

impl Columns {
    fn refused<T>() -> incrowd::Result<T> {
        Err(Error::job("this needs the whole table, but only a part is available")
            .help("plan on the driver"))
    }
}

impl Remote for Columns {
    fn name(&self) -> &str {
        "df"
    }

    fn schema(&self) -> SchemaRef {
        self.0.clone()
    }

    fn count(&self, _: &[String]) -> incrowd::Result<Rows> {
        Columns::refused()
    }

    fn unique_records(&self, _: &[Vec<String>]) -> incrowd::Result<Vec<u64>> {
        Columns::refused()
    }

    fn repeating(&self, _: &[String], _: &[String]) -> incrowd::Result<Vec<String>> {
        Columns::refused()
    }

    fn digest(&self) -> incrowd::Result<String> {
        Columns::refused()
    }
}

/// The plan of a part, its number of suppressed records, and further data.
type Answered = (Planned, u64, String);

/// Plans one part of a Spark table on the machine that has its rows. `schema` is an empty table
/// with the columns of the whole table, `columns` and `marker` describe the whole table, `rows` are
/// the rows of the part.
#[pyfunction]
pub(crate) fn spark_plan_part(
    py: Python<'_>,
    schema: &Bound<'_, PyAny>,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    columns: Vec<(String, Bound<'_, PyAny>)>,
    marker: Option<String>,
    part: &Bound<'_, PyAny>,
) -> PyResult<Answered> {
    let arguments = Arguments::of(py, Command::Anonymize, arguments)?;
    let remote: Arc<dyn Remote> = Arc::new(Columns(rows(schema)?.0));
    let columns = columns.into_iter().map(|(name, stream)| Ok((name, rows(&stream)?)));
    let whole = Whole { columns: columns.collect::<PyResult<_>>()?, marker };
    let part = rows(part)?;
    run(py, None, move |progress| {
        let given = Given::Memory(Batches::remote(remote.clone()));
        let file = arguments.making_remote(job.as_deref(), given, "part")?;
        let mut engine = RemoteEngine::of_part(remote, &whole, part)?;
        let result = incrowd::front_end::plan_part(&mut engine, &file.job, &whole, progress);
        let part = result.map_err(|error| file.provenance.locate(error))?;
        Ok((planned(&part.plan), part.receipt.suppressed, part.known))
    })
}

/// Makes a release of a Spark table. Spark writes it.
#[pyfunction]
pub(crate) fn spark_anonymize(
    py: Python<'_>,
    table: Bound<'_, PyAny>,
    store: Py<PyAny>,
    place: &str,
    arguments: &Bound<'_, PyDict>,
    job: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Release, Vec<String>)> {
    let arguments = Arguments::of(py, Command::Anonymize, arguments)?;
    let remote: Arc<dyn Remote> = Arc::new(SparkTable::new(&table)?);
    let place = place.to_owned();
    // Moved to the worker thread.
    let store = Mutex::new(Some(SparkStore { object: store }));
    run(py, progress, move |progress| {
        let given = Given::Memory(Batches::remote(remote.clone()));
        let file = arguments.making_remote(job.as_deref(), given, &place)?;
        let store = store.lock().unwrap_or_else(PoisonError::into_inner).take();
        let store = store.ok_or_else(|| Error::bug("a store was used twice"))?;
        let mut engine = RemoteEngine::new(remote, Box::new(store))?;
        let report = incrowd::Anonymizer::new(&file.job).progress(progress).run_with(&mut engine);
        let report = report.map_err(|error| file.provenance.locate(error))?;
        let (release, warnings) = Release::in_files(report, file.job);
        Ok((release, file.notes.into_iter().chain(warnings).collect()))
    })
}

/// Publishes a staged directory atomically. The old directory is moved to the staged path.
#[pyfunction]
pub(crate) fn put_directory(py: Python<'_>, staged: PathBuf, target: PathBuf) -> PyResult<()> {
    let put = py.detach(|| incrowd::front_end::engine::put_directory(&staged, &target));
    put.map_err(|error| errors::raise(py, error.into()))
}

/// Returns the files of a table in a directory, and the digest of their bytes.
#[pyfunction]
pub(crate) fn digest(py: Python<'_>, directory: PathBuf) -> PyResult<(Vec<PathBuf>, String)> {
    let read = || {
        let files = Source::matching(&[directory])?;
        let digest = incrowd::front_end::engine::digest_of(&files)?;
        Ok((files, digest))
    };
    py.detach(read).map_err(|error: Error| errors::raise(py, error.into()))
}

/// Returns the digest of the files of a Python iterable. Each file exists until the next one is
/// requested.
#[pyfunction]
pub(crate) fn digest_each(py: Python<'_>, paths: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut raised = None;
    let paths = paths.try_iter()?.map(|path| {
        path.and_then(|path| path.extract::<PathBuf>()).map_err(|error| {
            let error = raised.insert(error);
            converted(py, error)
        })
    });
    let digest = incrowd::front_end::engine::digest_of_each(paths);
    match raised {
        Some(error) => Err(error),
        None => digest.map_err(|error| errors::raise(py, error.into())),
    }
}

/// Returns the input paths, the stated format and the output path of a job file.
#[pyfunction]
pub(crate) fn job_places(
    py: Python<'_>,
    job: PathBuf,
) -> PyResult<(Vec<PathBuf>, Option<String>, Option<PathBuf>)> {
    let file = incrowd::job::JobBuilder::read(&job).and_then(|builder| builder.finish_judging());
    let file = file.map_err(|error| errors::raise(py, error))?;
    // Spark would read such a directory as single Parquet files.
    for path in file.job.input.paths.iter().filter_map(Location::file) {
        let checked = incrowd::front_end::engine::check_table_format(path);
        checked
            .map_err(|error| errors::raise(py, file.provenance.locate(error.at("input.path"))))?;
    }
    let input = file.job.input;
    let paths = input.paths.iter().map(PathBuf::from).collect();
    Ok((paths, input.format, file.job.output.map(|output| PathBuf::from(&output.path))))
}
