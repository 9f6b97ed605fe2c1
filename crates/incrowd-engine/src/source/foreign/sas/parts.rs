//! The parts of pages: which there are, and what those about the table say.

use super::unpack::Packing;
use super::{Damage, Header, OTHER, Page};

/// What a part is, by its first four bytes.
const ROW_SIZE: u32 = 0xf7f7_f7f7;
const COLUMN_SIZE: u32 = 0xf6f6_f6f6;
const COLUMN_TEXT: u32 = 0xffff_fffd;
const COLUMN_NAME: u32 = 0xffff_ffff;
const COLUMN_ATTRIBUTES: u32 = 0xffff_fffc;
const FORMAT_AND_LABEL: u32 = 0xffff_fbfe;
/// All others about the table begin like this: counts, lists of columns.
const METADATA: u32 = 0xffff_f000;

/// A part that is not there any more.
const GONE: u8 = 1;
const COMPRESSED: u8 = 4;

/// A part of a page.
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_record: bool,
    what: u32,
}

impl<'a> Page<'a> {
    /// The parts of the page. They do not overlap, so that no byte is read twice.
    pub(super) fn list(&self, header: &Header) -> Result<Vec<Part<'a>>, Damage> {
        let odd = || Damage::from("its parts do not fit together");
        let word = header.word();
        let begins = header.page_header();
        let mut parts = Vec::new();
        let mut sizes = 0;
        for index in 0..self.parts {
            let entry = begins + index * 3 * word;
            let (from, length) =
                (header.number(self.bytes, entry)?, header.number(self.bytes, entry + word)?);
            let [packing, kind] =
                self.bytes.get(entry + 2 * word..).and_then(|b| b.first_chunk()).ok_or_else(odd)?;
            if length == 0 || *packing == GONE {
                continue;
            }
            let bytes = self.bytes.get(from..).and_then(|rest| rest.get(..length)).ok_or_else(odd)?;
            sizes += length;
            if sizes > self.bytes.len() {
                return Err(odd());
            }
            let what = match *packing {
                COMPRESSED => 0,
                0 => signature(header, bytes)?,
                _ => return Err("it is compressed in a way that is not read".into()),
            };
            let known = [ROW_SIZE, COLUMN_SIZE].contains(&what) || what & METADATA == METADATA;
            let is_record = *packing == COMPRESSED || (*kind == 1 && !known);
            parts.push(Part { bytes, is_record, what });
        }
        Ok(parts)
    }
}

/// The four bytes that tell; in wide files of the big order they come after four that do not.
fn signature(header: &Header, bytes: &[u8]) -> Result<u32, Damage> {
    let mut at = header.at(bytes, 0)?;
    let first = at.u32()?;
    if header.wide && header.big && (first == 0 || first == u32::MAX) {
        return at.u32();
    }
    Ok(first)
}

/// A column as the file states it.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) is_text: bool,
    /// Where it begins in a record, and how many bytes it takes.
    pub(super) place: Option<(usize, usize)>,
    pub(super) format: String,
}

/// A text within one of the blocks of texts.
#[derive(Clone, Copy)]
struct Quote {
    block: usize,
    from: usize,
    length: usize,
}

/// All that the parts say about the table.
pub(super) struct Metadata<'a> {
    /// Bytes of a record.
    pub(super) width: usize,
    pub(super) records: usize,
    /// How many records a page has that has parts too.
    pub(super) records_of_mix: usize,
    pub(super) packing: Packing,
    texts: Vec<&'a [u8]>,
    columns: usize,
    names: Vec<Quote>,
    places: Vec<(usize, usize, bool)>,
    formats: Vec<Quote>,
}

