//! Data types, privacy models and loss metrics of incrowd.
//!
//! A table about people is folded into distinct rows with record counts ([`Folded`]). Its columns
//! become ordered leaves ([`Domain`]). Algorithms work on a [`Dataset`] of codes and return a
//! [`Partition`]; [`Plan`] turns it into published cells. [`model`] defines the privacy models,
//! [`metric`] the measures of information loss.
//!
//! Invariants of this crate: it opens no file, reads no clock, and starts no threads (rows are
//! sorted on the caller's thread pool).

pub mod audience;
pub mod calendar;
mod canonical;
pub mod card;
pub mod categories;
pub mod cell;
pub mod columnar;
mod condense;
pub mod dataset;
pub mod domain;
pub mod eligibility;
mod error;
pub mod exact;
pub mod folded;
pub mod group;
pub mod hierarchy;
mod index;
pub mod limits;
pub mod lists;
pub mod metric;
mod missing_cells;
pub mod model;
pub mod number;
pub mod numerals;
mod opaque;
pub mod outlier;
pub mod packed;
pub mod partition;
mod person;
pub mod plan;
pub mod population;
pub mod progress;
pub mod region;
pub mod represented;
pub mod schema;
mod sensitive;
mod sensitive_values;
pub mod spelling;
mod suppressed;
pub mod text;
mod value_key;

pub use calendar::DateFormat;
pub use card::{Better, Param, ParamKind, Params, Value};
pub use categories::Categories;
pub use columnar::{CodedColumn, Columnar, PackedTexts};
pub use condense::Condensed;
pub use dataset::Dataset;
pub use domain::Domain;
pub use error::{Error, Fault, Result, looks_like_a_name, near_miss};
pub use folded::{Folded, FoldedColumn, FoldedPersons, MISSING};
pub use group::{GroupSummary, Histogram};
pub use hierarchy::{HierarchySpec, Taxonomy};
pub use index::{Code, GroupId, NodeId, RowId};
pub use missing_cells::MissingCells;
pub use packed::{Layout, PackedRows};
pub use partition::{Divided, Partition, Span};
pub use person::Persons;
pub use plan::Plan;
pub use population::Population;
pub use progress::{Progress, Silent};
pub use region::{Covers, Extent, Region};
pub use schema::{ColumnSpec, Kind, Labels, Publish, Role, Schema, SensitiveSpec};
pub use sensitive_values::SensitiveValues;
pub use suppressed::SuppressedRows;
pub use value_key::{SameKeys, Spellings, means_missing, value_key, value_key_in};
