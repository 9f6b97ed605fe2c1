//! The report page of a comparison.

use incrowd_report::{ComparisonData, Configuration};

use super::results::{Comparison, Tried};

pub(super) fn page(comparison: &Comparison) -> ComparisonData {
    let configuration = |(i, r): (usize, &Tried)| {
        let scores = r.scores.as_ref().ok();
        Configuration {
            algorithm: r.algorithm.clone(),
            models: r.models.clone(),
            point: scores.map(|s| (s.identity, s.attribute, s.metric(comparison.loss))),
            counts: scores.map(|s| (s.groups, s.smallest, s.suppressed)),
            seconds: r.seconds,
            front: r.front,
            chosen: comparison.choice == Some(i),
            failed: r.scores.as_ref().err().cloned(),
        }
    };
    let again = "The same command continues an interrupted run and reuses the finished \
                 configurations in results.jsonl:";
    ComparisonData {
        table: comparison.table.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        records: comparison.records,
        loss: comparison.loss.replace('_', " "),
        configurations: comparison.results.iter().enumerate().map(configuration).collect(),
        requested: comparison.asked,
        choice: comparison.why(),
        sentences: comparison.sentences(),
        baseline: (
            comparison.baseline.found,
            comparison.baseline.guessed,
            comparison.baseline.loss,
        ),
        threads: comparison.threads,
        commands: vec![("incrowd compare TABLE … -o DIR".to_owned(), again.to_owned())],
    }
}
