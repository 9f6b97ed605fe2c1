//! Whole job files: what they mean, and where the wrong ones are wrong.

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
fn the_example_of_the_design_means_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("hierarchies")).unwrap();
    let lines = "Private;Employed;*\nNever-worked;Unemployed;*\n";
    std::fs::write(dir.path().join("hierarchies/workclass.csv"), lines).unwrap();
    let text = r#"
[input]
path = "adult.csv.gz"            # csv(.gz|.zst), parquet, arrow; delimiter and types are sniffed, or stated
missing = ["", "?", "NA"]        # what counts as missing
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
name = "mondrian"                # the default; options are the algorithm's own keys
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
        input: Input { paths: vec![dir.path().join("adult.csv.gz")], ..Input::default() },
        output: Some(Output {
            path: dir.path().join("adult.release.csv"),
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
        original: Vec::new(),
        suppression: None,
        population: None,
    };
    assert_eq!(file.job, expected);
    assert_eq!(file.source.name, path.display().to_string());
    assert_eq!(file.source.text, text);
}

#[test]
fn every_other_key_means_what_it_says() {
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
        publish_sa = "both"
        [columns.zip]
        role = "quasi"
        labels = "star"
        domain = [0, 99.5]
        "#);
    assert_eq!(
        job.input,
        Input {
            paths: vec!["a-*.csv".into(), "/b.csv".into()],
            missing: vec![],
            on_missing: OnMissing::Keep,
            default_role: DefaultRole::Passthrough,
            delimiter: Some(b'\t'),
            format: Some("csv".into()),
        }
    );
    let manifest = Some(PathBuf::from("out.json"));
    assert_eq!(
        job.output,
        Some(Output { path: "out.csv".into(), manifest, order: Order::Sorted, ..Output::default() })
    );
    assert_eq!((job.algorithm.name.as_str(), job.algorithm.suppression_limit), ("full-domain", 1.0));
    let params = [
        ("search".to_owned(), Value::Word("fast".into())),
        ("deep".to_owned(), Value::Flag(true)),
        ("weight".to_owned(), Value::Real(0.5)),
        ("among".to_owned(), Value::Words(vec!["age".into(), "zip".into()])),
    ];
    assert_eq!(job.algorithm.params, params);
    let spec = ColumnSpec { labels: Labels::Star, domain: Some((0.0, 99.5)), ..ColumnSpec::default() };
    let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    let categories =
        vec![("Top Secret".to_owned(), own(&["HIV", "Cancer"])), ("Any".to_owned(), own(&["Flu"]))];
    let disease = ColumnJob {
        role: RoleName::Sensitive,
        spec: ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
        categories: Some(Categories::new(categories).unwrap()),
        publish: Some(Publish::Both),
    };
    let zip = ColumnJob { role: RoleName::Quasi, spec, ..ColumnJob::default() };
    assert_eq!(job.columns, [("disease".to_owned(), disease), ("zip".to_owned(), zip)]);
    assert_eq!(job.algorithm.suppressed, Suppressed::Star);
    assert_eq!(job.population.unwrap().paths, [PathBuf::from("voters-*.csv")]);
}

#[test]
fn an_empty_file_is_the_default_job() {
    assert_eq!(job(""), Job::default());
    assert_eq!(Job::default().input.missing, ["", "?", "NA"]);
}

#[test]
fn short_forms_keep_the_order_written() {
    let job = job("columns = { zip = \"quasi\", age = 'quasi', \"\" = \"drop\" }\ninput.path = \"x.csv\"");
    let names: Vec<_> = job.columns.iter().map(|(name, column)| (name.as_str(), column.role)).collect();
    assert_eq!(names, [("zip", RoleName::Quasi), ("age", RoleName::Quasi), ("", RoleName::Drop)]);
    assert_eq!(job.input.paths, [Path::new("x.csv")]);
}

#[test]
fn a_program_adds_columns() {
    let mut job = job("columns.age = \"quasi\"");
    job.column_mut("age").role = RoleName::Sensitive;
    job.column_mut("zip").spec.labels = Labels::Star;
    let names: Vec<_> = job.columns.iter().map(|(name, column)| (name.as_str(), column.role)).collect();
    assert_eq!(names, [("age", RoleName::Sensitive), ("zip", RoleName::Drop)]);
}

#[test]
fn relative_paths_are_relative_to_the_base() {
    let text =
        "[input]\npath = [\"a.csv\", \"/b.csv\"]\n[output]\npath = \"../o.csv\"\nmanifest = \"m.json\"";
    let job = parse("job.toml", text, Path::new("jobs")).unwrap().job;
    assert_eq!(job.input.paths, [Path::new("jobs/a.csv"), Path::new("/b.csv")]);
    let output = job.output.unwrap();
    assert_eq!(output.path, Path::new("jobs/../o.csv"));
    assert_eq!(output.manifest.as_deref(), Some(Path::new("jobs/m.json")));
}

