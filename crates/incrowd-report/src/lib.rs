//! HTML pages: guarantees, risks and information loss of a release, and comparisons of
//! configurations.
//!
//! A page is one self-contained HTML file. It has no script and fetches nothing. Charts are SVG,
//! and each chart is followed by a table of its numbers. The colours follow the light or dark mode
//! of the device. This crate only renders: it opens no file and depends on no other crate of
//! incrowd. The caller that fills in [`Public`] and [`Owner`] decides which data is published.

pub mod chart;
mod compared;
mod cost;
mod data;
mod figures;
mod format;
mod owner;
mod page;
pub mod parts;
mod public;

pub use compared::{ComparisonData, Configuration};
pub use data::{
    Association, Attack, ColumnCost, ColumnMoments, ColumnRisk, Cost, Exposed, Fold, Guarantee,
    Loss, Outcome, Owner, Prediction, Public, Queries, QueryClass, Risk, Sample, SampleRecord,
    Score, Sentence, Shape, ShapeKind, SizeBin, Tone, UniqueOn,
};
pub use format::{percent, short};
pub use page::GENERATOR;

/// The style sheet of all pages, for programs that embed components of them.
pub const STYLE: &str = include_str!("style.css");

/// Renders the page that may be published.
pub fn public_page(data: &Public) -> String {
    public::render(data)
}

/// Renders the page for the data owner.
pub fn owner_page(data: &Owner) -> String {
    owner::render(data)
}

/// Renders the comparison page, which is for the data owner.
pub fn comparison_page(data: &ComparisonData) -> String {
    compared::render(data)
}
