//! What a release cost.

use maud::{Markup, html};

use crate::chart::{AFTER, Rows, Series};
use crate::data::{ColumnCost, Cost};
use crate::figures;
use crate::format::{decimals, percent, thousands};
use crate::page::{Table, figure};

/// Scores, columns, pairs, counts and predictions.
pub(crate) fn cost(data: &Cost) -> Markup {
    let scores = Table {
        caption: "Scores of the whole release",
        head: vec!["score", "how to read it", "value"],
        rows: data
            .scores
            .iter()
            .map(|s| vec![s.name.replace('_', " "), s.about.clone(), decimals(s.value, 4)])
            .collect(),
        texts: 2,
    };
    html! {
        @if !data.columns.is_empty() { (loss(&data.columns)) }
        @if !data.scores.is_empty() { (scores.render()) }
        @if !data.associations.is_empty() { (figures::associations(&data.associations)) }
        @if let Some(queries) = &data.queries {
            h3 { "Counting" }
            p {
                (queries.asked) " "
                @match queries.errors {
                    Some((median, mean)) => { "The relative error is " b { (percent(median)) } " in the median and " b { (percent(mean)) } " on average." }
                    None => { "Too few of them have a count above 0 to tell their errors." }
                }
            }
        }
        @if let Some(learned) = &data.learned {
            h3 { "Learning" }
            p { (learned.about) }
            (Table {
                caption: "Quality of prediction, tested on originals",
                head: vec!["learned from", "accuracy", "balanced accuracy", "macro F1"],
                rows: learned.scores.iter().map(|(name, scores)| {
                    std::iter::once(name.clone()).chain(scores.iter().map(|s| format!("{s:.3}"))).collect()
                }).collect(),
                texts: 1,
            }.render())
        }
    }
}

fn loss(columns: &[ColumnCost]) -> Markup {
    let quasi: Vec<&ColumnCost> = columns.iter().filter(|c| c.role == "quasi-identifier").take(60).collect();
    let beside = columns.iter().any(|c| c.beside.is_some());
    let mut head = vec!["column", "role", "NCP"];
    if beside {
        head.extend(["different cells", "entropy lost", "KL divergence", "distance"]);
    }
    let rows = columns.iter().take(300).map(|c| {
        let mut row = vec![c.name.clone(), c.role.clone(), decimals(c.ncp, 3)];
        if let Some(loss) = c.beside {
            row.extend([
                thousands(loss.cells),
                percent(loss.entropy),
                decimals(loss.kl_divergence, 3),
                decimals(loss.total_variation, 3),
            ]);
        }
        row
    });
    let table = Table { caption: "What became of each column", head, rows: rows.collect(), texts: 2 };
    let title = "How much each quasi-identifier lost";
    let chart = Rows {
        label: title.to_owned(),
        labels: quasi.iter().map(|c| c.name.clone()).collect(),
        series: vec![Series::new("NCP", quasi.iter().map(|c| c.ncp).collect(), AFTER)],
        whole: Some(1.0),
        show: percent,
    };
    let about = "Average penalty of its cells (NCP): 0 % if every value is published as it is, 100 % if every cell says nothing.";
    figure(title, about, &chart.render(), &table)
}
