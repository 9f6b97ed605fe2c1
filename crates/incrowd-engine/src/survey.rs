//! Looking at all columns of a table at once: every cell becomes a code, column by column.
//!
//! A fold would look for records that agree in all columns, and in a table with names or numbers there are none. A survey
//! looks for nothing. Each thread turns the records it gets into codes of its own columns; the dictionaries are shared. In
//! the end the pieces are put one behind the other, so all columns list the records in the same order, but that order
//! depends on the threads and means nothing.
//!
//! Memory is four bytes per cell and the distinct texts. A text longer than [`LONGEST`] bytes is kept as its beginning and
//! a digest of the whole, so that a column of letters does not fill the memory and two different letters stay different.

use std::borrow::Cow;
use std::sync::Mutex;

use incrowd_core::{CodedColumn, Columnar, MISSING, PackedTexts, Progress, Result, numerals};

use crate::intern::{Cache, Interner};
use crate::source::{Place, Records, Source, Trouble, Worker};

/// Longer texts are kept shortened.
pub(crate) const LONGEST: usize = 96;

/// How much of a longer text is kept before its digest.
const KEPT: usize = 60;

/// A worker remembers no more texts of a column than this. A column with more has hardly two alike.
pub(crate) const REMEMBERED: usize = 1 << 18;

impl Source {
    /// Reads the columns asked for, all threads at once. The texts in `missing` count as missing, and so does a null.
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
    dictionaries: &'a [Mutex<Interner>],
    caches: Vec<(Cache, usize)>,
    columns: Vec<Vec<u32>>,
}

impl Worker for SurveyWorker<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        for (slot, ((cache, known), column)) in self.caches.iter_mut().zip(&mut self.columns).enumerate() {
            column.reserve(records.len());
            for record in 0..records.len() {
                let code = match records.get(record, slot) {
                    None => MISSING,
                    Some(text) => {
                        let text = shortened(text);
                        cache.get(&text).unwrap_or_else(|| {
                            let dictionary = self.dictionaries[slot].lock();
                            let code = dictionary
                                .expect("no worker panics while it holds a dictionary")
                                .intern(&text);
                            if *known < REMEMBERED {
                                cache.put(&text, code);
                                *known += 1;
                            }
                            code
                        })
                    }
                };
                column.push(code);
            }
        }
        Ok(())
    }
}

/// The text itself, or the beginning of a long one with its digest.
pub(crate) fn shortened(text: &[u8]) -> Cow<'_, [u8]> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    // A character is not cut in two.
    let end = (0..=KEPT).rev().find(|&end| text[end] & 0xC0 != 0x80).unwrap_or(0);
    let mut short = text[..end].to_vec();
    let digest = blake3::hash(text).to_hex();
    short.extend_from_slice(" …".as_bytes());
    short.extend_from_slice(&digest.as_bytes()[..32]);
    Cow::Owned(short)
}

fn survey(
    source: &Source,
    columns: &[String],
    missing: &[String],
    progress: &dyn Progress,
) -> Result<Columnar> {
    let wanted: Vec<usize> = columns.iter().map(|name| source.position(name)).collect::<Result<_>>()?;
    let dictionaries: Vec<Mutex<Interner>> = wanted.iter().map(|_| Mutex::new(Interner::new())).collect();
    let worker = || SurveyWorker {
        dictionaries: &dictionaries,
        caches: wanted.iter().map(|_| (Cache::new(missing), 0)).collect(),
        columns: vec![Vec::new(); wanted.len()],
    };
    // A restart after a line break inside quotes must find the dictionaries empty.
    let mut scan = source.scan(&wanted, worker, progress, || {
        dictionaries.iter().for_each(|d| *d.lock().expect("no worker is left") = Interner::new());
    })?;
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
        if source.decimal().is_some_and(|mark| texts.iter().any(|(_, text)| numerals::is_marked(text, mark)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_stay_different_and_become_short() {
        let long = "ä".repeat(400);
        let (one, other) = (format!("{long}1"), format!("{long}2"));
        let (one, other) = (shortened(one.as_bytes()), shortened(other.as_bytes()));
        assert_ne!(one, other);
        assert!(one.len() <= LONGEST + 4 && std::str::from_utf8(&one).is_ok());
        assert_eq!(shortened(b"short").as_ref(), b"short");
    }
}
