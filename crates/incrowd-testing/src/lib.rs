//! Shared code of the tests: fixtures, public data, and visible skipping of tests.
//!
//! A test that cannot run calls [`skip!`] or [`or_skip!`] with the reason and the missing
//! requirement. The line is written to standard error, bypassing the test harness, which captures
//! the output of passing tests, and to the file `INCROWD_TEST_SKIPPED`. `./test` creates that file
//! and prints it at its end.

pub mod foreign;
#[cfg(unix)]
pub mod postgres;
pub mod workspace;

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ends a test that cannot run, with the reason.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::skipped(format_args!($($why)*));
        return;
    }};
}

/// Returns the value of a result, or skips the test with its error as the reason.
#[macro_export]
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(why) => $crate::skip!("{why}"),
        }
    };
}

/// Records that a test, or a part of it, was skipped. The test is named by its thread.
#[track_caller]
pub fn skipped(why: impl Display) {
    let place = std::panic::Location::caller();
    let thread = std::thread::current();
    let test = thread
        .name()
        .filter(|name| *name != "main")
        .map_or_else(|| place.to_string(), str::to_owned);
    let line = format!("{test}: {why}\n");
    drop(std::io::stderr().write_all(format!("skipped: {line}").as_bytes()));
    if let Some(file) = std::env::var_os("INCROWD_TEST_SKIPPED") {
        let list = std::fs::OpenOptions::new().create(true).append(true).open(file);
        list.and_then(|mut list| list.write_all(line.as_bytes()))
            .expect("the list of skipped tests is written");
    }
}

/// Returns whether tests may install packages.
pub fn may_install() -> bool {
    std::env::var_os("INCROWD_TEST_INSTALL").is_some_and(|value| value == "1")
}

/// Returns the directory of public tables: `INCROWD_DATA`, else `../shared/data` next to the
/// repository.
pub fn data_dir() -> PathBuf {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("INCROWD_DATA").map_or(default, PathBuf::from)
}

/// Returns the directory of public tables if it has this file, else the reason to skip.
pub fn data(file: &str) -> Result<PathBuf, String> {
    let dir = data_dir();
    if dir.join(file).exists() {
        Ok(dir)
    } else {
        Err(format!("no {file}; set INCROWD_DATA to a directory that has it"))
    }
}

/// Returns the text of a fixture. All crates share the directory `crates/incrowd-testing/fixtures`.
///
/// # Panics
///
/// If there is no fixture of that name.
pub fn fixture(name: &str) -> &'static str {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.leak()
}

/// Returns whether the long tests run completely, as in `./test --full`.
pub fn is_full() -> bool {
    std::env::var_os("INCROWD_TEST_FULL").is_some_and(|value| value == "1")
}

/// Returns the number of cases of a slow property: `all` in the complete tests, else a sixth.
pub fn cases(all: u32) -> u32 {
    if is_full() { all } else { all.div_ceil(6) }
}

/// Returns the step between the checked members of a long series: 1 in the complete tests.
pub fn step(short: usize) -> usize {
    if is_full() { 1 } else { short }
}
