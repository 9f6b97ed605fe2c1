//! Charts that only these pages have. The others are those of reports (`incrowd_report::chart`).
//! All charts use positions relative to the width and take colours from CSS classes.

use incrowd::Glimpse;
use incrowd::front_end::core::text::thousands;
use incrowd::front_end::core::{NodeId, Taxonomy};
use incrowd_report::chart::{bar, pc};
use incrowd_report::{percent, short};
use maud::{Markup, html};

use crate::texts as t;

/// Draws the distribution of a column's values.
pub(crate) fn glimpse(seen: &Glimpse) -> Markup {
    let most = seen.bars.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1) as f64;
    let label = t::glimpse_label(&seen.name, seen.distinct);
    html! {
        @if seen.bars.is_empty() {
            p.note { (t::HARDLY_ALIKE) }
        } @else if seen.numbers {
            @let width = 1.0 / seen.bars.len() as f64;
            svg.histogram width="100%" height="56" role="img" aria-label=(label) {
                @for (i, (name, n)) in seen.bars.iter().enumerate() {
                    @let height = 54.0 * *n as f64 / most;
                    @let height = if *n > 0 { height.max(1.0) } else { 0.0 };
                    rect class="fill-blue" x=(pc(i as f64 * width + 0.004))
                        y=(format!("{:.2}", 56.0 - height)) width=(pc(width - 0.008))
                        height=(format!("{height:.2}")) {
                        title { (name) ": " (thousands(*n)) }
                    }
                }
            }
            div.ends aria-hidden="true" {
                @let ends = (seen.bars.first(), seen.bars.last());
                @if let (Some((first, _)), Some((last, _))) = ends {
                    span { (first.split(" – ").next().unwrap_or_default()) }
                    span { (last.split(" – ").nth(1).unwrap_or_default()) }
                }
            }
        } @else {
            ul.rows aria-label=(label) {
                @for (name, n) in &seen.bars {
                    li {
                        span.name title=(name) { (short(name, 22)) }
                        svg width="100%" height="10" aria-hidden="true" {
                            (bar(*n as f64 / most, "fill-blue"))
                        }
                        span.count { (percent(*n as f64 / seen.records.max(1) as f64)) }
                    }
                }
                @if seen.others > 0 {
                    li.rest {
                        span.name { (t::OTHER_VALUES) }
                        svg width="100%" height="10" aria-hidden="true" {
                            (bar(seen.others as f64 / most, "fill-rule"))
                        }
                        span.count { (percent(seen.others as f64 / seen.records.max(1) as f64)) }
                    }
                }
            }
        }
    }
}

/// Levels with more nodes are not drawn.
const MOST_NODES: usize = 240;

/// Draws a hierarchy from the root down. The width of a node is proportional to the number of
/// values below it. A label is shown if it fits.
pub(crate) fn icicle(column: &str, tree: &Taxonomy) -> Markup {
    let leaves = f64::from(tree.leaves().max(1));
    let mut levels: Vec<Vec<NodeId>> = vec![vec![tree.root()]];
    while levels.len() <= tree.height() {
        let last = levels.last().map_or(&[][..], Vec::as_slice);
        let next: Vec<NodeId> =
            last.iter().flat_map(|&node| tree.children(node).iter().copied()).collect();
        if next.is_empty() || next.len() > MOST_NODES {
            break;
        }
        levels.push(next);
    }
    let hidden = (tree.height() + 1).saturating_sub(levels.len());
    let height = 30 * levels.len();
    let about = t::icicle_label(column, tree.leaves(), tree.height() + 1);
    html! {
        svg.icicle width="100%" height=(height) role="img" aria-label=(about) {
            @for (depth, nodes) in levels.iter().enumerate() {
                @for &node in nodes {
                    @let (low, _) = tree.span(node);
                    @let x = f64::from(low.0) / leaves;
                    @let width = f64::from(tree.width(node)) / leaves;
                    @let label = tree.label(node);
                    svg x=(pc(x)) y=(30 * depth) width=(pc(width)) height="30" {
                        rect class={ "part depth" (depth % 4) } x="0" y="0" width="100%"
                            height="100%" { title { (label) } }
                        @if let Some(class) = label_class(label, 100.0 * width) {
                            text class={ "part-label " (class) } x="50%" y="20"
                                text-anchor="middle" { (label) }
                        }
                    }
                }
            }
        }
        @if hidden > 0 { p.note { (t::levels_hidden(hidden)) } }
    }
}

/// Returns the class of the page width from which a label fits into a node of `share` percent.
fn label_class(label: &str, share: f64) -> Option<&'static str> {
    let need = (label.chars().count() as f64 * 7.6 + 10.0) / (share / 100.0);
    [(300.0, "at-300"), (480.0, "at-480"), (700.0, "at-700"), (1000.0, "at-1000")]
        .into_iter()
        .find(|(width, _)| need <= *width)
        .map(|(_, class)| class)
}

/// Renders the labels of a hierarchy as a nested list that can be expanded.
pub(crate) fn outline(tree: &Taxonomy, node: NodeId, depth: usize) -> Markup {
    const MOST: usize = 40;
    let children = tree.children(node);
    html! {
        ul.outline {
            @for &child in children.iter().take(MOST) {
                @let inner = !tree.children(child).is_empty();
                li {
                    @if inner && depth > 0 {
                        details {
                            summary {
                                (tree.label(child)) " "
                                span.muted { "(" (tree.width(child)) ")" }
                            }
                            (outline(tree, child, depth - 1))
                        }
                    } @else {
                        (tree.label(child))
                        @if inner { " " span.muted { "(" (tree.width(child)) ")" } }
                    }
                }
            }
            @if children.len() > MOST { li.muted { (t::and_more(children.len() - MOST)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(numbers: bool) -> Glimpse {
        let bars = vec![("a <b>".to_owned(), 3), ("c & d".to_owned(), 0)];
        Glimpse { name: "x".into(), records: 4, missing: 0, distinct: 2, numbers, bars, others: 1 }
    }

    #[test]
    fn charts_have_no_inline_style_and_escape_labels() {
        let paths: Vec<Vec<String>> = ["USA", "Canada", "Peru"]
            .map(|v| vec![v.to_owned(), "A & B <c>".to_owned(), "*".to_owned()])
            .to_vec();
        let tree = Taxonomy::from_paths(&paths).unwrap();
        for drawn in [
            glimpse(&example(true)),
            glimpse(&example(false)),
            icicle("x", &tree),
            outline(&tree, tree.root(), 3),
        ] {
            let text = drawn.into_string();
            assert!(!text.contains("style=") && !text.contains("<script"), "{text}");
            assert!(
                !text.contains("<b>") && !text.contains("<i>") && !text.contains("<c>"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_label_is_shown_only_if_it_fits() {
        assert_eq!(label_class("abc", 100.0), Some("at-300"));
        assert_eq!(label_class("abcdefghij", 10.0), Some("at-1000"));
        assert_eq!(label_class("abcdefghij", 1.0), None);
    }
}
