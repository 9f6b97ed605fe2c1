//! The two tables as they are made and written.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use incrowd_core::{Error, Folded, MISSING, Result, SensitiveSpec};
use incrowd_engine::Pending;
use incrowd_recode::anatomy::Groups;
use incrowd_recode::suppression::Secret;

use super::{COUNT, GROUP, others};
use crate::release::delimiter;
use crate::setup::{Setup, as_published};
use crate::suppression::counted;

/// How the sensitive column relates, and its position in the fold.
pub(super) fn sensitive_column<'a>(setup: &'a Setup, on: &str) -> Result<(&'a SensitiveSpec, usize)> {
    let found = setup.schema.sensitive().find(|(name, _)| *name == on);
    let (_, spec) = found.ok_or_else(|| Error::bug("the sensitive column is gone"))?;
    Ok((spec, setup.schema.quasi().count()))
}

/// The names of the quasi-identifiers.
pub(super) fn quasi_names(folded: &Folded, column: usize) -> Vec<String> {
    let names = folded.columns.iter().enumerate().filter(|(i, _)| *i != column);
    names.map(|(_, column)| column.name.clone()).collect()
}

fn texts(folded: &Folded, row: usize) -> impl Iterator<Item = (bool, &str)> {
    let cells = folded.row(row).iter().zip(&folded.columns);
    cells.map(|(&code, column)| (code != MISSING, column.texts[code as usize].as_str()))
}

/// The rows in the order of their texts, and for each sensitive value its records, each by its row.
pub(super) fn buckets(folded: &Folded, column: usize, spec: &SensitiveSpec) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut order: Vec<u32> = (0..folded.rows() as u32).collect();
    order.sort_by(|&a, &b| texts(folded, a as usize).cmp(texts(folded, b as usize)));
    let (values, counts) = counted(folded, column, spec, None);
    let mut buckets: Vec<Vec<u32>> = counts.iter().map(|&count| Vec::with_capacity(count as usize)).collect();
    for &row in &order {
        let value = values.of_code[folded.row(row as usize)[column] as usize] as usize;
        (0..folded.weights[row as usize]).for_each(|_| buckets[value].push(row));
    }
    (order, buckets)
}

/// A digest of everything that is published, whatever the order of the records: the groups of another table are others.
pub(super) fn content(folded: &Folded, order: &[u32], secret: &Secret) -> [u8; 32] {
    let mut parts: Vec<Vec<u8>> = Vec::with_capacity(order.len());
    for &row in order {
        let mut part = folded.weights[row as usize].to_le_bytes().to_vec();
        for (present, text) in texts(folded, row as usize) {
            part.push(u8::from(present));
            part.extend_from_slice(&(text.len() as u64).to_le_bytes());
            part.extend_from_slice(text.as_bytes());
        }
        parts.push(part);
    }
    secret.digest(parts.iter().map(Vec::as_slice))
}

/// Writes both tables beside their places.
pub(super) fn write(
    qit: &Pending,
    st: &Pending,
    folded: &Folded,
    groups: &Groups,
    spec: &SensitiveSpec,
    column: usize,
    missing: &str,
) -> Result<()> {
    let failed = |pending: &Pending| {
        let place = pending.target().display().to_string();
        move |e: csv::Error| Error::resources(format!("cannot write `{place}`: {e}"))
    };
    let writer = |pending: &Pending| -> Result<csv::Writer<BufWriter<std::fs::File>>> {
        let file = BufWriter::new(pending.writer()?);
        Ok(csv::WriterBuilder::new().delimiter(delimiter(pending.target())).from_writer(file))
    };
    let cell = |i: usize, code: u32| match code {
        MISSING => missing,
        code => folded.columns[i].texts[code as usize].as_str(),
    };
    let mut out = writer(qit)?;
    let names = quasi_names(folded, column);
    out.write_record(names.iter().map(String::as_str).chain([GROUP])).map_err(failed(qit))?;
    for &(row, group) in &groups.records {
        let number = group.to_string();
        let cells = others(folded, row as usize, column).map(|(i, code)| cell(i, code));
        out.write_record(cells.chain([number.as_str()])).map_err(failed(qit))?;
    }
    finish(out, qit)?;
    let mut shown = folded.columns[column].clone();
    as_published(&mut shown, spec);
    let mut counts: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for &(row, group) in &groups.records {
        let code = folded.row(row as usize)[column];
        let text = if code == MISSING { missing } else { shown.texts[code as usize].as_str() };
        *counts.entry((group, text)).or_insert(0) += 1;
    }
    let mut out = writer(st)?;
    out.write_record([GROUP, shown.name.as_str(), COUNT]).map_err(failed(st))?;
    for ((group, text), count) in counts {
        out.write_record([group.to_string().as_str(), text, count.to_string().as_str()])
            .map_err(failed(st))?;
    }
    finish(out, st)
}

fn finish(out: csv::Writer<BufWriter<std::fs::File>>, pending: &Pending) -> Result<()> {
    let unwritten =
        |e: String| Error::resources(format!("cannot write `{}`: {e}", pending.target().display()));
    let mut file = out.into_inner().map_err(|e| unwritten(e.error().to_string()))?;
    file.flush().map_err(|e| unwritten(e.to_string()))
}
