//! Original and release with their columns decoded to common leaves. All utility measures are
//! computed from it.
//!
//! A release does not contain which record belongs to whom, so records are not linked. Groups are
//! sorted by their cells, so that the rounding of sums does not depend on the order of reading.

use hashbrown::HashMap;
use incrowd_core::dataset::Sensitive;
use incrowd_core::group::merge_equal;
use incrowd_core::number::parse_number;
use incrowd_core::{Dataset, Domain, Error, Folded, FoldedColumn, MISSING, Result};

use super::cover::{Cover, values};

/// Role of a column in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// A quasi-identifier, whose cells may be generalized.
    Quasi,
    /// A sensitive column, published unchanged.
    Sensitive,
    /// Another column published unchanged. It is read because it is to be predicted.
    Target,
}

/// A column of the original as an ordered sequence of leaves, with the cells of the release.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) role: ColumnRole,
    /// Number of leaves.
    pub(crate) leaves: u32,
    /// The number of each leaf of a numeric column. The missing value is the last leaf and has no
    /// number.
    pub(crate) numbers: Option<Vec<f64>>,
    /// Range of a numeric column.
    pub(crate) range: (f64, f64),
    /// The leaf of missing values, if they are kept.
    pub(crate) missing: Option<u32>,
    /// Number of records of the original per leaf.
    pub(crate) counts: Vec<u64>,
    /// The cover of each distinct cell of the release, in the order of their texts.
    pub(crate) covers: Vec<Cover>,
    /// The texts of these cells. The text of a missing value is empty.
    pub(crate) texts: Vec<String>,
    /// Number of published records per cell.
    pub(crate) published: Vec<u64>,
}

/// Original and release, column by column.
pub struct Comparison {
    pub(crate) lines: Vec<Line>,
    /// Number of quasi-identifiers, which are the first lines.
    pub(crate) quasi: usize,
    /// The leaves of the distinct rows of the original, by column.
    pub(crate) leaves: Vec<Vec<u32>>,
    /// Number of records per row.
    pub(crate) counts: Vec<u64>,
    /// Number of records of the original.
    pub(crate) records: u64,
    /// Number of records of the release.
    pub(crate) published: u64,
    /// The groups of the release, sorted by their cells.
    pub(crate) groups: Vec<CellGroup>,
    /// How often each published record is counted in the groups. It is more than once only for
    /// linked tables, which do not assign sensitive values to records.
    pub(crate) copies: u64,
}

/// The records of a release with equal cells in all quasi-identifiers.
pub(crate) struct CellGroup {
    /// The cell of each quasi-identifier.
    pub(crate) cells: Vec<u32>,
    /// Number of records.
    pub(crate) records: u64,
    /// Estimated number of records of the original in the group. It equals `records`, unless the
    /// group also contains people of another table.
    pub(crate) estimate: f64,
    /// The cells of the other columns, with numbers of records, sorted.
    pub(crate) rest: Vec<(Vec<u32>, u64)>,
}

incrowd_core::opaque_debug!(Comparison {
    columns: |comparison| comparison.lines.iter().map(|line| &line.name).collect::<Vec<_>>(),
    records,
    published
});

