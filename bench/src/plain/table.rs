//! The tables of the experiments: samples of Adult, and generated ones.

use std::path::{Path, PathBuf};

use incrowd::front_end::core::{ColumnSpec, Dataset, Folded, HierarchySpec, SensitiveSpec};
use incrowd::job::hierarchy_from_path;
use incrowd::{Embedded, Engine, FoldSpec, Options, Silent};

/// A table with its columns.
pub(super) struct Table {
    folded: Folded,
    specs: Vec<ColumnSpec>,
    sensitive: SensitiveSpec,
}

impl Table {
    pub(super) fn load(
        path: &Path,
        columns: &[&str],
        specs: Vec<ColumnSpec>,
        sensitive: SensitiveSpec,
    ) -> Result<Table, String> {
        let mut engine =
            Embedded::open(&[path.to_owned()], &Options::default()).map_err(|e| e.to_string())?;
        let spec = FoldSpec {
            columns: columns.iter().map(|&c| c.to_owned()).collect(),
            missing: ["", "?", "NA"].map(str::to_owned).to_vec(),
            drop_missing: true,
            passthrough: Vec::new(),
            ..FoldSpec::default()
        };
        let folded = engine.fold(&spec, &Silent).map_err(|e| e.to_string())?;
        Ok(Table { folded, specs, sensitive })
    }

    /// Returns a sample of the records, drawn by a seed with equal probabilities.
    pub(super) fn sample(&self, records: u64, seed: u64) -> Result<Dataset, String> {
        self.encode(self.drawn(records, seed))
    }

    /// Returns the same sample with a row for every record, so that equal records can be separated.
    pub(super) fn unfolded_sample(&self, records: u64, seed: u64) -> Result<Dataset, String> {
        let mut folded = self.drawn(records, seed);
        let width = folded.columns.len();
        let rows = folded.codes.chunks(width).zip(&folded.weights);
        folded.codes = rows.flat_map(|(row, &n)| row.repeat(n as usize)).collect();
        folded.weights = vec![1; folded.codes.len() / width];
        self.encode(folded)
    }

    fn drawn(&self, records: u64, seed: u64) -> Folded {
        let mut folded = self.folded.clone();
        let all: u64 = folded.weights.iter().sum();
        if records < all {
            let (mut left, mut wanted, mut state) =
                (all, records, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            // Rows are sorted first, so that the sample does not depend on how the file was read.
            let mut order: Vec<usize> = (0..folded.rows()).collect();
            order.sort_by_key(|&row| texts(&folded, row));
            let mut weights = vec![0; folded.rows()];
            for row in order {
                for _ in 0..folded.weights[row] {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    if state.wrapping_mul(0x2545_f491_4f6c_dd1d) % left < wanted {
                        weights[row] += 1;
                        wanted -= 1;
                    }
                    left -= 1;
                }
            }
            let width = folded.columns.len();
            let kept: Vec<usize> = (0..folded.rows()).filter(|&row| weights[row] > 0).collect();
            folded.codes = kept
                .iter()
                .flat_map(|&row| folded.codes[row * width..(row + 1) * width].to_vec())
                .collect();
            folded.weights = kept.iter().map(|&row| weights[row]).collect();
        }
        folded
    }

    fn encode(&self, folded: Folded) -> Result<Dataset, String> {
        Dataset::encode(folded, &self.specs.iter().collect::<Vec<_>>(), &[&self.sensitive], "?")
            .map_err(|e| e.misfit.error.to_string())
    }
}

fn texts(folded: &Folded, row: usize) -> Vec<String> {
    folded
        .row(row)
        .iter()
        .zip(&folded.columns)
        .map(|(&code, c)| c.texts[code as usize].clone())
        .collect()
}

pub(super) fn adult_table(
    data: &Path,
    path: &Path,
    quasi: &[&str],
    on: &str,
) -> Result<Table, String> {
    let hierarchy = |column: &str| -> Result<Option<HierarchySpec>, String> {
        if column == "age" {
            return Ok(None);
        }
        let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
        hierarchy_from_path(&file).map(Some).map_err(|e| e.to_string())
    };
    let specs =
        quasi.iter().map(|c| Ok(ColumnSpec { hierarchy: hierarchy(c)?, ..ColumnSpec::default() }));
    let specs = specs.collect::<Result<Vec<_>, String>>()?;
    let sensitive = SensitiveSpec { hierarchy: hierarchy(on)?, ..SensitiveSpec::default() };
    let columns: Vec<&str> = quasi.iter().copied().chain([on]).collect();
    Table::load(path, &columns, specs, sensitive)
}

pub(super) const SERIES_A: [&str; 5] = ["sex", "education", "marital-status", "race", "workclass"];
pub(super) const SERIES_B: [&str; 4] = ["age", "sex", "education", "marital-status"];

/// Generates a table, unless it exists.
pub(super) fn make_table(
    dir: &Path,
    table: incrowd_synth::Table,
    rows: u64,
) -> Result<PathBuf, String> {
    let path = dir.join(format!("{table}-{rows}.csv"));
    if !path.exists() {
        let partial = path.with_extension("partial");
        let file = std::fs::File::create(&partial).map_err(|e| e.to_string())?;
        let mut out = std::io::BufWriter::new(file);
        incrowd_synth::Synth::new(table, rows, 1).write_csv(&mut out).map_err(|e| e.to_string())?;
        drop(out);
        std::fs::rename(partial, &path).map_err(|e| e.to_string())?;
    }
    Ok(path)
}
