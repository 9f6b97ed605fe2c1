//! One step of local recoding: chooses the quasi-identifier along which a group descends, the
//! records that descend, and those that stay to complete the group of the others.

use incrowd_core::domain::Domain;
use incrowd_core::group::merge_equal;
use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Dataset, GroupSummary, NodeId, Span};

/// The position of a group in a quasi-identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Position {
    /// All values of a column without a hierarchy.
    Everything,
    /// A node of the hierarchy.
    Node(NodeId),
    /// A single value of a column without a hierarchy.
    Value(Code),
}

/// Records that are published together unless they descend.
#[derive(Clone, Debug)]
pub(super) struct SteppingGroup {
    /// Rows with the number of their records in the group, ascending.
    pub(super) rows: Vec<(u32, u64)>,
    at: Vec<Position>,
    free: Vec<bool>,
    /// The rows of the population that the group's cells cover. Empty if there is no population.
    people: Vec<u32>,
}

impl SteppingGroup {
    pub(super) fn records(&self) -> u64 {
        self.rows.iter().map(|row| row.1).sum()
    }

    /// Returns the leaves that the group's cells cover.
    pub(super) fn spans(&self, data: &Dataset) -> Vec<Span> {
        self.at.iter().zip(data.quasi()).map(|(at, quasi)| span(*at, &quasi.domain)).collect()
    }
}

/// Returns the leaves that a cell covers.
fn span(at: Position, domain: &Domain) -> Span {
    match (at, domain) {
        (Position::Node(node), Domain::Taxonomy(tree)) => {
            let (lo, hi) = tree.span(node);
            Span { lo, hi }
        }
        (Position::Value(code), _) => Span { lo: code, hi: code },
        (_, domain) => Span { lo: Code(0), hi: Code(domain.leaves().saturating_sub(1)) },
    }
}

/// Rows with their records, by sensitive values. The rows of one class are interchangeable for all
/// models.
type Classes = Vec<(Vec<u32>, Vec<(u32, u64)>)>;

/// Records that would descend to one child.
#[derive(Clone, Debug)]
struct Child {
    at: Position,
    classes: Classes,
    summary: GroupSummary,
}

/// The data that all groups share.
pub(super) struct Stepper<'a> {
    data: &'a Dataset,
    models: &'a [Box<dyn BoundModel>],
    /// The position of each row in the order of values, for ties.
    rank: Vec<u32>,
    /// Whether a column is published as the set of a group's values. The covered people then depend
    /// on the rows.
    sets: bool,
}

/// A record that a child can give to the rest.
struct Donor {
    /// The remaining deficit of the rest with it.
    lacks: [f64; 2],
    /// The numbers of records of its child, and of its class there.
    size: u64,
    count: u64,
    rank: u32,
    /// The indices of the child and the class.
    place: (usize, usize),
}

/// A possible step.
struct Trial {
    children: Vec<Child>,
    rest: Child,
    gained: u64,
}

