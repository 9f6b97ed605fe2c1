//! Bipartite matching of people and published rows as a maximum flow.
//!
//! People with equal values are one supply, and rows with equal boxes are one demand. An edge means
//! that the box contains the people. Augmenting paths move people between rows until all people are
//! placed or no path is left.

/// Supplies and demands with their edges.
#[derive(Debug)]
pub(super) struct Flow {
    /// Number of people per supply without a row.
    supply: Vec<u64>,
    /// Number of free rows per demand.
    free: Vec<u64>,
    /// Edges by demand: end offsets, and the supply of each edge.
    ends: Vec<usize>,
    supplies: Vec<u32>,
    /// Edges by supply: start offsets, and indices of edges.
    by_supply: (Vec<usize>, Vec<u32>),
    /// Demand of each edge.
    demand_of: Vec<u32>,
    /// Number of people of the edge's supply who are placed in rows of its demand.
    placed: Vec<u64>,
}

impl Flow {
    /// Creates a flow without placed people. `edges` contains the supplies of each demand.
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
        Flow {
            supply,
            free: demand,
            ends,
            supplies,
            by_supply: (counts, numbers),
            demand_of,
            placed,
        }
    }

    fn of_demand(&self, demand: usize) -> std::ops::Range<usize> {
        (if demand == 0 { 0 } else { self.ends[demand - 1] })..self.ends[demand]
    }

    fn of_supply(&self, supply: usize) -> &[u32] {
        &self.by_supply.1[self.by_supply.0[supply]..self.by_supply.0[supply + 1]]
    }

    /// Places all people of these supplies. Returns the number of people without a row.
    pub(super) fn place(&mut self, supplies: impl Iterator<Item = usize>) -> u64 {
        let mut left = 0;
        let mut visited = Visited::new(self.free.len());
        for supply in supplies {
            while self.supply[supply] > 0 && self.place_some(supply, &mut visited) {}
            left += self.supply[supply];
        }
        left
    }

    /// Places at least one person of a supply by moving others along the shortest augmenting path.
    /// Returns false if there is no such path.
    fn place_some(&mut self, supply: usize, visited: &mut Visited) -> bool {
        visited.clear();
        let mut queue: Vec<u32> = Vec::new();
        for &edge in self.of_supply(supply) {
            if visited.visit(self.demand_of[edge as usize], edge, None) {
                queue.push(self.demand_of[edge as usize]);
            }
        }
        let mut at = 0;
        while let Some(&demand) = queue.get(at) {
            at += 1;
            if self.free[demand as usize] > 0 {
                self.augment(supply, demand, visited);
                return true;
            }
            for edge in self.of_demand(demand as usize) {
                if self.placed[edge] == 0 {
                    continue;
                }
                for &other in self.of_supply(self.supplies[edge] as usize) {
                    let next = self.demand_of[other as usize];
                    if visited.visit(next, other, Some((demand, edge as u32))) {
                        queue.push(next);
                    }
                }
            }
        }
        false
    }

    /// Moves as many people as possible along the path that ends at a demand with free rows.
    fn augment(&mut self, supply: usize, demand: u32, visited: &Visited) {
        let mut amount = self.free[demand as usize].min(self.supply[supply]);
        let mut at = demand;
        while let Some((before, edge)) = visited.before(at) {
            amount = amount.min(self.placed[edge as usize]);
            at = before;
        }
        self.free[demand as usize] -= amount;
        self.supply[supply] -= amount;
        let mut at = demand;
        loop {
            self.placed[visited.edge(at) as usize] += amount;
            let Some((before, edge)) = visited.before(at) else { break };
            self.placed[edge as usize] -= amount;
            at = before;
        }
    }

    /// Fills all free rows with people without a row, moving others if necessary. Returns the
    /// number of rows that stay free.
    pub(super) fn fill(&mut self) -> u64 {
        let mut left = 0;
        let mut visited = Visited::new(self.free.len());
        for demand in 0..self.free.len() {
            while self.free[demand] > 0 && self.fill_some(demand, &mut visited) {}
            left += self.free[demand];
        }
        left
    }

    /// Fills at least one free row of a demand. Searches backwards for a supply with people without
    /// a row: breadth first, from a demand to the demands whose people could move here.
    fn fill_some(&mut self, demand: usize, visited: &mut Visited) -> bool {
        visited.clear();
        visited.visit(demand as u32, u32::MAX, None);
        let mut queue = vec![demand as u32];
        let mut at = 0;
        while let Some(&here) = queue.get(at) {
            at += 1;
            for edge in self.of_demand(here as usize) {
                let supply = self.supplies[edge] as usize;
                if self.supply[supply] > 0 {
                    self.shift(demand as u32, here, edge as u32, visited);
                    return true;
                }
            }
            for edge in self.of_demand(here as usize) {
                for &other in self.of_supply(self.supplies[edge] as usize) {
                    let there = self.demand_of[other as usize];
                    if self.placed[other as usize] > 0
                        && visited.visit(there, other, Some((here, edge as u32)))
                    {
                        queue.push(there);
                    }
                }
            }
        }
        false
    }

    /// Places new people in `here` by `edge`, and moves people along the path one step towards
    /// `demand`.
    fn shift(&mut self, demand: u32, here: u32, edge: u32, visited: &Visited) {
        let mut amount =
            self.free[demand as usize].min(self.supply[self.supplies[edge as usize] as usize]);
        let mut at = here;
        while let Some((before, _)) = visited.before(at) {
            amount = amount.min(self.placed[visited.edge(at) as usize]);
            at = before;
        }
        self.supply[self.supplies[edge as usize] as usize] -= amount;
        self.placed[edge as usize] += amount;
        self.free[demand as usize] -= amount;
        let mut at = here;
        while let Some((before, to)) = visited.before(at) {
            self.placed[visited.edge(at) as usize] -= amount;
            self.placed[to as usize] += amount;
            at = before;
        }
    }
}

/// The demands that a search has visited, with the paths to them. A new round invalidates all
/// visits in constant time.
struct Visited {
    round: u32,
    visits: Vec<Visit>,
}

/// Round of the last visit of a demand, its edge, and the previous demand and edge on the path.
type Visit = (u32, u32, Option<(u32, u32)>);

impl Visited {
    fn new(demands: usize) -> Visited {
        Visited { round: 0, visits: vec![(0, 0, None); demands] }
    }

    fn clear(&mut self) {
        self.round += 1;
    }

    /// Records a visit by an edge, with the previous demand and edge. Returns false if the demand
    /// was visited before in this round.
    fn visit(&mut self, demand: u32, edge: u32, before: Option<(u32, u32)>) -> bool {
        let first = self.visits[demand as usize].0 != self.round;
        if first {
            self.visits[demand as usize] = (self.round, edge, before);
        }
        first
    }

    fn edge(&self, demand: u32) -> u32 {
        self.visits[demand as usize].1
    }

    fn before(&self, demand: u32) -> Option<(u32, u32)> {
        self.visits[demand as usize].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tests by brute force whether the first `must` people can be placed and all rows filled.
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
                let edges = flow.of_supply(person);
                let placed: u64 = edges.iter().map(|&e| flow.placed[e as usize]).sum();
                prop_assert_eq!(placed + flow.supply[person], 1);
            }
            for (row, &wanted) in rows.iter().enumerate() {
                let placed: u64 = flow.of_demand(row).map(|edge| flow.placed[edge]).sum();
                prop_assert_eq!(placed + flow.free[row], wanted as u64);
            }
        }
    }
}
