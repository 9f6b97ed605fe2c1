//! The job of an address: a job file that is never changed. A change makes another one.
//!
//! Forms say what they mean by keys of the job file, and the reader of job files says what is wrong with a value. So whatever a
//! job file can say of columns, promises and the algorithm can be said here, and messages are the same everywhere.

//!
//! `change.rs` does what forms say, `words.rs` turns words of forms into values and back.

mod change;
mod words;

use std::path::Path;

use incrowd::job::keys::Section;
use incrowd::job::{JobError, JobFile, RoleName};
use toml::{Table, Value};

pub(crate) use words::{field, is_open, place, words};

/// A job file as a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document(Table);

impl Document {
    /// Reads the text of a job file.
    pub(crate) fn parse(text: &str) -> Option<Document> {
        text.parse().ok().map(Document)
    }

    /// The text, without remarks.
    pub(crate) fn text(&self) -> String {
        self.render(&|_| Vec::new())
    }

    /// A name for this text and no other.
    pub(crate) fn id(&self) -> String {
        blake3::hash(self.text().as_bytes()).to_hex()[..16].to_owned()
    }

    /// The text with remarks above columns.
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
                        out += &format!("{} = {spec}\n", quoted(column));
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

    /// The job, or what is wrong with it.
    pub(crate) fn read(&self, base: &Path) -> Result<JobFile, JobError> {
        incrowd::job::parse("job.toml", &self.text(), base)
    }

    /// The same job without folders, and without pages: it makes the same release.
    pub(crate) fn without_places(&self) -> Document {
        let mut own = self.clone();
        let name = self.words(&["output", "path"]).unwrap_or_default();
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        own.put(&["output", "path"], Some(Value::from(name)));
        own.put(&["output", "report"], None);
        own.put(&["output", "owner_report"], None);
        own
    }

    /// What stands at a place.
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

    /// The same as words, as a form shows it.
    pub(crate) fn words(&self, path: &[&str]) -> Option<String> {
        self.get(path).map(words)
    }

    /// The names of the columns, in order.
    pub(crate) fn columns(&self) -> Vec<&str> {
        let columns = self.0.get("columns").and_then(Value::as_table);
        columns.into_iter().flat_map(|columns| columns.keys().map(String::as_str)).collect()
    }

    /// The role of a column.
    pub(crate) fn role(&self, column: &str) -> RoleName {
        let written = match self.get(&["columns", column]) {
            Some(Value::String(role)) => Some(role.as_str()),
            Some(Value::Table(spec)) => spec.get("role").and_then(Value::as_str),
            _ => None,
        };
        let known = written.and_then(|word| RoleName::ALL.iter().find(|(name, _)| *name == word));
        known.map_or(RoleName::Drop, |(_, role)| *role)
    }

    /// The columns in a role.
    pub(crate) fn in_role(&self, role: RoleName) -> Vec<&str> {
        self.columns().into_iter().filter(|column| self.role(column) == role).collect()
    }

    /// The models, by name.
    pub(crate) fn models(&self) -> Vec<&str> {
        let models = self.0.get("models").and_then(Value::as_array);
        let name = |model: &Value| model.get("name").and_then(Value::as_str).map(|_| ());
        let models = models.into_iter().flatten().filter(|model| name(model).is_some());
        models.filter_map(|model| model.get("name")?.as_str()).collect()
    }

    /// The name of the algorithm.
    pub(crate) fn algorithm(&self) -> &str {
        self.get(&["algorithm", "name"]).and_then(Value::as_str).unwrap_or("auto")
    }

    /// k of k-anonymity, if it is promised: the place in the list of models, and k.
    pub(crate) fn k(&self) -> Option<(usize, u64)> {
        let at = self.models().iter().position(|name| *name == "k-anonymity")?;
        let k = self.get(&["models", &at.to_string(), "k"])?.as_integer()?;
        Some((at, u64::try_from(k).ok()?))
    }
}

fn quoted(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { Value::from(key).to_string() }
}

fn lines(out: &mut String, table: &Table) {
    for (key, value) in table {
        *out += &format!("{} = {value}\n", quoted(key));
    }
    out.push('\n');
}
