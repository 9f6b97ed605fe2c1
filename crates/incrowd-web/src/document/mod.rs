//! The job of an address: an immutable job file. Every change creates a new one.
//!
//! Form fields are keys of the job file, and the job parser validates their values. Forms therefore
//! support everything that a job file can set for columns, models and the algorithm, with the same
//! error messages.
//!
//! `change.rs` applies forms, `fields.rs` converts between form fields and values.

mod change;
mod fields;

use std::path::Path;

use incrowd::job::keys::Section;
use incrowd::job::{JobError, JobFile, RoleName, toml_key};
use toml::{Table, Value};

pub(crate) use fields::{field_name, field_path, is_open, text_of};

/// A job file as a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document(Table);

impl Document {
    /// Reads the text of a job file.
    pub(crate) fn parse(text: &str) -> Option<Document> {
        text.parse().ok().map(Document)
    }

    /// Returns the text of the job file, without comments.
    pub(crate) fn text(&self) -> String {
        self.render(&|_| Vec::new())
    }

    /// Returns a hash of the text.
    pub(crate) fn id(&self) -> String {
        blake3::hash(self.text().as_bytes()).to_hex()[..16].to_owned()
    }

    /// Returns the text with comments above columns.
    pub(crate) fn render(&self, remarks: &dyn Fn(&str) -> Vec<String>) -> String {
        let mut out = String::new();
        for (name, _) in Section::ALL {
            match (name, self.0.get(name)) {
                ("models", Some(Value::Array(models))) => {
                    for model in models.iter().filter_map(Value::as_table) {
                        out += "[[models]]\n";
                        lines(&mut out, model);
                    }
                }
                ("columns", Some(Value::Table(columns))) => {
                    out += "[columns]\n";
                    for (column, spec) in columns {
                        for remark in remarks(column) {
                            let plain = remark.replace(|c: char| c.is_control(), " ");
                            out += &format!("# {plain}\n");
                        }
                        out += &format!("{} = {spec}\n", toml_key(column));
                    }
                    out.push('\n');
                }
                (name, Some(Value::Table(section))) => {
                    out += &format!("[{name}]\n");
                    lines(&mut out, section);
                }
                _ => {}
            }
        }
        out.trim_end().to_owned() + "\n"
    }

    /// Parses the job.
    pub(crate) fn read(&self, base: &Path) -> Result<JobFile, JobError> {
        incrowd::job::parse("job.toml", &self.text(), base)
    }

    /// Returns the job without directories and reports. It makes the same release.
    pub(crate) fn without_paths(&self) -> Document {
        let mut own = self.clone();
        let name = self.get_text(&["output", "path"]).unwrap_or_default();
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        own.put(&["output", "path"], Some(Value::from(name)));
        own.put(&["output", "report"], None);
        own.put(&["output", "owner_report"], None);
        own
    }

    /// Returns the value at a path.
    pub(crate) fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        let mut at = self.0.get(*first)?;
        for part in rest {
            at = match at {
                Value::Table(table) => table.get(*part)?,
                Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(at)
    }

    /// Returns the value at a path as the text of a form field.
    pub(crate) fn get_text(&self, path: &[&str]) -> Option<String> {
        self.get(path).map(text_of)
    }

    /// Returns the names of the columns, in order.
    pub(crate) fn columns(&self) -> Vec<&str> {
        let columns = self.0.get("columns").and_then(Value::as_table);
        columns.into_iter().flat_map(|columns| columns.keys().map(String::as_str)).collect()
    }

    /// Returns the column that a form names. Browsers send every line break as CR LF, so names that
    /// differ only in line breaks are compared without that difference.
    pub(crate) fn column_named(&self, sent: &str) -> Option<&str> {
        let as_sent = |name: &str| name.replace("\r\n", "\n").replace('\r', "\n");
        let exactly = self.columns().into_iter().find(|column| *column == sent);
        exactly
            .or_else(|| self.columns().into_iter().find(|column| as_sent(column) == as_sent(sent)))
    }

    /// Returns the role of a column.
    pub(crate) fn role(&self, column: &str) -> RoleName {
        let written = match self.get(&["columns", column]) {
            Some(Value::String(role)) => Some(role.as_str()),
            Some(Value::Table(spec)) => spec.get("role").and_then(Value::as_str),
            _ => None,
        };
        let known = written.and_then(|word| RoleName::ALL.iter().find(|(name, _)| *name == word));
        known.map_or(RoleName::Drop, |(_, role)| *role)
    }

    /// Returns the columns with a role.
    pub(crate) fn in_role(&self, role: RoleName) -> Vec<&str> {
        self.columns().into_iter().filter(|column| self.role(column) == role).collect()
    }

    /// Returns the names of the models.
    pub(crate) fn models(&self) -> Vec<&str> {
        let models = self.0.get("models").and_then(Value::as_array);
        models.into_iter().flatten().filter_map(|model| model.get("name")?.as_str()).collect()
    }

    /// Returns the name of the algorithm.
    pub(crate) fn algorithm(&self) -> &str {
        self.get(&["algorithm", "name"]).and_then(Value::as_str).unwrap_or("auto")
    }

    /// Returns the index of k-anonymity in the list of models, and its k.
    pub(crate) fn k(&self) -> Option<(usize, u64)> {
        let at = self.models().iter().position(|name| *name == "k-anonymity")?;
        let k = self.get(&["models", &at.to_string(), "k"])?.as_integer()?;
        Some((at, u64::try_from(k).ok()?))
    }
}

fn lines(out: &mut String, table: &Table) {
    for (key, value) in table {
        *out += &format!("{} = {value}\n", toml_key(key));
    }
    out.push('\n');
}
