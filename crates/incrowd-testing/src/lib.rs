//! What the tests of all crates share: fixtures, the place of public data, and a way to skip that is seen.
//!
//! A test that cannot run says so with [`skip!`] or [`or_skip!`], with the reason and what would let it run. The line goes
//! to standard error, past the harness that shows what passing tests print to nobody, and to the file that
//! `INCROWD_TEST_SKIPPED` names. `./test` names a fresh one and prints it at its end.

#[cfg(unix)]
pub mod postgres;

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ends a test that cannot run here, with the reason.
#[macro_export]
macro_rules! skip {
    ($($why:tt)*) => {{
        $crate::skipped(format_args!($($why)*));
        return;
    }};
}

/// What a result holds; if it holds a reason instead, the test is skipped with that.
#[macro_export]
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(why) => $crate::skip!("{why}"),
        }
    };
}

/// Notes that a test, or a part of one that goes on, was skipped. The test is named by its thread.
#[track_caller]
pub fn skipped(why: impl Display) {
    let place = std::panic::Location::caller();
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main").map_or_else(|| place.to_string(), str::to_owned);
    let line = format!("{test}: {why}\n");
    drop(std::io::stderr().write_all(format!("skipped: {line}").as_bytes()));
    if let Some(file) = std::env::var_os("INCROWD_TEST_SKIPPED") {
        let list = std::fs::OpenOptions::new().create(true).append(true).open(file);
        list.and_then(|mut list| list.write_all(line.as_bytes()))
            .expect("the list of skipped tests is written");
    }
}

/// Whether tests may install packages from elsewhere.
pub fn may_install() -> bool {
    std::env::var_os("INCROWD_TEST_INSTALL").is_some_and(|value| value == "1")
}

/// The directory of public tables: the one `INCROWD_DATA` names, else `../shared/data` beside the repository.
pub fn data_dir() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("INCROWD_DATA").map_or(beside, PathBuf::from)
}

/// The directory of public tables if it has this file, else the reason to skip.
pub fn data(file: &str) -> Result<PathBuf, String> {
    let dir = data_dir();
    if dir.join(file).exists() {
        Ok(dir)
    } else {
        Err(format!("no {file}; set INCROWD_DATA to a directory that has it"))
    }
}

/// The text of a fixture. Each exists once, in `crates/incrowd-testing/fixtures`, whichever crates read it.
///
/// # Panics
///
/// If there is none of that name.
pub fn fixture(name: &str) -> &'static str {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.leak()
}
