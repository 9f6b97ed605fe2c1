//! A verified, immutable release.

use std::path::PathBuf;

use arrow_array::RecordBatchReader;
use incrowd::front_end::core::text::Block;
use incrowd::job::Job;
use incrowd::{Error, JudgingBuilder, MemoryRelease, Released, Report};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors;
use crate::tables::{capsule, cells};

/// A release with its report.
#[pyclass(frozen, module = "incrowd._incrowd")]
#[derive(Debug)]
pub(crate) struct Release {
    job: Job,
    /// The tables, if they are in memory.
    held: Option<MemoryRelease>,
    paths: Vec<PathBuf>,
    manifest: String,
    answer: String,
    public_text: String,
    owner_text: String,
}

impl Release {
    /// Returns a release in files, and its warnings.
    pub(crate) fn in_files(report: Report, job: Job) -> (Release, Vec<String>) {
        let warnings = warnings(&report);
        (Release::new(report, job, None), warnings)
    }

    /// Returns a release in memory, and its warnings.
    pub(crate) fn in_memory(released: Released, job: Job) -> (Release, Vec<String>) {
        let Released { tables, report, .. } = released;
        let warnings = warnings(&report);
        let held = MemoryRelease { tables, manifest: report.manifest.clone() };
        (Release::new(report, job, Some(held)), warnings)
    }

    fn new(report: Report, mut job: Job, held: Option<MemoryRelease>) -> Release {
        // The release must not keep the original in memory.
        job.input.memory = None;
        Release {
            manifest: report.manifest.to_json().to_string(),
            answer: report.to_json().to_string(),
            public_text: text(&report.public_text(), held.is_some()),
            owner_text: text(&report.owner_text(), false),
            paths: if held.is_some() { Vec::new() } else { report.tables },
            job,
            held,
        }
    }

    fn reader(
        &self,
        py: Python<'_>,
        table: usize,
    ) -> PyResult<impl RecordBatchReader + Send + use<>> {
        let held = self.held.as_ref().and_then(|held| held.tables.get(table));
        let held =
            held.ok_or_else(|| pyo3::exceptions::PyIndexError::new_err("there is no such table"))?;
        held.reader().map_err(|e| errors::raise(py, e.into()))
    }

    /// Returns the request to judge the release with the models of its manifest.
    pub(crate) fn judging(&self) -> JudgingBuilder {
        JudgingBuilder::of_release(&self.job, self.held.clone())
    }
}

#[pymethods]
impl Release {
    #[getter]
    fn manifest(&self) -> &str {
        &self.manifest
    }

    #[getter]
    fn answer(&self) -> &str {
        &self.answer
    }

    #[getter]
    fn public_text(&self) -> &str {
        &self.public_text
    }

    #[getter]
    fn owner_text(&self) -> &str {
        &self.owner_text
    }

    /// Returns the person column of the original.
    #[getter(person)]
    fn person_column(&self) -> Option<&str> {
        self.job.input.person.as_deref()
    }

    /// Returns the files, if the release is in files.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.paths.clone()
    }

    /// Returns the names of the tables in memory, as in the manifest.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.held
            .iter()
            .flat_map(|held| &held.tables)
            .map(|table| table.name().to_owned())
            .collect()
    }

    /// Returns the column names of a table, and its first rows as texts.
    fn head(
        &self,
        py: Python<'_>,
        table: usize,
        rows: usize,
    ) -> PyResult<(Vec<String>, Vec<Vec<String>>)> {
        let reader = self.reader(py, table)?;
        let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let mut head: Vec<Vec<String>> = Vec::new();
        for batch in reader {
            let batch = batch.map_err(|_| unread(py))?;
            let left = rows - head.len();
            if left == 0 {
                break;
            }
            let row = |row: usize| {
                batch.columns().iter().map(|column| cells::text(column, row)).collect()
            };
            head.extend((0..batch.num_rows().min(left)).map(row));
        }
        Ok((names, head))
    }

    /// Returns a table in memory as a stream of record batches. Types are not cast.
    fn stream<'py>(&self, py: Python<'py>, table: usize) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::give(py, self.reader(py, table)?)
    }
}

fn unread(py: Python<'_>) -> PyErr {
    errors::raise(py, Error::bug("a release cannot be exported").into())
}

fn warnings(report: &Report) -> Vec<String> {
    let dropped = (!report.dropped_columns.is_empty()).then(|| {
        format!("not published, because they have no role: {}", report.dropped_columns.join(", "))
    });
    let warnings = report.warnings.iter().map(|warning| errors::with_arguments(warning));
    dropped.into_iter().chain(warnings).collect()
}

/// Renders lines and tables as text. Lines about files are omitted for a release in memory.
fn text(blocks: &[Block], in_memory: bool) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Line(line) if in_memory && line.starts_with("manifest ") => {}
            Block::Line(line) => out += &format!("{line}\n"),
            Block::Table(rows) => out += &aligned(rows),
        }
    }
    out
}

/// Formats a table without borders. The first column is aligned left, the others right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |c: usize| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cell = |(c, cell): (usize, &String)| match c {
            0 => format!(" {cell:<0$}", widths[c]),
            _ => format!("  {cell:>0$}", widths[c]),
        };
        format!("{}\n", row.iter().enumerate().map(cell).collect::<String>().trim_end())
    };
    rows.iter().map(line).collect()
}
