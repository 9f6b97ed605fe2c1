//! Anatomy from a job to two verified tables: the quasi-identifiers with groups (QIT), and how often each sensitive value
//! occurs in each group (ST). One manifest names both.

mod measure;
mod tables;
mod verify;

use std::path::{Path, PathBuf};

use incrowd_audit::tally;
use incrowd_core::{Error, Folded, Progress, Result, Role, Value};
use incrowd_engine::{Engine, Pending};
use incrowd_recode::Method;
use incrowd_recode::anatomy::{Anatomy, CARD, diverse, group};

use crate::job::Job;
use crate::linked::{self, LinkedFile, files_json};
use crate::manifest::{Manifest, Records};
use crate::pipeline::{Report, target};
use crate::setup::{self, Setup};
use crate::suppression;

pub(crate) use measure::measure;
pub(crate) use verify::{is_anatomy, published, verify};

/// The column that links the two tables.
pub(crate) const GROUP: &str = "group";
/// The column of the second table that counts.
pub(crate) const COUNT: &str = "count";

/// The second table beside the first: `people.csv` has `people.st.csv`.
pub(crate) fn second_path(first: &Path) -> PathBuf {
    let stem = first.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let extension = first.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    first.with_file_name(format!("{stem}.st.{extension}"))
}

/// Makes both tables, verifies them on the bytes to be published, and puts them in place with their manifest.
pub(crate) fn anonymize(job: &Job, progress: &dyn Progress) -> Result<Report> {
    let mut engine = setup::open(&job.input)?;
    let method = Method::new(CARD.name, job.algorithm.params.clone()).map_err(|e| e.within("algorithm"))?;
    let Some(anatomy) = method.algorithm.linked() else {
        return Err(Error::bug("anatomy is no algorithm for linked tables"));
    };
    let l = anatomy.l;
    let (job, setup) = prepared(job, anatomy, engine.columns())?;
    let on = refuse(&setup)?;
    let first = job.output.as_ref().map(|output| output.path.clone()).unwrap_or_default();
    if !["csv", "tsv"].iter().any(|known| first.extension().is_some_and(|e| e == *known)) {
        return Err(Error::job("anatomy writes two text tables")
            .help("use -o release.csv")
            .at("output.path"));
    }
    let inputs: Vec<PathBuf> = engine.files().map(Path::to_owned).collect();
    let qit = target(&job, &inputs)?;
    let second = second_path(&first);
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if inputs.iter().any(|input| same(input, &second)) {
        return Err(Error::job("the second table would overwrite an input file").at("output.path"));
    }
    let st = Pending::create(&second).map_err(|e| e.at("output.path"))?;

    suppression::one_record_each(&setup, &engine, progress)?;
    let folded = engine.fold(&setup.fold_spec(), progress)?;
    let (read, dropped_missing) = (folded.read, folded.dropped_missing);
    let missing = folded.columns.iter().map(|c| c.name.clone()).zip(folded.missing.iter().copied());
    let missing: Vec<(String, u64)> = missing.filter(|(_, records)| *records > 0).collect();
    let (folded, mut held) = suppression::withhold(&job, &setup, folded, progress)?;
    let domains = setup.encode(folded.clone(), &engine)?.into_quasi();

    progress.step("grouping", None);
    let (spec, column) = tables::sensitive_column(&setup, &on)?;
    let (order, buckets) = tables::buckets(&folded, column, spec);
    // Said before a key is made for nothing.
    diverse(&buckets, l).map_err(|e| e.within("algorithm"))?;
    let secret = match &held {
        Some(held) => held.secret(),
        None => suppression::own_secret(&job)?,
    };
    let mut dice = secret.derive([&b"anatomy"[..], &tables::content(&folded, &order, &secret)]).dice();
    let groups = group(buckets, l, &mut dice).map_err(|e| e.within("algorithm"))?;

    progress.step("writing", None);
    let missing_label = setup.missing_label();
    tables::write(&qit, &st, &folded, &groups, spec, column, missing_label)?;
    let sizes =
        verify::read_back(qit.path(), st.path(), &tables::quasi_names(&folded, column), &on, progress)?;
    if sizes.records != folded.records() || sizes.groups.len() as u64 != u64::from(groups.groups) {
        return Err(Error::bug("the written tables do not have the records they should have"));
    }
    let mut tally = tally(&sizes.quasi, &domains, 0)?;
    tally.group_sizes.clone_from(&sizes.groups);
    let verification = verify::judge(&setup.promises, sizes.linked.clone(), spec, missing_label, progress)?;
    if let Some(broken) = verification.judgements.iter().find(|judgement| !judgement.holds) {
        return Err(Error::unsatisfiable(format!(
            "anatomy does not keep {}: its groups have {l} or {} records",
            broken.title,
            l + 1
        ))
        .help("promise l-diversity alone, or use an algorithm that generalizes")
        .at("models"));
    }
    let suppression =
        held.as_ref().map(|held| held.judge(&setup, &sizes.linked, missing_label)).transpose()?;
    let suppression = suppression.map(|mut report| {
        if report.withheld > 0 {
            report.notes.push(
                "exact quasi-identifiers are published: a known participant who is absent was withheld, and so has one of the \
                 frequent values"
                    .to_owned(),
            );
        }
        report
    });

    progress.step("publishing", None);
    let withheld = held.as_ref().map_or(0, |held| held.total());
    let records = Records { read, dropped_missing, suppressed: withheld, published: sizes.records };
    let mut manifest = Manifest::new(&job, &setup, records, &verification, &tally, &sizes.digests.0)?;
    manifest.content["algorithm"] = serde_json::json!({ "name": CARD.name, "l": l, "on": on });
    let rows = sizes.linked.rows() as u64;
    manifest.content["files"] = files_json(&[
        LinkedFile::new("qit", &qit, sizes.records, &sizes.digests.0),
        LinkedFile::new("st", &st, rows, &sizes.digests.1),
    ]);
    if let Some(held) = &mut held {
        held.publish(&mut manifest.content);
        held.note(&sizes.digests.0)?;
    }
    linked::publish(vec![qit, st], &manifest)?;
    Ok(Report {
        manifest,
        records,
        distinct_rows: folded.rows() as u64,
        verification,
        tally,
        dropped_columns: setup.dropped,
        missing,
        algorithm_report: None,
        joined: None,
        suppression,
    })
}

