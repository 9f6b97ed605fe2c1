//! Singling out: an adversary who knows a value that is published unchanged.
//!
//! Source: `wp216`, the Article 29 Working Party's opinion on anonymisation techniques, for the
//! term. Quasi-identifiers are generalized. Sensitive and passthrough columns are not. An adversary
//! who knows a person's values in such columns finds her record among the records with equal
//! values. The risk is 1 over their number. It is 1 if the record is unique.

use incrowd_core::{Columnar, Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};
use crate::risk::grouped;
use crate::unique::{UniqueOn, unique_records};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "singling-out",
    paper: "wp216",
    about: "An adversary knows a person's values in columns that are published unchanged: a \
            sensitive column, a passthrough column, or several of them. The risk is 1 over the \
            number of records with these values. It is computed for each column, for the smallest \
            sets of columns on which at least 5 % of the people are unique, and for all columns \
            together.",
    limits: "The attack does not consider who could know such a value. Columns declared with \
             `linkable = false` are excluded. Sets have up to three columns, fewer in large and \
             wide tables. Combinations with quasi-identifiers are not considered.",
    subject: Subject::People,
    needs: &[Need::Unmodified],
    uses: &[Need::Persons],
    needs_text: "a column that is published unchanged: sensitive or passthrough",
    params: &[Param::number("threshold", 0.0, 1.0).or("1").about(
        "a person who is found with at least this chance counts as at risk; 1 means unique",
    )],
    limit: Quantity::Share,
    run,
};

const MEASURES: &str = "chance of finding the record by values of unmodified columns";

/// Maximum number of sets that are reported.
const LISTED: usize = 10;

/// The columns that are published unchanged.
#[derive(Clone, Debug)]
pub struct UnmodifiedColumns<'a> {
    /// The columns, with one code per record.
    pub table: &'a Columnar,
    /// The person of each record, if it is known and a person may have several records.
    pub persons: Option<&'a [u32]>,
    /// Columns that are excluded because no adversary can know them.
    pub unlinkable: Vec<String>,
    /// Note for the reader.
    pub note: Option<String>,
}

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let unmodified = adversary.unmodified.as_ref();
    let Some(own) = unmodified.filter(|own| !own.table.columns.is_empty()) else {
        let why = match unmodified.filter(|own| !own.unlinkable.is_empty()) {
            None => format!("needs {}", CARD.needs_text),
            Some(own) => {
                format!("declared as not linkable: {}", own.unlinkable.join(", "))
            }
        };
        return Ok(Answer::skip(CARD.name, None, why));
    };
    let found = unique_records(own.table, own.persons)?;
    let names: Vec<String> = own.table.columns.iter().map(|column| column.name.clone()).collect();
    let finding = |columns: &[String], title: String| -> Finding {
        let places: Vec<usize> =
            columns.iter().filter_map(|name| names.iter().position(|own| own == name)).collect();
        let risks = risks(own.table, own.persons, &places);
        let mut finding =
            risks.finding(CARD.name, Some(&title), MEASURES, CHANCE, Alarm::AtLeast(threshold));
        if own.persons.is_some() {
            // The release does not contain which records belong to one person.
            (finding.people, finding.owner_only) = ("persons", true);
        }
        finding
    };
    let title = |own: &UniqueOn| own.columns.join(" + ");
    let mut findings: Vec<Finding> =
        found.columns.iter().map(|own| finding(&own.columns, title(own))).collect();
    findings.extend(found.sets.iter().take(LISTED).map(|own| finding(&own.columns, title(own))));
    let listed =
        |all: &[String]| found.sets.iter().take(LISTED).any(|own| own.columns.len() == all.len());
    if names.len() > 1 && !listed(&names) {
        findings.push(finding(&names, format!("all {} columns together", names.len())));
    }
    if let Some(first) = findings.first_mut() {
        let further = found.sets.len().saturating_sub(LISTED);
        if further > 0 {
            first.notes.push(format!("{further} further sets of columns single people out"));
        }
        if !own.unlinkable.is_empty() {
            let names = own.unlinkable.join(", ");
            first.notes.push(format!("excluded because declared as not linkable: {names}"));
        }
        first.notes.extend(own.note.clone());
    }
    Ok(Answer { findings, skipped: Vec::new() })
}

/// Computes the risk of each record, or of each person, if the values of these columns are known. A
/// person has the greatest risk of her records.
fn risks(table: &Columnar, of: Option<&[u32]>, columns: &[usize]) -> Risks {
    let (class, classes) = grouped(table, columns);
    let mut sizes = vec![0u64; classes];
    let mut risks = Risks::default();
    let Some(of) = of else {
        class.iter().for_each(|&class| sizes[class as usize] += 1);
        sizes.into_iter().filter(|&n| n > 0).for_each(|n| risks.add(1.0 / n as f64, n));
        return risks;
    };
    let mut pairs: Vec<(u32, u32)> = class.iter().copied().zip(of.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.iter().for_each(|&(class, _)| sizes[class as usize] += 1);
    let mut fewest: Vec<u64> = vec![u64::MAX; of.iter().max().map_or(0, |&most| most as usize + 1)];
    for (class, person) in pairs {
        let least = &mut fewest[person as usize];
        *least = sizes[class as usize].min(*least);
    }
    fewest.into_iter().filter(|&n| n < u64::MAX).for_each(|n| risks.add(1.0 / n as f64, 1));
    risks
}
