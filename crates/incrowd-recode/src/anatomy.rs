//! Anatomy: exact quasi-identifiers in one table, sensitive values in another, linked by groups only.
//!
//! Paper: `xiao2006`, Figure 3. Records are put into buckets by their sensitive value. While at least l buckets are not empty,
//! one random record of each of the l fullest makes a group. What is left, at most one record of each of fewer than l values,
//! joins a random group that lacks its value.
//!
//! Where we differ: ties between buckets are drawn. Groups are numbered at random, so that a number does not tell when the
//! group was made. All draws follow from a secret, and rows come in an order that does not depend on the input's.

use std::collections::BinaryHeap;

use incrowd_core::eligibility::eligible;
use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Error, Param, ParamKind, Partition, Progress, Result};

use crate::suppression::Dice;
use crate::{Algorithm, Card};

/// The list entry.
pub const CARD: Card = Card {
    name: "anatomy",
    paper: "xiao2006",
    about: "Publishes the quasi-identifiers as they are, with the number of a group, and in a second table how often each \
            sensitive value occurs in each group. Every group has l or l + 1 records, no two of them with the same value.",
    limits: "Whoever knows a person's quasi-identifiers sees whether the person is in the table: exact values hide no presence. If \
             records were withheld first, a known participant who is absent was among them, and so has one of the frequent \
             values. The groups are drawn without regard to the quasi-identifiers.",
    params: &[
        Param {
            name: "l",
            kind: ParamKind::Count(2),
            default: None,
            about: "how many different sensitive values a group has at least",
        },
        Param {
            name: "on",
            kind: ParamKind::Column,
            default: Some(""),
            about: "the sensitive column; may be left out if there is one only",
        },
    ],
    repeatable: &[],
    local: false,
    make: |params| Ok(Box::new(Anatomy { l: params.count("l"), on: params.word("on").to_owned() })),
};

/// The algorithm with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anatomy {
    /// How many different sensitive values a group has at least.
    pub l: u64,
    /// The sensitive column; empty means the only one there is.
    pub on: String,
}

impl Algorithm for Anatomy {
    fn needs_merging(&self) -> bool {
        false
    }

    /// There are no groups of generalized rows to answer with: whoever publishes asks [`Algorithm::linked`] first.
    fn recode(&self, _: &Dataset, _: &[Box<dyn BoundModel>], _: u64, _: &dyn Progress) -> Result<Partition> {
        Err(Error::job("`anatomy` generalizes nothing: it publishes two tables that are linked by groups")
            .help("use an algorithm that makes one table, such as `mondrian`")
            .at("algorithm.name"))
    }

    fn linked(&self) -> Option<&Anatomy> {
        Some(self)
    }
}

/// Records by group: pairs of a record and its group, and how many groups there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Each record with the number of its group, in random order.
    pub records: Vec<(u32, u32)>,
    /// How many groups there are.
    pub groups: u32,
}

/// Refuses buckets from which no diverse groups can be made; answers with the number of records.
pub fn diverse(buckets: &[Vec<u32>], l: u64) -> Result<u64> {
    let records: u64 = buckets.iter().map(|bucket| bucket.len() as u64).sum();
    let most = buckets.iter().map(|bucket| bucket.len() as u64).max().unwrap_or(0);
    if records == 0 || !eligible(most, records, l) {
        return Err(Error::unsatisfiable(format!(
            "a sensitive value is more frequent than one record in {l}, so no grouping is diverse"
        ))
        .help("withhold records first with `[suppression] name`"));
    }
    Ok(records)
}

/// Divides records into groups. `buckets` hold whatever stands for a record, one bucket per sensitive value.
pub fn group(mut buckets: Vec<Vec<u32>>, l: u64, dice: &mut Dice) -> Result<Groups> {
    let records = diverse(&buckets, l)?;
    buckets.iter_mut().for_each(|bucket| dice.shuffle(bucket));
    // Fullest first, ties by a fresh draw.
    let mut fullest: BinaryHeap<(usize, u64, usize)> = BinaryHeap::new();
    for (value, bucket) in buckets.iter().enumerate().filter(|(_, bucket)| !bucket.is_empty()) {
        fullest.push((bucket.len(), dice.below(u64::MAX), value));
    }
    let mut placed: Vec<(u32, u32)> = Vec::with_capacity(records as usize);
    let mut members: Vec<Vec<u32>> = Vec::new();
    while fullest.len() as u64 >= l {
        let taken: Vec<usize> = (0..l).filter_map(|_| fullest.pop()).map(|(_, _, value)| value).collect();
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
            let lacks = |group: usize, members: &[Vec<u32>]| !members[group].contains(&(value as u32));
            let candidates: Vec<usize> = (0..members.len()).filter(|&group| lacks(group, &members)).collect();
            if candidates.is_empty() {
                return Err(Error::bug("a record of an eligible table found no group"));
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
