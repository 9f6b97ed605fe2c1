//! Checks of a complete job: missing keys, contradictions, and values that follow from other keys.

use std::path::PathBuf;

use incrowd_core::{Error, Publish, near_miss};

use super::builder::JobBuilder;
use super::given::{At, Read, Refused};
use super::hierarchy::hierarchy_from_path;
use super::keys::{Key, Section};
use super::{Order, RoleName, word};

impl JobBuilder {
    /// Checks the complete job and fills in derived values. A release that is judged (`making` is
    /// `false`) needs no output.
    pub(super) fn check(&mut self, making: bool) -> Read<()> {
        self.check_columns()?;
        for (name, section) in Section::ALL {
            // To judge a release, only the manifest and the second table may be named.
            let named =
                |key: &&Key| self.provenance.exactly(&format!("{name}.{}", key.name)).is_some();
            let spared = match section {
                Section::Models => true,
                Section::Output => !making,
                Section::External => {
                    !making && section.keys().filter(named).all(|key| key.name == "values")
                }
                _ => false,
            };
            if spared {
                continue;
            }
            let place = section
                .keys()
                .find_map(|key| self.provenance.exactly(&format!("{name}.{}", key.name)));
            let place = self.provenance.exactly(name).or(place);
            let needed = section.keys().filter(|key| key.required.is_some());
            if let Some(at) = place
                && let Some(key) = needed.into_iter().find(|key| !named(key))
            {
                let error = Error::job(format!("[{name}] needs `{}`", key.name)).at(name);
                let error = error.help(match at {
                    At::File(_) => format!("add {}", key.required.unwrap_or_default()),
                    At::Flag(_) => format!("add `{}`", key.title()),
                });
                return Err(Refused { error, at: at.clone() });
            }
        }
        // A k-join-anonymous release is always sorted, so that its order does not reveal from which
        // table a person came.
        if let (Some(_), Some(output), Some(at)) =
            (&self.job.external, &self.job.output, self.provenance.exactly("output.order"))
            && output.order == Order::Shuffled
        {
            let error = Error::job("a release with [external] is always sorted by its cells");
            return Err(Refused { error: error.at("output.order"), at: at.clone() });
        }
        self.find_hierarchies()?;
        self.locate_tables()?;
        self.move_outputs();
        Ok(())
    }

    fn check_columns(&self) -> Read<()> {
        let with_role =
            || self.columns.iter().filter(|(.., role)| *role).map(|(name, ..)| name.as_str());
        if let Some((name, at, _)) = self.columns.iter().find(|(.., role)| !role) {
            let error =
                Error::job(format!("column `{name}` has no role")).at(format!("columns.{name}"));
            let error = match near_miss(name, with_role()) {
                Some(_) => error.help_near(name, with_role()),
                None => error
                    .help("add role = \"quasi\", or identifier, sensitive, passthrough or drop"),
            };
            return Err(Refused { error, at: at.clone() });
        }
        for (name, key, at) in &self.of_columns {
            let role = self.job.column(name).map(|column| column.role).unwrap_or_default();
            let by_flag =
                |path: String| matches!(self.provenance.exactly(&path), Some(At::Flag(_)));
            // A role given by a flag discards the file's keys for another role.
            let discarded = matches!(at, At::File(_)) && by_flag(format!("columns.{name}.role"));
            if !key.roles.contains(&role) && !discarded {
                let roles = |name: fn(&RoleName) -> String| {
                    key.roles.iter().map(name).collect::<Vec<_>>().join(" or ")
                };
                let what = roles(|role| match role {
                    RoleName::Quasi => "a quasi-identifier".to_owned(),
                    role => word(&RoleName::ALL, *role).to_owned(),
                });
                let words = roles(|role| format!("role = \"{}\"", word(&RoleName::ALL, *role)));
                let error =
                    Error::job(format!("column `{name}` has `{}` but is not {what}", key.name));
                let error = error.help(format!("it requires a column with {words}"));
                return Err(Refused {
                    error: error.at(format!("columns.{name}.{}", key.name)),
                    at: at.clone(),
                });
            }
            let column = self.job.column(name);
            if key.name == "publish"
                && column
                    .is_some_and(|c| c.categories.is_none() && c.publish != Some(Publish::Value))
            {
                let error = Error::job("there are no categories to publish");
                let error =
                    error.help("add categories = { \"Top\" = [\"HIV\"], … }, most sensitive first");
                return Err(Refused {
                    error: error.at(format!("columns.{name}.publish")),
                    at: at.clone(),
                });
            }
        }
        Ok(())
    }

