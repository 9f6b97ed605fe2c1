//! Expands a sweep into configurations.
//!
//! A model is written `NAME:PARAM=VALUE,…`. Models joined by `+` must all hold. Values separated by
//! `|` are tried one after the other. A model with a parameter k gets every k of the sweep unless
//! it sets its own. A model without k is combined with k-anonymity.

use incrowd_core::model::{MODELS, PrivacyModel};
use incrowd_core::{Error, Param, ParamKind, Result, Value};
use incrowd_recode::ALGORITHMS;

use crate::job::{AlgorithmJob, CompareJob, Job, ModelJob, RoleName};

/// One configuration.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) job: Job,
    /// The algorithm with its options.
    pub(super) algorithm: String,
    /// The models with their parameters.
    pub(super) models: String,
}

/// The default algorithms.
pub(crate) const DEFAULT_ALGORITHMS: [&str; 3] = ["auto:metric=ncp", "mondrian", "top-down"];
pub(crate) const DEFAULT_K: [u64; 5] = [2, 5, 10, 20, 50];
/// The maximum number of configurations. More would take too long and are probably a mistake.
const MOST: usize = 10_000;

/// Returns every configuration in the requested order: by algorithm, then by models, then by k.
pub(super) fn plans(job: &Job, sweep: &CompareJob) -> Result<Vec<Plan>> {
    let default = || DEFAULT_ALGORITHMS.map(str::to_owned).to_vec();
    let given = if sweep.algorithms.is_empty() { default() } else { sweep.algorithms.clone() };
    let mut algorithms = Vec::new();
    for text in &given {
        algorithms.extend(algorithm(text, job).map_err(|e| e.at("compare.algorithms"))?);
    }
    let ks = if sweep.k.is_empty() { DEFAULT_K.to_vec() } else { sweep.k.clone() };
    let mut sets: Vec<Vec<ModelJob>> = Vec::new();
    match (sweep.models.is_empty(), job.models.is_empty()) {
        (true, true) => {
            sets.push(vec![ModelJob { name: "k-anonymity".into(), params: Vec::new() }])
        }
        (true, false) => sets.push(job.models.iter().map(without_k).collect()),
        (false, _) => {
            for text in &sweep.models {
                sets.extend(models(text).map_err(|e| e.at("compare.models"))?);
            }
        }
    }
    let limits = match sweep.suppression_limits.is_empty() {
        true => vec![job.algorithm.suppression_limit],
        false => sweep.suppression_limits.clone(),
    };
    let roles = job.roles();
    let sensitive = roles.named(RoleName::Sensitive);
    let mut plans: Vec<Plan> = Vec::new();
    for method in &algorithms {
        for set in &sets {
            for &limit in &limits {
                for &k in &ks {
                    let mut own = job.clone();
                    (own.compare, own.output) = (None, None);
                    own.models = with_k(set, k);
                    own.algorithm = AlgorithmJob { suppression_limit: limit, ..method.clone() };
                    let algorithm = algorithm_title(&own.algorithm, limits.len() > 1);
                    let models = models_title(&own.models, &sensitive)?;
                    // A set whose models all set their own k is one configuration for every k of
                    // the sweep.
                    if !plans.iter().any(|p| p.algorithm == algorithm && p.models == models) {
                        plans.push(Plan { job: own, algorithm, models });
                    }
                }
            }
        }
    }
    if plans.len() > MOST {
        return Err(Error::job(format!(
            "the sweep has {} configurations, more than {MOST}",
            plans.len()
        ))
        .at("compare"));
    }
    Ok(plans)
}

fn without_k(model: &ModelJob) -> ModelJob {
    let params = model.params.iter().filter(|(name, _)| name != "k").cloned().collect();
    ModelJob { name: model.name.clone(), params }
}

fn knows_k(model: &ModelJob) -> bool {
    MODELS.iter().any(|card| card.name == model.name && card.params.iter().any(|p| p.name == "k"))
}

