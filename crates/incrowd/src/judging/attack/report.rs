//! The results of attacks, in one structure for all output formats.

use incrowd_audit::attack::{Finding, Quantity, Skipped};
use incrowd_audit::{Classes, Decision, UNIQUE_SHARE};
use incrowd_core::Folded;
use serde_json::{Map, Value as Json, json};

use super::private::{self, Exposed};

/// The number of most exposed groups in a report.
const EXPOSED: usize = 5;

/// A limit and the measured value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LimitJudged {
    /// The limited quantity.
    pub quantity: Quantity,
    /// The greatest allowed value.
    pub most: f64,
    /// The measured value.
    pub have: f64,
    /// Whether the limit is kept.
    pub holds: bool,
}

/// A finding and its limits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attacked {
    /// The finding.
    pub finding: Finding,
    /// The limits.
    pub limits: Vec<LimitJudged>,
}

/// The results of the attacks on a release.
#[derive(Debug)]
#[non_exhaustive]
pub struct AttackReport {
    /// The findings, in the order of the list of attacks.
    pub attacked: Vec<Attacked>,
    /// The attacks that could not be run, with reasons.
    pub skipped: Vec<Skipped>,
    pub(super) release: Folded,
    /// For each sensitive column of `release`, the representative code of each code.
    pub(super) counted: Vec<Vec<u32>>,
    pub(super) groups: Classes,
    pub(super) quasi: usize,
    /// Whether formulas are escaped in the release.
    pub(super) csv_safe: bool,
}

impl AttackReport {
    /// Returns the number of records of the release.
    pub fn records(&self) -> u64 {
        self.release.records()
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> u64 {
        self.groups.len() as u64
    }

    /// Returns the number of records of each group.
    pub fn group_sizes(&self) -> &[u64] {
        &self.groups.records
    }

    /// Returns the released table and its number of quasi-identifiers, which come first.
    pub(crate) fn published(&self) -> (&Folded, usize) {
        (&self.release, self.quasi)
    }

    /// Returns the public findings, or those for the data owner only.
    pub fn of(&self, owner_only: bool) -> impl Iterator<Item = &Attacked> {
        self.attacked.iter().filter(move |attacked| attacked.finding.owner_only == owner_only)
    }

    /// Returns whether the unmodified columns single people out: at least 5 % of the people are
    /// unique on some column or set of columns.
    pub fn singles_out(&self) -> bool {
        let about = |a: &&Attacked| a.finding.attack == "singling-out";
        let alone = |a: &Attacked| a.finding.bands.last().map_or(0, |band| band.people);
        let many = |a: &Attacked| {
            alone(a) > 0 && alone(a) as f64 >= UNIQUE_SHARE * a.finding.of as f64 * (1.0 - 1e-12)
        };
        self.attacked.iter().filter(about).any(many)
    }

    /// Returns the success of guessing the most frequent value of a sensitive column without the
    /// release's groups.
    pub fn guessed_without(&self, column: &str) -> Option<f64> {
        let at = self.release.column(column).filter(|at| *at >= self.quasi)?;
        let counted = self.counted.get(at - self.quasi)?;
        let mut records = vec![0u64; self.release.columns[at].texts.len()];
        for row in 0..self.release.rows() {
            let value = counted[self.release.row(row)[at] as usize];
            records[value as usize] += self.release.weights[row];
        }
        let all: u64 = records.iter().sum();
        records.into_iter().max().filter(|_| all > 0).map(|most| most as f64 / all as f64)
    }

    /// Returns whether every limit was kept; undecided if there are none.
    pub fn decision(&self) -> Decision {
        let limits = self.attacked.iter().flat_map(|attacked| &attacked.limits);
        Decision::worst(limits.map(|limit| Decision::of(limit.holds)))
    }

    /// Returns whether no limit is exceeded.
    pub fn holds(&self) -> bool {
        self.decision() != Decision::Fails
    }

    /// Returns the groups most exposed to a finding, for the data owner only.
    pub fn exposed(&self, finding: &Finding) -> Vec<Exposed<'_>> {
        private::exposed(&self.release, &self.groups, self.quasi, finding, EXPOSED)
    }

    /// Returns a CSV table with one line per distinct released row, its number of records and its
    /// risk under each attack, for the data owner only. Formulas are escaped if the release was
    /// made with `csv_safe`.
    pub fn details(&self) -> Vec<u8> {
        let findings = self.attacked.iter().map(|attacked| &attacked.finding);
        private::details(&self.release, &self.groups, findings, self.csv_safe)
    }

    /// Returns the report as JSON: public results at the top, results for the data owner under
    /// `private`.
    pub fn to_json(&self) -> Json {
        let single = |attacked: &&Attacked| !attacked.finding.by_group.is_empty();
        let exposed = |attacked: &Attacked| {
            let finding = &attacked.finding;
            let groups = self.exposed(finding).into_iter().map(|group| {
                let cells: Map<String, Json> = group
                    .cells
                    .into_iter()
                    .map(|(name, cell)| (name.to_owned(), json!(cell)))
                    .collect();
                json!({ "cells": cells, "records": group.records, "risk": group.risk })
            });
            json!({
                "attack": finding.attack,
                "column": finding.column,
                "groups": groups.collect::<Vec<_>>(),
            })
        };
        json!({
            "holds": self.decision().answer(),
            "records": self.records(),
            "groups": self.groups(),
            "attacks": self.of(false).map(attacked_json).collect::<Vec<_>>(),
            "not_run": self.skipped.iter().map(|skipped| {
                json!({ "attack": skipped.attack, "column": skipped.column, "why": skipped.why })
            }).collect::<Vec<_>>(),
            "private": {
                "most_exposed":
                    self.attacked.iter().filter(single).map(exposed).collect::<Vec<_>>(),
                "attacks": self.of(true).map(attacked_json).collect::<Vec<_>>(),
            },
        })
    }
}

fn attacked_json(attacked: &Attacked) -> Json {
    let finding = &attacked.finding;
    let facts: Map<String, Json> =
        finding.facts.iter().map(|fact| (fact.name.to_owned(), number(fact.value))).collect();
    let bands: Map<String, Json> =
        finding.bands.iter().map(|band| (band.label.to_owned(), json!(band.people))).collect();
    let limits = attacked.limits.iter().map(|limit| {
        let name = Quantity::ALL.iter().find(|(_, q)| *q == limit.quantity).map(|(name, _)| *name);
        json!({ "on": name, "most": limit.most, "have": limit.have, "holds": limit.holds })
    });
    json!({
        "attack": finding.attack,
        "column": finding.column,
        "measures": finding.measures,
        "people": finding.people,
        "worst": finding.worst,
        "average": finding.average,
        "at_risk": finding.at_risk,
        "of": finding.of,
        "share": finding.share(),
        "at_risk_means": finding.alarm,
        "bands": bands,
        "facts": facts,
        "notes": finding.notes,
        "limits": limits.collect::<Vec<_>>(),
    })
}

/// Writes counts as integers.
fn number(x: f64) -> Json {
    if x.fract() == 0.0 && (0.0..9e15).contains(&x) { json!(x as u64) } else { json!(x) }
}
