//! Results go to standard output, and whoever closes the pipe early has seen enough.

/// Prints a line, as the macro of that name in the standard library does, which panics where nobody reads on.
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
        // As a shell reports a program that a closed pipe ended.
        std::process::exit(141);
    }
}