fn with_k(set: &[ModelJob], k: u64) -> Vec<ModelJob> {
    let of_k = || ("k".to_owned(), Value::Integer(i64::try_from(k).unwrap_or(i64::MAX)));
    let mut models: Vec<ModelJob> = Vec::new();
    if !set.iter().any(knows_k) {
        models.push(ModelJob { name: "k-anonymity".into(), params: vec![of_k()] });
    }
    for model in set {
        let mut model = model.clone();
        if knows_k(&model) && !model.params.iter().any(|(name, _)| name == "k") {
            model.params.push(of_k());
        }
        models.push(model);
    }
    models
}

/// Returns the models with the given parameters, without defaults.
fn models_title(models: &[ModelJob], sensitive: &[&str]) -> Result<String> {
    let title = |m: &ModelJob| {
        PrivacyModel::about(&m.name, m.params.clone(), sensitive)?;
        let params: Vec<String> =
            m.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(if params.is_empty() {
            m.name.clone()
        } else {
            format!("{}({})", m.name, params.join(", "))
        })
    };
    let titles = models.iter().map(title).collect::<Result<Vec<_>>>();
    Ok(titles.map_err(|e| e.at("compare.models"))?.join(" + "))
}

fn algorithm_title(algorithm: &AlgorithmJob, with_limit: bool) -> String {
    let mut options: Vec<String> =
        algorithm.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if with_limit {
        options.push(format!("suppression_limit={}", algorithm.suppression_limit));
    }
    if options.is_empty() {
        algorithm.name.clone()
    } else {
        format!("{}({})", algorithm.name, options.join(", "))
    }
}

/// Parameters with all the values to try.
type Tries = Vec<(String, Vec<Value>)>;

/// Parses `PARAM=VALUE|VALUE,…`. A piece without `=` continues the list before it.
fn written(text: &str, known: &[Param]) -> Result<Tries> {
    let mut tries: Tries = Vec::new();
    let mut pieces: Vec<String> = Vec::new();
    for piece in text.split(',').filter(|piece| !piece.is_empty()) {
        match pieces.last_mut() {
            Some(last) if !piece.contains('=') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => pieces.push(piece.to_owned()),
        }
    }
    for piece in pieces {
        let Some((name, words)) = piece.split_once('=') else {
            return Err(Error::job(format!("`{piece}`: write NAME:PARAMETER=VALUE")));
        };
        let name = name.trim();
        let kind = known.iter().find(|p| p.name == name).map_or(ParamKind::Flag, |p| p.kind);
        let values = words.split('|').map(|word| Value::from_word(word.trim(), kind)).collect();
        tries.push((name.to_owned(), values));
    }
    Ok(tries)
}