impl Comparison {
    /// Compares a release with its original. Columns of the release are found by name. Sensitive
    /// columns that it lacks are omitted. `missing` is the text with which missing values are
    /// published. `target` is the name of a column that was encoded as sensitive only because it is
    /// to be predicted.
    pub fn new(
        original: &Dataset,
        release: &Folded,
        missing: &str,
        target: Option<&str>,
    ) -> Result<Comparison> {
        let mut columns = Vec::new();
        for q in 0..original.quasi().len() {
            columns.push(quasi_line(original, q, release)?);
        }
        let quasi = columns.len();
        for (s, column) in original.sensitive().iter().enumerate() {
            let Some(at) = release.column(&column.name) else { continue };
            let role = match target == Some(&column.name) {
                true => ColumnRole::Target,
                false => ColumnRole::Sensitive,
            };
            columns.push(sensitive_line(original, s, role, (release, at), missing)?);
        }
        let (mut lines, mut leaves, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        for (line, codes, map) in columns {
            if !line.covers.iter().all(|cover| within(&line.counts, cover) > 0) {
                return Err(foreign(&line.name));
            }
            lines.push(line);
            leaves.push(codes);
            cells.push(map);
        }
        let counts: Vec<u64> = (0..original.rows()).map(|row| original.weight(row)).collect();
        let at: Vec<usize> = lines.iter().filter_map(|line| release.column(&line.name)).collect();
        let groups = groups(release, &at, &cells, quasi);
        let (records, published) = (original.records(), release.records());
        Ok(Comparison { lines, quasi, leaves, counts, records, published, groups, copies: 1 })
    }

    /// Compares the boxes of a k-join-anonymous release with the microdata. The rows of a sensitive
    /// group count in proportion, such that their sum is its number of sensitive values
    /// (`sacharidis2010`). The label of the sensitive group is the last column of `boxes` and the
    /// first of `sensitive`.
    pub fn of_boxes(
        original: &Dataset,
        boxes: &Folded,
        sensitive: &Folded,
        missing: &str,
    ) -> Result<Comparison> {
        let Some(label) = boxes.columns.len().checked_sub(1) else {
            return Err(Error::bug("a table of boxes without columns"));
        };
        let mut sizes: HashMap<&str, (u64, u64)> = HashMap::new();
        for row in 0..boxes.rows() {
            sizes.entry(boxes.text(row, label)).or_default().0 += boxes.weights[row];
        }
        for row in 0..sensitive.rows() {
            sizes.entry(sensitive.text(row, 0)).or_default().1 += sensitive.weights[row];
        }
        let mut comparison = Comparison::new(original, boxes, missing, None)?;
        let quasi: Vec<usize> =
            comparison.lines.iter().filter_map(|line| boxes.column(&line.name)).collect();
        // The distinct cells of each line, in the order of their texts.
        let mut cells: Vec<Vec<u32>> = Vec::new();
        for &column in &quasi {
            cells.push(cells_of(boxes, column, |_| Some(Cover::leaf(0, None)))?.map);
        }
        let mut shares: HashMap<Vec<u32>, Vec<(u64, u64, u64)>> = HashMap::new();
        for row in 0..boxes.rows() {
            let codes = boxes.row(row);
            let key = quasi
                .iter()
                .zip(&cells)
                .map(|(&column, map)| map[codes[column] as usize])
                .collect();
            let (rows, values) = sizes[boxes.text(row, label)];
            shares.entry(key).or_default().push((boxes.weights[row], values, rows));
        }
        for group in &mut comparison.groups {
            let mut parts = shares.remove(&group.cells).unwrap_or_default();
            // The parts are sorted, so rounding does not depend on the order of reading.
            parts.sort_unstable();
            let part =
                |(own, values, rows): (u64, u64, u64)| own as f64 * values as f64 / rows as f64;
            group.estimate = parts.into_iter().map(part).sum();
        }
        Ok(comparison)
    }

    /// Compares two tables that are linked by groups with the original. Every record of a group has
    /// all values of the group, each with its share (`xiao2006`). The last column of `first` is the
    /// group. `second` has the group and the value.
    pub fn of_linked(
        original: &Dataset,
        first: &Folded,
        second: &Folded,
        missing: &str,
    ) -> Result<Comparison> {
        let (joined, copies) = super::linked_tables::joined(first, second)?;
        let mut comparison = Comparison::new(original, &joined, missing, None)?;
        comparison.copies = copies;
        comparison.groups.iter_mut().for_each(|group| group.estimate /= copies as f64);
        Ok(comparison)
    }

    /// Returns the names and roles of the compared columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, ColumnRole)> {
        self.lines.iter().map(|line| (line.name.as_str(), line.role))
    }
}

/// A line, the leaf of each row of the original, and the cell of each code of the release.
type Decoded = (Line, Vec<u32>, Vec<u32>);

