//! The keys of `[output]`.

use incrowd_core::numerals::DecimalMark;

use super::Command::{Anonymize, Attack, Measure, Report, Verify};
use super::list::{FORMATS, MAKING, delimiter, flag, key, words};
use super::{Flag, Form, Key, Kind, Section, Set};
use crate::job::{Numbers, Order, PublishWeight, Sets};

pub(super) const KEYS: &[Key] = &[
    Key {
        about: "The path of the release; its extension determines the format",
        more: "`.csv`, `.tsv` or `.txt`, each also with `.gz` or `.zst`; `.parquet` or `.pq`; \
               `.arrow`, `.feather` or `.ipc`. Or a database, `postgresql://user@host/database`, \
               with `table`.",
        required: Some("path = \"release.csv\""),
        flags: &[Flag { short: Some('o'), ..flag("output", "FILE", &[Anonymize]) }],
        set: Set::Job(|b, e| e.location().map(|path| b.output().path = path)),
        ..key(Section::Output, "path", Kind::File)
    },
    Key {
        about: "The database table of the release, if `path` is a database",
        more: "An older release of that name is replaced, in one step with the manifest, which is \
               a row of the table `incrowd_manifests`. Any other table is replaced only with \
               `replace`.",
        flags: &[flag("output-table", "NAME", &[Anonymize])],
        set: Set::Job(|b, e| e.text().map(|name| b.output().table = Some(name.to_owned()))),
        ..key(Section::Output, "table", Kind::Text)
    },
    Key {
        about: "The path of the manifest, if it is not next to the release",
        more: "`people.csv` and `people.release.csv` both have `people.release.json`.",
        flags: &[flag("manifest", "FILE", &[Anonymize, Verify, Measure, Attack, Report])],
        set: Set::Job(|b, e| e.path().map(|path| b.output().manifest = Some(path))),
        ..key(Section::Output, "manifest", Kind::File)
    },
    Key {
        about: "Overwrite any files at the paths of the release, its manifest and its reports",
        default: &["false"],
        more: "Without it only an unmodified release of incrowd is overwritten: a table whose \
               digest is in the manifest next to it. A report is overwritten if incrowd made it. \
               Anything else is refused, and nothing is changed.",
        flags: &[Flag { form: Form::Yes, ..flag("replace", "", MAKING) }],
        set: Set::Job(|b, e| e.flag().map(|replace| b.output().replace = replace)),
        ..key(Section::Output, "replace", Kind::Flag)
    },
    Key {
        about: "The path of the public report about the release",
        flags: &[flag("report", "FILE", &[Anonymize])],
        set: Set::Job(|b, e| e.path().map(|path| b.output().report = Some(path))),
        ..key(Section::Output, "report", Kind::File)
    },
    Key {
        about: "The path of the report about the release and its original, for the data owner only",
        flags: &[flag("owner-report", "FILE", &[Anonymize])],
        set: Set::Job(|b, e| e.path().map(|path| b.output().owner_report = Some(path))),
        ..key(Section::Output, "owner_report", Kind::File)
    },
    Key {
        about: "The order of the published records",
        default: &["shuffled"],
        more: "`shuffled` by a cryptographic generator, or `sorted` by the published cells. Never \
               the order of the input.",
        flags: &[flag("order", "ORDER", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&Order::ALL).map(|order| b.output().order = order)),
        ..key(Section::Output, "order", Kind::Choice(&words(&Order::ALL)))
    },
    Key {
        about: "Escape cells of CSV so that no spreadsheet evaluates them as formulas",
        default: &["false"],
        more: "A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is not a \
               number gets an apostrophe before it, also if blanks or invisible characters come \
               first. The manifest records this, and `verify` and the other commands remove the \
               apostrophes. Without it such cells are published unchanged.",
        flags: &[Flag { form: Form::Yes, ..flag("csv-safe", "", MAKING) }],
        set: Set::Job(|b, e| e.flag().map(|safe| b.output().csv_safe = safe)),
        ..key(Section::Output, "csv_safe", Kind::Flag)
    },
    Key {
        about: "The format of a release that goes to standard output",
        default: &["csv"],
        more: "Otherwise the extension determines it.",
        flags: &[flag("output-format", "FORMAT", &[Anonymize])],
        set: Set::Job(|b, e| {
            e.choice(&FORMATS).map(|name| b.output().format = Some(name.to_owned()))
        }),
        ..key(Section::Output, "format", Kind::Choice(&words(&FORMATS)))
    },
    Key {
        about: "The delimiter of a release in text; by default that of the input",
        more: "One character or `tab`. By default a file with the extension `.tsv` has tabs, and \
               one with `.csv` has none.",
        flags: &[flag("output-delimiter", "CHAR", MAKING)],
        set: Set::Job(|b, e| delimiter(e).map(|byte| b.output().delimiter = Some(byte))),
        ..key(Section::Output, "delimiter", Kind::Character)
    },
    Key {
        about: "The decimal mark of a release in text; by default that of the input",
        flags: &[flag("output-decimal", "MARK", MAKING)],
        set: Set::Job(|b, e| {
            e.choice(&DecimalMark::ALL).map(|mark| b.output().decimal = Some(mark))
        }),
        ..key(Section::Output, "decimal", Kind::Choice(&words(&DecimalMark::ALL)))
    },
    Key {
        about: "The text for a kept missing value; by default as in the input",
        more: "By default the first text of `[input] missing` that occurs; an empty cell stays \
               empty. Within a set it is the first that is not empty. Parquet and Arrow have a \
               null.",
        flags: &[flag("output-missing", "TEXT", MAKING)],
        set: Set::Job(|b, e| e.text().map(|text| b.output().missing = Some(text.to_owned()))),
        ..key(Section::Output, "missing", Kind::Text)
    },
    Key {
        about: "The published form of numeric ranges: text, columns of their bounds, or group \
                means",
        default: &["range"],
        more: "`range` is `[20, 40]`. `low-high` has the columns `age_low` and `age_high` in place \
               of `age`, as numbers: both equal for a single value, one empty for `>=90`, both \
               empty for `*` and for missing values. `mean` has the mean of the group's numbers, \
               so the mean of the release is the mean of the published records; the ranges are \
               not published. The cell is empty for `*` of suppressed records and for a group \
               with a missing value. See docs/using-a-release.md.",
        flags: &[flag("numbers", "HOW", MAKING)],
        set: Set::Job(|b, e| e.choice(&Numbers::ALL).map(|numbers| b.output().numbers = numbers)),
        ..key(Section::Output, "numbers", Kind::Choice(&words(&Numbers::ALL)))
    },
    Key {
        about: "The published form of sets in Parquet and Arrow: text or lists",
        default: &["text"],
        more: "`text` is `{Mexico, Peru}`. `list` is a list of text, a null for `*`.",
        flags: &[flag("sets", "HOW", MAKING)],
        set: Set::Job(|b, e| e.choice(&Sets::ALL).map(|sets| b.output().sets = sets)),
        ..key(Section::Output, "sets", Kind::Choice(&words(&Sets::ALL)))
    },
    Key {
        about: "A file with a secret key to sign the manifest with",
        more: "If the file does not exist, a key is created there that only its owner can read. \
               With the key, `incrowd verify --check KEYFILE` checks the manifest, and with it the \
               release. Anyone with the key can also sign.",
        flags: &[flag("sign", "KEYFILE", MAKING)],
        set: Set::Job(|b, e| e.path().map(|path| b.output().sign = Some(path))),
        ..key(Section::Output, "sign", Kind::File)
    },
    Key {
        about: "The published form of sampling weights",
        default: &["no"],
        more: "`group-mean` publishes the mean weight of each group, in a column with the name of \
               the weight column.",
        flags: &[flag("publish-weight", "WHAT", MAKING)],
        set: Set::Job(|b, e| {
            e.choice(&PublishWeight::ALL).map(|what| b.output().publish_weight = what)
        }),
        ..key(Section::Output, "publish_weight", Kind::Choice(&words(&PublishWeight::ALL)))
    },
];
