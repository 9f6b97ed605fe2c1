//! The page for the data owner: the original table compared with the release.

use maud::{Markup, html};

use crate::chart::{AFTER, BEFORE, Rows, Series};
use crate::cost::cost;
use crate::data::{Outcome, Owner, Risk, Tone};
use crate::figures;
use crate::format::{decimals, percent, short, thousands};
use crate::page::{Head, Table, commands, document, figure, section};
use crate::parts::{self, facts, sentences, verdict};
use crate::public::SINGLED_OUT;

/// Maximum number of figures or tables of one kind.
const MOST: usize = 20;

pub(crate) fn render(data: &Owner) -> String {
    let head = Head {
        title: format!("{} · for the data owner only", data.release),
        kicker: "Release report · for the data owner only",
        heading: &data.release,
        private: true,
        sections: vec![
            ("sample", "Sample records"),
            ("risk", "Risk before and after"),
            ("unique", "Unique records"),
            ("columns", "Columns before and after"),
            ("lost", "Information loss"),
            ("exposed", "Most exposed"),
            ("reproduce", "Reproduce"),
        ],
        version: &data.version,
    };
    let body = html! {
        (section("sample", SAMPLE, &sample(data)))
        (section("risk", "Risk before and after", &risks(data)))
        (section("unique", "Unique records on columns published unchanged", &unique_on(data)))
        (section("columns", "Columns before and after", &html! {
            p {
                "The release as its users estimate it: the records of a cell are distributed
                evenly over the values that the cell contains."
            }
            (moments(data))
            (figures::shapes(&data.shapes))
            @for line in &data.left_out { p.note { (line) } }
        }))
        @if let Some(own) = &data.cost { (section("cost", "Utility", &cost(own))) }
        (section("lost", "Information loss", &lost(data)))
        (section("exposed", "Most exposed groups", &exposed(data)))
        (section("reproduce", "How to reproduce this page", &commands(&data.commands)))
    };
    document(&head, &first(data), &body)
}

fn first(data: &Owner) -> Markup {
    let arrow =
        |(before, after): (u64, u64)| format!("{} → {}", thousands(before), thousands(after));
    let boxes = [
        ("records".to_owned(), arrow(data.records)),
        ("groups".to_owned(), arrow(data.groups)),
        ("unique records".to_owned(), arrow(data.unique)),
    ];
    let worst = data.sentences.iter().map(|sentence| sentence.tone).max().unwrap_or(Tone::Good);
    let (tone, words) = match (data.outcome, worst) {
        (Outcome::Fails, _) => (Tone::Bad, "The release violates its guarantees"),
        (Outcome::Undecided, _) => (Tone::Bad, "It cannot be decided whether the guarantees hold"),
        (Outcome::Holds, Tone::Good) => {
            (Tone::Good, "The guarantees hold, and no attack that ran succeeds")
        }
        (Outcome::Holds, _) => (Tone::Amber, "The guarantees hold, but some attacks succeed"),
    };
    html! {
        div class="verdict private" {
            (parts::sign(Tone::Bad))
            div {
                "Do not publish this page"
                small {
                    "It shows the original table: its distributions, its risks, single groups and
                    single records."
                }
            }
        }
        (verdict::<&str>(tone, words, &[]))
        (sentences(&data.sentences))
        @if data.outcome == Outcome::Holds && data.singles_out {
            (verdict(Tone::Amber, "Unmodified columns single people out", &[SINGLED_OUT]))
        }
        (facts(&boxes))
    }
}

const SAMPLE: &str = "Sample records before and after";

/// Renders the sample records. No other page shows single records.
fn sample(data: &Owner) -> Markup {
    html! {
        @match &data.sample {
            None => {
                p { "Records of this release cannot be matched with records of the original." }
            }
            Some(own) => {
                p {
                    b { "For the data owner only: these are real people. " }
                    "Below each record of the original is the closest matching published record \
                     and the number of matching published records. The release is shuffled and \
                     does not contain which published record belongs to which original record."
                }
                (parts::sample(SAMPLE, own))
            }
        }
    }
}

/// Renders the contribution of each quasi-identifier to the risk of re-identification.
fn by_column(data: &Owner) -> Markup {
    let rows = data.column_risks.iter().map(|c| {
        let (before, after) = (percent(c.adds.0), percent(c.adds.1));
        vec![c.name.clone(), thousands(c.unique.0), thousands(c.unique.1), before, after]
    });
    let title = "Contribution of each quasi-identifier to the risk of re-identification";
    let table = Table {
        caption: title,
        head: vec!["column", "unique because of it before", "after", "added risk before", "after"],
        rows: rows.collect(),
        texts: 1,
    };
    let values =
        |of: fn(&crate::data::ColumnRisk) -> f64| data.column_risks.iter().map(of).collect();
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
    let about = "The average risk of re-identification minus the risk for an adversary who does \
                 not know this column, in percentage points. A column with a high value before \
                 and a low value after was generalized. A column with a high value after still \
                 identifies people.";
    figure(title, about, &chart.render(), &table)
}

