//! What was typed becomes a job: the job file first, then the flags on top of it.

use std::path::{Path, PathBuf};

use incrowd::core::{HierarchySpec, Kind, Labels, schema};
use incrowd::hierarchy::mdr::{Mdr, Outliers, Quantile};
use incrowd::hierarchy::{dates::Dates, intervals::Intervals, mask};
use incrowd::job::{
    self, Categories, DefaultRole, Job, JobSource, JoinMethod, OnConflict, OnMissing, Order, PopulationJob,
    Publish, RoleName, Suppressed, SuppressionJob, Trim,
};
use incrowd::{Error, Judging, Result, Value};

use crate::args::{
    AnonymizeArgs, BatchesArgs, CompareArgs, ExternalArgs, ModelArgs, SuppressionArgs, TableArgs,
};
use crate::failure::Failure;

/// A job and the file it came from, so that errors can point into it.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) job: Job,
    source: Option<JobSource>,
    /// Parts of the job file that flags replaced; errors about them are not the file's.
    replaced: Vec<String>,
}

impl Typed {
    /// Adds the place in the job file to an error.
    pub(crate) fn locate(&self, error: Error) -> Failure {
        let key = error.key().unwrap_or_default();
        let replaced = self.replaced.iter().any(|part| key == part || key.starts_with(&format!("{part}.")));
        match &self.source {
            Some(source) if !replaced => source.locate(error).into(),
            _ => error.into(),
        }
    }

    /// The release that flags and job file tell of, on top of the roles in its manifest if nothing else names roles.
    pub(crate) fn judging(
        release: &Path,
        table: &TableArgs,
        models: Option<&ModelArgs>,
        manifest: Option<&PathBuf>,
        original: Option<&PathBuf>,
    ) -> Result<(Typed, Judging), Failure> {
        let mut judging = Judging { manifest: manifest.cloned(), ..Judging::new(release) };
        let mut typed = match (&table.job, table.quasi.is_empty()) {
            (None, true) => {
                judging = incrowd::with_roles_of_manifest(&judging)?;
                let job = Job { columns: judging.columns.clone(), ..Job::default() };
                let mut typed = Typed { job, ..Typed::default() };
                typed.table(table)?;
                typed
            }
            _ => Typed::new(table)?,
        };
        if let Some(models) = models {
            typed.models(models)?;
            judging.models.clone_from(&typed.job.models);
        }
        let job = &typed.job;
        judging.columns.clone_from(&job.columns);
        judging.missing = Some(job.input.missing.clone());
        if table.on_missing.is_some() || table.job.is_some() {
            judging.on_missing = Some(job.input.on_missing);
        }
        judging.population.clone_from(&job.population);
        judging.external.clone_from(&job.external);
        if judging.manifest.is_none() {
            judging.manifest = job.output.as_ref().and_then(|output| output.manifest.clone());
        }
        // How the original is read says nothing about the release; what is typed does.
        if table.delimiter.is_some() {
            judging.release.delimiter = job.input.delimiter;
        }
        judging.release.format.clone_from(&table.format);
        let mut input = job.input.clone();
        if let Some(path) = original {
            input.paths = vec![path.clone()];
            if table.job.is_none() {
                (input.delimiter, input.format) = (None, None);
            }
        }
        // A job file may have come without its table.
        let there = |path: &PathBuf| {
            incrowd::Source::matching(std::slice::from_ref(path))
                .is_ok_and(|all| all.iter().all(|file| file.exists()))
        };
        let known = original.is_some() || input.paths.iter().all(there);
        judging.original = Some(input).filter(|input| known && !input.paths.is_empty());
        Ok((typed, judging))
    }

