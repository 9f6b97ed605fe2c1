//! One step of local recoding: which quasi-identifier goes down a level, which records go down, and which stay behind so that
//! those that cannot go still are a group.

use incrowd_core::domain::Domain;
use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Dataset, GroupSummary, NodeId, Span};

/// Where a group stands on a quasi-identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    /// Everywhere, where there is no hierarchy.
    Everything,
    /// At a node of the hierarchy.
    Node(NodeId),
    /// At a single value, where there is no hierarchy.
    Value(Code),
}

/// Records that are published together unless they step down.
#[derive(Clone, Debug)]
pub(super) struct SteppingGroup {
    /// Rows with how many of their records are in the group, ascending.
    pub(super) rows: Vec<(u32, u64)>,
    at: Vec<At>,
    free: Vec<bool>,
}

impl SteppingGroup {
    pub(super) fn records(&self) -> u64 {
        self.rows.iter().map(|row| row.1).sum()
    }

    /// The leaves the group's cells stand for.
    pub(super) fn spans(&self, data: &Dataset) -> Vec<Span> {
        let span = |(at, quasi): (&At, &incrowd_core::dataset::Quasi)| match (at, &quasi.domain) {
            (At::Node(node), Domain::Taxonomy(tree)) => {
                let (lo, hi) = tree.span(*node);
                Span { lo, hi }
            }
            (At::Value(code), _) => Span { lo: *code, hi: *code },
            (_, domain) => Span { lo: Code(0), hi: Code(domain.leaves().saturating_sub(1)) },
        };
        self.at.iter().zip(data.quasi()).map(span).collect()
    }
}

/// Rows with records, by the sensitive values they share: those of one class are interchangeable to any model.
type Classes = Vec<(Vec<u32>, Vec<(u32, u64)>)>;

/// Records that would step down to one child.
#[derive(Clone, Debug)]
struct Kid {
    at: At,
    classes: Classes,
    summary: GroupSummary,
}

/// What stays the same for all groups.
pub(super) struct Stepper<'a> {
    data: &'a Dataset,
    models: &'a [Box<dyn BoundModel>],
    /// For each row its place in the order of values, which decides ties.
    rank: Vec<u32>,
}

/// A record that a kid can spare.
struct Spared {
    /// What the rest would lack with it.
    lacks: [f64; 2],
    /// The records of its kid, and of its class there.
    size: u64,
    count: u64,
    rank: u32,
    /// The kid and the class.
    place: (usize, usize),
}

/// A step that could be taken.
struct Trial {
    kids: Vec<Kid>,
    rest: Kid,
    gained: u64,
}

