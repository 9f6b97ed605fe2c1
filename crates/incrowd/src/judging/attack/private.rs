//! Single groups with their cells, for the data owner only.

use std::cmp::Reverse;

use incrowd_audit::Classes;
use incrowd_audit::attack::Finding;
use incrowd_core::Folded;
use incrowd_engine::harmless;

/// A group of the release that is exposed to an attack.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Exposed<'a> {
    /// Its quasi-identifiers with their published cells.
    pub cells: Vec<(&'a str, &'a str)>,
    /// The number of records.
    pub records: u64,
    /// The greatest risk of a person in it.
    pub risk: f64,
}

incrowd_core::opaque_debug!(Exposed<'_> { records, risk });

fn texts(release: &Folded, row: usize) -> Vec<&str> {
    release
        .row(row)
        .iter()
        .zip(&release.columns)
        .map(|(&code, c)| c.texts[code as usize].as_str())
        .collect()
}

/// Returns the groups with the greatest risk. On a tie the larger group comes first, then the order
/// of the cells decides.
pub(super) fn exposed<'a>(
    release: &'a Folded,
    groups: &Classes,
    quasi: usize,
    finding: &Finding,
    most: usize,
) -> Vec<Exposed<'a>> {
    let risk = |group: &usize| finding.by_group.get(*group).copied().unwrap_or(0.0);
    let mut order: Vec<usize> = (0..groups.len()).filter(|group| risk(group) > 0.0).collect();
    let size = |group: &usize| Reverse(groups.records[*group]);
    order.sort_by(|a, b| risk(b).total_cmp(&risk(a)).then(size(a).cmp(&size(b))));
    // Cells are compared only within ties.
    let tied = |a: &usize, b: &usize| risk(a) == risk(b) && size(a) == size(b);
    let names = || release.columns[..quasi].iter().map(|column| column.name.as_str());
    let exposed = |&group: &usize| Exposed {
        cells: names().zip(texts(release, groups.first[group] as usize)).collect(),
        records: groups.records[group],
        risk: risk(&group),
    };
    let mut chosen = Vec::new();
    for alike in order.chunk_by(tied) {
        if chosen.len() >= most {
            break;
        }
        let mut alike: Vec<Exposed<'_>> = alike.iter().map(exposed).collect();
        alike.sort_by(|a, b| a.cells.cmp(&b.cells));
        chosen.extend(alike);
    }
    chosen.truncate(most);
    chosen
}

/// Returns a CSV table with one line per distinct released row. With `csv_safe`, texts that a
/// spreadsheet would evaluate as formulas are escaped as in the release.
pub(super) fn details<'a>(
    release: &Folded,
    groups: &Classes,
    findings: impl Iterator<Item = &'a Finding>,
    csv_safe: bool,
) -> Vec<u8> {
    let cell = |text: &str| match csv_safe {
        true => harmless(text.as_bytes(), release.decimal).into_owned(),
        false => text.as_bytes().to_vec(),
    };
    let findings: Vec<&Finding> = findings.filter(|finding| !finding.by_group.is_empty()).collect();
    let mut header: Vec<Vec<u8>> =
        release.columns.iter().map(|column| cell(&column.name)).collect();
    header.push(b"records".to_vec());
    header.extend(findings.iter().map(|finding| match &finding.column {
        Some(column) => format!("{} of {column}", finding.attack).into_bytes(),
        None => finding.attack.as_bytes().to_vec(),
    }));
    let mut rows: Vec<usize> = (0..release.rows()).collect();
    rows.sort_by_cached_key(|&row| texts(release, row));
    let mut out = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    drop(out.write_record(&header));
    for row in rows {
        let group = groups.of_row[row] as usize;
        let mut line: Vec<Vec<u8>> = texts(release, row).into_iter().map(cell).collect();
        line.push(release.weights[row].to_string().into_bytes());
        let risk = |finding: &&Finding| finding.by_group[group].to_string().into_bytes();
        line.extend(findings.iter().map(risk));
        drop(out.write_record(&line));
    }
    out.into_inner().unwrap_or_default()
}
