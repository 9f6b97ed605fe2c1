//! What is published of a record, in as few words as its numbers need.

use incrowd_core::packed::Layout;

/// How the numbers of a record lie in words while records are brought in order: there are many of them, and each is moved several
/// times.
pub(crate) struct Packing {
    /// How many numbers a record has.
    width: usize,
    /// Nothing if the numbers do not fit into 64 bits: then each is a word.
    layout: Option<Layout>,
}

impl Packing {
    /// For numbers up to these.
    pub(crate) fn new(highest: &[u32]) -> Packing {
        let layout = Layout::new(highest).filter(|layout| words(layout) < highest.len());
        Packing { width: highest.len(), layout }
    }

    /// How many words a record takes.
    pub(crate) fn words(&self) -> usize {
        self.layout.as_ref().map_or(self.width, words)
    }

    /// Puts the numbers from `start` on into words.
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

    /// The numbers of many records, one after another.
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
        fn numbers_come_out_as_they_went_in(
            highest in prop::collection::vec(prop_oneof![0..9u32, 0..70_000u32, Just(u32::MAX)], 1..6),
            shares in prop::collection::vec(0.0..=1.0f64, 0..60),
        ) {
            let packing = Packing::new(&highest);
            let bits: u32 = highest.iter().map(|n| u32::BITS - n.leading_zeros()).sum();
            prop_assert_eq!(packing.words(), highest.len().min(if bits <= 32 { 1 } else if bits <= 64 { 2 } else { 9 }));
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
            prop_assert_eq!(packing.unpacked(packed), records.concat());
        }
    }
}
