//! What a node costs, by the metric that is to be least.
//!
//! Metrics of cells are sums over the published records: `all + Σ price(cell) + suppressed · whole`, where `all` follows
//! from the table alone. So a node's cost follows from how many published records each class of each column has:
//! - `ncp`, `information-loss`: a cell costs its penalty, a suppressed record 1 in every column.
//! - `distortion` (`sun2008`): a cell h steps above its leaf costs h. h is the leaf's depth less the cell's, so the sum over
//!   records is the depth of all leaves less the depth of the published cells; a suppressed record counts as roots. The
//!   ratio is to the depth of all leaves.
//! - `non-uniform-entropy` (`gionis2009`): −log₂(n(v)/n(cell)) bits for a value v, that is log₂ n(cell) − log₂ n(v). As in
//!   the paper nothing is said of suppressed records: they count like others, with the cells they would have had.
//!   `non-uniform-entropy-suppressed` charges a suppressed record all bits of its values.
//!
//! Metrics of sizes are those of the list of metrics: `discernibility` (`bayardo2005`) and `average-class-size`
//! (`lefevre2006`).
//!
//! A cell's price is read off its label, as a reader would, so what is minimized is what the manifest reports.

use incrowd_core::{Dataset, Error, Result};

use super::levels::ClassLevels;

/// What is to be least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The share of all steps to the roots that was taken.
    Distortion,
    /// Normalized certainty penalty.
    Ncp,
    /// Leaves beyond the first, as a share, averaged over cells.
    InformationLoss,
    /// Sum of squared group sizes.
    Discernibility,
    /// Published records per group.
    AverageClassSize,
    /// Bits lost by the cells, suppressed records counted like others.
    NonUniformEntropy,
    /// Bits lost by the cells and by suppression.
    NonUniformEntropySuppressed,
}

impl Metric {
    /// The names in a job file.
    pub const ALL: [(&'static str, Metric); 7] = [
        ("distortion", Metric::Distortion),
        ("ncp", Metric::Ncp),
        ("information-loss", Metric::InformationLoss),
        ("discernibility", Metric::Discernibility),
        ("average-class-size", Metric::AverageClassSize),
        ("non-uniform-entropy", Metric::NonUniformEntropy),
        ("non-uniform-entropy-suppressed", Metric::NonUniformEntropySuppressed),
    ];

    /// The name in a job file.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| *name)
    }

    /// Whether it looks at the sizes of groups only.
    pub(super) fn of_sizes(self) -> bool {
        matches!(self, Metric::Discernibility | Metric::AverageClassSize)
    }
}

/// The prices of a table's cells.
#[derive(Debug)]
pub(super) struct Prices {
    metric: Metric,
    /// The price of each class, by column and level.
    of_class: Vec<Vec<Vec<f64>>>,
    /// The records of each class, by column and level.
    records_of: Vec<Vec<Vec<u64>>>,
    /// The price of all records, by column and level.
    of_level: Vec<Vec<f64>>,
    /// What the table itself adds.
    all: f64,
    /// What a suppressed record costs.
    whole: f64,
    /// What the sum is divided by.
    divisor: f64,
    records: u64,
}

impl Prices {
    pub(super) fn new(data: &Dataset, column_levels: &[ClassLevels], metric: Metric) -> Result<Prices> {
        let (records, columns) = (data.records(), column_levels.len());
        let entropy = matches!(metric, Metric::NonUniformEntropy | Metric::NonUniformEntropySuppressed);
        let mut prices = Prices {
            metric,
            of_class: Vec::with_capacity(columns),
            records_of: Vec::with_capacity(columns),
            of_level: Vec::with_capacity(columns),
            all: 0.0,
            whole: 0.0,
            divisor: 1.0,
            records,
        };
        if matches!(metric, Metric::Ncp | Metric::InformationLoss) {
            (prices.whole, prices.divisor) = (columns as f64, columns as f64 * records as f64);
        }
        for (quasi, of_column) in data.quasi().iter().zip(column_levels) {
            let domain = &quasi.domain;
            let price = |level: usize, class: usize| -> Result<f64> {
                let code = of_column.firsts(level)[class];
                let cell = || {
                    domain
                        .read(&domain.level_label(code, level))
                        .ok_or_else(|| Error::bug("a label cannot be read"))
                };
                Ok(match metric {
                    Metric::Ncp => domain.cell_ncp(&cell()?),
                    Metric::InformationLoss => domain.cell_loss(&cell()?),
                    Metric::Distortion => -(domain.level_depth(code, level) as f64),
                    Metric::NonUniformEntropy | Metric::NonUniformEntropySuppressed => {
                        (of_column.records(level)[class] as f64 / records as f64).log2()
                    }
                    Metric::Discernibility | Metric::AverageClassSize => 0.0,
                })
            };
            let classes = |level: usize| {
                (0..of_column.firsts(level).len()).map(move |class| price(level, class)).collect()
            };
            let of_class = (0..of_column.levels()).map(classes).collect::<Result<Vec<Vec<f64>>>>()?;
            let of_level = |(level, prices): (usize, &Vec<f64>)| {
                prices.iter().zip(of_column.records(level)).map(|(price, &n)| price * n as f64).sum::<f64>()
            };
            let of_level: Vec<f64> = of_class.iter().enumerate().map(of_level).collect();
            if entropy || metric == Metric::Distortion {
                // Untouched records cost nothing.
                prices.all -= of_level[0];
            }
            prices.of_class.push(of_class);
            prices
                .records_of
                .push((0..of_column.levels()).map(|level| of_column.records(level).to_vec()).collect());
            prices.of_level.push(of_level);
        }
        if metric == Metric::Distortion {
            prices.divisor = if prices.all == 0.0 { 1.0 } else { prices.all };
        }
        Ok(prices)
    }