/// Returns all combinations of one value per parameter. The last parameter varies fastest.
fn each(tries: &Tries) -> Vec<Vec<(String, Value)>> {
    let mut all: Vec<Vec<(String, Value)>> = vec![Vec::new()];
    for (name, values) in tries {
        let longer = |before: &Vec<(String, Value)>| {
            let with =
                |value: &Value| [before.clone(), vec![(name.clone(), value.clone())]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn algorithm(text: &str, job: &Job) -> Result<Vec<AlgorithmJob>> {
    let (name, params) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    let Some(card) = ALGORITHMS.iter().find(|card| card.name == name) else {
        let known = ALGORITHMS.iter().map(|card| card.name);
        return Err(
            Error::job(format!("there is no algorithm `{name}` to compare")).help_near(name, known)
        );
    };
    if card.name == incrowd_recode::anatomy::CARD.name {
        return Err(Error::job(
            "`anatomy` publishes two linked tables, whose cost is not that of generalized cells",
        )
        .help("compare algorithms that make one table"));
    }
    let of = |params| AlgorithmJob { name: name.to_owned(), params, ..job.algorithm.clone() };
    // The job's own options apply to its own algorithm.
    if params.is_empty() && job.algorithm.name == name {
        return Ok(vec![job.algorithm.clone()]);
    }
    let tries = written(params, card.params)?;
    for params in each(&tries) {
        incrowd_recode::Method::new(name, params)?;
    }
    Ok(each(&tries).into_iter().map(of).collect())
}

fn models(text: &str) -> Result<Vec<Vec<ModelJob>>> {
    let mut sets: Vec<Vec<ModelJob>> = vec![Vec::new()];
    for part in text.split('+') {
        let (name, params) = part.trim().split_once(':').unwrap_or((part.trim(), ""));
        let Some(card) = MODELS.iter().find(|card| card.name == name) else {
            let known = MODELS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no model `{name}`")).help_near(name, known));
        };
        let ways = each(&written(params, card.params)?);
        let model = |params: &Vec<(String, Value)>| ModelJob {
            name: name.to_owned(),
            params: params.clone(),
        };
        let longer = |set: &Vec<ModelJob>| {
            ways.iter()
                .map(|params| [set.clone(), vec![model(params)]].concat())
                .collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(job: &Job, sweep: &CompareJob) -> Vec<String> {
        plans(job, sweep).unwrap().iter().map(|p| format!("{} {}", p.algorithm, p.models)).collect()
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    fn job() -> Job {
        let mut job = Job::default();
        job.set_role("age", RoleName::Quasi);
        job.set_role("disease", RoleName::Sensitive);
        job
    }

    #[test]
    fn three_times_five_times_three() {
        let sweep = CompareJob {
            algorithms: words(&["mondrian", "top-down", "full-domain:search=fast"]),
            k: vec![2, 3, 4, 5, 6],
            models: words(&["k-anonymity", "l-diversity:l=2", "p-sensitive:p=2"]),
            ..CompareJob::default()
        };
        let all = titles(&job(), &sweep);
        assert_eq!(all.len(), 45);
        assert_eq!(all[0], "mondrian k-anonymity(k=2)");
        assert!(all[5].starts_with("mondrian k-anonymity(k=2) + l-diversity("), "{}", all[5]);
        // A model with a parameter k is not combined with k-anonymity.
        assert!(
            all[10].starts_with("mondrian p-sensitive(") && !all[10].contains("k-anonymity("),
            "{}",
            all[10]
        );
        assert!(all[44].starts_with("full-domain(search=fast)"), "{}", all[44]);
    }

    #[test]
    fn bars_separate_alternatives_and_pluses_combine_models() {
        let sweep = CompareJob {
            algorithms: words(&["mondrian"]),
            k: vec![2, 5],
            models: words(&["k-anonymity:k=7", "l-diversity:l=2|3+t-closeness:t=0.2|0.4"]),
            ..CompareJob::default()
        };
        let all = titles(&job(), &sweep);
        // One with its own k, then 2 × 2 × 2.
        assert_eq!(all.len(), 1 + 8);
        assert_eq!(all[0], "mondrian k-anonymity(k=7)");
    }

    #[test]
    fn by_default_the_models_of_the_job_are_swept() {
        let mut job = job();
        job.add_model("k-anonymity", [("k", Value::Integer(99))]);
        let sweep =
            CompareJob { algorithms: words(&["mondrian"]), k: vec![2, 5], ..CompareJob::default() };
        assert_eq!(
            titles(&job, &sweep),
            ["mondrian k-anonymity(k=2)", "mondrian k-anonymity(k=5)"]
        );
    }

    #[test]
    fn unknown_names_are_refused() {
        for (algorithms, models) in
            [(words(&["mondrain"]), vec![]), (vec![], words(&["k-anonimity"]))]
        {
            let sweep = CompareJob { algorithms, models, ..CompareJob::default() };
            let error = plans(&job(), &sweep).unwrap_err();
            assert!(error.advice().is_some_and(|help| help.contains("did you mean")), "{error:?}");
        }
        let sweep = CompareJob { models: words(&["l-diversity:m=2"]), ..CompareJob::default() };
        assert!(plans(&job(), &sweep).is_err());
    }
}
