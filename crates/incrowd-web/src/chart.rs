//! Small charts as SVG without inline style, which the policy of the pages forbids: places are percentages of the width there is,
//! so that a chart fills it and its texts stay readable on a telephone. Colours come from classes.

use incrowd::core::text::thousands;
use incrowd::core::{NodeId, Taxonomy};
use incrowd::{Comparison, Glimpse};
use maud::{Markup, html};

use crate::markup::{percent, short};
use crate::texts as t;

fn pc(x: f64) -> String {
    format!("{x:.3}%")
}

/// A bar from the left, of a length from 0 to 1.
fn bar(length: f64, class: &str) -> Markup {
    let length = if length > 0.0 { (100.0 * length).clamp(0.4, 100.0) } else { 0.0 };
    html! { rect class=(class) x="0" y="0" width=(pc(length)) height="100%" rx="2" {} }
}

/// What a column looks like.
pub(crate) fn glimpse(seen: &Glimpse) -> Markup {
    let most = seen.bars.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1) as f64;
    let label = t::glimpse_label(&seen.name, seen.distinct);
    html! {
        @if seen.bars.is_empty() {
            p.note { (t::HARDLY_ALIKE) }
        } @else if seen.numbers {
            @let width = 100.0 / seen.bars.len() as f64;
            svg.histogram width="100%" height="56" role="img" aria-label=(label) {
                @for (i, (name, n)) in seen.bars.iter().enumerate() {
                    @let height = 54.0 * *n as f64 / most;
                    @let height = if *n > 0 { height.max(1.0) } else { 0.0 };
                    rect class="fill-blue" x=(pc(i as f64 * width + 0.4)) y=(format!("{:.2}", 56.0 - height)) width=(pc(width - 0.8)) height=(format!("{height:.2}")) {
                        title { (name) ": " (thousands(*n)) }
                    }
                }
            }
            div.ends aria-hidden="true" {
                @if let (Some((first, _)), Some((last, _))) = (seen.bars.first(), seen.bars.last()) {
                    span { (first.split(" – ").next().unwrap_or_default()) }
                    span { (last.split(" – ").nth(1).unwrap_or_default()) }
                }
            }
        } @else {
            ul.rows aria-label=(label) {
                @for (name, n) in &seen.bars {
                    li {
                        span.name title=(name) { (short(name, 22)) }
                        svg width="100%" height="10" aria-hidden="true" { (bar(*n as f64 / most, "fill-blue")) }
                        span.count { (percent(*n as f64 / seen.records.max(1) as f64)) }
                    }
                }
                @if seen.others > 0 {
                    li.rest { span.name { (t::OTHER_VALUES) } svg width="100%" height="10" aria-hidden="true" { (bar(seen.others as f64 / most, "fill-rule")) }
                        span.count { (percent(seen.others as f64 / seen.records.max(1) as f64)) } }
                }
            }
        }
    }
}

/// Shares by name, one bar each.
pub(crate) fn shares(label: &str, rows: &[(String, f64, String)]) -> Markup {
    html! {
        ul.rows.large aria-label=(label) {
            @for (name, share, says) in rows {
                li {
                    span.name title=(name) { (short(name, 28)) }
                    svg width="100%" height="14" aria-hidden="true" { rect class="fill-soft" width="100%" height="100%" rx="2" {} (bar(*share, "fill-blue")) }
                    span.count { (says) }
                }
            }
        }
    }
}

/// Shares by name, before and after.
pub(crate) fn before_after(label: &str, rows: &[(String, f64, f64)]) -> Markup {
    let most = rows.iter().map(|(_, a, b)| a.max(*b)).fold(0.01, f64::max);
    html! {
        ul.legend aria-hidden="true" { li { span.mark.fill-amber {} (t::BEFORE) } li { span.mark.fill-blue {} (t::AFTER) } }
        ul.rows.large.twice aria-label=(label) {
            @for (name, before, after) in rows {
                li {
                    span.name { (name) }
                    span.both aria-hidden="true" {
                        svg width="100%" height="11" { (bar(before / most, "fill-amber")) }
                        svg width="100%" height="11" { (bar(after / most, "fill-blue")) }
                    }
                    span.count { (percent(*before)) " → " (percent(*after)) }
                }
            }
        }
    }
}

/// More parts of a level are not drawn one by one.
const MOST_PARTS: usize = 240;

