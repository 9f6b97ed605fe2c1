//! The main job, from a table to a verified release.

use std::path::PathBuf;

use incrowd_audit::Verification;
use incrowd_core::audience::{Audience, Fact};
use incrowd_core::metric::Tally;
<<<<<<< HEAD
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Embedded, Engine, FileStore, MemoryStore, ReleasedTable};
use incrowd_recode::{Outcome, Reported};
=======
use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Error, Fault, HierarchySpec, Partition, Plan, Progress, Result};
use incrowd_engine::{Engine, Format, Output, Pending};
use incrowd_recode::ungrouped::finish_suppression;
use incrowd_recode::{Outcome, Recoding, Reported};
>>>>>>> 2e4aceb (Words in recode: what a thing is, not how it feels)
use serde_json::{Value as Json, json};

use crate::checked::CheckedJob;
use crate::job::{Job, Output};
use crate::make::{Made, Records, make};
use crate::manifest::{AlgorithmEntry, FORMAT, FileEntry, JobEntry, Manifest, Metrics, ModelEntry};
use crate::manifest::{RecordsEntry, file_name, parameters};
use crate::publication::TablePlace;
use crate::publication::joined::JoinReport;
use crate::reading::open_input;
use crate::release::{Release, Verified};
use crate::suppression::{FileKeys, SuppressionReport};

/// What happened, for the person who asked. The manifest in it is public; the rest is for the owner of the data.
#[derive(Debug)]
pub struct Report {
    /// The manifest as written.
    pub manifest: Manifest,
    /// Where it is.
    pub manifest_path: PathBuf,
    /// The tables of the release in their places; those that are not for the public are in no manifest.
    pub tables: Vec<PathBuf>,
    /// How many records went where.
    pub records: Records,
    /// How many distinct rows the records folded into.
    pub distinct_rows: u64,
    /// What verification found on the written bytes.
    pub verification: Verification,
    /// What the release cost.
    pub tally: Tally,
    /// Columns that were left out because the job does not name them.
    pub dropped_columns: Vec<String>,
    /// What a person should know, in words.
    pub warnings: Vec<String>,
    /// How many records have a missing value, by column, where there are any.
    pub missing: Vec<(String, u64)>,
    /// What else the algorithm knows.
    pub algorithm_report: Reported,
    /// What only the publisher can know of a release with people of an external table.
    pub joined: Option<JoinReport>,
    /// What was withheld before anything else.
    pub suppression: Option<SuppressionReport>,
}

/// A release in memory.
#[derive(Debug)]
pub struct Released {
    /// Its tables; the first one is the release, or the one in which people are looked for.
    pub tables: Vec<ReleasedTable>,
    /// What happened.
    pub report: Report,
}

/// Makes a release, verifies it on the bytes to be published, and puts it in place with its manifest. On any error nothing
/// is put in place and nothing is left behind.
///
/// Pages about the release are made from the release in its place; if one of them cannot be made, the release stays.
pub fn anonymize(job: &Job, progress: &dyn Progress) -> Result<Report> {
    crate::report::targets(job)?;
    let mut engine = Embedded::new(open_input(&job.input)?, FileStore::default());
    let report = anonymize_with(&mut engine, job, progress)?;
    crate::report::write_pages(job, progress)
        .map_err(|e| e.help("the release and its manifest are in place; only the report is missing"))?;
    Ok(report)
}

/// Makes a release in memory, verified on its serialized bytes. The job need not say where it goes.
pub fn anonymize_in_memory(job: &Job, progress: &dyn Progress) -> Result<Released> {
    let mut job = job.clone();
    job.output.get_or_insert_with(|| Output { path: PathBuf::from("release.arrow"), ..Output::default() });
    let store = MemoryStore::new();
    let mut engine = Embedded::new(open_input(&job.input)?, store.clone());
    let report = anonymize_with(&mut engine, &job, progress)?;
    let (tables, _) = store.released().ok_or_else(|| Error::bug("nothing was published"))?;
    Ok(Released { tables, report })
}

/// The whole way with any engine.
pub fn anonymize_with(engine: &mut dyn Engine, job: &Job, progress: &dyn Progress) -> Result<Report> {
    let job = CheckedJob::new(job, engine.columns())?;
    let released = release(engine, &job, progress);
    released.inspect_err(|_| engine.discard())
}

