//! Subheaders of SAS pages: lists them, and decodes those with metadata.

use super::unpack::Packing;
use super::{Damage, Header, OTHER, Page};

/// Signatures of subheaders, which are their first four bytes.
const ROW_SIZE: u32 = 0xf7f7_f7f7;
const COLUMN_SIZE: u32 = 0xf6f6_f6f6;
const COLUMN_TEXT: u32 = 0xffff_fffd;
const COLUMN_NAME: u32 = 0xffff_ffff;
const COLUMN_ATTRIBUTES: u32 = 0xffff_fffc;
const FORMAT_AND_LABEL: u32 = 0xffff_fbfe;
/// Common prefix of the signatures of all other metadata subheaders, such as counts and lists of
/// columns.
const METADATA: u32 = 0xffff_f000;

/// Longest accepted name of a column or a format. SAS allows 32 characters. The limit is needed
/// because many columns may refer to the same bytes.
const LONGEST: usize = 256;

/// Marks a deleted subheader.
const GONE: u8 = 1;
const COMPRESSED: u8 = 4;

/// A subheader of a page.
pub(super) struct Subheader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_record: bool,
    what: u32,
}

impl<'a> Page<'a> {
    /// Lists the subheaders of the page. They must not overlap, so that no byte is read twice.
    pub(super) fn list(&self, header: &Header) -> Result<Vec<Subheader<'a>>, Damage> {
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
            let bytes =
                self.bytes.get(from..).and_then(|rest| rest.get(..length)).ok_or_else(odd)?;
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
            parts.push(Subheader { bytes, is_record, what });
        }
        Ok(parts)
    }
}

/// Reads the signature. In big-endian 64-bit files, four padding bytes precede it.
fn signature(header: &Header, bytes: &[u8]) -> Result<u32, Damage> {
    let mut at = header.at(bytes, 0)?;
    let first = at.u32()?;
    if header.wide && header.big && (first == 0 || first == u32::MAX) {
        return at.u32();
    }
    Ok(first)
}

/// Metadata of a column.
pub(super) struct SasColumn {
    pub(super) name: String,
    pub(super) is_text: bool,
    /// Offset in the record, and length in bytes.
    pub(super) place: Option<(usize, usize)>,
    pub(super) format: String,
}

/// Reference to a text in one of the text blocks.
#[derive(Clone, Copy)]
struct TextRef {
    block: usize,
    from: usize,
    length: usize,
}

/// Metadata of the table, collected from all subheaders.
pub(super) struct Metadata<'a> {
    /// Bytes per record.
    pub(super) width: usize,
    pub(super) records: usize,
    /// Number of records on a page that also has subheaders.
    pub(super) records_of_mix: usize,
    pub(super) packing: Packing,
    texts: Vec<&'a [u8]>,
    pub(super) columns: usize,
    names: Vec<TextRef>,
    places: Vec<(usize, usize, bool)>,
    formats: Vec<TextRef>,
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
        let has_parts = |page: &&Page<'a>| {
            page.kind & super::KINDS != super::DATA && page.kind & OTHER != OTHER
        };
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

    fn part(&mut self, header: &Header, part: &Subheader<'a>) -> Result<(), Damage> {
        let word = header.word();
        let bytes = part.bytes;
        let text_ref = |from: usize| -> Result<TextRef, Damage> {
            let mut at = header.at(bytes, from)?;
            let mut next = || at.u16().map(usize::from);
            Ok(TextRef { block: next()?, from: next()?, length: next()? })
        };
        // Lists end with twelve bytes and one word that are not entries.
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
                    self.names.push(text_ref(word + 8 * entry)?);
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
            FORMAT_AND_LABEL => self.formats.push(text_ref(3 * word + 22)?),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn columns(&self, header: &Header) -> Result<Vec<SasColumn>, Damage> {
        if self.names.len() != self.columns || self.places.len() != self.columns {
            return Err("its parts do not fit together".into());
        }
        // Columns that overlap would decode the same bytes many times.
        let widths = self.places.iter().fold(0usize, |sum, (_, own, _)| sum.saturating_add(*own));
        if widths > self.width {
            return Err("its columns overlap".into());
        }
        let columns = self.names.iter().zip(&self.places).enumerate();
        columns
            .map(|(index, (name, (from, width, is_text)))| {
                let end = from.checked_add(*width).filter(|end| *end <= self.width);
                if !is_text && *width > 8 {
                    return Err("its parts do not fit together".into());
                }
                let format = self.formats.get(index).filter(|format| format.length > 0);
                Ok(SasColumn {
                    name: self.text(header, *name)?,
                    is_text: *is_text,
                    place: end.map(|_| (*from, *width)),
                    format: format
                        .map_or(Ok(String::new()), |format| self.text(header, *format))?,
                })
            })
            .collect()
    }

    fn text(&self, header: &Header, text_ref: TextRef) -> Result<String, Damage> {
        if text_ref.length > LONGEST {
            return Err("its parts do not fit together".into());
        }
        let block = self.texts.get(text_ref.block).and_then(|block| block.get(text_ref.from..));
        let text = block
            .and_then(|rest| rest.get(..text_ref.length))
            .ok_or("its parts do not fit together")?;
        header.text(text)
    }

    /// Whether four padding bytes precede the records, so that they start at a multiple of eight.
    pub(super) fn is_filled(&self, header: &Header, end: usize, rest: &[u8]) -> bool {
        let empty = matches!(rest.get(..4), Some([0, 0, 0, 0] | b"    "));
        end % 8 == 4 && rest.len() >= 4 && (empty || !header.may_be_unaligned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_overlap_are_refused() {
        let header = Header {
            wide: true,
            big: false,
            encoding: Ok(encoding_rs::UTF_8),
            may_be_unaligned: false,
        };
        let is_read = |places: &[(usize, usize, bool)]| {
            let metadata = Metadata {
                width: 16,
                records: 0,
                records_of_mix: 0,
                packing: Packing::None,
                texts: vec![&b"a"[..]],
                columns: places.len(),
                names: vec![TextRef { block: 0, from: 0, length: 1 }; places.len()],
                places: places.to_vec(),
                formats: Vec::new(),
            };
            metadata.columns(&header).is_ok()
        };
        assert!(is_read(&[(0, 8, false), (8, 8, true)]));
        assert!(is_read(&[(8, 3, true), (0, 8, false)]));
        assert!(!is_read(&[(0, 16, true), (0, 16, true)]));
        assert!(!is_read(&[(0, 8, false), (4, 9, true)]));
        assert!(!is_read(&[(0, usize::MAX, true), (0, usize::MAX, true)]));
    }
}
