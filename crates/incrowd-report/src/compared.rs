//! The comparison page: risk and information loss of each configuration.

use maud::{Markup, html};

use crate::chart::{AFTER, Point, Rows, Scatter, Series};
use crate::data::{Sentence, Tone};
use crate::format::{decimals, percent, thousands, tick};
use crate::page::{Head, Table, commands, document, figure, section};
use crate::parts::{facts, sentences, verdict};

/// A configuration and its results.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The algorithm with its options.
    pub algorithm: String,
    /// The privacy models.
    pub models: String,
    /// Identity risk, attribute risk if there is a sensitive column, and information loss. `None`
    /// if the configuration has no release.
    pub point: Option<(f64, Option<f64>, f64)>,
    /// Number of groups, size of the smallest group, number of suppressed records.
    pub counts: Option<(u64, u64, u64)>,
    /// Running time in seconds.
    pub seconds: f64,
    /// Whether the configuration is on the Pareto front: no other one is at least as good in every
    /// measure and better in one.
    pub front: bool,
    /// Whether it is the recommended configuration.
    pub chosen: bool,
    /// Why there is no release.
    pub failed: Option<String>,
}

/// Data of the comparison page.
#[derive(Clone, Debug, Default)]
pub struct ComparisonData {
    /// File name of the table.
    pub table: String,
    /// Version of incrowd that created the page.
    pub version: String,
    /// Number of records in the table.
    pub records: u64,
    /// Name of the loss measure.
    pub loss: String,
    /// The configurations in the requested order.
    pub configurations: Vec<Configuration>,
    /// Number of requested configurations.
    pub requested: usize,
    /// The recommended configuration and the reasons.
    pub choice: Vec<String>,
    /// Findings about the recommended configuration.
    pub sentences: Vec<Sentence>,
    /// Values without any release: identity risk, attribute risk and loss.
    pub baseline: (f64, Option<f64>, f64),
    /// Number of configurations that were run in parallel.
    pub threads: usize,
    /// Commands for creating the page again, each with a description.
    pub commands: Vec<(String, String)>,
}

/// Maximum number of rows and points, to limit the size of the page.
const MOST: usize = 1000;

pub(crate) fn render(data: &ComparisonData) -> String {
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
        (section("reproduce", "How to reproduce this comparison", &commands(&data.commands)))
    };
    document(&head, &first(data), &body)
}

fn first(data: &ComparisonData) -> Markup {
    let made = data.configurations.iter().filter(|c| c.point.is_some()).count();
    let boxes = [
        ("records".to_owned(), thousands(data.records)),
        (
            "configurations run".to_owned(),
            format!("{} of {}", data.configurations.len(), data.requested),
        ),
        ("with a release".to_owned(), thousands(made as u64)),
        (
            "on the Pareto front".to_owned(),
            thousands(data.configurations.iter().filter(|c| c.front).count() as u64),
        ),
    ];
    let chosen = data.configurations.iter().find(|c| c.chosen);
    html! {
        @match chosen {
            Some(chosen) => {
                @let title = format!("{} with {}", chosen.algorithm, chosen.models);
                (verdict::<&str>(Tone::Good, &title, &[]))
                (sentences(&data.sentences))
                @for line in &data.choice { p.note { (line) } }
            }
            None => {
                (verdict::<&str>(Tone::Bad, "No configuration satisfies its privacy models", &[]))
            }
        }
        (facts(&boxes))
    }
}

fn plots(data: &ComparisonData) -> Markup {
    let attribute = data.configurations.iter().any(|c| c.point.is_some_and(|p| p.1.is_some()));
    html! {
        p {
            "Lower is better on both axes. The line connects the points that no other point beats
            on the two axes shown. Filled points are on the Pareto front: no other configuration is
            at least as good in every measure and better in one. The circle marks the recommended
            configuration. The dashed line shows the risk of guessing without any release."
        }
        (scatter(
            data,
            ("Re-identification", "highest risk of re-identification: 1 / smallest group"),
            |p| Some(p.0),
            Some(data.baseline.0),
            one_in,
        ))
        @if attribute {
            (scatter(
                data,
                (
                    "Attribute disclosure",
                    "average probability of guessing the sensitive value of a re-identified person",
                ),
                |p| p.1,
                data.baseline.1,
                percent,
            ))
        }
    }
}

