//! Arguments that are no keys of a job: what is measured, who attacks, what a profile looks at.

use std::path::PathBuf;

use incrowd::job::keys::Command::{self, Attack, Batches, Init, Measure, Profile, Report, Verify};
use incrowd::job::{Input, Job, JobBuilder, RoleName};
use incrowd::profile::{InitOptions, Preset};
use incrowd::risk::population::Sampling;
use incrowd::utility::Workload;
use incrowd::{Ask, AttackRequest, Epsilon, Error, Limit, ProfileOptions, Quantity, Result, Value};
use serde_json::{Map, Value as Json};

use crate::arguments::Asked;

/// What such an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Names,
    Text,
    Flag,
    Count,
    Number,
    File,
    /// A table in memory or in a file.
    Table,
    /// A release, or a table that somebody published, in memory or in a file.
    Release,
    /// Numbers by name.
    Numbers,
    /// Amounts or percentages by column.
    Amounts,
    /// Parameters by name.
    Params,
    /// A method with its parameters.
    Method,
}

/// An argument that is no key of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
    pub(crate) on: &'static [Command],
}

const fn request(name: &'static str, takes: Takes, on: &'static [Command], about: &'static str) -> Request {
    Request { name, takes, default: "", about, on }
}

const MEASURES: &[Command] = &[Measure, Report];

/// All of them.
pub(crate) const REQUESTS: &[Request] = &[
    request("only", Takes::Names, &[Measure, Attack], "Only these measures or attacks (see `explain`)"),
    request("pairs", Takes::Flag, MEASURES, "Measure every pair of columns too"),
    Request {
        default: "1000",
        ..request("queries", Takes::Count, MEASURES, "How many random count queries to ask")
    },
    Request {
        default: "1",
        ..request(
            "seed",
            Takes::Count,
            MEASURES,
            "Which queries and which sample: the same seed draws the same",
        )
    },
    Request {
        default: "0.05",
        ..request(
            "selectivity",
            Takes::Number,
            MEASURES,
            "The share of the records a query selects if they lie evenly",
        )
    },
    Request {
        default: "3",
        ..request("dimensions", Takes::Count, MEASURES, "How many quasi-identifiers a query has ranges on")
    },
    request(
        "target",
        Takes::Text,
        MEASURES,
        "The column to predict, if not the first sensitive one with 2 to 32 values",
    ),
    request("external", Takes::Table, &[Attack], "A table of people with names or other details"),
    request(
        "second",
        Takes::Release,
        &[Attack],
        "Another release about some of the same people: a release, a DataFrame, or the path of a file",
    ),
    request(
        "outliers",
        Takes::Params,
        &[Attack, Profile],
        "What an outlier is, in the parameters of plain-k-anonymity",
    ),
    request(
        "epsilon",
        Takes::Amounts,
        &[Attack],
        "How near a guess of a number must come: {\"income\": 500} or \"5%\"",
    ),
    request(
        "suppression",
        Takes::Method,
        &[Attack],
        "How records were withheld, if the manifest does not say",
    ),
    request(
        "original_size",
        Takes::Count,
        &[Attack],
        "How many records the table had before some were withheld",
    ),
    request("threshold", Takes::Numbers, &[Attack], "Who counts as at risk: {\"homogeneity\": 0.8}"),
    request("limit", Takes::Numbers, &[Attack], "What must not be exceeded: {\"prosecutor\": 0.1}"),
    request(
        "details",
        Takes::File,
        &[Attack],
        "Write every released row with its risks to a CSV file: not for publication",
    ),
    request(
        "check",
        Takes::File,
        &[Verify],
        "The key that the manifest must be signed with (`sign`): without such a signature the check fails",
    ),
    request("quasi", Takes::Names, &[Profile], "The quasi-identifiers on which uniqueness is measured"),
    request("columns", Takes::Names, &[Profile], "Look at these columns only"),
    Request {
        default: "0.05",
        ..request(
            "share",
            Takes::Number,
            &[Profile],
            "The share of records that must be unique on a set of columns",
        )
    },
    request(
        "max_columns",
        Takes::Count,
        &[Profile],
        "How many columns such a set has at most: 3, fewer for very large tables",
    ),
    request(
        "population_size",
        Takes::Count,
        &[Profile],
        "How many people the population has that the table is a sample of",
    ),
    request("sampling_fraction", Takes::Number, &[Profile], "Which share of the population the table is"),
    Request { default: "releases", ..request("dir", Takes::File, &[Batches], "Where the releases go") },
    request(
        "same_people",
        Takes::Flag,
        &[Batches],
        "Join each release with the one before it, as if people were in both",
    ),
    Request { default: "job.toml", ..request("output", Takes::File, &[Init], "The job file") },
    Request { default: "10", ..request("k", Takes::Count, &[Init], "How many records a group has at least") },
    request(
        "preset",
        Takes::Text,
        &[Init],
        "What a rule or a custom asks of columns: `hipaa` (Safe Harbor) or `public-use`",
    ),
    request("force", Takes::Flag, &[Init], "Replace the job file if it is there"),
];

