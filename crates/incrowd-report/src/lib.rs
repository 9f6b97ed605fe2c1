//! Pages to look at: what a release promises, keeps, risks and costs, and how ways of making one compare.
//!
//! A page is one self-contained HTML file: no script, nothing fetched, charts as SVG in the page, light and dark as the
//! reader's device has it, and every chart's numbers in a table below it. This crate renders plain values and computes
//! nothing but what fits on a picture. It opens no file and knows no other crate of incrowd: whoever fills in a [`Public`] and
//! an [`Owner`] decides what the public sees.

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

pub use compared::{Compared, Configuration};
pub use data::{
    AloneIn, Association, Attack, ColumnCost, ColumnMoments, ColumnRisk, Cost, Exposed, Fold, Learned, Loss,
    Outcome, Owner, Promise, Public, Queries, QueryClass, Risk, Sample, SampleRecord, Score, Sentence, Shape,
    ShapeKind, SizeBin, Tone,
};
pub use format::{percent, short};

/// The style sheet of all pages, for those who show parts of them elsewhere.
pub const STYLE: &str = include_str!("style.css");

/// The page that may be published.
pub fn public_page(data: &Public) -> String {
    public::render(data)
}

/// The page for the data owner's eyes.
pub fn owner_page(data: &Owner) -> String {
    owner::render(data)
}

/// The page of a comparison, for the data owner's eyes.
pub fn comparison_page(data: &Compared) -> String {
    compared::render(data)
}
