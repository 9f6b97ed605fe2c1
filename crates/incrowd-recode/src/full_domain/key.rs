//! Keys: the classes of all columns, packed into one integer.

/// An integer that contains the classes of all columns.
pub(super) trait Key:
    Copy + Eq + Ord + Default + Send + Sync + std::fmt::Debug + 'static
{
    fn get(self, field: Field) -> u32;
    #[must_use]
    fn set(self, field: Field, class: u32) -> Self;
    /// Returns a hash whose upper bits depend on every bit of the key.
    fn hash(self) -> u64;
}

/// The position of a column's class in a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    shift: u32,
    mask: u32,
}

impl Field {
    /// Returns adjacent fields for columns with these numbers of classes, and the total number of
    /// bits.
    pub(super) fn layout(classes: impl Iterator<Item = usize>) -> (Vec<Field>, u32) {
        let mut shift = 0;
        let fields = classes
            .map(|classes| {
                let bits = usize::BITS - classes.saturating_sub(1).leading_zeros();
                let mask = ((1u64 << bits) - 1) as u32;
                let field = Field { shift, mask };
                shift += bits;
                field
            })
            .collect();
        (fields, shift)
    }
}

/// 2⁶⁴ divided by the golden ratio, for multiplicative hashing.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

impl Key for u64 {
    #[inline]
    fn get(self, field: Field) -> u32 {
        if field.mask == 0 { 0 } else { (self >> field.shift) as u32 & field.mask }
    }

    #[inline]
    fn set(self, field: Field, class: u32) -> u64 {
        if field.mask == 0 {
            return self;
        }
        (self & !(u64::from(field.mask) << field.shift)) | u64::from(class) << field.shift
    }

    #[inline]
    fn hash(self) -> u64 {
        // Two rounds, so that the top fields reach the upper bits of the product too.
        let once = self.wrapping_mul(GOLDEN_RATIO);
        (once ^ (once >> 32)).wrapping_mul(GOLDEN_RATIO)
    }
}

impl Key for u128 {
    #[inline]
    fn get(self, field: Field) -> u32 {
        if field.mask == 0 { 0 } else { (self >> field.shift) as u32 & field.mask }
    }

    #[inline]
    fn set(self, field: Field, class: u32) -> u128 {
        if field.mask == 0 {
            return self;
        }
        (self & !(u128::from(field.mask) << field.shift)) | u128::from(class) << field.shift
    }

    #[inline]
    fn hash(self) -> u64 {
        (self as u64).hash() ^ ((self >> 64) as u64).rotate_left(17).hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_fields<K: Key>() {
        let classes = [1usize, 2, 5, 1000, 1, 65_537, 16];
        let (fields, bits) = Field::layout(classes.into_iter());
        assert_eq!(bits, 1 + 3 + 10 + 17 + 4);
        let mut key = K::default();
        for round in 0..3 {
            for (field, &n) in fields.iter().zip(&classes) {
                key = key.set(*field, (n - 1) as u32 / (round + 1));
            }
            for (field, &n) in fields.iter().zip(&classes) {
                assert_eq!(key.get(*field), (n - 1) as u32 / (round + 1));
            }
        }
    }

    #[test]
    fn fields_do_not_overlap() {
        check_fields::<u64>();
        check_fields::<u128>();
    }
}
