//! The tree of regular intervals a column was published with, as a manifest tells it. Its ends can be read off the release
//! anyway; with them anybody can check that every cell is one of the tree's.

use incrowd_core::hierarchy::mdr::{Grid, Mdr, Unit};
use incrowd_core::number::{date_of, parse_date};
use incrowd_core::{HierarchySpec, Result};
use serde_json::{Value as Json, json};

use crate::job::Job;

/// The grid as JSON; the ends of dates are written as dates.
pub(crate) fn grid_json(grid: &Grid) -> Json {
    let end = |x: f64| match grid.unit {
        Unit::Dates => json!(date_of(x as i32).to_string()),
        Unit::Integers => json!(x as i64),
        Unit::Reals => json!(x),
    };
    json!({
        "unit": Unit::ALL.iter().find(|(_, unit)| *unit == grid.unit).map(|(name, _)| *name),
        "from": end(grid.lo),
        "to": end(grid.hi),
        "width": grid.width,
        "factors": grid.factors,
        "outliers_from": grid.low.map(end),
        "outliers_to": grid.high.map(end),
    })
}

fn grid_of(json: &Json) -> Option<Grid> {
    let unit = Unit::ALL.iter().find(|(name, _)| json["unit"] == *name).map(|(_, unit)| *unit)?;
    let end = |json: &Json| json.as_f64().or_else(|| json.as_str().and_then(parse_date).map(f64::from));
    let factor = |json: &Json| json.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    let factors = json["factors"].as_array()?.iter().map(factor).collect::<Option<Vec<u32>>>()?;
    let width = json["width"].as_f64().filter(|width| *width >= 0.0)?;
    let (lo, hi) = (end(&json["from"])?, end(&json["to"])?);
    let (low, high) = (end(&json["outliers_from"]), end(&json["outliers_to"]));
    (lo <= hi && !factors.is_empty()).then_some(Grid { unit, lo, hi, width, factors, low, high })
}

/// Gives the columns that were published in regular intervals the tree the manifest tells of, where the job does not state
/// another hierarchy.
pub(crate) fn grids_of_manifest(job: &mut Job, manifest: &Json) -> Result<()> {
    for (name, column) in manifest["job"]["columns"].as_object().into_iter().flatten() {
        let Some(grid) = grid_of(&column["mdr"]) else { continue };
        if job.column(name).is_none() {
            continue;
        }
        let spec = &mut job.column_mut(name).spec;
        if matches!(spec.hierarchy, None | Some(HierarchySpec::Mdr(_))) {
            spec.hierarchy = Some(HierarchySpec::Mdr(Mdr::of_grid(grid)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_reads_back_as_it_was_written() {
        for unit in [Unit::Integers, Unit::Reals, Unit::Dates] {
            let width = if unit == Unit::Reals { 0.25 } else { 3.0 };
            let grid =
                Grid { unit, lo: -4.0, hi: 40.0, width, factors: vec![1, 4], low: None, high: Some(90.0) };
            assert_eq!(grid_of(&grid_json(&grid)), Some(grid));
        }
        assert_eq!(grid_of(&json!({ "unit": "integer" })), None);
        assert_eq!(grid_of(&Json::Null), None);
    }
}
