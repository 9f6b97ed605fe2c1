//! The trials, the order that follows from them, and the final run.

use std::cmp::Ordering;

use incrowd_core::dataset::Quasi;
use incrowd_core::{Dataset, Domain, Error, Partition, Progress, Result};
use rayon::prelude::*;

use super::divided_table::DividedTable;
use super::report::{KeptRun, Trial, TrialReport};
use super::{CARD, Optimized, Priority, regular};
use crate::Task;
use crate::mondrian::{Choice, RunOutcome, Runs, require_valid_whole};

/// The greatest number of quasi-identifiers for which all orders are tried.
const MAX_ORDERED: usize = 5;

/// Compares costs after rounding, so that the order of floating-point additions has no effect.
fn compare(a: f64, b: f64) -> Ordering {
    let rounded = |x: f64| (x * 1e9).round();
    rounded(a).total_cmp(&rounded(b))
}

/// Returns the trials. Each multiplies the penalty of its column by the number of records.
fn trials(data: &Dataset) -> Vec<Choice> {
    let width = data.quasi().len();
    let factor = |first: usize, q: usize| if q == first { data.records() as f64 } else { 1.0 };
    (0..width).map(|j| Choice::Widest((0..width).map(|q| factor(j, q)).collect())).collect()
}

/// Returns the rule of the final run for an order.
fn last(priority: Priority, order: &[usize]) -> Choice {
    match priority {
        Priority::Rank => {
            let mut factors = vec![1.0; order.len()];
            order
                .iter()
                .enumerate()
                .for_each(|(rank, &q)| factors[q] = (order.len() - rank) as f64);
            Choice::Widest(factors)
        }
        _ => Choice::Order(order.to_vec()),
    }
}

/// Returns all orders in lexicographic order.
fn all_orders(width: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..width {
        let grow = |order: Vec<usize>| {
            let left = (0..width).filter(|q| !order.contains(q)).collect::<Vec<_>>();
            left.into_iter().map(move |q| [order.as_slice(), &[q]].concat())
        };
        orders = orders.into_iter().flat_map(grow).collect();
    }
    orders
}

impl Optimized {
    /// Runs the trials and the final run, and returns the best result.
    // Long, because trials, final run and their comparison share the divided tables.
    pub(super) fn divide(&self, task: Task<'_>) -> Result<(Partition, TrialReport)> {
        let Task { data, models, suppressible, progress } = task;
        require_valid_whole(CARD.name, data, models)?;
        let width = data.quasi().len();
        self.require_few_orders(width)?;
        let mondrian = self.mondrian();
        let own = DividedTable::new(data, None, models);
        let runs = Runs::new(own.table(), models, &mondrian, suppressible);
        let importance: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
        let cells = data.records() as f64 * importance;
        let rate = |cost: f64| if cells > 0.0 { cost / cells } else { 0.0 };
        if self.priority == Priority::None || width == 1 {
            let only = runs.one(&Choice::Widest(vec![1.0; width]), progress);
            let report = TrialReport {
                priority: "none",
                last: rate(only.cost),
                runs: 1,
                ..TrialReport::default()
            };
            return Ok((own.partition(&only)?, report));
        }

        // In the trials, numbers that will be cut at the median are grouped by regular intervals.
        // The order is defined that way, and there are fewer rows to divide.
        let trial_table =
            self.trial_domains(data).map(|domains| DividedTable::new(data, Some(domains), models));
        let table = trial_table.as_ref().unwrap_or(&own);
        let mut tried = match &trial_table {
            Some(trial_table) => Runs::new(trial_table.table(), models, &mondrian, suppressible)
                .all("trial runs", &trials(data), progress),
            None => runs.all("trial runs", &trials(data), progress),
        };

        let mut orders = vec![ranked(&tried)];
        if self.priority == Priority::LexicographicBoth && trial_table.is_some() {
            let again = runs.all("trial runs at the median", &trials(data), progress);
            orders.push(ranked(&again));
            orders.dedup();

            tried.extend(again);
        }
        if self.priority == Priority::AllOrders {
            orders = all_orders(width);
        }
        let choices: Vec<Choice> = orders.iter().map(|order| last(self.priority, order)).collect();
        let (at, final_run) = best(&runs, &choices, progress);

        let price = |(i, outcome): (usize, &RunOutcome)| match i < width {
            true => table.published(outcome, final_run.cost),
            false => Some(outcome.cost),
        };
        let published: Vec<Option<f64>> = tried.par_iter().enumerate().map(price).collect();
        let cost = |i: usize| published[i].unwrap_or(f64::INFINITY);
        let cheapest = (0..tried.len()).min_by(|&a, &b| compare(cost(a), cost(b))).unwrap_or(0);
        let kept_trial = self.keep_best && compare(cost(cheapest), final_run.cost).is_lt();
        let partition = match kept_trial {
            true if cheapest < width => table.partition(&tried[cheapest])?,
            true => own.partition(&tried[cheapest])?,
            false => own.partition(&final_run)?,
        };
        let name = |q: usize| data.quasi()[q].name.clone();
        let trial = |i: usize| Trial {
            column: name(i % width),
            cost: tried[i].cost,
            rate: rate(tried[i].cost),
            published: published[i].map(rate),
        };
        let report = TrialReport {
            priority: self.priority.name(),
            trials: (0..width).map(trial).collect(),
            median_trials: (width..tried.len()).map(trial).collect(),
            order: orders[at].iter().map(|&q| name(q)).collect(),
            last: rate(final_run.cost),
            kept: if kept_trial { KeptRun::Trial(name(cheapest % width)) } else { KeptRun::Last },
            runs: tried.len() + choices.len(),
            single_width: Vec::new(),
        };
        Ok((partition, report))
    }