fn release(engine: &mut dyn Engine, job: &CheckedJob, progress: &dyn Progress) -> Result<Report> {
    let (tables, places) = job.places()?;
    engine.begin(&places)?;
    let keys = FileKeys::new(job.job.suppression.as_ref());
    let material = job.publication.gather(engine, &keys, job, progress)?;
    let mut made = make(material, job, progress)?;
    let release = Release::stage(&mut made, engine, progress)?;
    let release = release.verify(&made, job, progress)?;
    progress.step("publishing", None);
    let manifest = manifest(job, &made, &release.state, &tables);
    if let Some(withholding) = &made.withholding {
        withholding.note(&keys, &manifest.digest)?;
    }
    let verified = release.publish(&manifest)?;
    let records = records(&made, &verified);
    let mut warnings = job.warnings.clone();
    warnings.extend(made.joined.iter().flat_map(|joined| joined.warnings.clone()));
    Ok(Report {
        manifest,
        manifest_path: places.manifest,
        tables: places.tables,
        records,
        distinct_rows: made.distinct_rows,
        verification: verified.verification,
        tally: verified.tally,
        dropped_columns: job.dropped.clone(),
        warnings,
        missing: made.missing,
        algorithm_report: made.algorithm_report,
        joined: made.joined,
        suppression: verified.suppression,
    })
}

fn records(made: &Made, verified: &Verified) -> Records {
    let in_table = verified.files.first().map_or(0, |file| file.records);
    let withheld = made.withholding.as_ref().map_or(0, |held| held.total());
    Records {
        read: made.read,
        dropped_missing: made.dropped_missing,
        suppressed: verified.absent + made.starred + withheld,
        published: made.microdata.unwrap_or(in_table - made.starred),
    }
}

/// What everybody is told of a release.
fn manifest(job: &CheckedJob, made: &Made, verified: &Verified, tables: &[TablePlace]) -> Manifest {
    let Records { read, dropped_missing, suppressed, published } = records(made, verified);
    let suppression = made.withholding.as_ref().map(|held| held.entry());
    let test = suppression.as_ref().is_some_and(|step| step.test);
    let files = tables.iter().filter(|table| table.public).zip(&verified.files);
    let mut manifest = Manifest {
        incrowd: env!("CARGO_PKG_VERSION").to_owned(),
        format: FORMAT,
        release: tables.first().map(|table| file_name(&table.path)).unwrap_or_default(),
        publication: job.publication.name().to_owned(),
        job: JobEntry::new(job, &made.schema),
        records: RecordsEntry { published, ..RecordsEntry::default() },
        groups: verified.verification.groups,
        models: ModelEntry::all(&verified.verification),
        metrics: Metrics::of(&verified.tally),
        algorithm: AlgorithmEntry {
            name: job.method.card.name.to_owned(),
            // A seed helps nobody but whoever wants to know who stood where.
            params: parameters(&job.method.params, &["seed"]),
            levels: made.levels.clone(),
        },
        digest: verified.files.first().map(|file| file.digest.clone()).unwrap_or_default(),
        sensitive_groups: None,
        files: files
            .map(|(table, file)| FileEntry {
                content: file.content.to_owned(),
                name: file_name(&table.path),
                records: file.records,
                digest: file.digest.clone(),
            })
            .collect(),
        suppression,
        test: test.then(|| "made with a stated seed: whoever has it can tell what was withheld".to_owned()),
    };
    manifest.records.dropped_missing = Some(dropped_missing);
    // The size of the table would tell how many records were withheld.
    if Audience::decide(Fact::SizeOfTheTable, manifest.withheld_in_secret()).is_everybody() {
        (manifest.records.read, manifest.records.suppressed) = (Some(read), Some(suppressed));
    }
    job.publication.describe(&mut manifest, job, verified);
    manifest
}

impl Report {
    /// What became of the records, as the algorithm's report puts itself beside it.
    pub fn outcome(&self) -> Outcome {
        let Records { suppressed, published, .. } = self.records;
        Outcome { records: published + suppressed, suppressed }
    }

    /// The manifest, and under `private` what else is known and not meant for the public.
    pub fn to_json(&self) -> Json {
        let mut answer = self.manifest.to_json();
        if let Some(report) = &self.algorithm_report {
            answer["private"][report.name()] = report.to_json();
        }
        if let Some(suppression) = &self.suppression {
            answer["private"]["suppression"] = suppression.to_json();
            let Records { read, dropped_missing, suppressed, published } = self.records;
            answer["private"]["records"] = json!({
                "read": read,
                "dropped_missing": dropped_missing,
                "suppressed": suppressed,
                "published": published,
            });
        }
        if let Some(joined) = &self.joined {
            answer["private"]["join"] = joined.to_json();
        }
        answer
    }
}
<<<<<<< HEAD
=======

