//! Original and release on common lines of leaves: what every measure of utility is computed from.
//!
//! A release does not say whose record is whose, so nothing here links records. Groups stand in an order that follows
//! from their cells alone, so that sums of floats do not depend on who read what first.

use hashbrown::HashMap;
use incrowd_core::dataset::Sensitive;
use incrowd_core::number::parse_number;
use incrowd_core::{Dataset, Domain, Error, Folded, FoldedColumn, MISSING, Result};

use super::cover::{Cover, values};

/// What a column is to the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A quasi-identifier: its cells may be generalized.
    Quasi,
    /// A sensitive column, published as it is.
    Sensitive,
    /// Another column published as it is, read because it is to be predicted.
    Target,
}

/// A column of the original as a line of leaves, with the release's cells on it.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) part: Part,
    /// How many leaves the line has.
    pub(crate) leaves: u32,
    /// The number at each leaf, if the column holds numbers; a missing value comes last and has none.
    pub(crate) numbers: Option<Vec<f64>>,
    /// The whole range of a column of numbers.
    pub(crate) range: (f64, f64),
    /// The leaf of missing values, if such are kept.
    pub(crate) missing: Option<u32>,
    /// How many records of the original have each leaf.
    pub(crate) counts: Vec<u64>,
    /// What each of the release's distinct cells covers, in the order of their texts.
    pub(crate) covers: Vec<Cover>,
    /// Those texts; that of a missing value is empty.
    pub(crate) texts: Vec<String>,
    /// How many published records have each of those cells.
    pub(crate) published: Vec<u64>,
}

/// Original and release, column by column.
pub struct Comparison {
    pub(crate) lines: Vec<Line>,
    /// How many of the lines, the first ones, are quasi-identifiers.
    pub(crate) quasi: usize,
    /// The leaves of the original's distinct rows, column by column.
    pub(crate) leaves: Vec<Vec<u32>>,
    /// How many records have each of those rows.
    pub(crate) weights: Vec<u64>,
    /// How many records the original has.
    pub(crate) records: u64,
    /// How many records the release has.
    pub(crate) published: u64,
    /// The release's groups by their cells, in the order of the cells.
    pub(crate) groups: Vec<CellGroup>,
    /// How often each published record stands in the groups: more than once only where its sensitive value is not told.
    pub(crate) copies: u64,
}

/// The records of a release that have the same cells in every quasi-identifier.
pub(crate) struct CellGroup {
    /// The cell of each quasi-identifier.
    pub(crate) cells: Vec<u32>,
    /// How many records it has.
    pub(crate) records: u64,
    /// How many records of the original a reader takes it for: all its records, unless strangers stand among them.
    pub(crate) estimate: f64,
    /// The cells of the other columns with the number of records that have them, in their order.
    pub(crate) rest: Vec<(Vec<u32>, u64)>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Comparison")
            .field("columns", &self.lines.iter().map(|line| &line.name).collect::<Vec<_>>())
            .field("records", &self.records)
            .field("published", &self.published)
            .finish_non_exhaustive()
    }
}

