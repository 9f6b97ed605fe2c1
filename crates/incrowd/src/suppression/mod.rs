//! Withholding records before anything else, because a sensitive value is too frequent.
//!
//! The step acts on the folded table. What is withheld is gone before any column is encoded, so that nothing made later bears
//! a trace of it. The draws follow from a secret key ([`key`]), and what was released before is noted ([`ledger`]).

mod judge;
pub(crate) mod key;
mod keys;
mod ledger;
mod people;
mod report;

use std::path::Path;

use incrowd_core::{
    Error, Folded, Progress, Result, Schema, SensitiveSpec, SensitiveValues, Value, Withheld,
};
use incrowd_engine::Note;
use incrowd_recode::suppression::{Cut, Secret, Step, records};
use incrowd_recode::ungrouped::Suppressed;
use serde_json::{Value as Json, json};

use crate::checked::CheckedJob;
use crate::job::{Job, ModelJob, SuppressionJob};
use crate::manifest::SuppressionEntry;
use crate::reading::{as_published, carries};
pub(crate) use judge::beside;
pub(crate) use keys::{Before, FileKeys, Keys, NoKeys, Noted, private_files};
pub(crate) use people::one_record_each;
pub use report::{Guess, SuppressionReport};

/// A step and the column it is about.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) step: Step,
    pub(crate) on: String,
}

/// The step of a job, and the job with the promise the step is made for.
pub(crate) fn plan(job: &Job, sensitive: &[&str]) -> Result<(Job, Option<Planned>)> {
    let Some(asked) = &job.suppression else { return Ok((job.clone(), None)) };
    let planned = planned(asked, sensitive).map_err(|e| e.within("suppression"))?;
    if asked.seed.is_some() && asked.key.is_some() {
        return Err(Error::job("a seed and a key are given")
            .help("a seed makes tests, a key makes releases")
            .at("suppression.seed"));
    }
    if job.algorithm.suppression_limit > 0.0 && job.algorithm.suppressed == Suppressed::Absent {
        return Err(Error::job(
            "the suppression step decides which records go, and suppression_limit lets others go too",
        )
        .help("set suppression_limit = 0, or suppressed = \"star\"")
        .at("algorithm.suppression_limit"));
    }
    let mut job = job.clone();
    let l = planned.step.rule.l;
    let promised = |model: &ModelJob| {
        let param =
            |name: &str| model.params.iter().find(|(n, _)| n == name).map(|(_, value)| value.to_string());
        let column = param("on").filter(|on| !on.is_empty());
        model.name == "l-diversity"
            && param("kind").as_deref() == Some("frequency")
            && column.is_none_or(|on| on == planned.on)
            && param("l").and_then(|l| l.parse::<u64>().ok()).is_some_and(|own| own >= l)
    };
    if !job.models.iter().any(promised) {
        let kind = ("kind", Value::Word("frequency".to_owned()));
        let l = i64::try_from(l).unwrap_or(i64::MAX);
        job.promise("l-diversity", [("l", Value::Integer(l)), kind, ("on", Value::Word(planned.on.clone()))]);
    }
    Ok((job, Some(planned)))
}

fn planned(asked: &SuppressionJob, sensitive: &[&str]) -> Result<Planned> {
    let step = Step::new(&asked.name, asked.params.clone())?;
    let on = match (step.params.word("on"), sensitive) {
        ("", [only]) => (*only).to_owned(),
        ("", []) => return Err(Error::job("there is no sensitive column to withhold records for").at("on")),
        ("", several) => {
            return Err(Error::job("which sensitive column is the suppression about?")
                .help(format!("add on, one of {}", several.join(", ")))
                .at("on"));
        }
        (on, known) if known.contains(&on) => on.to_owned(),
        (on, known) => {
            let error =
                Error::job(format!("the suppression is about `{on}`, which is not a sensitive column"));
            return Err(error.help_near(on, known.iter().copied()).at("on"));
        }
    };
    Ok(Planned { step, on })
}

/// What was withheld, until the release is in place.
pub(crate) struct Withholding {
    pub(crate) withheld: Option<Withheld>,
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

// Cells must not reach logs.
impl std::fmt::Debug for Withholding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Withholding").field("planned", &self.planned).finish_non_exhaustive()
    }
}

