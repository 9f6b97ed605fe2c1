//! Index types that cannot be confused with each other.

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index into a slice.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// The position of a leaf in its column's domain.
    Code
);
index!(
    /// A distinct row of a folded table.
    RowId
);
index!(
    /// A group of a partition.
    GroupId
);
index!(
    /// A node of a taxonomy.
    NodeId
);
