//! The growth of a group from a seed.

use super::frontier::Frontier;
use super::growing::{GrowingGroup, GrowthContext};
use super::pool::Pool;
use super::priced_column::PricedCell;

/// The greatest number of rows with different cells or values that are tried at a step.
const MAX_TRIED: usize = 16;
/// The greatest number of points that are scanned at a step.
const MAX_POINTS: usize = 512;

/// The parameters of growth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// After this many steps the corners of a group are changed, after twice as many it is given
    /// up.
    pub(super) delta: u64,
    /// Whether cells with a dead corner are never formed. Corners are then never changed.
    pub(super) skip_dead: bool,
}

/// The result of growing a seed.
pub(super) enum Grown {
    /// A group that every model admits.
    Admitted(GrowingGroup),
    /// No group. `dead` is whether the reason was a dead corner.
    Stuck { dead: bool },
}

/// A row that might join.
struct Candidate {
    row: u32,
    cells: Vec<PricedCell>,
}

impl Growth {
    /// Grows a group from a seed, which must not be in the pool, with rows of the pool. If the
    /// models do not admit the result, the pool is unchanged. `steps` counts expansions.
    pub(super) fn grow(
        &self,
        context: &GrowthContext<'_>,
        pool: &mut Pool<'_>,
        seed: u32,
        steps: &mut u64,
    ) -> Grown {
        let mut group = context.single(seed);
        let mut tabu: Vec<u32> = Vec::new();
        let mut taken = 0;
        if context.admits(&group) {
            return Grown::Admitted(group);
        }
        let mut cornered = false;
        let mut frontier = Frontier::new(pool);
        if !(self.skip_dead && context.is_dead(&group.cells)) {
            loop {
                if taken >= 2 * self.delta {
                    break;
                }
                let Some((row, admitted)) =
                    self.choose(context, pool, &mut frontier, &group, &tabu)
                else {
                    // If dead corners are never formed, only they can have excluded all rows.
                    cornered = self.skip_dead && !pool.is_empty();
                    break;
                };
                pool.take(row);
                context.add(&mut group, row);
                taken += 1;
                *steps += 1;
                if admitted || context.admits(&group) {
                    return Grown::Admitted(group);
                }
                if taken >= self.delta && !self.skip_dead {
                    if self.change_corners(context, pool, &mut group, &mut tabu) {
                        return Grown::Admitted(group);
                    }
                    // A row may have left the group, so the bounds of the queue are no longer
                    // valid.
                    frontier = Frontier::new(pool);
                }
            }
        }
        group.rows.iter().filter(|&&row| row != seed).for_each(|&row| pool.put_back(row));
        Grown::Stuck { dead: cornered || context.is_dead(&group.cells) }
    }

    /// Returns the row to add, and whether the group is then admitted.
    fn choose(
        &self,
        context: &GrowthContext<'_>,
        pool: &Pool<'_>,
        frontier: &mut Frontier,
        group: &GrowingGroup,
        tabu: &[u32],
    ) -> Option<(u32, bool)> {
        let seed = context.data.quasi_codes(group.rows[0] as usize);
        let next = pool.next_values(&group.cells, seed);
        let mut candidates: Vec<(f64, bool, u32, Candidate)> = Vec::new();
        let (mut scanned, mut last, mut dead) =
            (0, f64::NEG_INFINITY, None::<(Vec<PricedCell>, bool)>);
        let mut new_values = 0;
        // If one row cannot complete the group, the cheapest row is taken without trying others.
        let completes = context.may_complete(group);
        frontier.visit_cheapest(pool, group, &next, &mut |offer| {
            scanned += 1;
            let enough = if completes { new_values >= MAX_TRIED } else { last > f64::NEG_INFINITY };
            if scanned > MAX_POINTS || enough && offer.loss > last {
                return false;
            }
            if self.skip_dead && offer.cells != group.cells {
                let known =
                    dead.as_ref().filter(|(cells, _)| *cells == offer.cells).map(|(_, dead)| *dead);
                let is_dead = known.unwrap_or_else(|| context.is_dead(&offer.cells));
                dead = Some((offer.cells.clone(), is_dead));
                if is_dead {
                    return true;
                }
            }
            for &row in pool.rows_at(offer.point).iter().filter(|row| !tabu.contains(row)) {
                last = offer.loss;
                let known = !context.is_new(group, row);
                new_values += usize::from(!known);
                let candidate = Candidate { row, cells: offer.cells.clone() };
                candidates.push((offer.loss, known, pool.seed_order[row as usize], candidate));
            }
            true
        });
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut tried: Vec<&Candidate> = Vec::new();
        if !completes {
            return candidates.first().map(|(_, _, _, candidate)| (candidate.row, false));
        }
        for (_, _, _, candidate) in &candidates {
            let same = |other: &&Candidate| {
                other.cells == candidate.cells && context.same_values(other.row, candidate.row)
            };
            if tried.iter().any(same) {
                continue;
            }
            if context.admits_with(group, candidate.row, &candidate.cells) {
                return Some((candidate.row, true));
            }
            tried.push(candidate);
            if tried.len() == MAX_TRIED {
                break;
            }
        }
        candidates.first().map(|(_, _, _, candidate)| (candidate.row, false))
    }

