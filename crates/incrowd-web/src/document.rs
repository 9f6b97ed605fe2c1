//! The job of an address: a job file that is never changed. A change makes another one.
//!
//! Forms say what they mean by keys of the job file, and the reader of job files says what is wrong with a value. So whatever a
//! job file can say of columns, promises and the algorithm can be said here, and messages are the same everywhere.

use std::path::Path;

use incrowd::ParamKind;
use incrowd::job::keys::{Key, Kind, Section};
use incrowd::job::{JobError, JobFile, RoleName};
use toml::{Table, Value};

/// The parts of a job that forms may change, with the keys that are left to the command line. Where files are is never for a
/// form to say.
const OPEN: [(Section, &[&str]); 5] = [
    (Section::Input, &["path", "hierarchies", "format", "delimiter", "encoding", "decimal", "sheet"]),
    (Section::Output, &["path", "manifest", "report", "owner_report", "sign", "format"]),
    (Section::Columns, &["hierarchy"]),
    (Section::Models, &[]),
    (Section::Algorithm, &[]),
];

/// Whether a form may say a key.
pub(crate) fn is_open(key: &Key) -> bool {
    let files = matches!(
        key.kind,
        Kind::File | Kind::Files | Kind::Directory | Kind::Categories | Kind::Hierarchy | Kind::Cards
    );
    let shut = |(section, shut): &(Section, &[&str])| *section == key.section && !shut.contains(&key.name);
    !files && OPEN.iter().any(shut)
}

/// A job file as a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document(Table);

/// What a form says: a place in the document, and words.
pub(crate) type Change = (Vec<String>, Vec<String>);

/// A place in the document as the name of a form field.
pub(crate) fn field(path: &[&str]) -> String {
    let part = |part: &&str| part.replace('~', "~0").replace('/', "~1");
    path.iter().map(part).collect::<Vec<_>>().join("/")
}

