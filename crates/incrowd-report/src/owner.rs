//! The page for the data owner's eyes: what the original looked like, and what the release did to it.

use maud::{Markup, html};

use crate::chart::{AFTER, BEFORE, Rows, Series};
use crate::cost::cost;
use crate::data::{Owner, Risk, Tone};
use crate::figures;
use crate::format::{decimals, percent, short, thousands};
use crate::page::{Head, Table, commands, document, figure, section};
use crate::parts::{self, facts, sentences, verdict};

/// More figures or tables of a kind than this are left out.
const MOST: usize = 20;

pub(crate) fn render(data: &Owner) -> String {
    let head = Head {
        title: format!("{} · for the data owner only", data.release),
        kicker: "Release report · for the data owner only",
        heading: &data.release,
        private: true,
        sections: vec![
            ("sample", "Some records"),
            ("risk", "Risk before and after"),
            ("alone", "Alone in what is published"),
            ("columns", "Columns before and after"),
            ("lost", "What was lost"),
            ("exposed", "Most exposed"),
            ("reproduce", "Reproduce"),
        ],
        version: &data.version,
    };
    let body = html! {
        (section("sample", SAMPLE, &sample(data)))
        (section("risk", "Risk before and after", &risks(data)))
        (section("alone", "Who is alone in what is published as it is", &alone(data)))
        (section("columns", "Columns before and after", &html! {
            p { "What a reader of the release makes of it: the people of a cell are spread evenly over the values the cell admits." }
            (moments(data))
            (figures::shapes(&data.shapes))
            @for line in &data.left_out { p.note { (line) } }
        }))
        @if let Some(own) = &data.cost { (section("cost", "What it cost", &cost(own))) }
        (section("lost", "What was lost", &lost(data)))
        (section("exposed", "Who is most exposed", &exposed(data)))
        (section("reproduce", "How to get this again", &commands(&data.commands)))
    };
    document(&head, &first(data), &body)
}

fn first(data: &Owner) -> Markup {
    let arrow = |(before, after): (u64, u64)| format!("{} → {}", thousands(before), thousands(after));
    let boxes = [
        ("records".to_owned(), arrow(data.records)),
        ("groups of alike records".to_owned(), arrow(data.groups)),
        ("records like no other".to_owned(), arrow(data.unique)),
    ];
    let worst = data.sentences.iter().map(|sentence| sentence.tone).max().unwrap_or(Tone::Good);
    let kept = match (data.holds, worst) {
        (false, _) => (Tone::Bad, "The release does not keep what it promises"),
        (true, Tone::Good) => (Tone::Good, "The promises hold, and no attack that ran gets far"),
        (true, _) => (Tone::Amber, "The promises hold, and yet something can be learned"),
    };
    html! {
        div class="verdict private" {
            (parts::sign(Tone::Bad))
            div { "Do not publish this page" small { "It tells about the original table: its distributions, its risks, single groups and single records." } }
        }
        (verdict::<&str>(kept.0, kept.1, &[]))
        (sentences(&data.sentences))
        @if data.holds && data.singles_out {
            (verdict(Tone::Amber, "Columns published as they are single people out", &[crate::public::SINGLED_OUT]))
        }
        (facts(&boxes))
    }
}

const SAMPLE: &str = "Some records, before and after";

/// Single people: nowhere but here.
fn sample(data: &Owner) -> Markup {
    html! {
        @match &data.sample {
            None => { p { "Records of this release cannot be put beside those of the original." } }
            Some(own) => {
                p {
                    b { "For the data owner only: these are people. " }
                    "Below each record of the original stands a published record that fits it, the closest one, \
                     and how many published records fit. The release is shuffled and says nowhere which of them is which."
                }
                (parts::sample(SAMPLE, own))
            }
        }
    }
}

/// What each quasi-identifier adds to finding people.
fn by_column(data: &Owner) -> Markup {
    let rows = data.column_risks.iter().map(|c| {
        let (before, after) = (percent(c.adds.0), percent(c.adds.1));
        vec![c.name.clone(), thousands(c.alone.0), thousands(c.alone.1), before, after]
    });
    let title = "What each quasi-identifier adds to the chance of being found";
    let table = Table {
        caption: title,
        head: vec!["column", "alone because of it before", "after", "adds to the chance before", "after"],
        rows: rows.collect(),
        texts: 1,
    };
    let values = |of: fn(&crate::data::ColumnRisk) -> f64| data.column_risks.iter().map(of).collect();
    let chart = Rows {
        label: title.to_owned(),
        labels: data.column_risks.iter().map(|c| c.name.clone()).collect(),
        series: vec![
            Series::new("original", values(|c| c.adds.0), BEFORE),
            Series::new("release", values(|c| c.adds.1), AFTER),
        ],
        whole: None,
        show: percent,
    };
    let about = "The average chance of being found, less what it would be if nobody knew this column: in percentage \
                 points. A column that adds much before and little after was made coarse; one that still adds much is what people are found by.";
    figure(title, about, &chart.render(), &table)
}

/// Means and quantiles before and after.
fn moments(data: &Owner) -> Markup {
    if data.moments.is_empty() {
        return html! {};
    }
    let row = |c: &crate::data::ColumnMoments| {
        let quartile = |i: usize| [c.quartiles.0[i].clone(), c.quartiles.1[i].clone()];
        let pairs = [[c.mean.0.clone(), c.mean.1.clone()], [c.deviation.0.clone(), c.deviation.1.clone()]];
        let pairs = pairs.into_iter().chain([0, 1, 2].map(quartile)).flatten();
        std::iter::once(c.name.clone()).chain(pairs).collect()
    };
    let head = ["mean", "deviation", "lower quartile", "median", "upper quartile"];
    let head: Vec<String> =
        head.iter().flat_map(|name| [format!("{name} before"), "after".to_owned()]).collect();
    let head: Vec<&str> = std::iter::once("column").chain(head.iter().map(String::as_str)).collect();
    let rows = data.moments.iter().take(300).map(row).collect();
    let caption = "Means, deviations and quartiles of columns of numbers";
    html! { (Table { caption, head, rows, texts: 1 }.render()) }
}

