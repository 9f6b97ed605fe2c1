//! The keys of `[input]`.

use incrowd_core::numerals::DecimalMark;

use super::Command::{Anonymize, Attack, Batches, Compare, Init, Measure, Profile, Report, Verify};
use super::list::{ALONG, DATABASES, FORMATS, LOOKING, TABLES, delimiter, flag, key, words};
use super::{Flag, Form, Key, Kind, Section, Set};
use crate::job::{DefaultRole, Encoding, OnMissing};

pub(super) const KEYS: &[Key] = &[
    Key {
        about: "The table: a file, a pattern such as `\"part-*.csv\"`, a list of both, or a \
                database",
        more: "A database is `postgresql://user@host/database`; `table` or `query` selects from \
               it. \
               See docs/postgres.md. All files are read as one table and must have the same \
               columns, in any order. Tables given as arguments replace it.",
        flags: &[Flag {
            form: Form::Argument,
            ..flag("", "TABLE", &[Anonymize, Compare, Profile, Init])
        }],
        set: Set::Job(|b, e| e.locations().map(|paths| b.job.input.paths = paths)),
        ..key(Section::Input, "path", Kind::Files)
    },
    Key {
        about: "Texts that count as missing",
        default: &["", "?", "NA"],
        more: "The whole cell must match. A null of a typed file always counts. `[]` means that no \
               text counts.",
        flags: &[flag("missing", "TEXTS", LOOKING)],
        set: Set::Job(|b, e| e.texts().map(|texts| b.job.input.missing = texts)),
        ..key(Section::Input, "missing", Kind::Texts)
    },
    Key {
        about: "The treatment of records with a missing value",
        default: &["drop"],
        more: "`drop` removes every record with a missing value in a quasi-identifier or a \
               sensitive column, and counts it. `keep` makes missing a value of its own.",
        flags: &[flag("on-missing", "WHAT", TABLES)],
        set: Set::Job(|b, e| e.choice(&OnMissing::ALL).map(|way| b.job.input.on_missing = way)),
        ..key(Section::Input, "on_missing", Kind::Choice(&words(&OnMissing::ALL)))
    },
    Key {
        about: "The role of columns that have none",
        default: &["drop"],
        more: "Dropped columns are listed in a notice.",
        flags: &[flag("default-role", "ROLE", TABLES)],
        set: Set::Job(|b, e| {
            e.choice(&DefaultRole::ALL).map(|role| b.job.input.default_role = role)
        }),
        ..key(Section::Input, "default_role", Kind::Choice(&words(&DefaultRole::ALL)))
    },
    Key {
        about: "The delimiter, one character or `tab`; detected by default",
        more: "Detection knows comma, semicolon, tab and `|`.",
        flags: &[flag("delimiter", "CHAR", LOOKING)],
        set: Set::Job(|b, e| delimiter(e).map(|byte| b.job.input.delimiter = Some(byte))),
        ..key(Section::Input, "delimiter", Kind::Character)
    },
    Key {
        about: "The format; by default detected from the first bytes of the file",
        flags: &[flag("format", "FORMAT", LOOKING)],
        set: Set::Job(|b, e| {
            e.choice(&FORMATS).map(|name| b.job.input.format = Some(name.to_owned()))
        }),
        ..key(Section::Input, "format", Kind::Choice(&words(&FORMATS)))
    },
    Key {
        about: "The character encoding of a text file; by default detected from its first bytes",
        more: "UTF-16 is recognized by its byte order mark, Latin-1 and Windows-1252 by bytes that \
               are invalid in UTF-8. A release is always UTF-8.",
        flags: &[flag("encoding", "ENCODING", LOOKING)],
        set: Set::Job(|b, e| {
            e.choice(&Encoding::ALL).map(|encoding| b.job.input.encoding = Some(encoding))
        }),
        ..key(Section::Input, "encoding", Kind::Choice(&words(&Encoding::ALL)))
    },
    Key {
        about: "The decimal mark of numbers in text, `.` or `,`; by default detected from the \
                cells",
        more: "Thousands separators are read as well: `1.234,5`, `1 234,5`, `1,234.5`, `1'234.5`.",
        flags: &[flag("decimal", "MARK", LOOKING)],
        set: Set::Job(|b, e| {
            e.choice(&DecimalMark::ALL).map(|mark| b.job.input.decimal = Some(mark))
        }),
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
        more: "Parsed like SQL: `\"My people\"` with quotes keeps capital letters and blanks. For \
               `verify` and other commands that read a release, `--table` is the release.",
        flags: &[flag("table", "NAME", DATABASES)],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.table = Some(name.to_owned()))),
        ..key(Section::Input, "table", Kind::Text)
    },
    Key {
        about: "A query, `select …`, that replaces the table of a database",
        more: "It may be run more than once, always on the same state of the data, and must return \
               the same records each time.",
        flags: &[flag("query", "SQL", DATABASES)],
        set: Set::Job(|b, e| e.text().map(|sql| b.job.input.query = Some(sql.to_owned()))),
        ..key(Section::Input, "query", Kind::Text)
    },
    Key {
        about: "The column that identifies the person of a record: then every model counts \
                persons, not records",
        more: "It is an identifier and never published. A record without a value there counts as \
               one person. See docs/persons.md.",
        flags: &[flag(
            "person",
            "COLUMN",
            &[Anonymize, Batches, Compare, Verify, Attack, Report, Init],
        )],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.person = Some(name.to_owned()))),
        ..key(Section::Input, "person", Kind::Text)
    },
    Key {
        about: "The column of sampling weights: the number of people of the population that a \
                record represents",
        more: "Every record must have a number of at least 1 there. It is not published; \
               `publish_weight` publishes group means. The population is estimated by it: for \
               `k-map` without a population table, for the attack `population-risk`, in `profile` \
               and `measure`. See docs/weights.md.",
        flags: &[flag(
            "weight",
            "COLUMN",
            &[Anonymize, Batches, Compare, Measure, Attack, Report, Profile, Init],
        )],
        set: Set::Job(|b, e| e.text().map(|name| b.job.input.weight = Some(name.to_owned()))),
        ..key(Section::Input, "weight", Kind::Text)
    },
    Key {
        about: "A directory of hierarchy files named after their columns (age.csv, \
                adult_hierarchy_age.csv)",
        more: "Columns with a hierarchy or a kind of their own are not changed.",
        flags: &[flag("hierarchies", "DIR", ALONG)],
        set: Set::Job(|b, e| e.path().map(|path| b.hierarchies = Some((path, e.node.at.clone())))),
        ..key(Section::Input, "hierarchies", Kind::Directory)
    },
];