/// Job file, line, column and text of the place, message, help.
type Case = (&'static str, (usize, usize), &'static str, &'static str, &'static str);

#[rustfmt::skip]
const WRONG: &[Case] = &[
    // Spelling
    ("[columns]\nzip = { role = \"quasi\", hierachy = \"dates\" }", (2, 25), "hierachy", "unknown key `hierachy` in [columns.zip]", "did you mean `hierarchy`?"),
    ("[columns.\"marital.status\"]\nrole = \"quasi\"\nlabel = \"set\"", (3, 1), "label", "unknown key `label` in [columns.\"marital.status\"]", "did you mean `labels`?"),
    ("[columns]\nmarital.status = \"quasi\"", (2, 9), "status", "unknown key `status` in the column `marital`", "quotes: \"marital.status\""),
    ("[columns.marital.status]\nrole = \"quasi\"", (1, 18), "status", "unknown key `status` in the column `marital`", "quotes: \"marital.status\""),
    ("[columns]\nage.roll = \"quasi\"", (2, 5), "roll", "unknown key `roll` in [columns.age]", "did you mean `role`?"),
    ("[columns]\n'ä' = { roll = \"quasi\" }", (2, 9), "roll", "unknown key `roll` in [columns.\"ä\"]", "did you mean `role`?"),
    ("[input]\n# the table\npaths = \"x\"", (3, 1), "paths", "unknown key `paths` in [input]", "did you mean `path`?"),
    ("[output]\npath = \"x\"\ncolour = \"y\"", (3, 1), "colour", "unknown key `colour` in [output]", "known are: path, manifest, order"),
    ("[foreign]\npath = \"x\"", (1, 2), "foreign", "unknown table [foreign]", "known are: input, output, columns, models, population, algorithm"),
    ("[foreigners]", (1, 2), "foreigners", "unknown table [foreigners]", "known are: input"),
    ("[column]\nage = \"quasi\"", (1, 2), "column", "unknown table [column]", "did you mean `columns`?"),
    ("k = 3", (1, 1), "k", "unknown key `k` outside of any table", "known are"),
    ("[columns]\nz = { role = \"quasi\", hierarchy = { msk = {} } }", (2, 37), "msk", "unknown key `msk` in [columns.z.hierarchy]", "did you mean `mask`?"),
    ("[columns]\nz.role = \"quasi\"\nz.hierarchy.mask.form = \"left\"", (3, 18), "form", "unknown key `form` in [columns.z.hierarchy.mask]", "did you mean `from`?"),
    // Words
    ("[input]\non_missing = \"dorp\"", (2, 14), "\"dorp\"", "`on_missing` cannot be `dorp`: it takes drop or keep", "did you mean `drop`?"),
    ("[columns]\nage = \"quasy\"", (2, 7), "\"quasy\"", "`age` cannot be `quasy`: it takes identifier, quasi, sensitive, passthrough or drop", "did you mean `quasi`?"),
    ("[columns]\nage = { role = \"qi\" }", (2, 16), "\"qi\"", "`role` cannot be `qi`", "known are: identifier, quasi"),
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
    ("[columns]\nage = { role = \"sensitive\", labels = \"star\" }", (2, 29), "labels", "column `age` has `labels` but is not a quasi-identifier", "only columns with role = \"quasi\""),
    ("[output]\npath = \"\"", (2, 8), "\"\"", "`path` cannot be ``: it takes the path of a file", ""),
    // Syntax
    ("[input]\npath = \"x.csv", (2, 14), "", "job file `job.toml` is not valid TOML: invalid basic string", ""),
    ("[input]\nformat = \"csv\"\nformat = \"csv\"", (3, 1), "format", "not valid TOML: duplicate key", ""),
    ("[columns\nage = \"quasi\"", (1, 9), "", "not valid TOML: unclosed table", ""),
];

#[test]
fn errors_say_what_where_and_what_would_work() {
    for (text, at, shown, says, help) in WRONG {
        let JobError { error, place } = error(text);
        let place = place.expect(text);
        let found = (place.line_and_column(), &place.text[place.span.clone()]);
        assert_eq!((found, error.fault()), ((*at, *shown), Fault::Job), "{error}\n{text}");
        assert!(error.message().contains(says), "{error}\n{text}");
        assert!(error.advice().unwrap_or("").contains(help), "{:?}\n{text}", error.advice());
        assert_eq!(place.file, "job.toml");
    }
}
