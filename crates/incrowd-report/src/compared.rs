//! The page of a comparison: what each way of making a release would risk and cost.

use maud::{Markup, html};

use crate::chart::{AFTER, Point, Rows, Scatter, Series};
use crate::data::{Sentence, Tone};
use crate::format::{decimals, percent, thousands, tick};
use crate::page::{Head, Table, commands, document, figure, section};
use crate::parts::{facts, sentences, verdict};

/// One way of making a release and what came of it.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The algorithm with its options.
    pub algorithm: String,
    /// The promises.
    pub models: String,
    /// Identity risk, attribute risk if there is a sensitive column, and loss; absent if no release can be made.
    pub point: Option<(f64, Option<f64>, f64)>,
    /// Groups, smallest group and suppressed records.
    pub counts: Option<(u64, u64, u64)>,
    /// Seconds it took.
    pub seconds: f64,
    /// Whether no other configuration is at least as good in all and better in one.
    pub front: bool,
    /// Whether it is the one to choose.
    pub chosen: bool,
    /// Why no release can be made.
    pub failed: Option<String>,
}

/// A comparison.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// The table's file name.
    pub table: String,
    /// The version of incrowd that made the page.
    pub version: String,
    /// How many records the table has.
    pub records: u64,
    /// What the loss is.
    pub loss: String,
    /// The configurations in the order they were asked for.
    pub configurations: Vec<Configuration>,
    /// How many were asked for.
    pub asked: usize,
    /// Which one to choose and why, in sentences.
    pub choice: Vec<String>,
    /// What the one to choose would mean, in plain words.
    pub sentences: Vec<Sentence>,
    /// What there is without a release: the chances of finding and of guessing somebody, and the loss.
    pub baseline: (f64, Option<f64>, f64),
    /// How many ran side by side.
    pub threads: usize,
    /// What to type to get it again, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// More rows or points than this would make the page too large.
const MOST: usize = 1000;

pub(crate) fn render(data: &Compared) -> String {
    let head = Head {
        title: format!("{} · comparison", data.table),
        kicker: "Comparison · for the data owner only",
        heading: &data.table,
        private: true,
        sections: vec![
            ("plots", "Privacy against utility"),
            ("time", "Time"),
            ("table", "All configurations"),
            ("reproduce", "Reproduce"),
        ],
        version: &data.version,
    };
    let body = html! {
        (section("plots", "Privacy against utility", &plots(data)))
        (section("time", "Time", &time(data)))
        (section("table", "All configurations", &table(data)))
        (section("reproduce", "How to get this again", &commands(&data.commands)))
    };
    document(&head, &first(data), &body)
}

fn first(data: &Compared) -> Markup {
    let made = data.configurations.iter().filter(|c| c.point.is_some()).count();
    let boxes = [
        ("records".to_owned(), thousands(data.records)),
        ("configurations run".to_owned(), format!("{} of {}", data.configurations.len(), data.asked)),
        ("can be kept".to_owned(), thousands(made as u64)),
        ("on the front".to_owned(), thousands(data.configurations.iter().filter(|c| c.front).count() as u64)),
    ];
    let chosen = data.configurations.iter().find(|c| c.chosen);
    html! {
        @match chosen {
            Some(chosen) => {
                (verdict::<&str>(Tone::Good, &format!("{} with {}", chosen.algorithm, chosen.models), &[]))
                (sentences(&data.sentences))
                @for line in &data.choice { p.note { (line) } }
            }
            None => { (verdict::<&str>(Tone::Bad, "No configuration can be kept", &[])) }
        }
        (facts(&boxes))
    }
}

fn plots(data: &Compared) -> Markup {
    let attribute = data.configurations.iter().any(|c| c.point.is_some_and(|p| p.1.is_some()));
    html! {
        p {
            "Both axes: the lower, the better. The line is the edge of what can be had on the two axes shown. Filled points are on
            the front: no other configuration is at least as good in everything and better in something. The circle marks the
            choice. The dashed line is what guessing achieves without any release."
        }
        (scatter(data, ("Being found", "worst risk of being found: 1 / smallest group"), |p| Some(p.0), Some(data.baseline.0), one_in))
        @if attribute {
            (scatter(data, ("Being guessed", "average chance to guess the sensitive value of a person who is found"), |p| p.1, data.baseline.1, percent))
        }
    }
}