    /// Returns an error if all orders are to be tried and there are too many.
    fn require_few_orders(&self, width: usize) -> Result<()> {
        if self.priority == Priority::AllOrders && width > MAX_ORDERED {
            return Err(Error::job(format!(
                "{width} quasi-identifiers have too many orders to try all of them; the limit is \
                 {MAX_ORDERED}"
            ))
            .help("priority = \"lex\" tries each quasi-identifier first, once")
            .at("priority"));
        }
        Ok(())
    }

    /// Returns the domains of the trials, if they differ from the table's. A population requires
    /// the table's own domains.
    fn trial_domains(&self, data: &Dataset) -> Option<Vec<Domain>> {
        let cut = |quasi: &Quasi| matches!(&quasi.domain, Domain::Numbers(n) if !n.is_empty());
        if self.mdr.is_some() || data.population().is_some() || !data.quasi().iter().any(cut) {
            return None;
        }
        // Numbers that are too large for a tree keep their domain.
        regular(&self.trial_tree, data).ok()
    }
}

/// Returns the columns by the cost of their trials. The sort is stable: of equal trials, the first
/// column of the table comes first.
fn ranked(tried: &[RunOutcome]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tried.len()).collect();
    order.sort_by(|&a, &b| compare(tried[a].cost, tried[b].cost));
    order
}

/// Returns the choice whose run costs least, and that run; the first of several. Only the outcomes
/// of one batch are in memory.
fn best(runs: &Runs<'_>, choices: &[Choice], progress: &dyn Progress) -> (usize, RunOutcome) {
    if let [only] = choices {
        return (0, runs.one(only, progress));
    }
    let mut best: Option<(usize, RunOutcome)> = None;
    for (chunk, some) in choices.chunks(BATCH).enumerate() {
        let step = format!("orders up to {} of {}", chunk * BATCH + some.len(), choices.len());
        for (i, outcome) in runs.all(&step, some, progress).into_iter().enumerate() {
            if best.as_ref().is_none_or(|(_, best)| compare(outcome.cost, best.cost).is_lt()) {
                best = Some((chunk * BATCH + i, outcome));
            }
        }
    }
    best.expect("a table with quasi-identifiers has at least one order")
}

/// The number of orders per batch.
const BATCH: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_listed_once() {
        assert_eq!(all_orders(3).len(), 6);
        assert_eq!(all_orders(3)[0], [0, 1, 2]);
        assert_eq!(all_orders(3)[5], [2, 1, 0]);
        assert_eq!(all_orders(1), [[0]]);
    }

    #[test]
    fn ranks_become_factors() {
        assert_eq!(last(Priority::Rank, &[2, 0, 1]), Choice::Widest(vec![2.0, 1.0, 3.0]));
        assert_eq!(last(Priority::Lexicographic, &[2, 0, 1]), Choice::Order(vec![2, 0, 1]));
    }

    #[test]
    fn rounding_errors_do_not_affect_comparisons() {
        assert_eq!(compare(0.1 + 0.2, 0.3), Ordering::Equal);
        assert_eq!(compare(22.28, 22.280_000_1), Ordering::Less);
    }
}
