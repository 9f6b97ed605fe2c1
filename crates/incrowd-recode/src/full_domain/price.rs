//! The cost of a node by a metric.
//!
//! Metrics of cells are sums over the published records: `all + Σ price(cell) + suppressed ·
//! whole`, where `all` depends only on the table. So the cost of a node follows from the number of
//! published records of each class of each column:
//! - `ncp`, `information-loss`: a cell costs its penalty, a suppressed record 1 in every column.
//! - `distortion` (`sun2008`): a cell h steps above its leaf costs h. h is the leaf's depth minus
//!   the cell's, so the sum over records is the depth of all leaves minus the depth of the
//!   published cells; a suppressed record counts as roots. The result is divided by the depth of
//!   all leaves.
//! - `non-uniform-entropy` (`gionis2009`): −log₂(n(v)/n(cell)) bits for a value v, that is log₂
//!   n(cell) − log₂ n(v). The paper does not define the cost of suppressed records: they have the
//!   cells that they would have without suppression. `non-uniform-entropy-suppressed` charges a
//!   suppressed record all bits of its values.
//!
//! Metrics of sizes are `discernibility` (`bayardo2005`) and `average-class-size` (`lefevre2006`).
//!
//! The price of a cell is computed from its label, so that the search minimizes the number that the
//! manifest reports.

use incrowd_core::{Dataset, Error, Result};

use super::levels::ClassLevels;

/// The cost that a search minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The number of generalization steps, divided by the number of all possible steps.
    Distortion,
    /// Normalized certainty penalty.
    Ncp,
    /// The number of leaves beyond the first, as a share, averaged over cells.
    InformationLoss,
    /// The sum of squared group sizes.
    Discernibility,
    /// The number of published records per group.
    AverageClassSize,
    /// Bits lost by the cells. Suppressed records count like others.
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

    /// Returns the name in a job file.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| *name)
    }

    /// Returns whether the metric depends only on the sizes of groups.
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
    /// The number of records of each class, by column and level.
    records_of: Vec<Vec<Vec<u64>>>,
    /// The price of all records, by column and level.
    of_level: Vec<Vec<f64>>,
    /// The summand that depends only on the table.
    all: f64,
    /// The price of a suppressed record.
    whole: f64,
    /// The divisor of the sum.
    divisor: f64,
    records: u64,
}

impl Prices {
    pub(super) fn new(
        data: &Dataset,
        column_levels: &[ClassLevels],
        metric: Metric,
    ) -> Result<Prices> {
        let (records, columns) = (data.records(), column_levels.len());
        let entropy =
            matches!(metric, Metric::NonUniformEntropy | Metric::NonUniformEntropySuppressed);
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
            let of_class =
                (0..of_column.levels()).map(classes).collect::<Result<Vec<Vec<f64>>>>()?;
            let of_level = |(level, prices): (usize, &Vec<f64>)| {
                prices
                    .iter()
                    .zip(of_column.records(level))
                    .map(|(price, &n)| price * n as f64)
                    .sum::<f64>()
            };
            let of_level: Vec<f64> = of_class.iter().enumerate().map(of_level).collect();
            if entropy || metric == Metric::Distortion {
                // Unchanged records cost nothing.
                prices.all -= of_level[0];
            }
            prices.of_class.push(of_class);
            prices.records_of.push(
                (0..of_column.levels()).map(|level| of_column.records(level).to_vec()).collect(),
            );
            prices.of_level.push(of_level);
        }
        if metric == Metric::Distortion {
            prices.divisor = if prices.all == 0.0 { 1.0 } else { prices.all };
        }
        Ok(prices)
    }

    /// Returns whether the cost depends on the cells that suppressed records would have.
    pub(super) fn charges_cells(&self) -> bool {
        !self.metric.of_sizes() && self.metric != Metric::NonUniformEntropy
    }

    /// Returns the cost of the node without suppression, which is a lower bound of its cost.
    /// Returns 0 for metrics of sizes, which require the groups.
    pub(super) fn lower_bound(&self, levels: &[u8]) -> f64 {
        if self.metric.of_sizes() {
            return 0.0;
        }
        let columns = self.of_level.iter().zip(levels);
        (self.all + columns.map(|(column, &level)| column[usize::from(level)]).sum::<f64>())
            / self.divisor
    }

    /// Returns the cost of a node. `suppressed_classes` contains for each column the classes of the
    /// suppressed groups with their records, in any order.
    pub(super) fn of(
        &self,
        levels: &[u8],
        sizes: &Sizes,
        suppressed_classes: &mut [Vec<(u32, u64)>],
    ) -> f64 {
        match self.metric {
            Metric::Discernibility => {
                (sizes.squares + u128::from(sizes.suppressed) * u128::from(self.records)) as f64
            }
            Metric::AverageClassSize => {
                (self.records - sizes.suppressed) as f64 / sizes.groups as f64
            }
            Metric::NonUniformEntropy => self.lower_bound(levels),
            _ if sizes.suppressed == 0 => self.lower_bound(levels),
            _ => {
                let mut sum = self.all;
                for (column, suppressed_classes) in suppressed_classes.iter_mut().enumerate() {
                    let level = usize::from(levels[column]);
                    let (prices, records) =
                        (&self.of_class[column][level], &self.records_of[column][level]);
                    sum += if prices.len() <= MAX_SUMMED {
                        price_of_remaining(suppressed_classes, prices, records)
                    } else {
                        self.of_level[column][level]
                            - price_of_suppressed(suppressed_classes, prices)
                    };
                }
                (sum + sizes.suppressed as f64 * self.whole) / self.divisor
            }
        }
    }

    /// Returns a lower bound of the cost of all nodes above this one, for metrics of sizes. Groups
    /// only merge upwards, and no published record is suppressed there. For metrics of cells
    /// [`Prices::lower_bound`] is stronger.
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