/// Decodes a quasi-identifier.
fn quasi_line(original: &Dataset, q: usize, release: &Folded) -> Result<Decoded> {
    let quasi = &original.quasi()[q];
    let column = release.column(&quasi.name).ok_or_else(|| absent(&quasi.name))?;
    let read = |text: Option<&str>| {
        let cell = quasi.domain.read(text.unwrap_or_default())?;
        Some(Cover::of_cell(&quasi.domain, &cell))
    };
    let Cells { map, covers, texts, published } = cells_of(release, column, read)?;
    let codes: Vec<u32> = (0..original.rows()).map(|row| original.quasi_codes(row)[q]).collect();
    let leaves = quasi.domain.leaves();
    let (numbers, range) = match &quasi.domain {
        Domain::Numbers(line) => (Some(values(line.numbers())), line.domain()),
        _ => (None, (0.0, 0.0)),
    };
    let line = Line {
        name: quasi.name.clone(),
        role: ColumnRole::Quasi,
        leaves,
        missing: numbers.as_ref().filter(|n| n.len() < leaves as usize).map(|n| n.len() as u32),
        numbers,
        range,
        counts: count(&codes, original, leaves),
        covers,
        texts,
        published,
    };
    Ok((line, codes, map))
}

/// Decodes a sensitive column, which is column `at` of the release.
fn sensitive_line(
    original: &Dataset,
    s: usize,
    role: ColumnRole,
    (release, at): (&Folded, usize),
    missing: &str,
) -> Result<Decoded> {
    let column = &original.sensitive()[s];
    let values = ValueLine::new(column);
    let Cells { map, covers, texts, published } =
        cells_of(release, at, |text| values.cover(text, missing))?;
    let codes: Vec<u32> = (0..original.rows())
        .map(|row| values.leaf[original.sensitive_codes(row)[s] as usize])
        .collect();
    let leaves = column.values.len() as u32;
    let line = Line {
        name: column.name.clone(),
        role,
        leaves,
        range: values.range(),
        missing: column.missing.map(|code| values.leaf[code as usize]),
        numbers: values.numbers,
        counts: count(&codes, original, leaves),
        covers,
        texts,
        published,
    };
    Ok((line, codes, map))
}

/// Returns the number of records of the original that a cover contains.
pub(crate) fn within(counts: &[u64], cover: &Cover) -> u64 {
    cover
        .spans()
        .iter()
        .map(|&(lo, hi)| counts[lo as usize..=hi as usize].iter().sum::<u64>())
        .sum()
}

fn absent(name: &str) -> Error {
    Error::input(format!("the release has no column `{name}`"))
        .help("name only quasi-identifiers of the release, or provide its job")
}

fn foreign(name: &str) -> Error {
    Error::input(format!(
        "column `{name}` of the release has a cell that covers no value of the original"
    ))
    .help("check that it is a release of this table with these hierarchies")
}

fn count(codes: &[u32], original: &Dataset, leaves: u32) -> Vec<u64> {
    let mut counts = vec![0; leaves as usize];
    for (row, &code) in codes.iter().enumerate() {
        counts[code as usize] += original.weight(row);
    }
    counts
}

/// Returns the distinct cells of a column in the order of their texts.
fn cells_of(
    release: &Folded,
    column: usize,
    read: impl Fn(Option<&str>) -> Option<Cover>,
) -> Result<Cells> {
    let FoldedColumn { name, texts } = &release.columns[column];
    let mut records = vec![0u64; texts.len()];
    for row in 0..release.rows() {
        records[release.row(row)[column] as usize] += release.weights[row];
    }
    let mut used: Vec<usize> = (0..texts.len()).filter(|&code| records[code] > 0).collect();
    used.sort_by_key(|&code| (code != MISSING as usize, &texts[code]));
    let mut map = vec![0; texts.len()];
    let (mut covers, mut published) =
        (Vec::with_capacity(used.len()), Vec::with_capacity(used.len()));
    let mut shown = Vec::with_capacity(used.len());
    for code in used {
        map[code] = covers.len() as u32;
        let text = (code != MISSING as usize).then(|| texts[code].as_str());
        covers.push(read(text).ok_or_else(|| foreign(name))?);
        published.push(records[code]);
        shown.push(text.unwrap_or_default().to_owned());
    }
    Ok(Cells { map, covers, texts: shown, published })
}

/// The distinct cells of a column of a release.
struct Cells {
    /// Index of the cell of each code.
    map: Vec<u32>,
    covers: Vec<Cover>,
    texts: Vec<String>,
    published: Vec<u64>,
}