    /// Adds a row that is no outlier and becomes a corner. If there is none, removes the row that
    /// defines most of the present corners. Returns whether the group is then admitted.
    fn change_corners(
        &self,
        context: &GrowthContext<'_>,
        pool: &mut Pool<'_>,
        group: &mut GrowingGroup,
        tabu: &mut Vec<u32>,
    ) -> bool {
        let wanted = |row: u32| !tabu.contains(&row) && !context.is_outlier(row, false);
        if let Some(row) = pool.outside(group, &wanted) {
            pool.take(row);
            context.add(group, row);
            return context.admits(group);
        }
        let codes = |row: u32| context.data.quasi_codes(row as usize);
        let width = context.columns.len();
        let ends: Vec<(u32, u32)> = (0..width)
            .map(|q| {
                let own = || group.rows.iter().map(|&row| codes(row)[q]);
                (own().min().unwrap_or(0), own().max().unwrap_or(0))
            })
            .collect();
        let extreme = |row: u32| {
            codes(row)
                .iter()
                .zip(&ends)
                .filter(|(code, (lo, hi))| *code == lo || *code == hi)
                .count()
        };
        let others = group.rows[1..].iter().copied();
        let Some(leaving) = others
            .max_by_key(|&row| (extreme(row), std::cmp::Reverse(pool.seed_order[row as usize])))
        else {
            return false;
        };
        pool.put_back(leaving);
        tabu.push(leaving);
        let rows: Vec<u32> = group.rows.iter().copied().filter(|&row| row != leaving).collect();
        if let Some(smaller) = context.group(&rows) {
            *group = smaller;
        }
        context.admits(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::model::PrivacyModel;
    use incrowd_core::{ColumnSpec, Dataset, Folded, HierarchySpec, SensitiveSpec, Value};

    /// Figure 1 of `wang2009`. The rows of the fold are tuples, counted from 0.
    fn figure_1() -> Dataset {
        let records = [
            ["20", "F", "6006", "20"],
            ["20", "M", "6011", "25"],
            ["20", "M", "6013", "120"],
            ["30", "F", "6001", "30"],
            ["30", "M", "6010", "50"],
            ["30", "M", "6022", "2000000"],
            ["40", "M", "6004", "100"],
            ["40", "F", "6002", "110"],
            ["40", "M", "6003", "130"],
        ];
        let folded = Folded::from_records(
            &["Age", "Gender", "Zipcode", "Income"],
            records.iter().map(|row| row.iter().map(|cell| Some(*cell)).collect()),
            false,
        );
        let gender = HierarchySpec::Arx { name: "gender".into(), text: "M;*\nF;*\n".into() };
        let gender = ColumnSpec { hierarchy: Some(gender), ..ColumnSpec::default() };
        let numeric = ColumnSpec::default();
        Dataset::encode(folded, &[&numeric, &gender, &numeric], &[&SensitiveSpec::default()], "?")
            .unwrap()
    }

    /// Tuples 1, 2 and 3 are not plain. Of the tuples that make them plain, tuple 5 has the least
    /// loss. The paper chooses 7, in contradiction to its own formula.
    #[test]
    fn example_7_1_chooses_tuple_5() {
        let data = figure_1();
        let given = [
            ("k", Value::Integer(3)),
            ("p", Value::Real(0.75)),
            ("d", Value::Real(0.6)),
            ("distance_attributes", Value::Words(vec!["Age".into()])),
        ];
        let privacy_model =
            PrivacyModel::new("plain-k-anonymity", given.map(|(n, v)| (n.to_owned(), v))).unwrap();
        let models = [privacy_model.model.bind(&data).unwrap()];
        let context = GrowthContext::new(&data, &models);
        let row = |tuple: u32| data.row_of_fold(tuple).unwrap().0;
        let codes = |tuple: u32| data.quasi_codes(row(tuple) as usize);
        for seed in [0, 1, 2] {
            let others = (0..3).filter(|tuple| *tuple != seed).map(row);
            let own = codes(seed);
            let seed = row(seed);
            let group =
                context.group(&[seed].into_iter().chain(others).collect::<Vec<u32>>()).unwrap();
            assert!(!context.admits(&group));
            assert!((group.loss() - 1.411_255_411_255_411_2).abs() < 1e-12);
            let pool = Pool::new(&context, &[3, 4, 6, 7, 8].map(row));
            let next = pool.next_values(&group.cells, own);
            // Age 30; M or F, as in the seed; zip code 6010, which is inside the cell.
            assert_eq!(next, [Some(codes(3)[0]), Some(own[1]), Some(codes(4)[2])]);
            for (tuple, loss) in [
                (3, 2.114_718_614_718_614_6),
                (4, 1.887_445_887_445_887_5),
                (6, 2.454_545_454_545_454_6),
            ] {
                let cells = context.cells_with(&group.cells, codes(tuple));
                assert!(context.admits_with(&group, row(tuple), &cells));
                assert!((cells.iter().map(|cell| cell.loss).sum::<f64>() - loss).abs() < 1e-12);
            }
            for skip_dead in [false, true] {
                let growth = Growth { delta: 12, skip_dead };
                assert_eq!(
                    growth.choose(&context, &pool, &mut Frontier::new(&pool), &group, &[]),
                    Some((row(4), true))
                );
            }
        }
    }
}
