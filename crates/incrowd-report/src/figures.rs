//! Figures used by several pages.

use maud::{Markup, html};

use crate::chart::{AFTER, BEFORE, Matrix, Overlay, Rows, Series};
use crate::data::{Association, Attack, Shape, ShapeKind};
use crate::format::{decimals, percent, short, thousands};
use crate::page::{Table, figure};

/// Maximum number of columns drawn, to limit the size of the page.
const MOST_SHAPES: usize = 40;
/// Maximum length of a label in a table.
const LONGEST: usize = 60;

/// Renders the distributions of the columns.
pub(crate) fn shapes(shapes: &[Shape]) -> Markup {
    html! {
        @for one in shapes.iter().take(MOST_SHAPES) { (shape(one)) }
        @if shapes.len() > MOST_SHAPES {
            p.note { (shapes.len() - MOST_SHAPES) " more columns are not drawn." }
        }
    }
}

fn shape(shape: &Shape) -> Markup {
    let title = format!("{} ({})", shape.column, shape.role);
    let share = |x: &f64| percent(*x);
    match &shape.kind {
        ShapeKind::Numbers { ends, before, after } => {
            let bins = ends.windows(2).map(|e| format!("{} to {}", e[0], e[1]));
            let rows = bins.enumerate().map(|(i, label)| {
                let before = before.as_ref().map(|b| share(&b[i]));
                [Some(label), before, Some(share(&after[i]))].into_iter().flatten().collect()
            });
            let data = table(&title, "values", before.is_some(), rows.collect());
            let chart =
                Overlay { ends: ends.clone(), before: before.clone(), after: after.clone() };
            let description = describe(before.is_some(), "bins of numbers");
            figure(&title, &shape.note, &chart.render((&title, &description)), &data)
        }
        ShapeKind::Labels { labels, before, after } => {
            let labels: Vec<String> = labels.iter().map(|label| short(label, LONGEST)).collect();
            let rows = labels.iter().enumerate().map(|(i, label)| {
                let before = before.as_ref().map(|b| share(&b[i]));
                [Some(label.clone()), before, Some(share(&after[i]))]
                    .into_iter()
                    .flatten()
                    .collect()
            });
            let data = table(&title, "value", before.is_some(), rows.collect());
            let mut series = Vec::new();
            series.extend(before.as_ref().map(|b| Series::new("original", b.clone(), BEFORE)));
            series.push(Series::new("release", after.clone(), AFTER));
            let chart = Rows { label: title.clone(), labels, series, whole: None, show: percent };
            figure(&title, &shape.note, &chart.render(), &data)
        }
    }
}

fn describe(both: bool, over: &str) -> String {
    let of = if both { "the original and the release" } else { "the release" };
    format!("Shares of the records of {of} over {over}. The table below contains the numbers.")
}

fn table<'a>(caption: &'a str, what: &'a str, both: bool, rows: Vec<Vec<String>>) -> Table<'a> {
    let head = if both { vec![what, "original", "release"] } else { vec![what, "release"] };
    Table { caption, head, rows, texts: 1 }
}

/// Renders the results of attacks as a table, followed by definitions and notes.
pub(crate) fn attacks(attacks: &[Attack]) -> Markup {
    let rows = attacks.iter().map(|a| {
        let share = if a.of == 0 { 0.0 } else { a.at_risk as f64 / a.of as f64 };
        vec![
            a.title.clone(),
            decimals(a.worst, 4),
            decimals(a.average, 4),
            thousands(a.at_risk),
            format!("{} {}", thousands(a.of), a.people),
            percent(share),
            a.alarm.clone(),
        ]
    });
    let table = Table {
        caption: "Results of attacks: highest risk, average risk, number of people at risk",
        head: vec!["attack", "worst", "average", "at risk", "of", "share", "at risk if"],
        rows: rows.collect(),
        texts: 1,
    };
    let mut meanings: Vec<(&str, &str)> = Vec::new();
    for attack in attacks {
        let name = attack.title.split(" of ").next().unwrap_or_default();
        if !meanings.contains(&(name, &attack.measures)) {
            meanings.push((name, &attack.measures));
        }
    }
    html! {
        (table.render())
        details {
            summary { "Definitions of the risks" }
            dl.settings { @for (name, measures) in meanings { dt { (name) } dd { (measures) } } }
        }
        @for attack in attacks.iter().filter(|a| !a.notes.is_empty()) {
            p.note { b { (attack.title) } ": " (attack.notes.join(" ")) }
        }
    }
}

/// Renders the number of people per range of risk.
pub(crate) fn bands(attack: &Attack) -> Markup {
    let title = format!("People by risk: {}", attack.title);
    let labels: Vec<String> = attack.bands.iter().map(|(label, _)| label.clone()).collect();
    let people = attack.bands.iter().map(|(_, people)| *people as f64).collect();
    let rows = attack.bands.iter().map(|(label, people)| vec![label.clone(), thousands(*people)]);
    let data =
        Table { caption: &title, head: vec!["risk", "people"], rows: rows.collect(), texts: 1 };
    let whole = Some(attack.of.max(1) as f64);
    let series = vec![Series::new(&attack.people, people, AFTER)];
    let chart = Rows {
        label: title.clone(),
        labels,
        series,
        whole,
        show: |people| thousands(people as u64),
    };
    let about = format!("Number of {} by risk: {}.", attack.people, attack.measures);
    figure(&title, &about, &chart.render(), &data)
}

/// Renders the associations of pairs of columns before and after.
pub(crate) fn associations(pairs: &[Association]) -> Markup {
    let mut names: Vec<String> = Vec::new();
    for name in pairs.iter().flat_map(|p| [&p.columns.0, &p.columns.1]) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names.truncate(24);
    let at = |name: &String| names.iter().position(|n| n == name);
    let of = |value: fn(&Association) -> f64| -> Vec<((usize, usize), f64)> {
        let place = |p: &Association| Some(((at(&p.columns.0)?, at(&p.columns.1)?), value(p)));
        pairs.iter().filter_map(place).collect()
    };
    let (before, after) = (of(|p| p.original), of(|p| p.release));
    let rows = pairs.iter().take(300).map(|p| {
        let name = format!("{} × {}", p.columns.0, p.columns.1);
        vec![name, format!("{:.2}", p.original), format!("{:.2}", p.release)]
    });
    let data = Table {
        caption: "Cramér's V of pairs of columns",
        head: vec!["columns", "original", "release"],
        rows: rows.collect(),
        texts: 1,
    };
    let drawing = |values, title: &str| Matrix { names: names.clone(), values }.render(title);
    html! {
        figure {
            figcaption {
                "Associations between columns"
                span {
                    "Cramér's V: 0 if two columns are independent, 1 if one column determines the
                    other. The numbers below the columns and next to the rows identify the two."
                }
            }
            div.pair {
                div { p { "in the original" } (drawing(before, "Associations in the original")) }
                div {
                    p { "estimated from the release" }
                    (drawing(after, "Associations in the release"))
                }
            }
            details { summary { "The numbers" } (data.render()) }
        }
    }
}
