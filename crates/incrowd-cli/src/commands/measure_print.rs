//! How `incrowd measure` shows what a release is still good for: first what may be published, then what is for the data
//! owner's eyes.

use incrowd::utility::{Classification, ColumnUtility, Errors, PairUtility, Part, QueryError, Scores};
use incrowd::{FEWEST_QUERIES, Utility};

use crate::print::{number, say, table, thousands};

/// The part that may be published.
pub(crate) fn published(utility: &Utility) {
    if !utility.columns.is_empty() {
        say!("\ncolumns");
        say!("{}", table(columns(&utility.columns)));
    }
    if let Some(pairs) = &utility.pairs {
        say!("\npairs of columns (more than 32 values are put into at most 32 bins)");
        say!("{}", table(associations(pairs)));
    }
    if let Some(queries) = &utility.queries {
        asked(queries);
        if utility.queries_may_be_published() {
            let head = ["relative error", "median", "mean"].map(str::to_owned).to_vec();
            say!("{}", table([vec![head], errors(&queries.all)].concat()));
        } else {
            say!(
                " fewer than {FEWEST_QUERIES} queries have a count above 0: their errors are for the data owner only"
            );
        }
    }
    if let Some(classification) = &utility.classification {
        predicted(classification);
    }
}

/// The part that is for the data owner only, if there is anything in it.
pub(crate) fn owner(utility: &Utility) {
    let lost: Vec<&ColumnUtility> = utility.columns.iter().filter(|c| c.lost_values > 0).collect();
    let queries = utility.queries.as_ref();
    if lost.is_empty() && queries.is_none() && utility.classification.is_none() {
        return;
    }
    say!("\nfor the data owner only");
    if !lost.is_empty() {
        let of = |c: &&ColumnUtility| format!("{} {}", c.name, thousands(c.lost_values));
        let lost: Vec<String> = lost.iter().map(of).collect();
        say!("\nvalues of the original that are in no cell any more: {}", lost.join(", "));
    }
    if let Some(queries) = queries {
        say!("\nqueries by the share of records they really select");
        say!("{}", table(by_selectivity(queries)));
    }
    if let Some(classification) = &utility.classification {
        let fold = |(release, originals): &(Scores, Scores)| {
            format!("{} / {}", number(release.accuracy), number(originals.accuracy))
        };
        let folds: Vec<String> = classification.by_fold.iter().map(fold).collect();
        say!("\naccuracy by fold, from the release / from originals: {}", folds.join("   "));
    }
}

fn columns(columns: &[ColumnUtility]) -> Vec<Vec<String>> {
    let head = ["column", "role", "cells", "ncp", "entropy", "kl", "tv", "mean width"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for c in columns {
        let role = match c.part {
            Part::Quasi => "quasi",
            Part::Sensitive => "sensitive",
            Part::Target => "target",
        };
        rows.push(vec![
            c.name.clone(),
            role.into(),
            thousands(c.cells),
            number(c.ncp),
            number(c.entropy.share()),
            finite(c.kl_divergence),
            number(c.total_variation),
            c.mean_width.map_or_else(|| "-".into(), |width| format!("{width:.2}")),
        ]);
    }
    rows
}

fn associations(pairs: &[PairUtility]) -> Vec<Vec<String>> {
    let head = ["columns", "V before", "V after", "kl", "tv"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for p in pairs {
        rows.push(vec![
            format!("{} × {}", p.columns.0, p.columns.1),
            number(p.original),
            number(p.reconstructed),
            finite(p.kl_divergence),
            number(p.total_variation),
        ]);
    }
    rows
}

fn finite(x: f64) -> String {
    if x.is_finite() { number(x) } else { "infinite".into() }
}

fn asked(queries: &QueryError) {
    let workload = &queries.workload;
    let ranges = match queries.dimensions {
        1 => "a range on 1 quasi-identifier".to_owned(),
        n => format!("ranges on {n} quasi-identifiers"),
    };
    let and = if queries.sensitive { " and values of a sensitive column" } else { "" };
    say!(
        "\nqueries: {} random counts with {ranges}{and}, expected selectivity {}, seed {}",
        thousands(workload.queries as u64),
        workload.selectivity,
        workload.seed
    );
}

fn errors(errors: &Errors) -> Vec<Vec<String>> {
    let of = |x: Option<f64>| x.map_or_else(|| "-".into(), number);
    vec![
        vec!["of counts above 0".into(), of(errors.median), of(errors.mean)],
        vec![
            "bounded: at least 0.1 % of the records".into(),
            of(errors.bounded_median),
            of(errors.bounded_mean),
        ],
    ]
}

fn by_selectivity(queries: &QueryError) -> Vec<Vec<String>> {
    let head = ["selected", "queries", "above 0", "median", "mean", "bounded median", "bounded mean"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let of = |x: Option<f64>| x.map_or_else(|| "-".into(), number);
    let classes = queries.by_selectivity.iter().map(|(to, e)| (format!("up to {} %", to * 100.0), e));
    for (selected, e) in classes.chain([("all".to_owned(), &queries.all)]) {
        rows.push(vec![
            selected,
            thousands(e.queries),
            thousands(e.answered),
            of(e.median),
            of(e.mean),
            of(e.bounded_median),
            of(e.bounded_mean),
        ]);
    }
    rows
}

fn predicted(c: &Classification) {
    say!(
        "\npredicting {} ({} values) from the quasi-identifiers by decision trees, tested on originals; {} originals and \
         {} published records drawn, {} folds, seed {}",
        c.target,
        c.classes,
        thousands(c.originals),
        thousands(c.published),
        c.folds,
        c.seed
    );
    let auc = c.from_originals.auc.is_some();
    let mut head = vec!["learned from", "accuracy", "balanced accuracy", "macro F1"];
    head.extend(auc.then_some("AUC"));
    let mut rows = vec![head.into_iter().map(str::to_owned).collect()];
    let all =
        [("the release", &c.from_release), ("originals", &c.from_originals), ("the majority", &c.majority)];
    for (name, scores) in all {
        let mut row = vec![
            name.to_owned(),
            number(scores.accuracy),
            number(scores.balanced_accuracy),
            number(scores.macro_f1),
        ];
        row.extend(auc.then(|| scores.auc.map_or_else(|| "-".into(), number)));
        rows.push(row);
    }
    say!("{}", table(rows));
    say!(" the release holds generalized records of the people it is tested on, which favours it a little");
}
