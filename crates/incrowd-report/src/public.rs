//! The page that may be published.

use maud::{Markup, html};

use crate::chart::{AFTER, Rows, Series};
use crate::cost::cost;
use crate::data::{Guarantee, Outcome, Public, Tone};
use crate::figures;
use crate::format::{decimals, percent, thousands};
use crate::page::{Head, Table, commands, document, figure, section};
use crate::parts::{facts, prose, sentences, verdict};

pub(crate) fn render(data: &Public) -> String {
    let mut sections =
        vec![("guarantees", "Guarantees"), ("attacks", "Attacks"), ("cost", "Utility")];
    if !data.shapes.is_empty() {
        sections.push(("columns", "Columns"));
    }
    sections.extend([("suppressed", "Suppressed"), ("reproduce", "Reproduce")]);
    let head = Head {
        title: format!("{} · release report", data.release),
        kicker: "Release report · may be published",
        heading: &data.release,
        private: false,
        sections,
        version: &data.version,
    };
    let body = html! {
        (section("guarantees", "Guarantees", &guarantees(data)))
        (section("attacks", "Results of attacks", &attacks(data)))
        (section("cost", "Utility", &html! {
            (cost(&data.cost))
            @for line in &data.left_out { p.note { (line) } }
        }))
        @if !data.shapes.is_empty() {
            (section("columns", "Published columns", &html! {
                p {
                    "These distributions are computed from the release only. The page for the data
                    owner compares them with the original."
                }
                (figures::shapes(&data.shapes))
            }))
        }
        (section("suppressed", "Suppression", &suppressed(data)))
        (section("reproduce", "How to check and reproduce the release", &reproduce(data)))
    };
    document(&head, &first(data), &body)
}

/// Explanation shown if columns published unchanged single people out.
pub(crate) const SINGLED_OUT: &str = "The guarantees cover the quasi-identifiers. An adversary \
    who knows a person's values in the other columns can find the record by them. The attack \
    singling-out lists these columns.";

/// Explanation shown if no guarantee is violated and some cannot be checked.
const UNDECIDED: &str = "No violation was found, but some guarantees cannot be checked on the \
                         published cells alone.";

/// Returns the headline: the number of guarantees that hold.
fn headline(data: &Public) -> String {
    let holding = data.guarantees.iter().filter(|g| g.outcome == Outcome::Holds).count();
    match (data.outcome, data.guarantees.len()) {
        (Outcome::Holds, 1) => "The guarantee holds".to_owned(),
        (Outcome::Holds, 2) => "Both guarantees hold".to_owned(),
        (Outcome::Holds, all) => format!("All {all} guarantees hold"),
        (Outcome::Fails, all) => format!("Check failed: {holding} of {all} guarantees hold"),
        (Outcome::Undecided, all) => {
            format!("Undecided: {holding} of {all} guarantees were found to hold")
        }
    }
}

/// Renders the first screen: the verdict and the most important numbers.
fn first(data: &Public) -> Markup {
    let restricted = data.singles_out || data.caution.is_some();
    let holds = data.outcome == Outcome::Holds;
    let tone = match holds {
        false => Tone::Bad,
        true if restricted => Tone::Amber,
        true => Tone::Good,
    };
    let mut more = Vec::new();
    let mut words = headline(data);
    if holds && data.singles_out {
        words += ", but unmodified columns single people out";
        more.push(SINGLED_OUT);
    }
    more.extend(data.caution.as_deref().filter(|_| holds));
    if data.outcome == Outcome::Undecided {
        more.push(UNDECIDED);
    }
    more.push(
        "Checked on the published bytes: records were grouped by their published cells, and every \
         group was checked.",
    );
    let average = data.records as f64 / data.groups.max(1) as f64;
    let mut boxes = vec![
        ("records published".to_owned(), thousands(data.records)),
        ("groups".to_owned(), thousands(data.groups)),
        ("records per group".to_owned(), decimals(average, 1)),
    ];
    if let Some(score) = data.cost.scores.iter().find(|score| score.name == "ncp") {
        boxes.push(("information loss (NCP)".to_owned(), percent(score.value)));
    }
    html! {
        (sentences(&data.sentences))
        (verdict(tone, &words, &more))
        @if let Some(stamp) = &data.stamp {
            (verdict(Tone::Bad, "TEST, not for publication", &[stamp]))
        }
        @for fault in &data.faults { (verdict::<&str>(Tone::Bad, fault, &[])) }
        (facts(&boxes))
        @for guarantee in &data.guarantees { (card(guarantee)) }
    }
}

