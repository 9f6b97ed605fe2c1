//! Packs the numbers of a record into as few words as possible.

use incrowd_core::packed::Layout;

/// Packs the numbers of a record into words during ordering, because each of many records is moved
/// several times.
pub(crate) struct Packing {
    /// The number of numbers per record.
    width: usize,
    /// `None` if the numbers do not fit into 64 bits. Then each number is a word.
    layout: Option<Layout>,
}

impl Packing {
    /// Makes a packing for numbers up to `highest`.
    pub(crate) fn new(highest: &[u32]) -> Packing {
        let layout = Layout::new(highest).filter(|layout| words(layout) < highest.len());
        Packing { width: highest.len(), layout }
    }

    /// The number of words per record.
    pub(crate) fn words(&self) -> usize {
        self.layout.as_ref().map_or(self.width, words)
    }

    /// Packs the numbers from index `start` on, in place.
    #[inline]
    pub(crate) fn pack(&self, out: &mut Vec<u32>, start: usize) {
        let Some(layout) = &self.layout else { return };
        let key = layout.pack(&out[start..]);
        out.truncate(start);
        out.push(key as u32);
        if words(layout) == 2 {
            out.push((key >> 32) as u32);
        }
    }

    /// One number of a packed record.
    pub(crate) fn number(&self, packed: &[u32], position: usize) -> u32 {
        let Some(layout) = &self.layout else { return packed[position] };
        let high = packed.get(1).map_or(0, |&high| u64::from(high) << 32);
        let (shift, mask) = layout.places()[position];
        ((high | u64::from(packed[0])) >> shift & mask) as u32
    }

    /// Unpacks the numbers of many records.
    pub(crate) fn unpacked(&self, packed: Vec<u32>) -> Vec<u32> {
        let Some(layout) = &self.layout else { return packed };
        let words = words(layout);
        let mut numbers = vec![0; packed.len() / words * self.width];
        for (own, numbers) in packed.chunks_exact(words).zip(numbers.chunks_exact_mut(self.width)) {
            let high = own.get(1).map_or(0, |&high| u64::from(high) << 32);
            layout.unpack(high | u64::from(own[0]), numbers);
        }
        numbers
    }
}

fn words(layout: &Layout) -> usize {
    if layout.total() <= u32::BITS { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_numbers_are_unchanged(
            highest in prop::collection::vec(
                prop_oneof![0..9u32, 0..70_000u32, Just(u32::MAX)],
                1..6,
            ),
            shares in prop::collection::vec(0.0..=1.0f64, 0..60),
        ) {
            let packing = Packing::new(&highest);
            let bits: u32 = highest.iter().map(|n| u32::BITS - n.leading_zeros()).sum();
            let most = if bits <= 32 { 1 } else if bits <= 64 { 2 } else { 9 };
            prop_assert_eq!(packing.words(), highest.len().min(most));
            let records = shares.chunks_exact(highest.len());
            let number = |(share, highest): (&f64, &u32)| (share * f64::from(*highest)) as u32;
            let records: Vec<Vec<u32>> =
                records.map(|shares| shares.iter().zip(&highest).map(number).collect()).collect();
            let mut packed = Vec::new();
            for record in &records {
                let start = packed.len();
                packed.extend_from_slice(record);
                packing.pack(&mut packed, start);
            }
            prop_assert_eq!(packed.len(), records.len() * packing.words());
            for (own, record) in packed.chunks_exact(packing.words()).zip(&records) {
                for (position, number) in record.iter().enumerate() {
                    prop_assert_eq!(packing.number(own, position), *number);
                }
            }
            prop_assert_eq!(packing.unpacked(packed), records.concat());
        }
    }
}