    /// Whether suppressed records are charged by the cells they would have had.
    pub(super) fn asks_for_cells(&self) -> bool {
        !self.metric.of_sizes() && self.metric != Metric::NonUniformEntropy
    }

    /// What the node would cost if nobody were suppressed there: never more than it costs. Of metrics of sizes nothing is
    /// known without the groups.
    pub(super) fn at_least(&self, levels: &[u8]) -> f64 {
        if self.metric.of_sizes() {
            return 0.0;
        }
        let columns = self.of_level.iter().zip(levels);
        (self.all + columns.map(|(column, &level)| column[usize::from(level)]).sum::<f64>()) / self.divisor
    }

    /// What a node costs. `gone` holds for each column the classes of the suppressed groups with their records, in any
    /// order.
    pub(super) fn of(&self, levels: &[u8], sizes: &Sizes, gone: &mut [Vec<(u32, u64)>]) -> f64 {
        match self.metric {
            Metric::Discernibility => {
                (sizes.squares + u128::from(sizes.suppressed) * u128::from(self.records)) as f64
            }
            Metric::AverageClassSize => (self.records - sizes.suppressed) as f64 / sizes.groups as f64,
            Metric::NonUniformEntropy => self.at_least(levels),
            _ if sizes.suppressed == 0 => self.at_least(levels),
            _ => {
                let mut sum = self.all;
                for (column, gone) in gone.iter_mut().enumerate() {
                    let level = usize::from(levels[column]);
                    let (prices, records) = (&self.of_class[column][level], &self.records_of[column][level]);
                    sum += if prices.len() <= ADDED_UP {
                        price_left(gone, prices, records)
                    } else {
                        self.of_level[column][level] - price_of(gone, prices)
                    };
                }
                (sum + sizes.suppressed as f64 * self.whole) / self.divisor
            }
        }
    }

    /// A cost below which no node above this one can be, for metrics of sizes: groups only merge further up, and nobody
    /// who is published is suppressed there. For metrics of cells [`Prices::at_least`] says more.
    pub(super) fn floor(&self, sizes: &Sizes) -> f64 {
        match self.metric {
            Metric::Discernibility => (sizes.squares + sizes.refused_squares) as f64,
            Metric::AverageClassSize => {
                (self.records - sizes.suppressed) as f64 / (sizes.groups + sizes.refused) as f64
            }
            _ => 0.0,
        }
    }
}

/// The groups of a node, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    /// How many groups are published.
    pub(super) groups: u64,
    /// The sum of their squared sizes.
    pub(super) squares: u128,
    /// How many groups are suppressed.
    pub(super) refused: u64,
    /// The sum of their squared sizes.
    pub(super) refused_squares: u128,
    /// How many records they have.
    pub(super) suppressed: u64,
}

impl Sizes {
    /// Counts a group that is published.
    pub(super) fn publish(&mut self, records: u64) {
        self.groups += 1;
        self.squares += u128::from(records) * u128::from(records);
    }

    /// Counts a group that is suppressed.
    pub(super) fn refuse(&mut self, records: u64) {
        self.refused += 1;
        self.suppressed += records;
        self.refused_squares += u128::from(records) * u128::from(records);
    }
}

/// Columns of at most this many classes are added up class by class.
const ADDED_UP: usize = 1 << 16;

/// The price of the records that are left, added up class by class: nodes that publish the same records in cells of the same
/// price cost the same to the last bit, whatever they suppress.
fn price_left(gone: &[(u32, u64)], prices: &[f64], records: &[u64]) -> f64 {
    let mut left = records.to_vec();
    gone.iter().for_each(|&(class, n)| left[class as usize] -= n);
    let classes = prices.iter().zip(&left).filter(|(_, left)| **left > 0);
    classes.map(|(price, &left)| price * left as f64).sum()
}

/// The price of these records, added up class by class so that the sum does not depend on the order of the groups.
fn price_of(gone: &mut [(u32, u64)], prices: &[f64]) -> f64 {
    gone.sort_unstable();
    let classes = gone.chunk_by(|a, b| a.0 == b.0);
    classes.map(|class| prices[class[0].0 as usize] * class.iter().map(|c| c.1).sum::<u64>() as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_left_and_what_is_gone_cost_as_much_as_all(
            gone in prop::collection::vec((0u32..20, 1u64..9), 0..30),
            prices in prop::collection::vec(-1.0f64..1.0, 20),
        ) {
            let records = vec![300u64; 20];
            let all: f64 = prices.iter().map(|price| price * 300.0).sum();
            let left = price_left(&gone, &prices, &records);
            prop_assert!((left + price_of(&mut gone.clone(), &prices) - all).abs() < 1e-9);
        }
    }
}
