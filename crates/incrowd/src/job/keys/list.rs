//! The list of keys.

use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Categories, DateFormat, Error, Kind as ValueKind, Labels, MissingCells, Publish};

use super::Command::{self, Anonymize, Attack, Batches, Compare, Init, Measure, Profile, Report, Verify};
use super::{Flag, Form, Key, Kind, Section, Set};
use crate::compare::USUAL_ALGORITHMS;
use crate::job::given::{At, Entry, Read};
use crate::job::{
    Cells, DefaultRole, Encoding, JoinMethod, Numbers, OnConflict, OnMissing, Order, PublishWeight, RoleName,
    Sets, Suppressed, Trim, hierarchy,
};

const fn key(section: Section, name: &'static str, kind: Kind) -> Key {
    Key {
        section,
        name,
        kind,
        default: &[],
        about: "",
        more: "",
        required: None,
        roles: &[],
        flags: &[],
        old: &[],
        old_words: &[],
        set: Set::Job(|_, _| Ok(())),
    }
}

const fn flag(long: &'static str, value: &'static str, on: &'static [Command]) -> Flag {
    Flag { long, short: None, value, form: Form::Value, about: None, on, alias: &[], old: &[] }
}

/// A flag that gives columns a role.
const fn role(long: &'static str, about: &'static str) -> Flag {
    Flag { form: Form::Columns(long), about: Some(about), ..flag(long, "COLUMNS", TABLES_AND_INIT) }
}

/// A flag that says something of one column at a time.
const fn of_column(long: &'static str, value: &'static str) -> Flag {
    Flag { form: Form::PerColumn, ..flag(long, value, TABLES) }
}

/// The words of a choice.
const fn words<T, const N: usize>(all: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = all[i].0;
        i += 1;
    }
    words
}

const MAKING: &[Command] = &[Anonymize, Batches];
const TABLES: &[Command] = &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report];
const TABLES_AND_INIT: &[Command] = &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report, Init];
const LOOKING: &[Command] = &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report, Profile, Init];
const DATABASES: &[Command] = &[Anonymize, Compare, Verify, Measure, Attack, Report, Profile, Init];
const ALONG: &[Command] = &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report, Profile];

const LABELS: [(&str, Labels); 2] = [("set", Labels::Set), ("star", Labels::Star)];
const FORMATS: [(&str, &str); incrowd_engine::FORMATS.len()] = {
    let mut names = [("", ""); incrowd_engine::FORMATS.len()];
    let mut i = 0;
    while i < names.len() {
        let name = incrowd_engine::FORMATS[i].name;
        names[i] = (name, name);
        i += 1;
    }
    names
};
const QUASI: &[RoleName] = &[RoleName::Quasi];
const SENSITIVE: &[RoleName] = &[RoleName::Sensitive];
const AS_IT_IS: &[RoleName] = &[RoleName::Passthrough, RoleName::Sensitive];
const BOTH: &[RoleName] = &[RoleName::Quasi, RoleName::Sensitive];

