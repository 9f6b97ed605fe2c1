//! The keys of `[columns]`.

use incrowd_core::{Categories, DateFormat, Error, Kind as ValueKind, Labels, Publish};

use super::list::{ALONG, MAKING, TABLES, flag, key, role, share, words};
use super::{Flag, Form, Key, Kind, Section, Set};
use crate::job::given::{Entry, Read};
use crate::job::{RoleName, hierarchy};

const LABELS: [(&str, Labels); 2] = [("set", Labels::Set), ("star", Labels::Star)];
const QUASI: &[RoleName] = &[RoleName::Quasi];
const SENSITIVE: &[RoleName] = &[RoleName::Sensitive];
const UNMODIFIED: &[RoleName] = &[RoleName::Passthrough, RoleName::Sensitive];
const BOTH: &[RoleName] = &[RoleName::Quasi, RoleName::Sensitive];

/// Defines a flag with one value per column.
const fn of_column(long: &'static str, value: &'static str) -> Flag {
    Flag { form: Form::PerColumn, ..flag(long, value, TABLES) }
}

pub(super) const KEYS: &[Key] = &[
    Key {
        about: "The role of the column",
        more: "The roles are below.",
        flags: &[
            role("quasi", "Columns that can be linked with other sources"),
            role("sensitive", "Columns that must not be inferred about a person"),
            role("identifier", "Columns that identify a person; never published"),
            role("passthrough", "Columns published unchanged"),
            role("drop", "Columns that are not published"),
        ],
        set: Set::Column(|c, e| e.choice(&RoleName::ALL).map(|role| c.role = role)),
        ..key(Section::Columns, "role", Kind::Choice(&words(&RoleName::ALL)))
    },
    Key {
        about: "The type of a column's values, by default detected: age=numeric",
        more: "No effect on columns with a hierarchy. Numbers with more digits than can be \
               represented (whole numbers above 2^53, twenty digits) are not numeric: such a \
               quasi-identifier is treated as text, and `numeric` is refused.",
        roles: BOTH,
        flags: &[of_column("kind", "COLUMN=KIND")],
        set: Set::Column(|c, e| e.choice(&ValueKind::ALL).map(|kind| c.spec.kind = Some(kind))),
        ..key(Section::Columns, "kind", Kind::Choice(&words(&ValueKind::ALL)))
    },
    Key {
        about: "The format of a column's dates: born=DD.MM.YYYY",
        more: "In a job file `format = \"DD.MM.YYYY\"`. Needed only if day and month cannot be \
               distinguished in any date, as in `09/12/1972`, and for dates without separators, \
               `YYYYMMDD`; otherwise detected. `MON` is the English name of a month. A time of day \
               after the date is not part of the format and not published. Published dates have \
               the form `1972-12-09`.",
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
        about: "The hierarchy of a column: a file, `mask`, `dates`, intervals:WIDTH, or `mdr` for \
                regular intervals",
        more: "Short forms: a file, `mask`, `mask:left,#`, `intervals:5`, `cuts:18,30,65`, \
               `dates`, `dates:month,year`, `bands`, `ages`, a classification (`icd10`, `icd9`, \
               `countries`, `us-states`, `nuts`, `isco08`, `nace`, `naics`, `postal`), \
               `columns:district,region`, `mdr`, `mdr:none`, `mdr:factors=1|2|4`; or a table such \
               as `{ mask = { from = \"left\" } }`.",
        roles: BOTH,
        flags: &[Flag { on: ALONG, ..of_column("hierarchy", "COLUMN=HIERARCHY") }],
        set: Set::Column(|c, e| hierarchy::hierarchy(e).map(|spec| c.spec.hierarchy = Some(spec))),
        ..key(Section::Columns, "hierarchy", Kind::Hierarchy)
    },
    Key {
        about: "The published form of text without a hierarchy: country=star",
        default: &["set"],
        more: "`set` is `{Mexico, Peru}`, `star` the value itself or `*`.",
        roles: QUASI,
        flags: &[of_column("labels", "COLUMN=LABELS")],
        set: Set::Column(|c, e| e.choice(&LABELS).map(|labels| c.spec.labels = labels)),
        ..key(Section::Columns, "labels", Kind::Choice(&words(&LABELS)))
    },
    Key {
        about: "The whole domain of a numeric column: age=0:120",
        more: "In a job file `[0, 120]`. The loss is measured relative to it. For dates it is in \
               days since 1970-01-01. Values outside are an error. Without it the range of the \
               data is the domain.",
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
        about: "The number from which all greater numbers are published as one, `>=90`: age=90",
        more: "A guarantee: it is checked on the bytes to be published. It requires numbers \
               without a hierarchy, intervals, cuts or ages. A group that reaches the bound is \
               published as `>=85`.",
        roles: QUASI,
        flags: &[of_column("top", "COLUMN=NUMBER")],
        set: Set::Column(|c, e| e.number().map(|x| c.spec.limits.top = Some(x))),
        ..key(Section::Columns, "top", Kind::Number)
    },
    Key {
        about: "The number below which all smaller numbers are published as one, `<=16`: age=16",
        more: "Like `top`, at the other end.",
        roles: QUASI,
        flags: &[of_column("bottom", "COLUMN=NUMBER")],
        set: Set::Column(|c, e| e.number().map(|x| c.spec.limits.bottom = Some(x))),
        ..key(Section::Columns, "bottom", Kind::Number)
    },
    Key {
        about: "The minimum level of published cells in the hierarchy: zip=2",
        more: "A guarantee: it is checked on the bytes to be published. 0 is the value itself, 1 \
               the first level above it. A value with fewer levels above it is published as `*`.",
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
        about: "The importance of a quasi-identifier in the information loss: age=2",
        default: &["1"],
        more: "`auto`, `mondrian`, `optimized-mondrian` and `ascent` generalize important columns \
               less, and every report contains `weighted_ncp` in addition to `ncp`.",
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
        about: "The maximum share of missing cells, 0 to 1, if cells are suppressed: age=0.01",
        more: "Requires `cells`. If the models would need more, the exit code is 1.",
        roles: QUASI,
        flags: &[Flag { on: MAKING, ..of_column("max-missing", "COLUMN=SHARE") }],
        set: Set::Column(|c, e| share(e).map(|share| c.max_missing = Some(share))),
        ..key(Section::Columns, "max_missing", Kind::Share)
    },
    Key {
        about: "The categories of a sensitive column's values, most sensitive first: \
                'disease:Top Secret=HIV,Cancer'",
        more: "In a job file `{ \"Top Secret\" = [\"HIV\"], \"Any\" = [\"Flu\"] }`.",
        roles: SENSITIVE,
        flags: &[Flag { form: Form::Category, ..of_column("category", "COLUMN:NAME=VALUES") }],
        set: Set::Column(|c, e| categories(e).map(|list| c.categories = Some(list))),
        ..key(Section::Columns, "categories", Kind::Categories)
    },
    Key {
        about: "The published form of a sensitive column with categories: disease=both",
        more: "`both` has the category in a column of its own, `disease_category`. By default the \
               values; the categories if the column's models use only these.",
        roles: SENSITIVE,
        flags: &[Flag { old: &["publish-sa"], ..of_column("publish", "COLUMN=WHAT") }],
        old: &["publish_sa"],
        set: Set::Column(|c, e| e.choice(&Publish::ALL).map(|what| c.publish = Some(what))),
        ..key(Section::Columns, "publish", Kind::Choice(&words(&Publish::ALL)))
    },
    Key {
        about: "Whether an adversary can know the values of a column that is published unchanged",
        more: "A passthrough column on which more than half of the records are unique is refused, \
               unless `linkable = false` declares that nobody else can know its values. The column \
               is then excluded from the search for unique records. See docs/singling-out.md.",
        roles: UNMODIFIED,
        flags: &[Flag {
            form: Form::Columns("false"),
            about: Some("Columns published unchanged whose values nobody else can know"),
            ..flag("unlinkable", "COLUMNS", TABLES)
        }],
        set: Set::Column(|c, e| e.flag().map(|linkable| c.linkable = Some(linkable))),
        ..key(Section::Columns, "linkable", Kind::Flag)
    },
];

/// Reads `{ "Top Secret" = ["HIV", "Cancer"], "Secret" = […] }`, in the order of the file.
fn categories(entry: &Entry<'_>) -> Read<Categories> {
    let table = entry.table("a table of lists, most sensitive first")?;
    let list =
        table.entries().iter().map(|category| Ok((category.key.to_owned(), category.texts()?)));
    Categories::new(list.collect::<Read<_>>()?).map_err(|error| entry.refuse(error))
}
