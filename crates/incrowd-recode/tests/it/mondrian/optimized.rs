//! Optimized Mondrian: worked cases, comparisons with a slow implementation that follows the
//! definition record by record, and properties.

use super::common::{k_anonymity, rows_of, table, tree};
use incrowd_core::hierarchy::mdr::{Mdr, Outliers, Quantile};
use incrowd_core::{Code, ColumnSpec, Dataset, Domain, HierarchySpec, Partition, Plan, Silent};
use incrowd_recode::mondrian::{Mondrian, Undersized};
use incrowd_recode::optimized::{KeptRun, Optimized, Priority, TrialReport};
use incrowd_recode::{Algorithm, Recoding};
use proptest::prelude::*;
use serde_json::Value;

const NAMES: [&str; 3] = ["Age", "Country", "Sex"];
const COUNTRIES: [&str; 7] = ["USA", "Canada", "Mexico", "China", "Japan", "India", "Taiwan"];

fn no_outliers() -> Mdr {
    Mdr::new(Outliers::None, vec![1, 2, 4], Quantile::Cuts, None).unwrap()
}

fn specs(age: Option<Mdr>) -> [ColumnSpec; 3] {
    let hierarchy = age.map(HierarchySpec::Mdr);
    [
        ColumnSpec { domain: Some((0.0, 100.0)), hierarchy, ..ColumnSpec::default() },
        tree(
            "\"N. AMERICA\" = [\"USA\", \"Canada\", \"Mexico\"]\n\
             ASIA = [\"China\", \"Japan\", \"India\", \"Taiwan\"]",
        ),
        tree("\"*\" = [\"F\", \"M\"]"),
    ]
}

fn plain(undersized: Undersized) -> Optimized {
    Optimized { undersized, keep_best: false, ..Optimized::default() }
}

fn recode(optimized: &Optimized, data: &Dataset, k: u64) -> Recoding {
    optimized.recode_and_report(data, &k_anonymity(k, data), 0, &Silent).unwrap()
}

fn cost(data: &Dataset, partition: &Partition) -> f64 {
    let row = |row: usize| {
        let spans = partition.spans(partition.group(row).unwrap()).iter().zip(data.quasi());
        let cells: f64 = spans.map(|(span, quasi)| quasi.domain.ncp(span.lo, span.hi)).sum();
        cells * data.weight(row) as f64
    };
    (0..data.rows()).map(row).sum()
}

fn cells(data: &Dataset, partition: &Partition, rows: &[usize]) -> Vec<Vec<String>> {
    let plan = Plan::new(data, partition);
    let width = data.quasi().len();
    let row = |&row: &usize| {
        (0..width).map(|q| plan.text(partition.group(row).unwrap(), q).to_owned()).collect()
    };
    rows.iter().map(row).collect()
}

fn texts(rows: &Value) -> Vec<Vec<String>> {
    let cell = |c: &Value| c.as_str().map_or_else(|| c.to_string(), str::to_owned);
    rows.as_array()
        .unwrap()
        .iter()
        .map(|r| r.as_array().unwrap().iter().map(cell).collect())
        .collect()
}