impl<'a> Stepper<'a> {
    pub(super) fn new(data: &'a Dataset, models: &'a [Box<dyn BoundModel>]) -> Stepper<'a> {
        let mut order: Vec<u32> = (0..data.rows() as u32).collect();
        let key = |&row: &u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
        order.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| rank[row as usize] = place as u32);
        Stepper { data, models, rank }
    }

    /// All records at the roots.
    pub(super) fn everybody(&self) -> SteppingGroup {
        let root = |quasi: &incrowd_core::dataset::Quasi| match &quasi.domain {
            Domain::Taxonomy(tree) => At::Node(tree.root()),
            _ => At::Everything,
        };
        SteppingGroup {
            rows: (0..self.data.rows() as u32).map(|row| (row, self.data.weight(row as usize))).collect(),
            at: self.data.quasi().iter().map(root).collect(),
            free: vec![true; self.data.quasi().len()],
        }
    }

    /// The parts of a group after the best step, or nothing if no step lets anybody down.
    pub(super) fn step(&self, group: &SteppingGroup) -> Option<Vec<SteppingGroup>> {
        let mut best: Option<(usize, Trial)> = None;
        for quasi in (0..group.at.len()).filter(|&quasi| group.free[quasi]) {
            let trial = self.trial(group, quasi);
            let better = best
                .as_ref()
                .is_none_or(|(_, best)| (trial.gained, best.kids.len()) > (best.gained, trial.kids.len()));
            if trial.gained > 0 && better {
                best = Some((quasi, trial));
            }
        }
        let (quasi, trial) = best?;
        let part = |kid: Kid, at: At, free: bool| {
            let mut part = SteppingGroup { rows: kid.rows(), at: group.at.clone(), free: group.free.clone() };
            part.at[quasi] = at;
            part.free[quasi] &= free;
            part
        };
        let mut parts: Vec<SteppingGroup> =
            trial.kids.into_iter().map(|kid| (kid.at, kid)).map(|(at, kid)| part(kid, at, true)).collect();
        if trial.rest.summary.records > 0 {
            parts.push(part(trial.rest, group.at[quasi], false));
        }
        Some(parts)
    }

    fn trial(&self, group: &SteppingGroup, quasi: usize) -> Trial {
        let mut rest = self.kid(group.at[quasi], Vec::new());
        let mut below: Vec<(At, u32, u64)> = Vec::with_capacity(group.rows.len());
        let mut stay = Vec::new();
        for &(row, records) in &group.rows {
            match self.child(quasi, group.at[quasi], Code(self.data.quasi_codes(row as usize)[quasi])) {
                Some(at) => below.push((at, row, records)),
                None => stay.push((row, records)),
            }
        }
        rest.take_rows(self, stay);
        below.sort_by_key(|&(at, row, _)| (at, self.rank[row as usize]));
        let mut kids = Vec::new();
        for run in below.chunk_by(|a, b| a.0 == b.0) {
            let rows = run.iter().map(|&(_, row, records)| (row, records)).collect();
            let kid = self.kid(run[0].0, rows);
            if self.admitted(&kid.summary) { kids.push(kid) } else { rest.take(self, kid) }
        }
        while rest.summary.records > 0 && !self.admitted(&rest.summary) && !kids.is_empty() {
            match self.company(&kids, &rest) {
                Some((kid, class)) => {
                    let (row, records) = kids[kid].give(class, self.whole_rows());
                    kids[kid].summary.remove(&self.one(row));
                    rest.take_rows(self, vec![(row, records)]);
                }
                None => {
                    let label = |at: At| self.label(quasi, at);
                    let smallest =
                        (0..kids.len()).min_by_key(|&kid| (kids[kid].summary.records, label(kids[kid].at)));
                    let kid = kids.remove(smallest.unwrap_or(0));
                    rest.take(self, kid);
                }
            }
        }
        let gained = kids.iter().map(|kid| kid.summary.records).sum();
        Trial { kids, rest, gained }
    }

    /// The record that should move to the rest, as a class of a kid: one whose kid can spare it, and after which the rest
    /// lacks least; then from the largest kid, then of the most frequent values there, then the last by its values.
    fn company(&self, kids: &[Kid], rest: &Kid) -> Option<(usize, usize)> {
        let mut best: Option<Spared> = None;
        for (k, kid) in kids.iter().enumerate() {
            for (c, (_, rows)) in kid.classes.iter().enumerate() {
                let Some(&(row, _)) = rows.last() else { continue };
                let one = self.one(row);
                let mut without = kid.summary.clone();
                without.remove(&one);
                if without.records == 0 || !self.admitted(&without) {
                    continue;
                }
                let mut with = rest.summary.clone();
                with.merge(&one);
                let lacks = self.missing(&with);
                let count: u64 = rows.iter().map(|r| r.1).sum();
                let (size, rank) = (kid.summary.records, self.rank[row as usize]);
                let better = best.as_ref().is_none_or(|best| {
                    lacks.partial_cmp(&best.lacks).is_some_and(|order| {
                        let (sizes, counts) = (best.size.cmp(&size), best.count.cmp(&count));
                        order.then(sizes).then(counts).then(best.rank.cmp(&rank)).is_lt()
                    })
                });
                if better {
                    best = Some(Spared { lacks, size, count, rank, place: (k, c) });
                }
            }
        }
        best.map(|best| best.place)
    }

    fn missing(&self, group: &GroupSummary) -> [f64; 2] {
        let lacks = self.models.iter().map(|model| model.missing(group));
        lacks.fold([0.0; 2], |sum, lacks| [sum[0] + lacks[0], sum[1] + lacks[1]])
    }

    fn admitted(&self, summary: &GroupSummary) -> bool {
        self.models.iter().all(|model| model.admits(summary).holds)
    }

    /// One record of a row; where persons are counted, all of them: which person's record would move is not known, so rows stay
    /// whole.
    fn one(&self, row: u32) -> GroupSummary {
        let mut one = GroupSummary::empty(self.data.sensitive().len());
        if self.whole_rows() {
            one.add_row(self.data, row as usize);
        } else {
            one.add(1, self.data.sensitive_codes(row as usize));
        }
        one
    }

    fn whole_rows(&self) -> bool {
        self.data.persons().is_some()
    }

    fn kid(&self, at: At, rows: Vec<(u32, u64)>) -> Kid {
        let summary = GroupSummary::empty(self.data.sensitive().len());
        let mut kid = Kid { at, classes: Vec::new(), summary };
        kid.take_rows(self, rows);
        kid
    }

    /// The child below which a value lies, one step down.
    fn child(&self, quasi: usize, at: At, code: Code) -> Option<At> {
        match (at, &self.data.quasi()[quasi].domain) {
            (At::Node(node), Domain::Taxonomy(tree)) => {
                let children = tree.children(node);
                let place = children.partition_point(|&child| tree.span(child).1 < code);
                children.get(place).copied().map(At::Node)
            }
            (At::Everything, _) => Some(At::Value(code)),
            _ => None,
        }
    }

    fn label(&self, quasi: usize, at: At) -> String {
        let domain = &self.data.quasi()[quasi].domain;
        match (at, domain) {
            (At::Node(node), Domain::Taxonomy(tree)) => tree.label(node).to_owned(),
            (At::Value(code), _) => domain.label(code, code),
            _ => String::new(),
        }
    }
}

impl Kid {
    fn rows(&self) -> Vec<(u32, u64)> {
        let mut rows: Vec<(u32, u64)> =
            self.classes.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        rows
    }

    fn take_rows(&mut self, stepper: &Stepper<'_>, rows: Vec<(u32, u64)>) {
        for (row, records) in rows {
            let codes = stepper.data.sensitive_codes(row as usize);
            if stepper.whole_rows() {
                self.summary.add_row(stepper.data, row as usize);
            } else {
                self.summary.add(records, codes);
            }
            let at = self.classes.partition_point(|(known, _)| known.as_slice() < codes);
            if self.classes.get(at).is_none_or(|(known, _)| known != codes) {
                self.classes.insert(at, (codes.to_vec(), Vec::new()));
            }
            self.classes[at].1.push((row, records));
        }
    }

    fn take(&mut self, stepper: &Stepper<'_>, other: Kid) {
        self.take_rows(stepper, other.rows());
    }

    /// Gives away one record of a class, the last by its values, or all of the last row; answers with the row and its records.
    fn give(&mut self, class: usize, whole_row: bool) -> (u32, u64) {
        let rows = &mut self.classes[class].1;
        let Some(last) = rows.last_mut() else { return (0, 0) };
        let (row, records) = (last.0, if whole_row { last.1 } else { 1 });
        last.1 -= records;
        if last.1 == 0 {
            rows.pop();
        }
        (row, records)
    }
}