    /// The table and the sweep of a comparison.
    pub(crate) fn compare(args: &CompareArgs) -> Result<Typed, Failure> {
        let mut typed = Typed::of_inputs(&args.inputs, &args.table)?;
        if let Some(path) = &args.population {
            typed.replaced.push("population".into());
            typed.job.population = Some(PopulationJob { paths: vec![path.clone()] });
        }
        if let Some(wrong) = args.suppression_limit.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            let error = Error::job(format!("--suppression-limit {wrong}: a share from 0 to 1"));
            return Err(error.into());
        }
        let sweep = typed.job.compare.get_or_insert_default();
        let names = |list: &mut dyn Iterator<Item = &'static str>| list.collect::<Vec<_>>();
        let algorithms = names(&mut incrowd::recode::ALGORITHMS.iter().map(|card| card.name));
        let models = names(&mut incrowd::model::MODELS.iter().map(|card| card.name));
        if !args.algorithms.is_empty() {
            sweep.algorithms = listed(&args.algorithms, &algorithms);
            typed.replaced.push("compare.algorithms".into());
        }
        if !args.models.is_empty() {
            sweep.models = listed(&args.models, &models);
            typed.replaced.push("compare.models".into());
        }
        if !args.k.is_empty() {
            sweep.k.clone_from(&args.k);
        }
        if !args.suppression_limit.is_empty() {
            sweep.suppression_limits.clone_from(&args.suppression_limit);
        }
        if args.loss.is_some() {
            sweep.loss.clone_from(&args.loss);
            typed.replaced.push("compare.loss".into());
        }
        if args.output.is_some() {
            sweep.dir.clone_from(&args.output);
        }
        Ok(typed)
    }

    /// Tables, or a job file, with what the flags say of the table.
    fn of_inputs(inputs: &[PathBuf], table: &TableArgs) -> Result<Typed, Failure> {
        let is_job = |path: &Path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let (jobs, tables): (Vec<&PathBuf>, Vec<&PathBuf>) = inputs.iter().partition(|path| is_job(path));
        let mut typed = match (jobs.as_slice(), &table.job) {
            ([], _) => Typed::new(table)?,
            ([job], None) => {
                let file = job::read(job)?;
                let mut typed = Typed { job: file.job, source: Some(file.source), replaced: Vec::new() };
                typed.table(table)?;
                typed
            }
            _ => return Err(Error::job("more than one job file is given").into()),
        };
        if !tables.is_empty() {
            typed.replaced.push("input.path".into());
            typed.job.input.paths = tables.into_iter().cloned().collect();
        }
        Ok(typed)
    }

    /// Reads the job file and what the flags say of the table.
    pub(crate) fn new(table: &TableArgs) -> Result<Typed, Failure> {
        let mut typed = match &table.job {
            Some(path) => {
                let file = job::read(path)?;
                Typed { job: file.job, source: Some(file.source), replaced: Vec::new() }
            }
            None => Typed::default(),
        };
        typed.table(table)?;
        Ok(typed)
    }

    fn table(&mut self, args: &TableArgs) -> Result<()> {
        let roles = [
            (&args.quasi, RoleName::Quasi),
            (&args.sensitive, RoleName::Sensitive),
            (&args.identifier, RoleName::Identifier),
            (&args.passthrough, RoleName::Passthrough),
            (&args.drop, RoleName::Drop),
        ];
        let mut named: Vec<&str> = Vec::new();
        for (columns, role) in roles {
            for column in columns.iter().filter(|c| !c.is_empty()) {
                if named.contains(&column.as_str()) {
                    return Err(Error::job(format!("column `{column}` is given two roles")));
                }
                named.push(column);
                self.replaced.push(format!("columns.{column}"));
                self.job.set_role(column, role);
            }
        }
        let job = &mut self.job;
        for (column, word) in pairs("--kind", &args.kind)? {
            job_spec(job, "--kind", column, true)?.kind = Some(choice("--kind", word, &Kind::ALL)?);
        }
        for (column, word) in pairs("--labels", &args.labels)? {
            let labels = [("set", Labels::Set), ("star", Labels::Star)];
            job_spec(job, "--labels", column, false)?.labels = choice("--labels", word, &labels)?;
        }
        for (column, word) in pairs("--domain", &args.domain)? {
            let ends = word.split_once(':').and_then(|(lo, hi)| Some((lo.parse().ok()?, hi.parse().ok()?)));
            let Some((lo, hi)) = ends.filter(|(lo, hi): &(f64, f64)| lo < hi) else {
                return Err(Error::job(format!("--domain {column}={word}: not a range"))
                    .help("write --domain age=0:120"));
            };
            job_spec(job, "--domain", column, false)?.domain = Some((lo, hi));
        }
        for (column, word) in pairs("--weight", &args.weight)? {
            let weight = word.trim().parse().ok().filter(|w: &f64| w.is_finite() && *w >= 0.0);
            let Some(weight) = weight else {
                return Err(Error::job(format!("--weight {column}={word}: not a number from 0 on"))
                    .help("write --weight age=2"));
            };
            job_spec(job, "--weight", column, false)?.weight = Some(weight);
        }
        if let Some(directory) = &args.hierarchies {
            hierarchies(job, directory)?;
        }
        for (column, word) in pairs("--hierarchy", &args.hierarchy)? {
            job_spec(job, "--hierarchy", column, true)?.hierarchy = Some(hierarchy(word)?);
            self.replaced.push(format!("columns.{column}.hierarchy"));
        }
        for (column, list) in categories(&args.category)? {
            self.replaced.push(format!("columns.{column}.categories"));
            job_sensitive(&mut self.job, "--category", &column)?.categories = Some(Categories::new(list)?);
        }
        let job = &mut self.job;
        for (column, word) in pairs("--publish-sa", &args.publish_sa)? {
            let publish = choice("--publish-sa", word, &Publish::ALL)?;
            let column = job_sensitive(job, "--publish-sa", column)?;
            if column.categories.is_none() && publish != Publish::Value {
                return Err(Error::job("--publish-sa: the column has no categories")
                    .help("add --category 'disease:Top Secret=HIV,Cancer', most sensitive first"));
            }
            column.publish = Some(publish);
        }
        if let Some(missing) = &args.missing {
            job.input.missing.clone_from(missing);
        }
        if let Some(word) = &args.on_missing {
            job.input.on_missing = choice("--on-missing", word, &OnMissing::ALL)?;
        }
        if let Some(word) = &args.default_role {
            job.input.default_role = choice("--default-role", word, &DefaultRole::ALL)?;
        }
        if let Some(word) = &args.delimiter {
            job.input.delimiter = Some(match word.as_bytes() {
                _ if word == "tab" || word == "\\t" => b'\t',
                [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0) => *byte,
                _ => return Err(Error::job(format!("--delimiter `{word}`: one character, or `tab`"))),
            });
        }
        if let Some(format) = &args.format {
            job.input.format = Some(format.clone());
        }
        Ok(())
    }

    /// Adds the promises that were typed. Typed promises replace those of the job file.
    pub(crate) fn models(&mut self, args: &ModelArgs) -> Result<()> {
        if args.k.is_some() || !args.model.is_empty() {
            self.replaced.push("models".into());
            self.job.models.clear();
        }
        if let Some(k) = args.k {
            self.job.promise("k-anonymity", [("k", Value::Integer(k))]);
        }
        for text in &args.model {
            let (name, params) = text.split_once(':').unwrap_or((text, ""));
            let given = model_params("--model", name, params)?;
            let given: Vec<(&str, Value)> = given.iter().map(|(n, v)| (n.as_str(), v.clone())).collect();
            self.job.promise(name, given);
        }
        if let Some(path) = &args.population {
            self.replaced.push("population".into());
            self.job.population = Some(PopulationJob { paths: vec![path.clone()] });
        }
        Ok(())
    }

    /// Everything `anonymize` can be told.
    pub(crate) fn anonymize(args: &AnonymizeArgs) -> Result<Typed, Failure> {
        let mut typed = Typed::of_inputs(&args.inputs, &args.table)?;
        typed.models(&args.models)?;
        if !args.set.is_empty() || args.algorithm.is_some() {
            typed.replaced.push("algorithm".into());
        }
        if let Some(path) = &args.output
            && typed.job.output.is_some()
        {
            typed.replaced.push("output".into());
            typed.job.write_to(path.clone());
        }
        if let Some(name) = &args.algorithm {
            if *name != typed.job.algorithm.name {
                typed.job.algorithm.params.clear();
            }
            typed.job.algorithm.name.clone_from(name);
        }
        let known = incrowd::recode::ALGORITHMS.iter().find(|card| card.name == typed.job.algorithm.name);
        let known = known.map_or(&[][..], |card| card.params);
        for (name, value) in values("--set", &args.set, known)? {
            let params = &mut typed.job.algorithm.params;
            params.retain(|(n, _)| *n != name);
            params.push((name, value));
        }
        if let Some(limit) = args.suppression_limit {
            if !(0.0..=1.0).contains(&limit) {
                return Err(Error::job("--suppression-limit is a share from 0 to 1").into());
            }
            typed.job.algorithm.suppression_limit = limit;
        }
        if let Some(word) = &args.suppressed {
            typed.replaced.push("algorithm.suppressed".into());
            typed.job.algorithm.suppressed = choice("--suppressed", word, &Suppressed::ALL)?;
        }
        if let Some(path) = &args.output {
            typed.job.write_to(path.clone());
        }
        typed.suppression(&args.suppression)?;
        let is_job = |path: &&PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let job_file = args.inputs.iter().find(is_job).or(args.table.job.as_ref());
        let same =
            |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if let (Some(job_file), Some(manifest)) = (job_file, &args.manifest)
            && same(job_file, manifest)
        {
            return Err(Error::job("the manifest would overwrite the job file").into());
        }
        typed.external(&args.external, args.method.as_deref(), args.trim.as_deref())?;
        let order = args.order.as_ref().map(|word| choice("--order", word, &Order::ALL)).transpose()?;
        if let (Some(output), true) =
            (&mut typed.job.output, args.report.is_some() || args.owner_report.is_some())
        {
            output.report = args.report.clone().or(output.report.take());
            output.owner_report = args.owner_report.clone().or(output.owner_report.take());
            typed.replaced.extend(["output.report".into(), "output.owner_report".into()]);
        }
        if order.is_some() || args.manifest.is_some() {
            let Some(output) = &mut typed.job.output else {
                return Err(Error::job("--order and --manifest need an output")
                    .help("add -o release.csv")
                    .into());
            };
            if args.manifest.is_some() {
                typed.replaced.push("output.manifest".into());
            }
            if typed.job.external.is_some() && order == Some(Order::Shuffled) {
                return Err(
                    Error::job("a release with an external table is always sorted by its cells").into()
                );
            }
            output.order = order.unwrap_or(output.order);
            output.manifest = args.manifest.clone().or(output.manifest.take());
        }
        Ok(typed)
    }

    /// Adds what was typed of an external table.
    pub(crate) fn external(
        &mut self,
        args: &ExternalArgs,
        method: Option<&str>,
        trim: Option<&str>,
    ) -> Result<()> {
        let given =
            [method, trim, args.id.as_deref(), args.on_conflict.as_deref()].iter().any(Option::is_some)
                || args.audit.is_some()
                || args.si.is_some();
        if args.external.is_none() && self.job.external.is_none() {
            return match given {
                true => Err(Error::job(
                    "--id, --method, --on-conflict, --trim, --audit and --si need an external table",
                )
                .help("add --external people.csv")),
                false => Ok(()),
            };
        }
        let external = self.job.external.get_or_insert_default();
        if let Some(path) = &args.external {
            external.paths = vec![path.clone()];
            self.replaced.push("external.path".into());
        }
        if let Some(id) = &args.id {
            external.id.clone_from(id);
            self.replaced.push("external.id".into());
        }
        if external.id.is_empty() {
            return Err(Error::job("which column names a person in both tables?").help("add --id ssn"));
        }
        if let Some(word) = method {
            external.method = choice("--method", word, &JoinMethod::ALL)?;
        }
        if let Some(word) = trim {
            external.trim = choice("--trim", word, &Trim::ALL)?;
        }
        if let Some(word) = &args.on_conflict {
            external.on_conflict = choice("--on-conflict", word, &OnConflict::ALL)?;
            self.replaced.push("external.on_conflict".into());
        }
        if let Some(path) = &args.audit {
            external.audit = Some(path.clone());
            self.replaced.push("external.audit".into());
        }
        if let Some(path) = &args.si {
            external.sensitive = Some(path.clone());
            self.replaced.push("external.sensitive".into());
        }
        Ok(())
    }

    /// The rules for batches; the tables are not the job's.
    pub(crate) fn batches(args: &BatchesArgs) -> Result<Typed, Failure> {
        let mut typed = Typed::new(&args.table)?;
        typed.models(&args.models)?;
        typed.suppression(&args.suppression)?;
        Ok(typed)
    }

    /// What is withheld first. A typed method replaces that of the job file; key and seed go with either.
    fn suppression(&mut self, args: &SuppressionArgs) -> Result<()> {
        if let Some(text) = &args.suppression {
            self.replaced.push("suppression".into());
            let (name, params) = method(text)?;
            let kept = self.job.suppression.take().unwrap_or_default();
            self.job.suppression = Some(SuppressionJob { name, params, ..kept });
        }
        match &mut self.job.suppression {
            Some(suppression) => {
                if args.suppression_key.is_some() {
                    (suppression.key, suppression.seed) = (args.suppression_key.clone(), None);
                }
                if args.suppression_seed.is_some() {
                    (suppression.seed, suppression.key) = (args.suppression_seed, None);
                }
                suppression.again |= args.again;
                Ok(())
            }
            None if args.suppression_key.is_some() || args.suppression_seed.is_some() || args.again => {
                Err(Error::job("--suppression-key, --suppression-seed and --again need a suppression")
                    .help("add --suppression r-suppression:l=6"))
            }
            None => Ok(()),
        }
    }
}

