//! Generates CSV from a table, a number of rows and a seed.

use std::fmt;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::census::Census;
use crate::draw::Dice;
use crate::line::Line;
use crate::salaries::Salaries;
use crate::skewed::Skewed;
use crate::table::Table;

/// The rows drawn from one random stream.
///
/// The number determines the rows of a seed: changing it changes every table.
const BLOCK: u64 = 4096;

/// The number of finished blocks that a thread may be ahead of the writer.
const AHEAD: usize = 2;

/// An upper bound on the bytes of almost every row, so that a block's buffer is allocated once.
const ROW_BYTES: u64 = 144;

/// A synthetic table, whose rows are generated on demand.
pub struct Synth {
    table: Table,
    rows: u64,
    seed: u64,
    people: People,
}

/// The distributions of each table.
enum People {
    Census(Box<Census>),
    Skewed(Box<Skewed>),
    Salaries(Box<Salaries>),
}

impl Synth {
    /// Prepares a table of `rows` rows. The same table and seed always give the same rows, and a
    /// table with fewer rows is the beginning of one with more.
    pub fn new(table: Table, rows: u64, seed: u64) -> Self {
        let people = match table {
            Table::Census => People::Census(Box::new(Census::new())),
            Table::Skewed => People::Skewed(Box::new(Skewed::new())),
            Table::Salaries => People::Salaries(Box::new(Salaries::new())),
        };
        Self { table, rows, seed, people }
    }

    /// Writes the table as CSV with a header line, commas and line feeds; no field is quoted.
    ///
    /// All cores are used, and only a few blocks of rows are in memory at a time.
    ///
    /// # Errors
    ///
    /// Fails when `out` does, or when a thread cannot be started.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_csv_with(out, &mut |_| ())
    }

    /// Writes the table like [`Synth::write_csv`] and calls `progress`, every few thousand rows,
    /// with the number of rows since the last call.
    ///
    /// # Errors
    ///
    /// Fails when `out` does, or when a thread cannot be started.
    pub fn write_csv_with(
        &self,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        self.write_on(thread::available_parallelism().map_or(1, NonZero::get), out, progress)
    }

    /// Generates the records one by one, without the header, for small tables.
    pub fn records(&self) -> impl Iterator<Item = Vec<String>> {
        (0..self.blocks()).flat_map(|block| {
            let text = self.render(block);
            let records: Vec<_> = String::from_utf8_lossy(&text)
                .lines()
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect();
            records
        })
    }

    /// Writes the table with `threads` threads.
    fn write_on(
        &self,
        threads: usize,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<()> {
        let header: Vec<_> = self.table.columns().iter().map(|column| column.name).collect();
        writeln!(out, "{}", header.join(","))?;

        let blocks = self.blocks();
        let mut emit = |block: u64, text: &[u8]| {
            out.write_all(text)?;
            progress(self.rows_in(block));
            io::Result::Ok(())
        };
        if threads < 2 || blocks < 2 {
            for block in 0..blocks {
                emit(block, &self.render(block))?;
            }
        } else {
            thread::scope(|scope| {
                // Thread `lane` generates every block whose number has the remainder `lane`, so
                // taking from the lanes in turn restores the order. Returning early drops the
                // receivers, which stops the threads.
                let lanes: Vec<Receiver<Vec<u8>>> = (0..threads)
                    .map(|lane| {
                        let (sender, receiver) = sync_channel(AHEAD);
                        thread::Builder::new().spawn_scoped(scope, move || {
                            (lane as u64..blocks)
                                .step_by(threads)
                                .try_for_each(|block| sender.send(self.render(block)))
                        })?;
                        Ok(receiver)
                    })
                    .collect::<io::Result<_>>()?;
                (0..blocks).zip(lanes.iter().cycle()).try_for_each(|(block, lane)| {
                    let text = lane.recv().map_err(io::Error::other)?;
                    emit(block, &text)
                })
            })?;
        }
        out.flush()
    }

    fn blocks(&self) -> u64 {
        self.rows.div_ceil(BLOCK)
    }

    fn rows_in(&self, block: u64) -> u64 {
        BLOCK.min(self.rows - block * BLOCK)
    }

    /// Generates the lines of one block.
    fn render(&self, block: u64) -> Vec<u8> {
        let rows = self.rows_in(block);
        let mut text = Vec::with_capacity((rows * ROW_BYTES) as usize);
        let mut dice = Dice::new(self.table.name(), self.seed, block);
        for row in 0..rows {
            let mut line = Line::new(&mut text);
            line.id(block * BLOCK + row + 1);
            match &self.people {
                People::Census(people) => people.draw(&mut dice).write(&mut line),
                People::Skewed(people) => people.draw(&mut dice).write(&mut line),
                People::Salaries(people) => people.draw(&mut dice).write(&mut line),
            }
            line.end();
        }
        text
    }
}

impl fmt::Debug for Synth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synth")
            .field("table", &self.table)
            .field("rows", &self.rows)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv_on(threads: usize, rows: u64) -> Vec<u8> {
        let mut csv = Vec::new();
        Synth::new(Table::Census, rows, 5)
            .write_on(threads, &mut csv, &mut |_| ())
            .expect("vectors take all");
        csv
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let rows = 7 * BLOCK + 123;
        let alone = csv_on(1, rows);
        for threads in [2, 3, 16] {
            assert!(csv_on(threads, rows) == alone, "{threads} threads");
        }
    }

    #[test]
    fn a_full_sink_ends_the_threads() {
        let mut sink = [0; 1_000_000];
        let result = Synth::new(Table::Skewed, 1 << 40, 5).write_on(
            2,
            &mut sink.as_mut_slice(),
            &mut |_| (),
        );
        assert_eq!(result.map_err(|error| error.kind()), Err(io::ErrorKind::WriteZero));
    }
}