impl Comparison {
    /// Puts a release beside its original. Columns of the release are found by name; sensitive columns it does not have
    /// are left out. `missing` is the text under which kept missing values are published, `target` the name of a column
    /// that was encoded as sensitive only because it is to be predicted.
    pub fn new(
        original: &Dataset,
        release: &Folded,
        missing: &str,
        target: Option<&str>,
    ) -> Result<Comparison> {
        let mut lines = Vec::new();
        let mut leaves = Vec::new();
        let mut cells = Vec::new();
        for (q, quasi) in original.quasi().iter().enumerate() {
            let column = release.column(&quasi.name).ok_or_else(|| absent(&quasi.name))?;
            let read = |text: Option<&str>| {
                let cell = quasi.domain.read(text.unwrap_or_default())?;
                Some(Cover::of_cell(&quasi.domain, &cell))
            };
            let Cells { map, covers, texts, published } = cells_of(release, column, read)?;
            let codes: Vec<u32> = (0..original.rows()).map(|row| original.quasi_codes(row)[q]).collect();
            let all = quasi.domain.leaves();
            let (numbers, range) = match &quasi.domain {
                Domain::Numbers(line) => (Some(values(line.numbers())), line.domain()),
                _ => (None, (0.0, 0.0)),
            };
            let missing = numbers.as_ref().filter(|n| n.len() < all as usize).map(|n| n.len() as u32);
            let counts = count(&codes, original, all);
            let (name, part) = (quasi.name.clone(), Part::Quasi);
            lines.push(Line {
                name,
                part,
                leaves: all,
                numbers,
                range,
                missing,
                counts,
                covers,
                texts,
                published,
            });
            leaves.push(codes);
            cells.push(map);
        }
        let quasi = lines.len();
        for (s, column) in original.sensitive().iter().enumerate() {
            let Some(at) = release.column(&column.name) else { continue };
            let values = ValueLine::new(column);
            let Cells { map, covers, texts, published } =
                cells_of(release, at, |text| values.cover(text, missing))?;
            let codes: Vec<u32> = (0..original.rows())
                .map(|row| values.leaf[original.sensitive_codes(row)[s] as usize])
                .collect();
            let all = column.values.len() as u32;
            let counts = count(&codes, original, all);
            let part = if target == Some(&column.name) { Part::Target } else { Part::Sensitive };
            let range = values.range();
            let missing = column.missing.map(|code| values.leaf[code as usize]);
            let (name, numbers) = (column.name.clone(), values.numbers);
            lines.push(Line {
                name,
                part,
                leaves: all,
                numbers,
                range,
                missing,
                counts,
                covers,
                texts,
                published,
            });
            leaves.push(codes);
            cells.push(map);
        }
        for line in &lines {
            let told = |cover: &Cover| within(&line.counts, cover) > 0;
            if !line.covers.iter().all(told) {
                return Err(foreign(&line.name));
            }
        }
        let weights: Vec<u64> = (0..original.rows()).map(|row| original.weight(row)).collect();
        let at: Vec<usize> = lines.iter().filter_map(|line| release.column(&line.name)).collect();
        let groups = groups(release, &at, &cells, quasi);
        let (records, published) = (original.records(), release.records());
        Ok(Comparison { lines, quasi, leaves, weights, records, published, groups, copies: 1 })
    }

    /// Puts the boxes of a k-join-anonymous release beside the microdata: of the rows of a sensitive group as many count as it
    /// has sensitive values (`sacharidis2010`). `boxes` has the label of the sensitive group last, `sensitive` first.
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
            let text = boxes.columns[label].texts[boxes.row(row)[label] as usize].as_str();
            sizes.entry(text).or_default().0 += boxes.weights[row];
        }
        for row in 0..sensitive.rows() {
            let text = sensitive.columns[0].texts[sensitive.row(row)[0] as usize].as_str();
            sizes.entry(text).or_default().1 += sensitive.weights[row];
        }
        let mut comparison = Comparison::new(original, boxes, missing, None)?;
        let quasi: Vec<usize> = comparison.lines.iter().filter_map(|line| boxes.column(&line.name)).collect();
        // The cells of each line again, in the order of their texts.
        let mut cells: Vec<Vec<u32>> = Vec::new();
        for &column in &quasi {
            cells.push(cells_of(boxes, column, |_| Some(Cover::leaf(0, None)))?.map);
        }
        let mut shares: HashMap<Vec<u32>, Vec<(u64, u64, u64)>> = HashMap::new();
        for row in 0..boxes.rows() {
            let codes = boxes.row(row);
            let key = quasi.iter().zip(&cells).map(|(&column, map)| map[codes[column] as usize]).collect();
            let text = boxes.columns[label].texts[codes[label] as usize].as_str();
            let (rows, values) = sizes[text];
            shares.entry(key).or_default().push((boxes.weights[row], values, rows));
        }
        for group in &mut comparison.groups {
            let mut parts = shares.remove(&group.cells).unwrap_or_default();
            // Added in one order whoever read what first.
            parts.sort_unstable();
            let part = |(own, values, rows): (u64, u64, u64)| own as f64 * values as f64 / rows as f64;
            group.estimate = parts.into_iter().map(part).sum();
        }
        Ok(comparison)
    }

    /// Puts two tables that are linked by groups only beside the original: a reader gives every record of a group all its
    /// values, each in the share it has there (`xiao2006`). `first` has the group last, `second` the group and the value.
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

    /// Names and parts of the columns that are compared.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Part)> {
        self.lines.iter().map(|line| (line.name.as_str(), line.part))
    }
}

