//! Parser for Thrift's compact protocol, which Parquet uses for its footer and page headers. It
//! stores nothing. It checks that every stated length is within the available bytes.
//!
//! The library reads a known field without regard to its stated type, and skips an unknown field by
//! its stated type. Fields with a wrong type would therefore make it read other structures than the
//! ones that are checked here, so they are refused.

use super::super::MOST_COLUMNS;

/// Maximum depth of nested structures, and of nested columns.
const DEEPEST: u32 = 64;
/// Maximum number of elements of a schema, as a multiple of the columns. A list takes three.
const ELEMENTS: u64 = 8;
/// Maximum size of the paths of all columns in bytes. The library copies the names of all groups
/// around a nested column into its path.
const PATHS: u64 = 64 << 20;
/// Size of a name in a path, in addition to its bytes.
const PER_NAME: u64 = 56;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Bool,
    /// A number or a text, with its type in the protocol.
    Plain(u8),
    List(&'static Shape),
    /// The identifiers and types of the fields.
    Struct(&'static [(i64, Shape)]),
}

const I8: Shape = Shape::Plain(3);
const I16: Shape = Shape::Plain(4);
const I32: Shape = Shape::Plain(5);
const I64: Shape = Shape::Plain(6);
const DOUBLE: Shape = Shape::Plain(7);
const TEXT: Shape = Shape::Plain(8);
const EMPTY: Shape = Shape::Struct(&[]);

/// The structures of the [Parquet format](https://github.com/apache/parquet-format), with all
/// fields that the library reads.
pub(super) const FILE_METADATA: Shape = Shape::Struct(&[
    (1, I32),
    (2, Shape::List(&SCHEMA_ELEMENT)),
    (3, I64),
    (4, Shape::List(&ROW_GROUP)),
    (5, Shape::List(&KEY_VALUE)),
    (6, TEXT),
    (7, Shape::List(&Shape::Struct(&[(1, EMPTY), (2, EMPTY)]))),
]);
const SCHEMA_ELEMENT: Shape = Shape::Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, TEXT),
    (CHILDREN, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, LOGICAL_TYPE),
]);
/// The fields of a schema element with its name and the number of its children.
const NAME: i64 = 4;
const CHILDREN: i64 = 5;
const LOGICAL_TYPE: Shape = Shape::Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Shape::Struct(&[(1, I32), (2, I32)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Shape::Struct(&[(1, I8), (2, Shape::Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Shape::Struct(&[(1, I8)])),
    (17, Shape::Struct(&[(1, TEXT)])),
    (18, Shape::Struct(&[(1, TEXT), (2, I32)])),
]);
const TIME: Shape =
    Shape::Struct(&[(1, Shape::Bool), (2, Shape::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);
const KEY_VALUE: Shape = Shape::Struct(&[(1, TEXT), (2, TEXT)]);
const ROW_GROUP: Shape = Shape::Struct(&[
    (1, Shape::List(&COLUMN_CHUNK)),
    (2, I64),
    (3, I64),
    (4, Shape::List(&Shape::Struct(&[(1, I32), (2, Shape::Bool), (3, Shape::Bool)]))),
    (5, I64),
    (6, I64),
    (7, I16),
]);
const COLUMN_CHUNK: Shape = Shape::Struct(&[
    (1, TEXT),
    (2, I64),
    (3, COLUMN_METADATA),
    (4, I64),
    (5, I32),
    (6, I64),
    (7, I32),
]);
const COLUMN_METADATA: Shape = Shape::Struct(&[
    (1, I32),
    (2, Shape::List(&I32)),
    (3, Shape::List(&TEXT)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (8, Shape::List(&KEY_VALUE)),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, STATISTICS),
    (13, Shape::List(&Shape::Struct(&[(1, I32), (2, I32), (3, I32)]))),
    (14, I64),
    (15, I32),
    (16, Shape::Struct(&[(1, I64), (2, Shape::List(&I64)), (3, Shape::List(&I64))])),
    (17, Shape::Struct(&[(1, BOX), (2, Shape::List(&I32))])),
]);
const STATISTICS: Shape = Shape::Struct(&[
    (1, TEXT),
    (2, TEXT),
    (3, I64),
    (4, I64),
    (5, TEXT),
    (6, TEXT),
    (7, Shape::Bool),
    (8, Shape::Bool),
]);
const BOX: Shape = Shape::Struct(&[
    (1, DOUBLE),
    (2, DOUBLE),
    (3, DOUBLE),
    (4, DOUBLE),
    (5, DOUBLE),
    (6, DOUBLE),
    (7, DOUBLE),
    (8, DOUBLE),
]);
pub(super) const PAGE_HEADER: Shape = Shape::Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, I32),
    (5, Shape::Struct(&[(1, I32), (2, I32), (3, I32), (4, I32)])),
    (6, EMPTY),
    (7, Shape::Struct(&[(1, I32), (2, I32), (3, Shape::Bool)])),
    (
        8,
        Shape::Struct(&[
            (1, I32),
            (2, I32),
            (3, I32),
            (4, I32),
            (5, I32),
            (6, I32),
            (7, Shape::Bool),
        ]),
    ),
]);

/// Reader with a position in the bytes.
#[derive(Debug)]
pub(super) struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Compact<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Compact<'a> {
        Compact { bytes, at: 0 }
    }

    /// Number of bytes read.
    pub(super) fn read(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn leave(&mut self, bytes: u64) -> Option<()> {
        let left = (self.bytes.len() - self.at) as u64;
        (bytes <= left).then(|| self.at += bytes as usize)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a zigzag-encoded signed integer.
    pub(super) fn number(&mut self) -> Option<i64> {
        let n = self.varint()?;
        Some((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    /// Reads a 32-bit integer. Longer ones are refused, because the library shortens them.
    pub(super) fn number_32(&mut self) -> Option<i32> {
        self.number()?.try_into().ok()
    }

    /// Reads a structure. `each` receives the identifier and the type of every field, and returns
    /// whether it consumed the value.
    pub(super) fn structure(
        &mut self,
        depth: u32,
        each: &mut dyn FnMut(&mut Compact<'a>, i64, u8) -> Option<bool>,
    ) -> Option<()> {
        let mut field = 0;
        if depth > DEEPEST {
            return None;
        }
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(());
            }
            field = match header >> 4 {
                0 => self.number()?,
                delta => field + i64::from(delta),
            };
            let kind = header & 0x0f;
            // The library shortens identifiers to 16 bits, and takes any header of type 0 for the
            // end.
            if i16::try_from(field).is_err() || kind == 0 {
                return None;
            }
            // A boolean field has no value bytes, because its type (1 or 2) is the value.
            if !each(self, field, kind)? && kind > 2 {
                self.skip(kind, depth)?;
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1..=3 => self.leave(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.leave(8),
            8 => {
                let length = self.varint()?;
                self.leave(length)
            }
            LIST | 10 => {
                let (size, kind) = self.list()?;
                self.items(size, &[kind], depth)
            }
            11 => match self.varint()? {
                0 => Some(()),
                size => {
                    let kinds = self.byte()?;
                    self.items(size, &[kinds >> 4, kinds & 0x0f], depth)
                }
            },
            STRUCT => self.structure(depth + 1, &mut |_, _, _| Some(false)),
            13 => self.leave(16),
            _ => None,
        }
    }

    /// Reads the number and the type of the items of a list.
    fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let size = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
        // Every item takes at least one byte.
        (size <= (self.bytes.len() - self.at) as u64).then_some((size, header & 0x0f))
    }

    fn items(&mut self, size: u64, kinds: &[u8], depth: u32) -> Option<()> {
        // The library skips no bytes for the boolean items of a list.
        let is_bool = |kind: &u8| matches!(*kind, TRUE | FALSE);
        if size > (self.bytes.len() - self.at) as u64
            || depth > DEEPEST
            || size > 0 && kinds.iter().any(is_bool)
        {
            return None;
        }
        for _ in 0..size {
            for &kind in kinds {
                self.skip(kind, depth + 1)?;
            }
        }
        Some(())
    }

    /// Reads a value of this shape. `kind` is its stated type.
    fn check(&mut self, shape: Shape, kind: u8, depth: u32) -> Option<()> {
        match (shape, kind) {
            (Shape::Bool, TRUE | FALSE) => Some(()),
            (Shape::Plain(own), kind) if own == kind => self.skip(kind, depth),
            (Shape::List(item), LIST) => {
                let (size, kind) = self.list()?;
                (0..size).try_for_each(|_| self.check(*item, kind, depth + 1))
            }
            (Shape::Struct(fields), STRUCT) => {
                self.structure(depth, &mut |own, field, kind| match fields
                    .iter()
                    .find(|(id, _)| *id == field)
                {
                    Some((_, shape)) => own.check(*shape, kind, depth + 1).map(|()| true),
                    None => Some(false),
                })
            }
            _ => None,
        }
    }

    /// Reads the schema, a flat list in which every element is followed by its children. `None` if
    /// an element has too many or a negative number of them, or is nested deeper than [`DEEPEST`].
    /// The library reads the list recursively, and reserves memory for the stated children. `None`
    /// with another `reason` if the columns are too many, or their paths too long.
    fn schema(&mut self, reason: &mut Unfit) -> Option<()> {
        let (size, _) = self.list()?;
        // The children still to come of each group around the next element, and of all of them.
        // The size of the name of each group, and of all of them.
        let mut groups: Vec<(u64, u64)> = Vec::new();
        let (mut expected, mut path) = (0u64, 0u64);
        let (mut leaves, mut paths) = (0u64, 0u64);
        for left in (0..size).rev() {
            let (mut children, mut name) = (0, 0);
            self.structure(1, &mut |element, field, _| {
                match field {
                    CHILDREN => children = element.number_32()?,
                    NAME => {
                        name = element.varint()?;
                        element.leave(name)?;
                    }
                    _ => return Some(false),
                }
                Some(true)
            })?;
            let children = u64::try_from(children).ok()?;
            let name = name.saturating_add(PER_NAME);
            expected = expected.saturating_sub(1) + children;
            if let Some((group, _)) = groups.last_mut() {
                *group -= 1;
            }
            if children > 0 {
                groups.push((children, name));
                path = path.saturating_add(name);
            } else {
                leaves += 1;
                paths = paths.saturating_add(path).saturating_add(name);
            }
            if expected > left || groups.len() > DEEPEST as usize {
                return None;
            }
            let most = MOST_COLUMNS as u64;
            if leaves > most || size - left > most * ELEMENTS {
                *reason = Unfit::Wide;
                return None;
            }
            if paths > PATHS {
                *reason = Unfit::LongPaths;
                return None;
            }
            while let Some((0, name)) = groups.last() {
                path = path.saturating_sub(*name);
                groups.pop();
            }
        }
        Some(())
    }
}

/// Whether the bytes start with a structure of this shape, and every length is valid.
pub(super) fn is_sound(bytes: &[u8], shape: Shape) -> bool {
    Compact::new(bytes).check(shape, STRUCT, 0).is_some()
}

/// Reason why a schema is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// Its elements are no tree, or they are nested too deeply.
    Deep,
    /// It has too many columns.
    Wide,
    /// The paths of its columns take too much memory.
    LongPaths,
}

/// Checks that the schema in a sound footer is a tree that is not nested too deeply, and that its
/// columns take a bounded amount of memory.
pub(super) fn check_schema(footer: &[u8]) -> Result<(), Unfit> {
    let mut reason = Unfit::Deep;
    let read = Compact::new(footer).structure(0, &mut |own, field, _| match field {
        2 => own.schema(&mut reason).map(|()| true),
        _ => Some(false),
    });
    read.ok_or(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_lengths_must_fit() {
        // Unknown fields. Field 15: the integer -1; field 16: the text `ab`; field 17: a list of
        // three bytes; a stop.
        let is_sound = |bytes: &[u8]| is_sound(bytes, FILE_METADATA);
        let sound = [0xf5, 0x01, 0x18, 0x02, b'a', b'b', 0x19, 0x33, 1, 2, 1, 0x00];
        assert!(is_sound(&sound));
        for end in 0..sound.len() {
            assert!(!is_sound(&sound[..end]), "{end} bytes");
        }
        let changed = |at: usize, byte: u8| {
            let mut bytes = sound;
            bytes[at] = byte;
            bytes
        };
        assert!(!is_sound(&changed(3, 0x7f)), "a long text");
        assert!(!is_sound(&changed(7, 0xd3)), "a long list");
        // The library reads these otherwise.
        assert!(!is_sound(&changed(7, 0x31)), "a list of booleans");
        assert!(!is_sound(&changed(6, 0x10)), "an end with an identifier");
        let mut deep = [0x1c; 100];
        deep[0] = 0xfc;
        assert!(!is_sound(&deep), "no end of structures");
    }

    #[test]
    fn known_fields_must_have_their_types() {
        let is_sound = |bytes: &[u8]| is_sound(bytes, FILE_METADATA);
        assert!(is_sound(&[0x15, 0x02, 0x19, 0x0c, 0x00]));
        assert!(!is_sound(&[0x16, 0x02, 0x19, 0x0c, 0x00]), "a version of 64 bits");
        assert!(!is_sound(&[0x15, 0x02, 0x18, 0x00, 0x00]), "a text as schema");
        assert!(!is_sound(&[0x29, 0x15, 0x02, 0x00]), "a number as element of the schema");
        // An identifier of more than 16 bits, which the library takes for 2.
        assert!(!is_sound(&[0x08, 0x84, 0x80, 0x08, 0x00, 0x00]));
    }

    #[test]
    fn a_schema_is_a_tree_of_limited_depth() {
        // A footer with a list of elements that have these numbers of children.
        let is_shallow = |children: &[i8]| {
            let mut footer = vec![0x29, 0xfc];
            footer.extend([children.len() as u8 | 0x80, 0]);
            for children in children {
                footer.extend([0x55, (children << 1 ^ children >> 7) as u8, 0x00]);
            }
            footer.push(0);
            assert!(is_sound(&footer, FILE_METADATA));
            match check_schema(&footer) {
                Ok(()) => true,
                Err(reason) => {
                    assert_eq!(reason, Unfit::Deep);
                    false
                }
            }
        };
        assert!(is_shallow(&[2, 1, 0, 2, 0, 0]));
        assert!(is_shallow(&[&[1; 64][..], &[0]].concat()));
        assert!(!is_shallow(&[&[1; 65][..], &[0]].concat()), "too deep");
        // Siblings do not add up.
        assert!(is_shallow(&[&[40][..], &[1, 0].repeat(40)].concat()));
        assert!(!is_shallow(&[2, 0]), "an element is missing");
        assert!(!is_shallow(&[2, 2, 0, 0]), "an element of the outer group is missing");
        assert!(!is_shallow(&[1, -1]));
    }

    /// A number as the protocol writes lengths.
    fn varint(mut number: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
        bytes
    }

    /// A footer with a list of elements that have names of these lengths, and these numbers of
    /// children.
    fn footer(elements: impl ExactSizeIterator<Item = (usize, usize)>) -> Vec<u8> {
        let mut footer = vec![0x29, 0xfc];
        footer.extend(varint(elements.len()));
        for (name, children) in elements {
            footer.push(0x48);
            footer.extend(varint(name));
            footer.resize(footer.len() + name, b'a');
            footer.push(0x15);
            footer.extend(varint(children << 1));
            footer.push(0);
        }
        footer.push(0);
        assert!(is_sound(&footer, FILE_METADATA));
        footer
    }

    #[test]
    fn a_schema_has_a_limited_number_of_columns() {
        let flat = |columns: usize| {
            let element = |at: usize| if at == 0 { (1, columns) } else { (1, 0) };
            check_schema(&footer((0..columns + 1).map(element)))
        };
        assert_eq!(flat(1), Ok(()));
        assert_eq!(flat(MOST_COLUMNS), Ok(()));
        assert_eq!(flat(MOST_COLUMNS + 1), Err(Unfit::Wide));
        // Groups of one column each.
        let nested = |groups: usize, columns: usize| {
            let element = |at: usize| match at {
                0 => (1, columns),
                at if at % (groups + 1) == 0 => (1, 0),
                _ => (1, 1),
            };
            check_schema(&footer((0..columns * (groups + 1) + 1).map(element)))
        };
        assert_eq!(nested(2, 10_000), Ok(()));
        assert_eq!(nested(60, 1_000), Ok(()));
        assert_eq!(nested(10, 50_000), Err(Unfit::Wide));
        assert_eq!(nested(62, 10_000), Err(Unfit::Wide));
    }

    #[test]
    fn the_paths_of_nested_columns_have_a_limited_size() {
        // A root, a group with a long name, and its columns.
        let grouped = |name: usize, columns: usize| {
            let element = |at: usize| match at {
                0 => (1, 1),
                1 => (name, columns),
                _ => (1, 0),
            };
            check_schema(&footer((0..columns + 2).map(element)))
        };
        assert_eq!(grouped(1 << 10, 3_000), Ok(()));
        assert_eq!(grouped(4_000_000, 3), Ok(()));
        assert_eq!(grouped(4_000_000, 3_000), Err(Unfit::LongPaths));
        // A name is not counted after its group has ended.
        let beside = (0..3_003).map(|at| match at {
            0 => (1, 3_001),
            1 => (4_000_000, 1),
            _ => (1, 0),
        });
        assert_eq!(check_schema(&footer(beside)), Ok(()));
    }
}
