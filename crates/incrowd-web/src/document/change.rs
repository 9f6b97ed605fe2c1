//! Changes of a document.

use incrowd::ParamKind;
use incrowd::job::RoleName;
use incrowd::job::keys::{Kind, Section};
use toml::{Table, Value};

use super::Document;
use super::fields::{FieldKind, is_open, value};

/// A form field: a path in the document, and its texts.
pub(crate) type Change = (Vec<String>, Vec<String>);

impl Document {
    /// Returns the job with another k.
    pub(crate) fn with_k(&self, k: u64) -> Document {
        let k = Value::Integer(i64::try_from(k).unwrap_or(i64::MAX));
        let mut changed = self.clone();
        match self.k() {
            Some((at, _)) => changed.put(&["models", &at.to_string(), "k"], Some(k)),
            None => {
                let model = Table::from_iter([
                    ("name".to_owned(), Value::from("k-anonymity")),
                    ("k".to_owned(), k),
                ]);
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
            _ => unreachable!("replaced by an array above"),
        }
    }

    /// Adds a model with these parameters. The job parser reports missing ones.
    pub(crate) fn add_model(&mut self, name: &str, params: Vec<(String, Value)>) {
        let fields = std::iter::once(("name".to_owned(), Value::from(name))).chain(params);
        let model = Value::Table(fields.collect());
        self.models_mut().push(model);
    }

    pub(crate) fn remove_model(&mut self, at: usize) {
        let models = self.models_mut();
        if at < models.len() {
            models.remove(at);
        }
    }

    /// Sets or removes the value at a path.
    pub(crate) fn put(&mut self, path: &[&str], value: Option<Value>) {
        let Some((last, above)) = path.split_last() else { return };
        let at = match above.split_first() {
            None => return,
            Some((first, rest)) => {
                let mut at = self.0.entry(*first).or_insert_with(|| Value::Table(Table::new()));
                for part in rest {
                    expand_role(at);
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
        expand_role(at);
        if let Value::Table(table) = at {
            match value {
                Some(value) => drop(table.insert((*last).to_owned(), value)),
                None => drop(table.remove(*last)),
            }
        }
    }

    /// Applies a form field. Paths that forms must not change are ignored.
    pub(crate) fn change(&mut self, (path, words): &Change) {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(kind) = self.kind(&parts) else { return };
        let column = match kind {
            FieldKind::Param(ParamKind::Column) => {
                words.last().and_then(|word| self.column_named(word))
            }
            FieldKind::Key(Kind::Text) if parts[0] == "input" => {
                words.last().and_then(|word| self.column_named(word))
            }
            _ => None,
        };
        let value = column.map(Value::from).or_else(|| value(kind, words));
        match parts.as_slice() {
            ["columns", column, "role"] => {
                let role = words.last().map(String::as_str).unwrap_or_default();
                self.set_role(column, role, None);
            }
            ["algorithm", "name"] => {
                let name = words.last().map(String::as_str).unwrap_or_default();
                if name != self.algorithm() {
                    self.remove_params("algorithm");
                }
                self.put(&parts, value);
            }
            _ => self.put(&parts, value),
        }
    }

    /// Removes the parameters of the previous algorithm.
    fn remove_params(&mut self, section: &str) {
        if let Some(Value::Table(table)) = self.0.get_mut(section) {
            let known = |key: &str| Section::Algorithm.keys().any(|own| own.name == key);
            table.retain(|key, _| known(key));
        }
    }

    /// Sets the role of a column, or its whole entry if `spec` is given. Keys that the new role
    /// does not have are removed.
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

    /// Returns the type of the value at a path, if forms may set it.
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

/// Expands the short form of a column, a role only, to a table.
fn expand_role(value: &mut Value) {
    if let Value::String(role) = value {
        let role = Value::from(role.as_str());
        *value = Value::Table(Table::from_iter([("role".to_owned(), role)]));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::document::{field_name, field_path};

    const JOB: &str = r#"
[input]
path = "people.csv"
missing = ["", "?"]
[output]
path = "r.csv"
[columns]
age = { role = "quasi", kind = "numeric", top = 90 }
"a/b.c" = "sensitive"
id = "identifier"
[[models]]
name = "k-anonymity"
k = 5
[algorithm]
name = "mondrian"
cut = "strict"
suppression_limit = 0.1
"#;

    fn document() -> Document {
        Document::parse(JOB).unwrap()
    }

    fn changed(field: &str, word: &str) -> Document {
        let mut changed = document();
        changed.change(&(field_path(field), vec![word.to_owned()]));
        changed
    }

    #[test]
    fn the_text_parses_to_the_same_document() {
        let document = document();
        assert_eq!(Document::parse(&document.text()), Some(document.clone()));
        assert_eq!(Document::parse(&document.text()).unwrap().id(), document.id());
        assert!(document.read(Path::new("")).is_ok(), "{}", document.text());
        let with_remarks = document.render(&|_| vec!["why\nnot".to_owned()]);
        assert_eq!(Document::parse(&with_remarks), Some(document));
    }

    #[test]
    fn every_column_name_survives_writing_and_parsing() {
        let odd = [
            "",
            "a\nb",
            "a\r\nb",
            "both ' and \"",
            "a\nb'''\"\"\"",
            "tab\t",
            "\\",
            "\u{1b}[31m",
            "\u{2028}",
        ];
        for name in odd {
            let mut document = document();
            // As a key, as a string, and as a key and a string within the value.
            document.put(&["columns", name], Some(Value::from("sensitive")));
            document.put(&["input", "person"], Some(Value::from(name)));
            let tree = Table::from_iter([(name.to_owned(), Value::Array(vec![Value::from(name)]))]);
            document.put(&["columns", "age", "hierarchy"], Some(Value::Table(tree)));
            document.put(&["models", "0", "on"], Some(Value::from(name)));
            let text = document.render(&|column| vec![format!("why {column}")]);
            assert_eq!(Document::parse(&text), Some(document), "{text}");
        }
    }

    #[test]
    fn forms_change_the_values_they_name() {
        assert_eq!(changed("models/0/k", "12").k(), Some((0, 12)));
        assert_eq!(changed("columns/a~1b.c/role", "drop").role("a/b.c"), RoleName::Drop);
        assert_eq!(
            changed("input/on_missing", "keep").get_text(&["input", "on_missing"]).as_deref(),
            Some("keep")
        );
        for odd in ["a/~b", "a\nb", "a\r\nb", "~2~0", "~"] {
            assert_eq!(field_path(&field_name(&["columns", odd])), ["columns", odd]);
        }
        // A browser sends a line break within a value as CR LF.
        let mut broken = document();
        broken.put(&["columns", "a\nb"], Some(Value::from("identifier")));
        broken.change(&(field_path("input/person"), vec!["a\r\nb".to_owned()]));
        assert_eq!(broken.get_text(&["input", "person"]).as_deref(), Some("a\nb"));
        let empty = changed("algorithm/suppression_limit", "");
        assert_eq!(empty.get(&["algorithm", "suppression_limit"]), None);
        let wrong = changed("models/0/k", "many");
        assert!(
            wrong.read(Path::new("")).is_ok_and(|file| incrowd::front_end::CheckedJob::new(
                &file.job,
                &[]
            )
            .is_err())
        );
    }

    #[test]
    fn another_role_or_algorithm_removes_keys_that_do_not_apply() {
        let dropped = changed("columns/age/role", "drop");
        assert_eq!(dropped.get(&["columns", "age"]), Some(&Value::from("drop")));
        let auto = changed("algorithm/name", "auto");
        assert_eq!(auto.get(&["algorithm", "cut"]), None);
        assert!(auto.get(&["algorithm", "suppression_limit"]).is_some());
    }

    #[test]
    fn no_form_can_set_a_path() {
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
