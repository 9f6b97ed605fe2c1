//! Outliers and plain groups: the paper's figures, random tables of an independent prototype, and a
//! twin that counts every pair.

mod figures;
mod lof;
mod twin;

use incrowd_core::outlier::{Bits, Bounds, Outliers, Scale, Settings};
use incrowd_core::{
    Code, ColumnSpec, Dataset, Extent, Folded, HierarchySpec, Kind, Region, SensitiveSpec, Span,
};
use serde_json::Value as Json;

/// A test case: a table with its settings.
pub(crate) struct Case {
    pub(crate) data: Dataset,
    pub(crate) outliers: Outliers,
    /// The row of each record.
    pub(crate) rows: Vec<usize>,
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap()
}

fn list(json: &Json) -> &[Json] {
    json.as_array().unwrap()
}

fn settings(config: &Json) -> Settings {
    let range = |json: &Json| (json[0].as_f64().unwrap(), json[1].as_f64().unwrap());
    let bounds = config["scaling"].as_object().into_iter().flatten();
    Settings {
        p: config["p"].as_f64().unwrap(),
        d: config["d"].as_f64().unwrap(),
        distance_attributes: config["distance_attrs"].as_array().map_or_else(Vec::new, |names| {
            names.iter().map(|name| text(name).to_owned()).collect()
        }),
        scale: if config["scaling"] == "original" { Scale::Original } else { Scale::Trimmed },
        bounds: bounds
            .map(|(name, ends)| Bounds { column: name.clone(), range: range(ends) })
            .collect(),
        on: String::new(),
        density: None,
    }
}

impl Case {
    pub(crate) fn new(config: &Json, data: &Json) -> Case {
        let quasi = list(&config["qi"]);
        let mut names: Vec<&str> = quasi.iter().map(|q| text(&q["name"])).collect();
        names.push(text(&config["sa"]["name"]));
        let specs: Vec<ColumnSpec> = quasi
            .iter()
            .map(|q| match q["hierarchy"].as_array() {
                None => ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() },
                Some(paths) => {
                    let line = |path: &Json| {
                        list(path).iter().map(text).collect::<Vec<_>>().join(";") + "\n"
                    };
                    let text = paths.iter().map(line).collect();
                    let hierarchy = Some(HierarchySpec::Arx { name: "h".into(), text });
                    ColumnSpec { hierarchy, ..ColumnSpec::default() }
                }
            })
            .collect();
        let records: Vec<Vec<&str>> = list(data)
            .iter()
            .map(|record| names.iter().map(|name| text(&record[*name])).collect())
            .collect();
        let cells = records.iter().map(|record| record.iter().map(|cell| Some(*cell)).collect());
        let folded = Folded::from_records(&names, cells, false);
        let of_row = |row: usize| -> Vec<&str> {
            folded
                .row(row)
                .iter()
                .zip(&folded.columns)
                .map(|(&code, c)| c.texts[code as usize].as_str())
                .collect()
        };
        let data = Dataset::encode(
            folded.clone(),
            &specs.iter().collect::<Vec<_>>(),
            &[&SensitiveSpec::default()],
            "?",
        )
        .unwrap();
        let of_fold =
            |r: &Vec<&str>| (0..folded.rows()).find(|&row| of_row(row) == *r).unwrap() as u32;
        let rows = records.iter().map(|r| data.row_of_fold(of_fold(r)).unwrap().index()).collect();
        let outliers = Outliers::new(&data, &settings(config)).unwrap();
        Case { data, outliers, rows }
    }

    /// The published region of a group of these records.
    pub(crate) fn region(&self, records: &[usize]) -> Region {
        region(&self.data, &records.iter().map(|&record| self.rows[record]).collect::<Vec<_>>())
    }

    /// The ranks of the records' sensitive values, with their counts.
    pub(crate) fn values(&self, records: &[usize]) -> Vec<(u32, u64)> {
        let rank =
            |&record: &usize| self.outliers.rank(self.data.sensitive_codes(self.rows[record])[0]);
        let mut ranks: Vec<u32> = records.iter().map(rank).collect();
        ranks.sort_unstable();
        ranks.chunk_by(|a, b| a == b).map(|alike| (alike[0], alike.len() as u64)).collect()
    }

    pub(crate) fn set(&self, records: &[usize]) -> Bits {
        Bits::of(self.outliers.values().len(), self.values(records).iter().map(|entry| entry.0))
    }

    /// Whether the records are a plain group with at least `k` values.
    pub(crate) fn plain(&self, records: &[usize], k: usize) -> bool {
        self.values(records).len() >= k
            && self.outliers.plain(&self.region(records), &self.set(records)).is_ok()
    }
}

/// The published region of a group of rows.
pub(crate) fn region(data: &Dataset, rows: &[usize]) -> Region {
    let extent = |q: usize| {
        let codes = || rows.iter().map(|&row| data.quasi_codes(row)[q]);
        let span = Span { lo: Code(codes().min().unwrap()), hi: Code(codes().max().unwrap()) };
        Extent::of_group(&data.quasi()[q].domain, span, &[])
    };
    Region { extents: (0..data.quasi().len()).map(extent).collect() }
}
