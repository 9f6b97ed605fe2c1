//! The command line of incrowd: what was typed becomes a job, the job becomes a report, the report is printed.
//!
//! It is a library so that the binary and the Python package bring the same command.

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

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

/// Whether somebody interrupted the run.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Programs that run others may pass one interruption on twice, to the process and to its group.
const ONE_INTERRUPTION: Duration = Duration::from_millis(300);

/// Runs the command with what was typed, the program's name first, and returns its exit code. The process is taken to be the
/// command's own: interruptions are handled, and it may end here.
pub fn run_command(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Whoever interrupts a run finds the directory as it was before.
    let mut first: Option<Instant> = None;
    ctrlc::set_handler(move || {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        if again && first.is_some_and(|first| first.elapsed() < ONE_INTERRUPTION) {
            return;
        }
        first = Some(Instant::now());
        // A comparison ends by itself with what it has; whoever cannot wait asks twice.
        if !again && commands::compare::UNDER_WAY.load(Ordering::SeqCst) {
            return;
        }
        // A server puts away what it keeps, and ends.
        if !again && commands::serve::stop() {
            return;
        }
        incrowd::abandon_all();
        std::process::exit(130);
    })
    .ok();
    // A file that grows beyond the limit is an error of the write, which is told, and no reason to fall dead.
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default()).ok();
    let cli = match streams::arguments(typed) {
        Ok(arguments) => Cli::parse_from(arguments),
        Err(error) => return Failure::from(error).report(),
    };
    match run(&cli) {
        Ok(code) => code,
        // That its files are gone is no failure of the run; the process is about to end.
        Err(_) if INTERRUPTED.load(Ordering::SeqCst) => loop {
            std::thread::park();
        },
        Err(failure) => failure.report(),
    }
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
        Command::Compare(args) => commands::compare::run(args, mode),
        Command::Serve(args) => commands::serve::run(args, mode),
        Command::Completions { shell } => {
            commands::completions::run(*shell);
            Ok(ExitCode::SUCCESS)
        }
    }
}
