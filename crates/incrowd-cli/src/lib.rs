//! The command line of incrowd. Arguments are parsed into a job, the job is run, and its report is
//! printed.
//!
//! It is a library so that the binary and the Python package provide the same command.

mod args;
mod commands;
mod failure;
mod flags;
mod print;
mod progress;
mod streams;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::Failure;
use print::errln;

/// Whether the run was interrupted.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Two signals within this time count as one interruption: a parent program may send a signal both
/// to the process and to its process group.
const ONE_INTERRUPTION: Duration = Duration::from_millis(300);

/// Runs the command with the given arguments, the program's name first, and returns its exit code.
/// It installs a signal handler and may end the process.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // An interrupted run removes its staged files.
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        if again && first.is_some_and(|first| first.elapsed() < ONE_INTERRUPTION) {
            return;
        }
        first = Some(Instant::now());
        // A comparison stops and prints its finished results. A second interruption ends it.
        if !again && commands::compare::RUNNING.load(Ordering::SeqCst) {
            return;
        }
        // A server deletes its uploads and ends.
        if !again && commands::serve::stop() {
            return;
        }
        let published = incrowd::front_end::abandon_all();
        progress::report_published(published);
        end(130);
    })
    .ok();
    // With a handler for SIGXFSZ, a write beyond the file size limit returns an error, which is
    // reported. Without it the signal would end the process.
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default()).ok();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let given = streams::use_outputs().and_then(|()| {
        streams::keep_messages_out(&arguments);
        streams::arguments(&Cli::command(), arguments)
    });
    let code = match given {
        Ok(arguments) => match Cli::try_parse_from(&arguments) {
            Ok(cli) => match run(&cli) {
                Ok(code) => code,
                // The signal handler removed the staged files and is about to end the process.
                Err(_) if INTERRUPTED.load(Ordering::SeqCst) => loop {
                    std::thread::park();
                },
                Err(failure) => failure.report(),
            },
            Err(error) => usage(&error, &arguments),
        },
        Err(error) => Failure::from(error).report(),
    };
    streams::remove_temporary();
    code
}

/// Prints help, the version, or an error about the arguments. An argument may be the name of a
/// file, so characters that control the terminal are escaped.
fn usage(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let is_plain =
        |argument: &OsString| argument.to_str().is_some_and(|text| print::one_line(text) == text);
    if !error.use_stderr() || arguments.iter().all(is_plain) {
        error.print().ok();
    } else {
        errln!("{}", error.render().to_string().trim_end());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Ends the process without temporary files.
fn end(code: i32) -> ! {
    streams::abandon_temporary();
    std::process::exit(code);
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let mode = print::OutputMode { json: cli.json, quiet: cli.quiet, times: cli.times };
    match &cli.command {
        Command::Anonymize(args) => commands::anonymize::run(args, mode),
        Command::Verify(args) => commands::verify::run(args, mode),
        Command::Measure(args) => commands::measure::run(args, mode),
        Command::Attack(args) => commands::attack::run(args, mode),
        Command::Hierarchy(args) => commands::hierarchy::run(args, mode),
        Command::Explain(args) => commands::explain::run(args, mode),
        Command::Demo(args) => commands::demo::run(args, mode),
        Command::Profile(args) => commands::profile::run(args, mode),
        Command::Init(args) => commands::init::run(args, mode),
        Command::Batches(args) => commands::batches::run(args, mode),
        Command::Report(args) => commands::report::run(args, mode),
        Command::Recover(args) => commands::recover::run(args, mode),
        Command::Compare(args) => commands::compare::run(args, mode),
        Command::Serve(args) => commands::serve::run(args, mode),
        Command::Completions { shell } => {
            commands::completions::run(*shell);
            Ok(ExitCode::SUCCESS)
        }
    }
}
