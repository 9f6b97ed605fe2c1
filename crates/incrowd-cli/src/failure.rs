//! How an error is shown: one message, the place in the job file if it has one, and what would work.

use std::io::IsTerminal;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use incrowd::job::{JobError, Place};
use incrowd::{Error, Fault};

use crate::print::{talk, with_flags};
use crate::streams::shown;

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
            Some(place) if is_short(&place) => talk!("{}", pointed(&self.error, &place)),
            place => {
                talk!("error: {}", shown(&with_flags(&short(self.error.message()))));
                if let Some(place) = place {
                    let (line, column) = place.line_and_column();
                    talk!(" --> {}:{line}:{column}", place.file);
                }
                if let Some(flag) = &self.flag {
                    talk!("  from: {flag}");
                }
                if let Some(help) = self.error.advice() {
                    talk!("  help: {}", with_flags(&short(help)));
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

/// A message is for people to read: what was written may be as long as a file.
const LONGEST: usize = 2000;

/// A text, cut where nobody reads on.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

/// Whether the lines of a place can be shown.
fn is_short(place: &Place) -> bool {
    let end = place.text.len();
    let from = place.text.as_bytes()[..place.span.start.min(end)]
        .iter()
        .rposition(|&b| b == b'\n')
        .map_or(0, |i| i + 1);
    let upto = place.span.end.clamp(from, end);
    let rest = place.text.as_bytes()[upto..].iter().position(|&b| b == b'\n').unwrap_or(end - upto);
    upto + rest - from <= LONGEST
}

/// An error with its place in a job file.
fn pointed(error: &Error, place: &Place) -> String {
    let end = place.text.len();
    let span = place.span.start.min(end)..place.span.end.min(end);
    let snippet =
        Snippet::source(&place.text).path(&place.file).annotation(AnnotationKind::Primary.span(span));
    let mut group = Level::ERROR.primary_title(with_flags(&short(error.message()))).element(snippet);
    if let Some(help) = error.advice() {
        group = group.element(Level::HELP.message(with_flags(&short(help))));
    }
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}
