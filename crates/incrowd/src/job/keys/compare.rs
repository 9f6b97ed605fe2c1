//! The keys of `[compare]`.

use super::Command::Compare;
use super::list::{flag, key, share};
use super::{Flag, Key, Kind, Section, Set};
use crate::compare::DEFAULT_ALGORITHMS;
use crate::job::given::Read;

pub(super) const KEYS: &[Key] = &[
    Key {
        about: "Algorithms to try; may be repeated",
        default: &DEFAULT_ALGORITHMS,
        more: "`NAME` or `NAME:OPTION=VALUE,…`; values separated by `|` are tried one after the \
               other.",
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
        more: "In the syntax of the algorithms; models joined by `+` must all hold. By default \
               those of the job, otherwise `k-anonymity`.",
        flags: &[Flag { alias: &["model"], ..flag("models", "MODELS", &[Compare]) }],
        set: Set::Job(|b, e| {
            let names: Vec<_> = incrowd_core::model::MODELS.iter().map(|card| card.name).collect();
            b.sweep().models = listed(&e.texts()?, &names);
            Ok(())
        }),
        ..key(Section::Compare, "models", Kind::Cards)
    },
    Key {
        about: "Maximum shares of suppressed records",
        more: "By default that of the job, otherwise 0.",
        flags: &[flag("suppression-limit", "SHARES", &[Compare])],
        set: Set::Job(|b, e| {
            let items = e.items().ok_or_else(|| e.must_be("a list of numbers"))?;
            b.sweep().suppression_limits = items.iter().map(share).collect::<Read<_>>()?;
            Ok(())
        }),
        ..key(Section::Compare, "suppression_limits", Kind::Shares)
    },
    Key {
        about: "The metric used as the loss",
        default: &["ncp"],
        flags: &[flag("loss", "METRIC", &[Compare])],
        set: Set::Job(|b, e| e.text().map(|name| b.sweep().loss = Some(name.to_owned()))),
        ..key(Section::Compare, "loss", Kind::Text)
    },
    Key {
        about: "The directory of the results",
        default: &["comparison"],
        more: "`results.jsonl`, `comparison.csv`, `comparison.json` and `comparison.html`.",
        flags: &[Flag { short: Some('o'), ..flag("output", "DIR", &[Compare]) }],
        set: Set::Job(|b, e| e.path().map(|path| b.sweep().dir = Some(path))),
        ..key(Section::Compare, "dir", Kind::Directory)
    },
    Key {
        about: "The number of configurations that run at the same time, each on one core",
        more: "By default, and with 0, one per core.",
        flags: &[flag("threads", "N", &[Compare])],
        set: Set::Job(|b, e| {
            e.count(0).map(|n| b.sweep().threads = usize::try_from(n).unwrap_or(usize::MAX))
        }),
        ..key(Section::Compare, "threads", Kind::Count(0))
    },
];

/// Splits a list of names with optional parameters:
/// `mondrian,full-domain:search=fast,metric=ncp,top-down` has three. A piece that does not begin
/// with a known name belongs to the entry before it.
fn listed(given: &[String], known: &[&str]) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for text in given {
        for (i, piece) in
            text.split(',').map(str::trim).filter(|piece| !piece.is_empty()).enumerate()
        {
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
