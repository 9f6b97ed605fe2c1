//! The list of keys, and helpers to write its entries.

use super::Command::{
    self, Anonymize, Attack, Batches, Compare, Init, Measure, Profile, Report, Verify,
};
use super::{Flag, Form, Key, Kind, Section, Set, columns, compare, input, models, output};
use crate::job::given::{Entry, Read};

const LISTS: &[&[Key]] = &[input::KEYS, output::KEYS, columns::KEYS, models::KEYS, compare::KEYS];

const fn count() -> usize {
    let (mut count, mut list) = (0, 0);
    while list < LISTS.len() {
        count += LISTS[list].len();
        list += 1;
    }
    count
}

/// Every key.
pub const KEYS: &[Key] = &{
    let mut all = [LISTS[0][0]; count()];
    let (mut at, mut list) = (0, 0);
    while list < LISTS.len() {
        let mut i = 0;
        while i < LISTS[list].len() {
            all[at] = LISTS[list][i];
            (at, i) = (at + 1, i + 1);
        }
        list += 1;
    }
    all
};

pub(super) const fn key(section: Section, name: &'static str, kind: Kind) -> Key {
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

pub(super) const fn flag(long: &'static str, value: &'static str, on: &'static [Command]) -> Flag {
    Flag { long, short: None, value, form: Form::Value, about: None, on, alias: &[], old: &[] }
}

/// Defines a flag that gives columns a role.
pub(super) const fn role(long: &'static str, about: &'static str) -> Flag {
    Flag { form: Form::Columns(long), about: Some(about), ..flag(long, "COLUMNS", TABLES_AND_INIT) }
}

/// Returns the words of a choice.
pub(super) const fn words<T, const N: usize>(all: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut i = 0;
    while i < N {
        words[i] = all[i].0;
        i += 1;
    }
    words
}

pub(super) const MAKING: &[Command] = &[Anonymize, Batches];
pub(super) const TABLES: &[Command] =
    &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report];
pub(super) const TABLES_AND_INIT: &[Command] =
    &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report, Init];
pub(super) const LOOKING: &[Command] =
    &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report, Profile, Init];
pub(super) const DATABASES: &[Command] =
    &[Anonymize, Compare, Verify, Measure, Attack, Report, Profile, Init];
pub(super) const ALONG: &[Command] =
    &[Anonymize, Batches, Compare, Verify, Measure, Attack, Report, Profile];
pub(super) const FORMATS: [(&str, &str); incrowd_engine::FORMATS.len()] = {
    let mut names = [("", ""); incrowd_engine::FORMATS.len()];
    let mut i = 0;
    while i < names.len() {
        let name = incrowd_engine::FORMATS[i].name;
        names[i] = (name, name);
        i += 1;
    }
    names
};

pub(super) fn delimiter(entry: &Entry<'_>) -> Read<u8> {
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

pub(super) fn share(entry: &Entry<'_>) -> Read<f64> {
    match entry.number()? {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        share => Err(entry.cannot_be(&share.to_string(), "a share of the records, from 0 to 1")),
    }
}
