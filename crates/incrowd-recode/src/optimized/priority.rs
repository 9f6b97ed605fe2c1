//! The trials, the order that follows from them, and the final run.

use std::cmp::Ordering;

use incrowd_core::model::BoundModel;
use incrowd_core::{Dataset, Error, Partition, Progress, Result};

use super::report::{KeptRun, Trial, TrialReport};
use super::{CARD, Optimized, Priority};
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
fn orders(width: usize) -> Vec<Vec<usize>> {
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
        let runs = Runs::new(data, models, &mondrian, suppressible);
        let names: Vec<String> = data.quasi().iter().map(|quasi| quasi.name.clone()).collect();
        let weights: f64 = data.quasi().iter().map(|quasi| quasi.weight).sum();
        let cells = data.records() as f64 * weights;
        let rate = |outcome: &Outcome| if cells > 0.0 { outcome.cost / cells } else { 0.0 };
        if self.priority == Priority::None || width == 1 {
            let only = runs.one(&Choice::Widest(vec![1.0; width]), progress);
            let report = TrialReport {
                priority: "none",
                trials: Vec::new(),
                order: Vec::new(),
                last: rate(&only),
                kept: KeptRun::Last,
                runs: 1,
                single_width: Vec::new(),
            };
            return Ok((only.partition(data)?, report));
        }
        let tried = runs.all("trial runs", &trials(data), progress);
        let mut order: Vec<usize> = (0..width).collect();
        // The sort is stable: of equal trials the first column of the table comes first.
        order.sort_by(|&a, &b| compare(tried[a].cost, tried[b].cost));
        let (order, final_run, more) = if self.priority == Priority::AllOrders {
            let orders = orders(width);
            let choices: Vec<Choice> = orders.iter().map(|order| Choice::Order(order.clone())).collect();
            let (at, best) = self.best_order(&runs, &choices, progress);
            (orders[at].clone(), best, choices.len())
        } else {
            (order.clone(), runs.one(&last(self.priority, &order), progress), 1)
        };
        let cheapest = (0..width).min_by(|&a, &b| compare(tried[a].cost, tried[b].cost)).unwrap_or(0);
        let kept_trial = self.keep_best && compare(tried[cheapest].cost, final_run.cost).is_lt();
        let kept = if kept_trial { &tried[cheapest] } else { &final_run };
        let report = TrialReport {
            priority: match self.priority {
                Priority::Rank => "rank",
                Priority::AllOrders => "all-orders",
                _ => "lex",
            },
            trials: names
                .iter()
                .zip(&tried)
                .map(|(name, outcome)| Trial {
                    column: name.clone(),
                    cost: outcome.cost,
                    rate: rate(outcome),
                })
                .collect(),
            order: order.iter().map(|&line| names[line].clone()).collect(),
            last: rate(&final_run),
            kept: if kept_trial { KeptRun::Trial(names[cheapest].clone()) } else { KeptRun::Last },
            runs: width + more,
            single_width: Vec::new(),
        };
        Ok((kept.partition(data)?, report))
    }

    /// The order whose run costs least, and that run; the first of several. Only as many outcomes are held as run together.
    fn best_order(&self, runs: &Runs<'_>, choices: &[Choice], progress: &dyn Progress) -> (usize, Outcome) {
        let mut best: Option<(usize, Outcome)> = None;
        for (chunk, some) in choices.chunks(ORDERS_TOGETHER).enumerate() {
            let upto = (chunk * ORDERS_TOGETHER + some.len(), choices.len());
            let step = format!("orders up to {} of {}", upto.0, upto.1);
            for (i, outcome) in runs.all(&step, some, progress).into_iter().enumerate() {
                if best.as_ref().is_none_or(|(_, best)| compare(outcome.cost, best.cost).is_lt()) {
                    best = Some((chunk * ORDERS_TOGETHER + i, outcome));
                }
            }
        }
        best.expect("a table with quasi-identifiers has an order of them")
    }
}

/// How many orders run at a time.
const ORDERS_TOGETHER: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_listed_once() {
        assert_eq!(orders(3).len(), 6);
        assert_eq!(orders(3)[0], [0, 1, 2]);
        assert_eq!(orders(3)[5], [2, 1, 0]);
        assert_eq!(orders(1), [[0]]);
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
