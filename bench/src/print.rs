//! Prints results to standard output. A closed pipe ends the process.

/// Prints a line like the macro of the standard library, which would panic on a closed pipe.
macro_rules! println {
    () => { $crate::print::line(format_args!("")) };
    ($($text:tt)*) => { $crate::print::line(format_args!($($text)*)) };
}

pub(crate) fn line(text: std::fmt::Arguments<'_>) {
    use std::io::Write;
    if let Err(error) = writeln!(std::io::stdout(), "{text}") {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            eprintln!("cannot write the result: {error}");
        }
        // The exit code a shell reports for SIGPIPE.
        std::process::exit(141);
    }
}
