//! Reads all columns of a table as codes, column by column.
//!
//! A fold looks for records that agree in all columns. In a table with names or identifiers there
//! are none. A survey does not compare records. Each thread codes its records with shared
//! dictionaries. At the end the pieces of all threads are concatenated. So all columns have the
//! records in the same order, but that order depends on the threads.
//!
//! Memory use is four bytes per cell, plus the distinct texts. A text longer than 96 bytes is
//! stored as a prefix and a digest, so that long texts do not fill the memory and different texts
//! stay different.

use std::sync::Mutex;

use incrowd_core::{CodedColumn, Columnar, PackedTexts, Progress, Result, numerals};

use crate::coder::ColumnCoder;
use crate::intern::Interner;
use crate::source::{Place, Records, Source, Trouble, Worker};

/// The bytes per cell: its code, a copy while pieces are concatenated, and a copy while sets of
/// columns are searched.
const PER_CELL: usize = 3 * size_of::<u32>();

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
        survey(self, columns, missing, progress)
    }
}

struct SurveyWorker<'a> {
    coders: Vec<ColumnCoder<'a>>,
    columns: Vec<Vec<u32>>,
}

impl Worker for SurveyWorker<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        for (slot, (coder, column)) in self.coders.iter_mut().zip(&mut self.columns).enumerate() {
            coder.code(records, slot, column);
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        let codes: usize = self.columns.iter().map(Vec::len).sum();
        let added: u64 = self.coders.iter().map(ColumnCoder::added).sum();
        added + (codes * PER_CELL) as u64
    }
}

fn survey(
    source: &Source,
    columns: &[String],
    missing: &[String],
    progress: &dyn Progress,
) -> Result<Columnar> {
    let wanted: Vec<usize> =
        columns.iter().map(|name| source.position(name)).collect::<Result<_>>()?;
    let dictionaries: Vec<Mutex<Interner>> =
        wanted.iter().map(|_| Mutex::new(Interner::new())).collect();
    let share = source.remembered() / wanted.len().max(1);
    let coder = |dictionary| ColumnCoder::new(dictionary, missing, share).shortening();
    let worker = || SurveyWorker {
        coders: dictionaries.iter().map(coder).collect(),
        columns: vec![Vec::new(); wanted.len()],
    };
    let mut scan = source.scan(&wanted, worker, progress)?;
    let mut table = Columnar::default();
    let mut pieces: Vec<Vec<Vec<u32>>> =
        scan.workers.iter_mut().map(|worker| std::mem::take(&mut worker.columns)).collect();
    drop(scan);
    for ((slot, name), dictionary) in columns.iter().enumerate().zip(dictionaries) {
        let mut codes = Vec::new();
        for piece in &mut pieces {
            let piece = std::mem::take(&mut piece[slot]);
            if codes.is_empty() {
                codes = piece;
            } else {
                codes.extend(piece);
            }
        }
        table.records = codes.len();
        let mut texts = dictionary.into_inner().expect("no worker is left").into_texts();
        if source
            .decimal()
            .is_some_and(|mark| texts.iter().any(|(_, text)| numerals::is_marked(text, mark)))
        {
            let mut all: Vec<String> =
                (0..texts.codes() as u32).map(|code| texts.get(code).to_owned()).collect();
            source.spell_numbers(&mut all);
            texts = PackedTexts::new();
            all.iter().skip(1).for_each(|text| {
                texts.push(text);
            });
        }
        table.columns.push(CodedColumn { name: name.clone(), texts, codes });
    }
    Ok(table)
}
