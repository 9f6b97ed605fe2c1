//! The arguments of a benchmark.

use std::path::PathBuf;

/// The arguments.
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn new(words: Vec<String>) -> Args {
        Args(words)
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// Returns the arguments after the name.
    pub(crate) fn rest(&self) -> &[String] {
        self.0.get(1..).unwrap_or_default()
    }

    /// Returns the value of an option.
    pub(crate) fn text(&self, option: &str) -> Option<String> {
        self.0.iter().position(|word| word == option).and_then(|i| self.0.get(i + 1)).cloned()
    }

    pub(crate) fn number(&self, option: &str, default: u64) -> Result<u64, String> {
        self.text(option).map_or(Ok(default), |text| {
            text.parse().map_err(|_| format!("{option} takes a number"))
        })
    }

    pub(crate) fn numbers(&self, option: &str, default: &[u64]) -> Result<Vec<u64>, String> {
        let Some(text) = self.text(option) else { return Ok(default.to_vec()) };
        text.split(',').map(|n| n.parse().map_err(|_| format!("{option} takes numbers"))).collect()
    }

    /// Returns the number of repetitions.
    pub(crate) fn rounds(&self) -> Result<usize, String> {
        self.number("--rounds", 3).map(|n| n as usize)
    }

    /// Returns the directory of generated tables and releases.
    pub(crate) fn dir(&self) -> PathBuf {
        self.text("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from)
    }

    /// Returns the directory of public tables.
    pub(crate) fn data(&self) -> PathBuf {
        self.text("--data").map_or_else(incrowd_testing::data_dir, PathBuf::from)
    }
}
