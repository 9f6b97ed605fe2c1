//! Record linkage by distance: an adversary knows the quasi-identifiers of a person and looks for
//! the nearest records.
//!
//! Paper: `domingo2001`, distance-based record linkage as a measure of disclosure risk. All
//! quasi-identifiers have equal importance. The distance of a number is the distance to the range
//! of the cell in standard deviations. The distance of another value is 0 if the cell covers it
//! and one otherwise. The records with the nearest cells are the candidates. A guess among them is
//! right with probability 1 over their number.
//!
//! Where we differ: a release does not contain which record belongs to whom. If cells cover the
//! person's values, her record is among the candidates. If no cell does, as with means of groups,
//! the nearest record may belong to another person, and the probability is an upper bound. At most
//! [`MOST`] distinct rows of the original are linked, taken at even steps.

use incrowd_core::domain::{Numbers, ReadCell};
use incrowd_core::{Code, Dataset, Domain, Error, Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};

/// Maximum number of distinct rows that are linked.
const MOST: usize = 2000;

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "record-linkage",
    paper: "domingo2001",
    about: "An adversary knows all quasi-identifiers of a person and looks for the records with \
            the nearest cells. The risk is the chance that a random one of these records belongs \
            to the person.",
    limits: "Equally near records are treated as equally likely. An adversary who knows how the \
             release was created may rule out some of them. If no cell covers the person's values, \
             the nearest record may belong to another person, and the chance is an upper bound. In \
             large tables 2,000 rows are linked.",
    subject: Subject::People,
    needs: &[Need::Original],
    uses: &[],
    needs_text: "the original (`[attack] original`) and the hierarchies of the release",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.8")
        .about("a person whose record is found with at least this chance counts as at risk")],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some((original, _)) = adversary.original else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let release = &adversary.release;
    let columns = columns(adversary, original)?;
    let step = original.rows().div_ceil(MOST).max(1);
    let rows: Vec<usize> = (0..original.rows()).step_by(step).collect();
    progress.step_through("linking records", rows.len() as u64, "rows");
    let mut risks = Risks::default();
    let (mut uncovered, mut single) = (0, 0);
    for &row in &rows {
        let (distance, candidates) = nearest(release, original, &columns, row);
        let people = original.weight(row);
        risks.add(if candidates == 0 { 0.0 } else { 1.0 / candidates as f64 }, people);
        uncovered += if distance > 0.0 { people } else { 0 };
        single += if candidates == 1 { people } else { 0 };
        progress.advance(1);
    }
    let measures = "chance of linking the right record by distance";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::AtLeast(threshold));
    finding.people = "records of the original";
    finding.owner_only = true;
    finding.add_fact("one_candidate", "people with a single nearest record", single as f64);
    finding.add_fact("nothing_covers", "people whose values no cell covers", uncovered as f64);
    if step > 1 {
        let linked = incrowd_core::text::thousands(rows.len() as u64);
        finding.notes.push(format!("{linked} distinct rows were linked, one in {step}"));
    }
    if uncovered > 0 {
        finding
            .notes
            .push("if no cell covers a person's values, the chance is an upper bound".to_owned());
    }
    Ok(Answer::one(finding))
}

/// A quasi-identifier of the release.
struct Column<'a> {
    domain: &'a Domain,
    /// The decoded cells, by code of the text. `None` for a text that does not occur.
    cells: Vec<Option<ReadCell>>,
    /// Unit of distances.
    deviation: f64,
}

fn columns<'a>(adversary: &Adversary<'_>, original: &'a Dataset) -> Result<Vec<Column<'a>>> {
    let table = adversary.release.table;
    let column = |(q, quasi): (usize, &'a incrowd_core::dataset::Quasi)| {
        let mut used = vec![false; table.columns[q].texts.len()];
        (0..table.rows()).for_each(|row| used[table.row(row)[q] as usize] = true);
        let read = |(code, text): (usize, &String)| {
            if !used[code] {
                return Ok(None);
            }
            match quasi.domain.read(text) {
                Some(cell) => Ok(Some(cell)),
                // A missing cell written by another program may replace any value.
                None if adversary.is_missing(code as u32, text) => Ok(Some(ReadCell::Anything)),
                None => Err(Error::input(format!(
                    "column `{}` of the release has a cell that is not a generalization of the \
                     original's values",
                    quasi.name
                ))
                .help("provide the hierarchies of the release")),
            }
        };
        let cells =
            table.columns[q].texts.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
        Ok(Column { domain: &quasi.domain, cells, deviation: deviation(original, q) })
    };
    original.quasi().iter().enumerate().map(column).collect()
}

/// Returns the standard deviation of a numeric column, and 1 for other columns.
fn deviation(original: &Dataset, q: usize) -> f64 {
    let Domain::Numbers(line) = &original.quasi()[q].domain else { return 1.0 };
    let counts = original.leaf_counts(q);
    let numbers = || {
        (0..counts.len())
            .filter_map(|leaf| Some((number(line.numbers(), leaf)?, counts[leaf] as f64)))
    };
    let records: f64 = numbers().map(|(_, n)| n).sum();
    let mean = numbers().map(|(x, n)| x * n).sum::<f64>() / records;
    let deviation = (numbers().map(|(x, n)| (x - mean).powi(2) * n).sum::<f64>() / records).sqrt();
    if deviation > 0.0 { deviation } else { 1.0 }
}

fn number(numbers: &Numbers, leaf: usize) -> Option<f64> {
    match numbers {
        Numbers::Integers(v) => v.get(leaf).map(|&x| x as f64),
        Numbers::Reals(v) => v.get(leaf).copied(),
        Numbers::Dates(v) => v.get(leaf).map(|&x| f64::from(x)),
    }
}

impl Column<'_> {
    /// Returns the squared distance between a value and a cell.
    fn distance(&self, code: u32, cell: &ReadCell) -> f64 {
        if let (ReadCell::Between(lo, hi), Domain::Numbers(line)) = (cell, self.domain) {
            let Some(x) = number(line.numbers(), code as usize) else { return 1.0 };
            let outside = (lo - x).max(x - hi).max(0.0) / self.deviation;
            return outside * outside;
        }
        f64::from(u8::from(!self.domain.covers(cell, Code(code))))
    }
}

/// Returns the least distance between a row and the cells of a group, and the number of records at
/// this distance.
fn nearest(
    release: &super::Published<'_>,
    original: &Dataset,
    columns: &[Column<'_>],
    row: usize,
) -> (f64, u64) {
    let codes = original.quasi_codes(row);
    let of_text = |(column, &code): (&Column<'_>, &u32)| -> Vec<f64> {
        column
            .cells
            .iter()
            .map(|cell| cell.as_ref().map_or(0.0, |cell| column.distance(code, cell)))
            .collect()
    };
    let distances: Vec<Vec<f64>> = columns.iter().zip(codes).map(of_text).collect();
    let mut best = (f64::INFINITY, 0);
    for (&first, &records) in release.groups.first.iter().zip(&release.groups.records) {
        let texts = release.table.row(first as usize);
        let distance: f64 =
            distances.iter().zip(texts).map(|(of_text, &text)| of_text[text as usize]).sum();
        if distance < best.0 {
            best = (distance, records);
        } else if distance == best.0 {
            best.1 += records;
        }
    }
    best
}