#[test]
fn the_papers_reading_with_blocking_and_pooling() {
    let all: Value =
        serde_json::from_str(incrowd_testing::fixture("mdr_mondrian_random.json")).unwrap();
    let mut cases = 0;
    for case in all["cases"].as_array().unwrap() {
        let (records, k) = (texts(&case["rows"]), case["k"].as_u64().unwrap());
        for (undersized, name) in [(Undersized::Block, "block"), (Undersized::Pool, "pool")] {
            let expected = &case[name]["optimized"];
            // The tree is the column's hierarchy, or the algorithm makes it for a column of
            // numbers.
            let stated = table(&NAMES, &records, &specs(Some(no_outliers())));
            let optimized = Optimized { mdr: Some(no_outliers()), ..plain(undersized) };
            let made = optimized.prepare(table(&NAMES, &records, &specs(None))).unwrap();
            for data in [stated, made] {
                let rows = rows_of(&data, &NAMES, &records);
                let made = recode(&optimized, &data, k);
                let partition = &made.partition;
                let at = format!("case {} {name}", case["case"]);
                assert_eq!(cells(&data, partition, &rows), texts(&expected["cells"]), "{at}");
                assert_eq!(partition.groups() as u64, expected["groups"].as_u64().unwrap(), "{at}");
                let close = |a: f64, b: &Value| (a - b.as_f64().unwrap()).abs() < 1e-8;
                assert!(close(cost(&data, partition), &expected["ncp"]), "{at}");
                let trials = made.report_as::<TrialReport>().unwrap();
                assert_eq!(serde_json::json!(trials.order), expected["order"], "{at}");
                let costs = expected["trial_ncp"].as_array().unwrap();
                assert_eq!(trials.trials.len(), costs.len(), "{at}");
                for (trial, expected) in trials.trials.iter().zip(costs) {
                    assert!(close(trial.cost, expected), "{at}");
                }
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 120);
}

/// The definition, record by record and label by label.
struct Twin {
    k: usize,
    block: bool,
    /// The intervals of the tree. `None` means cuts at the median.
    mdr: Option<Vec<Vec<(i64, i64)>>>,
    records: Vec<(i64, usize, usize)>,
}

#[derive(Clone)]
struct TwinPart {
    records: Vec<usize>,
    closed: [bool; 3],
}

impl Twin {
    fn value(&self, record: usize, column: usize) -> i64 {
        let r = self.records[record];
        [r.0, r.1 as i64, r.2 as i64][column]
    }

    /// The sets of values that a value may be published as, from the finest to the root.
    fn ancestors(&self, column: usize, value: i64) -> Vec<(i64, i64)> {
        match (column, &self.mdr) {
            (0, Some(levels)) => {
                let of = |cells: &Vec<(i64, i64)>| {
                    *cells.iter().find(|c| (c.0..=c.1).contains(&value)).unwrap()
                };
                let mut ancestors: Vec<_> = levels.iter().map(of).collect();
                ancestors.push((i64::MIN, i64::MAX));
                ancestors
            }
            (1, _) => vec![(value, value), if value < 3 { (0, 2) } else { (3, 6) }, (0, 6)],
            _ => vec![(value, value), (0, 1)],
        }
    }

    fn node(&self, column: usize, part: &TwinPart) -> (i64, i64) {
        let values = part.records.iter().map(|&r| self.value(r, column));
        let (lo, hi) = (values.clone().min().unwrap(), values.max().unwrap());
        if column == 0 && self.mdr.is_none() {
            return (lo, hi);
        }
        self.ancestors(column, lo).into_iter().find(|n| n.0 <= lo && hi <= n.1).unwrap()
    }

    fn score(&self, column: usize, part: &TwinPart) -> f64 {
        let (lo, hi) = self.node(column, part);
        match column {
            0 if lo == i64::MIN => 1.0,
            0 => (hi - lo) as f64 / 100.0,
            _ if lo == hi => 0.0,
            1 => (hi - lo + 1) as f64 / 7.0,
            _ => 1.0,
        }
    }

    fn split(&self, column: usize, part: &TwinPart) -> Option<Vec<TwinPart>> {
        if part.closed[column] {
            return None;
        }
        let node = self.node(column, part);
        let with = |records: Vec<usize>| TwinPart { records, closed: part.closed };
        if column == 0 && self.mdr.is_none() {
            let side = |t: i64, left: bool| -> Vec<usize> {
                part.records.iter().copied().filter(|&r| (self.value(r, 0) <= t) == left).collect()
            };
            let fits = |t: &i64| side(*t, true).len() >= self.k && side(*t, false).len() >= self.k;
            let rank = |t: &i64| {
                let left = side(*t, true).len();
                ((2 * left).abs_diff(part.records.len()), left)
            };
            let cut = (node.0..node.1).filter(fits).min_by_key(rank)?;
            return Some(vec![with(side(cut, true)), with(side(cut, false))]);
        }
        let mut children: Vec<((i64, i64), Vec<usize>)> = Vec::new();
        for &record in &part.records {
            let ancestors = self.ancestors(column, self.value(record, column));
            let at = ancestors.iter().position(|n| *n == node).unwrap();
            let child = *ancestors.get(at.checked_sub(1)?)?;
            match children.iter_mut().find(|(known, _)| *known == child) {
                Some((_, records)) => records.push(record),
                None => children.push((child, vec![record])),
            }
        }
        let label = |c: (i64, i64)| match column {
            0 => format!("{:012}", c.0),
            1 if c.0 == c.1 => COUNTRIES[c.0 as usize].to_owned(),
            1 => if c.0 == 0 { "N. AMERICA" } else { "ASIA" }.to_owned(),
            _ => ["F", "M"][c.0 as usize].to_owned(),
        };
        let (mut strong, weak): (Vec<_>, Vec<_>) =
            children.into_iter().partition(|c| c.1.len() >= self.k);
        if weak.is_empty() {
            return (strong.len() > 1).then(|| strong.into_iter().map(|c| with(c.1)).collect());
        }
        if self.block {
            return None;
        }
        let mut pool: Vec<usize> = weak.into_iter().flat_map(|c| c.1).collect();
        strong.sort_by_key(|c| (c.1.len(), label(c.0)));
        while pool.len() < self.k {
            if strong.is_empty() {
                return None;
            }
            pool.extend(strong.remove(0).1);
        }
        if strong.is_empty() {
            return None;
        }
        let mut parts: Vec<TwinPart> = strong.into_iter().map(|c| with(c.1)).collect();
        let mut pooled = with(pool);
        pooled.closed[column] = true;
        parts.push(pooled);
        Some(parts)
    }

    fn divide(&self, part: TwinPart, choose: &dyn Fn(&TwinPart) -> Vec<usize>) -> Vec<TwinPart> {
        match choose(&part).into_iter().find_map(|column| self.split(column, &part)) {
            None => vec![part],
            Some(parts) => parts.into_iter().flat_map(|part| self.divide(part, choose)).collect(),
        }
    }

    fn run(&self, choose: &dyn Fn(&TwinPart) -> Vec<usize>) -> (f64, Vec<Vec<usize>>) {
        let all = TwinPart { records: (0..self.records.len()).collect(), closed: [false; 3] };
        let parts = self.divide(all, choose);
        let cost = parts
            .iter()
            .map(|p| p.records.len() as f64 * (0..3).map(|c| self.score(c, p)).sum::<f64>());
        let mut groups: Vec<Vec<usize>> = parts.iter().map(|p| p.records.clone()).collect();
        groups.iter_mut().for_each(|g| g.sort_unstable());
        groups.sort();
        (cost.clone().sum(), groups)
    }

    fn widest(&self, factors: [f64; 3]) -> (f64, Vec<Vec<usize>>) {
        self.run(&|part| {
            let mut columns = vec![0, 1, 2];
            columns.sort_by(|&a, &b| {
                let score = |c: usize| factors[c] * self.score(c, part);
                score(b).total_cmp(&score(a))
            });
            columns
        })
    }

    /// The trials use the tree, independently of the final run.
    fn lexicographic(&self) -> (Vec<usize>, Vec<Vec<usize>>) {
        let n = self.records.len() as f64;
        let mdr = self.mdr.clone().or_else(|| Some(two_sigma_grid(&self.records)));
        let tried = Twin { k: self.k, block: self.block, mdr, records: self.records.clone() };
        let trial =
            |j: usize| tried.widest(std::array::from_fn(|c| if c == j { n } else { 1.0 })).0;
        let costs: Vec<f64> = (0..3).map(trial).collect();
        let mut order = vec![0, 1, 2];
        order.sort_by(|&a, &b| (costs[a] * 1e9).round().total_cmp(&(costs[b] * 1e9).round()));
        let groups = self.run(&|_| order.clone()).1;
        (order, groups)
    }
}

fn people() -> impl Strategy<Value = Vec<(i64, usize, usize)>> {
    prop::collection::vec((18i64..70, 0usize..7, 0usize..2), 6..60)
}

fn written(people: &[(i64, usize, usize)]) -> Vec<Vec<String>> {
    let text = |p: &(i64, usize, usize)| {
        vec![p.0.to_string(), COUNTRIES[p.1].to_owned(), ["F", "M"][p.2].to_owned()]
    };
    people.iter().map(text).collect()
}

/// The tree with a cell of outliers on either side, which extends to the end of the domain.
fn two_sigma_grid(people: &[(i64, usize, usize)]) -> Vec<Vec<(i64, i64)>> {
    let n = people.len() as f64;
    let mean = people.iter().map(|p| p.0 as f64).sum::<f64>() / n;
    let sigma = (people.iter().map(|p| (p.0 as f64 - mean).powi(2)).sum::<f64>() / n).sqrt();
    let inside = |p: &&(i64, usize, usize)| {
        (mean - 2.0 * sigma..=mean + 2.0 * sigma).contains(&(p.0 as f64))
    };
    let core: Vec<(i64, usize, usize)> = people.iter().filter(inside).copied().collect();
    let (lo, hi) =
        (core.iter().map(|p| p.0).min().unwrap(), core.iter().map(|p| p.0).max().unwrap());
    let outliers = |mut level: Vec<(i64, i64)>| {
        level.extend([(0, lo - 1), (hi + 1, 100)]);
        level
    };
    grid(&core).into_iter().map(outliers).collect()
}

/// The tree without outliers, exactly by its definition.
fn grid(people: &[(i64, usize, usize)]) -> Vec<Vec<(i64, i64)>> {
    let (lo, hi) =
        (people.iter().map(|p| p.0).min().unwrap(), people.iter().map(|p| p.0).max().unwrap());
    let width = (((hi - lo) as f64 / 20.0 + 0.5).floor() as i64).max(1);
    let level = |factor: i64| {
        let step = width * factor;
        (lo..=hi).step_by(step as usize).map(|a| (a, (a + step - 1).min(hi))).collect()
    };
    vec![level(1), level(2), level(4)]
}

fn groups_of(data: &Dataset, partition: &Partition, rows: &[usize]) -> Vec<Vec<usize>> {
    assert!(data.rows() >= rows.iter().max().map_or(0, |r| r + 1));
    let mut groups = vec![Vec::new(); partition.groups()];
    rows.iter()
        .enumerate()
        .for_each(|(record, &row)| groups[partition.group(row).unwrap().index()].push(record));
    groups.sort();
    groups
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_slow_implementation_gives_the_same_groups(
        people in people(),
        k in 1usize..6,
        block in any::<bool>(),
        tree in any::<bool>(),
    ) {
        let k = k.min(people.len());
        let twin = Twin { k, block, mdr: tree.then(|| grid(&people)), records: people.clone() };
        let records = written(&people);
        let data = table(&NAMES, &records, &specs(tree.then(no_outliers)));
        let rows = rows_of(&data, &NAMES, &records);
        let undersized = if block { Undersized::Block } else { Undersized::Pool };
        let made = recode(&plain(undersized), &data, k as u64);
        let (order, groups) = twin.lexicographic();
        let names: Vec<&str> = order.iter().map(|&c| NAMES[c]).collect();
        prop_assert_eq!(made.report_as::<TrialReport>().cloned().unwrap().order, names);
        prop_assert_eq!(groups_of(&data, &made.partition, &rows), groups);
        let rank = Optimized { priority: Priority::Rank, ..plain(undersized) };
        let mut factors = [0.0; 3];
        order.iter().enumerate().for_each(|(rank, &c)| factors[c] = 3.0 - rank as f64);
        let ranked = recode(&rank, &data, k as u64).partition;
        prop_assert_eq!(groups_of(&data, &ranked, &rows), twin.widest(factors).1);
        let none = Optimized { priority: Priority::None, ..plain(undersized) };
        let none = recode(&none, &data, k as u64).partition;
        let basic = Mondrian { undersized, ..Mondrian::default() };
        let basic = basic.recode(&data, &k_anonymity(k as u64, &data), 0, &Silent).unwrap();
        prop_assert_eq!(groups_of(&data, &none, &rows), groups_of(&data, &basic, &rows));
    }

    /// The cost of the kept run is that of the report, never more than that of a trial, and all
    /// orders never cost more than one.
    #[test]
    fn the_best_is_kept(people in people(), k in 1u64..6, tree in any::<bool>()) {
        let records = written(&people);
        let data = table(&NAMES, &records, &specs(tree.then(no_outliers)));
        let k = k.min(data.records());
        let made = recode(&Optimized::default(), &data, k);
        let report = made.report_as::<TrialReport>().cloned().unwrap();
        let kept = cost(&data, &made.partition);
        let cells = data.records() as f64 * 3.0;
        let trial = |name: &String| report.trials.iter().find(|t| t.column == *name).unwrap();
        let stated = match &report.kept {
            KeptRun::Last => report.last,
            KeptRun::Trial(name) => trial(name).published.unwrap(),
        };
        prop_assert!((kept / cells - stated).abs() < 1e-9);
        for trial in &report.trials {
            prop_assert!(kept <= trial.cost + 1e-9);
            prop_assert!(kept / cells <= trial.published.unwrap_or(1.0) + 1e-9);
        }
        prop_assert!(kept / cells <= report.last + 1e-9);
        let every = Optimized { priority: Priority::AllOrders, ..Optimized::default() };
        let every = recode(&every, &data, k);
        prop_assert!(cost(&data, &every.partition) <= kept + 1e-9);
        prop_assert_eq!(every.report_as::<TrialReport>().cloned().unwrap().runs, 3 + 6);
    }

    /// With a single width every cell is one interval of that width, or `*`, and every record still
    /// has at least k - 1 others with equal cells.
    #[test]
    fn a_single_width_only_coarsens(people in people(), k in 1u64..6) {
        let records = written(&people);
        let data = table(&NAMES, &records, &specs(Some(no_outliers())));
        let k = k.min(data.records());
        let made = recode(&Optimized { single_width: true, ..Optimized::default() }, &data, k);
        let merged = data.clone().with_domains(made.domains.clone().unwrap());
        let rows = rows_of(&data, &NAMES, &records);
        let fine = cells(&data, &made.partition, &rows);
        let coarse = cells(&merged, &made.partition, &rows);
        let reported = &made.report_as::<TrialReport>().cloned().unwrap().single_width[0];
        let grid = grid(&people);
        let width = grid[0][0].1 - grid[0][0].0 + 1;
        let factor = (reported.width as i64 / width.max(1)).max(1);
        for (record, cells) in coarse.iter().enumerate() {
            let alike = coarse.iter().filter(|other| *other == cells).count() as u64;
            prop_assert!(alike >= k);
            let level = [1, 2, 4].iter().position(|&f| f == factor);
            if let (Some(level), false) = (level, cells[0] == "*") {
                let own = people[record].0;
                let (lo, hi) = *grid[level].iter().find(|c| (c.0..=c.1).contains(&own)).unwrap();
                let label = if lo == hi { lo.to_string() } else { format!("[{lo}, {hi}]") };
                prop_assert_eq!(&cells[0], &label);
            }
            prop_assert_eq!(&cells[1..], &fine[record][1..]);
        }
        let price = |data: &Dataset, cells: &[Vec<String>]| -> f64 {
            let domain = &data.quasi()[0].domain;
            let ncp = |cell: &String| domain.cell_ncp(&domain.read(cell).unwrap());
            let cost: f64 = cells.iter().map(|c| ncp(&c[0])).sum();
            cost / cells.len() as f64
        };
        prop_assert!((reported.before - price(&data, &fine)).abs() < 1e-9);
        prop_assert!((reported.after - price(&merged, &coarse)).abs() < 1e-9);
        prop_assert!(reported.after >= reported.before - 1e-9);
    }
}

#[test]
fn an_important_column_is_generalized_less() {
    let people: Vec<(i64, usize, usize)> =
        (0..120i64).map(|i| (18 + i % 50, (i % 7) as usize, (i % 2) as usize)).collect();
    let penalty = |importance: f64, column: usize| {
        let mut specs = specs(None);
        specs[column].weight = Some(importance);
        let data = table(&NAMES, &written(&people), &specs);
        let partition = recode(&Optimized::default(), &data, 10).partition;
        let domain = &data.quasi()[column].domain;
        let cost = |row: usize| {
            let span = partition.spans(partition.group(row).unwrap())[column];
            domain.ncp(span.lo, span.hi) * data.weight(row) as f64
        };
        (0..data.rows()).map(cost).sum::<f64>()
    };
    assert!(penalty(50.0, 0) < penalty(0.01, 0));
    assert!(penalty(50.0, 1) < penalty(0.01, 1));
}

#[test]
fn a_single_width_needs_regular_intervals() {
    let data = table(&NAMES, &written(&[(20, 0, 0), (30, 1, 1)]), &specs(None));
    let optimized = Optimized { single_width: true, ..Optimized::default() };
    let error = optimized.recode(&data, &k_anonymity(1, &data), 0, &Silent).unwrap_err();
    assert!(error.message().contains("regular intervals"), "{error}");
}

#[test]
fn all_orders_of_six_columns_are_too_many() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let data = table(&names, &[vec!["1".to_owned(); 6]], &vec![ColumnSpec::default(); 6]);
    let every = Optimized { priority: Priority::AllOrders, ..Optimized::default() };
    let error = every.recode(&data, &k_anonymity(1, &data), 0, &Silent).unwrap_err();
    assert_eq!(error.key(), Some("priority"));
}

#[test]
fn one_column_needs_no_trials() {
    let records: Vec<Vec<String>> = (0..20).map(|i| vec![i.to_string()]).collect();
    let data = table(&["x"], &records, &[ColumnSpec::default()]);
    let report =
        recode(&Optimized::default(), &data, 5).report_as::<TrialReport>().cloned().unwrap();
    assert_eq!((report.runs, report.trials.len()), (1, 0));
}

#[test]
fn missing_values_are_a_separate_leaf_of_the_tree() {
    let cells = [Some("20"), Some("60"), None, Some("25"), None].map(|cell| vec![cell]);
    let folded = incrowd_core::Folded::from_records(&["x"], cells, false);
    let spec = ColumnSpec::default();
    let data = Dataset::encode(folded, &[&spec], &[], "?").map_err(|e| e.misfit.error).unwrap();
    let optimized = Optimized { mdr: Some(no_outliers()), ..Optimized::default() };
    let data = optimized.prepare(data).unwrap();
    let Domain::Taxonomy(tree) = &data.quasi()[0].domain else { panic!("there is no tree") };
    assert_eq!(data.quasi()[0].domain.label(Code(3), Code(3)), "?");
    assert_eq!(
        (tree.leaves(), data.quasi()[0].domain.label(Code(0), Code(1))),
        (4, "[20, 27]".into())
    );
}
