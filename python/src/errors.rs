//! Exceptions of `incrowd`. Messages of the library name job keys; here argument names are added.

use incrowd::Fault;
use incrowd::job::JobError;
use incrowd::job::keys::{self, Form};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the exception for an error.
pub(crate) fn raise(py: Python<'_>, error: JobError) -> PyErr {
    let kind = match error.error.fault() {
        Fault::Input => "InputError",
        Fault::Job => "JobError",
        Fault::Unsatisfiable => "Unsatisfiable",
        Fault::Resources => "ResourcesError",
        // A bug, or a fault that a later version of the crate adds.
        _ => "InternalError",
    };
    let made = || -> PyResult<PyErr> {
        let class = py.import("incrowd._errors")?.getattr(kind)?;
        let details = PyDict::new(py);
        details.set_item("help", error.error.advice().map(with_arguments))?;
        details.set_item("key", error.error.key())?;
        details.set_item("argument", &error.flag)?;
        if let Some(place) = &error.place {
            details.set_item("file", &place.file)?;
            details.set_item("line", place.line_and_column().0)?;
        }
        Ok(PyErr::from_value(class.call((with_arguments(error.error.message()),), Some(&details))?))
    };
    made().unwrap_or_else(|failed| failed)
}

/// Warns the caller of the Python function that called this module.
pub(crate) fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let class = py.import("incrowd._errors")?.getattr("Warning")?;
    py.import("warnings")?.call_method1("warn", (with_arguments(text), class, 2)).map(drop)
}

/// Replaces job keys in a text of the library by arguments: `[output] path` is `output=`.
pub(crate) fn with_arguments(text: &str) -> String {
    let quoted = |piece: &str| {
        let request = ["[judging] ", "[attack] ", "[measure] "]
            .iter()
            .find_map(|part| piece.strip_prefix(part));
        if let Some(name) = request {
            return format!("`{name}=`");
        }
        let (title, value) = piece.split_once(" = ").unwrap_or((piece, ""));
        let flags = keys::titled(title).map_or(&[] as &[keys::Flag], |key| key.flags);
        let mut names = flags.iter().filter(|flag| match flag.form {
            Form::Argument | Form::Param => false,
            Form::Columns(role) => value.is_empty() || value.trim_matches('"') == role,
            _ => true,
        });
        match names.next() {
            Some(flag) => format!("`{}=`", incrowd::job::argument_name(flag)),
            None => format!("`{piece}`"),
        }
    };
    let piece =
        |(i, piece): (usize, &str)| if i % 2 == 1 { quoted(piece) } else { piece.to_owned() };
    text.split('`').enumerate().map(piece).collect()
}
