//! The job with an external table, from two tables to a verified release of two.

use std::path::{Path, PathBuf};

use incrowd_audit::tally;
use incrowd_core::model::{BoundModel, Need, Promise};
use incrowd_core::{
    ColumnSpec, Dataset, Domain, Error, GroupId, HierarchySpec, Kind, Partition, Plan, Progress, Result,
    SensitiveSpec,
};
use incrowd_engine::{Embedded, Engine, Format, Options, Pending};
use incrowd_recode::join::boxes::Boxes;
use incrowd_recode::join::trim::trim;
use incrowd_recode::join::{JoinAlgorithm, JoinOutcome, JoinRules, conventional, direct, refinement};
use serde_json::{Value as Json, json};

use super::check::{self, Judged, Tables, judge};
use super::join::{Encoded, Joined, directory_of, identity, open};
use super::publish::{Labelled, default_sensitive, write_boxes, write_sensitive};
use super::report::JoinReport;
use super::{SENSITIVE_GROUP, audit_table};
use crate::job::{DefaultRole, ExternalJob, Job, JoinMethod, OnConflict, RoleName, Trim};
use crate::linked::{self, LinkedFile, files_json};
use crate::manifest::{Manifest, Records, judgement_json};
use crate::pipeline::{Report, target};
use crate::release::delimiter;
use crate::setup::{self, Setup};

/// Makes the two tables of a k-join-anonymous release, verifies them on the bytes to be published, and puts them in place
/// with their manifest.
pub(crate) fn anonymize(job: &Job, rules: &ExternalJob, progress: &dyn Progress) -> Result<Report> {
    let engine = setup::open(&job.input)?;
    let (job, carried) = prepared(job, rules, engine.columns())?;
    let setup = Setup::new(&job, engine.columns())?;
    let algorithm = fits(&job, &setup)?;
    let with_sensitive = setup.schema.sensitive().next().is_some();
    let identity = identity(&job, rules, &setup, rules.audit.is_some());
    let external = open(rules, &identity)?;
    let mut files = Files::begin(&job, rules, &engine, external.files(), with_sensitive)?;

    let specs: Vec<&ColumnSpec> = setup.schema.quasi().map(|(_, spec)| spec).collect();
    let all = rules.method == JoinMethod::Direct;
    let directory = directory_of(files.boxes.path());
    let joined = Joined::read(&engine, external, rules, &identity, &specs, all, &directory, progress)?;
    progress.step("encoding", None);
    let encoded = joined.encode(&setup)?;
    let models = bind(&setup, &encoded.data, with_sensitive)?;
    let least = models.iter().filter_map(|model| model.least_records()).max().ok_or_else(check::no_k)?;
    let people = encoded.data.records() + joined.gathered.people;
    if least > people {
        return Err(Error::unsatisfiable(format!(
            "both tables together have {people} people, and k is {least}"
        ))
        .help("ask for less, or bring more people"));
    }
    let judged: &[Box<dyn BoundModel>] = if with_sensitive { &models } else { &[] };
    let crowd = JoinRules::new(encoded.data.rows(), least, judged);
    let (data, mut outcome) =
        grouped(&setup, algorithm, rules.method, &joined, &encoded, &models, &crowd, progress)
            .map_err(|e| e.within("algorithm"))?;
    if rules.trim == Trim::Greedy {
        progress.step("trimming", None);
        trim(&mut outcome, &data, &crowd);
    }

    progress.step("labelling", None);
    let partition = outcome.partition(&data)?;
    let labelled = Labelled::new(&Plan::new(&data, &partition), &outcome, with_sensitive);
    let rows =
        write_boxes(&engine, &data, &partition, &labelled, with_sensitive, &mut files.boxes, progress)?;
    if let Some(target) = &mut files.sensitive {
        write_sensitive(&engine, &setup, &encoded.data, &partition, &labelled, target, progress)?;
    }
    if let Some(target) = &files.audit {
        audit_table::write(target, &joined, &encoded, &data, &partition, &labelled, progress)?;
    }
    let (tables, verified) = read_back(&files, &setup, &data, rows, &encoded.data, progress)?;
    let tally = tally(&tables.boxes, data.quasi(), 0)?;

    progress.step("publishing", None);
    let microdata = encoded.data.records();
    let (read, dropped_missing) = (joined.people.read, joined.people.dropped);
    let records = Records { read, dropped_missing, suppressed: 0, published: microdata };
    let manifest = Manifest::new(&job, &setup, records, &verified.verification, &tally, &tables.digest)?;
    let manifest = with_tables(manifest, rules, &tables, &verified, &data, &files);
    let mut report = private(&joined, rules, &encoded, &data, &outcome, &partition, &crowd, rows);
    report.warnings.splice(0..0, carried);
    report.sensitive_path = files.sensitive.as_ref().map(|pending| pending.target().to_owned());
    report.audit_path = files.audit.as_ref().map(|pending| pending.target().to_owned());
    linked::publish(files.all(), &manifest)?;
    let missing = encoded.data.sensitive().iter().map(|column| column.name.clone());
    let missing = missing.zip(joined.people.missing.iter().skip(specs.len()).copied());
    Ok(Report {
        manifest,
        records,
        distinct_rows: data.rows() as u64,
        verification: verified.verification,
        tally,
        dropped_columns: setup.dropped,
        missing: missing.filter(|(_, n)| *n > 0).collect(),
        algorithm_report: None,
        joined: Some(report),
        suppression: None,
    })
}