/// The counts of the values of a column.
pub(crate) fn counted(
    folded: &Folded,
    column: usize,
    spec: &SensitiveSpec,
    missing: Option<&str>,
) -> (SensitiveValues, Vec<u64>) {
    let mut shown = folded.columns[column].clone();
    as_published(&mut shown, spec);
    let mut used = vec![false; shown.texts.len()];
    (0..folded.rows()).for_each(|row| used[folded.row(row)[column] as usize] = true);
    let values = SensitiveValues::of(&shown, &used, spec, missing);
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

/// Takes out what the job's step withholds. Whatever is refused is refused here, before any long work.
pub(crate) fn withhold(
    job: &CheckedJob,
    folded: Folded,
    keys: &dyn Keys,
    progress: &dyn Progress,
) -> Result<(Folded, Option<Withholding>)> {
    let (Some(planned), Some(asked)) = (&job.suppression, &job.job.suppression) else {
        return Ok((folded, None));
    };
    if folded.records() == 0 {
        // Encoding says what is wrong.
        return Ok((folded, None));
    }
    progress.step("withholding", None);
    let (position, spec) = sensitive(&job.schema, &planned.on)?;
    let column = job.schema.quasi().count() + position;
    let (values, counts) = counted(&folded, column, spec, None);
    // Said before a key is made for nothing.
    planned.step.rule.feasible(&counts).map_err(|e| e.within("suppression"))?;
    let secret = keys.secret()?;
    let table = digest(&secret, &planned.on, &values, &counts);
    let rule = planned.step.rule;
    let how = json!({ "name": planned.step.card.name, "l": rule.l, "complete_level": rule.complete_level });
    let table_text: String = table.iter().map(|byte| format!("{byte:02x}")).collect();
    let carried = carries(&job.schema) && rule_draws(&counts, rule.l);
    refuse_second(keys.before(&table_text, &how)?, carried, asked.again)?;
    let words = [rule.l.to_string(), planned.step.card.name.to_owned(), rule.complete_level.to_string()];
    let seed = secret.derive([&b"seed"[..], &table].into_iter().chain(words.iter().map(|w| w.as_bytes())));
    let cut = rule.cut(&counts, &mut || seed.dice()).map_err(|e| e.within("suppression"))?;
    let mut notes = Vec::new();
    if counts.len() as u64 > folded.records() / 2 {
        notes.push(format!(
            "more than half of the records of `{}` differ in it: such a column is eligible whatever it tells, and nearness is \
             not protected; put its values into ranges first",
            planned.on
        ));
    }
    let quota: Vec<u64> = counts.iter().zip(&cut.kept).map(|(all, kept)| all - kept).collect();
    let (folded, withheld) = if cut.used.is_some() {
        let out = records::choose(&folded, column, &values.of_code, &quota, &seed.derive([&b"records"[..]]));
        let (left, withheld) = Withheld::take(folded, out)?;
        (left, Some(withheld))
    } else {
        (folded, None)
    };
    let withholding = Withholding {
        withheld,
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
    Ok((folded, Some(withholding)))
}

/// Whether anything is drawn at all.
fn rule_draws(counts: &[u64], l: u64) -> bool {
    let most = counts.iter().copied().max().unwrap_or(0);
    !incrowd_core::eligibility::eligible(most, counts.iter().sum(), l)
}

fn refuse_second(before: Before, carried: bool, again: bool) -> Result<()> {
    let help = "make it all the same, and have it logged, with `[suppression] again`";
    match before {
        _ if again => Ok(()),
        Before::Otherwise => Err(Error::unsatisfiable(
            "a table with these sensitive values was released before with other parameters: two such releases together tell \
             which value was the dominant one",
        )
        .help(format!("release it with the same method and l; or {help}"))
        .at("suppression")),
        Before::Alike if carried => Err(Error::unsatisfiable(
            "a table with these sensitive values was released before, and a release that passes columns through is not the \
             same when it is made again",
        )
        .help(format!("publish the release that was made; or {help}"))
        .at("suppression")),
        _ => Ok(()),
    }
}

/// What identifies a table: the column's name and its values with their counts, whatever the order of the records.
fn digest(secret: &Secret, on: &str, values: &SensitiveValues, counts: &[u64]) -> [u8; 32] {
    let mut parts: Vec<Vec<u8>> = vec![b"table".to_vec(), on.as_bytes().to_vec()];
    for (name, count) in values.names.iter().zip(counts) {
        // A missing value is not an empty text.
        parts.push(vec![u8::from(name.is_some())]);
        parts.push(name.as_deref().unwrap_or_default().as_bytes().to_vec());
        parts.push(count.to_le_bytes().to_vec());
    }
    secret.digest(parts.iter().map(Vec::as_slice))
}

impl Withholding {
    /// The secret further draws for this table follow from.
    pub(crate) fn secret(&self) -> Secret {
        self.seed.clone()
    }

    /// How many records were withheld.
    pub(crate) fn total(&self) -> u64 {
        self.withheld.as_ref().map_or(0, Withheld::total)
    }

    /// Notes the release, before it is put in place; answers with what is to be noted when it is.
    pub(crate) fn note(
        &self,
        keys: &dyn Keys,
        release: &str,
        journal: Option<&Path>,
    ) -> Result<Option<Note>> {
        let Withholding { table, how, again, .. } = self;
        keys.note(&Noted { table, how, release, again: *again }, journal)
    }

    /// What everybody is told: how records were withheld if they had to be, never whether they were.
    pub(crate) fn entry(&self) -> SuppressionEntry {
        report::entry(&self.planned.step, &self.planned.on, self.test)
    }
}
