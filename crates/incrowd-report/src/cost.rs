//! The utility section: how much information a release lost.

use maud::{Markup, html};

use crate::chart::{AFTER, Rows, Series};
use crate::data::{ColumnCost, Cost};
use crate::figures;
use crate::format::{decimals, percent, thousands};
use crate::page::{Table, figure};

/// Renders scores, columns, associations, counting queries and predictions.
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
            h3 { "Counting queries" }
            p {
                (queries.asked) " "
                @match queries.errors {
                    Some((median, mean)) => {
                        "The median relative error is " b { (percent(median)) }
                        ", the mean is " b { (percent(mean)) } "."
                    }
                    None => { "Too few of them have a count above 0 to show their errors." }
                }
            }
        }
        @if let Some(prediction) = &data.prediction {
            h3 { "Prediction" }
            p { (prediction.about) }
            (Table {
                caption: "Quality of prediction, tested on the original",
                head: vec!["trained on", "accuracy", "balanced accuracy", "macro F1"],
                rows: prediction.scores.iter().map(|(name, scores)| {
                    let scores = scores.iter().map(|s| format!("{s:.3}"));
                    std::iter::once(name.clone()).chain(scores).collect()
                }).collect(),
                texts: 1,
            }.render())
        }
    }
}

fn loss(columns: &[ColumnCost]) -> Markup {
    let quasi: Vec<&ColumnCost> =
        columns.iter().filter(|c| c.role == "quasi-identifier").take(60).collect();
    let measured = columns.iter().any(|c| c.loss.is_some());
    let mut head = vec!["column", "role", "NCP"];
    if measured {
        head.extend(["distinct cells", "entropy lost", "KL divergence", "total variation"]);
    }
    let rows = columns.iter().take(300).map(|c| {
        let mut row = vec![c.name.clone(), c.role.clone(), decimals(c.ncp, 3)];
        if let Some(loss) = c.loss {
            row.extend([
                thousands(loss.cells),
                percent(loss.entropy),
                decimals(loss.kl_divergence, 3),
                decimals(loss.total_variation, 3),
            ]);
        }
        row
    });
    let table =
        Table { caption: "Information loss by column", head, rows: rows.collect(), texts: 2 };
    let title = "Information loss of each quasi-identifier";
    let chart = Rows {
        label: title.to_owned(),
        labels: quasi.iter().map(|c| c.name.clone()).collect(),
        series: vec![Series::new("NCP", quasi.iter().map(|c| c.ncp).collect(), AFTER)],
        whole: Some(1.0),
        show: percent,
    };
    let about = "Average penalty of its cells (NCP): 0 % if every value is published unchanged, \
                 100 % if every cell contains all values.";
    figure(title, about, &chart.render(), &table)
}
