//! Planning of parts in the system that keeps them: the data of the whole table that a part needs,
//! and the result.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use incrowd_core::{Error, FoldedColumn, Result};

use super::engine::RemoteEngine;
use super::parts::Parting;
use super::{Asked, Remote, RemotePlan, RemoteStore, Rows};
use crate::{Places, Receipt};

/// The data of the whole table that planning a part needs.
#[derive(Clone, Debug)]
pub struct Whole {
    /// For each column its name and a table of its texts in the order of their codes: `text`, and
    /// `line`, which is true if the text is a value of the column's domain. The first text is the
    /// missing value.
    pub columns: Vec<(String, Rows)>,
    /// The text that marks a missing value, if one occurs.
    pub marker: Option<String>,
}

/// The plan of a part.
#[derive(Clone, Debug)]
pub struct PlannedPart {
    /// The plan for the other system.
    pub plan: RemotePlan,
    /// The numbers of published and suppressed records.
    pub receipt: Receipt,
    /// Additional information for the caller that combines the parts.
    pub known: String,
}

impl Whole {
    fn new(parting: &Parting, marker: Option<&str>) -> Result<Whole> {
        let fields = [("text", DataType::Utf8), ("line", DataType::Boolean)];
        let fields = fields.map(|(name, kind)| Field::new(name, kind, false));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let rows = |(column, line): (&FoldedColumn, &Vec<bool>)| {
            let texts = StringArray::from_iter_values(&column.texts);
            let arrays: Vec<ArrayRef> =
                vec![Arc::new(texts), Arc::new(BooleanArray::from(line.clone()))];
            let batch = RecordBatch::try_new(schema.clone(), arrays);
            let batch = batch.map_err(|e| Error::bug(format!("texts do not fit: {e}")))?;
            Ok((column.name.clone(), (schema.clone(), vec![batch])))
        };
        let columns =
            parting.columns.iter().zip(&parting.lines).map(rows).collect::<Result<_>>()?;
        Ok(Whole { columns, marker: marker.map(str::to_owned) })
    }

    fn columns(&self) -> Result<(Vec<FoldedColumn>, Vec<Vec<bool>>)> {
        let (mut columns, mut lines) = (Vec::new(), Vec::new());
        for (name, (_, batches)) in &self.columns {
            let (mut texts, mut line) = (Vec::new(), Vec::new());
            for batch in batches {
                let odd = || Error::bug("the texts of a table are something else");
                let [text, places] = batch.columns() else { return Err(odd()) };
                let text = text.as_string_opt::<i32>().ok_or_else(odd)?;
                texts.extend(text.iter().map(|text| text.unwrap_or_default().to_owned()));
                let places = places.as_boolean_opt().ok_or_else(odd)?;
                line.extend(places.iter().map(|place| place == Some(true)));
            }
            columns.push(FoldedColumn { name: name.clone(), texts });
            lines.push(line);
        }
        Ok((columns, lines))
    }
}

/// A store that discards everything, for planning only.
#[derive(Debug)]
struct NoStore;

impl RemoteStore for NoStore {
    fn begin(&mut self, _: &Places) -> Result<()> {
        Ok(())
    }

    fn count_and_keep(&mut self, _: &[String], _: Asked<'_>) -> Result<Rows> {
        Err(Error::bug("a part was counted again"))
    }

    fn stage(&mut self, _: usize, _: &RemotePlan) -> Result<u64> {
        Err(Error::bug("a part was written by itself"))
    }

    fn open(&self, _: usize) -> Result<Arc<dyn Remote>> {
        Err(Error::bug("a part was read back by itself"))
    }

    fn publish(&mut self, _: &[u8]) -> Result<()> {
        Err(Error::bug("a part was published by itself"))
    }

    fn discard(&mut self) {}
}

impl RemoteEngine {
    /// Makes an engine for one part, which is [folded](crate::PartitionedEngine::fold_part) as
    /// number 0. It has only the rows of the part and the data of the whole table. It uses only the
    /// schema of `remote`.
    pub fn of_part(remote: Arc<dyn Remote>, whole: &Whole, rows: Rows) -> Result<RemoteEngine> {
        let (columns, lines) = whole.columns()?;
        let mut engine = RemoteEngine::new(remote, Box::new(NoStore))?;
        let parts = vec![Vec::new()];
        engine.parting =
            Some(Parting { columns, lines, parts, alone: Some(rows.1), ..Parting::default() });
        engine.places = 1;
        Ok(engine)
    }

    /// Takes the plan that was staged for that part.
    pub fn plan_of_part(&mut self) -> Result<(RemotePlan, Receipt)> {
        let parting = self.parting.take();
        let planned = parting.and_then(|parting| parting.plan.map(|plan| (plan, parting.receipt)));
        planned.ok_or_else(|| Error::bug("the part was not staged"))
    }

    /// Starts planning all parts except the first in the system that keeps them.
    pub(crate) fn plan_on_workers(&mut self, marker: Option<&str>) -> Result<()> {
        let Some(parting) = &self.parting else { return Err(Error::bug("nothing was parted")) };
        let whole = Whole::new(parting, marker)?;
        let others = parting.parts.get(1..).unwrap_or_default().to_vec();
        self.parts_of()?.plan(&others, &whole)
    }

    /// Takes the plan of a part that the other system planned.
    pub(crate) fn take_planned(&mut self, part: usize) -> Result<String> {
        let number =
            part.checked_sub(1).ok_or_else(|| Error::bug("the first part is planned here"))?;
        let PlannedPart { plan, receipt, known } = self.parts_of()?.planned(number)?;
        if plan.records != receipt.published {
            return Err(Error::bug(
                "the plan of a part has another number of records than it states",
            ));
        }
        self.parts_of()?.keep(&plan)?;
        if let Some(parting) = &mut self.parting {
            parting.receipt.published += receipt.published;
            parting.receipt.suppressed += receipt.suppressed;
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_receives_the_facts_about_the_whole_table() {
        let column = |name: &str, texts: &[&str]| FoldedColumn {
            name: name.to_owned(),
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
        };
        let columns = vec![column("age", &["", "20", "30", "ä, \"b\""]), column("none", &[""])];
        let lines = vec![vec![true, false, true, true], vec![false]];
        let parting = Parting { columns, lines, ..Parting::default() };
        let whole = Whole::new(&parting, Some("?")).unwrap();
        assert_eq!(whole.marker.as_deref(), Some("?"));
        let (columns, lines) = whole.columns().unwrap();
        let plain = |columns: &[FoldedColumn]| {
            columns.iter().map(|c| (c.name.clone(), c.texts.clone())).collect::<Vec<_>>()
        };
        assert_eq!(plain(&columns), plain(&parting.columns));
        assert_eq!(lines, parting.lines);
    }
}
