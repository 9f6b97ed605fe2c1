//! Changes: each gives another document.

use incrowd::job::RoleName;
use incrowd::job::keys::Section;
use toml::{Table, Value};

use super::Document;
use super::words::{FieldKind, is_open, value};

/// What a form says: a place in the document, and words.
pub(crate) type Change = (Vec<String>, Vec<String>);

impl Document {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use incrowd::job::keys::Kind;

    use super::*;
    use crate::document::{field, place};

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
