//! The page that may be published.

use maud::{Markup, html};

use crate::chart::{AFTER, Rows, Series};
use crate::cost::cost;
use crate::data::{Outcome, Promise, Public, Tone};
use crate::figures;
use crate::format::{decimals, percent, thousands};
use crate::page::{Head, Table, commands, document, figure, section};
use crate::parts::{facts, prose, sentences, verdict};

pub(crate) fn render(data: &Public) -> String {
    let mut sections = vec![("promises", "Promises"), ("attacks", "Attacks"), ("cost", "Cost")];
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
        (section("promises", "What is promised, and kept", &promises(data)))
        (section("attacks", "What attacks find", &attacks(data)))
        (section("cost", "What it cost", &html! {
            (cost(&data.cost))
            @for line in &data.left_out { p.note { (line) } }
        }))
        @if !data.shapes.is_empty() {
            (section("columns", "What is published, column by column", &html! {
                p { "These distributions follow from the release alone. The originals beside them are for the data owner." }
                (figures::shapes(&data.shapes))
            }))
        }
        (section("suppressed", "What was suppressed", &suppressed(data)))
        (section("reproduce", "How to check and reproduce it", &reproduce(data)))
    };
    document(&head, &first(data), &body)
}

/// What it means if columns that are published as they are single people out.
pub(crate) const SINGLED_OUT: &str = "The promises are about the quasi-identifiers. Whoever knows a person's values of the other \
    columns finds the record by those; the attack singling-out says in which.";

/// How many of the promises hold, in words.
fn kept(data: &Public) -> String {
    let kept = data.promises.iter().filter(|p| p.outcome == Outcome::Holds).count();
    match (data.holds, data.promises.len()) {
        (true, 1) => "The promise holds".to_owned(),
        (true, 2) => "Both promises hold".to_owned(),
        (true, all) => format!("All {all} promises hold"),
        (false, all) => format!("Not as promised: {kept} of {all} promises hold"),
    }
}

/// The first screen: the verdict, and the numbers one asks for first.
fn first(data: &Public) -> Markup {
    let doubted = data.singles_out || data.caution.is_some();
    let tone = match data.holds {
        false => Tone::Bad,
        true if doubted => Tone::Amber,
        true => Tone::Good,
    };
    let mut more = Vec::new();
    let mut words = kept(data);
    if data.holds && data.singles_out {
        words += ", but columns published as they are single people out";
        more.push(SINGLED_OUT);
    }
    more.extend(data.caution.as_deref().filter(|_| data.holds));
    more.push(
        "Judged on the published bytes: records were grouped anew by their cells, and every group was asked.",
    );
    let average = data.records as f64 / data.groups.max(1) as f64;
    let mut boxes = vec![
        ("records published".to_owned(), thousands(data.records)),
        ("groups of alike records".to_owned(), thousands(data.groups)),
        ("records per group".to_owned(), decimals(average, 1)),
    ];
    if let Some(score) = data.cost.scores.iter().find(|score| score.name == "ncp") {
        boxes.push(("information lost (NCP)".to_owned(), percent(score.value)));
    }
    html! {
        (sentences(&data.sentences))
        (verdict(tone, &words, &more))
        @if let Some(stamp) = &data.stamp { (verdict(Tone::Bad, "TEST, not for publication", &[stamp])) }
        @for fault in &data.faults { (verdict::<&str>(Tone::Bad, fault, &[])) }
        (facts(&boxes))
        @for promise in &data.promises { (card(promise)) }
    }
}

fn card(promise: &Promise) -> Markup {
    let (class, badge) = match promise.outcome {
        Outcome::Holds => ("promise", "holds"),
        Outcome::Fails => ("promise fails", "FAILS"),
        Outcome::Unknown => ("promise unknown", "cannot be told from categories"),
    };
    html! {
        div class=(class) {
            h3 { span { (promise.title) } span.badge { (badge) } }
            p.measure {
                (promise.measures) " " b { (decimals(promise.have, 4)) }
                ", promised " (decimals(promise.need, 4)) " · margin " (decimals(promise.margin, 4))
            }
        }
    }
}

fn promises(data: &Public) -> Markup {
    html! {
        @for promise in &data.promises {
            h3 { (promise.title) }
            p { (prose(&promise.promise)) }
            p.note { b { "What it does not promise. " } (prose(&promise.limits)) }
        }
        (sizes(data))
    }
}

fn sizes(data: &Public) -> Markup {
    let labels: Vec<String> = data.sizes.iter().map(|bin| bin.label.clone()).collect();
    let groups = data.sizes.iter().map(|bin| bin.groups as f64).collect();
    let rows = data.sizes.iter().map(|b| vec![b.label.clone(), thousands(b.groups), thousands(b.records)]);
    let table = Table {
        caption: "Groups by their number of records",
        head: vec!["records in the group", "groups", "records"],
        rows: rows.collect(),
        texts: 1,
    };
    let title = "How large the groups are";
    let chart = Rows {
        label: title.to_owned(),
        labels,
        series: vec![Series::new("groups", groups, AFTER)],
        whole: None,
        show: |groups| thousands(groups as u64),
    };
    let about = "Number of groups by how many records they have. A group is all records that look alike in every quasi-identifier.";
    figure(title, about, &chart.render(), &table)
}

fn attacks(data: &Public) -> Markup {
    html! {
        p {
            "The release was attacked as the literature attacks such tables, by an adversary who has it and knows the
            quasi-identifiers of the people in it."
        }
        (figures::attacks(&data.attacks))
        @if let Some(attack) = data.attacks.iter().find(|attack| attack.title == "prosecutor") { (figures::bands(attack)) }
        @for attack in data.attacks.iter().filter(|attack| attack.title.starts_with("homogeneity")).take(2) { (figures::bands(attack)) }
        @if !data.not_run.is_empty() {
            details {
                summary { "Attacks that were not run, and why" }
                dl.settings { @for (name, why) in &data.not_run { dt { (name) } dd { (why) } } }
            }
        }
    }
}

fn suppressed(data: &Public) -> Markup {
    let rows = data.counts.iter().map(|(name, n)| vec![name.clone(), thousands(*n)]);
    html! {
        @for line in &data.suppressed { p { (line) } }
        @if !data.counts.is_empty() {
            (Table { caption: "Where the records went", head: vec!["records", "number"], rows: rows.collect(), texts: 1 }.render())
        }
    }
}

fn reproduce(data: &Public) -> Markup {
    html! {
        dl.settings { @for (name, value) in &data.settings { dt { (name) } dd { (value) } } }
        p {
            "Digest of the release: " code { (data.digest) }
            @match data.digest_matches {
                Some(true) => { " It is the one the manifest names." }
                Some(false) => { b { " The manifest names another one: the table was changed after it was released." } }
                None => {}
            }
        }
        (commands(&data.commands))
        p.note {
            "The order of the records and whatever else protects people is drawn from the operating system and kept nowhere, so
            no second run publishes the records in this order again."
        }
    }
}
