//! The results about a release in plain sentences, at the top of the pages of reports, of
//! comparisons and of `incrowd serve`.
//!
//! A successful attack is amber even if every model holds. The sentence compares it with guessing
//! without the release. All of this except [`narrowed`] is for the data owner.

use incrowd_audit::attack::Finding;
use incrowd_core::text::thousands;
use incrowd_report::{Sentence, Tone, percent};

use crate::judging::attack::AttackReport;

/// An attack is successful if it puts at least this share of the people at risk.
const MANY: f64 = 0.05;
/// The difference up to which two probabilities count as equal.
const BETTER: f64 = 0.005;

fn sentence(tone: Tone, text: impl Into<String>) -> Sentence {
    Sentence { text: text.into(), more: String::new(), tone }
}

/// Returns a share of people in simple words: `6 in 10`.
pub fn in_ten(share: f64) -> String {
    match share {
        x if x >= 0.995 => "everybody".to_owned(),
        x if x >= 0.95 => "nearly everybody".to_owned(),
        x if x >= 0.095 => format!("{} in 10", (10.0 * x).round()),
        x if x >= 0.0095 => format!("{} in 100", (100.0 * x).round()),
        x if x > 0.0 => "hardly anybody".to_owned(),
        _ => "nobody".to_owned(),
    }
}

/// Returns the number of records to which a person can be narrowed down. `persons` is set if the
/// records of one person count once, `any` if a missing cell matches any value. Derived from the
/// release only.
pub fn narrowed(smallest: u64, persons: bool, any: bool) -> Sentence {
    let what = if persons { "records of several people" } else { "records" };
    match (smallest, any) {
        (0, _) => sentence(Tone::Good, "Nobody is published."),
        (1, _) => sentence(
            Tone::Bad,
            "Some records are unique: an adversary who knows such a person finds the record.",
        ),
        (least, true) => sentence(
            Tone::Amber,
            format!(
                "An adversary with the release alone finds at least {} records that match. \
                 With more knowledge about a person it may be fewer.",
                thousands(least)
            ),
        ),
        (least, false) => sentence(
            Tone::Good,
            format!("Nobody can be narrowed down below {} {what}.", thousands(least)),
        ),
    }
}

/// Returns the information loss. Derived from the manifest only.
pub fn lost(ncp: f64) -> Sentence {
    sentence(Tone::Good, format!("{} of the information is lost.", percent(ncp)))
}

/// Returns the median error of counts.
pub fn counts_off(median: f64) -> Sentence {
    let off = match median {
        m if m < 0.005 => return sentence(Tone::Good, "Counts of small groups are right."),
        m if (0.17..0.23).contains(&m) => "a fifth".to_owned(),
        m if (0.23..0.29).contains(&m) => "a quarter".to_owned(),
        m if (0.29..0.38).contains(&m) => "a third".to_owned(),
        m if (0.45..0.55).contains(&m) => "a half".to_owned(),
        m => percent(m),
    };
    sentence(Tone::Good, format!("Counts of small groups are off by {off}."))
}

/// Compares the probability of guessing a sensitive value with the release and without.
pub fn guessed(average: f64, without: f64) -> String {
    let more = match average / without {
        times if times >= 1.05 && times.is_finite() => format!("{times:.1} times as often"),
        _ => "about as often".to_owned(),
    };
    format!(
        "A guess is right in {} of the cases, without the release in {}: {more}.",
        percent(average),
        percent(without)
    )
}

/// Returns [`guessed`] as a sentence: amber if the release helps much.
pub fn guessing(average: f64, without: f64) -> Sentence {
    let tone = if average >= without + MANY { Tone::Amber } else { Tone::Good };
    sentence(
        tone,
        format!(
            "Sensitive values: {}",
            guessed(average, without).replacen("A guess", "a guess", 1)
        ),
    )
}

/// Returns the result of an attack as a sentence. An attack without a sentence of its own is
/// described by its numbers. `None` if there is nothing to report.
pub fn attack(report: &AttackReport, finding: &Finding) -> Option<Sentence> {
    let column = finding.column.as_deref().unwrap_or_default();
    let (share, whom) = (finding.share(), in_ten(finding.share()));
    let tone = if share >= MANY { Tone::Amber } else { Tone::Good };
    let limit = finding.alarm.trim_start_matches(['<', '>', '=', ' ']).parse::<f64>().ok();
    let result = match finding.attack {
        // The smallest group is in another sentence, and the average follows from it.
        "prosecutor" | "marketer" => return None,
        "homogeneity" => {
            let sure = limit.map_or_else(String::new, |limit| {
                format!(" with at least {} certainty", percent(limit))
            });
            let without = report.guessed_without(column);
            // A value that can be guessed with this certainty without the release is not learned
            // from it.
            let known = |without: f64| limit.is_some_and(|limit| without >= limit);
            let learned =
                without.is_none_or(|without| !known(without) || finding.average > without + BETTER);
            Sentence {
                text: format!("{} can be guessed for {whom}{sure}.", capital(column)),
                more: without.map_or_else(String::new, |without| guessed(finding.average, without)),
                tone: if learned { tone } else { Tone::Good },
            }
        }
        "skewness" => {
            let times = limit.map_or_else(
                || "much more".to_owned(),
                |limit| format!("at least {limit} times as"),
            );
            sentence(
                tone,
                format!("For {whom} the release makes a value of {column} {times} likely."),
            )
        }
        "proximity" => {
            sentence(tone, format!("{} can be guessed closely for {whom}.", capital(column)))
        }
        "similarity" => {
            sentence(tone, format!("The category of {column} can be guessed for {whom}."))
        }
        _ if finding.at_risk == 0 => return None,
        "singling-out" => sentence(tone, format!("{} can be found by {column}.", capital(&whom))),
        name => {
            sentence(tone, format!("{}: {whom} at risk ({}).", capital(name), finding.measures))
        }
    };
    Some(result)
}

/// Returns the results of all attacks.
pub fn attacks(report: &AttackReport) -> Vec<Sentence> {
    report.attacked.iter().filter_map(|attacked| attack(report, &attacked.finding)).collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_simple_words() {
        let words = [1.0, 0.96, 0.61, 0.03, 0.0001, 0.0].map(in_ten);
        assert_eq!(
            words,
            ["everybody", "nearly everybody", "6 in 10", "3 in 100", "hardly anybody", "nobody"]
        );
    }

    #[test]
    fn known_numbers_give_the_expected_sentences() {
        assert_eq!(
            narrowed(10, false, false).text,
            "Nobody can be narrowed down below 10 records."
        );
        assert_eq!(narrowed(1, false, false).tone, Tone::Bad);
        assert_eq!(narrowed(3, false, true).tone, Tone::Amber);
        assert_eq!(counts_off(0.2).text, "Counts of small groups are off by a fifth.");
        assert_eq!(counts_off(0.12).text, "Counts of small groups are off by 12 %.");
        assert_eq!(counts_off(0.0).text, "Counts of small groups are right.");
        let expected = "A guess is right in 60 % of the cases, without the release in 20 %: \
                        3.0 times as often.";
        assert_eq!(guessed(0.6, 0.2), expected);
        assert!(guessed(0.8, 0.76).ends_with("in 76 %: 1.1 times as often."));
        assert!(guessed(0.5, 0.5).ends_with("in 50 %: about as often."));
    }
}
