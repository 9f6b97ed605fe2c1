//! The private audit table: the group of each person. It is written on request only and is not part
//! of the release.

use std::path::Path;

use hashbrown::HashMap;
use incrowd_core::{Dataset, Error, Folded, FoldedColumn, Partition, Progress, Result};
use incrowd_engine::{FoldSpec, Options, Order, Source};

use super::super::TableContent;
use super::super::plain::plain_table;
use super::join::{Encoded, JoinedTable};
use super::tables::Labelled;
use crate::making::make::MadeTable;

pub(super) const COLUMNS: [&str; 3] = ["id", "group", "source"];

/// The table from which a person comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Both,
    Microdata,
    External,
}

impl From {
    pub(crate) const ALL: [(&'static str, From); 3] =
        [("both", From::Both), ("table", From::Microdata), ("external", From::External)];
    /// The words of older audit tables.
    const OLD: [(&'static str, From); 2] = [("mt", From::Microdata), ("pd", From::External)];
}

/// Builds the table: everybody of the release with the number of the group, counted from 1 in the
/// published table.
pub(crate) fn table(
    joined: &JoinedTable,
    encoded: &Encoded,
    data: &Dataset,
    partition: &Partition,
    labelled: &Labelled,
    progress: &dyn Progress,
) -> Result<MadeTable> {
    let number = |row: usize| partition.group(row).map(|group| labelled.numbers[group.index()]);
    let mut known = vec![From::Microdata; joined.people.len()];
    joined.gathered.known.iter().for_each(|(record, _)| known[*record as usize] = From::Both);
    let mut lines: Vec<(u32, String, From)> = Vec::new();
    for (record, name) in joined.people.names.iter().flatten().enumerate() {
        if let Some(number) = number(encoded.row_of[record] as usize) {
            lines.push((number, name.clone(), known[record]));
        }
    }
    // External people with equal quasi-identifiers are one row, and a row is in one group.
    let points: HashMap<&[u32], u32> = (encoded.data.rows()..data.rows())
        .filter_map(|row| Some((data.quasi_codes(row), number(row)?)))
        .collect();
    let find = |codes: &[u32]| {
        let point: Vec<u32> = codes
            .iter()
            .zip(&encoded.places)
            .map(|(&code, places)| places[code as usize].0)
            .collect();
        points.get(point.as_slice()).copied()
    };
    let strangers = joined.external.names(&joined.people, &joined.gathered, &find, progress)?;
    lines.extend(strangers.into_iter().map(|(name, number)| (number, name, From::External)));
    let column = |name: &str| FoldedColumn { name: name.to_owned(), texts: vec![String::new()] };
    let mut table = Folded { missing: vec![0; 3], ..Folded::default() };
    table.columns = COLUMNS.map(column).to_vec();
    let groups = labelled.numbers.iter().max().map_or(0, |most| most + 1);
    table.columns[1].texts.extend((1..=groups).map(|number| number.to_string()));
    table.columns[2].texts.extend(From::ALL.iter().map(|(word, _)| (*word).to_owned()));
    for (number, name, from) in lines {
        table.columns[0].texts.push(name);
        let source = From::ALL.iter().position(|(_, known)| *known == from).unwrap_or(0);
        let name = table.columns[0].texts.len() - 1;
        table.codes.extend([name as u32, number + 1, source as u32 + 1]);
        table.weights.push(1);
    }
    table.read = table.records();
    plain_table(TableContent::Audit, table, &[], Order::Sorted, "")
}

/// A line of an audit table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of the group, from 0 on.
    pub(crate) group: u32,
    pub(crate) from: From,
}

/// Reads an audit table. Returns the lines by identifier, and the number of repeated identifiers.
pub(crate) fn read(path: &Path, progress: &dyn Progress) -> Result<(HashMap<String, Line>, u64)> {
    let source = Source::open(&[path.to_owned()], &Options::default())?;
    if !source.columns().iter().eq(COLUMNS.iter()) {
        return Err(Error::input(format!("`{}` is not an audit table", path.display()))
            .help("its columns are id, group and source"));
    }
    let table = source.fold(
        &FoldSpec { columns: COLUMNS.map(str::to_owned).to_vec(), ..FoldSpec::default() },
        progress,
    )?;
    let (mut lines, mut repeated) = (HashMap::new(), 0);
    for row in 0..table.rows() {
        let text =
            |column: usize| table.columns[column].texts[table.row(row)[column] as usize].as_str();
        let malformed = || Error::input("a line of the audit table cannot be read");
        let group: u32 = text(1).parse().ok().filter(|n| *n > 0).ok_or_else(malformed)?;
        let known = From::ALL.iter().chain(&From::OLD);
        let from = known.clone().find(|(word, _)| *word == text(2)).ok_or_else(malformed)?.1;
        let line = Line { group: group - 1, from };
        repeated +=
            table.weights[row] - 1 + u64::from(lines.insert(text(0).to_owned(), line).is_some());
    }
    Ok((lines, repeated))
}
