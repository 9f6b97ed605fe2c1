//! Reports of the suppression step: for the public, and for the data owner.

use incrowd_audit::eligibility::{
    Checks, Mechanism, Posterior, Prior, mean_success, mean_success_shape_known, posterior,
    shape_known,
};
use incrowd_core::text::{Block, thousands};
use incrowd_recode::suppression::{Step, Way};
use serde_json::{Value as Json, json};

use crate::manifest::{SuppressionEntry, parameters};

/// The report of a suppression step, for the data owner only.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SuppressionReport {
    /// The method of the job.
    pub name: &'static str,
    /// The parameter l: at most one record in l has the same value.
    pub l: u64,
    /// The sensitive column.
    pub on: String,
    /// The applied method; `None` if the table was eligible and nothing was suppressed.
    pub used: Option<&'static str>,
    /// The number of records without missing values.
    pub records: u64,
    /// The number of distinct sensitive values.
    pub values: u64,
    /// The number of values that are more frequent than one record in l.
    pub violating: u64,
    /// The number of values that share the greatest frequency.
    pub tied: u64,
    /// The number of suppressed records.
    pub suppressed: u64,
    /// The checks of the written bytes.
    pub checks: Checks,
    /// The success of adversaries against the release.
    pub adversary: Vec<Guess>,
    /// Whether the release is a test because the seed is fixed.
    pub test: bool,
    /// Notes for the owner.
    pub notes: Vec<String>,
    /// Every value with its numbers of records before and after.
    pub(crate) counts: Counts,
}

/// Values with their numbers of records before and after.
#[derive(Clone)]
pub(crate) struct Counts(pub(crate) Vec<(String, u64, u64)>);

incrowd_core::opaque_debug!(Counts { values: |counts| counts.0.len() });

/// The success of an adversary who guesses the dominant value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Guess {
    /// The name of the adversary's prior.
    pub prior: &'static str,
    /// The posterior for this release.
    pub posterior: Posterior,
    /// Whether the posterior was enumerated and not sampled.
    pub exact: bool,
    /// The average success of the best guess over the draws for this table, if computed.
    pub mean_success: Option<f64>,
}

/// Returns the name of a method.
pub(super) fn name_of(way: Way) -> &'static str {
    match way {
        Way::Random => "r-suppression",
        Way::Safe => "safe-d",
        Way::Unsafe => "unsafe-d",
        Way::Cheaper => "cheaper",
    }
}

/// The seed of the sampled adversary. Other seeds give the same result within the standard error.
const SEED: u64 = 1;

/// Returns the adversaries' success, if records were suppressed. `base` and `left` are the counts
/// by value before and after.
pub(super) fn guesses(mechanism: Mechanism, base: &[u64], left: &[u64]) -> Vec<Guess> {
    let records = base.iter().sum();
    let mut all = Vec::new();
    for (name, prior) in Prior::ALL {
        if let Some((posterior, exact)) = posterior(mechanism, prior, left, records, SEED) {
            let mean_success = mean_success(mechanism, prior, base);
            all.push(Guess { prior: name, posterior, exact, mean_success });
        }
    }
    if let Some(posterior) = shape_known(mechanism, base, left) {
        let mean_success = Some(mean_success_shape_known(mechanism, base));
        all.push(Guess { prior: "shape known", posterior, exact: true, mean_success });
    }
    all
}

impl SuppressionReport {
    /// Returns the design target of the method. It is not guaranteed.
    pub fn target(&self) -> f64 {
        1.0 / self.l as f64
    }

