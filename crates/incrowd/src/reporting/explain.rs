//! The list of everything that `explain` describes: models, algorithms, metrics, attacks and
//! others.

use incrowd_audit::attack::ATTACKS;
use incrowd_audit::utility::UTILITIES;
use incrowd_core::metric::METRICS;
use incrowd_core::model::MODELS;
use incrowd_core::{Better, Param, ParamKind};
use incrowd_recode::ALGORITHMS;

/// One entry of any list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The list that contains it: `model`, `algorithm` and so on.
    pub kind: &'static str,
    /// Its name in a job.
    pub name: &'static str,
    /// A description.
    pub about: &'static str,
    /// Its limits.
    pub limits: Option<&'static str>,
    /// Its requirements, keys in backticks.
    pub needs: Option<&'static str>,
    /// The key of its paper in docs/papers.md.
    pub paper: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The direction of its scale, if it is a measure.
    pub better: Option<Better>,
    /// The parameters that make the algorithm deterministic, if it is not by default.
    pub repeatable: &'static [(&'static str, &'static str)],
    /// Whether it is an algorithm that can plan a table in parts.
    pub local: bool,
}

/// An entry without optional parts.
const PLAIN: Entry = Entry {
    kind: "",
    name: "",
    about: "",
    limits: None,
    needs: None,
    paper: "",
    params: &[],
    better: None,
    repeatable: &[],
    local: false,
};

/// Returns all entries, list after list.
// Long, because it names every kind of entry in the order of the output.
pub fn entries() -> Vec<Entry> {
    let models = MODELS.iter().map(|c| Entry {
        kind: "model",
        name: c.name,
        about: c.guarantee,
        paper: c.paper,
        limits: Some(c.limits),
        params: c.params,
        ..PLAIN
    });
    let algorithms = ALGORITHMS.iter().map(|c| Entry {
        kind: "algorithm",
        name: c.name,
        about: c.about,
        paper: c.paper,
        limits: Some(c.limits),
        params: c.params,
        repeatable: c.repeatable,
        local: c.local,
        ..PLAIN
    });
    let suppressions = incrowd_recode::suppression::SUPPRESSIONS.iter().map(|c| Entry {
        kind: "suppression",
        name: c.name,
        about: c.about,
        paper: c.paper,
        limits: Some(c.limits),
        params: c.params,
        ..PLAIN
    });
    let metrics = METRICS.iter().map(|c| Entry {
        kind: "metric",
        name: c.name,
        about: c.about,
        paper: c.paper,
        better: Some(c.better),
        ..PLAIN
    });
    let utilities = UTILITIES.iter().map(|c| Entry {
        kind: "utility",
        name: c.name,
        about: c.about,
        paper: c.paper,
        limits: Some(c.limits),
        better: Some(c.better),
        ..PLAIN
    });
    let attacks = ATTACKS.iter().map(|c| Entry {
        kind: "attack",
        name: c.name,
        about: c.about,
        paper: c.paper,
        limits: Some(c.limits),
        needs: Some(c.needs_text),
        params: c.params,
        ..PLAIN
    });
    let estimators = incrowd_audit::risk::population::ESTIMATORS.iter().map(|e| Entry {
        kind: "estimator",
        name: e.name,
        about: e.about,
        paper: e.paper,
        limits: Some(e.limits),
        ..PLAIN
    });
    let external = "an external table (`external`) with the identifier and all quasi-identifiers";
    let joins = incrowd_recode::join::CARDS.iter().map(|c| Entry {
        kind: "joining",
        name: c.name,
        about: c.about,
        paper: c.paper,
        limits: Some(c.limits),
        needs: Some(external),
        ..PLAIN
    });
    let choice = [&crate::CHOICE].into_iter().map(|c| Entry {
        kind: "choice",
        name: c.name,
        about: c.about,
        paper: c.paper,
        limits: Some(c.limits),
        ..PLAIN
    });
    models
        .chain(algorithms)
        .chain(suppressions)
        .chain(metrics)
        .chain(utilities)
        .chain(attacks)
        .chain(estimators)
        .chain(joins)
        .chain(choice)
        .collect()
}

/// Returns the type of a parameter in words.
pub fn takes(kind: ParamKind) -> String {
    match kind {
        ParamKind::Count(least) => format!("a whole number from {least}"),
        ParamKind::Number(lo, f64::MAX) => format!("a number from {lo}"),
        ParamKind::Number(lo, hi) => format!("a number from {lo} to {hi}"),
        ParamKind::Choice(words) => words.join(" | "),
        ParamKind::Column => "the name of a sensitive column".to_owned(),
        ParamKind::Words => "a list of names".to_owned(),
        ParamKind::Flag => "true | false".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns words that result from joining two texts without a blank: a capital within a word,
    /// or no blank after a full stop.
    fn glued(text: &str) -> Vec<&str> {
        let words = text.split(|c: char| c.is_whitespace() || "()`\"'/=".contains(c));
        let inside = |word: &str| {
            let (mut before, mut chars) = (None, word.chars());
            chars.any(|c| {
                let breaks =
                    before.is_some_and(|b: char| b.is_lowercase() || b == '.') && c.is_uppercase();
                before = Some(c);
                breaks
            })
        };
        // The names of an algorithm and of a program.
        let names = ["ExpC", "sdcMicro"];
        words
            .filter(|word| (inside(word) || word.contains("..")) && !names.contains(word))
            .collect()
    }

    #[test]
    fn texts_are_separated_by_blanks() {
        assert_eq!(
            glued("compare with skewness. GroupValues that are alike.Or not"),
            ["GroupValues", "alike.Or"]
        );
        for entry in entries() {
            let texts = [Some(entry.about), entry.limits, entry.needs].into_iter().flatten();
            for text in texts.chain(entry.params.iter().map(|param| param.about)) {
                assert_eq!(glued(text), [""; 0], "{} {}: {text}", entry.kind, entry.name);
                assert!(!text.contains("  "), "{} {}: {text}", entry.kind, entry.name);
            }
        }
        for key in crate::job::keys::KEYS {
            assert!(!key.about.contains("  ") && !key.more.contains("  "), "{}", key.title());
        }
    }
}
