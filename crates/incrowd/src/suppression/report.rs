//! What is said of withheld records: to everybody, and to the owner of the data.

use incrowd_audit::eligibility::{
    Checks, Mechanism, Posterior, Prior, mean_success, mean_success_shape_known, posterior, shape_known,
};
use incrowd_core::text::{Block, thousands};
use incrowd_recode::suppression::{Step, Way};
use serde_json::{Value as Json, json};

use crate::manifest::{SuppressionEntry, parameters};

/// Everything about a suppression step that is for the owner of the data only.
#[derive(Clone, Debug)]
pub struct SuppressionReport {
    /// The method the job names.
    pub name: &'static str,
    /// No value is more frequent than one record in l.
    pub l: u64,
    /// The sensitive column.
    pub on: String,
    /// What was done; `None` if the table was eligible and nothing was.
    pub used: Option<&'static str>,
    /// How many records the table has, those with missing values apart.
    pub records: u64,
    /// How many sensitive values it has.
    pub values: u64,
    /// How many of them have more than one record in l.
    pub violating: u64,
    /// How many share the greatest count.
    pub tied: u64,
    /// How many records are withheld.
    pub withheld: u64,
    /// What the checker found on the bytes that were written.
    pub checks: Checks,
    /// What an adversary makes of the release.
    pub adversary: Vec<Guess>,
    /// Whether the release is a test, because the seed was stated.
    pub test: bool,
    /// What the owner should know.
    pub notes: Vec<String>,
    /// Every value with its records before and after.
    pub(crate) counts: Counts,
}

/// Values with their records before and after.
#[derive(Clone)]
pub(crate) struct Counts(pub(crate) Vec<(String, u64, u64)>);

// Cells must not reach logs.
impl std::fmt::Debug for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counts").field("values", &self.0.len()).finish_non_exhaustive()
    }
}

/// How well an adversary guesses the dominant value.
#[derive(Clone, Debug)]
pub struct Guess {
    /// What the adversary believes beforehand.
    pub prior: &'static str,
    /// The posterior for this release.
    pub posterior: Posterior,
    /// Whether it was enumerated and not sampled.
    pub exact: bool,
    /// How often the best guess is right, over the draws for this table, where that was computed.
    pub mean_success: Option<f64>,
}

/// The names of what is done.
pub(super) fn name_of(way: Way) -> &'static str {
    match way {
        Way::Random => "r-suppression",
        Way::Safe => "safe-d",
        Way::Unsafe => "unsafe-d",
        Way::Cheaper => "cheaper",
    }
}

/// The seed of the sampled adversary; another one says the same within the standard error.
const SEED: u64 = 1;

/// The adversaries of a release, if records were withheld: `base` and `left` are the counts before and after, by value.
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
    /// What the method is designed for. It is no promise.
    pub fn target(&self) -> f64 {
        1.0 / self.l as f64
    }

    /// What was withheld, what was checked, and what an adversary makes of it; besides, so many records are published as *.
    pub fn to_text(&self, starred: u64) -> Vec<Block> {
        let mut said = Vec::new();
        said.push(Block::line(format!(
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
            None => said.push(Block::line(format!(
                "         eligible already: nothing was withheld and nothing was drawn"
            ))),
            Some(used) => {
                let share = 100.0 * self.withheld as f64 / self.records.max(1) as f64;
                let way = if used == self.name { String::new() } else { format!(" by {used}") };
                said.push(Block::line(format!(
                    "         {} withheld{way}, {share:.1} % of the records",
                    thousands(self.withheld)
                )));
            }
        }
        if starred > 0 {
            said.push(Block::line(format!("         {} published as *", thousands(starred))));
        }
        let word = |holds: bool| if holds { "holds" } else { "FAILS" };
        let candidacy = self.checks.candidacy.map_or("was not needed", word);
        let draw = if self.checks.reachable { "some draw leads here" } else { "NO draw leads here" };
        said.push(Block::line(format!(
            "checked  p-eligibility {}   l-candidacy {candidacy}   {draw}",
            word(self.checks.eligible)
        )));
        if self.checks.unchanged == Some(false) {
            said.push(Block::line(format!(
                "         the table was eligible, and yet the release is NOT all of it"
            )));
        }
        if self.adversary.is_empty() {
            if self.used.is_some() && self.checks.holds() {
                said.push(Block::line(format!(
                    "         what an adversary guesses was not computed: too many values"
                )));
            }
        } else {
            said.push(Block::line(format!(
                "\nWho was the dominant value? The design target is 1/{} = {:.3}; it is not guaranteed.\n",
                self.l,
                self.target()
            )));
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
            said.push(Block::Table(rows));
        }
        for note in &self.notes {
            said.push(Block::line(format!("note     {note}")));
        }
        said
    }

    /// The answer as JSON, for the owner of the data.
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
            "withheld": self.withheld,
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

/// What everybody is told: what was done to the table if it had to be, never whether it was.
pub(super) fn entry(step: &Step, on: &str, test: bool) -> SuppressionEntry {
    let means = match step.rule.way {
        Way::Unsafe => {
            "a lower bound and no protection: the dominant value is among the most frequent published ones"
        }
        Way::Safe => {
            "the design target holds against adversaries to whom all labels are alike, and against no others"
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
