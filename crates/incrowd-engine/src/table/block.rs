//! The cells of one column in a block of records.

use std::io::{self, Read, Write};

use arrow_buffer::ToByteSlice;

/// Cells of one column: dictionary codes of minimal width, or texts.
#[derive(Clone, Debug)]
pub(crate) enum CellBlock {
    Bytes(Vec<u8>),
    Shorts(Vec<u16>),
    Words(Vec<u32>),
    Texts(TextBlock),
}

/// Concatenated texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextBlock {
    bytes: Vec<u8>,
    /// The end of each text in `bytes`. The highest bit marks a null.
    ends: Vec<u32>,
}

const NULL: u32 = 1 << 31;

impl TextBlock {
    /// Appends a text. Fails if the texts of the block together have 2 GiB or more.
    pub(crate) fn push(&mut self, text: Option<&[u8]>) -> io::Result<()> {
        self.bytes.extend_from_slice(text.unwrap_or_default());
        let end = u32::try_from(self.bytes.len()).ok().filter(|end| end & NULL == 0);
        let end =
            end.ok_or_else(|| io::Error::other("a few cells have more than 2 GiB of text"))?;
        self.ends.push(end | if text.is_none() { NULL } else { 0 });
        Ok(())
    }

    pub(crate) fn get(&self, position: usize) -> Option<&[u8]> {
        let end = self.ends[position];
        let start = position.checked_sub(1).map_or(0, |before| self.ends[before] & !NULL);
        (end & NULL == 0).then(|| &self.bytes[start as usize..end as usize])
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl CellBlock {
    /// Stores codes with the smallest width that holds all of them.
    pub(crate) fn of_codes(codes: &[u32]) -> CellBlock {
        match codes.iter().max().copied().unwrap_or(0) {
            0..=0xff => CellBlock::Bytes(codes.iter().map(|&code| code as u8).collect()),
            0x100..=0xffff => CellBlock::Shorts(codes.iter().map(|&code| code as u16).collect()),
            _ => CellBlock::Words(codes.to_vec()),
        }
    }

    /// The code of a cell. `None` if the block has texts.
    #[inline]
    pub(crate) fn code(&self, position: usize) -> Option<u32> {
        match self {
            CellBlock::Bytes(codes) => Some(u32::from(codes[position])),
            CellBlock::Shorts(codes) => Some(u32::from(codes[position])),
            CellBlock::Words(codes) => Some(codes[position]),
            CellBlock::Texts(_) => None,
        }
    }

    /// The codes of all cells. Empty if the block has texts.
    pub(crate) fn codes(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).filter_map(|position| self.code(position))
    }

    /// Adds the codes to bit-packed rows, shifted to their place. Those bits must be 0.
    pub(crate) fn or_into(&self, rows: &mut [u64], shift: u32) {
        fn add<T: Copy + Into<u64>>(rows: &mut [u64], codes: &[T], shift: u32) {
            rows.iter_mut().zip(codes).for_each(|(row, &code)| *row |= code.into() << shift);
        }
        match self {
            CellBlock::Bytes(codes) => add(rows, codes, shift),
            CellBlock::Shorts(codes) => add(rows, codes, shift),
            CellBlock::Words(codes) => add(rows, codes, shift),
            CellBlock::Texts(_) => debug_assert!(false, "a folded column has codes"),
        }
    }

    /// The number of cells.
    fn len(&self) -> usize {
        match self {
            CellBlock::Bytes(codes) => codes.len(),
            CellBlock::Shorts(codes) => codes.len(),
            CellBlock::Words(codes) => codes.len(),
            CellBlock::Texts(texts) => texts.ends.len(),
        }
    }

    /// The memory use in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (match self {
            CellBlock::Bytes(codes) => codes.len(),
            CellBlock::Shorts(codes) => 2 * codes.len(),
            CellBlock::Words(codes) => 4 * codes.len(),
            CellBlock::Texts(texts) => 4 * texts.ends.len() + texts.bytes.len(),
        }) as u64
    }

    /// The cells at some positions.
    pub(crate) fn picked(&self, positions: &[u16]) -> CellBlock {
        let at = |position: &u16| *position as usize;
        match self {
            CellBlock::Bytes(own) => {
                CellBlock::Bytes(positions.iter().map(|p| own[at(p)]).collect())
            }
            CellBlock::Shorts(own) => {
                CellBlock::Shorts(positions.iter().map(|p| own[at(p)]).collect())
            }
            CellBlock::Words(own) => {
                CellBlock::Words(positions.iter().map(|p| own[at(p)]).collect())
            }
            CellBlock::Texts(own) => {
                let mut texts = TextBlock::default();
                // The texts of the block fit, so some of them do too.
                let picked = positions.iter().try_for_each(|p| texts.push(own.get(at(p))));
                picked.expect("texts of a block fit into a block");
                CellBlock::Texts(texts)
            }
        }
    }

    /// Writes the block in the format of [`CellBlock::read`].
    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (kind, cells): (u8, &[u8]) = match self {
            CellBlock::Bytes(codes) => (1, codes),
            CellBlock::Shorts(codes) => (2, codes.to_byte_slice()),
            CellBlock::Words(codes) => (4, codes.to_byte_slice()),
            CellBlock::Texts(texts) => (0, texts.ends.to_byte_slice()),
        };
        to.write_all(&[kind])?;
        to.write_all(&(cells.len() as u64).to_ne_bytes())?;
        to.write_all(cells)?;
        if let CellBlock::Texts(texts) = self {
            to.write_all(&(texts.bytes.len() as u64).to_ne_bytes())?;
            to.write_all(&texts.bytes)?;
        }
        Ok(())
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<CellBlock> {
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        let cells = read_bytes(from)?;
        let words = |bytes: &[u8]| {
            bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        Ok(match kind {
            [1] => CellBlock::Bytes(cells),
            [2] => CellBlock::Shorts(
                cells.chunks_exact(2).map(|b| u16::from_ne_bytes([b[0], b[1]])).collect(),
            ),
            [4] => CellBlock::Words(words(&cells)),
            _ => {
                let ends = words(&cells);
                CellBlock::Texts(TextBlock { bytes: read_bytes(from)?, ends })
            }
        })
    }
}

fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let mut bytes = vec![0; u64::from_ne_bytes(length) as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_survive_narrowing_picking_and_the_file(
            codes in prop::collection::vec(prop_oneof![0u32..300, 0u32..70_000, any::<u32>()], 1..60),
            picks in prop::collection::vec(0usize..60, 0..40),
        ) {
            let picks: Vec<u16> = picks.iter().map(|at| (at % codes.len()) as u16).collect();
            let mut file = Vec::new();
            CellBlock::of_codes(&codes).write(&mut file).unwrap();
            let block = CellBlock::read(&mut file.as_slice()).unwrap();
            let picked = block.picked(&picks);
            for (at, code) in codes.iter().enumerate() {
                prop_assert_eq!(block.code(at), Some(*code));
            }
            for (at, place) in picks.iter().enumerate() {
                prop_assert_eq!(picked.code(at), Some(codes[*place as usize]));
            }
        }

        #[test]
        fn texts_survive_picking_and_the_file(
            cells in prop::collection::vec(prop::option::of("[aé,]{0,6}"), 1..40),
            picks in prop::collection::vec(0usize..40, 0..40),
        ) {
            let mut texts = TextBlock::default();
            cells.iter().for_each(|cell| texts.push(cell.as_ref().map(|text| text.as_bytes())).unwrap());
            let picks: Vec<u16> = picks.iter().map(|at| (at % cells.len()) as u16).collect();
            let mut file = Vec::new();
            CellBlock::Texts(texts).write(&mut file).unwrap();
            let block = CellBlock::read(&mut file.as_slice()).unwrap();
            let CellBlock::Texts(picked) = block.picked(&picks) else { unreachable!() };
            for (at, place) in picks.iter().enumerate() {
                let expected = cells[*place as usize].as_ref().map(|text| text.as_bytes());
                prop_assert_eq!(picked.get(at), expected);
            }
        }
    }
}