/// The place that a form field names.
pub(crate) fn place(field: &str) -> Vec<String> {
    field.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

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

    /// The same job with another k.
    pub(crate) fn with_k(&self, k: u64) -> Document {
        let k = Value::Integer(i64::try_from(k).unwrap_or(i64::MAX));
        let mut changed = self.clone();
        match self.k() {
            Some((at, _)) => changed.put(&["models", &at.to_string(), "k"], Some(k)),
            None => {
                let model =
                    Table::from_iter([("name".to_owned(), Value::from("k-anonymity")), ("k".to_owned(), k)]);
                changed.models_mut().push(Value::Table(model));
            }
        }
        changed
    }

    fn models_mut(&mut self) -> &mut Vec<Value> {
        let models = self.0.entry("models").or_insert_with(|| Value::Array(Vec::new()));
        if !models.is_array() {
            *models = Value::Array(Vec::new());
        }
        match models {
            Value::Array(models) => models,
            _ => unreachable!("it was made a list"),
        }
    }

    /// Adds a model with what it is by default; what must be given is left for the reader of job files to ask for.
    pub(crate) fn add_model(&mut self, name: &str, usual: Vec<(String, Value)>) {
        let fields = std::iter::once(("name".to_owned(), Value::from(name))).chain(usual);
        let model = Value::Table(fields.collect());
        self.models_mut().push(model);
    }

    pub(crate) fn remove_model(&mut self, at: usize) {
        let models = self.models_mut();
        if at < models.len() {
            models.remove(at);
        }
    }

    /// Puts a value at a place, or takes away what stands there.
    pub(crate) fn put(&mut self, path: &[&str], value: Option<Value>) {
        let Some((last, above)) = path.split_last() else { return };
        let mut at = match above.split_first() {
            None => return,
            Some((first, rest)) => {
                let mut at = self.0.entry(*first).or_insert_with(|| Value::Table(Table::new()));
                for part in rest {
                    // A column may be written as a role alone.
                    if let Value::String(role) = at {
                        *at =
                            Value::Table(Table::from_iter([("role".to_owned(), Value::from(role.clone()))]));
                    }
                    at = match at {
                        Value::Table(table) => {
                            table.entry(*part).or_insert_with(|| Value::Table(Table::new()))
                        }
                        Value::Array(list) => {
                            match part.parse::<usize>().ok().and_then(|place| list.get_mut(place)) {
                                Some(item) => item,
                                None => return,
                            }
                        }
                        _ => return,
                    };
                }
                at
            }
        };
        if let Value::String(role) = at {
            at = {
                *at = Value::Table(Table::from_iter([("role".to_owned(), Value::from(role.clone()))]));
                at
            };
        }
        if let Value::Table(table) = at {
            match value {
                Some(value) => drop(table.insert((*last).to_owned(), value)),
                None => drop(table.remove(*last)),
            }
        }
    }

    /// Does what a form says. Places that are not for forms to say are left alone.
    pub(crate) fn change(&mut self, (path, words): &Change) {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(kind) = self.kind(&parts) else { return };
        let value = value(kind, words);
        match parts.as_slice() {
            ["columns", column, "role"] => {
                let role = words.last().map(String::as_str).unwrap_or_default();
                self.set_role(column, role, None);
            }
            ["algorithm", "name"] => {
                let name = words.last().map(String::as_str).unwrap_or_default();
                if name != self.algorithm() {
                    self.forget_params("algorithm");
                }
                self.put(&parts, value);
            }
            _ => self.put(&parts, value),
        }
    }

    /// The options of an algorithm do not outlive it.
    fn forget_params(&mut self, section: &str) {
        if let Some(Value::Table(table)) = self.0.get_mut(section) {
            let known = |key: &str| Section::Algorithm.keys().any(|own| own.name == key);
            table.retain(|key, _| known(key));
        }
    }

    /// Gives a column a role, and how it is generalized if that is known. What cannot be said of it in that role goes.
    pub(crate) fn set_role(&mut self, column: &str, role: &str, spec: Option<&Value>) {
        let Some((_, known)) = RoleName::ALL.iter().find(|(name, _)| *name == role) else { return };
        if self.role(column) == *known && self.get(&["columns", column]).is_some() {
            return;
        }
        if let Some(spec) = spec {
            self.put(&["columns", column], Some(spec.clone()));
            return;
        }
        let fits = |key: &str| {
            let key = Section::Columns.key(key);
            key.is_some_and(|key| key.roles.is_empty() || key.roles.contains(known))
        };
        let mut table = match self.get(&["columns", column]) {
            Some(Value::Table(table)) => table.clone(),
            _ => Table::new(),
        };
        table.retain(|key, _| key != "role" && fits(key));
        let value = if table.is_empty() {
            Value::from(role)
        } else {
            let first = std::iter::once(("role".to_owned(), Value::from(role)));
            Value::Table(first.chain(table).collect())
        };
        self.put(&["columns", column], Some(value));
    }

    /// What the key at a place takes, if forms may say it.
    fn kind(&self, path: &[&str]) -> Option<FieldKind> {
        let key = |section: Section, name: &str| {
            section.key(name).filter(|key| is_open(key)).map(|key| FieldKind::Key(key.kind))
        };
        let param = |section: Section, owner: Option<&Value>, name: &str| {
            let params = section.params(owner.and_then(Value::as_str)?);
            params.iter().find(|param| param.name == name).map(|param| FieldKind::Param(param.kind))
        };
        match *path {
            ["columns", column, name] if self.get(&["columns", column]).is_some() => {
                key(Section::Columns, name)
            }
            ["models", at, name] => param(Section::Models, self.get(&["models", at, "name"]), name),
            ["algorithm", name] => key(Section::Algorithm, name)
                .or_else(|| param(Section::Algorithm, Some(&Value::from(self.algorithm())), name)),
            ["input", name] => key(Section::Input, name),
            ["output", name] => key(Section::Output, name),
            _ => None,
        }
    }
}

/// What a field takes: a key of the job, or a parameter of a card.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldKind {
    Key(Kind),
    Param(ParamKind),
}

