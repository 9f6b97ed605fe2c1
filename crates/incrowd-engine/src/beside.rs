//! Columns that are looked at record by record while a release is folded: those that are published as they are, of which it is
//! asked who is alone in them.
//!
//! Every cell becomes a code, column by column, in the order of the records. Columns that the fold codes anyway are not coded
//! again. Texts are not kept. If there are more cells than memory should hold, it is only counted how often each code occurs.

use std::borrow::Cow;
use std::sync::Mutex;

use incrowd_core::{CodedColumn, Columnar, MISSING, PackedTexts};
use rayon::prelude::*;

use crate::cells::NO_TEXT;
use crate::codes::{NumberCodes, TextCodes, UNKNOWN};
use crate::intern::{Cache, Interner};
use crate::source::{Place, Records};
use crate::survey::{LONGEST, REMEMBERED, shortened};

/// What to look at beside the rows of a fold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// The columns.
    pub columns: &'a [String],
    /// Whether the codes of all records are not kept, only how many values occur once.
    pub counts_only: bool,
}

/// What was seen of them.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The columns, in the order of the records; without codes if only counts were asked for.
    pub table: Columnar,
    /// For each column how many records have a value that nobody else has, if only counts were asked for.
    pub once: Option<Vec<u64>>,
    /// How many records are like no other in all columns together, if that was counted and there are several.
    pub together: Option<u64>,
    /// How many different persons there are, if the counts are of persons and not of records.
    pub people: Option<u64>,
    /// The person of each record, if somebody knows and a person may have several.
    pub persons: Option<Vec<u32>>,
}

/// Where a column's codes come from.
#[derive(Clone, Copy)]
enum From {
    /// A column of the fold.
    Fold(usize),
    /// A cell of the records, and the dictionary for it.
    Cell { slot: usize, dictionary: usize },
}

/// The columns, shared by all workers.
pub(crate) struct Looked {
    names: Vec<String>,
    from: Vec<From>,
    dictionaries: Vec<Mutex<Interner>>,
    counts_only: bool,
    /// The names of the columns that the scan must read for it, in the order of their slots.
    pub(crate) read: Vec<String>,
}

impl Looked {
    /// Beside a fold of these columns; further cells of a record begin at a slot.
    pub(crate) fn new(beside: Beside<'_>, folded: &[String], slot: usize) -> Looked {
        let mut read = Vec::new();
        let from = beside.columns.iter().map(|name| match folded.iter().position(|own| own == name) {
            Some(at) => From::Fold(at),
            None => {
                read.push(name.clone());
                From::Cell { slot: slot + read.len() - 1, dictionary: read.len() - 1 }
            }
        });
        let from = from.collect();
        let dictionaries = read.iter().map(|_| Mutex::new(Interner::new())).collect();
        Looked { names: beside.columns.to_vec(), from, dictionaries, counts_only: beside.counts_only, read }
    }

    /// Forgets what was seen.
    pub(crate) fn reset(&self) {
        self.dictionaries.iter().for_each(|d| *d.lock().expect("no worker is left") = Interner::new());
    }

    /// A worker's part of it, if there is anything to look at.
    pub(crate) fn worker(&self) -> Option<Look<'_>> {
        (!self.names.is_empty()).then(|| Look {
            shared: self,
            caches: self.dictionaries.iter().map(|_| (Cache::new(&[]), 0)).collect(),
            batches: Vec::new(),
            counts: vec![Vec::new(); self.names.len()],
            text_codes: self.dictionaries.iter().map(|_| TextCodes::default()).collect(),
            number_codes: self.dictionaries.iter().map(|_| NumberCodes::default()).collect(),
        })
    }

    /// Puts together what the workers saw: batches with the number of their first record, and counts.
    pub(crate) fn gather(
        self,
        mut batches: Vec<(u64, Vec<Vec<u32>>)>,
        counts: Vec<Vec<Vec<u32>>>,
        folded: &[usize],
    ) -> Seen {
        let unlock = "no worker is left";
        let own: Vec<usize> =
            self.dictionaries.into_iter().map(|d| d.into_inner().expect(unlock).len() as usize).collect();
        let codes = self.from.iter().map(|from| match *from {
            From::Fold(at) => folded[at],
            From::Cell { dictionary, .. } => own[dictionary] + 1,
        });
        let codes: Vec<usize> = codes.collect();
        if self.counts_only {
            let mut all: Vec<Vec<u32>> = codes.iter().map(|&n| vec![0; n]).collect();
            for (at, own) in counts.into_iter().flat_map(|own| own.into_iter().enumerate()) {
                all[at].iter_mut().zip(own).for_each(|(sum, n)| *sum = sum.saturating_add(n));
            }
            let once = all.iter().map(|c| c.iter().filter(|n| **n == 1).count() as u64).collect();
            let column =
                |(name, codes)| CodedColumn { name, texts: PackedTexts::unnamed(codes), codes: Vec::new() };
            let columns = self.names.into_iter().zip(codes).map(column).collect();
            return Seen { table: Columnar { columns, records: 0 }, once: Some(once), ..Seen::default() };
        }
        batches.sort_unstable_by_key(|(first, _)| *first);
        let records = batches.iter().map(|(_, own)| own.first().map_or(0, Vec::len)).sum();
        let mut parts: Vec<Vec<Vec<u32>>> =
            self.names.iter().map(|_| Vec::with_capacity(batches.len())).collect();
        for (_, own) in batches {
            parts.iter_mut().zip(own).for_each(|(parts, own)| parts.push(own));
        }
        let column = |((name, codes), parts): ((String, usize), Vec<Vec<u32>>)| CodedColumn {
            name,
            texts: PackedTexts::unnamed(codes),
            codes: parts.concat(),
        };
        let columns: Vec<_> = self.names.into_iter().zip(codes).zip(parts).collect();
        let columns = columns.into_par_iter().map(column).collect();
        Seen { table: Columnar { columns, records }, ..Seen::default() }
    }
}

