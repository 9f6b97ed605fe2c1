//! The suppression step: suppresses records before the algorithm runs, because a sensitive value is
//! too frequent.
//!
//! The step works on the folded table. Suppressed records are removed before any column is encoded,
//! so that no later result depends on them. The random draws are derived from a secret key
//! ([`key`]), and earlier releases are recorded in a ledger ([`ledger`]).

mod judge;
pub(crate) mod key;
mod keys;
mod ledger;
mod people;
mod report;

use std::path::Path;

use incrowd_core::{
    Error, Folded, Progress, Result, Schema, SensitiveSpec, SensitiveValues, SuppressedRows, Value,
};
use incrowd_engine::Note;
use incrowd_recode::suppression::{Cut, Secret, Step, records};
use incrowd_recode::ungrouped::Suppressed;
use serde_json::{Value as Json, json};

use crate::job::reading::{as_published, has_passthrough};
use crate::job::{Job, ModelJob, SuppressionJob};
use crate::making::checked::CheckedJob;
use crate::manifest::SuppressionEntry;
pub(crate) use judge::compare_with_original;
pub(crate) use keys::{EarlierRelease, FileKeys, Keys, NoKeys, Noted, private_files};
pub(crate) use people::fold_people;
pub use report::{Guess, SuppressionReport};

/// A suppression step and its sensitive column.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    pub(crate) on: String,
}

/// Returns the step of a job, and the job with the model that the step requires.
pub(crate) fn plan(job: &Job, sensitive: &[&str]) -> Result<(Job, Option<Planned>)> {
    let Some(asked) = &job.suppression else { return Ok((job.clone(), None)) };
    let planned = planned(asked, sensitive).map_err(|e| e.within("suppression"))?;
    if asked.seed.is_some() && asked.key.is_some() {
        return Err(Error::job("a seed and a key are given")
            .help("a seed is for tests, a key is for releases")
            .at("suppression.seed"));
    }
    if job.algorithm.suppression_limit > 0.0 && job.algorithm.suppressed == Suppressed::Absent {
        return Err(Error::job(
            "the suppression step decides which records are suppressed, \
             and suppression_limit allows others",
        )
        .help("set suppression_limit = 0, or suppressed = \"star\"")
        .at("algorithm.suppression_limit"));
    }
    let mut job = job.clone();
    let l = planned.step.rule.l;
    let has_model = |model: &ModelJob| {
        let param = |name: &str| {
            model.params.iter().find(|(n, _)| n == name).map(|(_, value)| value.to_string())
        };
        let column = param("on").filter(|on| !on.is_empty());
        model.name == "l-diversity"
            && param("kind").as_deref() == Some("frequency")
            && column.is_none_or(|on| on == planned.on)
            && param("l").and_then(|l| l.parse::<u64>().ok()).is_some_and(|own| own >= l)
    };
    if !job.models.iter().any(has_model) {
        let kind = ("kind", Value::Word("frequency".to_owned()));
        let l = i64::try_from(l).unwrap_or(i64::MAX);
        job.add_model(
            "l-diversity",
            [("l", Value::Integer(l)), kind, ("on", Value::Word(planned.on.clone()))],
        );
    }
    Ok((job, Some(planned)))
}

fn planned(asked: &SuppressionJob, sensitive: &[&str]) -> Result<Planned> {
    let step = Step::new(&asked.name, asked.params.clone())?;
    let on = match (step.params.word("on"), sensitive) {
        ("", [only]) => (*only).to_owned(),
        ("", []) => {
            return Err(Error::job("the suppression needs a sensitive column").at("on"));
        }
        ("", several) => {
            return Err(Error::job("the sensitive column of the suppression is not named")
                .help(format!("add on, one of {}", several.join(", ")))
                .at("on"));
        }
        (on, known) if known.contains(&on) => on.to_owned(),
        (on, known) => {
            let error = Error::job(format!(
                "the suppression is about `{on}`, which is not a sensitive column"
            ));
            return Err(error.help_near(on, known.iter().copied()).at("on"));
        }
    };
    Ok(Planned { step, on })
}

/// The result of the suppression step, until the release is published.
pub(crate) struct SuppressionOutcome {
    pub(crate) suppressed_rows: Option<SuppressedRows>,
    planned: Planned,
    names: Vec<Option<String>>,
    counts: Vec<u64>,
    cut: Cut,
    seed: Secret,
    table: String,
    how: Json,
    again: bool,
    test: bool,
    notes: Vec<String>,
}

incrowd_core::opaque_debug!(SuppressionOutcome { planned });

/// Counts the values of a column. The texts `missing` are missing values, in every spelling.
pub(crate) fn counted(
    folded: &Folded,
    column: usize,
    spec: &SensitiveSpec,
    missing: &[String],
) -> (SensitiveValues, Vec<u64>) {
    let mut shown = folded.columns[column].clone();
    as_published(&mut shown, spec);
    let mut used = vec![false; shown.texts.len()];
    (0..folded.rows()).for_each(|row| used[folded.row(row)[column] as usize] = true);
    let values = SensitiveValues::of(&shown, &used, spec, missing, folded.decimal);
    let mut counts = vec![0; values.names.len()];
    for row in 0..folded.rows() {
        counts[values.of_code[folded.row(row)[column] as usize] as usize] += folded.weights[row];
    }
    (values, counts)
}

fn sensitive<'a>(schema: &'a Schema, on: &str) -> Result<(usize, &'a SensitiveSpec)> {
    let found = schema.sensitive().enumerate().find(|(_, (name, _))| *name == on);
    found.map(|(i, (_, spec))| (i, spec)).ok_or_else(|| Error::bug("the sensitive column is gone"))
}