/// Statistics of the groups of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    /// The number of published groups.
    pub(super) groups: u64,
    /// The sum of their squared sizes.
    pub(super) squares: u128,
    /// The number of suppressed groups.
    pub(super) refused: u64,
    /// The sum of their squared sizes.
    pub(super) refused_squares: u128,
    /// The number of their records.
    pub(super) suppressed: u64,
}

impl Sizes {
    /// Adds a published group.
    pub(super) fn publish(&mut self, records: u64) {
        self.groups += 1;
        self.squares += u128::from(records) * u128::from(records);
    }

    /// Adds a suppressed group.
    pub(super) fn refuse(&mut self, records: u64) {
        self.refused += 1;
        self.suppressed += records;
        self.refused_squares += u128::from(records) * u128::from(records);
    }
}

/// Columns with at most this many classes are summed class by class.
const MAX_SUMMED: usize = 1 << 16;

/// Returns the price of the remaining records, summed class by class. Nodes that publish the same
/// records in cells of the same price then have exactly equal costs, even if they suppress
/// different groups.
fn price_of_remaining(suppressed_classes: &[(u32, u64)], prices: &[f64], records: &[u64]) -> f64 {
    let mut left = records.to_vec();
    suppressed_classes.iter().for_each(|&(class, n)| left[class as usize] -= n);
    let classes = prices.iter().zip(&left).filter(|(_, left)| **left > 0);
    classes.map(|(price, &left)| price * left as f64).sum()
}

/// Returns the price of the suppressed records, summed class by class, so that the sum does not
/// depend on the order of the groups.
fn price_of_suppressed(suppressed_classes: &mut [(u32, u64)], prices: &[f64]) -> f64 {
    suppressed_classes.sort_unstable();
    let classes = suppressed_classes.chunk_by(|a, b| a.0 == b.0);
    classes
        .map(|class| prices[class[0].0 as usize] * class.iter().map(|c| c.1).sum::<u64>() as f64)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn prices_of_remaining_and_suppressed_records_add_up(
            suppressed_classes in prop::collection::vec((0u32..20, 1u64..9), 0..30),
            prices in prop::collection::vec(-1.0f64..1.0, 20),
        ) {
            let records = vec![300u64; 20];
            let all: f64 = prices.iter().map(|price| price * 300.0).sum();
            let left = price_of_remaining(&suppressed_classes, &prices, &records);
            let suppressed = price_of_suppressed(&mut suppressed_classes.clone(), &prices);
            prop_assert!((left + suppressed - all).abs() < 1e-9);
        }
    }
}