/// Reads parameters of a model, `k=5,p=0.8`.
pub(crate) fn model_params(flag: &str, name: &str, params: &str) -> Result<Vec<(String, Value)>> {
    let known = incrowd::model::MODELS.iter().find(|card| card.name == name);
    let known = known.map_or(&[] as &[incrowd::Param], |card| card.params);
    values(flag, &split_params(params), known)
}

/// Reads `r-suppression:l=6,on=disease`.
pub(crate) fn method(text: &str) -> Result<(String, Vec<(String, Value)>)> {
    let (name, params) = text.split_once(':').unwrap_or((text, ""));
    let known = incrowd::recode::suppression::SUPPRESSIONS.iter().find(|card| card.name == name);
    let known = known.map_or(&[] as &[incrowd::Param], |card| card.params);
    Ok((name.to_owned(), values("--suppression", &split_params(params), known)?))
}

fn pairs<'a>(flag: &str, given: &'a [String]) -> Result<Vec<(&'a str, &'a str)>> {
    let pair = |text: &'a String| {
        text.split_once('=').ok_or_else(|| {
            let form = match flag {
                "--model" => "NAME:PARAMETER=VALUE",
                "--set" => "OPTION=VALUE",
                _ => "COLUMN=VALUE",
            };
            Error::job(format!("{flag} {text}: write {flag} {form}"))
        })
    };
    given.iter().map(pair).collect()
}