impl<'a> Metadata<'a> {
    pub(super) fn read(header: &Header, pages: &[Page<'a>]) -> Result<Metadata<'a>, Damage> {
        let mut all = Metadata {
            width: 0,
            records: 0,
            records_of_mix: 0,
            packing: Packing::None,
            texts: Vec::new(),
            columns: 0,
            names: Vec::new(),
            places: Vec::new(),
            formats: Vec::new(),
        };
        let has_parts =
            |page: &&Page<'a>| page.kind & super::KINDS != super::DATA && page.kind & OTHER != OTHER;
        for page in pages.iter().filter(has_parts) {
            for part in page.list(header)?.iter().filter(|part| !part.is_record) {
                all.part(header, part)?;
            }
        }
        let longest = pages.first().map_or(0, |page| page.bytes.len());
        if all.width == 0 || all.width > longest || all.columns == 0 {
            return Err("its parts do not fit together".into());
        }
        Ok(all)
    }

    fn part(&mut self, header: &Header, part: &Part<'a>) -> Result<(), Damage> {
        let word = header.word();
        let bytes = part.bytes;
        let quote = |from: usize| -> Result<Quote, Damage> {
            let mut at = header.at(bytes, from)?;
            let mut next = || at.u16().map(usize::from);
            Ok(Quote { block: next()?, from: next()?, length: next()? })
        };
        // Lists end with twelve bytes and a word that are no entries.
        let entries = |size: usize| bytes.len().saturating_sub(2 * word + 12) / size;
        match part.what {
            ROW_SIZE => {
                self.width = header.number(bytes, 5 * word)?;
                self.records = header.number(bytes, 6 * word)?;
                self.records_of_mix = header.number(bytes, 15 * word)?;
            }
            COLUMN_SIZE => self.columns = header.number(bytes, word)?,
            COLUMN_TEXT => {
                let text = bytes.get(word..).unwrap_or_default();
                if self.texts.is_empty() {
                    self.packing = Packing::named_in(text);
                }
                self.texts.push(text);
            }
            COLUMN_NAME => {
                for entry in 1..=entries(8) {
                    self.names.push(quote(word + 8 * entry)?);
                }
            }
            COLUMN_ATTRIBUTES => {
                for entry in 0..entries(word + 8) {
                    let from = word + 8 + entry * (word + 8);
                    let place = header.number(bytes, from)?;
                    let mut at = header.at(bytes, from + word)?;
                    let width = at.u32()? as usize;
                    at.take(2)?;
                    self.places.push((place, width, at.byte()? != 1));
                }
            }
            FORMAT_AND_LABEL => self.formats.push(quote(3 * word + 22)?),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn columns(&self, header: &Header) -> Result<Vec<Column>, Damage> {
        if self.names.len() != self.columns || self.places.len() != self.columns {
            return Err("its parts do not fit together".into());
        }
        let columns = self.names.iter().zip(&self.places).enumerate();
        columns
            .map(|(index, (name, (from, width, is_text)))| {
                let end = from.checked_add(*width).filter(|end| *end <= self.width);
                if !is_text && *width > 8 {
                    return Err("its parts do not fit together".into());
                }
                let format = self.formats.get(index).filter(|format| format.length > 0);
                Ok(Column {
                    name: self.text(header, *name)?,
                    is_text: *is_text,
                    place: end.map(|_| (*from, *width)),
                    format: format.map_or(Ok(String::new()), |format| self.text(header, *format))?,
                })
            })
            .collect()
    }

    fn text(&self, header: &Header, quote: Quote) -> Result<String, Damage> {
        let block = self.texts.get(quote.block).and_then(|block| block.get(quote.from..));
        let text = block.and_then(|rest| rest.get(..quote.length)).ok_or("its parts do not fit together")?;
        header.text(text)
    }

    /// Whether four bytes fill up to a multiple of eight between a page's list and its records.
    pub(super) fn is_filled(&self, header: &Header, end: usize, rest: &[u8]) -> bool {
        let empty = matches!(rest.get(..4), Some([0, 0, 0, 0] | b"    "));
        end % 8 == 4 && rest.len() >= 4 && (empty || !header.may_be_unaligned)
    }
}
