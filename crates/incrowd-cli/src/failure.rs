//! How an error is shown: one message, the place in the job file if it has one, and what would work.

use std::process::ExitCode;

use crate::print::{talk, with_flags};
use incrowd::job::{JobError, Place};
use incrowd::{Error, Fault};
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    place: Option<Box<Place>>,
    flag: Option<String>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, place: None, flag: None }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        Failure { error: error.error, place: error.place, flag: error.flag }
    }
}

impl Failure {
    /// Prints the error; the exit code tells whether the promise cannot be kept or the work could not be done.
    pub(crate) fn report(self) -> ExitCode {
        let code = if self.error.fault() == Fault::Unsatisfiable { 1 } else { 2 };
        let bug = self.error.fault() == Fault::Bug;
        match self.place {
            Some(place) => {
                let source = NamedSource::new(&place.file, place.text.clone());
                let pointed = Pointed { error: self.error, source, span: place.span.clone() };
                talk!("{:?}", miette::Report::new(pointed));
            }
            None => {
                talk!("error: {}", with_flags(self.error.message()));
                if let Some(flag) = &self.flag {
                    talk!("  from: {flag}");
                }
                if let Some(help) = self.error.advice() {
                    talk!("  help: {}", with_flags(help));
                }
            }
        }
        if bug {
            talk!(
                "  note: this is a bug in incrowd; nothing was published. Please report it with this message."
            );
        }
        ExitCode::from(code)
    }
}

/// An error with its place in a job file.
#[derive(Debug)]
struct Pointed {
    error: Error,
    source: NamedSource<String>,
    span: std::ops::Range<usize>,
}

impl std::fmt::Display for Pointed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error: {}", with_flags(self.error.message()))
    }
}

impl std::error::Error for Pointed {}

impl Diagnostic for Pointed {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.error.advice().map(|help| Box::new(with_flags(help)) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(None, (self.span.start, self.span.len()));
        Some(Box::new(std::iter::once(label)))
    }
}