/// The job with the promise anatomy is made for, checked against its table. What generalizes is not asked.
fn prepared(job: &Job, anatomy: &Anatomy, columns: &[String]) -> Result<(Job, Setup)> {
    let mut job = job.clone();
    let own = std::mem::take(&mut job.algorithm);
    if own.suppression_limit > 0.0 {
        return Err(Error::job("anatomy publishes every record")
            .help("set suppression_limit = 0")
            .at("algorithm.suppression_limit"));
    }
    if job.models.is_empty() && job.suppression.is_none() {
        let l = i64::try_from(anatomy.l).unwrap_or(i64::MAX);
        let mut given = vec![("l", Value::Integer(l)), ("kind", Value::Word("frequency".to_owned()))];
        if !anatomy.on.is_empty() {
            given.push(("on", Value::Word(anatomy.on.clone())));
        }
        job.promise("l-diversity", given);
    }
    let setup = Setup::new(&job, columns)?;
    Ok((job, setup))
}

/// The sensitive column; what anatomy cannot publish is refused.
fn refuse(setup: &Setup) -> Result<String> {
    if setup.schema.published().any(|(_, role)| *role == Role::Passthrough) {
        return Err(Error::job("anatomy passes no column through")
            .help("drop the column, or use an algorithm that generalizes")
            .at("columns"));
    }
    let mut sensitive = setup.schema.sensitive().map(|(name, _)| name);
    let (Some(on), None) = (sensitive.next(), sensitive.next()) else {
        return Err(Error::job("anatomy takes exactly one sensitive column")
            .help("--sensitive disease")
            .at("columns"));
    };
    if setup.schema.quasi().any(|(name, _)| name == GROUP) || [GROUP, COUNT].contains(&on) {
        return Err(Error::job(format!("anatomy needs the column names `{GROUP}` and `{COUNT}` for itself"))
            .at("columns"));
    }
    Ok(on.to_owned())
}

/// The codes of a row but one column.
pub(super) fn others(folded: &Folded, row: usize, column: usize) -> impl Iterator<Item = (usize, u32)> {
    folded.row(row).iter().copied().enumerate().filter(move |(i, _)| *i != column)
}