/// A hierarchy from the root down: the wider a part, the more values are below it. A label is shown where it has room.
pub(crate) fn icicle(column: &str, tree: &Taxonomy) -> Markup {
    let leaves = f64::from(tree.leaves().max(1));
    let mut levels: Vec<Vec<NodeId>> = vec![vec![tree.root()]];
    while levels.len() <= tree.height() {
        let last = levels.last().map_or(&[][..], Vec::as_slice);
        let next: Vec<NodeId> = last.iter().flat_map(|&node| tree.children(node).iter().copied()).collect();
        if next.is_empty() || next.len() > MOST_PARTS {
            break;
        }
        levels.push(next);
    }
    let hidden = (tree.height() + 1).saturating_sub(levels.len());
    let height = 30 * levels.len();
    html! {
        svg.icicle width="100%" height=(height) role="img" aria-label=(t::icicle_label(column, tree.leaves(), tree.height() + 1)) {
            @for (depth, nodes) in levels.iter().enumerate() {
                @for &node in nodes {
                    @let (low, _) = tree.span(node);
                    @let (x, width) = (100.0 * f64::from(low.0) / leaves, 100.0 * f64::from(tree.width(node)) / leaves);
                    @let label = tree.label(node);
                    svg x=(pc(x)) y=(30 * depth) width=(pc(width)) height="30" {
                        rect class={ "part depth" (depth % 4) } x="0" y="0" width="100%" height="100%" { title { (label) } }
                        @if let Some(class) = room(label, width) {
                            text class={ "part-label " (class) } x="50%" y="20" text-anchor="middle" { (label) }
                        }
                    }
                }
            }
        }
        @if hidden > 0 { p.note { (t::levels_hidden(hidden)) } }
    }
}

/// How wide the page must be for a label to fit into a part of so many percent.
fn room(label: &str, share: f64) -> Option<&'static str> {
    let need = (label.chars().count() as f64 * 7.6 + 10.0) / (share / 100.0);
    [(300.0, "at-300"), (480.0, "at-480"), (700.0, "at-700"), (1000.0, "at-1000")]
        .into_iter()
        .find(|(width, _)| need <= *width)
        .map(|(_, class)| class)
}

/// The names of nodes below each other, to open and close.
pub(crate) fn outline(tree: &Taxonomy, node: NodeId, depth: usize) -> Markup {
    const MOST: usize = 40;
    let children = tree.children(node);
    html! {
        ul.outline {
            @for &child in children.iter().take(MOST) {
                @let inner = !tree.children(child).is_empty();
                li {
                    @if inner && depth > 0 {
                        details { summary { (tree.label(child)) " " span.muted { "(" (tree.width(child)) ")" } } (outline(tree, child, depth - 1)) }
                    } @else {
                        (tree.label(child)) @if inner { " " span.muted { "(" (tree.width(child)) ")" } }
                    }
                }
            }
            @if children.len() > MOST { li.muted { (t::and_more(children.len() - MOST)) } }
        }
    }
}

const MARKS: [&str; 6] = ["blue", "vermilion", "green", "purple", "amber", "sky"];

/// A mark by its kind: no two kinds share colour and shape.
fn mark(kind: usize, filled: bool) -> Markup {
    let (colour, shape) = (MARKS[kind % MARKS.len()], (kind + kind / MARKS.len()) % 4);
    let class = if filled { format!("fill-{colour}") } else { format!("line-{colour}") };
    html! {
        @match shape {
            0 => { circle class=(class) r="6" {} }
            1 => { rect class=(class) x="-5.5" y="-5.5" width="11" height="11" {} }
            2 => { path class=(class) d="M0-7L6.5 5.5H-6.5Z" {} }
            _ => { path class=(class) d="M0-7.5L7.5 0L0 7.5L-7.5 0Z" {} }
        }
    }
}

const HEIGHT: f64 = 320.0;

