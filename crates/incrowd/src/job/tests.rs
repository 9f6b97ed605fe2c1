//! Whole job files: their meaning, and the places of errors.

use std::path::{Path, PathBuf};

use incrowd_core::{ColumnSpec, Fault, HierarchySpec, Kind, Labels, Value};

use super::*;

fn job(text: &str) -> Job {
    parse("job.toml", text, Path::new("")).unwrap_or_else(|e| panic!("{e}\n{text}")).job
}

fn error(text: &str) -> JobError {
    parse("job.toml", text, Path::new("")).expect_err(text)
}

#[test]
fn the_example_of_the_design_is_read_correctly() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("hierarchies")).unwrap();
    let lines = "Private;Employed;*\nNever-worked;Unemployed;*\n";
    std::fs::write(dir.path().join("hierarchies/workclass.csv"), lines).unwrap();
    let text = r#"
[input]
path = "adult.csv.gz"            # csv(.gz|.zst), parquet, arrow; delimiter and types are detected
missing = ["", "?", "NA"]        # texts that count as missing
on_missing = "drop"              # drop | keep (missing is a value of its own)

[output]
path = "adult.release.csv"       # format from the extension

[columns]
name       = { role = "identifier" }
age        = { role = "quasi", kind = "numeric" }
zip        = { role = "quasi", hierarchy = { mask = { char = "*", from = "right" } } }
workclass  = { role = "quasi", hierarchy = "hierarchies/workclass.csv" }   # ARX-style CSV: leaf;level1;…;*
occupation = { role = "sensitive" }
weight     = { role = "passthrough" }

[[models]]                       # all must hold
name = "k-anonymity"
k = 10
[[models]]
name = "l-diversity"             # kind = distinct | entropy | recursive (c)
l = 3
on = "occupation"

[algorithm]
name = "auto"                    # the default; options are the algorithm's own keys
suppression_limit = 0.0
"#;
    let path = dir.path().join("adult.toml");
    std::fs::write(&path, text).unwrap();
    let file = read(&path).unwrap();

    use incrowd_core::hierarchy::mask::{From, Mask};
    let quasi = |spec| ColumnJob { role: RoleName::Quasi, spec, ..ColumnJob::default() };
    let plain = |role| ColumnJob { role, ..ColumnJob::default() };
    let numeric = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    let with = |hierarchy| ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() };
    let arx = HierarchySpec::Arx {
        name: dir.path().join("hierarchies/workclass.csv").display().to_string(),
        text: lines.into(),
    };
    let columns = [
        ("name", plain(RoleName::Identifier)),
        ("age", quasi(numeric)),
        ("zip", quasi(with(HierarchySpec::Mask(Mask { char: '*', from: From::Right })))),
        ("workclass", quasi(with(arx))),
        ("occupation", plain(RoleName::Sensitive)),
        ("weight", plain(RoleName::Passthrough)),
    ];
    let model = |name: &str, params: &[(&str, Value)]| ModelJob {
        name: name.into(),
        params: params.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
    };
    let on = Value::Word("occupation".into());
    let expected = Job {
        input: Input { paths: vec![dir.path().join("adult.csv.gz").into()], ..Input::default() },
        output: Some(Output {
            path: dir.path().join("adult.release.csv").into(),
            manifest: None,
            order: Order::Shuffled,
            ..Output::default()
        }),
        columns: columns.map(|(name, column)| (name.to_owned(), column)).to_vec(),
        models: vec![
            model("k-anonymity", &[("k", Value::Integer(10))]),
            model("l-diversity", &[("l", Value::Integer(3)), ("on", on)]),
        ],
        compare: None,
        algorithm: AlgorithmJob::default(),
        external: None,
        file: Some(path.clone()),
        suppression: None,
        population: None,
    };
    assert_eq!(file.job, expected);
    assert_eq!(file.provenance.name, path.display().to_string());
    assert_eq!(file.provenance.text, text);
}

