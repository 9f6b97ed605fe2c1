//! The exact least loss of a small table. Records of one row may be in different groups.

use incrowd_core::{Code, Dataset};
use incrowd_recode::ascent::Metric;

/// Returns one row of codes for every record.
fn people(data: &Dataset) -> Vec<Vec<u32>> {
    let row = |row: usize| vec![data.quasi_codes(row).to_vec(); data.weight(row) as usize];
    (0..data.rows()).flat_map(row).collect()
}

/// Returns the total loss of a group's records.
fn cost(data: &Dataset, group: &[&Vec<u32>], metric: Metric) -> f64 {
    let column = |q: usize| {
        let domain = &data.quasi()[q].domain;
        let mut codes: Vec<Code> = group.iter().map(|person| Code(person[q])).collect();
        codes.sort_unstable();
        codes.dedup();
        let label = if domain.publishes_sets() {
            domain.set_label(&codes)
        } else {
            domain.label(codes[0], codes[codes.len() - 1])
        };
        let cell = domain.read(&label).unwrap();
        if metric == Metric::Ncp { domain.cell_ncp(&cell) } else { domain.cell_loss(&cell) }
    };
    group.len() as f64 * (0..data.quasi().len()).map(column).sum::<f64>()
}

struct Solver<'a> {
    data: &'a Dataset,
    people: &'a [Vec<u32>],
    k: usize,
    metric: Metric,
    prune: bool,
    best: f64,
}

impl<'a> Solver<'a> {
    /// Tries the next person in every group and in a new one.
    fn place(&mut self, next: usize, groups: &mut Vec<Vec<&'a Vec<u32>>>) {
        let lacking: usize = groups.iter().map(|group| self.k.saturating_sub(group.len())).sum();
        let so_far: f64 = groups.iter().map(|group| cost(self.data, group, self.metric)).sum();
        // The loss of a group only grows, and groups that are too small need the remaining people.
        if self.prune && (so_far >= self.best || lacking > self.people.len() - next) {
            return;
        }
        let Some(person) = self.people.get(next) else {
            if lacking == 0 {
                self.best = self.best.min(so_far);
            }
            return;
        };
        for group in 0..=groups.len() {
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(person);
            self.place(next + 1, groups);
            groups[group].pop();
        }
        groups.pop();
    }
}

fn solve(data: &Dataset, k: u64, metric: Metric, prune: bool) -> f64 {
    let people = people(data);
    let mut solver =
        Solver { data, people: &people, k: k as usize, metric, prune, best: f64::INFINITY };
    solver.place(0, &mut Vec::new());
    solver.best / (people.len() * data.quasi().len()) as f64
}

/// Computes the least loss by branch and bound.
pub(crate) fn least_loss(data: &Dataset, k: u64, metric: Metric) -> f64 {
    solve(data, k, metric, true)
}

/// Computes the least loss by enumerating all partitions.
pub(crate) fn brute_force(data: &Dataset, k: u64, metric: Metric) -> f64 {
    solve(data, k, metric, false)
}