/// The distance of lines for the eye: a round number, of which there are three to six below the most.
fn round_step(most: f64) -> f64 {
    let least = 10f64.powf((most / 5.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * least).find(|step| most / step <= 6.0).unwrap_or(least)
}

/// Loss against risk: every configuration is a link that takes it.
pub(crate) fn frontier(compared: &Comparison, link: &dyn Fn(&str, &str) -> Option<String>) -> Markup {
    let mut kinds: Vec<&str> = Vec::new();
    for tried in &compared.results {
        if !kinds.contains(&tried.algorithm.as_str()) {
            kinds.push(&tried.algorithm);
        }
    }
    let sound: Vec<_> = compared
        .results
        .iter()
        .enumerate()
        .filter_map(|(i, r)| Some((i, r, r.scores.as_ref().ok()?)))
        .collect();
    let risk = |identity: f64| identity.max(1e-6).log10();
    let ends = |values: Vec<f64>| {
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        if high > low { (low, high) } else { (low - 0.5, low + 0.5) }
    };
    let (left, right) = ends(sound.iter().map(|(_, _, s)| risk(s.identity)).collect());
    let most = sound.iter().map(|(_, _, s)| s.metric(compared.loss)).fold(0.0, f64::max).max(1e-9);
    let step = round_step(most);
    let (ticks, top) = ((most / step).ceil() as u32, (most / step).ceil() * step);
    let x = |identity: f64| 12.0 + 83.0 * (risk(identity) - left) / (right - left);
    let mut seen: Vec<u64> = sound.iter().map(|(_, _, s)| s.smallest).collect();
    seen.sort_unstable();
    seen.dedup();
    let y = |loss: f64| 14.0 + (HEIGHT - 64.0) * (1.0 - loss / top);
    html! {
        ul.legend {
            @for (kind, name) in kinds.iter().enumerate() {
                li { svg width="18" height="18" viewBox="-9 -9 18 18" aria-hidden="true" { (mark(kind, true)) } (name) }
            }
        }
        svg.frontier width="100%" height=(HEIGHT) role="group" aria-label=(t::FRONTIER_LABEL) {
            @for i in 0..=ticks {
                @let loss = step * f64::from(i);
                line class="line-rule" x1="11%" x2="98%" y1=(format!("{:.1}", y(loss))) y2=(format!("{:.1}", y(loss))) {}
                text class="tick" x="10%" y=(format!("{:.1}", y(loss) + 4.0)) text-anchor="end" { (percent(loss)) }
            }
            @for (i, smallest) in seen.iter().enumerate() {
                @let at = x(1.0 / (*smallest).max(1) as f64);
                @if i == 0 || i + 1 == seen.len() || seen.len() < 7 {
                    text class="tick" x=(pc(at)) y=(HEIGHT - 30.0) text-anchor="middle" { "1/" (smallest) }
                }
            }
            text class="tick" x="54%" y=(HEIGHT - 8.0) text-anchor="middle" { (t::FRONTIER_ACROSS) }
            @for (i, tried, scores) in &sound {
                @let kind = kinds.iter().position(|k| *k == tried.algorithm).unwrap_or(0);
                @let says = t::configuration(&tried.algorithm, &tried.models, scores.metric(compared.loss), scores.smallest);
                svg x=(pc(x(scores.identity))) y=(format!("{:.1}", y(scores.metric(compared.loss)))) overflow="visible" {
                    @if compared.choice == Some(*i) { circle class="line-ink" r="11" {} }
                    @match link(&tried.algorithm, &tried.models) {
                        Some(href) => { a href=(href) aria-label=(says) { circle class="target" r="14" {} (mark(kind, tried.front)) title { (says) } } }
                        None => { g { (mark(kind, tried.front)) title { (says) } } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(numbers: bool) -> Glimpse {
        let bars = vec![("a <b>".to_owned(), 3), ("c & d".to_owned(), 0)];
        Glimpse { name: "x".into(), records: 4, missing: 0, distinct: 2, numbers, bars, others: 1 }
    }

    #[test]
    fn no_chart_has_a_style_of_its_own_or_breaks_the_page() {
        let paths: Vec<Vec<String>> = ["USA", "Canada", "Peru"]
            .map(|v| vec![v.to_owned(), "A & B <c>".to_owned(), "*".to_owned()])
            .to_vec();
        let tree = Taxonomy::from_paths(&paths).unwrap();
        for drawn in [
            glimpse(&seen(true)),
            glimpse(&seen(false)),
            shares("s", &[("<i>".into(), 0.5, "50 %".into())]),
            before_after("s", &[("<i>".into(), 0.0, 1.0)]),
            icicle("x", &tree),
            outline(&tree, tree.root(), 3),
        ] {
            let text = drawn.into_string();
            assert!(!text.contains("style=") && !text.contains("<script"), "{text}");
            assert!(!text.contains("<b>") && !text.contains("<i>") && !text.contains("<c>"), "{text}");
        }
    }

    #[test]
    fn no_two_kinds_of_marks_are_alike() {
        let drawn: Vec<String> = (0..12).map(|kind| mark(kind, true).into_string()).collect();
        for (i, one) in drawn.iter().enumerate() {
            assert!(!drawn[..i].contains(one), "{i}");
        }
    }

    #[test]
    fn lines_for_the_eye_are_round() {
        for (most, step) in [(0.541, 0.1), (0.09, 0.02), (1.0, 0.2), (0.31, 0.1)] {
            let found = round_step(most);
            assert!((found - step).abs() < 1e-9, "{most}: {found}");
        }
    }

    #[test]
    fn a_label_is_shown_only_where_it_fits() {
        assert_eq!(room("abc", 100.0), Some("at-300"));
        assert_eq!(room("abcdefghij", 10.0), Some("at-1000"));
        assert_eq!(room("abcdefghij", 1.0), None);
    }
}