/// Numbers only: which values these are is told nowhere.
fn alone(data: &Owner) -> Markup {
    if data.alone.is_empty() {
        return html! { p { "Nothing is published as it is that others could know." } };
    }
    let row = |own: &crate::data::AloneIn| {
        let share = if own.of == 0 { 0.0 } else { own.alone as f64 / own.of as f64 };
        let of = format!("{} {}", thousands(own.of), own.people);
        vec![own.columns.clone(), thousands(own.alone), of, percent(share)]
    };
    let table = Table {
        caption: "Sensitive columns and those passed through: who has a value, or a combination of values, that nobody else has",
        head: vec!["columns", "alone", "of", "share"],
        rows: data.alone.iter().map(row).collect(),
        texts: 1,
    };
    html! {
        p { "Quasi-identifiers are generalized, other columns are not. Whoever knows such a value of a person who is alone with it \
             finds the record." }
        (table.render())
    }
}

fn risks(data: &Owner) -> Markup {
    let rows = data.risks.iter().map(|r| {
        vec![
            r.title.clone(),
            decimals(r.worst.0, 4),
            decimals(r.worst.1, 4),
            decimals(r.average.0, 4),
            decimals(r.average.1, 4),
            percent(r.share.0),
            percent(r.share.1),
            r.alarm.clone(),
        ]
    });
    let table = Table {
        caption: "The same attacks on the original and on the release",
        head: vec![
            "attack",
            "worst before",
            "after",
            "average before",
            "after",
            "at risk before",
            "after",
            "at risk if",
        ],
        rows: rows.collect(),
        texts: 1,
    };
    html! {
        @if data.risks.is_empty() {
            p { "There was no original to attack." }
        } @else {
            p { "What an adversary who knows the quasi-identifiers of everybody would learn from the original, and what from the release." }
            (table.render())
        }
        @if !data.column_risks.is_empty() { (by_column(data)) }
        @for risk in data.risks.iter().take(MOST) { (bands(risk)) }
        @if !data.attacks.is_empty() { h3 { "Findings that tell about people" } (figures::attacks(&data.attacks)) }
    }
}

fn bands(risk: &Risk) -> Markup {
    let title = format!("Risk by {}", risk.title);
    let labels: Vec<String> = risk.bands.iter().map(|(label, ..)| label.clone()).collect();
    let rows = risk.bands.iter().map(|(l, before, after)| vec![l.clone(), percent(*before), percent(*after)]);
    let data =
        Table { caption: &title, head: vec!["risk", "original", "release"], rows: rows.collect(), texts: 1 };
    let chart = Rows {
        label: title.clone(),
        labels,
        series: vec![
            Series::new("original", risk.bands.iter().map(|b| b.1).collect(), BEFORE),
            Series::new("release", risk.bands.iter().map(|b| b.2).collect(), AFTER),
        ],
        whole: None,
        show: percent,
    };
    let about = format!("Share of the records by their risk: {}.", risk.measures);
    figure(&title, &about, &chart.render(), &data)
}

fn lost(data: &Owner) -> Markup {
    let counted = |caption, rows: &[(String, u64)], what| {
        let rows = rows.iter().take(300).map(|(name, n)| vec![name.clone(), thousands(*n)]).collect();
        Table { caption, head: vec![what, "number"], rows, texts: 1 }.render()
    };
    let of = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), percent);
    html! {
        @if !data.counts.is_empty() { (counted("Where the records went", &data.counts, "records")) }
        @if !data.missing.is_empty() { (counted("Records with a missing value, by column", &data.missing, "column")) }
        @if data.lost.iter().any(|(_, n)| *n > 0) {
            (counted("Values of the original that are in no cell of the release any more", &data.lost, "column"))
        } @else {
            p { "Every value of the original is still in some cell of the release." }
        }
        @if !data.queries.is_empty() {
            (Table {
                caption: "Random counts by the share of the records they really select",
                head: vec!["selected", "queries", "count above 0", "median error", "mean error"],
                rows: data.queries.iter().map(|c| vec![
                    c.label.clone(), thousands(c.queries), thousands(c.answered), of(c.median), of(c.mean),
                ]).collect(),
                texts: 1,
            }.render())
        }
        @if !data.folds.is_empty() {
            (Table {
                caption: "Accuracy of prediction by fold",
                head: vec!["fold", "learned from the release", "learned from originals"],
                rows: data.folds.iter().enumerate().map(|(i, f)| {
                    vec![(i + 1).to_string(), format!("{:.3}", f.release), format!("{:.3}", f.originals)]
                }).collect(),
                texts: 1,
            }.render())
        }
    }
}

fn exposed(data: &Owner) -> Markup {
    html! {
        @if data.exposed.is_empty() { p { "No group of the release stands out in any attack." } }
        @for exposed in data.exposed.iter().take(MOST) {
            (Table {
                caption: &format!("Groups most exposed to {}", exposed.title),
                head: vec!["cells", "records", "risk"],
                rows: exposed.groups.iter().map(|(risk, records, cells)| {
                    vec![short(cells, 600), thousands(*records), decimals(*risk, 4)]
                }).collect(),
                texts: 1,
            }.render())
        }
    }
}