/// The job with the identifier in its role, and without columns that external people do not have; what was left out, in words.
fn prepared(job: &Job, rules: &ExternalJob, columns: &[String]) -> Result<(Job, Vec<String>)> {
    let mut job = job.clone();
    match job.column(&rules.id).map(|column| column.role) {
        Some(RoleName::Identifier) => {}
        None if columns.contains(&rules.id) => job.set_role(&rules.id, RoleName::Identifier),
        None => {
            let error = Error::job(format!("the table has no column `{}` to join on", rules.id));
            return Err(error.help_near(&rules.id, columns.iter().map(String::as_str)).at("external.id"));
        }
        Some(_) => {
            return Err(Error::job(format!("`{}` names people and cannot have another role", rules.id))
                .help("role = \"identifier\", or leave it out of [columns]")
                .at("external.id"));
        }
    }
    let mut left_out: Vec<String> = Vec::new();
    for (name, column) in job.columns.iter_mut().filter(|(_, column)| column.role == RoleName::Passthrough) {
        column.role = RoleName::Drop;
        left_out.push(name.clone());
    }
    if job.input.default_role == DefaultRole::Passthrough {
        job.input.default_role = DefaultRole::Drop;
        left_out.extend(columns.iter().filter(|name| job.column(name).is_none()).cloned());
    }
    if let Some((name, _)) = job.columns.iter().find(|(name, _)| name == SENSITIVE_GROUP) {
        return Err(Error::job(format!("the column `{name}` has the name of the label of sensitive groups"))
            .help("rename it")
            .at(format!("columns.{name}")));
    }
    let warning = format!(
        "not published, because external people do not have them: {} (declare them sensitive to publish them with the \
         sensitive values)",
        left_out.join(", ")
    );
    Ok((job, if left_out.is_empty() { Vec::new() } else { vec![warning] }))
}

/// Refuses what has no meaning with an external table.
fn fits<'s>(job: &Job, setup: &'s Setup) -> Result<&'s dyn JoinAlgorithm> {
    if job.algorithm.suppression_limit > 0.0 {
        return Err(Error::job(
            "with [external] everybody of the table is published: nothing can be suppressed",
        )
        .help("leave suppression_limit out")
        .at("algorithm.suppression_limit"));
    }
    for (i, promise) in setup.promises.iter().enumerate() {
        if promise.model.card().needs.contains(&Need::Population) {
            let error =
                Error::job(format!("`{}` cannot be promised together with [external]", promise.name()));
            return Err(error
                .help("`incrowd attack` with --population measures presence in a k-join-anonymous release")
                .at(format!("models.{i}")));
        }
    }
    if check::least(&setup.promises).is_none() {
        return Err(check::no_k());
    }
    setup.method.algorithm.join().ok_or_else(|| {
        Error::job(format!("`{}` cannot be used with [external]", setup.method.card.name))
            .help("`mondrian` and `top-down` can")
            .at("algorithm.name")
    })
}

/// The files under way.
struct Files {
    boxes: Pending,
    sensitive: Option<Pending>,
    audit: Option<Pending>,
}