    /// Adds the table names of databases to their addresses.
    fn locate_tables(&mut self) -> Read<()> {
        let refuse = |builder: &JobBuilder, error: Error, key: &str| {
            let at = builder.provenance.exactly(key).cloned().unwrap_or(At::Flag(String::new()));
            Refused { error: error.at(key), at }
        };
        let input = &mut self.job.input;
        if !input.paths.is_empty() && (input.table.is_some() || input.query.is_some()) {
            let (table, query) = (input.table.take(), input.query.take());
            let key = if query.is_some() { "input.query" } else { "input.table" };
            let located = match input.paths.as_slice() {
                [path] => path.locate(table.as_deref(), query.as_deref()),
                _ => Err(Error::job("several paths are given, and the table is in one database")
                    .help("write one address, or a table in each: postgresql://host/db?table=…")),
            };
            match located {
                Ok(path) => input.paths = vec![path],
                Err(error) => return Err(refuse(self, error, key)),
            }
        }
        if let Some(output) = self.job.output.as_mut()
            && let Some(table) = output.table.take()
        {
            match output.path.locate(Some(&table), None) {
                Ok(path) => output.path = path,
                Err(error) => return Err(refuse(self, error, "output.table")),
            }
        }
        Ok(())
    }

    /// Reads the files of the directory that are named after quasi-identifiers.
    fn find_hierarchies(&mut self) -> Read<()> {
        let Some((directory, at)) = self.hierarchies.take() else { return Ok(()) };
        let refuse =
            |error: Error| Refused { error: error.at("input.hierarchies"), at: at.clone() };
        let shown = directory.display();
        let entries = std::fs::read_dir(&directory).map_err(|e| {
            refuse(Error::input(format!("the directory `{shown}` cannot be read: {e}")))
        })?;
        let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        files.sort();
        let mut found = false;
        for (name, column) in self.job.columns.iter_mut().filter(|(_, c)| c.role == RoleName::Quasi)
        {
            let matches = |path: &&PathBuf| {
                let stem =
                    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
                let kind = path.extension().is_some_and(|e| e == "csv" || e == "toml");
                kind && (stem == *name || stem.ends_with(&format!("_{name}")))
            };
            if let Some(file) = files.iter().find(matches) {
                found = true;
                if column.spec.hierarchy.is_none() && column.spec.kind.is_none() {
                    column.spec.hierarchy = Some(hierarchy_from_path(file).map_err(refuse)?);
                }
            }
        }
        match found {
            true => Ok(()),
            false => Err(refuse(
                Error::input(format!("`{shown}` has no hierarchy for any quasi-identifier"))
                    .help("files are named after their column: age.csv or anything_age.csv"),
            )),
        }
    }

    /// Moves the file's further outputs next to the release that a flag names. Otherwise several
    /// runs of one job would overwrite each other's reports.
    fn move_outputs(&mut self) {
        let Some(stated) = self.replaced_output.take() else { return };
        let of_file = |key: &str| matches!(self.provenance.exactly(key), Some(At::File(_)));
        let keys = [
            "output.manifest",
            "output.report",
            "output.owner_report",
            "external.values",
            "external.audit",
        ];
        let [manifest, report, owner, values, audit] = keys.map(of_file);
        let Some(output) = self.job.output.as_mut().filter(|output| output.path != stated) else {
            return;
        };
        let mut moved = Vec::new();
        let mut place =
            |what: &str, stated: bool, place: &mut Option<PathBuf>, ending: Option<&str>| {
                if stated && place.is_some() {
                    *place = ending.map(|ending| output.path.next_to(ending));
                    let there = place
                        .as_ref()
                        .map_or("next to it".to_owned(), |p| format!("to `{}`", p.display()));
                    moved.push(format!("the {what} goes {there}"));
                }
            };
        place("manifest", manifest, &mut output.manifest, None);
        place("report", report, &mut output.report, Some("report.html"));
        place("owner's report", owner, &mut output.owner_report, Some("owner.html"));
        if let Some(external) = &mut self.job.external {
            place("audit table", audit, &mut external.audit, Some("audit.csv"));
            if values && external.sensitive.take().is_some() {
                moved.push("the table of sensitive values goes next to it".to_owned());
            }
        }
        if !moved.is_empty() {
            self.notes.push(format!(
                "the release differs from that of the job file, so {}",
                moved.join(", ")
            ));
            let by = self.provenance.exactly("output.path").cloned();
            let moved = keys
                .iter()
                .zip([manifest, report, owner, values, audit])
                .filter(|(_, stated)| *stated);
            for (key, by) in moved.filter_map(|(key, _)| Some((key, by.clone()?))) {
                self.provenance.put(key, by);
            }
        }
    }
}
