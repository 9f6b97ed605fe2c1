//! The binary `incrowd`.

fn main() -> std::process::ExitCode {
    incrowd_cli::run_command(std::env::args_os())
}