/// Makes a release, verifies it on the bytes to be published, and puts it in place with its manifest. On any error nothing
/// is put in place and nothing is left behind.
///
/// Pages about the release are made from the release in its place; if one of them cannot be made, the release stays.
pub fn anonymize(job: &Job, progress: &dyn Progress) -> Result<Report> {
    let pages = crate::report::targets(job)?;
    let report = make(job, progress)?;
    if !pages.is_empty() {
        crate::report::write_pages(job, progress)
            .map_err(|e| e.help("the release and its manifest are in place; only the report is missing"))?;
    }
    Ok(report)
}

fn make(job: &Job, progress: &dyn Progress) -> Result<Report> {
    if let Some(external) = &job.external {
        return crate::external::anonymize(job, external, progress);
    }
    if job.algorithm.name == incrowd_recode::anatomy::CARD.name {
        return crate::anatomy::anonymize(job, progress);
    }
    let mut engine = setup::open(&job.input)?;
    let mut setup = Setup::new(job, engine.columns())?;
    let hierarchies = job.columns.iter().filter_map(|(_, column)| match &column.spec.hierarchy {
        Some(HierarchySpec::Arx { name, .. }) => Some(PathBuf::from(name)),
        Some(HierarchySpec::Nested(tree)) => Some(PathBuf::from(tree.name())),
        _ => None,
    });
    let population = job.population.iter().flat_map(|population| population.paths.clone());
    let inputs: Vec<PathBuf> =
        engine.files().map(Path::to_owned).chain(hierarchies).chain(population).collect();
    let mut pending = target(job, &inputs)?;

    if setup.suppression.is_some() {
        suppression::one_record_each(&setup, &engine, progress)?;
    }
    let folded = engine.fold(&setup.fold_spec(), progress)?;
    let (read, dropped_missing) = (folded.read, folded.dropped_missing);
    let missing = folded.columns.iter().map(|c| c.name.clone()).zip(folded.missing.iter().copied());
    let missing: Vec<(String, u64)> = missing.filter(|(_, records)| *records > 0).collect();

    let (folded, mut held) = suppression::withhold(job, &setup, folded, progress)?;
    progress.step("encoding", None);
    let data = setup.encode(folded, &engine)?;
    setup.settle(&data);
    let quasi: Vec<&str> = setup.schema.quasi().map(|(name, _)| name).collect();
    let population = setup::population(job, &quasi, &setup.promises, progress)?;
    let data = setup.with_population(data, population.as_ref())?;
    let bind = |(i, p): (usize, &incrowd_core::model::Promise)| {
        p.bind_for_release(&data).map_err(|e| e.within(&format!("models.{i}")))
    };
    let models = setup.promises.iter().enumerate().map(bind).collect::<Result<Vec<_>>>()?;
    let recoding = recoding(job, &setup, &data, &models, progress).map_err(|e| e.within("algorithm"))?;
    let Recoding { partition, report: algorithm_report, domains } = recoding;
    let data = match domains {
        Some(domains) => data.with_domains(domains),
        None => data,
    };
    setup.settle(&data);
    let levels = levels_json(&data, &partition);
    let data = data.divided(partition.divided());
    let starred = starred(&data, &partition);

    let columns = setup.output_columns();
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let order = job.output.as_ref().map(|output| output.order).unwrap_or_default();
    let output = Output { columns, order, missing: setup.missing_label().to_owned() };
    progress.step("labelling", None);
    let withheld = held.as_ref().and_then(|held| held.withheld.as_ref());
    let plan = Plan::new(&data, &partition).withholding(withheld);
    let receipt = engine.apply(&plan, &output, &mut pending, progress)?;
    drop(plan);
    limit(job, receipt.suppressed + starred, data.records())?;
    drop(partition);

    let distinct_rows = data.rows() as u64;
    // Promises about outliers are judged beside the original; for the others its rows are given up.
    let (domains, original) = match setup::about_outliers(&setup.promises) {
        true => (data.quasi().to_vec(), Some(data)),
        false => (data.into_quasi(), None),
    };
    let release = Release::new(pending);
    let beside = Beside { population: population.as_ref(), original: original.as_ref() };
    let release = release.verify(&names, &domains, &setup, beside, held.as_ref(), receipt, progress)?;

    progress.step("publishing", None);
    let withheld = held.as_ref().map_or(0, |held| held.total());
    let (suppressed, published) = (receipt.suppressed + starred + withheld, receipt.published - starred);
    let records = Records { read, dropped_missing, suppressed, published };
    let (verification, tally) = (release.state.verification.clone(), release.state.tally.clone());
    let mut manifest = Manifest::new(job, &setup, records, &verification, &tally, &release.state.digest)?;
    if let Some(levels) = levels {
        manifest.content["algorithm"]["levels"] = levels;
    }
    let suppression = release.state.suppression.clone();
    if let Some(held) = &mut held {
        held.publish(&mut manifest.content);
        held.note(&release.state.digest)?;
    }
    release.publish(manifest.clone())?;
    let dropped_columns = setup.dropped;
    let joined = None;
    Ok(Report {
        manifest,
        records,
        distinct_rows,
        verification,
        tally,
        dropped_columns,
        missing,
        algorithm_report,
        joined,
        suppression,
    })
}