/// Removes the records that the job's step suppresses. All errors of the step are reported here,
/// before any long work.
pub(crate) fn suppress(
    job: &CheckedJob,
    folded: Folded,
    keys: &dyn Keys,
    progress: &dyn Progress,
) -> Result<(Folded, Option<SuppressionOutcome>)> {
    let (Some(planned), Some(asked)) = (&job.suppression, &job.job.suppression) else {
        return Ok((folded, None));
    };
    if folded.records() == 0 {
        // Encoding reports the error.
        return Ok((folded, None));
    }
    progress.step("suppressing records", None);
    let (position, spec) = sensitive(&job.schema, &planned.on)?;
    let column = job.schema.quasi().count() + position;
    let (values, counts) = counted(&folded, column, spec, &spec.missing);
    // Checked before a key is created in vain.
    planned.step.rule.feasible(&counts).map_err(|e| e.within("suppression"))?;
    let secret = keys.secret()?;
    let table = digest(&secret, &planned.on, &values, &counts);
    let rule = planned.step.rule;
    let how = json!({
        "name": planned.step.card.name,
        "l": rule.l,
        "complete_level": rule.complete_level,
    });
    let table_text: String = table.iter().map(|byte| format!("{byte:02x}")).collect();
    let with_passthrough = has_passthrough(&job.schema) && rule_draws(&counts, rule.l);
    refuse_second(keys.before(&table_text, &how)?, with_passthrough, asked.again)?;
    let words =
        [rule.l.to_string(), planned.step.card.name.to_owned(), rule.complete_level.to_string()];
    let seed =
        secret.derive([&b"seed"[..], &table].into_iter().chain(words.iter().map(|w| w.as_bytes())));
    let cut = rule.cut(&counts, &mut || seed.dice()).map_err(|e| e.within("suppression"))?;
    let mut notes = Vec::new();
    if counts.len() as u64 > folded.records() / 2 {
        notes.push(format!(
            "more than half of the records of `{}` have distinct values: such a column is \
             eligible in any case, and similar values are not protected; \
             group its values into ranges first",
            planned.on
        ));
    }
    let quota: Vec<u64> = counts.iter().zip(&cut.kept).map(|(all, kept)| all - kept).collect();
    let (folded, suppressed_rows) = if cut.used.is_some() {
        let out = records::choose(
            &folded,
            column,
            &values.of_code,
            &quota,
            &seed.derive([&b"records"[..]]),
        );
        let (left, suppressed_rows) = SuppressedRows::take(folded, out)?;
        (left, Some(suppressed_rows))
    } else {
        (folded, None)
    };
    let outcome = SuppressionOutcome {
        suppressed_rows,
        planned: planned.clone(),
        names: values.names,
        counts,
        cut,
        seed,
        table: table_text,
        how,
        again: asked.again,
        test: asked.seed.is_some(),
        notes,
    };
    Ok((folded, Some(outcome)))
}

/// Returns whether records have to be drawn.
fn rule_draws(counts: &[u64], l: u64) -> bool {
    let most = counts.iter().copied().max().unwrap_or(0);
    !incrowd_core::eligibility::eligible(most, counts.iter().sum(), l)
}

fn refuse_second(before: EarlierRelease, with_passthrough: bool, again: bool) -> Result<()> {
    let help = "make it nevertheless, and log it, with `[suppression] again`";
    match before {
        _ if again => Ok(()),
        EarlierRelease::OtherSettings => Err(Error::unsatisfiable(
            "a table with these sensitive values was released before with other parameters: \
             two such releases together reveal the dominant value",
        )
        .help(format!("release it with the same method and l; or {help}"))
        .at("suppression")),
        EarlierRelease::SameSettings if with_passthrough => Err(Error::unsatisfiable(
            "a table with these sensitive values was released before, \
             and a release with passthrough columns differs when it is made again",
        )
        .help(format!("publish the existing release; or {help}"))
        .at("suppression")),
        _ => Ok(()),
    }
}

/// Returns the digest that identifies a table: of the column's name and its values with their
/// counts. It does not depend on the order of the records.
fn digest(secret: &Secret, on: &str, values: &SensitiveValues, counts: &[u64]) -> [u8; 32] {
    let mut parts: Vec<Vec<u8>> = vec![b"table".to_vec(), on.as_bytes().to_vec()];
    for (name, count) in values.names.iter().zip(counts) {
        // A missing value differs from an empty text.
        parts.push(vec![u8::from(name.is_some())]);
        parts.push(name.as_deref().unwrap_or_default().as_bytes().to_vec());
        parts.push(count.to_le_bytes().to_vec());
    }
    secret.digest(parts.iter().map(Vec::as_slice))
}

impl SuppressionOutcome {
    /// Returns the secret for further draws for this table.
    pub(crate) fn secret(&self) -> Secret {
        self.seed.clone()
    }

    /// Returns the number of suppressed records.
    pub(crate) fn total(&self) -> u64 {
        self.suppressed_rows.as_ref().map_or(0, SuppressedRows::total)
    }

    /// Records the release in the ledger before it is published. Returns the note to add on
    /// publication.
    pub(crate) fn note(
        &self,
        keys: &dyn Keys,
        release: &str,
        journal: Option<&Path>,
    ) -> Result<Option<Note>> {
        let SuppressionOutcome { table, how, again, .. } = self;
        keys.note(&Noted { table, how, release, again: *again }, journal)
    }

    /// Returns the public entry: the method, but not whether it had to suppress records.
    pub(crate) fn entry(&self) -> SuppressionEntry {
        report::entry(&self.planned.step, &self.planned.on, self.test)
    }
}
