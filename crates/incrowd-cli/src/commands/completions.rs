//! `incrowd completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::print::print_file;

pub(crate) fn run(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "incrowd", &mut script);
    print_file(&String::from_utf8_lossy(&script));
}