/// The values of a sensitive column in order: numbers by value, other texts alphabetically, the
/// missing value last.
struct ValueLine<'a> {
    leaf: Vec<u32>,
    leaves: u32,
    by_text: HashMap<&'a str, u32>,
    numbers: Option<Vec<f64>>,
    missing: Option<u32>,
}

impl<'a> ValueLine<'a> {
    fn new(column: &'a Sensitive) -> ValueLine<'a> {
        let present: Vec<usize> =
            (0..column.values.len()).filter(|&code| column.missing != Some(code as u32)).collect();
        let parsed: Option<Vec<(f64, usize)>> = present
            .iter()
            .map(|&code| parse_number(&column.values[code]).map(|n| (n.as_f64(), code)))
            .collect();
        let (order, numbers) = match parsed.filter(|p| !p.is_empty()) {
            Some(mut numbers) => {
                numbers.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let order: Vec<usize> = numbers.iter().map(|(_, code)| *code).collect();
                (order, Some(numbers.into_iter().map(|(x, _)| x).collect()))
            }
            None => (present, None),
        };
        let mut leaf = vec![0; column.values.len()];
        let mut by_text = HashMap::new();
        for (at, &code) in order.iter().enumerate() {
            leaf[code] = at as u32;
            by_text.insert(column.values[code].as_str(), at as u32);
        }
        if let Some(code) = column.missing {
            leaf[code as usize] = order.len() as u32;
        }
        let missing = column.missing.map(|_| order.len() as u32);
        ValueLine { leaf, leaves: column.values.len() as u32, by_text, numbers, missing }
    }

    fn range(&self) -> (f64, f64) {
        let ends = self.numbers.as_ref().and_then(|n| Some((*n.first()?, *n.last()?)));
        ends.unwrap_or((0.0, 0.0))
    }

    fn cover(&self, text: Option<&str>, missing: &str) -> Option<Cover> {
        let Some(text) = text else { return self.missing.map(|leaf| Cover::leaf(leaf, None)) };
        if let Some(&leaf) = self.by_text.get(text) {
            return Some(Cover::leaf(leaf, self.numbers.as_ref().map(|n| n[leaf as usize])));
        }
        if let Some(leaf) = self.missing.filter(|_| text == missing || text.is_empty()) {
            return Some(Cover::leaf(leaf, None));
        }
        if text == "*" {
            return Some(Cover::everything(
                self.leaves,
                self.numbers.as_ref().map(|_| self.range()),
            ));
        }
        // Typed formats may spell a number differently: 7 and 7.0 are equal.
        let numbers = self.numbers.as_ref()?;
        let x = parse_number(text)?.as_f64();
        let at = numbers.binary_search_by(|n| n.total_cmp(&x)).ok()?;
        Some(Cover::leaf(at as u32, Some(x)))
    }
}

/// Returns the texts of a sensitive column's values in the order of its leaves.
pub(crate) fn sensitive_texts(column: &Sensitive) -> Vec<String> {
    let mut texts = vec![String::new(); column.values.len()];
    for (code, leaf) in ValueLine::new(column).leaf.into_iter().enumerate() {
        texts[leaf as usize].clone_from(&column.values[code]);
    }
    texts
}

fn groups(release: &Folded, at: &[usize], cells: &[Vec<u32>], quasi: usize) -> Vec<CellGroup> {
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut groups: Vec<CellGroup> = Vec::new();
    let mut key = Vec::new();
    for row in 0..release.rows() {
        let codes = release.row(row);
        key.clear();
        key.extend(at.iter().zip(cells).map(|(&column, map)| map[codes[column] as usize]));
        let (own, rest) = key.split_at(quasi);
        let group = *known.entry_ref(own).or_insert_with(|| {
            groups.push(CellGroup {
                cells: own.to_vec(),
                records: 0,
                estimate: 0.0,
                rest: Vec::new(),
            });
            groups.len() - 1
        });
        groups[group].records += release.weights[row];
        groups[group].rest.push((rest.to_vec(), release.weights[row]));
    }
    groups.sort_unstable_by(|a, b| a.cells.cmp(&b.cells));
    for group in &mut groups {
        group.estimate = group.records as f64;
        group.rest.sort_unstable();
        // Rows that differ only in columns that are not compared are merged.
        merge_equal(&mut group.rest);
    }
    groups
}
