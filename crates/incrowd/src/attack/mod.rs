//! Attacking a published table: what would an adversary learn?

mod private;
mod report;
mod skewed;
mod tables;

use std::collections::BTreeMap;

use incrowd_audit::attack::{
    self, ATTACKS, Adversary, AsItIs, Card, Epsilon, External, Finding, Published, Quantity, Skipped, Subject,
};
use incrowd_core::model::{MODELS, Need, Promise};
use incrowd_core::outlier::Settings;
use incrowd_core::{Error, Progress, Result, Value};
use incrowd_engine::Seen;

use crate::as_it_is::expanded;
use crate::behind::Behind;
use crate::case::Case;
use crate::job::{ModelJob, Table};
use crate::judging::Judging;
use crate::publication::Views;
use tables::{Reading, Second};

pub use private::Exposed;
pub use report::{AttackReport, Attacked, LimitJudged};

/// With what a release shall be attacked, and what must not be exceeded.
#[derive(Clone, Debug, Default)]
pub struct AttackRequest {
    /// A table of people with names or other details.
    pub external: Option<Table>,
    /// Another release about some of the same people. What is left empty is asked of its manifest, else of the first release.
    pub second: Option<Judging>,
    /// The attacks to run; empty means all.
    pub only: Vec<String>,
    /// Who counts as at risk, by attack.
    pub thresholds: Vec<(String, f64)>,
    /// What must not be exceeded.
    pub limits: Vec<Limit>,
    /// How near a guess must come, by sensitive column.
    pub epsilon: Vec<(String, Epsilon)>,
    /// What an outlier is, as parameters of plain-k-anonymity; where nothing is said, the promises of the release are asked.
    pub outliers: Vec<(String, Value)>,
    /// How records were withheld, if the manifest does not say: a method with its parameters.
    pub suppression: Option<(String, Vec<(String, Value)>)>,
    /// How many records the table had, where the manifest does not say.
    pub original_size: Option<u64>,
    /// Whether the adversary knows the counts of the original's sensitive values, though not whose they are.
    pub counts_known: bool,
}

/// A number that must not be exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The attack.
    pub attack: String,
    /// Which of its numbers; `None` is the one its card names.
    pub quantity: Option<Quantity>,
    /// The greatest value allowed.
    pub most: f64,
}

/// Runs the attacks that apply to the release. What the adversary may have beside it is in the judging (a population, the
/// original) and in the request.
pub fn attack(judging: &Judging, request: &AttackRequest, progress: &dyn Progress) -> Result<AttackReport> {
    attack_case(&Case::open(judging)?, request, progress)
}

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
    // Whoever gave the original for another attack need not have the hierarchies for those that look into it.
    let readable = !settings.is_empty() || case.need_hierarchies().is_ok();
    let original = judging.original.as_ref().filter(|_| wanted && readable);
    let joins = judging.population.is_some() || request.external.is_some() || request.second.is_some();
    if joins || original.is_some() {
        case.need_hierarchies()?;
    }
    let epsilon = epsilon(request, &case.reading.sensitive_names())?;
    let mut views = case.publication.views(case, progress)?;
    // The cells of two tables also cover people whom the original does not have.
    let original = original.filter(|_| !settings.is_empty() || views.values.is_none());
    let persons_unknown = match crate::behind::find(case, &mut views.people, progress)? {
        Behind::Unknown(why) => Some(why),
        _ => None,
    };
    if views.people.records() == 0 {
        return Err(Error::input("the release has no records"));
    }
    let tables = Reading { case, progress };
    // Sensitive values of a population say something only where people and values stand in one table.
    let also = if views.values.is_none() { case.reading.sensitive_names() } else { Vec::new() };
    let people = judging.population.is_some() || request.external.is_some();
    let second = request.second.as_ref().map(|second| tables.second(second, people)).transpose()?;
    // Whoever has another release as well looks for people in it by what it tells of them.
    let more: Vec<&str> = second.iter().flat_map(Second::quasi).collect();
    let also: Vec<&str> = also.into_iter().chain(more.iter().copied()).collect();
    let population = judging.population.as_ref().map(|p| tables.table(&p.table(), "population", &also));
    let population = population.transpose().map_err(|e| e.at("population.path"))?;
    let external = request.external.as_ref();
    let external = external.map(|table| tables.table(table, "external table", &more));
    let external = external.transpose()?;
    let original = original
        .map(|original| case.reading.encode_original(case.reading.fold_original(original, progress)?));
    let original = original.transpose()?;

    let seen = published_as_it_is(case, &views);
    let missing = &case.reading.missing;
    let mut on_people = Adversary::new(Published::new(&views.people, &views.quasi), missing);
    on_people.persons_unknown = persons_unknown;
    on_people.set_population(population.as_ref().map(|other| &other.table));
    on_people.external =
        external.as_ref().map(|other| External { table: &other.table, further: other.further });
    on_people.second = second.as_ref().map(|second| Published::new(&second.table, &second.specs));
    on_people.original = original.as_ref().map(|data| (data, settings.as_slice()));
    // A person's records differ in what is passed through, and which of them is which is not known afterwards.
    let by_records = views.people.persons.as_ref().is_some_and(|p| p.repeated) && seen.persons.is_none();
    on_people.as_it_is = Some(AsItIs {
        table: &seen.table,
        persons: seen.persons.as_deref(),
        unlinkable: case.unlinkable(),
        note: note_on(&views, by_records || on_people.persons_unknown.is_some()),
    });
    if chosen.iter().any(|(card, _)| card.needs.contains(&attack::Need::Weights)) {
        on_people.weighed = crate::weights::weighed(case, &views.people, progress)?;
    }
    case.publication.inform(case, &views, &mut on_people);
    let on_values = views.values.as_ref();
    let mut on_values = on_values.map(|(table, specs)| Adversary::new(Published::new(table, specs), missing));
    let scene = on_values.as_mut().unwrap_or(&mut on_people);
    scene.epsilon = epsilon;
    scene.kinds = case.reading.sensitive.iter().map(|(_, spec)| spec.kind).collect();
    scene.categories = case.reading.sensitive.iter().map(|(_, spec)| spec.categories.clone()).collect();
    scene.skewed = skewed::skewed(case, request, progress)?;

    let (mut attacked, mut skipped) = (Vec::new(), Vec::new());
    for (card, threshold) in chosen {
        progress.step(card.name, None);
        let scene = on_values.as_ref().filter(|_| card.subject == Subject::Values);
        let mut answer = (card.run)(scene.unwrap_or(&on_people), threshold, progress)?;
        if scene.is_some() {
            // The groups of the report are those of the people.
            answer.findings.iter_mut().for_each(|finding| finding.by_group.clear());
        }
        attacked.extend(answer.findings.into_iter().map(|finding| judged(request, card, finding)));
        skipped.extend(answer.skipped);
    }
    limits_were_asked(request, &attacked, &skipped)?;
    let (groups, quasi) = (on_people.release.groups.clone(), views.quasi.len());
    drop((on_people, on_values));
    Ok(AttackReport { attacked, skipped, release: views.people, groups, quasi })
}