/// Every key.
pub const KEYS: &[Key] = &[
    Key {
        about: "The table: a file, a pattern such as `\"part-*.csv\"`, or a list of both; or a database",
        more: "A database is `postgresql://user@host/database`; `table` or `query` says what of it. See docs/postgres.md. All files are read as one table and must have the same columns, in any order. Tables given as arguments \
               replace it.",
        flags: &[Flag { form: Form::Argument, ..flag("", "TABLE", &[Anonymize, Compare, Profile, Init]) }],
        set: Set::Job(|b, e| e.paths().map(|paths| b.job.input.paths = paths)),
        ..key(Section::Input, "path", Kind::Files)
    },
    Key {
        about: "Texts that count as missing",
        default: &["", "?", "NA"],
        more: "The whole cell must match. A null of a typed file always counts. `[]` means that no text does.",
        flags: &[flag("missing", "TEXTS", LOOKING)],
        set: Set::Job(|b, e| e.texts().map(|texts| b.job.input.missing = texts)),
        ..key(Section::Input, "missing", Kind::Texts)
    },
    Key {
        about: "What becomes of records with a missing value",
        default: &["drop"],
        more: "`drop` leaves out every record with a missing value in a quasi-identifier or a sensitive column, and \
               counts it. `keep` makes missing a value of its own.",
        flags: &[flag("on-missing", "WHAT", TABLES)],
        set: Set::Job(|b, e| e.choice(&OnMissing::ALL).map(|way| b.job.input.on_missing = way)),
        ..key(Section::Input, "on_missing", Kind::Choice(&words(&OnMissing::ALL)))
    },
    Key {
        about: "What becomes of columns without a role",
        default: &["drop"],
        more: "What is dropped is named in a notice.",
        flags: &[flag("default-role", "ROLE", TABLES)],
        set: Set::Job(|b, e| e.choice(&DefaultRole::ALL).map(|role| b.job.input.default_role = role)),
        ..key(Section::Input, "default_role", Kind::Choice(&words(&DefaultRole::ALL)))
    },
    Key {
        about: "The delimiter, one character or `tab`, if it should not be sniffed",
        more: "Sniffed are comma, semicolon, tab and `|`.",
        flags: &[flag("delimiter", "CHAR", LOOKING)],
        set: Set::Job(|b, e| delimiter(e).map(|byte| b.job.input.delimiter = Some(byte))),
        ..key(Section::Input, "delimiter", Kind::Character)
    },
    Key {
        about: "The format, if the first bytes of the file do not show it",
        flags: &[flag("format", "FORMAT", LOOKING)],
        set: Set::Job(|b, e| e.choice(&FORMATS).map(|name| b.job.input.format = Some(name.to_owned()))),
        ..key(Section::Input, "format", Kind::Choice(&words(&FORMATS)))
    },
    Key {
        about: "How the characters of a text file are written, if its first bytes do not show it",
        more: "UTF-16 is told by the mark at its beginning, Latin-1 and Windows-1252 by bytes that UTF-8 does not have. A release \
               is always UTF-8.",
        flags: &[flag("encoding", "ENCODING", LOOKING)],
        set: Set::Job(|b, e| e.choice(&Encoding::ALL).map(|encoding| b.job.input.encoding = Some(encoding))),
        ..key(Section::Input, "encoding", Kind::Choice(&words(&Encoding::ALL)))
    },
    Key {
        about: "What stands before the fraction of a number in text, `.` or `,`, if its cells do not show it",
        more: "Marks between thousands are read as well: `1.234,5`, `1 234,5`, `1,234.5`, `1'234.5`.",
        flags: &[flag("decimal", "MARK", LOOKING)],
        set: Set::Job(|b, e| e.choice(&DecimalMark::ALL).map(|mark| b.job.input.decimal = Some(mark))),
        ..key(Section::Input, "decimal", Kind::Choice(&words(&DecimalMark::ALL)))
    },
    Key {
        about: "The sheet of an Excel file, if it has several",
        flags: &[flag("sheet", "NAME", LOOKING)],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.sheet = Some(name.to_owned()))),
        ..key(Section::Input, "sheet", Kind::Text)
    },
    Key {
        about: "The table of a database, `people` or `schema.people`",
        more: "Read as SQL reads it: `\"My people\"` with quotes keeps capital letters and blanks. For `verify` and whatever else looks \
               at a release, `--table` is the release.",
        flags: &[flag("table", "NAME", DATABASES)],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.table = Some(name.to_owned()))),
        ..key(Section::Input, "table", Kind::Text)
    },
    Key {
        about: "What is read of a database in place of a table: a query, `select …`",
        more: "It may be run more than once, always on the same state of the data, and must give the same records each time.",
        flags: &[flag("query", "SQL", DATABASES)],
        set: Set::Job(|b, e| e.text().map(|sql| b.job.input.query = Some(sql.to_owned()))),
        ..key(Section::Input, "query", Kind::Text)
    },
    Key {
        about: "The column that says whose record it is: then every promise counts persons, not records",
        more: "It is an identifier and never published. A record without a value there counts as a person of its own. See \
               docs/persons.md.",
        flags: &[flag("person", "COLUMN", &[Anonymize, Batches, Compare, Verify, Attack, Report, Init])],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.person = Some(name.to_owned()))),
        ..key(Section::Input, "person", Kind::Text)
    },
    Key {
        about: "The column of sampling weights: how many people of the population a record stands for",
        more: "Every record must have a number of at least 1 there. It is not published; `publish_weight` publishes the means of groups. \
               The population is estimated by it: for `k-map` without a population table, for the attack `population-risk`, in \
               `profile` and `measure`. See docs/weights.md.",
        flags: &[flag(
            "weight",
            "COLUMN",
            &[Anonymize, Batches, Compare, Measure, Attack, Report, Profile, Init],
        )],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.weight = Some(name.to_owned()))),
        ..key(Section::Input, "weight", Kind::Text)
    },
    Key {
        about: "A directory of hierarchy files named after their columns (age.csv, adult_hierarchy_age.csv)",
        more: "A column that has a hierarchy or a kind of its own is left alone.",
        flags: &[flag("hierarchies", "DIR", ALONG)],
        set: Set::Job(|b, e| e.path().map(|path| b.hierarchies = Some((path, e.node.at.clone())))),
        ..key(Section::Input, "hierarchies", Kind::Directory)
    },
    Key {
        about: "Where the release goes; the extension tells the format",
        more: "`.csv`, `.tsv` or `.txt`, each also with `.gz` or `.zst`; `.parquet` or `.pq`; `.arrow`, `.feather` or \
               `.ipc`. Or a database, `postgresql://user@host/database`, with `table`.",
        required: Some("path = \"release.csv\""),
        flags: &[Flag { short: Some('o'), ..flag("output", "FILE", &[Anonymize]) }],
        set: Set::Job(|b, e| e.path().map(|path| b.output().path = path)),
        ..key(Section::Output, "path", Kind::File)
    },
    Key {
        about: "The table of a database that the release becomes, if `path` is a database",
        more: "An older table of that name is replaced, in one step with the manifest, which is a row of the table \
               `incrowd_manifests`.",
        flags: &[flag("output-table", "NAME", &[Anonymize])],
        set: Set::Job(|b, e| e.text().map(|name| b.output().table = Some(name.to_owned()))),
        ..key(Section::Output, "table", Kind::Text)
    },
    Key {
        about: "Where the manifest is, if not beside the release",
        more: "`people.csv` and `people.release.csv` both have `people.release.json`.",
        flags: &[flag("manifest", "FILE", &[Anonymize, Verify, Measure, Attack, Report])],
        set: Set::Job(|b, e| e.path().map(|path| b.output().manifest = Some(path))),
        ..key(Section::Output, "manifest", Kind::File)
    },
    Key {
        about: "A page about the release that may be published",
        flags: &[flag("report", "FILE", &[Anonymize])],
        set: Set::Job(|b, e| e.path().map(|path| b.output().report = Some(path))),
        ..key(Section::Output, "report", Kind::File)
    },
    Key {
        about: "A page about the release and its original, for the data owner only",
        flags: &[flag("owner-report", "FILE", &[Anonymize])],
        set: Set::Job(|b, e| e.path().map(|path| b.output().owner_report = Some(path))),
        ..key(Section::Output, "owner_report", Kind::File)
    },
    Key {
        about: "The order of the published records",
        default: &["shuffled"],
        more: "`shuffled` by a cryptographic generator, or `sorted` by the published cells. Never the order of the input.",
        flags: &[flag("order", "ORDER", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&Order::ALL).map(|order| b.output().order = order)),
        ..key(Section::Output, "order", Kind::Choice(&words(&Order::ALL)))
    },
    Key {
        about: "Write cells of CSV so that no spreadsheet takes them for formulas",
        default: &["false"],
        more: "A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is no number gets an apostrophe before \
               it. The manifest says so, and `verify` and the other commands take it off again. Without it such cells are \
               published as they are.",
        flags: &[Flag { form: Form::Yes, ..flag("csv-safe", "", MAKING) }],
        set: Set::Job(|b, e| e.flag().map(|safe| b.output().csv_safe = safe)),
        ..key(Section::Output, "csv_safe", Kind::Flag)
    },
    Key {
        about: "The format of a release that goes to standard output",
        default: &["csv"],
        more: "Else its name tells.",
        flags: &[flag("output-format", "FORMAT", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&FORMATS).map(|name| b.output().format = Some(name.to_owned()))),
        ..key(Section::Output, "format", Kind::Choice(&words(&FORMATS)))
    },
    Key {
        about: "What separates the cells of a release in text, if not what separates those of the input",
        more: "One character or `tab`. A file whose name ends with `.tsv` has tabs, and one whose name ends with `.csv` has none \
               unless they are asked for.",
        flags: &[flag("output-delimiter", "CHAR", MAKING)],
        set: Set::Job(|b, e| delimiter(e).map(|byte| b.output().delimiter = Some(byte))),
        ..key(Section::Output, "delimiter", Kind::Character)
    },
    Key {
        about: "What stands before the fraction of a number in a release in text, if not what does in the input",
        flags: &[flag("output-decimal", "MARK", MAKING)],
        set: Set::Job(|b, e| e.choice(&DecimalMark::ALL).map(|mark| b.output().decimal = Some(mark))),
        ..key(Section::Output, "decimal", Kind::Choice(&words(&DecimalMark::ALL)))
    },
    Key {
        about: "How a missing value that is kept is written in text, if not as in the input",
        more: "By default the first text of `[input] missing` that occurs; an empty cell stays empty. Within a set it is the \
               first that is not empty. Parquet and Arrow have a null.",
        flags: &[flag("output-missing", "TEXT", MAKING)],
        set: Set::Job(|b, e| e.text().map(|text| b.output().missing = Some(text.to_owned()))),
        ..key(Section::Output, "missing", Kind::Text)
    },
    Key {
        about: "How ranges of numbers are published: as text, as columns of their ends, or as the group's mean",
        default: &["range"],
        more: "`range` is `[20, 40]`. `low-high` has the columns `age_low` and `age_high` in place of `age`, as numbers: both the \
               same for a single value, one empty for `>=90`, both for `*` and for what is missing. `mean` has the mean of the group's \
               numbers, which keeps sums and means of the table as they are; the ranges are not told. See docs/using-a-release.md.",
        flags: &[flag("numbers", "HOW", MAKING)],
        set: Set::Job(|b, e| e.choice(&Numbers::ALL).map(|numbers| b.output().numbers = numbers)),
        ..key(Section::Output, "numbers", Kind::Choice(&words(&Numbers::ALL)))
    },
    Key {
        about: "How sets are published in Parquet and Arrow: as text, or as lists",
        default: &["text"],
        more: "`text` is `{Mexico, Peru}`. `list` is a list of text, a null for `*`.",
        flags: &[flag("sets", "HOW", MAKING)],
        set: Set::Job(|b, e| e.choice(&Sets::ALL).map(|sets| b.output().sets = sets)),
        ..key(Section::Output, "sets", Kind::Choice(&words(&Sets::ALL)))
    },
    Key {
        about: "A file with a secret key to sign the manifest with",
        more: "If there is no such file, a key is made there, which only its owner can read. Whoever has the key checks the \
               manifest, and with it the release, with `incrowd verify --check KEYFILE`; whoever has it can also sign.",
        flags: &[flag("sign", "KEYFILE", MAKING)],
        set: Set::Job(|b, e| e.path().map(|path| b.output().sign = Some(path))),
        ..key(Section::Output, "sign", Kind::File)
    },
    Key {
        about: "What is published of sampling weights",
        default: &["no"],
        more: "`group-mean` publishes the mean weight of each group, in a column with the name of the weight.",
        flags: &[flag("publish-weight", "WHAT", MAKING)],
        set: Set::Job(|b, e| e.choice(&PublishWeight::ALL).map(|what| b.output().publish_weight = what)),
        ..key(Section::Output, "publish_weight", Kind::Choice(&words(&PublishWeight::ALL)))
    },
    Key {
        about: "What the column is to the release",
        more: "The roles are below.",
        flags: &[
            role("quasi", "Columns that could be linked with other sources"),
            role("sensitive", "Columns nobody should learn about a person"),
            role("identifier", "Columns that name a person; never published"),
            role("passthrough", "Columns published as they are"),
            role("drop", "Columns to leave out"),
        ],
        set: Set::Column(|c, e| e.choice(&RoleName::ALL).map(|role| c.role = role)),
        ..key(Section::Columns, "role", Kind::Choice(&words(&RoleName::ALL)))
    },
    Key {
        about: "What a column's values are, if that is not to be told from them: age=numeric",
        more: "Says nothing where there is a hierarchy.",
        roles: BOTH,
        flags: &[of_column("kind", "COLUMN=KIND")],
        set: Set::Column(|c, e| e.choice(&ValueKind::ALL).map(|kind| c.spec.kind = Some(kind))),
        ..key(Section::Columns, "kind", Kind::Choice(&words(&ValueKind::ALL)))
    },
    Key {
        about: "How a column's dates are written: born=DD.MM.YYYY",
        more: "In a job file `format = \"DD.MM.YYYY\"`. Needed only where both the day and the month could come first in every \
               date, as in `09/12/1972`, and for dates without marks, `YYYYMMDD`; else the values tell. `MON` is a month by its \
               English name. A time of day after the date is not mentioned and not published. Published dates are written \
               `1972-12-09`.",
        roles: BOTH,
        flags: &[of_column("date", "COLUMN=FORMAT")],
        set: Set::Column(|c, e| {
            let format = DateFormat::parse(e.text()?).map_err(|error| e.refuse(error))?;
            c.spec.format = Some(format);
            Ok(())
        }),
        ..key(Section::Columns, "format", Kind::Text)
    },
    Key {
        about: "How values are generalized: a file, `mask`, `dates`, intervals:WIDTH, or `mdr` for regular intervals",
        more: "In short: a file, `mask`, `mask:left,#`, `intervals:5`, `cuts:18,30,65`, `dates`, `dates:month,year`, `bands`, \
               `ages`, a classification (`icd10`, `icd9`, `countries`, `us-states`, `nuts`, `isco08`, `nace`, `naics`, `postal`), \
               `columns:district,region`, `mdr`, `mdr:none`, `mdr:factors=1|2|4`; or a table such as `{ mask = { from = \"left\" } }`.",
        roles: BOTH,
        flags: &[Flag { on: ALONG, ..of_column("hierarchy", "COLUMN=HIERARCHY") }],
        set: Set::Column(|c, e| hierarchy::hierarchy(e).map(|spec| c.spec.hierarchy = Some(spec))),
        ..key(Section::Columns, "hierarchy", Kind::Hierarchy)
    },
    Key {
        about: "How text without a hierarchy is published: country=star",
        default: &["set"],
        more: "`set` is `{Mexico, Peru}`, `star` the value itself or `*`.",
        roles: QUASI,
        flags: &[of_column("labels", "COLUMN=LABELS")],
        set: Set::Column(|c, e| e.choice(&LABELS).map(|labels| c.spec.labels = labels)),
        ..key(Section::Columns, "labels", Kind::Choice(&words(&LABELS)))
    },
    Key {
        about: "The range that counts as a numeric column's whole domain: age=0:120",
        more: "In a job file `[0, 120]`. Loss is measured against it. For dates it is in days since 1970-01-01. Values outside \
               are an error. Without it the range of the data counts.",
        roles: QUASI,
        flags: &[of_column("domain", "COLUMN=LOW:HIGH")],
        set: Set::Column(|c, e| match e.numbers()?[..] {
            [lo, hi] if lo < hi => {
                c.spec.domain = Some((lo, hi));
                Ok(())
            }
            _ => Err(e.refuse(Error::job("`domain` must be two numbers, the lower one first"))),
        }),
        ..key(Section::Columns, "domain", Kind::Range)
    },
    Key {
        about: "The number from which on all are published as one, `>=90`: age=90",
        more: "A guarantee: it is checked on the bytes to be published. Goes with numbers without a hierarchy, with intervals, \
               with cuts and with ages. A group that reaches the bound is published as `>=85`.",
        roles: QUASI,
        flags: &[of_column("top", "COLUMN=NUMBER")],
        set: Set::Column(|c, e| e.number().map(|x| c.spec.limits.top = Some(x))),
        ..key(Section::Columns, "top", Kind::Number)
    },
    Key {
        about: "The number down from which all are published as one, `<=16`: age=16",
        more: "As `top`, at the other end.",
        roles: QUASI,
        flags: &[of_column("bottom", "COLUMN=NUMBER")],
        set: Set::Column(|c, e| e.number().map(|x| c.spec.limits.bottom = Some(x))),
        ..key(Section::Columns, "bottom", Kind::Number)
    },
    Key {
        about: "The level of the hierarchy below which no cell is published: zip=2",
        more: "A guarantee: it is checked on the bytes to be published. 0 is the value itself, 1 the first level above it. A value \
               that has fewer levels above it is published as `*`.",
        roles: QUASI,
        flags: &[of_column("min-level", "COLUMN=LEVEL")],
        set: Set::Column(|c, e| {
            let level = e.count(0)?;
            c.spec.min_level = Some(u32::try_from(level).unwrap_or(u32::MAX));
            Ok(())
        }),
        ..key(Section::Columns, "min_level", Kind::Count(0))
    },
    Key {
        about: "How much the loss of a quasi-identifier counts against that of the others: age=2",
        default: &["1"],
        more: "`auto`, `mondrian`, `optimized-mondrian` and `ascent` keep heavy columns sharper, and every report has `weighted_ncp` beside \
               `ncp`.",
        roles: QUASI,
        flags: &[of_column("column-weight", "COLUMN=WEIGHT")],
        set: Set::Column(|c, e| match e.number()? {
            weight if weight >= 0.0 => {
                c.spec.weight = Some(weight);
                Ok(())
            }
            weight => Err(e.cannot_be(&weight.to_string(), "a number, at least 0")),
        }),
        ..key(Section::Columns, "weight", Kind::Number)
    },
    Key {
        about: "The share of a column's cells, 0 to 1, that may be missing where cells are left out: age=0.01",
        more: "Goes with `cells`. If the promises would need more, exit code 1.",
        roles: QUASI,
        flags: &[Flag { on: MAKING, ..of_column("max-missing", "COLUMN=SHARE") }],
        set: Set::Column(|c, e| share(e).map(|share| c.max_missing = Some(share))),
        ..key(Section::Columns, "max_missing", Kind::Share)
    },
    Key {
        about: "The categories of a sensitive column's values, most sensitive first: 'disease:Top Secret=HIV,Cancer'",
        more: "In a job file `{ \"Top Secret\" = [\"HIV\"], \"Any\" = [\"Flu\"] }`.",
        roles: SENSITIVE,
        flags: &[Flag { form: Form::Category, ..of_column("category", "COLUMN:NAME=VALUES") }],
        set: Set::Column(|c, e| categories(e).map(|list| c.categories = Some(list))),
        ..key(Section::Columns, "categories", Kind::Categories)
    },
    Key {
        about: "What is published of a sensitive column with categories: disease=both",
        more: "`both` has the category in a column of its own, `disease_category`. By default the values; the categories if a \
               model is about nothing else.",
        roles: SENSITIVE,
        flags: &[Flag { old: &["publish-sa"], ..of_column("publish", "COLUMN=WHAT") }],
        old: &["publish_sa"],
        set: Set::Column(|c, e| e.choice(&Publish::ALL).map(|what| c.publish = Some(what))),
        ..key(Section::Columns, "publish", Kind::Choice(&words(&Publish::ALL)))
    },
    Key {
        about: "Whether others can know the values of a column that is published as it is",
        more: "A column that is passed through and in which more than half of the records are alone is refused, unless \
               `linkable = false` says that nobody else can know its values; it is then left out of the question who is alone \
               in what is published. See docs/singling-out.md.",
        roles: AS_IT_IS,
        flags: &[Flag {
            form: Form::Columns("false"),
            about: Some("Columns published as they are whose values nobody else can know"),
            ..flag("unlinkable", "COLUMNS", TABLES)
        }],
        set: Set::Column(|c, e| e.flag().map(|linkable| c.linkable = Some(linkable))),
        ..key(Section::Columns, "linkable", Kind::Flag)
    },
    Key {
        about: "The model",
        more: "The other keys are its parameters, such as `k` of `k-anonymity` or `on` of models about a sensitive column.",
        required: Some("name = \"k-anonymity\""),
        flags: &[
            Flag {
                short: Some('k'),
                form: Form::Named("k-anonymity:k="),
                about: Some("Short for --model k-anonymity:k=K"),
                ..flag("k", "K", &[Anonymize, Batches, Verify, Report])
            },
            Flag {
                form: Form::Named(""),
                about: Some(
                    "A model with its parameters; may be repeated, all must hold (see `incrowd explain`)",
                ),
                ..flag("model", "NAME:PARAM=VALUE,…", &[Anonymize, Batches, Verify, Report])
            },
        ],
        set: Set::Job(|b, e| {
            let name = e.text()?.to_owned();
            if let Some(model) = b.job.models.last_mut() {
                model.name = name;
            }
            Ok(())
        }),
        ..key(Section::Models, "name", Kind::Card)
    },
    Key {
        about: "The people the table is a sample of, a table, for k-map, delta-presence and some attacks",
        more: "It must have the quasi-identifiers under the same names, and is read with the `missing` and `on_missing` of \
               `[input]`.",
        required: Some("path = \"population.csv\""),
        flags: &[flag("population", "TABLE", &[Anonymize, Batches, Compare, Verify, Attack, Report])],
        set: Set::Job(|b, e| {
            e.paths().map(|paths| {
                let people = b.job.population.get_or_insert_default();
                (people.paths, people.memory) = (paths, None);
            })
        }),
        ..key(Section::Population, "path", Kind::Files)
    },
    Key {
        about: "The algorithm",
        default: &["auto"],
        more: "Naming another one with the flag discards the options of the job file; `--set` replaces one option.",
        flags: &[
            flag("algorithm", "NAME", MAKING),
            Flag {
                form: Form::Param,
                about: Some("An option of the algorithm, for example undersized=block; may be repeated"),
                ..flag("set", "OPTION=VALUE", MAKING)
            },
        ],
        set: Set::Job(|b, e| {
            let name = e.text()?.to_owned();
            if matches!(e.node.at, At::Flag(_)) && name != b.job.algorithm.name {
                b.forget_params(Section::Algorithm);
            }
            b.job.algorithm.name = name;
            Ok(())
        }),
        ..key(Section::Algorithm, "name", Kind::Card)
    },
    Key {
        about: "The share of records, 0 to 1, that may be suppressed to keep the promises",
        default: &["0.0"],
        more: "Never more are: if the promises would need more, exit code 1. `mondrian` suppresses categories too small to \
               stand alone where that costs less than pooling them.",
        flags: &[flag("suppression-limit", "SHARE", MAKING)],
        set: Set::Job(|b, e| share(e).map(|limit| b.job.algorithm.suppression_limit = limit)),
        ..key(Section::Algorithm, "suppression_limit", Kind::Share)
    },
    Key {
        about: "What becomes of suppressed records",
        default: &["absent"],
        more: "`absent` records are not in the release; with `star` they are published with `*` in every quasi-identifier, are a \
               group like any other and must keep every promise; if they are too few, the smallest groups join them, within \
               the limit.",
        flags: &[flag("suppressed", "WHAT", MAKING)],
        set: Set::Job(|b, e| e.choice(&Suppressed::ALL).map(|way| b.job.algorithm.suppressed = way)),
        ..key(Section::Algorithm, "suppressed", Kind::Choice(&words(&Suppressed::ALL)))
    },
    Key {
        about: "What becomes of single cells: they are generalized, left out, or whichever costs less",
        default: &["generalize"],
        more: "`suppress`: a cell is published as it is, or as `*`; what weighs most is kept longest. With `missing_cells = \"any\"` also \
               `both`: columns rise to a level of their hierarchies where that saves more in missing cells. See \
               docs/local-suppression.md.",
        flags: &[flag("cells", "WHAT", MAKING)],
        set: Set::Job(|b, e| e.choice(&Cells::ALL).map(|cells| b.job.algorithm.cells = cells)),
        ..key(Section::Algorithm, "cells", Kind::Choice(&words(&Cells::ALL)))
    },
    Key {
        about: "What a missing cell matches when records that look alike are counted",
        default: &["alone"],
        more: "`alone`: missing cells only, which is k-anonymity. `any`: any value, as sdcMicro counts. That promises less: who knows the \
               value behind a missing cell can rule out records that show another one. `any` goes with `k-anonymity`, in making with \
               `cells`, in `verify` with any table: cells that are `*` or a text of `[input] missing` are missing.",
        flags: &[flag("missing-cells", "WHAT", &[Anonymize, Batches, Verify, Report])],
        set: Set::Job(|b, e| e.choice(&MissingCells::ALL).map(|what| b.job.algorithm.missing_cells = what)),
        ..key(Section::Algorithm, "missing_cells", Kind::Choice(&words(&MissingCells::ALL)))
    },
    Key {
        about: "Also tell the data owner how little any release could lose",
        default: &["false"],
        more: "That often takes longer than making the release.",
        flags: &[Flag { form: Form::Yes, ..flag("bound", "", &[Anonymize, Batches]) }],
        set: Set::Job(|b, e| e.flag().map(|bound| b.job.algorithm.bound = bound)),
        ..key(Section::Algorithm, "bound", Kind::Flag)
    },
    Key {
        about: "A table of people who may stand beside those of the table: k-join-anonymity",
        more: "A file, a pattern, or a list. It must have the identifier and all quasi-identifiers under the same names.",
        required: Some("path = \"voters.csv\""),
        flags: &[flag("external", "TABLE", &[Anonymize, Verify, Measure, Report])],
        set: Set::Job(|b, e| {
            e.paths().map(|paths| (b.external().paths, b.external().memory) = (paths, None))
        }),
        ..key(Section::External, "path", Kind::Files)
    },
    Key {
        about: "The column that names a person in both tables",
        required: Some("id = \"ssn\", the column that names a person in both tables"),
        flags: &[flag("id", "COLUMN", &[Anonymize, Verify, Measure, Report])],
        set: Set::Job(|b, e| match e.text()? {
            "" => Err(e.refuse(Error::job("`id` names no column"))),
            id => {
                b.external().id = id.to_owned();
                Ok(())
            }
        }),
        ..key(Section::External, "id", Kind::Text)
    },
    Key {
        about: "How both tables are grouped",
        default: &["refinement"],
        more: "`direct` groups everybody at once, `refinement` the input first.",
        flags: &[flag("method", "METHOD", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&JoinMethod::ALL).map(|method| b.external().method = method)),
        ..key(Section::External, "method", Kind::Choice(&words(&JoinMethod::ALL)))
    },
    Key {
        about: "Whose quasi-identifiers count if the tables do not agree about a person",
        default: &["table"],
        more: "Those of the `table` that is anonymized, those of the `external` table, or it is an `error`.",
        flags: &[flag("on-conflict", "WHOSE", &[Anonymize, Verify])],
        old_words: &[("mt", "table"), ("pd", "external")],
        set: Set::Job(|b, e| e.choice(&OnConflict::ALL).map(|whose| b.external().on_conflict = whose)),
        ..key(Section::External, "on_conflict", Kind::Choice(&words(&OnConflict::ALL)))
    },
    Key {
        about: "Whether surplus external people are left out",
        default: &["off"],
        more: "`greedy` does, which tells who is in the table.",
        flags: &[flag("trim", "WHAT", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&Trim::ALL).map(|trim| b.external().trim = trim)),
        ..key(Section::External, "trim", Kind::Choice(&words(&Trim::ALL)))
    },
    Key {
        about: "The table of sensitive values, if not beside the release as people.release.si.csv",
        flags: &[Flag { old: &["si"], ..flag("values", "FILE", &[Anonymize, Verify]) }],
        old: &["sensitive"],
        set: Set::Job(|b, e| e.path().map(|path| b.external().sensitive = Some(path))),
        ..key(Section::External, "values", Kind::File)
    },
    Key {
        about: "The private audit table, which says who stands where (id, group, source)",
        more: "Written by `anonymize`, read by `verify`; never publish it.",
        flags: &[flag("audit", "FILE", &[Anonymize, Verify])],
        set: Set::Job(|b, e| e.path().map(|path| b.external().audit = Some(path))),
        ..key(Section::External, "audit", Kind::File)
    },
    Key {
        about: "How records are withheld",
        more: "`\"r-suppression\"`, `\"safe-d\"`, `\"cheaper\"`, or `\"unsafe-d\"`, which protects nobody and needs `force = \
               true`. The other keys are its parameters.",
        required: Some("name = \"r-suppression\""),
        flags: &[Flag {
            form: Form::Named(""),
            about: Some("Withhold records first: r-suppression:l=6,on=disease, safe-d, unsafe-d or cheaper"),
            ..flag("suppression", "NAME:PARAM=VALUE,…", MAKING)
        }],
        set: Set::Job(|b, e| {
            let name = e.text()?.to_owned();
            if matches!(e.node.at, At::Flag(_)) {
                b.forget_params(Section::Suppression);
            }
            b.suppression().name = name;
            Ok(())
        }),
        ..key(Section::Suppression, "name", Kind::Card)
    },
    Key {
        about: "The file of the secret key the draws follow from, made if it is not there",
        more: "By default `suppression.key` in the user's configuration directory.",
        flags: &[flag("suppression-key", "FILE", MAKING)],
        set: Set::Job(|b, e| {
            let path = e.path()?;
            b.instead_of(e, "suppression.seed")?;
            let seed = b.suppression().seed.filter(|_| matches!(e.node.at, At::File(_)));
            (b.suppression().key, b.suppression().seed) = (Some(path), seed);
            Ok(())
        }),
        ..key(Section::Suppression, "key", Kind::File)
    },
    Key {
        about: "A seed instead of the key: the release is stamped as a test",
        flags: &[flag("suppression-seed", "SEED", MAKING)],
        set: Set::Job(|b, e| {
            let seed = e.count(0)?;
            b.instead_of(e, "suppression.key")?;
            let key = b.suppression().key.take().filter(|_| matches!(e.node.at, At::File(_)));
            (b.suppression().key, b.suppression().seed) = (key, Some(seed));
            Ok(())
        }),
        ..key(Section::Suppression, "seed", Kind::Count(0))
    },
    Key {
        about: "Make a second release of a table that was released in another way, and note it in the ledger",
        default: &["false"],
        flags: &[Flag { form: Form::Yes, ..flag("again", "", MAKING) }],
        set: Set::Job(|b, e| e.flag().map(|again| b.suppression().again = again)),
        ..key(Section::Suppression, "again", Kind::Flag)
    },
    Key {
        about: "Algorithms to try; may be repeated",
        default: &USUAL_ALGORITHMS,
        more: "`NAME` or `NAME:OPTION=VALUE,…`; values parted by `|` are tried one after the other.",
        flags: &[Flag { alias: &["algorithm"], ..flag("algorithms", "ALGORITHMS", &[Compare]) }],
        set: Set::Job(|b, e| {
            let names: Vec<_> = incrowd_recode::ALGORITHMS.iter().map(|card| card.name).collect();
            b.sweep().algorithms = listed(&e.texts()?, &names);
            Ok(())
        }),
        ..key(Section::Compare, "algorithms", Kind::Cards)
    },
    Key {
        about: "Values of k to try",
        default: &["2", "5", "10", "20", "50"],
        flags: &[Flag { short: Some('k'), ..flag("k", "NUMBERS", &[Compare]) }],
        set: Set::Job(|b, e| e.counts(1).map(|k| b.sweep().k = k)),
        ..key(Section::Compare, "k", Kind::Counts(1))
    },
    Key {
        about: "Models to try; may be repeated",
        more: "Written like the algorithms; those joined by `+` must all hold. By default those of the job, else `k-anonymity`.",
        flags: &[Flag { alias: &["model"], ..flag("models", "MODELS", &[Compare]) }],
        set: Set::Job(|b, e| {
            let names: Vec<_> = incrowd_core::model::MODELS.iter().map(|card| card.name).collect();
            b.sweep().models = listed(&e.texts()?, &names);
            Ok(())
        }),
        ..key(Section::Compare, "models", Kind::Cards)
    },
    Key {
        about: "Shares of the records that may be suppressed",
        more: "By default that of the job, else 0.",
        flags: &[flag("suppression-limit", "SHARES", &[Compare])],
        set: Set::Job(|b, e| {
            let items = e.items().ok_or_else(|| e.must_be("a list of numbers"))?;
            b.sweep().suppression_limits = items.iter().map(share).collect::<Read<_>>()?;
            Ok(())
        }),
        ..key(Section::Compare, "suppression_limits", Kind::Shares)
    },
    Key {
        about: "The metric that counts as the loss",
        default: &["ncp"],
        flags: &[flag("loss", "METRIC", &[Compare])],
        set: Set::Job(|b, e| e.text().map(|name| b.sweep().loss = Some(name.to_owned()))),
        ..key(Section::Compare, "loss", Kind::Text)
    },
    Key {
        about: "Where the results go",
        default: &["comparison"],
        more: "`results.jsonl`, `comparison.csv`, `comparison.json` and `comparison.html`.",
        flags: &[Flag { short: Some('o'), ..flag("output", "DIR", &[Compare]) }],
        set: Set::Job(|b, e| e.path().map(|path| b.sweep().dir = Some(path))),
        ..key(Section::Compare, "dir", Kind::Directory)
    },
    Key {
        about: "How many configurations run at a time, each on one core",
        more: "By default as many as there are cores, which is also what 0 means.",
        flags: &[flag("threads", "N", &[Compare])],
        set: Set::Job(|b, e| {
            e.count(0).map(|n| b.sweep().threads = usize::try_from(n).unwrap_or(usize::MAX))
        }),
        ..key(Section::Compare, "threads", Kind::Count(0))
    },
];

fn delimiter(entry: &Entry<'_>) -> Read<u8> {
    let text = entry.text()?;
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Ok(*byte),
        _ => {
            let takes = "a single character such as , or ; or the word tab";
            Err(entry.cannot_be(&text.escape_debug().to_string(), takes))
        }
    }
}

fn share(entry: &Entry<'_>) -> Read<f64> {
    match entry.number()? {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        share => Err(entry.cannot_be(&share.to_string(), "a share of the records, from 0 to 1")),
    }
}

/// `{ "Top Secret" = ["HIV", "Cancer"], "Secret" = […] }`, in the order written.
fn categories(entry: &Entry<'_>) -> Read<Categories> {
    let table = entry.table("a table of lists, most sensitive first")?;
    let list = table.entries().iter().map(|category| Ok((category.key.to_owned(), category.texts()?)));
    Categories::new(list.collect::<Read<_>>()?).map_err(|error| entry.refuse(error))
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
