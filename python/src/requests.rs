//! Arguments that are not keys of a job: those of measures, attacks and profiles.

use std::path::PathBuf;

use incrowd::job::keys::Command::{self, Attack, Batches, Init, Measure, Profile, Report, Verify};
use incrowd::job::{Input, Job, JobBuilder, RoleName};
use incrowd::profile::{InitOptions, Preset};
use incrowd::risk::population::Sampling;
use incrowd::utility::Workload;
use incrowd::{Ask, AttackRequest, Epsilon, Error, Limit, ProfileOptions, Quantity, Result, Value};
use serde_json::{Map, Value as Json};

use crate::arguments::Asked;

/// The type of such an argument.
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
    /// A release or another published table, in memory or in a file.
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

/// An argument that is not a key of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
    pub(crate) on: &'static [Command],
}

const fn request(
    name: &'static str,
    takes: Takes,
    on: &'static [Command],
    about: &'static str,
) -> Request {
    Request { name, takes, default: "", about, on }
}

const MEASURES: &[Command] = &[Measure, Report];

/// All such arguments.
pub(crate) const REQUESTS: &[Request] = &[
    request(
        "only",
        Takes::Names,
        &[Measure, Attack],
        "Only these measures or attacks (see `explain`)",
    ),
    request("pairs", Takes::Flag, MEASURES, "Also measure every pair of columns"),
    Request {
        default: "1000",
        ..request("queries", Takes::Count, MEASURES, "The number of random count queries")
    },
    Request {
        default: "1",
        ..request(
            "seed",
            Takes::Count,
            MEASURES,
            "The seed of the queries and the sample; equal seeds give equal results",
        )
    },
    Request {
        default: "0.05",
        ..request(
            "selectivity",
            Takes::Number,
            MEASURES,
            "The share of the records a query selects if the values are evenly distributed",
        )
    },
    Request {
        default: "3",
        ..request(
            "dimensions",
            Takes::Count,
            MEASURES,
            "The number of quasi-identifiers a query has ranges on",
        )
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
        "Another release about some of the same people: a release, a DataFrame, or the path of a \
         file",
    ),
    request(
        "outliers",
        Takes::Params,
        &[Attack, Profile],
        "The definition of an outlier, as parameters of plain-k-anonymity",
    ),
    request(
        "epsilon",
        Takes::Amounts,
        &[Attack],
        "How close a guess of a number must be to count as correct: {\"income\": 500} or \"5%\"",
    ),
    request(
        "suppression",
        Takes::Method,
        &[Attack],
        "The suppression step, if it is not in the manifest",
    ),
    request(
        "original_size",
        Takes::Count,
        &[Attack],
        "The number of records before the suppression step",
    ),
    request(
        "threshold",
        Takes::Numbers,
        &[Attack],
        "The risk from which a person counts as at risk: {\"homogeneity\": 0.8}",
    ),
    request("limit", Takes::Numbers, &[Attack], "Limits on the risks: {\"prosecutor\": 0.1}"),
    request(
        "details",
        Takes::File,
        &[Attack],
        "Write every released row with its risks to a CSV file, which must not be published",
    ),
    request("replace", Takes::Flag, &[Attack], "Replace the file of `details` if it exists"),
    request(
        "check",
        Takes::File,
        &[Verify],
        "The key the manifest must be signed with (`sign`); the check fails without a valid \
         signature",
    ),
    request(
        "quasi",
        Takes::Names,
        &[Profile],
        "The quasi-identifiers on which uniqueness is measured",
    ),
    request("columns", Takes::Names, &[Profile], "Profile only these columns"),
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
        "The largest number of columns in a set: 3, fewer for very large tables",
    ),
    request(
        "population_size",
        Takes::Count,
        &[Profile],
        "The number of people in the population the table is a sample of",
    ),
    request(
        "sampling_fraction",
        Takes::Number,
        &[Profile],
        "The share of the population that is in the table",
    ),
    Request {
        default: "releases",
        ..request("dir", Takes::File, &[Batches], "The directory of the releases")
    },
    request(
        "same_people",
        Takes::Flag,
        &[Batches],
        "Also join each release with the previous one, as if people were in both",
    ),
    Request { default: "job.toml", ..request("output", Takes::File, &[Init], "The job file") },
    Request {
        default: "10",
        ..request("k", Takes::Count, &[Init], "The smallest number of records in a group")
    },
    request(
        "preset",
        Takes::Text,
        &[Init],
        "A published rule to follow: `hipaa` (Safe Harbor) or `public-use`",
    ),
    request("force", Takes::Flag, &[Init], "Replace the job file if it exists"),
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
            Some(Json::Array(all)) => {
                all.iter().map(|one| one.as_str().map(str::to_owned)).collect()
            }
            Some(_) => None,
        };
        names.ok_or_else(|| refuse(name, "a name or a list of names"))
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        let text =
            |given: &Json| given.as_str().map(str::to_owned).ok_or_else(|| refuse(name, "a text"));
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
        let count =
            |given: &Json| given.as_u64().ok_or_else(|| refuse(name, "a whole number, 0 or more"));
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

    /// Returns the measures to compute.
    pub(crate) fn measures(&self) -> Result<Ask> {
        let default = Workload::default();
        let whole = |name: &str, default: usize, most: u64| match self.count(name)? {
            None => Ok(default),
            Some(n) if (1..=most).contains(&n) => Ok(n as usize),
            Some(_) => Err(refuse(name, &format!("a whole number from 1 to {most}"))),
        };
        let workload = Workload {
            queries: whole("queries", default.queries, 1_000_000)?,
            seed: self.count("seed")?.unwrap_or(default.seed),
            selectivity: self.number("selectivity")?.unwrap_or(default.selectivity),
            dimensions: whole("dimensions", default.dimensions, u64::from(u32::MAX))?,
        };
        let only = self.names("only")?;
        Ok(Ask { only, pairs: self.flag("pairs")?, workload, target: self.text("target")? })
    }

    /// Returns the settings of the attacks.
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

    /// Returns the definition of an outlier.
    pub(crate) fn outliers(&self) -> Result<Option<Vec<(String, Value)>>> {
        let given = self
            .get("outliers")
            .map(|_| self.table("outliers", "parameters by name"))
            .transpose()?;
        given.map(|params| model("plain-k-anonymity", &params)).transpose()
    }

    /// Returns the options of `init`.
    #[allow(clippy::needless_update, reason = "later options keep their defaults")]
    pub(crate) fn init(&self, job: Job) -> Result<InitOptions> {
        let roles = job.columns.into_iter().map(|(name, column)| (name, column.role)).collect();
        let k = self.count("k")?.unwrap_or(10);
        let file = self.path("output")?.unwrap_or_else(|| PathBuf::from("job.toml"));
        let preset = self.text("preset")?.map(|name| {
            let preset =
                Preset::ALL.iter().find(|(known, _)| *known == name).map(|(_, preset)| *preset);
            let known = Preset::ALL.iter().map(|(known, _)| *known);
            preset.ok_or_else(|| {
                Error::job(format!("there is no preset `{name}`")).help_near(&name, known)
            })
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

    /// Returns the options of `profile`.
    pub(crate) fn profile(&self, input: Input) -> Result<ProfileOptions> {
        let default = ProfileOptions::default();
        let sampling = match (self.count("population_size")?, self.number("sampling_fraction")?) {
            (Some(_), Some(_)) => {
                return Err(Error::job(
                    "`population_size` and `sampling_fraction` cannot be given together",
                ));
            }
            (Some(size), None) => Some(Sampling::PopulationSize(size)),
            (None, fraction) => fraction.map(Sampling::Fraction),
        };
        Ok(ProfileOptions {
            input,
            columns: self.names("columns")?,
            quasi: self.names("quasi")?,
            sampling,
            share: self.number("share")?.unwrap_or(default.share),
            most: self.count("max_columns")?.map(|n| n as usize),
            ..default
        })
    }
}

/// Returns the job that counts outliers: on the quasi-identifiers of the profile, and on the given
/// or proposed sensitive columns.
pub(crate) fn outlier_job(
    mut job: Job,
    profile: &incrowd::Profile,
    params: &[(String, Value)],
) -> Job {
    let on = params.iter().find(|(name, _)| name == "on").map(|(_, value)| value.to_string());
    let proposed =
        profile.columns.iter().filter(|column| column.proposal.role == RoleName::Sensitive);
    let sensitive =
        on.map_or_else(|| proposed.map(|column| column.name.clone()).collect(), |on| vec![on]);
    let measured = profile
        .uniqueness
        .iter()
        .flat_map(|u| &u.columns)
        .map(|&c| profile.columns[c].name.clone());
    let quasi: Vec<String> = measured.filter(|name| !sensitive.contains(name)).collect();
    quasi.iter().for_each(|name| job.set_role(name, RoleName::Quasi));
    sensitive.iter().for_each(|name| job.set_role(name, RoleName::Sensitive));
    job
}

/// Parses `prosecutor` or `prosecutor.average`.
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

/// Parses 500, or "5%" of the guess.
fn epsilon((column, given): (&String, &Json)) -> Result<(String, Epsilon)> {
    let percent =
        |text: &str| text.trim().strip_suffix('%').and_then(|x| x.trim().parse::<f64>().ok());
    let epsilon = match given {
        Json::String(text) => percent(text).map(|x| Epsilon::Relative(x / 100.0)),
        given => given.as_f64().map(Epsilon::Absolute),
    };
    epsilon.map(|epsilon| (column.clone(), epsilon)).ok_or_else(|| {
        refuse(
            "epsilon",
            "amounts by column such as {\"income\": 500}, or percentages such as \"5%\"",
        )
    })
}

/// Parses the parameters of a model like a job.
fn model(name: &str, params: &Map<String, Json>) -> Result<Vec<(String, Value)>> {
    let mut builder = JobBuilder::default();
    builder.model(name, name, &Json::Object(params.clone())).map_err(|refused| refused.error)?;
    let job = builder.finish_judging().map_err(|refused| refused.error)?.job;
    Ok(job.models.into_iter().flat_map(|model| model.params).collect())
}

/// Parses a suppression method with its parameters like a job.
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