impl<'a> Stepper<'a> {
    pub(super) fn new(data: &'a Dataset, models: &'a [Box<dyn BoundModel>]) -> Stepper<'a> {
        let mut order: Vec<u32> = (0..data.rows() as u32).collect();
        let key = |&row: &u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
        order.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| rank[row as usize] = place as u32);
        let sets = data.quasi().iter().any(|quasi| quasi.domain.publishes_sets());
        Stepper { data, models, rank, sets }
    }

    /// Returns the group of all records at the roots.
    pub(super) fn root_group(&self) -> SteppingGroup {
        let root = |quasi: &incrowd_core::dataset::Quasi| match &quasi.domain {
            Domain::Taxonomy(tree) => Position::Node(tree.root()),
            _ => Position::Everything,
        };
        SteppingGroup {
            rows: (0..self.data.rows() as u32)
                .map(|row| (row, self.data.weight(row as usize)))
                .collect(),
            at: self.data.quasi().iter().map(root).collect(),
            free: vec![true; self.data.quasi().len()],
            people: (0..self.data.population().map_or(0, |people| people.rows() as u32)).collect(),
        }
    }

    /// Returns the people of a group that the cells of these rows cover if the group is at this
    /// position of a quasi-identifier.
    fn covered(
        &self,
        group: &SteppingGroup,
        quasi: usize,
        at: Position,
        rows: &[(u32, u64)],
    ) -> Vec<u32> {
        let Some(population) = self.data.population().filter(|_| !rows.is_empty()) else {
            return Vec::new();
        };
        let mut spans = group.spans(self.data);
        spans[quasi] = span(at, &self.data.quasi()[quasi].domain);
        let rows = rows.iter().map(|row| row.0);
        population.covered_by(self.data, &spans, rows, group.people.iter().copied())
    }

    /// Returns the number of people that the cells of a child cover.
    fn people(&self, group: &SteppingGroup, quasi: usize, child: &Child) -> u64 {
        self.data.population().map_or(0, |population| {
            population.people(&self.covered(group, quasi, child.at, &child.rows()))
        })
    }

    /// Returns the parts of a group after the best step, or `None` if no records can descend.
    pub(super) fn step(&self, group: &SteppingGroup) -> Option<Vec<SteppingGroup>> {
        let mut best: Option<(usize, Trial)> = None;
        for quasi in (0..group.at.len()).filter(|&quasi| group.free[quasi]) {
            let trial = self.trial(group, quasi);
            let better = best.as_ref().is_none_or(|(_, best)| {
                (trial.gained, best.children.len()) > (best.gained, trial.children.len())
            });
            if trial.gained > 0 && better {
                best = Some((quasi, trial));
            }
        }
        let (quasi, trial) = best?;
        let part = |child: Child, at: Position, free: bool| {
            let rows = child.rows();
            let people = self.covered(group, quasi, at, &rows);
            let mut part =
                SteppingGroup { rows, at: group.at.clone(), free: group.free.clone(), people };
            part.at[quasi] = at;
            part.free[quasi] &= free;
            part
        };
        let mut parts: Vec<SteppingGroup> = trial
            .children
            .into_iter()
            .map(|child| (child.at, child))
            .map(|(at, child)| part(child, at, true))
            .collect();
        if trial.rest.summary.records > 0 {
            parts.push(part(trial.rest, group.at[quasi], false));
        }
        Some(parts)
    }

    fn trial(&self, group: &SteppingGroup, quasi: usize) -> Trial {
        let mut rest = self.new_child(group.at[quasi], Vec::new());
        let mut below: Vec<(Position, u32, u64)> = Vec::with_capacity(group.rows.len());
        let mut stay = Vec::new();
        for &(row, records) in &group.rows {
            match self.position_below(
                quasi,
                group.at[quasi],
                Code(self.data.quasi_codes(row as usize)[quasi]),
            ) {
                Some(at) => below.push((at, row, records)),
                None => stay.push((row, records)),
            }
        }
        rest.add_rows(self, stay);
        below.sort_by_key(|&(at, row, _)| (at, self.rank[row as usize]));
        let mut children = Vec::new();
        for run in below.chunk_by(|a, b| a.0 == b.0) {
            let rows = run.iter().map(|&(_, row, records)| (row, records)).collect();
            let mut child = self.new_child(run[0].0, rows);
            child.summary.population = self.people(group, quasi, &child);
            if self.admitted(&child.summary) {
                children.push(child)
            } else {
                rest.absorb(self, child)
            }
        }
        rest.summary.population = self.people(group, quasi, &rest);
        while rest.summary.records > 0 && !self.admitted(&rest.summary) && !children.is_empty() {
            match self.donor(group, quasi, &children, &rest) {
                Some((child, class)) => {
                    let (row, records) = children[child].remove_record(class, self.whole_rows());
                    children[child].summary.remove(&self.record_summary(row));
                    rest.add_rows(self, vec![(row, records)]);
                    if self.sets {
                        children[child].summary.population =
                            self.people(group, quasi, &children[child]);
                        rest.summary.population = self.people(group, quasi, &rest);
                    }
                }
                None => {
                    let label = |at: Position| self.label(quasi, at);
                    let smallest = (0..children.len()).min_by_key(|&child| {
                        (children[child].summary.records, label(children[child].at))
                    });
                    let child = children.remove(smallest.unwrap_or(0));
                    rest.absorb(self, child);
                    rest.summary.population = self.people(group, quasi, &rest);
                }
            }
        }
        let gained = children.iter().map(|child| child.summary.records).sum();
        Trial { children, rest, gained }
    }

    /// Returns the child and the class of the record that should move to the rest. The child must
    /// be admitted without it. The rest must lack as little as possible with it. Ties: the largest
    /// child, the most frequent values there, the last by its values.
    fn donor(
        &self,
        group: &SteppingGroup,
        quasi: usize,
        children: &[Child],
        rest: &Child,
    ) -> Option<(usize, usize)> {
        let recount = self.sets && self.data.population().is_some();
        let mut best: Option<Donor> = None;
        for (k, child) in children.iter().enumerate() {
            for (c, (_, rows)) in child.classes.iter().enumerate() {
                let Some(&(row, records)) = rows.last() else { continue };
                let one = self.record_summary(row);
                let mut without = child.summary.clone();
                without.remove(&one);
                if recount {
                    let mut child = child.clone();
                    child.remove_record(c, self.whole_rows());
                    without.population = self.people(group, quasi, &child);
                }
                if without.records == 0 || !self.admitted(&without) {
                    continue;
                }
                let mut with = rest.summary.clone();
                with.merge(&one);
                if recount {
                    let mut rest = rest.clone();
                    rest.add_rows(self, vec![(row, if self.whole_rows() { records } else { 1 })]);
                    with.population = self.people(group, quasi, &rest);
                }
                let lacks = self.missing(&with);
                let count: u64 = rows.iter().map(|r| r.1).sum();
                let (size, rank) = (child.summary.records, self.rank[row as usize]);
                let better = best.as_ref().is_none_or(|best| {
                    lacks.partial_cmp(&best.lacks).is_some_and(|order| {
                        let (sizes, counts) = (best.size.cmp(&size), best.count.cmp(&count));
                        order.then(sizes).then(counts).then(best.rank.cmp(&rank)).is_lt()
                    })
                });
                if better {
                    best = Some(Donor { lacks, size, count, rank, place: (k, c) });
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

    /// Returns the summary of one record of a row. If persons are counted, returns that of the
    /// whole row: it is not known whose record would move, so rows stay whole.
    fn record_summary(&self, row: u32) -> GroupSummary {
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

    fn new_child(&self, at: Position, rows: Vec<(u32, u64)>) -> Child {
        let summary = GroupSummary::empty(self.data.sensitive().len());
        let mut child = Child { at, classes: Vec::new(), summary };
        child.add_rows(self, rows);
        child
    }

    /// Returns the position of a value one step down.
    fn position_below(&self, quasi: usize, at: Position, code: Code) -> Option<Position> {
        match (at, &self.data.quasi()[quasi].domain) {
            (Position::Node(node), Domain::Taxonomy(tree)) => {
                let children = tree.children(node);
                let place = children.partition_point(|&child| tree.span(child).1 < code);
                children.get(place).copied().map(Position::Node)
            }
            (Position::Everything, _) => Some(Position::Value(code)),
            _ => None,
        }
    }

    fn label(&self, quasi: usize, at: Position) -> String {
        let domain = &self.data.quasi()[quasi].domain;
        match (at, domain) {
            (Position::Node(node), Domain::Taxonomy(tree)) => tree.label(node).to_owned(),
            (Position::Value(code), _) => domain.label(code, code),
            _ => String::new(),
        }
    }
}

impl Child {
    fn rows(&self) -> Vec<(u32, u64)> {
        let mut rows: Vec<(u32, u64)> =
            self.classes.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        rows.sort_unstable();
        merge_equal(&mut rows);
        rows
    }

    fn add_rows(&mut self, stepper: &Stepper<'_>, rows: Vec<(u32, u64)>) {
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

    fn absorb(&mut self, stepper: &Stepper<'_>, other: Child) {
        self.add_rows(stepper, other.rows());
    }

    /// Removes one record of a class, the last by its values, or the whole last row. Returns the
    /// row and the number of its records.
    fn remove_record(&mut self, class: usize, whole_row: bool) -> (u32, u64) {
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