/// Starts the output file, before any long work: what cannot be written is said at once.
pub(crate) fn target(job: &Job, inputs: &[PathBuf]) -> Result<Pending> {
    let Some(output) = &job.output else {
        return Err(Error::job("the job does not say where the release goes")
            .help("use -o release.csv, or [output] path"));
    };
    Format::of_path(&output.path).map_err(|e| e.at("output.path"))?;
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    let is_input = |path: &Path| inputs.iter().any(|input| same(input, path));
    if is_input(&output.path) {
        return Err(Error::job("the output is an input file")
            .help("write the release to another file")
            .at("output.path"));
    }
    let manifest = output.manifest.clone().unwrap_or_else(|| default_path(&output.path));
    if is_input(&manifest) {
        return Err(Error::job("the manifest would overwrite an input file")
            .help("say where it goes with --manifest, or [output] manifest")
            .at("output.manifest"));
    }
    if std::path::absolute(&manifest).ok() == std::path::absolute(&output.path).ok() {
        return Err(Error::job("the manifest and the release are the same file").at("output.manifest"));
    }
    let pending = Pending::create(&output.path).map_err(|e| e.at("output.path"))?;
    drop(Pending::create(&manifest).map_err(|e| e.at("output.manifest"))?);
    Ok(pending)
}

/// How many records the limit lets be suppressed.
fn suppressible(job: &Job, records: u64) -> u64 {
    Decimal::of(job.algorithm.suppression_limit).share_of(records)
}

/// Runs the algorithm and makes suppression final. Where a promise cannot be kept once records are suppressed, none are.
pub(crate) fn recoding(
    job: &Job,
    setup: &Setup,
    data: &Dataset,
    models: &[Box<dyn BoundModel>],
    progress: &dyn Progress,
) -> Result<Recoding> {
    let allowed = suppressible(job, data.records());
    let recode = |allowed| setup.method.algorithm.recode_and_report(data, models, allowed, progress);
    let Recoding { partition, report, domains } = recode(allowed)?;
    let settled =
        finish_suppression(data, &setup.promises, models, partition, job.algorithm.suppressed, allowed);
    match settled {
        Err(error) if error.fault() == Fault::Unsatisfiable && allowed > 0 => recode(0),
        settled => settled.map(|partition| Recoding { partition, report, domains }),
    }
}

/// How many records are published with nothing but `*` in their quasi-identifiers.
pub(crate) fn starred(data: &Dataset, partition: &Partition) -> u64 {
    let star = partition.starred();
    let rows = (0..data.rows()).filter(|&row| star.is_some() && partition.group(row) == star);
    rows.map(|row| data.weight(row)).sum()
}

/// Refuses to suppress more records than the job allows.
pub(crate) fn limit(job: &Job, suppressed: u64, records: u64) -> Result<()> {
    let limit = job.algorithm.suppression_limit;
    if suppressed > suppressible(job, records) {
        return Err(Error::unsatisfiable(format!(
            "{suppressed} of {records} records would be suppressed, more than the limit of {limit}"
        ))
        .at("algorithm.suppression_limit"));
    }
    Ok(())
}
>>>>>>> 2e4aceb (Words in recode: what a thing is, not how it feels)