/// What should be known of columns that are published as they are.
fn note_on(views: &Views, by_records: bool) -> Option<String> {
    let folded = |name: &String| views.people.columns.iter().any(|own| own.name == *name);
    let held = views.seen.table.columns.iter().map(|column| &column.name);
    let held: Vec<&str> = held.filter(|name| !folded(name)).map(String::as_str).collect();
    if views.seen.once.is_some() && !held.is_empty() {
        return Some(format!(
            "not looked at, because only counts leave the system that holds them: {}",
            held.join(", ")
        ));
    }
    by_records
        .then(|| "records are counted: whose they are is not known of what is passed through".to_owned())
}

/// What is published as it is, record by record: by person where that is known.
fn published_as_it_is(case: &Case, views: &Views) -> Seen {
    let unlinkable = case.unlinkable();
    let wanted = |name: &str| !unlinkable.iter().any(|own| own == name);
    if let Some((values, _)) = &views.values {
        return expanded(values, 1, &wanted);
    }
    let known = |name: &String| views.people.columns.iter().any(|own| own.name == *name);
    let own = views.seen.table.columns.iter().map(|column| &column.name);
    let by_person = views.people.persons.as_ref().is_some_and(|persons| persons.repeated);
    // Of a table that another system holds single records are not known, but those of the folded columns follow from it.
    if views.seen.once.is_some() || by_person && own.into_iter().all(known) {
        return expanded(&views.people, views.quasi.len(), &wanted);
    }
    views.seen.clone()
}

/// A limit on an attack that was not run would hold without having been looked at.
fn limits_were_asked(request: &AttackRequest, attacked: &[Attacked], skipped: &[Skipped]) -> Result<()> {
    for limit in &request.limits {
        if attacked.iter().all(|a| a.finding.attack != limit.attack) {
            let why = skipped.iter().find(|s| s.attack == limit.attack).map(|s| s.why.as_str());
            let name = &limit.attack;
            return Err(Error::job(format!("`{name}` has a limit, but it was not run")).help(
                why.map_or_else(|| format!("add {name} to `[attack] only`"), |why| format!("{name} {why}")),
            ));
        }
    }
    Ok(())
}

/// What an outlier is: what the request says, else what the promises of the release say.
fn outlier_settings(
    models: &[ModelJob],
    request: &AttackRequest,
    sensitive: &[&str],
) -> Result<Vec<Settings>> {
    let stated = request.outliers.iter().cloned();
    let given: Vec<(&str, Vec<(String, Value)>)> = if request.outliers.is_empty() {
        let knows = |name: &str| MODELS.iter().any(|c| c.name == name && c.needs.contains(&Need::Region));
        let models = models.iter().filter(|model| knows(&model.name));
        models.map(|model| (model.name.as_str(), model.params.clone())).collect()
    } else {
        vec![("plain-k-anonymity", stated.chain([("k".to_owned(), Value::Integer(1))]).collect())]
    };
    let promises = given.into_iter().map(|(name, params)| Promise::about(name, params, sensitive));
    let promises = promises.collect::<Result<Vec<_>>>()?;
    Ok(promises.iter().filter_map(|promise| promise.model.outlier_settings().cloned()).collect())
}

/// The attacks to run, each with its threshold.
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
            let given = request.thresholds.iter().find(|(name, _)| name == card.name).map(|(_, x)| *x);
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