fn scatter(
    data: &Compared,
    (title, across): (&str, &str),
    risk: fn((f64, Option<f64>, f64)) -> Option<f64>,
    guessing: Option<f64>,
    show: fn(f64) -> String,
) -> Markup {
    let mut kinds: Vec<String> = Vec::new();
    for c in &data.configurations {
        if !kinds.contains(&c.algorithm) {
            kinds.push(c.algorithm.clone());
        }
    }
    let point = |c: &Configuration| {
        let at = c.point?;
        let kind = kinds.iter().position(|k| *k == c.algorithm)?;
        let says = format!("{}, {}: {} {}", c.algorithm, c.models, data.loss, decimals(at.2, 4));
        Some(Point { x: risk(at)?, y: at.2, kind, front: c.front, chosen: c.chosen, says, link: None })
    };
    // The choice is always drawn.
    let drawn = data.configurations.iter().enumerate().filter(|(i, c)| *i < MOST || c.chosen);
    let points: Vec<Point> = drawn.filter_map(|(_, c)| point(c)).collect();
    if points.is_empty() {
        return html! {};
    }
    let rows = data.configurations.iter().take(MOST).filter_map(|c| {
        let at = c.point?;
        let (algorithm, models) = (c.algorithm.clone(), c.models.clone());
        Some(vec![algorithm, models, decimals(risk(at)?, 4), decimals(at.2, 4)])
    });
    let table = Table {
        caption: title,
        head: vec!["algorithm", "promises", "risk", &data.loss],
        rows: rows.collect(),
        texts: 2,
    };
    let (across, upwards) = (across.to_owned(), data.loss.clone());
    let chart = Scatter { kinds, points, guessing, across, upwards, show: (show, tick) };
    let says = "Every configuration as a point: its risk from left to right, its loss upwards. A line runs along the best.";
    figure(title, "", &chart.render((title, says)), &table)
}

fn time(data: &Compared) -> Markup {
    let shown: Vec<&Configuration> =
        data.configurations.iter().filter(|c| c.point.is_some()).take(60).collect();
    let title = "How long each took";
    let chart = Rows {
        label: title.to_owned(),
        labels: shown.iter().map(|c| format!("{} {}", c.algorithm, c.models)).collect(),
        series: vec![Series::new("seconds", shown.iter().map(|c| c.seconds).collect(), AFTER)],
        whole: None,
        show: |s| format!("{s:.2} s"),
    };
    let rows = shown.iter().map(|c| vec![c.algorithm.clone(), c.models.clone(), format!("{:.2}", c.seconds)]);
    let table = Table {
        caption: "Seconds",
        head: vec!["algorithm", "promises", "seconds"],
        rows: rows.collect(),
        texts: 2,
    };
    let about = format!("Wall-clock time with {} at a time; reading the table is not in it.", data.threads);
    figure(title, &about, &chart.render(), &table)
}

/// A chance as one in so many.
pub(crate) fn one_in(x: f64) -> String {
    if x > 0.0 { format!("1/{}", decimals((1.0 / x * 10.0).round() / 10.0, 1)) } else { "0".to_owned() }
}

/// A chance that may be tiny.
fn chance(x: f64) -> String {
    if x < 0.0001 { format!("1 in {}", thousands((1.0 / x).round() as u64)) } else { decimals(x, 4) }
}

fn table(data: &Compared) -> Markup {
    let dash = || "–".to_owned();
    let more = data.configurations.len().saturating_sub(MOST);
    html! {
        @if more > 0 { p.note { (thousands(more as u64)) " more configurations are not shown; all are in comparison.csv." } }
        div.wide tabindex="0" role="group" aria-label="All configurations" {
            table {
                caption { "All configurations in the order they were asked for" }
                thead {
                    tr {
                        th scope="col" { "algorithm" }
                        th scope="col" { "promises" }
                        @for name in ["found", "guessed", data.loss.as_str(), "groups", "smallest", "suppressed", "seconds", "front"] {
                            th.number scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    tr {
                        th scope="row" { "nothing published" }
                        td { "what guessing achieves" }
                        td.number { (chance(data.baseline.0)) }
                        td.number { (data.baseline.1.map_or_else(dash, percent)) }
                        td.number { (decimals(data.baseline.2, 4)) }
                        td colspan="5" {}
                    }
                    @for c in data.configurations.iter().take(MOST) {
                        tr class=[c.chosen.then_some("chosen")] {
                            th scope="row" { (c.algorithm) }
                            td { (c.models) }
                            @match (c.point, c.counts) {
                                (Some((found, guessed, loss)), Some((groups, smallest, suppressed))) => {
                                    td.number { (decimals(found, 4)) }
                                    td.number { (guessed.map_or_else(dash, percent)) }
                                    td.number { (decimals(loss, 4)) }
                                    td.number { (thousands(groups)) }
                                    td.number { (thousands(smallest)) }
                                    td.number { (thousands(suppressed)) }
                                    td.number { (format!("{:.2}", c.seconds)) }
                                    td.number { @if c.chosen { "chosen" } @else if c.front { "yes" } }
                                }
                                _ => td colspan="8" { (c.failed.as_deref().unwrap_or("not run")) }
                            }
                        }
                    }
                }
            }
        }
    }
}
