//! The synthetic table of the demo.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use incrowd::{Error, Result};
use incrowd_synth::{Synth, Table};

/// The file name of the table.
pub(crate) const NAME: &str = "people.csv";
/// The number of people.
pub(crate) const PEOPLE: u64 = 10_000;
const SEED: u64 = 1;

/// Writes the table into a directory.
pub(crate) fn write(dir: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Error::resources(format!("cannot write the demo: {e}"));
    let mut out = BufWriter::new(fs::File::create(dir.join(NAME)).map_err(failed)?);
    Synth::new(Table::Census, PEOPLE, SEED)
        .write_csv(&mut out)
        .and_then(|()| out.flush())
        .map_err(failed)
}
