//! Folding in the server. Algorithms only need distinct rows with their counts, which `GROUP BY`
//! computes. It is used if the server would send at most a tenth of the records, estimated from a
//! sample. With more distinct rows, grouping takes the server longer than sending all records.
//!
//! Rows are grouped by the texts of their cells, and not by equality in the server. For example,
//! `1.0` and `1.00` are equal numbers but different texts.

use incrowd_core::Result;

use super::relation::Relation;
use super::session::database_error;

/// Approximate number of records in the sample.
const SAMPLE: f64 = 30_000.0;
/// Tables with fewer records are not grouped.
const SMALL: f64 = 20_000.0;
/// Minimum number of records per distinct row for grouping.
const FEWER: f64 = 10.0;
/// Number of records examined for repeated identifiers.
const EXAMINED: u32 = 1 << 18;

impl Relation {
    /// Whether the server should group the records by these columns.
    pub(crate) fn shall_group(&self, columns: &[usize]) -> Result<bool> {
        if self.keys.is_empty() || columns.is_empty() {
            return Ok(false);
        }
        if let Some(in_server) = self.in_server {
            return Ok(in_server);
        }
        let fails = "the size of the table cannot be determined";
        let mut client = self.session.client();
        let plan = client.query(&format!("EXPLAIN SELECT * FROM {}", self.from), &[]);
        let plan = plan.map_err(|e| database_error(fails, &e))?;
        let first: String = plan.first().map(|row| row.get(0)).unwrap_or_default();
        let records = rows_of(&first);
        if records < SMALL {
            return Ok(false);
        }
        let sample = match self.is_plain {
            true => {
                let percent = (100.0 * SAMPLE / records).min(100.0);
                format!("{} TABLESAMPLE SYSTEM ({percent:.6}) REPEATABLE (22)", self.from)
            }
            false => format!("(SELECT * FROM {} LIMIT {SAMPLE}) AS incrowd_sample", self.from),
        };
        let keys = columns
            .iter()
            .enumerate()
            .map(|(at, &column)| format!("{} AS k{at}", self.keys[column]));
        let names: Vec<String> = (0..columns.len()).map(|at| format!("k{at}")).collect();
        let sql = format!(
            "SELECT coalesce(sum(n), 0)::float8, count(*)::float8, \
             coalesce(sum(1 - power(0.5::float8, least(n, 60)::float8)), 0)::float8 FROM (SELECT count(*) AS n \
             FROM (SELECT {} FROM {sample}) AS incrowd_keys GROUP BY {}) AS incrowd_groups",
            keys.collect::<Vec<_>>().join(", "),
            names.join(", ")
        );
        let seen = client.query_one(&sql, &[]).map_err(|e| database_error(fails, &e))?;
        let distinct = expected(records, seen.get(0), seen.get(1), seen.get(2));
        Ok(distinct.is_some_and(|distinct| distinct * FEWER <= records))
    }

    /// The query for grouped records: the cells of a row, then its count.
    pub(super) fn grouped(&self, columns: &[usize]) -> String {
        let keys: Vec<&str> = columns.iter().map(|&column| self.keys[column].as_str()).collect();
        let numbers: Vec<String> = (1..=keys.len()).map(|at| at.to_string()).collect();
        format!(
            "SELECT {}, count(*) FROM {} GROUP BY {}",
            keys.join(", "),
            self.from,
            numbers.join(", ")
        )
    }

    /// Number of values and number of distinct values of a column in the first records. The values
    /// are not sent.
    pub(crate) fn repeats(&self, column: usize, missing: &[String]) -> Result<(u64, u64)> {
        let sql = format!(
            "SELECT count(*), count(DISTINCT cell) FROM (SELECT {}::text AS cell FROM {} LIMIT {EXAMINED}) AS incrowd_first \
             WHERE cell <> ALL ($1)",
            self.cells[column], self.from
        );
        let row = self.session.client().query_one(&sql, &[&missing]);
        let row = row.map_err(|e| database_error("the table cannot be read", &e))?;
        Ok((row.get::<_, i64>(0) as u64, row.get::<_, i64>(1) as u64))
    }
}

/// Number of rows that the first line of a query plan estimates.
fn rows_of(line: &str) -> f64 {
    let rest = line.rsplit_once(" rows=").map_or("", |(_, rest)| rest);
    rest.split(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0.0)
}

/// Estimates the number of distinct rows of a table with `records` records. The sample has
/// `sampled` records and `distinct` distinct rows, and half of it would have `at_half`. The growth
/// rate from half of the sample to all of it is extrapolated. The true growth rate decreases, so
/// the estimate is rather too high.
fn expected(records: f64, sampled: f64, distinct: f64, at_half: f64) -> Option<f64> {
    if sampled < 1.0 || at_half <= 0.0 {
        return None;
    }
    let growth = (distinct / at_half).log2().clamp(0.0, 1.0);
    Some(distinct * (records / sampled).max(1.0).powf(growth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_tells_its_rows() {
        assert_eq!(
            rows_of("Seq Scan on people  (cost=0.00..28180.00 rows=1000000 width=101)"),
            1_000_000.0
        );
        assert_eq!(rows_of("Result"), 0.0);
    }

    /// The estimate for uniformly distributed rows with `kinds` possible values.
    fn said(kinds: u64, records: f64) -> f64 {
        let met = |n: f64| kinds as f64 * (1.0 - (1.0 - 1.0 / kinds as f64).powf(n));
        expected(records, SAMPLE, met(SAMPLE), met(SAMPLE / 2.0)).unwrap()
    }

    #[test]
    fn what_a_sample_says_is_not_too_little() {
        for kinds in [2, 100, 5_000, 50_000, 1_000_000, 100_000_000] {
            let records = 10_000_000f64;
            let there = kinds as f64 * (1.0 - (1.0 - 1.0 / kinds as f64).powf(records));
            let said = said(kinds, records);
            assert!(said >= 0.99 * there, "{kinds}: {said} {there}");
            assert!(said <= records * 1.001, "{kinds}: {said}");
        }
        // A small number of distinct rows is estimated as small.
        assert!(said(5_000, 10_000_000.0) < 10_000.0);
        assert_eq!(expected(100.0, 0.0, 0.0, 0.0), None);
        // The sample contains the whole table.
        assert_eq!(expected(90.0, 100.0, 70.0, 60.0), Some(70.0));
    }
}
