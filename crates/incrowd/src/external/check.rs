//! Reading both tables back from their bytes and judging them.

use std::path::Path;

use incrowd_audit::joined::{Failure, JoinTables, published};
use incrowd_audit::{Judgement, Verification};
use incrowd_core::model::{Need, Promise};
use incrowd_core::{Dataset, Error, Folded, Kind, MISSING, Progress, Result, SensitiveSpec};
use incrowd_engine::{Embedded, Options};

use super::SENSITIVE_GROUP;

/// Two published tables as read back.
#[derive(Debug)]
pub(crate) struct Tables {
    /// The quasi-identifiers, and the label of the sensitive group if there are sensitive values.
    pub(crate) boxes: Folded,
    pub(crate) quasi: usize,
    pub(crate) digest: String,
    pub(crate) columns: Vec<String>,
    /// The label, then the sensitive columns; with digest and columns.
    pub(crate) sensitive: Option<(Folded, String, Vec<String>)>,
}

impl Tables {
    /// Reads the tables. `sensitive` is where the second is and which columns it has.
    pub(crate) fn read(
        boxes: (&Path, &Options),
        quasi: &[&str],
        sensitive: Option<(&Path, &Options, &[String])>,
        progress: &dyn Progress,
    ) -> Result<Tables> {
        let mut names: Vec<String> = quasi.iter().map(|n| (*n).to_owned()).collect();
        if sensitive.is_some() {
            names.push(SENSITIVE_GROUP.to_owned());
        }
        let (folded, digest, columns) = Embedded::read_release(boxes.0, boxes.1, &names, progress)?;
        let read = |(path, options, columns): (&Path, &Options, &[String])| {
            let label = std::iter::once(SENSITIVE_GROUP.to_owned());
            let names: Vec<String> = label.chain(columns.iter().cloned()).collect();
            Embedded::read_release(path, options, &names, progress)
        };
        let sensitive = sensitive.map(read).transpose()?;
        Ok(Tables { boxes: folded, quasi: quasi.len(), digest, columns, sensitive })
    }

    pub(crate) fn tables(&self) -> JoinTables<'_> {
        let sensitive = self.sensitive.as_ref().map(|(folded, ..)| folded);
        JoinTables { boxes: &self.boxes, quasi: self.quasi, sensitive }
    }
}

/// What the tables say about themselves.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) failures: Vec<Failure>,
    /// Promises that follow from the number of records, judged on the groups of boxes; the others on the sensitive groups.
    pub(crate) verification: Verification,
    /// All promises, judged on the sensitive groups.
    pub(crate) sensitive: Option<Verification>,
}

/// The least number of rows a group must have: the greatest that a promise asks for.
pub(crate) fn least(promises: &[Promise]) -> Option<u64> {
    let counts = promises.iter().filter(|p| counted(p)).flat_map(|p| p.params.iter());
    counts.filter_map(|(name, value)| (name == "k").then(|| value.to_string().parse().ok())?).max()
}

/// Whether a promise is about the number of records of a group and nothing else.
pub(crate) fn counted(promise: &Promise) -> bool {
    promise.model.card().needs == [Need::Records]
}

/// Judges the tables by themselves: the rules P1 to P5 and every promise.
pub(crate) fn judge(
    tables: &Tables,
    promises: &[Promise],
    sensitive: &[SensitiveSpec],
    kinds: &[Option<Kind>],
    missing: &str,
) -> Result<Judged> {
    let Some(k) = least(promises) else { return Err(no_k()) };
    let mut failures = unexpected(tables);
    failures.extend(published(&tables.tables(), k, kinds));
    let (counted, others): (Vec<usize>, Vec<usize>) =
        (0..promises.len()).partition(|&i| counted(&promises[i]));
    let boxes = Dataset::of_release(tables.boxes.clone(), tables.boxes.columns.len(), &[])
        .map_err(|failed| failed.misfit.error)?;
    let on_boxes: Vec<Judgement> =
        counted.iter().map(|&i| verify_one(&boxes, promises, i)).collect::<Result<Vec<_>>>()?;
    let on_values = match &tables.sensitive {
        None => None,
        Some((folded, ..)) => {
            let mut folded = folded.clone();
            as_missing(&mut folded, missing);
            let specs: Vec<&SensitiveSpec> = sensitive.iter().collect();
            let values = Dataset::of_release(folded, 1, &specs).map_err(|failed| failed.misfit.error)?;
            Some(incrowd_audit::verify(&values, promises, None)?)
        }
    };
    let judgement = |i: usize| match (counted.iter().position(|&c| c == i), &on_values) {
        (Some(at), _) => Some(on_boxes[at].clone()),
        (None, Some(values)) => Some(values.judgements[i].clone()),
        (None, None) => None,
    };
    if on_values.is_none() && !others.is_empty() {
        failures
            .push(Failure::new("P3", "the table of sensitive values is needed for what is promised of them"));
    }
    let judgements: Vec<Judgement> = (0..promises.len()).filter_map(judgement).collect();
    let groups = tables.tables().groups().len() as u64;
    let verification =
        Verification { judgements, groups, records: tables.boxes.records(), unread: Vec::new() };
    Ok(Judged { failures, verification, sensitive: on_values })
}

fn verify_one(data: &Dataset, promises: &[Promise], i: usize) -> Result<Judgement> {
    let mut verification = incrowd_audit::verify(data, std::slice::from_ref(&promises[i]), None)?;
    verification.judgements.pop().ok_or_else(|| Error::bug("a promise was not judged"))
}

/// Columns that the tables should not have: a name among them would undo everything.
fn unexpected(tables: &Tables) -> Vec<Failure> {
    let odd = |columns: &[String], folded: &Folded, table: &str| {
        let strange = columns.iter().filter(|c| !folded.columns.iter().any(|known| known.name == c.trim()));
        let strange: Vec<&str> = strange.map(String::as_str).collect();
        (!strange.is_empty())
            .then(|| Failure::new("P1", format!("{table} has further columns: {}", strange.join(", "))))
    };
    let boxes = odd(&tables.columns, &tables.boxes, "the table of boxes");
    let values = tables
        .sensitive
        .as_ref()
        .and_then(|(folded, _, columns)| odd(columns, folded, "the table of sensitive values"));
    boxes.into_iter().chain(values).collect()
}

/// A sensitive cell that reads `missing` is a missing value.
fn as_missing(folded: &mut Folded, missing: &str) {
    let width = folded.columns.len();
    for column in 1..width {
        let mut texts = folded.columns[column].texts.iter().skip(1);
        if let Some(lost) = texts.position(|text| text == missing) {
            let cells = folded.codes.iter_mut().skip(column).step_by(width);
            cells.filter(|code| **code == lost as u32 + 1).for_each(|code| *code = MISSING);
        }
    }
}

/// What is said of a job that promises nothing about the number of people.
pub(crate) fn no_k() -> Error {
    Error::job("k-join-anonymity needs a promise about the number of people in a group")
        .help("add [[models]] with name = \"k-anonymity\" and k = 10, or use -k 10")
        .at("models")
}
