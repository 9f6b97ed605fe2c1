//! Attacks on a published table.

mod private;
mod report;
mod skewed;
mod tables;

use std::collections::BTreeMap;

use incrowd_audit::attack::{
    self, ATTACKS, Adversary, Card, Epsilon, External, Finding, Published, Quantity, Skipped,
    Subject, UnmodifiedColumns,
};
use incrowd_core::model::{MODELS, Need, PrivacyModel};
use incrowd_core::outlier::Settings;
use incrowd_core::{Error, Progress, Result, Value};
use incrowd_engine::RecordValues;

use crate::job::{ModelJob, Table};
use crate::judging::case::Case;
use crate::judging::release_persons::ReleasePersons;
use crate::judging::request::Judging;
use crate::judging::unmodified::expanded;
use crate::making::publication::Views;
use tables::{Second, TableReader};

pub use private::Exposed;
pub use report::{AttackReport, Attacked, LimitJudged};

/// Background knowledge of the adversary, and limits on the success of attacks.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::job::RoleName;
/// use incrowd::{AttackRequest, Judging, Limit};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-attack-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let release = dir.join("patients.release.csv");
/// let table = "age,disease\n30-39,flu\n30-39,cold\n30-39,flu\n50-69,flu\n50-69,none\n\
///              50-69,none\n50-69,cold\n";
/// std::fs::write(&release, table).unwrap();
/// let judging = Judging::new(&release).with_role(["age"], RoleName::Quasi);
/// let request = AttackRequest {
///     only: vec!["prosecutor".to_owned()],
///     limits: vec![Limit { attack: "prosecutor".to_owned(), quantity: None, most: 0.2 }],
///     ..AttackRequest::default()
/// };
/// let report = judging.attack(&request)?;
/// // The smallest group has three people, so that one of them is found with probability 1/3.
/// assert!(!report.holds());
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct AttackRequest {
    /// A table of people with names or other details.
    pub external: Option<Table>,
    /// Another release about some of the same people. Empty fields are filled in from its manifest,
    /// otherwise from the first release.
    pub second: Option<Judging>,
    /// The attacks to run; empty means all.
    pub only: Vec<String>,
    /// The risk from which a person counts as at risk, by attack.
    pub thresholds: Vec<(String, f64)>,
    /// The limits that must not be exceeded.
    pub limits: Vec<Limit>,
    /// The tolerance of a guess, by sensitive column.
    pub epsilon: Vec<(String, Epsilon)>,
    /// The definition of an outlier, as parameters of plain-k-anonymity. Empty: from the models of
    /// the release.
    pub outliers: Vec<(String, Value)>,
    /// The suppression method with its parameters, if the manifest does not contain it.
    pub suppression: Option<(String, Vec<(String, Value)>)>,
    /// The number of records of the original, if the manifest does not contain it.
    pub original_size: Option<u64>,
    /// Whether the adversary knows the frequencies of the sensitive values in the original, but not
    /// which value has which.
    pub counts_known: bool,
}

/// A limit on the success of an attack.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The attack.
    pub attack: String,
    /// The limited quantity; `None`: the one that the attack's card names.
    pub quantity: Option<Quantity>,
    /// The greatest value allowed.
    pub most: f64,
}

/// Runs the attacks that apply to the release. The judging contains the population and the
/// original, the request contains further background knowledge.
pub(crate) fn attack(
    judging: &Judging,
    request: &AttackRequest,
    progress: &dyn Progress,
) -> Result<AttackReport> {
    attack_case(&Case::open(judging)?, request, progress)
}

