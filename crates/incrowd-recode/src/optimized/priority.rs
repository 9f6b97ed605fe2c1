//! The trials, the order that follows from them, and the final run.

use std::cmp::Ordering;

use incrowd_core::dataset::Quasi;
use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Domain, Error, Partition, Progress, Result};
use rayon::prelude::*;

use super::field::Field;
use super::report::{KeptRun, Trial, TrialReport};
use super::{CARD, Optimized, Priority, regular};
use crate::mondrian::{Choice, Outcome, Runs, keeps_as_a_whole};

/// More quasi-identifiers than this have too many orders.
const MOST_ORDERED: usize = 5;

/// Compared after rounding, so that the order in which penalties were added up decides nothing.
fn compare(a: f64, b: f64) -> Ordering {
    let rounded = |x: f64| (x * 1e9).round();
    rounded(a).total_cmp(&rounded(b))
}

/// A trial weights its column by the number of records.
fn trials(data: &Dataset) -> Vec<Choice> {
    let width = data.quasi().len();
    let weight = |favoured: usize, line: usize| if line == favoured { data.records() as f64 } else { 1.0 };
    (0..width).map(|j| Choice::Widest((0..width).map(|line| weight(j, line)).collect())).collect()
}

/// The final run of an order.
fn last(priority: Priority, order: &[usize]) -> Choice {
    match priority {
        Priority::Rank => {
            let mut weights = vec![1.0; order.len()];
            order.iter().enumerate().for_each(|(rank, &line)| weights[line] = (order.len() - rank) as f64);
            Choice::Widest(weights)
        }
        _ => Choice::Order(order.to_vec()),
    }
}

/// All orders, first those that begin with the first column.
fn all_orders(width: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..width {
        let grow = |order: Vec<usize>| {
            let left = (0..width).filter(|line| !order.contains(line)).collect::<Vec<_>>();
            left.into_iter().map(move |line| [order.as_slice(), &[line]].concat())
        };
        orders = orders.into_iter().flat_map(grow).collect();
    }
    orders
}

impl Optimized {
    /// Divides the table in all the ways the options ask for and keeps one.
    pub(super) fn divide(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<(Partition, TrialReport)> {
        keeps_as_a_whole(CARD.name, data, models)?;
        let width = data.quasi().len();
        if self.priority == Priority::AllOrders && width > MOST_ORDERED {
            return Err(Error::job(format!(
                "{width} quasi-identifiers have too many orders to try them all: at most {MOST_ORDERED}"
            ))
            .help("priority = \"lex\" tries each quasi-identifier first, once")
            .at("priority"));
        }
        let mondrian = self.mondrian();
        let own = Field::new(data, None, models);
        let runs = Runs::new(own.table(), models, &mondrian, suppressible);
        let weights: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
        let cells = data.records() as f64 * weights;
        let rate = |cost: f64| if cells > 0.0 { cost / cells } else { 0.0 };
        if self.priority == Priority::None || width == 1 {
            let only = runs.one(&Choice::Widest(vec![1.0; width]), progress);
            let report =
                TrialReport { priority: "none", last: rate(only.cost), runs: 1, ..TrialReport::default() };
            return Ok((own.partition(&only)?, report));
        }

        // Numbers that are to be cut at the median are grouped by regular intervals in the trials: that is how the order is
        // defined, and there are fewer rows to divide.
        let sketch = self.sketch(data).map(|domains| Field::new(data, Some(domains), models));
        let field = sketch.as_ref().unwrap_or(&own);
        let mut tried = match &sketch {
            Some(sketch) => Runs::new(sketch.table(), models, &mondrian, suppressible).all(
                "trial runs",
                &trials(data),
                progress,
            ),
            None => runs.all("trial runs", &trials(data), progress),
        };

        let mut orders = vec![ranked(&tried)];
        if self.priority == Priority::LexicographicBoth && sketch.is_some() {
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

        let price = |(i, outcome): (usize, &Outcome)| match i < width {
            true => field.published(outcome, final_run.cost),
            false => Some(outcome.cost),
        };
        let published: Vec<Option<f64>> = tried.par_iter().enumerate().map(price).collect();
        let cost = |i: usize| published[i].unwrap_or(f64::INFINITY);
        let cheapest = (0..tried.len()).min_by(|&a, &b| compare(cost(a), cost(b))).unwrap_or(0);
        let kept_trial = self.keep_best && compare(cost(cheapest), final_run.cost).is_lt();
        let partition = match kept_trial {
            true if cheapest < width => field.partition(&tried[cheapest])?,
            true => own.partition(&tried[cheapest])?,
            false => own.partition(&final_run)?,
        };
        let name = |line: usize| data.quasi()[line].name.clone();
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
            order: orders[at].iter().map(|&line| name(line)).collect(),
            last: rate(final_run.cost),
            kept: if kept_trial { KeptRun::Trial(name(cheapest % width)) } else { KeptRun::Last },
            runs: tried.len() + choices.len(),
            single_width: Vec::new(),
        };
        Ok((partition, report))
    }

    /// The lines of the trials, if they are not those of the table. A population stands on the table's own lines.
    fn sketch(&self, data: &Dataset) -> Option<Vec<Domain>> {
        let cut = |quasi: &Quasi| matches!(&quasi.domain, Domain::Numbers(line) if !line.is_empty());
        if self.mdr.is_some() || data.population().is_some() || !data.quasi().iter().any(cut) {
            return None;
        }
        // Numbers too large for a tree are tried as they are.
        regular(&self.trial_tree, data).ok()
    }
}

/// The columns by what their trials cost. The sort is stable: of equal trials the first column of the table comes first.
fn ranked(tried: &[Outcome]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tried.len()).collect();
    order.sort_by(|&a, &b| compare(tried[a].cost, tried[b].cost));
    order
}

/// The choice whose run costs least, and that run; the first of several. Only as many outcomes are held as run together.
fn best(runs: &Runs<'_>, choices: &[Choice], progress: &dyn Progress) -> (usize, Outcome) {
    if let [only] = choices {
        return (0, runs.one(only, progress));
    }
    let mut best: Option<(usize, Outcome)> = None;
    for (chunk, some) in choices.chunks(TOGETHER).enumerate() {
        let step = format!("orders up to {} of {}", chunk * TOGETHER + some.len(), choices.len());
        for (i, outcome) in runs.all(&step, some, progress).into_iter().enumerate() {
            if best.as_ref().is_none_or(|(_, best)| compare(outcome.cost, best.cost).is_lt()) {
                best = Some((chunk * TOGETHER + i, outcome));
            }
        }
    }
    best.expect("a table with quasi-identifiers has an order of them")
}

/// How many orders run at a time.
const TOGETHER: usize = 8;

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
    fn ranks_become_weights() {
        assert_eq!(last(Priority::Rank, &[2, 0, 1]), Choice::Widest(vec![2.0, 1.0, 3.0]));
        assert_eq!(last(Priority::Lexicographic, &[2, 0, 1]), Choice::Order(vec![2, 0, 1]));
    }

    #[test]
    fn rounding_decides_nothing() {
        assert_eq!(compare(0.1 + 0.2, 0.3), Ordering::Equal);
        assert_eq!(compare(22.28, 22.280_000_1), Ordering::Less);
    }
}
