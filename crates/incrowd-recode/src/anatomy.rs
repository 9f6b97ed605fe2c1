//! Anatomy: publishes exact quasi-identifiers in one table and sensitive values in another, linked
//! only by group numbers.
//!
//! Paper: `xiao2006`, Figure 3. Records are put into buckets by their sensitive value. While at
//! least l buckets are not empty, one random record of each of the l largest buckets forms a group.
//! At most one record of each of fewer than l values remains. Each of these joins a random group
//! that does not contain its value.
//!
//! Differences from the paper: ties between buckets are broken at random. Group numbers are random,
//! so that a number does not reveal when the group was formed. All draws follow from a secret. The
//! output order does not depend on the input order.

use std::collections::BinaryHeap;

use incrowd_core::eligibility::eligible;
use incrowd_core::{Error, Param, Result};

use crate::suppression::Dice;
use crate::{Algorithm, Card, Recoding, Task};

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "anatomy",
    paper: "xiao2006",
    about: "Publishes the quasi-identifiers unchanged, with a group number, and a second table \
            with the number of records of each sensitive value in each group. Every group has l or \
            l + 1 records, no two of them with the same value.",
    limits: "An adversary who knows a person's quasi-identifiers can see whether the person is in \
             the table: exact values do not hide presence. If records were suppressed first, a \
             known participant who is absent is among them, and so has one of the frequent values. \
             Groups are drawn without regard to the quasi-identifiers.",
    params: &[
        Param::count("l", 2).about("the least number of different sensitive values in a group"),
        Param::column("on").optional().about("the sensitive column; optional if there is only one"),
    ],
    repeatable: &[],
    local: false,
    make: |params| Ok(Box::new(Anatomy { l: params.count("l"), on: params.word("on").to_owned() })),
};

/// The algorithm with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anatomy {
    /// The least number of different sensitive values in a group.
    pub l: u64,
    /// The sensitive column. Empty means the only one.
    pub on: String,
}

impl Algorithm for Anatomy {
    fn needs_merging(&self) -> bool {
        false
    }

    /// Always returns an error: there are no generalized groups. Callers check
    /// [`Algorithm::linked`] first.
    fn solve(&self, _: Task<'_>) -> Result<Recoding> {
        Err(Error::job("`anatomy` publishes two linked tables, not one generalized table")
            .help("use an algorithm that makes one table, such as `mondrian`")
            .at("algorithm.name"))
    }

    fn linked(&self) -> Option<&Anatomy> {
        Some(self)
    }
}

/// The assignment of records to groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Pairs of a record and its group number, in random order.
    pub records: Vec<(u32, u32)>,
    /// The number of groups.
    pub groups: u32,
}

/// Returns the number of records, or an error if no l-diverse grouping of these buckets exists.
pub fn diverse(buckets: &[Vec<u32>], l: u64) -> Result<u64> {
    let records: u64 = buckets.iter().map(|bucket| bucket.len() as u64).sum();
    let most = buckets.iter().map(|bucket| bucket.len() as u64).max().unwrap_or(0);
    if records == 0 || !eligible(most, records, l) {
        return Err(Error::unsatisfiable(format!(
            "a sensitive value is more frequent than one record in {l}, so no grouping is l-diverse"
        ))
        .help("suppress records first with `[suppression] name`"));
    }
    Ok(records)
}

/// Divides records into groups. `buckets` contains record ids, one bucket per sensitive value.
pub fn group(mut buckets: Vec<Vec<u32>>, l: u64, dice: &mut Dice) -> Result<Groups> {
    let records = diverse(&buckets, l)?;
    buckets.iter_mut().for_each(|bucket| dice.shuffle(bucket));
    // Largest bucket first; ties are broken by a random number.
    let mut fullest: BinaryHeap<(usize, u64, usize)> = BinaryHeap::new();
    for (value, bucket) in buckets.iter().enumerate().filter(|(_, bucket)| !bucket.is_empty()) {
        fullest.push((bucket.len(), dice.below(u64::MAX), value));
    }
    let mut placed: Vec<(u32, u32)> = Vec::with_capacity(records as usize);
    let mut members: Vec<Vec<u32>> = Vec::new();
    while fullest.len() as u64 >= l {
        let taken: Vec<usize> =
            (0..l).filter_map(|_| fullest.pop()).map(|(_, _, value)| value).collect();
        let group = members.len() as u32;
        for &value in &taken {
            if let Some(record) = buckets[value].pop() {
                placed.push((record, group));
            }
            if !buckets[value].is_empty() {
                fullest.push((buckets[value].len(), dice.below(u64::MAX), value));
            }
        }
        members.push(taken.into_iter().map(|value| value as u32).collect());
    }
    for (value, bucket) in buckets.iter_mut().enumerate() {
        while let Some(record) = bucket.pop() {
            let lacks =
                |group: usize, members: &[Vec<u32>]| !members[group].contains(&(value as u32));
            let candidates: Vec<usize> =
                (0..members.len()).filter(|&group| lacks(group, &members)).collect();
            if candidates.is_empty() {
                return Err(Error::bug("no group can take a record of an eligible table"));
            }
            let group = candidates[dice.below(candidates.len() as u64) as usize];
            placed.push((record, group as u32));
            members[group].push(value as u32);
        }
    }
    let numbers = dice.order(members.len());
    placed.iter_mut().for_each(|(_, group)| *group = numbers[*group as usize] as u32);
    dice.shuffle(&mut placed);
    Ok(Groups { records: placed, groups: members.len() as u32 })
}
