//! The keys of the sections models, population, algorithm, external and suppression.

use incrowd_core::{Error, MissingCells};

use super::Command::{Anonymize, Attack, Batches, Compare, Measure, Report, Verify};
use super::list::{MAKING, flag, key, share, words};
use super::{Flag, Form, Key, Kind, Section, Set};
use crate::job::given::At;
use crate::job::{Cells, JoinMethod, OnConflict, Suppressed, Trim};

pub(super) const KEYS: &[Key] = &[
    Key {
        about: "The privacy model",
        more: "The other keys are its parameters, such as `k` of `k-anonymity` or `on` of models \
               about a sensitive column.",
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
                    "A model with its parameters; may be repeated, all must hold \
                     (see `incrowd explain`)",
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
        about: "The population from which the table is a sample, a table, for k-map, \
                delta-presence and some attacks",
        more: "It must have the quasi-identifiers under the same names, and is read with the \
               `missing` and `on_missing` of `[input]`.",
        required: Some("path = \"population.csv\""),
        flags: &[flag(
            "population",
            "TABLE",
            &[Anonymize, Batches, Compare, Verify, Attack, Report],
        )],
        set: Set::Job(|b, e| {
            e.locations().map(|paths| {
                let people = b.job.population.get_or_insert_default();
                (people.paths, people.memory) = (paths, None);
            })
        }),
        ..key(Section::Population, "path", Kind::Files)
    },
    Key {
        about: "The algorithm",
        default: &["auto"],
        more: "Naming another one with the flag discards the options of the job file; `--set` \
               replaces one option.",
        flags: &[
            flag("algorithm", "NAME", MAKING),
            Flag {
                form: Form::Param,
                about: Some(
                    "An option of the algorithm, for example undersized=block; may be repeated",
                ),
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
        about: "The maximum share of suppressed records, 0 to 1",
        more: "If the models would need more, the exit code is 1. `mondrian` suppresses categories \
               that are too small for a group of their own if that costs less than pooling them.",
        flags: &[flag("suppression-limit", "SHARE", MAKING)],
        set: Set::Job(|b, e| share(e).map(|limit| b.job.algorithm.suppression_limit = limit)),
        ..key(Section::Algorithm, "suppression_limit", Kind::Share)
    },
    Key {
        about: "The published form of suppressed records",
        default: &["absent"],
        more: "`absent` records are not in the release. `star` records are published with `*` in \
               every quasi-identifier; they are a group like any other and must satisfy every \
               model. If they are too few, the smallest groups join them, within the limit.",
        flags: &[flag("suppressed", "WHAT", MAKING)],
        set: Set::Job(|b, e| {
            e.choice(&Suppressed::ALL).map(|way| b.job.algorithm.suppressed = way)
        }),
        ..key(Section::Algorithm, "suppressed", Kind::Choice(&words(&Suppressed::ALL)))
    },
    Key {
        about: "The protection of single cells: generalized, suppressed, or whichever costs less",
        default: &["generalize"],
        more: "`suppress`: a cell is published unchanged or as `*`; important columns are \
               suppressed last. With `missing_cells = \"any\"` also `both`: columns are \
               generalized \
               to a level of their hierarchies if that saves more in missing cells. See \
               docs/local-suppression.md.",
        flags: &[flag("cells", "WHAT", MAKING)],
        set: Set::Job(|b, e| e.choice(&Cells::ALL).map(|cells| b.job.algorithm.cells = cells)),
        ..key(Section::Algorithm, "cells", Kind::Choice(&words(&Cells::ALL)))
    },
    Key {
        about: "The values that a missing cell matches when equal records are counted",
        default: &["alone"],
        more: "`alone`: missing cells only, which is k-anonymity. `any`: any value, as in \
               sdcMicro. That is weaker: an adversary who knows the value of a suppressed cell can \
               exclude records that show another one. `any` requires `k-anonymity`, when a release \
               is made also `cells`; in `verify` it works with any table: cells that are `*` or a \
               text of `[input] missing` are missing.",
        flags: &[flag("missing-cells", "WHAT", &[Anonymize, Batches, Verify, Report])],
        set: Set::Job(|b, e| {
            e.choice(&MissingCells::ALL).map(|what| b.job.algorithm.missing_cells = what)
        }),
        ..key(Section::Algorithm, "missing_cells", Kind::Choice(&words(&MissingCells::ALL)))
    },
    Key {
        about: "Also report a lower bound of the loss of any release to the data owner",
        default: &["false"],
        more: "That often takes longer than making the release.",
        flags: &[Flag { form: Form::Yes, ..flag("bound", "", &[Anonymize, Batches]) }],
        set: Set::Job(|b, e| e.flag().map(|bound| b.job.algorithm.bound = bound)),
        ..key(Section::Algorithm, "bound", Kind::Flag)
    },
    Key {
        about: "A table of further people, for k-join-anonymity",
        more: "A file, a pattern, or a list. It must have the identifier and all quasi-identifiers \
               under the same names.",
        required: Some("path = \"voters.csv\""),
        flags: &[flag("external", "TABLE", &[Anonymize, Verify, Measure, Report])],
        set: Set::Job(|b, e| {
            e.locations().map(|paths| (b.external().paths, b.external().memory) = (paths, None))
        }),
        ..key(Section::External, "path", Kind::Files)
    },
    Key {
        about: "The column that identifies a person in both tables",
        required: Some("id = \"ssn\", the column that identifies a person in both tables"),
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
        about: "The grouping method for both tables",
        default: &["refinement"],
        more: "`direct` groups both tables at once, `refinement` the input first.",
        flags: &[flag("method", "METHOD", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&JoinMethod::ALL).map(|method| b.external().method = method)),
        ..key(Section::External, "method", Kind::Choice(&words(&JoinMethod::ALL)))
    },
    Key {
        about: "The table whose quasi-identifiers are used if the tables disagree about a person",
        default: &["table"],
        more: "The `table` that is anonymized, the `external` table, or `error`.",
        flags: &[flag("on-conflict", "WHOSE", &[Anonymize, Verify])],
        old_words: &[("mt", "table"), ("pd", "external")],
        set: Set::Job(|b, e| {
            e.choice(&OnConflict::ALL).map(|whose| b.external().on_conflict = whose)
        }),
        ..key(Section::External, "on_conflict", Kind::Choice(&words(&OnConflict::ALL)))
    },
    Key {
        about: "Whether surplus external people are removed",
        default: &["off"],
        more: "`greedy` removes them, which reveals who is in the table.",
        flags: &[flag("trim", "WHAT", &[Anonymize])],
        set: Set::Job(|b, e| e.choice(&Trim::ALL).map(|trim| b.external().trim = trim)),
        ..key(Section::External, "trim", Kind::Choice(&words(&Trim::ALL)))
    },
    Key {
        about: "The table of sensitive values, if it is not next to the release as \
                people.release.si.csv",
        flags: &[Flag { old: &["si"], ..flag("values", "FILE", &[Anonymize, Verify]) }],
        old: &["sensitive"],
        set: Set::Job(|b, e| e.location().map(|path| b.external().sensitive = Some(path))),
        ..key(Section::External, "values", Kind::File)
    },
    Key {
        about: "The private audit table of each person's group (id, group, source)",
        more: "Written by `anonymize`, read by `verify`; never publish it.",
        flags: &[flag("audit", "FILE", &[Anonymize, Verify])],
        set: Set::Job(|b, e| e.path().map(|path| b.external().audit = Some(path))),
        ..key(Section::External, "audit", Kind::File)
    },
    Key {
        about: "The suppression method",
        more: "`\"r-suppression\"`, `\"safe-d\"`, `\"cheaper\"`, or `\"unsafe-d\"`, which protects \
               nobody and needs `force = true`. The other keys are its parameters.",
        required: Some("name = \"r-suppression\""),
        flags: &[Flag {
            form: Form::Named(""),
            about: Some(
                "Suppress records first: r-suppression:l=6,on=disease, safe-d, unsafe-d or cheaper",
            ),
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
        about: "The file of the secret key for the random draws; created if it does not exist",
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
        about: "A fixed seed in place of the key: the release is marked as a test",
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
        about: "Allow a second release of a table that was released with other settings, and log \
                it in the ledger",
        default: &["false"],
        flags: &[Flag { form: Form::Yes, ..flag("again", "", MAKING) }],
        set: Set::Job(|b, e| e.flag().map(|again| b.suppression().again = again)),
        ..key(Section::Suppression, "again", Kind::Flag)
    },
];
