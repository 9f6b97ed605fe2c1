//! Hierarchies: how values are generalized.
//!
//! Every hierarchy becomes a [`Taxonomy`]: a tree whose leaves are numbered in depth-first order,
//! so that every node is an interval of leaves. There is one file for each kind of hierarchy.

pub mod arx;
pub mod bands;
pub mod columns;
pub mod dates;
pub mod intervals;
pub mod known;
pub mod lint;
pub mod mask;
pub mod mdr;
pub mod nested;
mod taxonomy;

pub(crate) use taxonomy::share;
pub use taxonomy::{Extents, Taxonomy};

use crate::error::{Error, Result};

/// The definition of a hierarchy, independent of the column's values.
///
/// ```
/// use incrowd_core::hierarchy::HierarchySpec;
/// use incrowd_core::hierarchy::mask::{From, Mask};
///
/// // 02139 and 02141 become 0213* and 0214*, then 021**.
/// let postal = HierarchySpec::Mask(Mask { char: '*', from: From::Right });
/// let tree = postal.build("zip", &["02139", "02141", "02142"]).unwrap();
/// assert_eq!(tree.leaves(), 3);
/// let code = tree.code("02141").unwrap();
/// assert_eq!(tree.label(tree.at_level(code, 1)), "0214*");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum HierarchySpec {
    /// The lines of an ARX-style file, `leaf;level1;…;root`.
    Arx {
        /// The name of the file, for messages.
        name: String,
        /// Its text.
        text: String,
    },
    /// A tree written in the job file or in a TOML file.
    Nested(nested::Tree),
    /// Characters masked from one end, for codes such as zip codes.
    Mask(mask::Mask),
    /// Numeric intervals of fixed width or with given cut points.
    Intervals(intervals::Intervals),
    /// Day, month, quarter, year, decade.
    Dates(dates::Dates),
    /// Values that are intervals, joined with adjacent ones.
    Bands,
    /// A classification derived from the structure of its codes.
    Known(known::Known),
    /// Other columns of the table, each of which is determined by the one before.
    Columns(columns::Columns),
    /// Regular intervals whose width follows from the column's range.
    Mdr(mdr::Mdr),
}

impl HierarchySpec {
    /// Builds the taxonomy that covers `values`, the distinct texts of `column`.
    pub fn build(&self, column: &str, values: &[&str]) -> Result<Taxonomy> {
        self.build_counted(column, values, None, None)
    }

    /// Builds the taxonomy, with the number of records per value and the whole range of the column,
    /// for hierarchies that depend on them.
    pub fn build_counted(
        &self,
        column: &str,
        values: &[&str],
        counts: Option<&[u64]>,
        domain: Option<(f64, f64)>,
    ) -> Result<Taxonomy> {
        let taxonomy = match self {
            HierarchySpec::Arx { name, text } => arx::read(name, text)?,
            HierarchySpec::Nested(tree) => tree.build()?,
            HierarchySpec::Mask(mask) => mask.build(values)?,
            HierarchySpec::Intervals(intervals) => intervals.build(column, values)?,
            HierarchySpec::Dates(dates) => dates.build(column, values)?,
            HierarchySpec::Bands => bands::build(column, values)?,
            HierarchySpec::Known(known) => known.build(values)?,
            HierarchySpec::Columns(columns) => columns.build(column)?,
            HierarchySpec::Mdr(mdr) => mdr.build(column, values, counts, domain)?,
        };
        if taxonomy.leaves() == 0 {
            return Err(Error::input(format!("the hierarchy of column `{column}` has no leaves")));
        }
        Ok(taxonomy)
    }

    /// Whether leaves have a canonical spelling.
    pub fn is_canonical(&self) -> bool {
        matches!(
            self,
            HierarchySpec::Intervals(_) | HierarchySpec::Dates(_) | HierarchySpec::Mdr(_)
        )
    }

    /// The canonical spelling of a number or date: `07` has the leaf `7`.
    pub fn canonical(&self, text: &str) -> Option<String> {
        match self {
            HierarchySpec::Intervals(_) => intervals::leaf(text).map(|(label, _)| label),
            HierarchySpec::Dates(_) => dates::leaf(text).map(|(label, _)| label),
            HierarchySpec::Mdr(_) => mdr::leaf(text),
            _ => None,
        }
    }
}