/// How many records of the original a cover covers.
pub(crate) fn within(counts: &[u64], cover: &Cover) -> u64 {
    cover.spans().iter().map(|&(lo, hi)| counts[lo as usize..=hi as usize].iter().sum::<u64>()).sum()
}

fn absent(name: &str) -> Error {
    Error::input(format!("the release has no column `{name}`"))
        .help("name only the quasi-identifiers it has, or give the job it was made with")
}

fn foreign(name: &str) -> Error {
    Error::input(format!("column `{name}` of the release has a cell that covers no value of the original"))
        .help("is it a release of this table, made with these hierarchies?")
}

fn count(codes: &[u32], original: &Dataset, leaves: u32) -> Vec<u64> {
    let mut counts = vec![0; leaves as usize];
    for (row, &code) in codes.iter().enumerate() {
        counts[code as usize] += original.weight(row);
    }
    counts
}

/// The distinct cells of a column in the order of their texts: where each code goes, what each covers, and how many
/// records have it.
fn cells_of(release: &Folded, column: usize, read: impl Fn(Option<&str>) -> Option<Cover>) -> Result<Cells> {
    let FoldedColumn { name, texts } = &release.columns[column];
    let mut records = vec![0u64; texts.len()];
    for row in 0..release.rows() {
        records[release.row(row)[column] as usize] += release.weights[row];
    }
    let mut used: Vec<usize> = (0..texts.len()).filter(|&code| records[code] > 0).collect();
    used.sort_by_key(|&code| (code != MISSING as usize, &texts[code]));
    let mut map = vec![0; texts.len()];
    let (mut covers, mut published) = (Vec::with_capacity(used.len()), Vec::with_capacity(used.len()));
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
    /// The cell of each code.
    map: Vec<u32>,
    covers: Vec<Cover>,
    texts: Vec<String>,
    published: Vec<u64>,
}

/// The values of a sensitive column as a line: numbers in their order, other texts in theirs, a missing value last.
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
            return Some(Cover::everything(self.leaves, self.numbers.as_ref().map(|_| self.range())));
        }
        // A typed format may spell a number differently: 7 and 7.0 are one.
        let numbers = self.numbers.as_ref()?;
        let x = parse_number(text)?.as_f64();
        let at = numbers.binary_search_by(|n| n.total_cmp(&x)).ok()?;
        Some(Cover::leaf(at as u32, Some(x)))
    }
}

/// The texts of a sensitive column's values in the order of its line.
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
            groups.push(CellGroup { cells: own.to_vec(), records: 0, estimate: 0.0, rest: Vec::new() });
            groups.len() - 1
        });
        groups[group].records += release.weights[row];
        groups[group].rest.push((rest.to_vec(), release.weights[row]));
    }
    groups.sort_unstable_by(|a, b| a.cells.cmp(&b.cells));
    for group in &mut groups {
        group.estimate = group.records as f64;
        group.rest.sort_unstable();
        // Columns that are not compared may have told rows apart.
        group.rest.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0 };
            same
        });
    }
    groups
}