fn choice<T: Copy>(flag: &str, word: &str, known: &[(&'static str, T)]) -> Result<T> {
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        Error::job(format!("{flag} cannot be `{word}`")).help_near(word, known.iter().map(|(n, _)| *n))
    })
}

/// What is said of a column's values, for a quasi-identifier or, where that makes sense, a sensitive column.
fn job_spec<'a>(
    job: &'a mut Job,
    flag: &str,
    column: &str,
    or_sensitive: bool,
) -> Result<&'a mut schema::ColumnSpec> {
    let fits = |role: RoleName| role == RoleName::Quasi || or_sensitive && role == RoleName::Sensitive;
    let known: Vec<String> =
        job.columns.iter().filter(|(_, c)| fits(c.role)).map(|(n, _)| n.clone()).collect();
    let what =
        if or_sensitive { "neither a quasi-identifier nor sensitive" } else { "not a quasi-identifier" };
    match job.columns.iter_mut().find(|(n, c)| n == column && fits(c.role)) {
        Some((_, found)) => Ok(&mut found.spec),
        None => Err(Error::job(format!("{flag} names `{column}`, which is {what}"))
            .help_near(column, known.iter().map(String::as_str))),
    }
}

fn job_sensitive<'a>(job: &'a mut Job, flag: &str, column: &str) -> Result<&'a mut job::ColumnJob> {
    let known: Vec<String> =
        job.columns.iter().filter(|(_, c)| c.role == RoleName::Sensitive).map(|(n, _)| n.clone()).collect();
    match job.columns.iter_mut().find(|(n, c)| n == column && c.role == RoleName::Sensitive) {
        Some((_, found)) => Ok(found),
        None => Err(Error::job(format!("{flag} names `{column}`, which is not sensitive"))
            .help_near(column, known.iter().map(String::as_str))),
    }
}