/// Those of a command.
pub(crate) fn requests_of(command: Command) -> impl Iterator<Item = &'static Request> {
    REQUESTS.iter().filter(move |request| request.on.contains(&command))
}

fn refuse(name: &str, takes: &str) -> Error {
    Error::job(format!("`{name}` takes {takes}"))
}

impl Asked {
    fn names(&self, name: &str) -> Result<Vec<String>> {
        let names = match self.get(name) {
            None => Some(Vec::new()),
            Some(Json::String(one)) => Some(vec![one.clone()]),
            Some(Json::Array(all)) => all.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
            Some(_) => None,
        };
        names.ok_or_else(|| refuse(name, "a name or a list of names"))
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        let text = |given: &Json| given.as_str().map(str::to_owned).ok_or_else(|| refuse(name, "a text"));
        self.get(name).map(text).transpose()
    }

    pub(crate) fn path(&self, name: &str) -> Result<Option<PathBuf>> {
        Ok(self.text(name).map_err(|_| refuse(name, "the path of a file"))?.map(PathBuf::from))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        let flag = |given: &Json| given.as_bool().ok_or_else(|| refuse(name, "True or False"));
        self.get(name).map_or(Ok(false), flag)
    }

    fn count(&self, name: &str) -> Result<Option<u64>> {
        let count = |given: &Json| given.as_u64().ok_or_else(|| refuse(name, "a whole number, 0 or more"));
        self.get(name).map(count).transpose()
    }

    fn number(&self, name: &str) -> Result<Option<f64>> {
        let number = |given: &Json| given.as_f64().ok_or_else(|| refuse(name, "a number"));
        self.get(name).map(number).transpose()
    }

    fn table(&self, name: &str, takes: &str) -> Result<Map<String, Json>> {
        let table = |given: &Json| given.as_object().cloned().ok_or_else(|| refuse(name, takes));
        self.get(name).map_or_else(|| Ok(Map::new()), table)
    }

    fn numbers(&self, name: &str) -> Result<Vec<(String, f64)>> {
        let takes = "numbers by name";
        let number = |(key, value): (String, Json)| match value.as_f64() {
            Some(x) if x >= 0.0 => Ok((key, x)),
            _ => Err(refuse(name, takes)),
        };
        self.table(name, takes)?.into_iter().map(number).collect()
    }

    /// What to measure.
    pub(crate) fn measures(&self) -> Result<Ask> {
        let usual = Workload::default();
        let whole = |name: &str, usual: usize, most: u64| match self.count(name)? {
            None => Ok(usual),
            Some(n) if (1..=most).contains(&n) => Ok(n as usize),
            Some(_) => Err(refuse(name, &format!("a whole number from 1 to {most}"))),
        };
        let workload = Workload {
            queries: whole("queries", usual.queries, 1_000_000)?,
            seed: self.count("seed")?.unwrap_or(usual.seed),
            selectivity: self.number("selectivity")?.unwrap_or(usual.selectivity),
            dimensions: whole("dimensions", usual.dimensions, u64::from(u32::MAX))?,
        };
        let only = self.names("only")?;
        Ok(Ask { only, pairs: self.flag("pairs")?, workload, target: self.text("target")? })
    }

    /// With what to attack.
    pub(crate) fn attacks(&self) -> Result<AttackRequest> {
        let outliers = self.outliers()?.unwrap_or_default();
        let suppression = self.get("suppression").map(method).transpose()?;
        Ok(AttackRequest {
            external: self.any_table("external")?,
            second: self.release("second"),
            only: self.names("only")?,
            thresholds: self.numbers("threshold")?,
            limits: self.numbers("limit")?.into_iter().map(limit).collect::<Result<_>>()?,
            epsilon: self
                .table("epsilon", "amounts by column")?
                .iter()
                .map(epsilon)
                .collect::<Result<_>>()?,
            outliers,
            suppression,
            original_size: self.count("original_size")?,
            counts_known: false,
        })
    }

    /// What an outlier is.
    pub(crate) fn outliers(&self) -> Result<Option<Vec<(String, Value)>>> {
        let given = self.get("outliers").map(|_| self.table("outliers", "parameters by name")).transpose()?;
        given.map(|params| model("plain-k-anonymity", &params)).transpose()
    }

