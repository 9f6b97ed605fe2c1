//! Marks for kinds of points. Each kind has a distinct mark.

use maud::{Markup, html};

use super::KINDS;

/// SVG paths of the shapes, centred on the point. The first shape is a circle.
const SHAPES: [&str; 7] = [
    "",
    "M-5.5-5.5H5.5V5.5H-5.5Z",
    "M0-7L6.5 5.5H-6.5Z",
    "M0-7.5L7.5 0L0 7.5L-7.5 0Z",
    "M0 7L6.5-5.5H-6.5Z",
    "M-6-6H6L-6 6H6Z",
    "M0-8L2-2L8 0L2 2L0 8L-2 2L-8 0L-2-2Z",
];

/// Returns colour, shape and number of a kind. The first 42 kinds have distinct pairs of colour and
/// shape. Later kinds also have a number.
fn appearance(kind: usize) -> (usize, usize, usize) {
    let (colour, round) = (kind % KINDS.len(), kind / KINDS.len());
    (colour, (colour + round) % SHAPES.len(), round / SHAPES.len())
}

/// Renders the mark of a kind around (0, 0), filled or hollow. The first kinds differ in shape as
/// well as in colour, for readers who cannot distinguish the colours.
pub fn mark(kind: usize, filled: bool) -> Markup {
    let (colour, shape, number) = appearance(kind);
    let class = format!("{}-{}", if filled { "fill" } else { "line" }, KINDS[colour]);
    html! {
        @if shape == 0 {
            circle class=(class) r="6" {}
        } @else {
            path class=(class) d=(SHAPES[shape]) {}
        }
        @if number > 0 { text class="tick" x="8" y="-4" { (number) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_have_distinct_marks() {
        let drawn: std::collections::BTreeSet<String> =
            (0..500).map(|kind| mark(kind, true).into_string()).collect();
        assert_eq!(drawn.len(), 500);
    }
}
