//! Bipartite matching of people and published rows, as a flow.
//!
//! People alike are one supply, rows of boxes alike one demand; an edge says that the box holds the people. Augmenting paths
//! move people from row to row until nothing is left to be placed, or cannot be.

/// Supplies and demands with the edges between them.
#[derive(Debug)]
pub(super) struct Flow {
    /// How many people of each kind have no place yet.
    supply: Vec<u64>,
    /// How many rows of each kind are free.
    free: Vec<u64>,
    /// Edges by demand: where those of each end, and the supply of each.
    ends: Vec<usize>,
    supplies: Vec<u32>,
    /// Edges by supply: where those of each end, and the number of each.
    by_supply: (Vec<usize>, Vec<u32>),
    demand_of: Vec<u32>,
    /// How many people of an edge's supply stand in rows of its demand.
    placed: Vec<u64>,
}

impl Flow {
    /// `edges` are the supplies of each demand.
    pub(super) fn new(supply: Vec<u64>, demand: Vec<u64>, edges: &[Vec<u32>]) -> Flow {
        let (mut ends, mut supplies, mut demand_of) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = vec![0usize; supply.len() + 1];
        for (demand, own) in edges.iter().enumerate() {
            for &supply in own {
                counts[supply as usize + 1] += 1;
                supplies.push(supply);
                demand_of.push(demand as u32);
            }
            ends.push(supplies.len());
        }
        for i in 1..counts.len() {
            counts[i] += counts[i - 1];
        }
        let mut next = counts.clone();
        let mut numbers = vec![0u32; supplies.len()];
        for (edge, &supply) in supplies.iter().enumerate() {
            numbers[next[supply as usize]] = edge as u32;
            next[supply as usize] += 1;
        }
        let placed = vec![0; supplies.len()];
        Flow { supply, free: demand, ends, supplies, by_supply: (counts, numbers), demand_of, placed }
    }

    fn of_demand(&self, demand: usize) -> std::ops::Range<usize> {
        (if demand == 0 { 0 } else { self.ends[demand - 1] })..self.ends[demand]
    }

    fn of_supply(&self, supply: usize) -> &[u32] {
        &self.by_supply.1[self.by_supply.0[supply]..self.by_supply.0[supply + 1]]
    }

    /// Gives every one of these supplies a place; returns how many people have none.
    pub(super) fn place(&mut self, supplies: impl Iterator<Item = usize>) -> u64 {
        let mut left = 0;
        let mut seen = Seen::new(self.free.len());
        for supply in supplies {
            while self.supply[supply] > 0 && self.place_some(supply, &mut seen) {}
            left += self.supply[supply];
        }
        left
    }

    /// Places some people of a supply, moving others if need be.
    fn place_some(&mut self, supply: usize, seen: &mut Seen) -> bool {
        seen.forget();
        let mut queue: Vec<u32> = Vec::new();
        for &edge in self.of_supply(supply) {
            if seen.meet(self.demand_of[edge as usize], edge, None) {
                queue.push(self.demand_of[edge as usize]);
            }
        }
        let mut at = 0;
        while let Some(&demand) = queue.get(at) {
            at += 1;
            if self.free[demand as usize] > 0 {
                self.augment(supply, demand, seen);
                return true;
            }
            for edge in self.of_demand(demand as usize) {
                if self.placed[edge] == 0 {
                    continue;
                }
                for &other in self.of_supply(self.supplies[edge] as usize) {
                    let next = self.demand_of[other as usize];
                    if seen.meet(next, other, Some((demand, edge as u32))) {
                        queue.push(next);
                    }
                }
            }
        }
        false
    }

    /// Follows the way back from a demand with free rows.
    fn augment(&mut self, supply: usize, demand: u32, seen: &Seen) {
        let mut amount = self.free[demand as usize].min(self.supply[supply]);
        let mut at = demand;
        while let Some((before, edge)) = seen.before(at) {
            amount = amount.min(self.placed[edge as usize]);
            at = before;
        }
        self.free[demand as usize] -= amount;
        self.supply[supply] -= amount;
        let mut at = demand;
        loop {
            self.placed[seen.by(at) as usize] += amount;
            let Some((before, edge)) = seen.before(at) else { break };
            self.placed[edge as usize] -= amount;
            at = before;
        }
    }

    /// Fills every row with people who have no place yet, moving others if need be; returns how many rows stay free.
    pub(super) fn fill(&mut self) -> u64 {
        let mut left = 0;
        let mut seen = Seen::new(self.free.len());
        for demand in 0..self.free.len() {
            while self.free[demand] > 0 && self.fill_some(demand, &mut seen) {}
            left += self.free[demand];
        }
        left
    }

