//! Grouping the people of both tables.

use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{
    Dataset, Domain, Error, GroupId, Kind, Partition, Plan, Progress, Result, Role, Schema,
};
use incrowd_recode::join::boxes::Boxes;
use incrowd_recode::join::trim::trim;
use incrowd_recode::join::{JoinAlgorithm, JoinOutcome, JoinRules, direct, refinement};

use super::join::{Encoded, JoinedTable};
use super::report::JoinReport;
use super::tables::{Labelled, boxes, values};
use super::{audit_table, check, rules, with_sensitive};
use crate::job::{ExternalJob, JoinMethod, OnConflict, Trim};
use crate::making::checked::CheckedJob;
use crate::making::make::{Joined, Made, Material};

/// Makes the two tables, and the audit table if it is requested.
pub(super) fn make(
    material: Material<'_>,
    job: &CheckedJob,
    progress: &dyn Progress,
) -> Result<Made> {
    let Some(joined) = &material.joined else {
        return Err(Error::bug("a join without an external table"));
    };
    let rules = rules(&job.job)?;
    let with_sensitive = with_sensitive(job);
    let Some(algorithm) = job.method.algorithm.join() else {
        return Err(Error::bug("an algorithm that cannot join"));
    };
    let mut made = Made::begin(job, &material.folded);
    // Records that lack a quasi-identifier are refused, so only sensitive columns have missing
    // values.
    made.input.missing.retain(|(name, _)| job.schema.sensitive().any(|(own, _)| own == name));
    progress.step("encoding", None);
    let encoded = joined.encode(&job.reading())?;
    let models = bind(job, &encoded.data, with_sensitive)?;
    let least =
        models.iter().filter_map(|model| model.least_records()).max().ok_or_else(check::no_k)?;
    let people = encoded.data.records() + joined.gathered.people;
    if least > people {
        return Err(Error::unsatisfiable(format!(
            "both tables together have {people} people, and k is {least}"
        ))
        .help("choose a smaller k, or an external table with more people"));
    }
    let judged: &[Box<dyn BoundModel>] = if with_sensitive { &models } else { &[] };
    let join_rules = JoinRules::new(encoded.data.rows(), least, judged);
    let (data, mut outcome) =
        grouped(job, algorithm, rules.method, joined, &encoded, &models, &join_rules, progress)
            .map_err(|e| e.within("algorithm"))?;
    if rules.trim == Trim::Greedy {
        progress.step("trimming", None);
        trim(&mut outcome, &data, &join_rules);
    }
    progress.step("labelling", None);
    let partition = outcome.partition(&data)?;
    let data = data.with_most_labels(material.most_labels);
    let plan = Plan::new(&data, &partition);
    plan.check_labels()?;
    let labelled = Labelled::new(&plan, &outcome, with_sensitive);
    made.tables.push(boxes(&data, &partition, &labelled, with_sensitive)?);
    if with_sensitive {
        made.tables.push(values(job, &encoded.data, &partition, &labelled)?);
    }
    if rules.audit.is_some() {
        made.tables
            .push(audit_table::table(joined, &encoded, &data, &partition, &labelled, progress)?);
    }
    let rows = made.tables[0].data.records();
    let mut report =
        private(joined, rules, &encoded, &data, &outcome, &partition, &join_rules, rows);
    if rules.trim == Trim::Greedy {
        report.warnings.push(
            "trim = \"greedy\" reveals who is in the table: the attack `trimming`, with a \
             population, counts the people exposed; trim = \"off\" exposes nobody that way"
                .to_owned(),
        );
    }
    made.joined = Some(Joined { report, records: encoded.data.records() });
    made.distinct_rows = data.rows() as u64;
    made.schema = with_kinds(&made.schema, &data)?;
    made.domains = data.into_quasi();
    Ok(made)
}

/// Adds the types of numeric and date columns to the schema. Verification of the boxes needs them.
fn with_kinds(schema: &Schema, data: &Dataset) -> Result<Schema> {
    let mut kinds = kinds(data).into_iter();
    let column = |(name, role): &(String, Role)| match role {
        Role::Quasi(spec) => {
            let mut spec = spec.clone();
            spec.kind = kinds.next().flatten().or(spec.kind);
            (name.clone(), Role::Quasi(spec))
        }
        other => (name.clone(), other.clone()),
    };
    Schema::new(schema.columns().iter().map(column).collect())
}

