//! The private audit table: who stands in which group. It exists on request only and is not part of the release.

use std::io::Write;
use std::path::Path;

use hashbrown::HashMap;
use incrowd_core::{Dataset, Error, Partition, Progress, Result};
use incrowd_engine::Pending;

use super::join::{Encoded, Joined};
use super::publish::Labelled;

/// Which table a person comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Both,
    Microdata,
    External,
}

impl From {
    pub(crate) const ALL: [(&'static str, From); 3] =
        [("both", From::Both), ("mt", From::Microdata), ("pd", From::External)];

    fn word(self) -> &'static str {
        From::ALL.iter().find(|(_, from)| *from == self).map_or("", |(word, _)| word)
    }
}

/// Writes the table: everybody of the release with the number of the group, counted in the published table from 1 on.
pub(crate) fn write(
    target: &Pending,
    joined: &Joined,
    encoded: &Encoded,
    data: &Dataset,
    partition: &Partition,
    labelled: &Labelled,
    progress: &dyn Progress,
) -> Result<()> {
    let number = |row: usize| partition.group(row).map(|group| labelled.numbers[group.index()]);
    let mut known = vec![From::Microdata; joined.people.len()];
    joined.gathered.known.iter().for_each(|(record, _)| known[*record as usize] = From::Both);
    let mut lines: Vec<(u32, String, From)> = Vec::new();
    for (record, name) in joined.people.names.iter().flatten().enumerate() {
        if let Some(number) = number(encoded.row_of[record] as usize) {
            lines.push((number, name.clone(), known[record]));
        }
    }
    // Strangers with the same quasi-identifiers are one row, and a row is in one group.
    let points: HashMap<&[u32], u32> = (encoded.data.rows()..data.rows())
        .filter_map(|row| Some((data.quasi_codes(row), number(row)?)))
        .collect();
    let find = |codes: &[u32]| {
        let point: Vec<u32> =
            codes.iter().zip(&encoded.places).map(|(&code, places)| places[code as usize].0).collect();
        points.get(point.as_slice()).copied()
    };
    let strangers = joined.external.names(&joined.people, &joined.gathered, &find, progress)?;
    lines.extend(strangers.into_iter().map(|(name, number)| (number, name, From::External)));
    lines.sort_unstable_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let failed =
        |e: std::io::Error| Error::resources(format!("cannot write `{}`: {e}", target.target().display()));
    let file = std::io::BufWriter::new(target.writer()?);
    let mut writer = csv::Writer::from_writer(file);
    let mut put = |cells: [&str; 3]| writer.write_record(cells).map_err(|e| failed(e.into()));
    put(["id", "group", "source"])?;
    for (number, name, from) in &lines {
        put([name, &(number + 1).to_string(), from.word()])?;
    }
    let mut file = writer.into_inner().map_err(|e| failed(e.into_error()))?;
    file.flush().map_err(failed)
}

/// A line of an audit table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of the group, from 0 on.
    pub(crate) group: u32,
    pub(crate) from: From,
}

/// Reads an audit table: the lines by name, and how many names stand there more than once.
pub(crate) fn read(path: &Path) -> Result<(HashMap<String, Line>, u64)> {
    let unreadable =
        |e: csv::Error| Error::input(format!("the audit table `{}` cannot be read: {e}", path.display()));
    let mut reader = csv::Reader::from_path(path).map_err(unreadable)?;
    let header = reader.headers().map_err(unreadable)?.clone();
    if !header.iter().eq(["id", "group", "source"]) {
        return Err(Error::input(format!("`{}` is not an audit table", path.display()))
            .help("its columns are id, group and source"));
    }
    let (mut lines, mut repeated) = (HashMap::new(), 0);
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(unreadable)?;
        let malformed = || Error::input(format!("record {} of the audit table cannot be read", i + 1));
        let group: u32 = record[1].parse().ok().filter(|n| *n > 0).ok_or_else(malformed)?;
        let from = From::ALL.iter().find(|(word, _)| *word == &record[2]).ok_or_else(malformed)?.1;
        let line = Line { group: group - 1, from };
        repeated += u64::from(lines.insert(record[0].to_owned(), line).is_some());
    }
    Ok((lines, repeated))
}
