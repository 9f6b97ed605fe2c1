//! Memory limit for the table of one file.
//!
//! These formats are read completely into memory, and a small file can describe a very large table.
//! Examples are compressed records, a long text shared by many cells, and cells at distant
//! positions. Every reader takes memory from a budget before it allocates. The budget depends on
//! the size of the file.

use super::Damage;

/// Minimum budget for a file of any size.
const FLOOR: u64 = 256 << 20;
/// Budget of a larger file, as a multiple of its size. Survey data in SPSS takes about one byte per
/// number, both in the file and in memory. Compression rarely reduces the size to less than one
/// twentieth.
const TIMES: u64 = 32;
/// Cost of a record in later steps, in bytes: its position in the order of the release, and its
/// row.
const RECORD: u64 = 16;
/// Cost of a column in addition to its cells, in bytes: its name, its arrays and its dictionaries.
const COLUMN: u64 = 4 << 10;

/// Remaining memory for a table.
pub(super) struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    /// The budget for a file of this size.
    pub(super) fn of(file: usize) -> Budget {
        let limit = FLOOR.max((file as u64).saturating_mul(TIMES));
        Budget { limit, left: limit }
    }

    /// Takes memory for an allocation.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Damage> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => return Err(Damage::TooLarge(self.limit)),
        }
        Ok(())
    }

    /// Takes the cost of records in addition to their cells.
    pub(super) fn take_records(&mut self, records: usize) -> Result<(), Damage> {
        self.take_each(records, RECORD)
    }

    /// Takes the cost of columns in addition to their cells.
    pub(super) fn take_columns(&mut self, columns: usize) -> Result<(), Damage> {
        self.take_each(columns, COLUMN)
    }

    fn take_each(&mut self, count: usize, bytes: u64) -> Result<(), Damage> {
        self.take(usize::try_from((count as u64).saturating_mul(bytes)).unwrap_or(usize::MAX))
    }

    /// Returns memory that was freed.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes as u64).min(self.limit);
    }
}
