//! Somebody who knows a value that is published as it is.
//!
//! Source: `wp216`, the Article 29 Working Party's opinion on anonymisation techniques, for the term. Quasi-identifiers are
//! generalized; sensitive columns and those that are passed through are not. Whoever knows a person's values of such columns
//! finds her record among those that have the same. The risk is 1 over their number, 1 if she is alone.

use hashbrown::HashMap;
use incrowd_core::{Columnar, Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};
use crate::alone::{Alone, AloneIn, alone};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "singling-out",
    paper: "wp216",
    about: "Somebody knows a person's values of columns that are published as they are: a sensitive column, one that is passed \
            through, or several of them. The person is among the records that have these values; the risk is 1 over their \
            number. It is asked for each column, for the smallest sets of columns in which at least 5 % of the people are \
            alone, and for all of them together.",
    limits: "It does not say who could know such a value. Columns that the job says nobody else can know (`linkable = false`) are \
             left out. Sets have up to three columns, fewer in large and wide tables. What is learned together with the \
             quasi-identifiers is not asked here.",
    subject: Subject::People,
    needs: &[Need::AsItIs],
    uses: &[Need::Persons],
    needs_text: "a column that is published as it is, sensitive or passed through",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("1"),
        about: "whoever is found with at least this chance counts as at risk; 1 is alone",
    }],
    limit: Quantity::Share,
    run,
};

const MEASURES: &str = "chance of finding the record by values that are published as they are";

/// More sets than this are not listed.
const LISTED: usize = 10;

/// What is published as it is.
#[derive(Clone, Debug)]
pub struct AsItIs<'a> {
    /// The columns, record by record.
    pub table: &'a Columnar,
    /// Whose each record is, if that is known and a person may have several.
    pub persons: Option<&'a [u32]>,
    /// Columns that are left out because nobody else can know them.
    pub unlinkable: Vec<String>,
    /// What a reader should know.
    pub note: Option<String>,
}

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let own = adversary.as_it_is.as_ref().filter(|own| !own.table.columns.is_empty());
    let Some(own) = own else {
        let left_out = adversary.as_it_is.as_ref().filter(|own| !own.unlinkable.is_empty());
        let why = match left_out {
            None => format!("needs {}", CARD.needs_text),
            Some(own) => format!("nobody else is said to know {}", own.unlinkable.join(", ")),
        };
        return Ok(Answer::skip(CARD.name, None, why));
    };
    let found: Alone = alone(own.table, own.persons)?;
    let names: Vec<String> = own.table.columns.iter().map(|column| column.name.clone()).collect();
    let finding = |columns: &[String], title: String| -> Finding {
        let places: Vec<usize> =
            columns.iter().filter_map(|name| names.iter().position(|own| own == name)).collect();
        let risks = risks(own.table, own.persons, &places);
        let mut finding = risks.finding(CARD.name, Some(&title), MEASURES, CHANCE, Alarm::AtLeast(threshold));
        if own.persons.is_some() {
            // The release does not say whose records they are.
            (finding.people, finding.owner_only) = ("persons", true);
        }
        finding
    };
    let title = |own: &AloneIn| own.columns.join(" + ");
    let mut findings: Vec<Finding> =
        found.columns.iter().map(|own| finding(&own.columns, title(own))).collect();
    findings.extend(found.sets.iter().take(LISTED).map(|own| finding(&own.columns, title(own))));
    let listed = |all: &[String]| found.sets.iter().take(LISTED).any(|own| own.columns.len() == all.len());
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
            first.notes.push(format!("not looked at, because nobody else is said to know it: {names}"));
        }
        first.notes.extend(own.note.clone());
    }
    Ok(Answer { findings, skipped: Vec::new() })
}

/// The risk of everybody whose values of these columns are known: of each person that of the worst of her records.
fn risks(table: &Columnar, of: Option<&[u32]>, columns: &[usize]) -> Risks {
    let mut class: Vec<u32> = vec![0; table.records];
    let mut classes = 1;
    for &column in columns {
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for (class, &code) in class.iter_mut().zip(&table.columns[column].codes) {
            let fresh = known.len() as u32;
            *class = *known.entry((*class, code)).or_insert(fresh);
        }
        classes = known.len();
    }
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