impl Files {
    /// Starts all of them before any long work.
    fn begin<'p>(
        job: &Job,
        rules: &ExternalJob,
        engine: &'p Embedded,
        external: impl Iterator<Item = &'p Path>,
        with_sensitive: bool,
    ) -> Result<Files> {
        let hierarchies = job.columns.iter().filter_map(|(_, column)| match &column.spec.hierarchy {
            Some(HierarchySpec::Arx { name, .. }) => Some(PathBuf::from(name)),
            Some(HierarchySpec::Nested(tree)) => Some(PathBuf::from(tree.name())),
            _ => None,
        });
        let inputs = engine.files().chain(external).map(Path::to_owned).chain(hierarchies);
        let inputs: Vec<PathBuf> = inputs.collect();
        let boxes = target(job, &inputs)?;
        let release = boxes.target().to_owned();
        let manifest = job.output.as_ref().and_then(|output| output.manifest.clone());
        let manifest = manifest.unwrap_or_else(|| crate::manifest::default_path(&release));
        let mut taken = vec![release.clone(), manifest];
        let mut start = |path: &Path, key: &str, what: &str| -> Result<Pending> {
            let same = |a: &Path, b: &Path| {
                let place = |p: &Path| p.canonicalize().or_else(|_| std::path::absolute(p)).ok();
                place(a) == place(b)
            };
            if inputs.iter().chain(&taken).any(|other| same(other, path)) {
                return Err(Error::job(format!("{what} would overwrite another file of the run"))
                    .help("choose another name")
                    .at(key));
            }
            taken.push(path.to_owned());
            Pending::create(path).map_err(|e| e.at(key))
        };
        let path = rules.sensitive.clone().unwrap_or_else(|| default_sensitive(&release));
        if with_sensitive {
            Format::of_path(&path).map_err(|e| e.at("external.sensitive"))?;
            if directory_of(&path) != directory_of(&release) {
                return Err(Error::job("the two tables of a release lie in one directory")
                    .help("their manifest names no directory, so whoever has one finds the other beside it")
                    .at("external.sensitive"));
            }
        }
        let values = "the table of sensitive values";
        let sensitive = with_sensitive.then(|| start(&path, "external.sensitive", values)).transpose()?;
        let audit = rules.audit.as_deref();
        let audit = audit.map(|path| start(path, "external.audit", "the audit table")).transpose()?;
        Ok(Files { boxes, sensitive, audit })
    }

    fn all(self) -> Vec<Pending> {
        [Some(self.boxes), self.sensitive, self.audit].into_iter().flatten().collect()
    }
}

fn bind(setup: &Setup, data: &Dataset, with_sensitive: bool) -> Result<Vec<Box<dyn BoundModel>>> {
    let bind = |(i, promise): (usize, &Promise)| {
        // Without sensitive values nothing is promised of the microdata alone, and k may exceed its records.
        let bound = if with_sensitive { promise.bind_for_release(data) } else { promise.model.bind(data) };
        bound.map_err(|e| e.within(&format!("models.{i}")))
    };
    setup.promises.iter().enumerate().map(bind).collect()
}

/// Groups microdata and strangers: all rows, and the groups.
#[expect(clippy::too_many_arguments, reason = "all of it is the state of one run")]
fn grouped(
    setup: &Setup,
    algorithm: &dyn JoinAlgorithm,
    method: JoinMethod,
    joined: &Joined,
    encoded: &Encoded,
    models: &[Box<dyn BoundModel>],
    crowd: &JoinRules<'_>,
    progress: &dyn Progress,
) -> Result<(Dataset, JoinOutcome)> {
    let own = &encoded.data;
    if method == JoinMethod::Direct {
        let strangers = joined.strangers(&encoded.places, &|_| true, progress)?;
        let data = own.clone().extended(&strangers.codes, &strangers.weights);
        let outcome = direct(algorithm, &data, crowd, progress)?;
        return Ok((data, outcome));
    }
    if own.records() < crowd.least() {
        let (records, k) = (own.records(), crowd.least());
        return Err(Error::unsatisfiable(format!(
            "refinement groups the microdata first, and its {records} records make no group of {k}"
        ))
        .help("method = \"direct\" without sensitive columns can, or ask for less"));
    }
    let partition = setup.method.algorithm.recode(own, models, 0, progress)?;
    let groups = conventional(&partition, own.rows());
    let spans = (0..partition.groups() as u32).map(|group| partition.spans(GroupId(group)));
    let boxes = Boxes::new(own, spans);
    let strangers = joined.strangers(&encoded.places, &|point| boxes.smallest(point).is_some(), progress)?;
    let data = own.clone().extended(&strangers.codes, &strangers.weights);
    let outcome = refinement(algorithm, &data, groups, &boxes, crowd, progress)?;
    Ok((data, outcome))
}