    /// Returns the suppression, the checks and the adversaries' success as text. `starred` records
    /// are published as `*`.
    // Long, because it writes the lines of the report in their order.
    pub fn to_text(&self, starred: u64) -> Vec<Block> {
        let mut lines = Vec::new();
        lines.push(Block::line(format!(
            "skewed   {}: {} records with {} values of {}, {}",
            self.name,
            thousands(self.records),
            thousands(self.values),
            self.on,
            match self.violating {
                0 => format!("none more frequent than one in {}", self.l),
                1 => format!("1 of them more frequent than one in {}", self.l),
                n => format!("{n} of them more frequent than one in {}", self.l),
            }
        )));
        match self.used {
            None => lines.push(Block::line(
                "         eligible already: nothing was suppressed and nothing was drawn"
                    .to_string(),
            )),
            Some(used) => {
                let share = 100.0 * self.suppressed as f64 / self.records.max(1) as f64;
                let way = if used == self.name { String::new() } else { format!(" by {used}") };
                lines.push(Block::line(format!(
                    "         {} suppressed{way}, {share:.1} % of the records",
                    thousands(self.suppressed)
                )));
            }
        }
        if starred > 0 {
            lines.push(Block::line(format!("         {} published as *", thousands(starred))));
        }
        let word = |holds: bool| if holds { "holds" } else { "FAILS" };
        let candidacy = self.checks.candidacy.map_or("was not needed", word);
        let draw = if self.checks.reachable {
            "some random draw gives this result"
        } else {
            "NO random draw gives this result"
        };
        lines.push(Block::line(format!(
            "checked  p-eligibility {}   l-candidacy {candidacy}   {draw}",
            word(self.checks.eligible)
        )));
        if self.checks.unchanged == Some(false) {
            lines.push(Block::line(
                "         the table was eligible, and yet the release is NOT all of it".to_string(),
            ));
        }
        if self.adversary.is_empty() {
            if self.used.is_some() && self.checks.holds() {
                lines.push(Block::line(
                    "         what an adversary guesses was not computed: too many values"
                        .to_string(),
                ));
            }
        } else {
            let question = format!(
                "Which value was dominant? The design target is 1/{} = {:.3}; \
                 it is not guaranteed.",
                self.l,
                self.target()
            );
            lines.extend([Block::line(""), Block::line(question), Block::line("")]);
            let mut rows = vec![vec![
                "the adversary believes".to_owned(),
                "best guess is right".to_owned(),
                "on average over draws".to_owned(),
                "computed".to_owned(),
            ]];
            for guess in &self.adversary {
                let believes = match guess.prior {
                    "flat" => "all count vectors alike (flat)",
                    "multinomial" => "all records alike (multinomial)",
                    _ => "knows the counts, not whose (shape known)",
                };
                rows.push(vec![
                    believes.to_owned(),
                    format!("{:.3}", guess.posterior.max()),
                    guess.mean_success.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")),
                    match guess.exact {
                        true => "exactly".to_owned(),
                        false => format!("by sampling, ± {:.3}", guess.posterior.error),
                    },
                ]);
            }
            lines.push(Block::Table(rows));
        }
        for note in &self.notes {
            lines.push(Block::line(format!("note     {note}")));
        }
        lines
    }

    /// Returns the report as JSON, for the data owner.
    pub fn to_json(&self) -> Json {
        let guess = |guess: &Guess| {
            let by_count = guess.posterior.by_count.iter().map(|(count, values, posterior)| {
                json!({ "published": count, "values": values, "posterior_of_each": posterior })
            });
            json!({
                "prior": guess.prior,
                "greatest_posterior": guess.posterior.max(),
                "exact": guess.exact,
                "standard_error": guess.posterior.error,
                "by_count": by_count.collect::<Vec<_>>(),
                "mean_success_over_draws": guess.mean_success,
            })
        };
        json!({
            "name": self.name,
            "l": self.l,
            "on": self.on,
            "used": self.used,
            "records": self.records,
            "values": self.values,
            "violating_values": self.violating,
            "tied_for_most_frequent": self.tied,
            "withheld": self.suppressed,
            "design_target": self.target(),
            "checks": {
                "part_of_table": self.checks.part_of_table,
                "p_eligibility": self.checks.eligible,
                "l_candidacy": self.checks.candidacy,
                "unchanged": self.checks.unchanged,
                "reachable": self.checks.reachable,
            },
            "adversary": self.adversary.iter().map(guess).collect::<Vec<_>>(),
            "test": self.test,
            "notes": self.notes,
        })
    }
}

/// Returns the public entry: the method, but not whether it had to suppress records.
pub(super) fn entry(step: &Step, on: &str, test: bool) -> SuppressionEntry {
    let means = match step.rule.way {
        Way::Unsafe => {
            "a lower bound and no protection: \
             the dominant value is among the most frequent published ones"
        }
        Way::Safe => {
            "the design target holds only against adversaries to whom all labels are equally likely"
        }
        _ => "the design target is what the method aims at; it is not guaranteed",
    };
    SuppressionEntry {
        name: step.card.name.to_owned(),
        on: on.to_owned(),
        params: parameters(&step.params, &["on", "posterior_limit"]),
        conditions_checked: ["p-eligibility", "l-candidacy"].map(str::to_owned).to_vec(),
        design_target: format!("1/{}", step.rule.l),
        means: means.to_owned(),
        test,
    }
}
