//! The keys of `[output]`.

use incrowd_core::numerals::DecimalMark;

use super::Command::{Anonymize, Attack, Measure, Report, Verify};
use super::list::{FORMATS, MAKING, delimiter, flag, key, words};
use super::{Flag, Form, Key, Kind, Section, Set};
use crate::job::{Numbers, Order, PublishWeight, Sets};

pub(super) const KEYS: &[Key] = &[
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
];