    /// What a job file is made from.
    #[allow(clippy::needless_update, reason = "what else there may be to ask is left as it is")]
    pub(crate) fn init(&self, job: Job) -> Result<InitOptions> {
        let roles = job.columns.into_iter().map(|(name, column)| (name, column.role)).collect();
        let k = self.count("k")?.unwrap_or(10);
        let file = self.path("output")?.unwrap_or_else(|| PathBuf::from("job.toml"));
        let preset = self.text("preset")?.map(|name| {
            let found = Preset::ALL.iter().find(|(known, _)| *known == name).map(|(_, preset)| *preset);
            let known = Preset::ALL.iter().map(|(known, _)| *known);
            found.ok_or_else(|| Error::job(format!("there is no preset `{name}`")).help_near(&name, known))
        });
        Ok(InitOptions {
            input: job.input,
            roles,
            k,
            job: file,
            preset: preset.transpose()?,
            ..InitOptions::default()
        })
    }

    /// What to look at.
    pub(crate) fn profile(&self, input: Input) -> Result<ProfileOptions> {
        let usual = ProfileOptions::default();
        let sampling = match (self.count("population_size")?, self.number("sampling_fraction")?) {
            (Some(_), Some(_)) => {
                return Err(Error::job("`population_size` and `sampling_fraction` cannot be given together"));
            }
            (Some(size), None) => Some(Sampling::PopulationSize(size)),
            (None, fraction) => fraction.map(Sampling::Fraction),
        };
        Ok(ProfileOptions {
            input,
            columns: self.names("columns")?,
            quasi: self.names("quasi")?,
            sampling,
            share: self.number("share")?.unwrap_or(usual.share),
            most: self.count("max_columns")?.map(|n| n as usize),
            ..usual
        })
    }
}

/// A job to count outliers by: on the quasi-identifiers that the profile measured uniqueness on, and the sensitive column that is
/// meant.
pub(crate) fn on_the_same_columns(
    mut job: Job,
    profile: &incrowd::Profile,
    params: &[(String, Value)],
) -> Job {
    let on = params.iter().find(|(name, _)| name == "on").map(|(_, value)| value.to_string());
    let proposed = profile.columns.iter().filter(|column| column.proposal.role == RoleName::Sensitive);
    let sensitive = on.map_or_else(|| proposed.map(|column| column.name.clone()).collect(), |on| vec![on]);
    let measured =
        profile.uniqueness.iter().flat_map(|u| &u.columns).map(|&c| profile.columns[c].name.clone());
    let quasi: Vec<String> = measured.filter(|name| !sensitive.contains(name)).collect();
    quasi.iter().for_each(|name| job.set_role(name, RoleName::Quasi));
    sensitive.iter().for_each(|name| job.set_role(name, RoleName::Sensitive));
    job
}

/// `prosecutor` or `prosecutor.average`.
fn limit((name, most): (String, f64)) -> Result<Limit> {
    let (attack, quantity) = match name.split_once('.') {
        None => (name.as_str(), None),
        Some((attack, word)) => match Quantity::ALL.iter().find(|(known, _)| *known == word) {
            Some((_, quantity)) => (attack, Some(*quantity)),
            None => {
                return Err(Error::job(format!("`limit`: there is no number `{word}`"))
                    .help_near(word, Quantity::ALL.iter().map(|(known, _)| *known)));
            }
        },
    };
    Ok(Limit { attack: attack.to_owned(), quantity, most })
}

/// 500, or "5%" of the guess.
fn epsilon((column, given): (&String, &Json)) -> Result<(String, Epsilon)> {
    let percent = |text: &str| text.trim().strip_suffix('%').and_then(|x| x.trim().parse::<f64>().ok());
    let epsilon = match given {
        Json::String(text) => percent(text).map(|x| Epsilon::Relative(x / 100.0)),
        given => given.as_f64().map(Epsilon::Absolute),
    };
    epsilon.map(|epsilon| (column.clone(), epsilon)).ok_or_else(|| {
        refuse("epsilon", "amounts by column such as {\"income\": 500}, or percentages such as \"5%\"")
    })
}

/// Parameters of a model as a job would read them.
fn model(name: &str, params: &Map<String, Json>) -> Result<Vec<(String, Value)>> {
    let mut builder = JobBuilder::default();
    builder.promise(name, name, &Json::Object(params.clone())).map_err(|refused| refused.error)?;
    let job = builder.finish_judging().map_err(|refused| refused.error)?.job;
    Ok(job.models.into_iter().flat_map(|model| model.params).collect())
}

/// A suppression method with its parameters, as a job would read it.
fn method(given: &Json) -> Result<(String, Vec<(String, Value)>)> {
    use incrowd::job::keys::{Section, flags_of};
    let mut builder = JobBuilder::default();
    let known = flags_of(Command::Anonymize)
        .find(|(key, _)| key.section == Section::Suppression && key.name == "name");
    if let Some((key, flag)) = known {
        builder.argument(key, flag, given).map_err(|refused| refused.error)?;
    }
    let job = builder.finish_judging().map_err(|refused| refused.error)?.job;
    let method = job.suppression.unwrap_or_default();
    Ok((method.name, method.params))
}