/// The categories of each column, in the order typed.
type ColumnCategories = Vec<(String, Vec<(String, Vec<String>)>)>;

/// `disease:Top Secret=HIV,Cancer`, once for each category.
fn categories(given: &[String]) -> Result<ColumnCategories> {
    let mut columns: ColumnCategories = Vec::new();
    for text in given {
        let parts = text.split_once('=').and_then(|(left, values)| Some((left.split_once(':')?, values)));
        let Some(((column, name), values)) = parts else {
            return Err(Error::job(format!("--category {text}: write --category 'COLUMN:NAME=VALUE,VALUE'")));
        };
        let values = values.split(',').map(|v| v.trim().to_owned()).filter(|v| !v.is_empty()).collect();
        let entry = (name.trim().to_owned(), values);
        match columns.iter_mut().find(|(known, _)| known == column) {
            Some((_, list)) => list.push(entry),
            None => columns.push((column.to_owned(), vec![entry])),
        }
    }
    Ok(columns)
}

/// A list of names, each perhaps with parameters: `mondrian,full-domain:search=fast,metric=ncp,top-down` are three. What is
/// neither a known name nor begins with one goes on with the entry before it.
fn listed(given: &[String], known: &[&str]) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for text in given {
        for (i, piece) in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()).enumerate() {
            let name = piece.split([':', '+']).next().unwrap_or(piece);
            let begins = known.contains(&name)
                || !piece.contains('=') && !entries.last().is_some_and(|e| e.contains(':'));
            match entries.last_mut() {
                Some(last) if i > 0 && !begins => {
                    last.push(',');
                    last.push_str(piece);
                }
                _ => entries.push(piece.to_owned()),
            }
        }
    }
    entries
}