fn bind(
    job: &CheckedJob,
    data: &Dataset,
    with_sensitive: bool,
) -> Result<Vec<Box<dyn BoundModel>>> {
    let bind = |(i, privacy_model): (usize, &PrivacyModel)| {
        // Without sensitive values no model applies to the microdata alone, and k may exceed the
        // number of its records.
        let bound = if with_sensitive {
            privacy_model.bind_for_release(data)
        } else {
            privacy_model.model.bind(data)
        };
        bound.map_err(|e| e.within(&format!("models.{i}")))
    };
    job.privacy_models.iter().enumerate().map(bind).collect()
}

/// Groups the microdata and the external people. Returns all rows and the groups.
#[expect(clippy::too_many_arguments, reason = "all of it is the state of one run")]
fn grouped(
    job: &CheckedJob,
    algorithm: &dyn JoinAlgorithm,
    method: JoinMethod,
    joined: &JoinedTable,
    encoded: &Encoded,
    models: &[Box<dyn BoundModel>],
    join_rules: &JoinRules<'_>,
    progress: &dyn Progress,
) -> Result<(Dataset, JoinOutcome)> {
    let own = &encoded.data;
    if method == JoinMethod::Direct {
        let strangers = joined.strangers(&encoded.places, &|_| true, progress)?;
        let data = own.clone().extended(&strangers.codes, &strangers.weights);
        let outcome = direct(algorithm, &data, join_rules, progress)?;
        return Ok((data, outcome));
    }
    if own.records() < join_rules.least() {
        let (records, k) = (own.records(), join_rules.least());
        return Err(Error::unsatisfiable(format!(
            "refinement groups the microdata first, \
             and its {records} records cannot form a group of {k}"
        ))
        .help("use method = \"direct\" without sensitive columns, or a smaller k"));
    }
    let partition = job.method.algorithm.recode(own, models, 0, progress)?;
    let groups = partition.members(own.rows());
    let spans = (0..partition.groups() as u32).map(|group| partition.spans(GroupId(group)));
    let boxes = Boxes::new(own, spans);
    let strangers =
        joined.strangers(&encoded.places, &|point| boxes.smallest(point).is_some(), progress)?;
    let data = own.clone().extended(&strangers.codes, &strangers.weights);
    let outcome = refinement(algorithm, &data, groups, &boxes, join_rules, progress)?;
    Ok((data, outcome))
}

/// Returns the types of the quasi-identifiers that are numbers or dates.
fn kinds(data: &Dataset) -> Vec<Option<Kind>> {
    use incrowd_core::domain::Numbers;
    let kind = |domain: &Domain| match domain {
        Domain::Numbers(own) if matches!(own.numbers(), Numbers::Dates(_)) => Some(Kind::Date),
        Domain::Numbers(_) => Some(Kind::Numeric),
        _ => None,
    };
    data.quasi().iter().map(|quasi| kind(&quasi.domain)).collect()
}

/// Returns the private report.
#[expect(clippy::too_many_arguments, reason = "all of it is the state of one run")]
fn private(
    joined: &JoinedTable,
    rules: &ExternalJob,
    encoded: &Encoded,
    data: &Dataset,
    outcome: &JoinOutcome,
    partition: &Partition,
    join_rules: &JoinRules<'_>,
    rows: u64,
) -> JoinReport {
    let own = outcome.microdata(data, join_rules);
    let size = |rows: &[u32]| rows.iter().map(|&row| data.weight(row as usize)).sum::<u64>();
    let sizes: Vec<u64> = outcome.groups.iter().map(|group| size(&group.rows)).collect();
    let mut ncp = 0.0;
    for (group, &own) in own.iter().enumerate() {
        let spans = partition.spans(GroupId(group as u32)).iter().zip(data.quasi());
        ncp += own as f64 * spans.map(|(span, q)| q.domain.ncp(span.lo, span.hi)).sum::<f64>();
    }
    let mut certain = sizes.clone();
    for &record in &joined.conflicts {
        if let Some(group) = partition.group(encoded.row_of[record as usize] as usize) {
            certain[group.index()] -= 1;
        }
    }
    let misplaced = rules.on_conflict != OnConflict::External && !joined.conflicts.is_empty();
    let microdata = encoded.data.records();
    let cells = microdata as f64 * data.quasi().len() as f64;
    JoinReport {
        warnings: joined.warnings(rules),
        external_read: joined.gathered.read,
        strangers: joined.gathered.people,
        strangers_published: rows - microdata,
        outside: microdata - joined.gathered.known.len() as u64,
        ncp,
        ncp_rate: ncp / cells.max(1.0),
        discernibility: own.iter().map(|n| n * n).sum(),
        margin: sizes.iter().min().copied().unwrap_or(0).saturating_sub(join_rules.least()),
        smallest_without_conflicts: certain.iter().min().copied().filter(|_| misplaced),
        trimmed: rules.trim == Trim::Greedy,
    }
}
