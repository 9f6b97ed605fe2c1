//! Writes a synthetic table to standard output: `synth census 100000 42`.

use std::error::Error;
use std::io::{BufWriter, stdout};

use incrowd_synth::{Synth, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let table: Table = words.next().as_deref().unwrap_or("census").parse()?;
    let rows = words.next().as_deref().unwrap_or("1000").parse()?;
    let seed = words.next().as_deref().unwrap_or("42").parse()?;
    Synth::new(table, rows, seed).write_csv(&mut BufWriter::new(stdout().lock()))?;
    Ok(())
}