// Adversaries borrow the tables that are read first, so that this stays in one function.
pub(crate) fn attack_case(
    case: &Case,
    request: &AttackRequest,
    progress: &dyn Progress,
) -> Result<AttackReport> {
    let chosen = chosen(request)?;
    if !chosen.iter().all(|(card, _)| attack::READ_MEANS.contains(&card.name)) {
        case.need_ranges()?;
    }
    case.need_quasi()?;
    let judging = &case.judging;
    let settings = outlier_settings(&judging.models, request, &case.reading.sensitive_names())?;
    let wanted = chosen.iter().any(|(card, _)| card.needs.contains(&attack::Need::Original));
    // Attacks on the original need the hierarchies. They are not required if the original was given
    // for another attack.
    let readable = !settings.is_empty() || case.need_hierarchies().is_ok();
    let original = judging.original.as_ref().filter(|_| wanted && readable);
    let joins =
        judging.population.is_some() || request.external.is_some() || request.second.is_some();
    if joins || original.is_some() {
        case.need_hierarchies()?;
    }
    let epsilon = epsilon(request, &case.reading.sensitive_names())?;
    let mut views = case.publication.views(case, progress)?;
    // The cells of two tables also cover people who are not in the original.
    let original = original.filter(|_| !settings.is_empty() || views.values.is_none());
    let persons_unknown =
        match crate::judging::release_persons::find(case, &mut views.people, progress)? {
            ReleasePersons::Unknown(why) => Some(why),
            _ => None,
        };
    if views.people.records() == 0 {
        return Err(Error::input("the release has no records"));
    }
    let tables = TableReader { case, progress };
    // Sensitive values of a population are useful only if people and values are in one table.
    let also = if views.values.is_none() { case.reading.sensitive_names() } else { Vec::new() };
    let people = judging.population.is_some() || request.external.is_some();
    let second = request.second.as_ref().map(|second| tables.second(second, people)).transpose()?;
    // An adversary with a second release also looks people up by its quasi-identifiers.
    let more: Vec<&str> = second.iter().flat_map(Second::quasi).collect();
    let also: Vec<&str> = also.into_iter().chain(more.iter().copied()).collect();
    let population =
        judging.population.as_ref().map(|p| tables.table(&p.table(), "population", &also));
    let population = population.transpose().map_err(|e| e.at("population.path"))?;
    let external = request.external.as_ref();
    let external = external.map(|table| tables.table(table, "external table", &more));
    let external = external.transpose()?;
    let original = original.map(|original| {
        case.reading.encode_original(case.reading.fold_original(original, progress)?)
    });
    let original = original.transpose()?;

    let record_values = unmodified_columns(case, &views);
    let missing = &case.reading.missing;
    let sensitive = &case.reading.sensitive;
    let published = Published::new(&views.people, &views.quasi).with_specs(sensitive, missing);
    let mut on_people = Adversary::new(published, missing);
    on_people.persons_unknown = persons_unknown;
    on_people.set_population(population.as_ref().map(|other| &other.table));
    on_people.external =
        external.as_ref().map(|other| External { table: &other.table, further: other.further });
    on_people.second = second.as_ref().map(|second| {
        let published = Published::new(&second.table, &second.specs);
        published.with_specs(&second.sensitive, &second.missing)
    });
    on_people.original = original.as_ref().map(|data| (data, settings.as_slice()));
    // A person's records differ in passthrough columns, and their assignment to records is unknown.
    let by_records = views.people.persons.as_ref().is_some_and(|p| p.repeated)
        && record_values.persons.is_none();
    on_people.unmodified = Some(UnmodifiedColumns {
        table: &record_values.table,
        persons: record_values.persons.as_deref(),
        unlinkable: case.unlinkable(),
        note: note_on(&views, by_records || on_people.persons_unknown.is_some()),
    });
    if chosen.iter().any(|(card, _)| card.needs.contains(&attack::Need::Weights)) {
        on_people.weighted = crate::making::weights::weighed(case, &views.people, progress)?;
    }
    case.publication.inform(case, &views, &mut on_people);
    let on_values = views.values.as_ref();
    let mut on_values = on_values.map(|(table, specs)| {
        Adversary::new(Published::new(table, specs).with_specs(sensitive, missing), missing)
    });
    let adversary = on_values.as_mut().unwrap_or(&mut on_people);
    adversary.epsilon = epsilon;
    adversary.kinds = case.reading.sensitive.iter().map(|(_, spec)| spec.kind).collect();
    adversary.categories =
        case.reading.sensitive.iter().map(|(_, spec)| spec.categories.clone()).collect();
    adversary.suppression = skewed::skewed(case, request, progress)?;

    let (mut attacked, mut skipped) = (Vec::new(), Vec::new());
    for (card, threshold) in chosen {
        progress.step(card.name, None);
        let adversary = on_values.as_ref().filter(|_| card.subject == Subject::Values);
        let mut answer = (card.run)(adversary.unwrap_or(&on_people), threshold, progress)?;
        if adversary.is_some() {
            // The groups of the report are those of the first table.
            answer.findings.iter_mut().for_each(|finding| finding.by_group.clear());
        }
        attacked.extend(answer.findings.into_iter().map(|finding| judged(request, card, finding)));
        skipped.extend(answer.skipped);
    }
    check_limits_apply(request, &attacked, &skipped)?;
    let (groups, quasi) = (on_people.release.groups.clone(), views.quasi.len());
    let counted = std::mem::take(&mut on_people.release.counted);
    drop((on_people, on_values));
    let csv_safe = case.manifest.as_ref().is_some_and(|manifest| manifest.job.csv_safe);
    let release = views.people;
    Ok(AttackReport { attacked, skipped, release, counted, groups, quasi, csv_safe })
}

/// Returns a note about the unmodified columns, if some were not examined or persons are unknown.
fn note_on(views: &Views, by_records: bool) -> Option<String> {
    let folded = |name: &String| views.people.columns.iter().any(|own| own.name == *name);
    let absent = views.record_values.table.columns.iter().map(|column| &column.name);
    let absent: Vec<&str> = absent.filter(|name| !folded(name)).map(String::as_str).collect();
    if views.record_values.once.is_some() && !absent.is_empty() {
        return Some(format!(
            "not examined, because only counts leave the system that stores them: {}",
            absent.join(", ")
        ));
    }
    by_records
        .then(|| "records are counted: the persons of passthrough columns are unknown".to_owned())
}