/// `k=2,values=HIV,Cancer` are two parameters: what has no `=` goes on with the list before it.
fn split_params(text: &str) -> Vec<String> {
    let mut params: Vec<String> = Vec::new();
    for piece in text.split(',').filter(|piece| !piece.is_empty()) {
        match params.last_mut() {
            Some(last) if !piece.contains('=') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => params.push(piece.to_owned()),
        }
    }
    params
}

fn values(flag: &str, given: &[String], known: &[incrowd::Param]) -> Result<Vec<(String, Value)>> {
    let mut values = Vec::new();
    for (name, word) in pairs(flag, given)? {
        let kind = known.iter().find(|p| p.name == name).map_or(incrowd::ParamKind::Flag, |p| p.kind);
        values.push((name.to_owned(), Value::from_word(word, kind)));
    }
    Ok(values)
}

/// The bounds of `mdr:20,60` or `mdr:2020-01-01,2020-12-31`.
fn bounds(text: &str) -> Option<Outliers> {
    let end = |text: &str| {
        let date = || incrowd::core::number::parse_date(text).map(f64::from);
        incrowd::core::number::parse_number(text).map(|n| n.as_f64()).or_else(date)
    };
    let (lo, hi) = text.split_once(',')?;
    Some(Outliers::Bounds(end(lo)?, end(hi)?))
}

