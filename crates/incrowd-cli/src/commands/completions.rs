//! `incrowd completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;

pub(crate) fn run(shell: Shell) {
    clap_complete::generate(shell, &mut Cli::command(), "incrowd", &mut std::io::stdout());
}
