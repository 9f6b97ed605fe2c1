//! Arguments of a program, given as JSON values. Like flags, they are read as job files with one
//! key.

use std::ffi::OsString;
use std::path::Path;

use incrowd_core::{Error, Param};
use serde_json::{Map, Value as Json};

use super::builder::JobBuilder;
use super::flag_values::documents;
use super::given::{At, Node, Read, Refused};
use super::keys::{Flag, Form, Key, Kind, Section};
use super::provenance::JobError;

/// Returns the name of an argument: that of the flag, with underscores.
pub fn argument_name(flag: &Flag) -> String {
    flag.long.replace('-', "_")
}

/// Returns the name of the argument for a model: `l_diversity` for `l-diversity`.
pub fn model_argument(model: &str) -> String {
    model.replace('-', "_")
}

/// Returns the parameter that a single value sets: the first required one, otherwise the first.
pub fn main_param(params: &'static [Param]) -> Option<&'static Param> {
    params.iter().find(|param| param.default.is_none()).or(params.first())
}

impl JobBuilder {
    /// Adds the value of an argument. Roles take names of columns; keys of columns take a table of
    /// values by column; models, algorithms and methods take a name, or a table with `name` and
    /// parameters. Relative paths are relative to the working directory.
    pub fn argument(
        &mut self,
        key: &'static Key,
        flag: &Flag,
        given: &Json,
    ) -> Result<(), JobError> {
        let at = At::Flag(argument_name(flag));
        let documents = values(key, flag, given, &at).map_err(|r| self.refused(r))?;
        self.add(key.section, &at, documents)
    }

    /// Adds a model, replacing one of the same name. Other models stay. A single value sets the
    /// model's [main parameter](main_param); a table has parameters by name; `true` is for a model
    /// without required parameters.
    pub fn model(&mut self, model: &str, argument: &str, given: &Json) -> Result<(), JobError> {
        let at = At::Flag(argument.to_owned());
        let params = Section::Models.params(model);
        let mut fields = vec![("name".to_owned(), Node::of_json(&Json::from(model), &at))];
        match given {
            Json::Object(map) => {
                fields.extend(
                    map.iter().map(|(name, value)| (name.clone(), Node::of_json(value, &at))),
                );
            }
            Json::Bool(true) => {}
            value => {
                let Some(param) = main_param(params) else {
                    let error =
                        Error::job(format!("`{model}` has no parameters")).help("give it `true`");
                    return Err(self.refused(Refused { error, at }));
                };
                fields.push((param.name.to_owned(), Node::of_json(value, &at)));
            }
        }
        self.forget_model(model);
        let document = Node::table(
            [(Section::Models.name(), Node::list([Node::table(fields, &at)], &at))],
            &at,
        );
        self.document(&document, Path::new("")).map_err(|refused| self.refused(refused))
    }
}

/// Converts the value of an argument to job files with one key each.
fn values(key: &'static Key, flag: &Flag, given: &Json, at: &At) -> Read<Vec<Node>> {
    let section = |node: Node| Node::table([(key.section.name(), node)], at);
    let name = argument_name(flag);
    let refuse = |takes: &str| Refused {
        error: Error::job(format!("`{name}` takes {takes}")),
        at: at.clone(),
    };
    let table = |takes: &str| given.as_object().ok_or_else(|| refuse(takes));
    let of_column = |column: &str, value: &Json| {
        let value = Node::table([(key.name, Node::of_json(value, at))], at);
        section(Node::table([(column, value)], at))
    };
    match flag.form {
        Form::Value | Form::Yes | Form::Argument => {
            // A table in place of a name contains the name and its parameters.
            let node = match given {
                Json::Object(map) if key.section.is_open() && key.name == "name" => named(map, at),
                value => Node::table([(key.name, Node::of_json(value, at))], at),
            };
            Ok(vec![section(node)])
        }
        Form::Param => {
            let params = table("a table of values by option")?;
            Ok(vec![section(Node::table(
                params.iter().map(|(name, value)| (name.clone(), Node::of_json(value, at))),
                at,
            ))])
        }
        Form::PerColumn | Form::Category => {
            let columns = table("a table of values by column")?;
            Ok(columns.iter().map(|(column, value)| of_column(column, value)).collect())
        }
        Form::Columns(role) => {
            let columns: Option<Vec<&str>> = match given {
                Json::String(column) => Some(vec![column]),
                Json::Array(columns) => columns.iter().map(Json::as_str).collect(),
                _ => None,
            };
            let columns =
                columns.ok_or_else(|| refuse("the name of a column, or a list of names"))?;
            let meaning = match key.kind {
                Kind::Flag => Json::from(role == "true"),
                _ => Json::from(role),
            };
            Ok(columns.into_iter().map(|column| of_column(column, &meaning)).collect())
        }
        Form::Named(_) => {
            let all = match given {
                Json::Array(all) if key.section == Section::Models => all.iter().collect(),
                one => vec![one],
            };
            let mut read = Vec::new();
            for one in all {
                match one {
                    Json::Object(map) => {
                        let table = named(map, at);
                        read.push(section(match key.section {
                            Section::Models => Node::list([table], at),
                            _ => table,
                        }));
                    }
                    Json::String(text) => {
                        read.extend(documents(key, flag, &[OsString::from(text)], at)?)
                    }
                    Json::Number(n) if flag.form != Form::Named("") => {
                        read.extend(documents(key, flag, &[OsString::from(n.to_string())], at)?);
                    }
                    _ => return Err(refuse("a name, or a table with `name` and parameters")),
                }
            }
            Ok(read)
        }
    }
}

/// Returns a table with the name first, because it defines the parameters.
fn named(map: &Map<String, Json>, at: &At) -> Node {
    let mut fields: Vec<_> =
        map.iter().map(|(key, value)| (key.clone(), Node::of_json(value, at))).collect();
    fields.sort_by_key(|(key, _)| key != "name");
    Node::table(fields, at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::keys::{Command, flags_of};
    use super::super::{Job, Origin, parse};
    use super::*;

    fn made(given: &Json) -> Result<Job, JobError> {
        let mut builder = JobBuilder::default();
        for (name, value) in given.as_object().unwrap() {
            let known = flags_of(Command::Anonymize).find(|(_, flag)| argument_name(flag) == *name);
            let (key, flag) = known.unwrap_or_else(|| panic!("{name}"));
            builder.argument(key, flag, value)?;
        }
        builder.finish_judging().map(|file| file.job)
    }

    #[test]
    fn arguments_mean_the_same_as_a_job_file() {
        let text = r#"
            [input]
            on_missing = "keep"
            [columns]
            age = { role = "quasi", domain = [0, 120], hierarchy = "intervals:5" }
            zip = { role = "quasi", hierarchy = { mask = { from = "left" } } }
            disease = { role = "sensitive", categories = { Top = ["HIV"], Any = ["Flu", "Cold"] } }
            [[models]]
            name = "k-anonymity"
            k = 5
            [[models]]
            name = "l-diversity"
            l = 2
            kind = "entropy"
            [algorithm]
            name = "full-domain"
            search = "fast"
            suppression_limit = 0.01
            [suppression]
            name = "r-suppression"
            l = 6
        "#;
        let given = json!({
            "on_missing": "keep",
            "quasi": ["age", "zip"],
            "sensitive": "disease",
            "domain": { "age": [0, 120] },
            "hierarchy": { "age": "intervals:5", "zip": { "mask": { "from": "left" } } },
            "category": { "disease": { "Top": ["HIV"], "Any": ["Flu", "Cold"] } },
            "k": 5,
            "model": { "l": 2, "kind": "entropy", "name": "l-diversity" },
            "algorithm": "full-domain",
            "set": { "search": "fast" },
            "suppression_limit": 0.01,
            "suppression": "r-suppression:l=6",
        });
        let mut of_file = parse("job.toml", text, Path::new("")).unwrap().job;
        let mut of_arguments = made(&given).unwrap();
        for job in [&mut of_file, &mut of_arguments] {
            job.columns.sort_by(|a, b| a.0.cmp(&b.0));
        }
        assert_eq!(of_arguments, of_file);
    }

    #[test]
    fn a_model_replaces_only_the_one_of_the_same_name() {
        let text = "[columns]\nage = \"quasi\"\n[[models]]\nname = \"k-anonymity\"\nk = 5\n\
                    [[models]]\nname = \"l-diversity\"\nl = 2";
        let mut builder = JobBuilder::parse("job.toml", text, Path::new("")).unwrap();
        builder.model("k-anonymity", "k", &json!(25)).unwrap();
        let file = builder.finish_judging().unwrap();
        let names: Vec<&str> = file.job.models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["l-diversity", "k-anonymity"]);
        assert_eq!(file.job.models[1].params, [("k".to_owned(), incrowd_core::Value::Integer(25))]);
        assert_eq!(file.provenance.of("models.0.l"), Origin::Line(8));
        assert_eq!(file.provenance.of("models.1"), Origin::Flag("k".to_owned()));
    }

    #[test]
    fn invalid_values_are_refused_with_the_name_of_the_argument() {
        for (given, says) in [
            (json!({ "quasi": 3 }), "`quasi` takes the name of a column, or a list of names"),
            (json!({ "hierarchy": "mask" }), "`hierarchy` takes a table of values by column"),
            (json!({ "on_missing": "kep" }), "`on_missing` cannot be `kep`: it takes drop or keep"),
            (
                json!({ "suppression_limit": "x" }),
                "`suppression_limit` must be a number, not a string",
            ),
            (
                json!({ "model": true }),
                "`model` takes a name, or a table with `name` and parameters",
            ),
        ] {
            let error = made(&given).unwrap_err();
            assert_eq!(error.to_string(), says);
            assert_eq!(error.flag.as_ref(), given.as_object().unwrap().keys().next());
        }
    }
}