/// Reads `mask`, `mask:left`, `dates`, `intervals:5,3,2,0`, `mdr`, `mdr:20,60`, or the name of a file.
pub(crate) fn hierarchy(word: &str) -> Result<HierarchySpec> {
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    match (kind, rest) {
        ("mask", "" | "right") => Ok(HierarchySpec::Mask(mask::Mask { char: '*', from: mask::From::Right })),
        ("mask", "left") => Ok(HierarchySpec::Mask(mask::Mask { char: '*', from: mask::From::Left })),
        ("dates", "") => Ok(HierarchySpec::Dates(Dates::all())),
        ("mdr", rest) => {
            let outliers = match rest {
                "" | "2sigma" => Outliers::TwoSigma,
                "none" => Outliers::None,
                rest => bounds(rest).ok_or_else(|| {
                    Error::job(format!("`{word}`: write mdr, mdr:none or mdr:LOW,HIGH"))
                        .help("a job file can say more: hierarchy = { mdr = { factors = [1, 2, 4] } }")
                })?,
            };
            Mdr::new(outliers, vec![1, 2, 4], Quantile::Cuts, None).map(HierarchySpec::Mdr)
        }
        ("intervals", numbers) => {
            let parts: Option<Vec<f64>> = numbers.split(',').map(|n| n.trim().parse().ok()).collect();
            let whole = |x: Option<&f64>, default: f64| {
                let x = x.copied().unwrap_or(default);
                (x.fract() == 0.0 && (0.0..=1e6).contains(&x)).then_some(x as u32)
            };
            match parts.as_deref() {
                Some(p @ [width, ..]) if p.len() <= 4 => {
                    let (levels, factor) = (whole(p.get(1), 3.0), whole(p.get(2), 2.0));
                    let origin = p.get(3).copied().unwrap_or(0.0);
                    let bad = || Error::job(format!("`{word}`: levels and factor are whole numbers"));
                    let spec =
                        Intervals::fixed(*width, origin, levels.ok_or_else(bad)?, factor.ok_or_else(bad)?)?;
                    Ok(HierarchySpec::Intervals(spec))
                }
                _ => Err(Error::job(format!("`{word}`: write intervals:WIDTH[,LEVELS[,FACTOR[,ORIGIN]]]"))),
            }
        }
        _ => job::hierarchy_from_path(Path::new(word)),
    }
}

/// Finds the files of a directory that are named after quasi-identifiers.
fn hierarchies(job: &mut Job, directory: &Path) -> Result<()> {
    let entries = std::fs::read_dir(directory)
        .map_err(|e| Error::input(format!("the directory `{}` cannot be read: {e}", directory.display())))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.sort();
    let mut found = 0;
    for (name, column) in job.columns.iter_mut().filter(|(_, c)| c.role == RoleName::Quasi) {
        let matches = |path: &&PathBuf| {
            let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let kind = path.extension().is_some_and(|e| e == "csv" || e == "toml");
            kind && (stem == *name || stem.ends_with(&format!("_{name}")))
        };
        if column.spec.hierarchy.is_none()
            && column.spec.kind.is_none()
            && let Some(file) = files.iter().find(matches)
        {
            column.spec.hierarchy = Some(job::hierarchy_from_path(file)?);
            found += 1;
        }
    }
    if found == 0 {
        let file = directory.display();
        return Err(Error::input(format!("`{file}` has no hierarchy for any quasi-identifier"))
            .help("files are named after their column: age.csv or anything_age.csv"));
    }
    Ok(())
}