/// A value of a document as words.
pub(crate) fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Words as a value. What does not fit stays text, for the reader of job files to refuse.
fn value(kind: FieldKind, given: &[String]) -> Option<Value> {
    let last = given.last().map_or("", |word| word.trim());
    let listed = || {
        let words =
            given.iter().flat_map(|word| word.split(',')).map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let number = |word: &str| match (word.parse::<i64>(), word.parse::<f64>()) {
        (Ok(n), _) => Value::Integer(n),
        (_, Ok(x)) if x.is_finite() => Value::Float(x),
        _ => Value::from(word),
    };
    let flag = |word: &str| match word {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        word => Value::from(word),
    };
    match kind {
        // The empty text is one of the markers of missing values.
        FieldKind::Key(Kind::Texts) => {
            let words = last.split(',').map(|word| Value::from(word.trim()));
            Some(Value::Array(words.collect()))
        }
        FieldKind::Key(Kind::Range) => match listed() {
            words if words.is_empty() => None,
            words => Some(Value::Array(words.iter().map(|word| number(word)).collect())),
        },
        FieldKind::Param(ParamKind::Words) => match listed() {
            words if words.is_empty() => None,
            words => Some(Value::Array(words.into_iter().map(Value::from).collect())),
        },
        _ if last.is_empty() => None,
        FieldKind::Key(Kind::Share | Kind::Number | Kind::Count(_))
        | FieldKind::Param(ParamKind::Count(_) | ParamKind::Number(..)) => Some(number(last)),
        FieldKind::Key(Kind::Flag) | FieldKind::Param(ParamKind::Flag) => Some(flag(last)),
        _ => Some(Value::from(last)),
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

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = "[input]\npath = \"people.csv\"\nmissing = [\"\", \"?\"]\n[output]\npath = \"r.csv\"\n[columns]\n\
        age = { role = \"quasi\", kind = \"numeric\", top = 90 }\n\"a/b.c\" = \"sensitive\"\nid = \"identifier\"\n\
        [[models]]\nname = \"k-anonymity\"\nk = 5\n[algorithm]\nname = \"mondrian\"\ncut = \"strict\"\nsuppression_limit = 0.1\n";

    fn document() -> Document {
        Document::parse(JOB).unwrap()
    }

    fn changed(field: &str, word: &str) -> Document {
        let mut changed = document();
        changed.change(&(place(field), vec![word.to_owned()]));
        changed
    }

    #[test]
    fn the_text_means_the_same_when_it_is_read_again() {
        let document = document();
        assert_eq!(Document::parse(&document.text()), Some(document.clone()));
        assert_eq!(Document::parse(&document.text()).unwrap().id(), document.id());
        assert!(document.read(Path::new("")).is_ok(), "{}", document.text());
        let with_remarks = document.render(&|_| vec!["why\nnot".to_owned()]);
        assert_eq!(Document::parse(&with_remarks), Some(document));
    }

    #[test]
    fn forms_change_what_they_name() {
        assert_eq!(changed("models/0/k", "12").k(), Some((0, 12)));
        assert_eq!(changed("columns/a~1b.c/role", "drop").role("a/b.c"), RoleName::Drop);
        assert_eq!(
            changed("input/on_missing", "keep").words(&["input", "on_missing"]).as_deref(),
            Some("keep")
        );
        assert_eq!(place(&field(&["columns", "a/~b"])), ["columns", "a/~b"]);
        let empty = changed("algorithm/suppression_limit", "");
        assert_eq!(empty.get(&["algorithm", "suppression_limit"]), None);
        let wrong = changed("models/0/k", "many");
        assert!(
            wrong.read(Path::new("")).is_ok_and(|file| incrowd::CheckedJob::new(&file.job, &[]).is_err())
        );
    }

    #[test]
    fn another_role_takes_away_what_it_cannot_have_and_another_algorithm_its_options() {
        let dropped = changed("columns/age/role", "drop");
        assert_eq!(dropped.get(&["columns", "age"]), Some(&Value::from("drop")));
        let auto = changed("algorithm/name", "auto");
        assert_eq!(auto.get(&["algorithm", "cut"]), None);
        assert!(auto.get(&["algorithm", "suppression_limit"]).is_some());
    }

    #[test]
    fn no_form_says_where_files_are() {
        for field in [
            "input/path",
            "output/path",
            "output/sign",
            "output/report",
            "population/path",
            "external/path",
            "suppression/key",
            "columns/age/hierarchy",
            "columns/new/role",
            "models/0/name",
            "models/7/k",
            "nonsense",
            "",
        ] {
            assert_eq!(changed(field, "/etc/passwd"), document(), "{field}");
        }
        for key in incrowd::job::keys::KEYS {
            if matches!(key.kind, Kind::File | Kind::Files | Kind::Directory) {
                assert!(!is_open(key), "{}", key.title());
            }
        }
    }
}