/// Returns the unmodified columns record by record, with the persons if known.
fn unmodified_columns(case: &Case, views: &Views) -> RecordValues {
    let unlinkable = case.unlinkable();
    let wanted = |name: &str| !unlinkable.iter().any(|own| own == name);
    if let Some((values, _)) = &views.values {
        return expanded(values, 1, &wanted);
    }
    let known = |name: &String| views.people.columns.iter().any(|own| own.name == *name);
    let own = views.record_values.table.columns.iter().map(|column| &column.name);
    let by_person = views.people.persons.as_ref().is_some_and(|persons| persons.repeated);
    // Single records of a table in another system are not available, but those of the folded
    // columns follow from the fold.
    if views.record_values.once.is_some() || by_person && own.into_iter().all(known) {
        return expanded(&views.people, views.quasi.len(), &wanted);
    }
    views.record_values.clone()
}

/// Refuses a limit on an attack that was not run. It would hold without having been checked.
fn check_limits_apply(
    request: &AttackRequest,
    attacked: &[Attacked],
    skipped: &[Skipped],
) -> Result<()> {
    for limit in &request.limits {
        if attacked.iter().all(|a| a.finding.attack != limit.attack) {
            let why = skipped.iter().find(|s| s.attack == limit.attack).map(|s| s.why.as_str());
            let name = &limit.attack;
            return Err(Error::job(format!("`{name}` has a limit, but it was not run")).help(
                why.map_or_else(
                    || format!("add {name} to `[attack] only`"),
                    |why| format!("{name} {why}"),
                ),
            ));
        }
    }
    Ok(())
}

/// Returns the definitions of outliers: of the request, otherwise of the models of the release.
fn outlier_settings(
    models: &[ModelJob],
    request: &AttackRequest,
    sensitive: &[&str],
) -> Result<Vec<Settings>> {
    let stated = request.outliers.iter().cloned();
    let given: Vec<(&str, Vec<(String, Value)>)> = if request.outliers.is_empty() {
        let knows =
            |name: &str| MODELS.iter().any(|c| c.name == name && c.needs.contains(&Need::Region));
        let models = models.iter().filter(|model| knows(&model.name));
        models.map(|model| (model.name.as_str(), model.params.clone())).collect()
    } else {
        vec![("plain-k-anonymity", stated.chain([("k".to_owned(), Value::Integer(1))]).collect())]
    };
    let privacy_models =
        given.into_iter().map(|(name, params)| PrivacyModel::about(name, params, sensitive));
    let privacy_models = privacy_models.collect::<Result<Vec<_>>>()?;
    Ok(privacy_models
        .iter()
        .filter_map(|privacy_model| privacy_model.model.outlier_settings().cloned())
        .collect())
}

/// Returns the attacks to run, each with its threshold.
fn chosen(request: &AttackRequest) -> Result<Vec<(&'static Card, f64)>> {
    for name in request.only.iter().chain(request.limits.iter().map(|limit| &limit.attack)) {
        Card::find(name)?;
    }
    for (name, _) in &request.thresholds {
        Card::find(name)?;
    }
    let mut chosen = Vec::new();
    for card in ATTACKS {
        let unasked = request.only.is_empty() && !attack::ON_REQUEST.contains(&card.name);
        if unasked || request.only.iter().any(|name| name == card.name) {
            let given =
                request.thresholds.iter().find(|(name, _)| name == card.name).map(|(_, x)| *x);
            chosen.push((*card, card.threshold(given)?));
        }
    }
    Ok(chosen)
}

fn epsilon(request: &AttackRequest, sensitive: &[&str]) -> Result<BTreeMap<String, Epsilon>> {
    for (name, epsilon) in &request.epsilon {
        if !sensitive.contains(&name.as_str()) {
            return Err(Error::job(format!(
                "an epsilon is given for `{name}`, which is not a sensitive column"
            ))
            .help_near(name, sensitive.iter().copied()));
        }
        let sound = match epsilon {
            Epsilon::Absolute(x) => x.is_finite() && *x >= 0.0,
            Epsilon::Relative(x) => (0.0..1.0).contains(x),
        };
        if !sound {
            return Err(Error::job(format!("the epsilon of `{name}` is not a number from 0 on"))
                .help("write an amount such as 500, or a percentage below 100 such as 5%"));
        }
    }
    Ok(request.epsilon.iter().cloned().collect())
}

fn judged(request: &AttackRequest, card: &Card, finding: Finding) -> Attacked {
    let limits = request.limits.iter().filter(|limit| limit.attack == card.name).map(|limit| {
        let quantity = limit.quantity.unwrap_or(card.limit);
        let have = finding.quantity(quantity);
        LimitJudged { quantity, most: limit.most, have, holds: have <= limit.most }
    });
    let limits = limits.collect();
    Attacked { finding, limits }
}