/// Renders means, deviations and quartiles before and after.
fn moments(data: &Owner) -> Markup {
    if data.moments.is_empty() {
        return html! {};
    }
    let row = |c: &crate::data::ColumnMoments| {
        let quartile = |i: usize| [c.quartiles.0[i].clone(), c.quartiles.1[i].clone()];
        let pairs =
            [[c.mean.0.clone(), c.mean.1.clone()], [c.deviation.0.clone(), c.deviation.1.clone()]];
        let pairs = pairs.into_iter().chain([0, 1, 2].map(quartile)).flatten();
        std::iter::once(c.name.clone()).chain(pairs).collect()
    };
    let head = ["mean", "deviation", "lower quartile", "median", "upper quartile"];
    let head: Vec<String> =
        head.iter().flat_map(|name| [format!("{name} before"), "after".to_owned()]).collect();
    let head: Vec<&str> =
        std::iter::once("column").chain(head.iter().map(String::as_str)).collect();
    let rows = data.moments.iter().take(300).map(row).collect();
    let caption = "Means, deviations and quartiles of numeric columns. After: the records of a \
                   range are distributed evenly over the original values in it";
    html! { (Table { caption, head, rows, texts: 1 }.render()) }
}

/// Renders the numbers of unique records. It never shows the values.
fn unique_on(data: &Owner) -> Markup {
    if data.unique_on.is_empty() {
        return html! {
            p { "The release has no unmodified column that an adversary could know." }
        };
    }
    let row = |entry: &crate::data::UniqueOn| {
        let share = if entry.of == 0 { 0.0 } else { entry.unique as f64 / entry.of as f64 };
        let of = format!("{} {}", thousands(entry.of), entry.people);
        vec![entry.columns.clone(), thousands(entry.unique), of, percent(share)]
    };
    let table = Table {
        caption: "Unique values and combinations of values in sensitive and passthrough columns",
        head: vec!["columns", "unique", "of", "share"],
        rows: data.unique_on.iter().map(row).collect(),
        texts: 1,
    };
    html! {
        p {
            "Quasi-identifiers are generalized, other columns are not. An adversary who knows such
            a unique value of a person finds the person's record."
        }
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
        caption: "Results of the attacks on the original and on the release",
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
            p { "The attacks were not run on an original table." }
        } @else {
            p {
                "What an adversary who knows the quasi-identifiers of all people learns from the
                original and from the release."
            }
            (table.render())
        }
        @if !data.column_risks.is_empty() { (by_column(data)) }
        @for risk in data.risks.iter().take(MOST) { (bands(risk)) }
        @if !data.attacks.is_empty() {
            h3 { "Results that reveal facts about people" }
            (figures::attacks(&data.attacks))
        }
    }
}

fn bands(risk: &Risk) -> Markup {
    let title = format!("Risk by {}", risk.title);
    let labels: Vec<String> = risk.bands.iter().map(|(label, ..)| label.clone()).collect();
    let rows = risk
        .bands
        .iter()
        .map(|(l, before, after)| vec![l.clone(), percent(*before), percent(*after)]);
    let data = Table {
        caption: &title,
        head: vec!["risk", "original", "release"],
        rows: rows.collect(),
        texts: 1,
    };
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
    let about = format!("Share of the records by risk: {}.", risk.measures);
    figure(&title, &about, &chart.render(), &data)
}

fn lost(data: &Owner) -> Markup {
    let counted = |caption, rows: &[(String, u64)], what| {
        let rows =
            rows.iter().take(300).map(|(name, n)| vec![name.clone(), thousands(*n)]).collect();
        Table { caption, head: vec![what, "number"], rows, texts: 1 }.render()
    };
    let of = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), percent);
    html! {
        @if !data.counts.is_empty() {
            (counted("Number of records", &data.counts, "records"))
        }
        @if !data.missing.is_empty() {
            (counted("Records with a missing value, by column", &data.missing, "column"))
        }
        @if data.lost.iter().any(|(_, n)| *n > 0) {
            @let caption = "Original values that no cell of the release contains";
            (counted(caption, &data.lost, "column"))
        } @else {
            p { "Every value of the original is contained in a cell of the release." }
        }
        @if !data.queries.is_empty() {
            (Table {
                caption: "Counting queries by the share of the records that they select",
                head: vec!["selected", "queries", "count above 0", "median error", "mean error"],
                rows: data.queries.iter().map(|c| vec![
                    c.label.clone(),
                    thousands(c.queries),
                    thousands(c.answered),
                    of(c.median),
                    of(c.mean),
                ]).collect(),
                texts: 1,
            }.render())
        }
        @if !data.folds.is_empty() {
            (Table {
                caption: "Accuracy of prediction by fold",
                head: vec!["fold", "trained on the release", "trained on the original"],
                rows: data.folds.iter().enumerate().map(|(i, f)| {
                    let number = (i + 1).to_string();
                    vec![number, format!("{:.3}", f.release), format!("{:.3}", f.originals)]
                }).collect(),
                texts: 1,
            }.render())
        }
    }
}

fn exposed(data: &Owner) -> Markup {
    html! {
        @if data.exposed.is_empty() {
            p { "No attack finds a group with a higher risk than the others." }
        }
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
