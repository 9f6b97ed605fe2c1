//! What the attacks found out, as one value with many renderings.

use incrowd_audit::attack::{Finding, Quantity, Skipped};
use incrowd_audit::{ALONE_SHARE, Classes};
use incrowd_core::Folded;
use serde_json::{Map, Value as Json, json};

use super::private::{self, Exposed};

/// How many of the most exposed groups a report names.
const EXPOSED: usize = 5;

/// A limit and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitJudged {
    /// Which number the limit is about.
    pub quantity: Quantity,
    /// The greatest value allowed.
    pub most: f64,
    /// What it is.
    pub have: f64,
    /// Whether it is allowed.
    pub holds: bool,
}

/// A finding and the limits that were stated for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attacked {
    /// The finding.
    pub finding: Finding,
    /// The limits.
    pub limits: Vec<LimitJudged>,
}

/// What the attacks found out about a release.
#[derive(Debug)]
pub struct AttackReport {
    /// The findings, in the order of the list of attacks.
    pub attacked: Vec<Attacked>,
    /// What could not be asked, and why.
    pub skipped: Vec<Skipped>,
    pub(super) release: Folded,
    pub(super) groups: Classes,
    pub(super) quasi: usize,
}

impl AttackReport {
    /// How many records the release has.
    pub fn records(&self) -> u64 {
        self.release.records()
    }

    /// How many groups a reader sees.
    pub fn groups(&self) -> u64 {
        self.groups.len() as u64
    }

    /// How many records each group has.
    pub fn group_sizes(&self) -> &[u64] {
        &self.groups.records
    }

    /// The release as its reader has it: so many quasi-identifiers, then the sensitive columns.
    pub(crate) fn published(&self) -> (&Folded, usize) {
        (&self.release, self.quasi)
    }

    /// The findings that may be published, or those that are for the data owner only.
    pub fn of(&self, owner_only: bool) -> impl Iterator<Item = &Attacked> {
        self.attacked.iter().filter(move |attacked| attacked.finding.owner_only == owner_only)
    }

    /// Whether what is published as it is singles people out: some column, or set of columns, shows at least 5 % of the people alone.
    pub fn singles_out(&self) -> bool {
        let about = |a: &&Attacked| a.finding.attack == "singling-out";
        let alone = |a: &Attacked| a.finding.bands.last().map_or(0, |band| band.people);
        let many = |a: &Attacked| {
            alone(a) > 0 && alone(a) as f64 >= ALONE_SHARE * a.finding.of as f64 * (1.0 - 1e-12)
        };
        self.attacked.iter().filter(about).any(many)
    }

    /// How often the commonest value of a sensitive column is right as a guess about anybody, without the release's groups.
    pub fn guessed_without(&self, column: &str) -> Option<f64> {
        let at = self.release.column(column).filter(|at| *at >= self.quasi)?;
        let mut records = vec![0u64; self.release.columns[at].texts.len()];
        for row in 0..self.release.rows() {
            records[self.release.row(row)[at] as usize] += self.release.weights[row];
        }
        let all: u64 = records.iter().sum();
        records.into_iter().max().filter(|_| all > 0).map(|most| most as f64 / all as f64)
    }

    /// Whether no stated limit is exceeded.
    pub fn holds(&self) -> bool {
        self.attacked.iter().flat_map(|attacked| &attacked.limits).all(|limit| limit.holds)
    }

    /// For the data owner only: the groups most exposed to a finding.
    pub fn exposed(&self, finding: &Finding) -> Vec<Exposed<'_>> {
        private::exposed(&self.release, &self.groups, self.quasi, finding, EXPOSED)
    }

    /// For the data owner only: a CSV table with one line per distinct released row, its number of records and its risk
    /// under each attack.
    pub fn details(&self) -> Vec<u8> {
        private::details(&self.release, &self.groups, self.attacked.iter().map(|attacked| &attacked.finding))
    }

    /// The answer as JSON: what may be published at the top, what is for the data owner under `private`.
    pub fn to_json(&self) -> Json {
        let single = |attacked: &&Attacked| !attacked.finding.by_group.is_empty();
        let exposed = |attacked: &Attacked| {
            let finding = &attacked.finding;
            let groups = self.exposed(finding).into_iter().map(|group| {
                let cells: Map<String, Json> =
                    group.cells.into_iter().map(|(name, cell)| (name.to_owned(), json!(cell))).collect();
                json!({ "cells": cells, "records": group.records, "risk": group.risk })
            });
            json!({ "attack": finding.attack, "column": finding.column, "groups": groups.collect::<Vec<_>>() })
        };
        json!({
            "holds": self.holds(),
            "records": self.records(),
            "groups": self.groups(),
            "attacks": self.of(false).map(attacked_json).collect::<Vec<_>>(),
            "not_run": self.skipped.iter().map(|skipped| {
                json!({ "attack": skipped.attack, "column": skipped.column, "why": skipped.why })
            }).collect::<Vec<_>>(),
            "private": {
                "most_exposed": self.attacked.iter().filter(single).map(exposed).collect::<Vec<_>>(),
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

/// Counts stay whole numbers.
fn number(x: f64) -> Json {
    if x.fract() == 0.0 && (0.0..9e15).contains(&x) { json!(x as u64) } else { json!(x) }
}