    /// Finds somebody without a place who can stand here, or who can stand where somebody stands who can come here.
    fn fill_some(&mut self, demand: usize, seen: &mut Seen) -> bool {
        seen.forget();
        seen.meet(demand as u32, u32::MAX, None);
        let mut queue = vec![demand as u32];
        let mut at = 0;
        while let Some(&here) = queue.get(at) {
            at += 1;
            for edge in self.of_demand(here as usize) {
                let supply = self.supplies[edge] as usize;
                if self.supply[supply] > 0 {
                    self.shift(demand as u32, here, edge as u32, seen);
                    return true;
                }
            }
            for edge in self.of_demand(here as usize) {
                for &other in self.of_supply(self.supplies[edge] as usize) {
                    let there = self.demand_of[other as usize];
                    if self.placed[other as usize] > 0 && seen.meet(there, other, Some((here, edge as u32))) {
                        queue.push(there);
                    }
                }
            }
        }
        false
    }

    /// Somebody new stands in `here`, and everybody on the way moves one step towards `demand`.
    fn shift(&mut self, demand: u32, here: u32, edge: u32, seen: &Seen) {
        let mut amount = self.free[demand as usize].min(self.supply[self.supplies[edge as usize] as usize]);
        let mut at = here;
        while let Some((before, _)) = seen.before(at) {
            amount = amount.min(self.placed[seen.by(at) as usize]);
            at = before;
        }
        self.supply[self.supplies[edge as usize] as usize] -= amount;
        self.placed[edge as usize] += amount;
        self.free[demand as usize] -= amount;
        let mut at = here;
        while let Some((before, to)) = seen.before(at) {
            self.placed[seen.by(at) as usize] -= amount;
            self.placed[to as usize] += amount;
            at = before;
        }
    }
}

/// Which demands a search has met, and how it came there.
struct Seen {
    round: u32,
    met: Vec<Met>,
}

/// In which round a demand was met last, by which edge, and from which demand and edge before.
type Met = (u32, u32, Option<(u32, u32)>);

impl Seen {
    fn new(demands: usize) -> Seen {
        Seen { round: 0, met: vec![(0, 0, None); demands] }
    }

    fn forget(&mut self) {
        self.round += 1;
    }

    /// Whether the demand is met for the first time: by this edge, from the demand and the edge before.
    fn meet(&mut self, demand: u32, by: u32, before: Option<(u32, u32)>) -> bool {
        let fresh = self.met[demand as usize].0 != self.round;
        if fresh {
            self.met[demand as usize] = (self.round, by, before);
        }
        fresh
    }

    fn by(&self, demand: u32) -> u32 {
        self.met[demand as usize].1
    }

    fn before(&self, demand: u32) -> Option<(u32, u32)> {
        self.met[demand as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether everybody of the first supplies, and then rows in full, can be placed: by trying everything.
    fn slow(people: &[Vec<bool>], must: usize, rows: &[usize]) -> bool {
        fn go(person: usize, people: &[Vec<bool>], must: usize, left: &mut Vec<usize>) -> bool {
            if person == people.len() {
                return left.iter().all(|&n| n == 0);
            }
            for row in 0..left.len() {
                if left[row] > 0 && people[person][row] {
                    left[row] -= 1;
                    if go(person + 1, people, must, left) {
                        return true;
                    }
                    left[row] += 1;
                }
            }
            person >= must && go(person + 1, people, must, left)
        }
        go(0, people, must, &mut rows.to_vec())
    }

    proptest! {
        #[test]
        fn a_matching_is_found_if_there_is_one(
            people in prop::collection::vec(prop::collection::vec(any::<bool>(), 3), 1..8),
            must in 0usize..5,
            rows in prop::collection::vec(0usize..4, 3),
        ) {
            let must = must.min(people.len());
            let edges: Vec<Vec<u32>> = (0..3)
                .map(|row| (0..people.len() as u32).filter(|&p| people[p as usize][row]).collect())
                .collect();
            let demand = rows.iter().map(|&n| n as u64).collect();
            let mut flow = Flow::new(vec![1; people.len()], demand, &edges);
            let found = flow.place(0..must) == 0 && flow.fill() == 0;
            prop_assert_eq!(found, slow(&people, must, &rows));
            for person in 0..people.len() {
                let stands: u64 = flow.of_supply(person).iter().map(|&e| flow.placed[e as usize]).sum();
                prop_assert_eq!(stands + flow.supply[person], 1);
            }
            for (row, &wanted) in rows.iter().enumerate() {
                let stand: u64 = flow.of_demand(row).map(|edge| flow.placed[edge]).sum();
                prop_assert_eq!(stand + flow.free[row], wanted as u64);
            }
        }
    }
}