fn scatter(
    data: &ComparisonData,
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
        let tooltip = format!("{}, {}: {} {}", c.algorithm, c.models, data.loss, decimals(at.2, 4));
        Some(Point {
            x: risk(at)?,
            y: at.2,
            kind,
            front: c.front,
            chosen: c.chosen,
            tooltip,
            link: None,
        })
    };
    // The recommended configuration is always drawn.
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
        head: vec!["algorithm", "privacy models", "risk", &data.loss],
        rows: rows.collect(),
        texts: 2,
    };
    let (across, upwards) = (across.to_owned(), data.loss.clone());
    let chart = Scatter { kinds, points, guessing, across, upwards, show: (show, tick) };
    let description = "Each point is a configuration. The horizontal axis is the risk, the \
                       vertical axis the loss. A line connects the best points.";
    figure(title, "", &chart.render((title, description)), &table)
}

fn time(data: &ComparisonData) -> Markup {
    let shown: Vec<&Configuration> =
        data.configurations.iter().filter(|c| c.point.is_some()).take(60).collect();
    let title = "Running time";
    let chart = Rows {
        label: title.to_owned(),
        labels: shown.iter().map(|c| format!("{} {}", c.algorithm, c.models)).collect(),
        series: vec![Series::new("seconds", shown.iter().map(|c| c.seconds).collect(), AFTER)],
        whole: None,
        show: |s| format!("{s:.2} s"),
    };
    let rows = shown
        .iter()
        .map(|c| vec![c.algorithm.clone(), c.models.clone(), format!("{:.2}", c.seconds)]);
    let table = Table {
        caption: "Seconds",
        head: vec!["algorithm", "privacy models", "seconds"],
        rows: rows.collect(),
        texts: 2,
    };
    let about = format!(
        "Wall-clock time with {} in parallel, without the time for reading the table.",
        data.threads
    );
    figure(title, &about, &chart.render(), &table)
}

/// Formats a probability as `1/n`.
pub(crate) fn one_in(x: f64) -> String {
    if x > 0.0 {
        format!("1/{}", decimals((1.0 / x * 10.0).round() / 10.0, 1))
    } else {
        "0".to_owned()
    }
}

/// Formats a probability that may be very small.
fn chance(x: f64) -> String {
    if x < 0.0001 {
        format!("1 in {}", thousands((1.0 / x).round() as u64))
    } else {
        decimals(x, 4)
    }
}

fn table(data: &ComparisonData) -> Markup {
    let dash = || "–".to_owned();
    let more = data.configurations.len().saturating_sub(MOST);
    let numbers =
        ["identity risk", "attribute risk", &data.loss, "groups", "smallest", "suppressed"];
    html! {
        @if more > 0 {
            p.note {
                (thousands(more as u64))
                " more configurations are not shown; comparison.csv contains all of them."
            }
        }
        div.wide tabindex="0" role="group" aria-label="All configurations" {
            table {
                caption { "All configurations in the requested order" }
                thead {
                    tr {
                        th scope="col" { "algorithm" }
                        th scope="col" { "privacy models" }
                        @for name in numbers.into_iter().chain(["seconds", "front"]) {
                            th.number scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    tr {
                        th scope="row" { "nothing published" }
                        td { "guessing without a release" }
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
                                (
                                    Some((identity, attribute, loss)),
                                    Some((groups, smallest, suppressed)),
                                ) => {
                                    td.number { (decimals(identity, 4)) }
                                    td.number { (attribute.map_or_else(dash, percent)) }
                                    td.number { (decimals(loss, 4)) }
                                    td.number { (thousands(groups)) }
                                    td.number { (thousands(smallest)) }
                                    td.number { (thousands(suppressed)) }
                                    td.number { (format!("{:.2}", c.seconds)) }
                                    td.number {
                                        @if c.chosen { "chosen" } @else if c.front { "yes" }
                                    }
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