fn card(guarantee: &Guarantee) -> Markup {
    let (class, badge) = match guarantee.outcome {
        Outcome::Holds => ("guarantee", "holds"),
        Outcome::Fails => ("guarantee fails", "FAILS"),
        Outcome::Undecided => ("guarantee unknown", "cannot be decided"),
    };
    html! {
        div class=(class) {
            h3 { span { (guarantee.title) } span.badge { (badge) } }
            p.measure {
                (guarantee.measures) " " b { (decimals(guarantee.have, 4)) }
                ", required " (decimals(guarantee.need, 4))
                " · margin " (decimals(guarantee.margin, 4))
            }
        }
    }
}

fn guarantees(data: &Public) -> Markup {
    html! {
        @for guarantee in &data.guarantees {
            h3 { (guarantee.title) }
            p { (prose(&guarantee.statement)) }
            p.note { b { "Not guaranteed. " } (prose(&guarantee.limits)) }
        }
        (sizes(data))
    }
}

fn sizes(data: &Public) -> Markup {
    let labels: Vec<String> = data.sizes.iter().map(|bin| bin.label.clone()).collect();
    let groups = data.sizes.iter().map(|bin| bin.groups as f64).collect();
    let rows =
        data.sizes.iter().map(|b| vec![b.label.clone(), thousands(b.groups), thousands(b.records)]);
    let table = Table {
        caption: "Groups by their number of records",
        head: vec!["records in the group", "groups", "records"],
        rows: rows.collect(),
        texts: 1,
    };
    let title = "Sizes of the groups";
    let chart = Rows {
        label: title.to_owned(),
        labels,
        series: vec![Series::new("groups", groups, AFTER)],
        whole: None,
        show: |groups| thousands(groups as u64),
    };
    let about = "Number of groups by number of records. A group consists of all records with equal \
                 cells in all quasi-identifiers.";
    figure(title, about, &chart.render(), &table)
}

fn attacks(data: &Public) -> Markup {
    html! {
        p {
            "The release was attacked with methods from the literature, by an adversary who has the
            release and knows the quasi-identifiers of the people in it."
        }
        (figures::attacks(&data.attacks))
        @if let Some(attack) = data.attacks.iter().find(|attack| attack.title == "prosecutor") {
            (figures::bands(attack))
        }
        @for attack in
            data.attacks.iter().filter(|attack| attack.title.starts_with("homogeneity")).take(2)
        {
            (figures::bands(attack))
        }
        @if !data.not_run.is_empty() {
            details {
                summary { "Attacks that were not run, with the reason" }
                dl.settings { @for (name, why) in &data.not_run { dt { (name) } dd { (why) } } }
            }
        }
    }
}

fn suppressed(data: &Public) -> Markup {
    let rows = data.counts.iter().map(|(name, n)| vec![name.clone(), thousands(*n)]);
    let table = Table {
        caption: "Number of records",
        head: vec!["records", "number"],
        rows: rows.collect(),
        texts: 1,
    };
    html! {
        @for line in &data.suppressed { p { (line) } }
        @if !data.counts.is_empty() { (table.render()) }
    }
}

fn reproduce(data: &Public) -> Markup {
    html! {
        dl.settings { @for (name, value) in &data.settings { dt { (name) } dd { (value) } } }
        p {
            "Digest of the release: " code { (data.digest) }
            @match data.digest_matches {
                Some(true) => { " It equals the digest in the manifest." }
                Some(false) => {
                    b {
                        " The manifest has a different digest: the table was changed after it was
                        released."
                    }
                }
                None => {}
            }
        }
        (commands(&data.commands))
        p.note {
            "The order of the records and all other random choices that protect people come from
            the operating system and are not stored. A second run does not publish the records in
            this order again."
        }
    }
}
