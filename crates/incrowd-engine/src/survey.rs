//! Reads all columns of a table as codes, column by column.
//!
//! A fold looks for records that agree in all columns. In a table with names or identifiers there
//! are none. A survey does not compare records. Memory use is four bytes per cell, plus the
//! distinct texts. A text longer than 96 bytes is stored as a prefix and a digest, so that long
//! texts do not fill the memory and different texts stay different.

use incrowd_core::{Columnar, Progress, Result};

use crate::database::Sending;
use crate::source::Source;
use crate::table::{CodedTable, TableSpec};

impl Source {
    /// Reads the requested columns on all threads. The texts in `missing` and nulls are missing
    /// values.
    pub fn survey(
        &self,
        columns: &[String],
        missing: &[String],
        progress: &dyn Progress,
    ) -> Result<Columnar> {
        progress.step("reading", Some(self.bytes()));
        let directory = std::env::temp_dir();
        let spec = TableSpec {
            kept: columns,
            shortens: true,
            missing_in_kept: missing,
            ..TableSpec::new(&directory, u64::MAX)
        };
        let (table, reading) = CodedTable::read(self, &spec, Sending::Records, progress)?;
        let mut all = table.columns(|place| reading.scan.number(place, 0))?;
        for (column, texts) in all.columns.iter_mut().zip(table.into_texts(self)) {
            column.texts = texts;
        }
        Ok(all)
    }
}
