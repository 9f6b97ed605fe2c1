//! Record linkage by distance: somebody knows the quasi-identifiers of a person and looks for the nearest records.
//!
//! Paper: `domingo2001`, distance-based record linkage as a measure of disclosure risk. Every quasi-identifier counts alike: a number by how
//! many standard deviations it lies outside what a cell covers, any other value by whether the cell covers it. The records of the
//! nearest cells are the candidates; a guess among them is right with a chance of 1 over their number.
//!
//! Where we differ: a release does not say whose record is whose. Where cells cover the person's values her record is among the candidates. Where
//! no cell does, as with means of groups, the nearest may be somebody else's, and the chance is what it would be at most. At most
//! [`MOST`] distinct rows of the original are looked for, taken at even steps.

use incrowd_core::domain::{Numbers, ReadCell};
use incrowd_core::{Code, Dataset, Domain, Error, Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};

/// So many distinct rows are looked for.
const MOST: usize = 2000;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "record-linkage",
    paper: "domingo2001",
    about: "Somebody knows all quasi-identifiers of a person and looks for the records whose cells are nearest to them. The risk is the \
            chance that one of those, taken at random, is the person's.",
    limits: "It takes everybody for equally likely who is equally near; who knows how the release was made may rule out more. Where no \
             cell covers the person's values the nearest may be somebody else's, and the chance is an upper bound. Of large tables \
             2,000 rows are looked for.",
    subject: Subject::People,
    needs: &[Need::Original],
    uses: &[],
    needs_text: "the original (`[attack] original`) and the hierarchies the release was made with",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.8"),
        about: "whose record is found with at least this chance counts as at risk",
    }],
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
    progress.step_through("looking for people", rows.len() as u64, "rows");
    let mut risks = Risks::default();
    let (mut apart, mut alone) = (0, 0);
    for &row in &rows {
        let (distance, candidates) = nearest(release, original, &columns, row);
        let people = original.weight(row);
        risks.add(if candidates == 0 { 0.0 } else { 1.0 / candidates as f64 }, people);
        apart += if distance > 0.0 { people } else { 0 };
        alone += if candidates == 1 { people } else { 0 };
        progress.advance(1);
    }
    let measures = "chance of linking the right record by distance";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::AtLeast(threshold));
    finding.people = "records of the original";
    finding.owner_only = true;
    finding.add_fact("one_candidate", "people with a single nearest record", alone as f64);
    finding.add_fact("nothing_covers", "people whose values no cell covers", apart as f64);
    if step > 1 {
        let looked = incrowd_core::text::thousands(rows.len() as u64);
        finding.notes.push(format!("{looked} distinct rows were looked for, one in {step}"));
    }
    if apart > 0 {
        finding.notes.push(
            "where no cell covers a person's values, the chance is what it would be at most".to_owned(),
        );
    }
    Ok(Answer::one(finding))
}

/// A quasi-identifier of the release: what each of its texts says, and the unit of distances.
struct Column<'a> {
    domain: &'a Domain,
    /// By code of the text; `None` for one that does not occur.
    cells: Vec<Option<ReadCell>>,
    deviation: f64,
}

fn columns<'a>(adversary: &Adversary<'_>, original: &'a Dataset) -> Result<Vec<Column<'a>>> {
    let table = adversary.release.table;
    let column = |(q, quasi): (usize, &'a incrowd_core::dataset::Quasi)| {
        let mut used = vec![false; table.columns[q].texts.len()];
        (0..table.rows()).for_each(|row| used[table.row(row)[q] as usize] = true);
        let read = |(code, text): (usize, &String)| {
            match used[code] {
            false => Ok(None),
            true => match quasi.domain.read(text) {
                Some(cell) => Ok(Some(cell)),
                // A cell that other programs left out may be anything.
                None if adversary.is_missing(code as u32, text) => Ok(Some(ReadCell::Anything)),
                None => Err(Error::input(format!(
                    "column `{}` of the release has a cell that is no generalization of the original's values",
                    quasi.name
                ))
                .help("give the hierarchies the release was made with")),
            },
        }
        };
        let cells = table.columns[q].texts.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
        Ok(Column { domain: &quasi.domain, cells, deviation: deviation(original, q) })
    };
    original.quasi().iter().enumerate().map(column).collect()
}

/// The standard deviation of a column of numbers, or 1.
fn deviation(original: &Dataset, q: usize) -> f64 {
    let Domain::Numbers(line) = &original.quasi()[q].domain else { return 1.0 };
    let counts = original.leaf_counts(q);
    let numbers =
        || (0..counts.len()).filter_map(|leaf| Some((number(line.numbers(), leaf)?, counts[leaf] as f64)));
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
    /// The squared distance of a value from what a cell covers.
    fn distance(&self, code: u32, cell: &ReadCell) -> f64 {
        if let (ReadCell::Between(lo, hi), Domain::Numbers(line)) = (cell, self.domain) {
            let Some(x) = number(line.numbers(), code as usize) else { return 1.0 };
            let outside = (lo - x).max(x - hi).max(0.0) / self.deviation;
            return outside * outside;
        }
        f64::from(u8::from(!self.domain.covers(cell, Code(code))))
    }
}

/// The least distance of a row from the cells of a group, and how many records lie there.
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
        let distance: f64 = distances.iter().zip(texts).map(|(of_text, &text)| of_text[text as usize]).sum();
        if distance < best.0 {
            best = (distance, records);
        } else if distance == best.0 {
            best.1 += records;
        }
    }
    best
}