/// Reads both tables back and judges them; a release that does not keep its word is our mistake.
fn read_back(
    files: &Files,
    setup: &Setup,
    data: &Dataset,
    rows: u64,
    microdata: &Dataset,
    progress: &dyn Progress,
) -> Result<(Tables, Judged)> {
    let options = |pending: &Pending| -> Result<Options> {
        let format = Some(Format::of_path(pending.target())?);
        Ok(Options { format, delimiter: Some(delimiter(pending.target())), digest: true })
    };
    let quasi: Vec<&str> = data.quasi().iter().map(|q| q.name.as_str()).collect();
    let own = options(&files.boxes)?;
    let columns: Vec<String> = setup.sensitive_columns().into_iter().map(|(name, _)| name).collect();
    let values = files.sensitive.as_ref().map(|p| Ok::<_, Error>((p.path(), options(p)?))).transpose()?;
    let values = values.as_ref().map(|(path, options)| (*path, options, columns.as_slice()));
    let tables = Tables::read((files.boxes.path(), &own), &quasi, values, progress)?;
    let specs: Vec<SensitiveSpec> = setup.schema.sensitive().map(|(_, spec)| spec.clone()).collect();
    let judged = judge(&tables, &setup.promises, &specs, &kinds(data), setup.missing_label())?;
    let broken = judged.failures.first().map(ToString::to_string);
    let all = judged.verification.judgements.iter();
    let all = all.chain(judged.sensitive.iter().flat_map(|v| &v.judgements));
    let broken = broken.or(all.clone().find(|j| !j.holds && !j.unknown).map(|j| j.title.clone()));
    if let Some(broken) = broken {
        return Err(Error::bug(format!("the release does not keep {broken}: it was not put in place")));
    }
    let values = tables.sensitive.as_ref().map(|(folded, ..)| folded.records());
    if tables.boxes.records() != rows || values.is_some_and(|n| n != microdata.records()) {
        return Err(Error::bug("the written tables do not have the records they should have"));
    }
    Ok((tables, judged))
}

/// What the values of each quasi-identifier are, where they are numbers or dates.
pub(super) fn kinds(data: &Dataset) -> Vec<Option<Kind>> {
    use incrowd_core::domain::Numbers;
    let kind = |domain: &Domain| match domain {
        Domain::Numbers(line) if matches!(line.numbers(), Numbers::Dates(_)) => Some(Kind::Date),
        Domain::Numbers(_) => Some(Kind::Numeric),
        _ => None,
    };
    data.quasi().iter().map(|quasi| kind(&quasi.domain)).collect()
}

/// The manifest of both tables. It tells nothing of the external table but that there was one, and without sensitive values
/// nothing of how many records the microdata has.
fn with_tables(
    mut manifest: Manifest,
    rules: &ExternalJob,
    tables: &Tables,
    judged: &Judged,
    data: &Dataset,
    files: &Files,
) -> Manifest {
    let content = &mut manifest.content;
    let rows = tables.boxes.records();
    content["publication"] = json!("k-join-anonymity");
    let method = JoinMethod::ALL.iter().find(|(_, m)| *m == rules.method).map(|(name, _)| *name);
    let trim = Trim::ALL.iter().find(|(_, t)| *t == rules.trim).map(|(name, _)| *name);
    content["job"]["external"] = json!({ "method": method, "trim": trim });
    content["job"]["order"] = json!("sorted");
    for (quasi, kind) in data.quasi().iter().zip(kinds(data)) {
        if let Some((name, _)) = Kind::ALL.iter().find(|(_, k)| Some(*k) == kind) {
            content["job"]["columns"][&quasi.name]["kind"] = json!(name);
        }
    }
    let mut list = vec![LinkedFile::new("jat", &files.boxes, rows, &tables.digest)];
    match (&tables.sensitive, &files.sensitive, &judged.sensitive) {
        (Some((folded, digest, _)), Some(pending), Some(verification)) => {
            list.push(LinkedFile::new("si", pending, folded.records(), digest));
            content["records"]["joined"] = json!(rows);
            let models: Vec<Json> = verification.judgements.iter().map(judgement_json).collect();
            content["sensitive_groups"] = json!({ "groups": verification.groups, "models": models });
        }
        _ => content["records"] = json!({ "published": rows }),
    }
    content["files"] = files_json(&list);
    manifest
}

/// What only the publisher can know.
#[expect(clippy::too_many_arguments, reason = "all of it is the state of one run")]
fn private(
    joined: &Joined,
    rules: &ExternalJob,
    encoded: &Encoded,
    data: &Dataset,
    outcome: &JoinOutcome,
    partition: &Partition,
    crowd: &JoinRules<'_>,
    rows: u64,
) -> JoinReport {
    let own = outcome.microdata(data, crowd);
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
        margin: sizes.iter().min().copied().unwrap_or(0).saturating_sub(crowd.least()),
        smallest_without_conflicts: certain.iter().min().copied().filter(|_| misplaced),
        trimmed: rules.trim == Trim::Greedy,
        sensitive_path: None,
        audit_path: None,
    }
}