#[test]
fn every_other_key_is_read_correctly() {
    let job = job(r#"
        [input]
        path = ["a-*.csv", "/b.csv"]
        missing = []
        on_missing = "keep"
        default_role = "passthrough"
        delimiter = "tab"
        format = "csv"
        [output]
        path = "out.csv"
        manifest = "out.json"
        order = "sorted"
        [algorithm]
        name = "full-domain"
        search = "fast"
        deep = true
        weight = 0.5
        among = ["age", "zip"]
        suppression_limit = 1
        suppressed = "star"
        [population]
        path = "voters-*.csv"
        [columns.disease]
        role = "sensitive"
        kind = "text"
        categories = { "Top Secret" = ["HIV", "Cancer"], Any = ["Flu"] }
        publish = "both"
        [columns.zip]
        role = "quasi"
        labels = "star"
        domain = [0, 99.5]
        "#);
    assert_eq!(
        job.input,
        Input {
            paths: vec!["a-*.csv".into(), "/b.csv".into()],
            memory: None,
            missing: vec![],
            on_missing: OnMissing::Keep,
            default_role: DefaultRole::Passthrough,
            delimiter: Some(b'\t'),
            format: Some("csv".into()),
            encoding: None,
            decimal: None,
            sheet: None,
            table: None,
            query: None,
            person: None,
            weight: None,
        }
    );
    let manifest = Some(PathBuf::from("out.json"));
    assert_eq!(
        job.output,
        Some(Output {
            path: "out.csv".into(),
            manifest,
            order: Order::Sorted,
            ..Output::default()
        })
    );
    assert_eq!(
        (job.algorithm.name.as_str(), job.algorithm.suppression_limit),
        ("full-domain", 1.0)
    );
    let params = [
        ("search".to_owned(), Value::Word("fast".into())),
        ("deep".to_owned(), Value::Flag(true)),
        ("weight".to_owned(), Value::Real(0.5)),
        ("among".to_owned(), Value::Words(vec!["age".into(), "zip".into()])),
    ];
    assert_eq!(job.algorithm.params, params);
    let spec =
        ColumnSpec { labels: Labels::Star, domain: Some((0.0, 99.5)), ..ColumnSpec::default() };
    let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    let categories =
        vec![("Top Secret".to_owned(), own(&["HIV", "Cancer"])), ("Any".to_owned(), own(&["Flu"]))];
    let disease = ColumnJob {
        role: RoleName::Sensitive,
        spec: ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
        categories: Some(Categories::new(categories).unwrap()),
        publish: Some(Publish::Both),
        linkable: None,
        max_missing: None,
    };
    let zip = ColumnJob { role: RoleName::Quasi, spec, ..ColumnJob::default() };
    assert_eq!(job.columns, [("disease".to_owned(), disease), ("zip".to_owned(), zip)]);
    assert_eq!(job.algorithm.suppressed, Suppressed::Star);
    assert_eq!(job.population.unwrap().paths, ["voters-*.csv".into()]);
}

#[test]
fn an_empty_file_is_the_default_job() {
    assert_eq!(job(""), Job::default());
    assert_eq!(Job::default().input.missing, ["", "?", "NA"]);
}

#[test]
fn short_forms_keep_their_order() {
    let job = job(
        "columns = { zip = \"quasi\", age = 'quasi', \"\" = \"drop\" }\ninput.path = \"x.csv\"",
    );
    let names: Vec<_> =
        job.columns.iter().map(|(name, column)| (name.as_str(), column.role)).collect();
    assert_eq!(names, [("zip", RoleName::Quasi), ("age", RoleName::Quasi), ("", RoleName::Drop)]);
    assert_eq!(job.input.paths, ["x.csv".into()]);
}

#[test]
fn a_program_can_add_columns() {
    let mut job = job("columns.age = \"quasi\"");
    job.column_mut("age").role = RoleName::Sensitive;
    job.column_mut("zip").spec.labels = Labels::Star;
    let names: Vec<_> =
        job.columns.iter().map(|(name, column)| (name.as_str(), column.role)).collect();
    assert_eq!(names, [("age", RoleName::Sensitive), ("zip", RoleName::Drop)]);
}

#[test]
fn relative_paths_are_relative_to_the_base() {
    let text = "[input]\npath = [\"a.csv\", \"/b.csv\"]\n\
                [output]\npath = \"../o.csv\"\nmanifest = \"m.json\"";
    let job = parse("job.toml", text, Path::new("jobs")).unwrap().job;
    assert_eq!(job.input.paths, ["jobs/a.csv".into(), "/b.csv".into()]);
    let output = job.output.unwrap();
    assert_eq!(output.path, "jobs/../o.csv".into());
    assert_eq!(output.manifest.as_deref(), Some(Path::new("jobs/m.json")));
}

/// Job file, line, column and text of the place, message, help.
type WrongJob = (&'static str, (usize, usize), &'static str, &'static str, &'static str);

#[rustfmt::skip]
const WRONG: &[WrongJob] = &[
    // Spelling
    ("[columns]\nzip = { role = \"quasi\", hierachy = \"dates\" }", (2, 25), "hierachy", "unknown key `hierachy` in [columns.zip]", "did you mean `hierarchy`?"),
    ("[columns.\"marital.status\"]\nrole = \"quasi\"\nlabel = \"set\"", (3, 1), "label", "unknown key `label` in [columns.\"marital.status\"]", "did you mean `labels`?"),
    ("[columns]\nmarital.status = \"quasi\"", (2, 9), "status", "unknown key `status` in the column `marital`", "quotes: \"marital.status\""),
    ("[columns.marital.status]\nrole = \"quasi\"", (1, 18), "status", "unknown key `status` in the column `marital`", "quotes: \"marital.status\""),
    ("[columns]\nage.roll = \"quasi\"", (2, 5), "roll", "unknown key `roll` in [columns.age]", "did you mean `role`?"),
    ("[columns]\n'ä' = { roll = \"quasi\" }", (2, 9), "roll", "unknown key `roll` in [columns.\"ä\"]", "did you mean `role`?"),
    ("[input]\n# the table\npaths = \"x\"", (3, 1), "paths", "unknown key `paths` in [input]", "did you mean `path`?"),
    ("[output]\npath = \"x\"\ncolour = \"y\"", (3, 1), "colour", "unknown key `colour` in [output]", "known names: path, table, manifest"),
    ("[foreign]\npath = \"x\"", (1, 2), "foreign", "unknown table [foreign]", "known names: input, output, columns, models, population, algorithm"),
    ("[foreigners]", (1, 2), "foreigners", "unknown table [foreigners]", "known names: input"),
    ("[column]\nage = \"quasi\"", (1, 2), "column", "unknown table [column]", "did you mean `columns`?"),
    ("k = 3", (1, 1), "k", "unknown key `k` outside of any table", "known names"),
    ("[columns]\nz = { role = \"quasi\", hierarchy = { msk = {} } }", (2, 37), "msk", "unknown key `msk` in [columns.z.hierarchy]", "did you mean `mask`?"),
    ("[columns]\nz.role = \"quasi\"\nz.hierarchy.mask.form = \"left\"", (3, 18), "form", "unknown key `form` in [columns.z.hierarchy.mask]", "did you mean `from`?"),
    // Words
    ("[input]\non_missing = \"dorp\"", (2, 14), "\"dorp\"", "`on_missing` cannot be `dorp`: it takes drop or keep", "did you mean `drop`?"),
    ("[columns]\nage = \"quasy\"", (2, 7), "\"quasy\"", "`age` cannot be `quasy`: it takes identifier, quasi, sensitive, passthrough or drop", "did you mean `quasi`?"),
    ("[columns]\nage = { role = \"qi\" }", (2, 16), "\"qi\"", "`role` cannot be `qi`", "known names: identifier, quasi"),
    ("[columns]\nd = { role = \"quasi\", hierarchy = { dates = [\"month\", \"yaer\"] } }", (2, 55), "\"yaer\"", "an item of `dates` cannot be `yaer`", "did you mean `year`?"),
    ("[input]\ndelimiter = \";;\"", (2, 13), "\";;\"", "`delimiter` cannot be `;;`: it takes a single character", ""),
    ("[input]\ndelimiter = \"\\n\"", (2, 13), "\"\\n\"", "`delimiter` cannot be `\\n`", ""),
    // Kinds
    ("[input]\npath = 3", (2, 8), "3", "`path` must be a string or a list of strings, not a whole number", ""),
    ("[input]\nmissing = [\"\", 9]", (2, 16), "9", "an item of `missing` must be a string, not a whole number", ""),
    ("[input]\npath = []", (2, 8), "[]", "`path` names no file", ""),
    ("[input]\non_missing = false", (2, 14), "false", "`on_missing` must be drop or keep, not true or false", ""),
    ("input = \"x.csv\"", (1, 9), "\"x.csv\"", "`input` must be a table, not a string", ""),
    ("[models]\nname = \"k-anonymity\"", (1, 1), "[models]", "`models` must be a list of tables, not a table", "[[models]], with two brackets"),
    ("models = [\"k-anonymity\"]", (1, 11), "\"k-anonymity\"", "an item of `models` must be a table, not a string", ""),
    ("[[models]]\nname = 5", (2, 8), "5", "`name` must be a string, not a whole number", ""),
    ("[[models]]\nname = \"x\"\nk = { a = 1 }", (3, 5), "{ a = 1 }", "`k` must be a number, a string, true, false or a list of strings, not a table", ""),
    ("[[models]]\nname = \"x\"\nk = 99999999999999999999", (3, 5), "99999999999999999999", "`k` is a whole number with too many digits", ""),
    ("[[models]]\nname = \"x\"\nt = nan", (3, 5), "nan", "`t` must be a finite number", ""),
    ("[algorithm]\nsuppression_limit = \"1%\"", (2, 21), "\"1%\"", "`suppression_limit` must be a number, not a string", ""),
    ("[algorithm]\nsuppression_limit = 1.5", (2, 21), "1.5", "`suppression_limit` cannot be `1.5`: it takes a share of the records, from 0 to 1", ""),
    ("[columns]\nage = 3", (2, 7), "3", "`age` must be a role such as \"quasi\" or a table such as { role = \"quasi\" }, not a whole number", ""),
    ("[columns]\na = { role = \"quasi\", domain = [5, 5] }", (2, 32), "[5, 5]", "`domain` must be two numbers, the lower one first", ""),
    ("[columns]\na = { role = \"quasi\", domain = [5, 2021-01-01] }", (2, 36), "2021-01-01", "an item of `domain` must be a number, not a date", ""),
    // Missing and superfluous
    ("\n[output]\norder = \"sorted\"", (2, 1), "[output]", "[output] needs `path`", "add path ="),
    ("[[models]]\nname = \"x\"\n[[models]]\nk = 3", (3, 1), "[[models]]", "[[models]] needs `name`", "add name ="),
    ("[columns]\nage = { kind = \"numeric\" }", (2, 7), "{ kind = \"numeric\" }", "column `age` has no role", "add role = \"quasi\""),
    ("[columns]\nage = { role = \"sensitive\", labels = \"star\" }", (2, 29), "labels", "column `age` has `labels` but is not a quasi-identifier", "requires a column with role = \"quasi\""),
    ("[output]\npath = \"\"", (2, 8), "\"\"", "`path` cannot be ``: it takes the path of a file", ""),
    // Syntax
    ("[input]\npath = \"x.csv", (2, 14), "", "job file `job.toml` is not valid TOML: invalid basic string", ""),
    ("[input]\nformat = \"csv\"\nformat = \"csv\"", (3, 1), "format", "not valid TOML: duplicate key", ""),
    ("[columns\nage = \"quasi\"", (1, 9), "", "not valid TOML: unclosed table", ""),
];

#[test]
fn errors_have_a_message_a_place_and_help() {
    for (text, at, shown, says, help) in WRONG {
        let JobError { error, place, .. } = error(text);
        let place = place.expect(text);
        let found = (place.line_and_column(), &place.text[place.span.clone()]);
        assert_eq!((found, error.fault()), ((*at, *shown), Fault::Job), "{error}\n{text}");
        assert!(error.message().contains(says), "{error}\n{text}");
        assert!(error.advice().unwrap_or("").contains(help), "{:?}\n{text}", error.advice());
        assert_eq!(place.file, "job.toml");
    }
}

/// A job with the required keys of every section, one per line.
const ALL_TABLES: &str = r#"input.path = "people.csv"
output.path = "out.csv"
columns.age.role = "quasi"
columns.born.role = "quasi"
columns.disease.role = "sensitive"
columns.disease.categories = { Top = ["HIV"] }
models = [{ name = "k-anonymity", k = 2 }]
population.path = "everybody.csv"
algorithm.undersized = "pool"
external.path = "voters.csv"
external.id = "ssn"
suppression.name = "safe-d"
suppression.l = 2
compare.k = [3]
"#;

/// A value in a job file and as flags: key, lines of the file, and flags with their words.
type Same = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

#[rustfmt::skip]
const SAME: &[Same] = &[
    ("[input] path", "input.path = [\"a.csv\", \"b-*.csv\"]", &[("TABLE", "a.csv"), ("TABLE", "b-*.csv")]),
    ("[input] missing", "input.missing = [\"\", \"?\", \"-\"]", &[("missing", ",?,-")]),
    ("[input] missing", "input.missing = []", &[("missing", "[]")]),
    ("[input] missing", "input.missing = [\"a,b\"]", &[("missing", "[\"a,b\"]")]),
    ("[input] on_missing", "input.on_missing = \"keep\"", &[("on-missing", "keep")]),
    ("[input] default_role", "input.default_role = \"passthrough\"", &[("default-role", "passthrough")]),
    ("[input] delimiter", "input.delimiter = \";\"", &[("delimiter", ";")]),
    ("[input] delimiter", "input.delimiter = \"tab\"", &[("delimiter", "\\t")]),
    ("[input] delimiter", "input.delimiter = \"\\t\"", &[("delimiter", "tab")]),
    ("[input] delimiter", "input.delimiter = '\\t'", &[("delimiter", "\t")]),
    ("[input] format", "input.format = \"arrow\"", &[("format", "arrow")]),
    ("[input] sheet", "input.sheet = \"people\"", &[("sheet", "people")]),
    ("[input] decimal", "input.decimal = \",\"", &[("decimal", ",")]),
    ("[output] format", "output.format = \"parquet\"", &[("output-format", "parquet")]),
    ("[output] delimiter", "output.delimiter = \";\"", &[("output-delimiter", ";")]),
    ("[output] decimal", "output.decimal = \",\"", &[("output-decimal", ",")]),
    ("[output] missing", "output.missing = \"-\"", &[("output-missing", "-")]),
    ("[output] numbers", "output.numbers = \"low-high\"", &[("numbers", "low-high")]),
    ("[output] sets", "output.sets = \"list\"", &[("sets", "list")]),
    ("[input] encoding", "input.encoding = \"latin1\"", &[("encoding", "latin1")]),
    ("[input] person", "input.person = \"patient\"", &[("person", "patient")]),
    ("[input] weight", "input.weight = \"pw\"", &[("weight", "pw")]),
    ("[output] publish_weight", "output.publish_weight = \"group-mean\"", &[("publish-weight", "group-mean")]),
    ("[output] path", "output.path = \"new.csv\"", &[("output", "new.csv")]),
    ("[output] manifest", "output.manifest = \"m.json\"", &[("manifest", "m.json")]),
    ("[output] replace", "output.replace = true", &[("replace", "true")]),
    ("[output] report", "output.report = \"r.html\"", &[("report", "r.html")]),
    ("[output] owner_report", "output.owner_report = \"o.html\"", &[("owner-report", "o.html")]),
    ("[output] csv_safe", "output.csv_safe = true", &[("csv-safe", "true")]),
    ("[output] sign", "output.sign = \"my.key\"", &[("sign", "my.key")]),
    ("[output] order", "output.order = \"sorted\"", &[("order", "sorted")]),
    ("[columns] role", "columns.sex.role = \"quasi\"\ncolumns.race = \"quasi\"", &[("quasi", "sex,race")]),
    ("[columns] role", "columns.age.role = \"sensitive\"", &[("sensitive", "age")]),
    ("[columns] role", "columns.name = \"identifier\"", &[("identifier", "name")]),
    ("[columns] role", "columns.age.role = \"passthrough\"", &[("passthrough", "age")]),
    ("[columns] role", "columns.age.role = \"drop\"", &[("drop", "age")]),
    ("[columns] linkable", "columns.disease.linkable = false", &[("unlinkable", "disease")]),
    ("[columns] kind", "columns.age.kind = \"numeric\"", &[("kind", "age=numeric")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mask = {} }", &[("hierarchy", "age=mask")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mask = { from = \"left\" } }", &[("hierarchy", "age=mask:left")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mask = { char = \"#\" } }", &[("hierarchy", "age=mask:right,#")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mask = { char = \"#\", from = \"left\" } }", &[("hierarchy", "age=mask:char=#,from=left")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { intervals = { width = 5 } }", &[("hierarchy", "age=intervals:5")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { intervals = { width = 5, levels = 4, factor = 3, origin = 1 } }", &[("hierarchy", "age=intervals:5,4,3,1")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { intervals = { width = 5, origin = -1 } }", &[("hierarchy", "age=intervals:width=5,origin=-1")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { cuts = [18, 30.5, 65] }", &[("hierarchy", "age=cuts:18,30.5,65")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { cuts = [[18, 30, 65], [30]] }", &[("hierarchy", "age=cuts:18,30,65/30")]),
    ("[columns] hierarchy", "columns.born.hierarchy = \"dates\"", &[("hierarchy", "born=dates")]),
    ("[columns] hierarchy", "columns.born.hierarchy = { dates = [\"month\", \"year\"] }", &[("hierarchy", "born=dates:month,year")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mdr = { outliers = \"none\" } }", &[("hierarchy", "age=mdr:none")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mdr = { outliers = [20, 60] } }", &[("hierarchy", "age=mdr:20,60")]),
    ("[columns] hierarchy", "columns.born.hierarchy = { mdr = { outliers = [\"2020-01-01\", \"2020-12-31\"] } }", &[("hierarchy", "born=mdr:2020-01-01,2020-12-31")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { mdr = { factors = [1, 2, 8], outliers = \"none\", quantile = \"chunk\", base_width = 2 } }", &[("hierarchy", "age=mdr:factors=1|2|8,outliers=none,quantile=chunk,base_width=2")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { tree = { Young = [\"1\", \"2\"], Old = [\"90\"] } }", &[("hierarchy", "age={ tree = { Young = [\"1\", \"2\"], Old = [\"90\"] } }")]),
    ("[columns] hierarchy", "columns.age.hierarchy = \"mask:left,#\"", &[("hierarchy", "age={ mask = { char = '#', from = 'left' } }")]),
    ("[columns] hierarchy", "columns.age.hierarchy = \"bands\"", &[("hierarchy", "age={ bands = {} }")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { known = \"ages\" }", &[("hierarchy", "age=ages")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { known = \"icd9\" }", &[("hierarchy", "age=icd9")]),
    ("[columns] hierarchy", "columns.age.hierarchy = { columns = [\"a\", \"b\"] }", &[("hierarchy", "age=columns:a,b")]),
    ("[columns] format", "columns.born.format = \"DD/MM/YYYY\"", &[("date", "born=DD/MM/YYYY")]),
    ("[columns] top", "columns.age.top = 90", &[("top", "age=90")]),
    ("[columns] bottom", "columns.age.bottom = 16.5", &[("bottom", "age=16.5")]),
    ("[columns] min_level", "columns.age.min_level = 2", &[("min-level", "age=2")]),
    ("[columns] labels", "columns.age.labels = \"star\"", &[("labels", "age=star")]),
    ("[columns] domain", "columns.age.domain = [-5, 120.5]", &[("domain", "age=-5:120.5")]),
    ("[columns] domain", "columns.age.domain = [0, 120]", &[("domain", "age=[0, 120]")]),
    ("[columns] weight", "columns.age.weight = 2.5", &[("column-weight", "age=2.5")]),
    ("[columns] categories", "columns.disease.categories = { \"Top Secret\" = [\"HIV\", \"Cancer\"], Any = [\"Flu\"] }", &[("category", "disease:Top Secret=HIV, Cancer"), ("category", "disease:Any=Flu")]),
    ("[columns] publish", "columns.disease.publish = \"both\"", &[("publish", "disease=both")]),
    ("[[models]] name", "models = [{ name = \"k-anonymity\", k = 7 }]", &[("k", "7")]),
    ("[[models]] name", "models = [{ name = \"k-anonymity\", k = 7 }, { name = \"l-diversity\", l = 2, on = \"disease\" }]", &[("k", "7"), ("model", "l-diversity:l=2,on=disease")]),
    ("[population] path", "population.path = [\"a.csv\", \"b.csv\"]", &[("population", "a.csv"), ("population", "b.csv")]),
    ("[algorithm] name", "algorithm.name = \"mondrian\"\nalgorithm.undersized = \"block\"\nalgorithm.priority = [\"age\", \"born\"]", &[("algorithm", "mondrian"), ("set", "undersized=block"), ("set", "priority=age,born")]),
    ("[algorithm] suppression_limit", "algorithm.suppression_limit = 0.25", &[("suppression-limit", "0.25")]),
    ("[algorithm] cells", "algorithm.cells = \"suppress\"", &[("cells", "suppress")]),
    ("[algorithm] missing_cells", "algorithm.missing_cells = \"any\"", &[("missing-cells", "any")]),
    ("[columns] max_missing", "columns.age.max_missing = 0.25", &[("max-missing", "age=0.25")]),
    ("[algorithm] suppressed", "algorithm.suppressed = \"star\"", &[("suppressed", "star")]),
    ("[algorithm] bound", "algorithm.bound = true", &[("bound", "true")]),
    ("[external] path", "external.path = \"others.csv\"", &[("external", "others.csv")]),
    ("[external] id", "external.id = \"nr\"", &[("id", "nr")]),
    ("[external] method", "external.method = \"direct\"", &[("method", "direct")]),
    ("[external] on_conflict", "external.on_conflict = \"external\"", &[("on-conflict", "external")]),
    ("[external] on_conflict", "external.on_conflict = \"pd\"", &[("on-conflict", "pd")]),
    ("[external] trim", "external.trim = \"greedy\"", &[("trim", "greedy")]),
    ("[external] values", "external.values = \"v.csv\"", &[("values", "v.csv")]),
    ("[external] audit", "external.audit = \"a.csv\"", &[("audit", "a.csv")]),
    ("[suppression] name", "suppression.name = \"r-suppression\"\nsuppression.l = 6\nsuppression.on = \"disease\"", &[("suppression", "r-suppression:l=6,on=disease")]),
    ("[suppression] key", "suppression.key = \"secret\"", &[("suppression-key", "secret")]),
    ("[suppression] seed", "suppression.seed = 7", &[("suppression-seed", "7")]),
    ("[suppression] again", "suppression.again = true", &[("again", "true")]),
    ("[compare] algorithms", "compare.algorithms = [\"mondrian\", \"full-domain:search=fast,metric=ncp\", \"top-down\"]", &[("algorithms", "mondrian,full-domain:search=fast,metric=ncp,top-down")]),
    ("[compare] k", "compare.k = [2, 5]", &[("k", "2,5")]),
    ("[compare] models", "compare.models = [\"k-anonymity\", \"l-diversity:l=2|3\"]", &[("models", "k-anonymity"), ("models", "l-diversity:l=2|3")]),
    ("[compare] suppression_limits", "compare.suppression_limits = [0, 0.1]", &[("suppression-limit", "0,0.1")]),
    ("[compare] loss", "compare.loss = \"discernibility\"", &[("loss", "discernibility")]),
    ("[compare] dir", "compare.dir = \"swept\"", &[("output", "swept")]),
    ("[compare] threads", "compare.threads = 2", &[("threads", "2")]),
];

/// Returns [`ALL_TABLES`] with some lines replaced.
fn with_lines(lines: &str) -> String {
    let key = |line: &str| line.split(" = ").next().unwrap().to_owned();
    let replaced: Vec<String> = lines.lines().map(key).collect();
    let kept = ALL_TABLES.lines().filter(|line| !replaced.contains(&key(line)));
    kept.chain(lines.lines()).map(|line| format!("{line}\n")).collect()
}

/// Returns [`ALL_TABLES`] with flags.
fn with_flags(title: &str, flags: &[(&str, &str)]) -> JobFile {
    let mut builder = JobBuilder::parse("job.toml", ALL_TABLES, Path::new("")).unwrap();
    let key = keys::titled(title).unwrap();
    for flag in key.flags {
        let name = if flag.long.is_empty() { flag.value } else { flag.long };
        let words: Vec<_> = flags
            .iter()
            .filter(|(long, _)| *long == name)
            .map(|(_, word)| (*word).into())
            .collect();
        if !words.is_empty() {
            builder.flag(key, flag, &words).unwrap_or_else(|e| panic!("{title} {flags:?}: {e}"));
        }
    }
    builder.finish().unwrap_or_else(|e| panic!("{title} {flags:?}: {e}"))
}

#[test]
fn every_key_has_the_same_meaning_in_a_file_and_as_a_flag() {
    for (title, lines, flags) in SAME {
        let (mut file, flagged) = (job(&with_lines(lines)), with_flags(title, flags).job);
        // Columns are in the order in which they were named.
        let order = |columns: &[(String, ColumnJob)]| {
            columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let wanted = order(&flagged.columns);
        file.columns.sort_by_key(|(name, _)| wanted.iter().position(|known| known == name));
        assert_eq!(file, flagged, "{lines}");
        if *title != "[algorithm] name" {
            assert_ne!(file, job(ALL_TABLES), "{lines} does nothing");
        }
    }
}

#[test]
fn every_key_and_every_flag_is_tested() {
    // A directory of hierarchies and tables of databases are tested below.
    let below = ["[input] hierarchies", "[input] table", "[input] query", "[output] table"];
    for key in keys::KEYS.iter().filter(|key| !below.contains(&key.title().as_str())) {
        assert!(!key.flags.is_empty(), "{} has no flag: give it one in job/keys/", key.title());
        for flag in key.flags {
            let name = if flag.long.is_empty() { flag.value } else { flag.long };
            let tested = |(title, _, flags): &&Same| {
                *title == key.title() && flags.iter().any(|(long, _)| *long == name)
            };
            let title = key.title();
            assert!(
                SAME.iter().any(|same| tested(&same)),
                "add {title} as lines of a job and as --{name} to `SAME` of {}",
                file!()
            );
        }
    }
}

#[test]
fn the_listed_defaults_are_the_actual_ones() {
    for key in keys::KEYS.iter().filter(|key| !key.default.is_empty()) {
        let (title, path) = (key.title(), format!("{}.{}", key.section.name(), key.name));
        match path.as_str() {
            "compare.algorithms" => assert_eq!(key.default, crate::compare::DEFAULT_ALGORITHMS),
            "compare.k" => {
                assert_eq!(key.default, crate::compare::DEFAULT_K.map(|k| k.to_string()))
            }
            "compare.loss" => assert_eq!(key.default, ["ncp"]),
            "compare.dir" => assert_eq!(key.default, ["comparison"]),
            // An importance of 1 is stored, but has the effect of none.
            "columns.weight" => assert_eq!(key.default, ["1"]),
            // Only standard output has this default; otherwise the extension decides.
            "output.format" => assert_eq!(key.default, ["csv"]),
            "output.publish_weight" => assert_eq!(key.default, ["no"]),
            "output.order" => {
                assert_eq!(job("output.path = 'x'").output.unwrap().order, Order::Shuffled)
            }
            _ => {
                let words = key.default.join(",");
                let words = if key.section == keys::Section::Columns {
                    format!("age={words}")
                } else {
                    words
                };
                let flagged = with_flags(&title, &[(key.flags[0].long, &words)]).job;
                assert_eq!(flagged, job(ALL_TABLES), "{title}");
            }
        }
    }
}

#[test]
fn a_directory_of_hierarchies_applies_to_columns_without_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("census_zip.csv"), "1;*\n").unwrap();
    std::fs::write(dir.path().join("age.toml"), "Old = [90]\n").unwrap();
    let text = "[columns]\nage = { role = \"quasi\", kind = \"numeric\" }\nzip = \"quasi\"\n";
    let key = keys::titled("[input] hierarchies").unwrap();
    let mut builder = JobBuilder::parse("job.toml", text, Path::new("")).unwrap();
    builder.flag(key, &key.flags[0], &[dir.path().into()]).unwrap();
    let flagged = builder.finish().unwrap().job;
    let text = format!("input.hierarchies = '{}'\n{text}", dir.path().display());
    assert_eq!(job(&text), flagged);
    assert!(flagged.column("age").unwrap().spec.hierarchy.is_none());
    assert!(flagged.column("zip").unwrap().spec.hierarchy.is_some());
    let error = error("[input]\nhierarchies = \"nowhere\"\n[columns]\nzip = \"quasi\"");
    assert_eq!(error.place.unwrap().line_and_column(), (2, 15));
}

#[test]
fn every_value_has_its_source() {
    let text = "[columns]\nage = \"quasi\"\nzip = { role = \"quasi\", kind = \"text\" }\n\
                [[models]]\nname = \"k-anonymity\"\nk = 2\n";
    let mut builder = JobBuilder::parse("job.toml", text, Path::new("")).unwrap();
    let file = builder.clone().finish().unwrap().provenance;
    assert_eq!(file.of("columns.age.role"), Origin::Line(2));
    assert_eq!(file.of("columns.zip.kind"), Origin::Line(3));
    assert_eq!(file.of("models.0.k"), Origin::Line(6));
    assert_eq!(file.of("input.missing"), Origin::Default);
    for (title, flag, word) in [
        ("[[models]] name", 0, "5"),
        ("[columns] kind", 0, "age=numeric"),
        ("[columns] role", 1, "zip"),
        ("[input] path", 0, "people.csv"),
    ] {
        let key = keys::titled(title).unwrap();
        builder.flag(key, &key.flags[flag], &[word.into()]).unwrap();
    }
    let both = builder.finish().unwrap().provenance;
    assert_eq!(both.of("models.0"), Origin::Flag("-k".into()));
    assert_eq!(both.of("columns.age.kind"), Origin::Flag("--kind".into()));
    assert_eq!(both.of("columns.age.role"), Origin::Line(2));
    assert_eq!(both.of("columns.zip.role"), Origin::Flag("--sensitive".into()));
    assert_eq!(both.of("columns.zip.kind"), Origin::Line(3));
    assert_eq!(both.of("input.path"), Origin::Flag("TABLE".into()));
    // Errors found later contain the source too.
    let located = both.locate(incrowd_core::Error::job("k").at("models.0.k"));
    assert_eq!((located.flag.as_deref(), located.place), (Some("-k"), None));
    let located = both.locate(incrowd_core::Error::job("kind").at("columns.zip.kind"));
    assert_eq!(located.place.unwrap().line_and_column().0, 3);
}

#[test]
fn old_spellings_work_with_a_note() {
    let text = "[columns]\nd = { role = \"sensitive\", publish_sa = \"value\" }\n\
                [external]\npath = \"v.csv\"\nid = \"ssn\"\n\
                on_conflict = \"pd\"\nsensitive = \"si.csv\"\n";
    let file = parse("job.toml", text, Path::new("")).unwrap();
    assert_eq!(file.job.columns[0].1.publish, Some(Publish::Value));
    let external = file.job.external.unwrap();
    assert_eq!(external.on_conflict, OnConflict::External);
    assert_eq!(external.sensitive, Some("si.csv".into()));
    let notes = [
        "`publish_sa` is now called `publish`",
        "`on_conflict = \"pd\"` is now called `\"external\"`",
        "`sensitive` is now called `values`",
    ];
    assert_eq!(file.notes, notes);
    assert_eq!(file.provenance.of("external.values"), Origin::Line(7));
}

#[test]
fn further_outputs_follow_a_release_that_a_flag_moves() {
    let text = "[output]\npath = \"a.csv\"\nmanifest = \"a.json\"\n\
                report = \"a.html\"\nowner_report = \"o.html\"\n\
                [external]\npath = \"v.csv\"\nid = \"ssn\"\n\
                values = \"si.csv\"\naudit = \"audit.csv\"\n";
    let moved = |flags: &[(&str, usize, &str)]| {
        let mut builder = JobBuilder::parse("job.toml", text, Path::new("jobs")).unwrap();
        for (title, flag, word) in flags {
            let key = keys::titled(title).unwrap();
            builder.flag(key, &key.flags[*flag], &[(*word).into()]).unwrap();
        }
        builder.finish().unwrap()
    };
    let file = moved(&[("[output] path", 0, "new/b.release.csv.gz")]);
    let (output, external) = (file.job.output.unwrap(), file.job.external.unwrap());
    assert_eq!(output.manifest, None);
    assert_eq!(output.report, Some("new/b.report.html".into()));
    assert_eq!(output.owner_report, Some("new/b.owner.html".into()));
    assert_eq!(external.sensitive, None);
    assert_eq!(external.audit, Some("new/b.audit.csv".into()));
    assert_eq!(file.notes.len(), 1, "{:?}", file.notes);
    assert!(file.notes[0].contains("the report goes to `new/b.report.html`"), "{:?}", file.notes);
    // A flag takes precedence. If the release is not moved, the paths of the file apply.
    let file = moved(&[("[output] path", 0, "b.csv"), ("[output] report", 0, "mine.html")]);
    assert_eq!(file.job.output.unwrap().report, Some("mine.html".into()));
    let file = moved(&[("[output] path", 0, "jobs/a.csv")]);
    assert_eq!(file.job.output.unwrap().report, Some("jobs/a.html".into()));
    assert_eq!(file.notes, [] as [&str; 0]);
}

#[test]
fn tables_of_databases_are_part_of_their_addresses() {
    const DATABASE: &str = "postgresql://me@host/db";
    let file = |lines: &str| {
        JobBuilder::parse("job.toml", lines, Path::new("jobs")).and_then(|b| b.finish())
    };
    let flagged = |lines: &str, title: &str, word: &str| {
        let key = keys::titled(title).unwrap();
        let mut builder = JobBuilder::parse("job.toml", lines, Path::new("jobs"))?;
        builder.flag(key, &key.flags[0], &[word.into()])?;
        builder.finish()
    };
    let both = format!("input.path = \"{DATABASE}\"\noutput.path = \"{DATABASE}\"\n");
    let job = file(&format!("{both}input.table = \"care.people\"\noutput.table = \"release\""))
        .unwrap()
        .job;
    assert_eq!(job.input.paths, [format!("{DATABASE}?table=care.people").into()]);
    assert_eq!(job.output.unwrap().path, format!("{DATABASE}?table=release").into());
    assert_eq!(flagged(&both, "[input] table", "care.people").unwrap().job.input, job.input);
    let query = flagged(&both, "[input] query", "select 1").unwrap().job.input;
    assert_eq!(query.paths, [format!("{DATABASE}?query=select%201").into()]);
    let release = flagged(&both, "[output] table", "r").unwrap().job.output.unwrap();
    assert_eq!(release.path, format!("{DATABASE}?table=r").into());
    for (lines, title) in [
        ("input.path = \"people.csv\"", "[input] table"),
        ("input.path = \"people.csv\"", "[input] query"),
        ("output.path = \"release.csv\"", "[output] table"),
    ] {
        assert!(
            flagged(lines, title, "x").unwrap_err().to_string().contains("only a database"),
            "{lines}"
        );
    }
    let with = both.replace("me@", "me:hunter2@");
    let error = file(&with).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[test]
fn a_stated_model_is_the_same_as_one_by_name() {
    use incrowd_core::model::{MODELS, Stated, alpha_k_anonymity, l_diversity};
    let by_name = |name, params: &[(&str, Value)]| Job::default().model(name, params.to_vec());
    let whole = Value::Integer;
    assert_eq!(
        Job::default().with_model(l_diversity(3).on("disease")),
        by_name("l-diversity", &[("l", whole(3)), ("on", Value::Word("disease".into()))]),
    );
    assert_eq!(
        Job::default().with_model(alpha_k_anonymity(0.5, 4).with("values", ["flu", "cold"])),
        by_name(
            "alpha-k-anonymity",
            &[
                ("alpha", Value::Real(0.5)),
                ("k", whole(4)),
                ("values", Value::Words(vec!["flu".into(), "cold".into()])),
            ],
        ),
    );
    for card in MODELS {
        let required = card.params.iter().filter(|param| param.default.is_none());
        let params: Vec<(&str, Value)> = required.map(|param| (param.name, whole(1))).collect();
        let stated = params.iter().fold(Stated::new(card), |s, (name, _)| s.with(name, 1u32));
        assert_eq!(Job::default().with_model(stated), by_name(card.name, &params));
    }
}