/// A worker's own part.
pub(crate) struct Look<'a> {
    shared: &'a Looked,
    caches: Vec<(Cache, usize)>,
    pub(crate) batches: Vec<(Place, Vec<Vec<u32>>)>,
    /// By column how many records have each code, if only that is asked.
    pub(crate) counts: Vec<Vec<u32>>,
    /// By dictionary the codes of texts that came as numbers, and of whole numbers.
    text_codes: Vec<TextCodes>,
    number_codes: Vec<NumberCodes>,
}

impl Look<'_> {
    /// Looks at a batch; `folded` tells the codes of a folded column.
    pub(crate) fn at<R: Records>(&mut self, place: Place, records: &R, folded: impl Fn(usize) -> Vec<u32>) {
        let mut batch = Vec::with_capacity(self.shared.names.len());
        for (at, from) in self.shared.from.iter().enumerate() {
            let codes: Vec<u32> = match *from {
                From::Fold(slot) => folded(slot),
                From::Cell { slot, dictionary } => self.code(slot, dictionary, records),
            };
            if !self.shared.counts_only {
                batch.push(codes);
                continue;
            }
            let counts = &mut self.counts[at];
            for code in codes {
                if counts.len() <= code as usize {
                    counts.resize(code as usize + 1, 0);
                }
                counts[code as usize] = counts[code as usize].saturating_add(1);
            }
        }
        if !self.shared.counts_only {
            self.batches.push((place, batch));
        }
    }

    fn code<R: Records>(&mut self, slot: usize, dictionary: usize, records: &R) -> Vec<u32> {
        let mut codes = Vec::with_capacity(records.len());
        if let Some(cells) = records.whole(slot) {
            let mut known = std::mem::take(&mut self.number_codes[dictionary]);
            for (record, &number) in cells.values.iter().enumerate() {
                if cells.nulls.is_some_and(|nulls| nulls.is_null(record)) {
                    codes.push(MISSING);
                    continue;
                }
                let mut code = known.get(number);
                if code == UNKNOWN {
                    code = self.ask(dictionary, number.to_string().as_bytes());
                    known.put(number, code);
                }
                codes.push(code);
            }
            self.number_codes[dictionary] = known;
            return codes;
        }
        if let Some(cells) = records.coded(slot) {
            let mut known = std::mem::take(&mut self.text_codes[dictionary]);
            if let Some(known) = known.of(cells.texts, cells.codes.len()) {
                for &place in cells.codes {
                    if place == NO_TEXT {
                        codes.push(MISSING);
                        continue;
                    }
                    let mut code = known[place as usize];
                    if code == UNKNOWN {
                        code = self.ask(dictionary, cells.texts.value(place as usize).as_bytes());
                        known[place as usize] = code;
                    }
                    codes.push(code);
                }
            }
            self.text_codes[dictionary] = known;
            if codes.len() == records.len() {
                return codes;
            }
        }
        for record in 0..records.len() {
            codes.push(match records.cell(record, slot) {
                None => MISSING,
                Some((text, short)) => {
                    let known = short.and_then(|short| self.caches[dictionary].0.find_short(short));
                    known.unwrap_or_else(|| self.ask(dictionary, text))
                }
            });
        }
        codes
    }

    #[inline]
    fn ask(&mut self, dictionary: usize, text: &[u8]) -> u32 {
        // Nearly all cells are short, and most were met before.
        if text.len() <= LONGEST
            && let Some(code) = self.caches[dictionary].0.get(text)
        {
            return code;
        }
        self.ask_others(dictionary, text)
    }

    #[cold]
    fn ask_others(&mut self, dictionary: usize, text: &[u8]) -> u32 {
        let text: Cow<'_, [u8]> = shortened(text);
        let (cache, known) = &mut self.caches[dictionary];
        if let Some(code) = cache.get(&text) {
            return code;
        }
        let shared = self.shared.dictionaries[dictionary].lock();
        let code = shared.expect("no worker panics while it holds a dictionary").intern(&text);
        if *known < REMEMBERED {
            cache.put(&text, code);
            *known += 1;
        }
        code
    }
}
