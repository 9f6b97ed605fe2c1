//! All of Adult by k, and how many of Incognito's groups are plain.

use std::path::Path;
use std::time::Instant;

use incrowd::front_end::core::{Dataset, Partition};
use incrowd::front_end::recode::Method;
use incrowd::model::{BoundModel, PrivacyModel};
use incrowd::{Silent, Value};

use super::measure::{Ask, bind, measure};
use super::table::{SERIES_A, adult_table};

/// Measures all of Adult with 5 quasi-identifiers by k, and the groups of Incognito.
pub(super) fn full(text: &mut String, data: &Path, path: &Path) -> Result<(), String> {
    let table = adult_table(data, path, &SERIES_A, "age")?;
    let whole = table.sample(u64::MAX, 1)?;
    put!(
        text,
        "\n### All {} records of Adult, five quasi-identifiers, p = 0.8, d = 0.85\n",
        whole.records()
    );
    put!(
        text,
        "| algorithm | k | loss per column | average group | left out | forced | residues | boxes and corners | processor seconds |"
    );
    put!(text, "|---|---|---|---|---|---|---|---|---|");
    for k in [5, 10, 15] {
        let r = measure(&whole, &Ask { k, p: 0.8, d: 0.85, attributes: &[] }, "expc-plus", false)?;
        let forced = r.forced.map_or(0, |f| f.removals()) as f64 / whole.records() as f64;
        put!(
            text,
            "| expc-plus | {k} | {:.4} | {:.1} | {:.1} % | {:.1} % | {:.1} % | {:.0} | {:.2} |",
            r.per_column,
            r.group,
            100.0 * r.removed,
            100.0 * forced,
            100.0 * r.residues,
            r.looked,
            r.seconds
        );
    }
    for k in [5, 10, 15] {
        let began = Instant::now();
        let privacy_model = PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])
            .map_err(|e| e.to_string())?;
        let models = [privacy_model.model.bind(&whole).map_err(|e| e.to_string())?];
        let search = ("search".to_owned(), Value::Word("incognito".to_owned()));
        let method = Method::new("full-domain", [search]).map_err(|e| e.to_string())?;
        let made =
            method.algorithm.recode(&whole, &models, 0, &Silent).map_err(|e| e.to_string())?;
        let seconds = began.elapsed().as_secs_f64();
        let bound = bind(&whole, &Ask { k, p: 0.8, d: 0.85, attributes: &[] })?;
        let (failing, groups) = (not_plain(&whole, &made, bound.as_ref()), made.groups());
        put!(
            text,
            "| incognito | {k} | {failing} of {groups} groups are not plain | | | | | | {seconds:.2} |"
        );
    }
    Ok(())
}

/// Returns the number of groups that the model does not admit.
fn not_plain(data: &Dataset, partition: &Partition, bound: &dyn BoundModel) -> usize {
    use incrowd::front_end::core::{Extent, GroupId, GroupSummary, Region};
    let mut groups = vec![GroupSummary::empty(1); partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            groups[group.index()].add(data.weight(row), data.sensitive_codes(row));
        }
    }
    let holds = |(g, summary): (usize, GroupSummary)| {
        let spans = partition.spans(GroupId(g as u32));
        let extents = data
            .quasi()
            .iter()
            .zip(spans)
            .map(|(q, span)| Extent::of_group(&q.domain, *span, &[]))
            .collect();
        bound.admits(&GroupSummary { region: Some(Region { extents }), ..summary }).holds
    };
    groups.into_iter().enumerate().filter(|(g, s)| !holds((*g, s.clone()))).count()
}
