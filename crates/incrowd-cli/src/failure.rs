//! Display of errors: the message, its place in the job file if there is one, and a help text.

use std::io::IsTerminal;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use incrowd::job::{JobError, Place};
use incrowd::{Error, Fault};

use crate::print::{errln, one_line, same_length, with_flags, write_stderr};
use crate::streams::name_stdin;

/// The error of a command.
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
    /// Prints the error and returns the exit code: 1 if a guarantee cannot be reached, else 2.
    pub(crate) fn report(self) -> ExitCode {
        let code = if self.error.fault() == Fault::Unsatisfiable { 1 } else { 2 };
        let bug = self.error.fault() == Fault::Bug;
        match self.place {
            Some(place) if is_short(&place) => write_stderr(&pointed(&self.error, &place)),
            place => {
                errln!(
                    "error: {}",
                    one_line(&name_stdin(&with_flags(&short(self.error.message()))))
                );
                if let Some(place) = place {
                    let (line, column) = place.line_and_column();
                    errln!(" --> {}:{line}:{column}", one_line(&place.file));
                }
                if let Some(flag) = &self.flag {
                    errln!("  from: {}", one_line(flag));
                }
                if let Some(help) = self.error.advice() {
                    errln!("  help: {}", one_line(&with_flags(&short(help))));
                }
            }
        }
        if bug {
            errln!(
                "  note: this is a bug in incrowd; nothing was published. \
                 Please report it with this message."
            );
        }
        ExitCode::from(code)
    }
}

/// The longest text of a message, in characters. A quoted parameter may be as long as a file.
const LONGEST: usize = 2000;

/// Returns the text, cut after [`LONGEST`] characters.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

/// Returns whether the lines of a place are short enough to be shown.
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

/// Renders an error with its place in a job file. The rendered text may contain colour codes, so
/// all parts are escaped before.
fn pointed(error: &Error, place: &Place) -> String {
    let end = place.text.len();
    let span = place.span.start.min(end)..place.span.end.min(end);
    let (text, file) = (same_length(&place.text), one_line(&place.file));
    let snippet = Snippet::source(&text).path(&file).annotation(AnnotationKind::Primary.span(span));
    let title = one_line(&with_flags(&short(error.message())));
    let mut group = Level::ERROR.primary_title(title).element(snippet);
    if let Some(help) = error.advice() {
        group = group.element(Level::HELP.message(one_line(&with_flags(&short(help)))));
    }
    let colours = std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}
