//! From texts to codes on lines.

use std::sync::Arc;

use hashbrown::HashMap;
use rayon::prelude::*;

use super::{BLOCK, Dataset, Quasi, Sensitive, added_up, stretches};
use crate::canonical::canonical;
use crate::domain::{Domain, Misfit};
use crate::folded::{Folded, FoldedColumn, MISSING};
use crate::hierarchy::HierarchySpec;
use crate::index::Code;
use crate::packed::PackedRows;
use crate::schema::{ColumnSpec, Labels, SensitiveSpec};

/// A column that could not be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError {
    /// The column's position in the folded table.
    pub column: usize,
    /// What did not fit.
    pub misfit: Misfit,
}

/// What texts become.
struct Lines {
    quasi: Vec<Quasi>,
    sensitive: Vec<Sensitive>,
    /// By column what each code of the fold becomes.
    maps: Vec<Vec<u32>>,
    /// For each column of another table where on the lines each of its codes lies.
    places: Vec<Vec<Code>>,
}

impl Lines {
    /// For each column of the table its highest code.
    fn highest(&self) -> Vec<u32> {
        let leaves = self.quasi.iter().map(|quasi| quasi.domain.leaves());
        let values = self.sensitive.iter().map(|column| column.values.len() as u32);
        leaves.chain(values).map(|size| size.saturating_sub(1)).collect()
    }

    fn table(self, codes: Vec<u32>, weights: Vec<u64>) -> (Dataset, Vec<Vec<Code>>) {
        (Dataset::from_rows(self.quasi, self.sensitive, codes, weights), self.places)
    }
}

/// What is known of the columns of a table.
#[derive(Clone, Copy)]
struct Specs<'a> {
    quasi: &'a [&'a ColumnSpec],
    sensitive: &'a [&'a SensitiveSpec],
    /// The text under which kept missing values are published.
    missing: &'a str,
    /// The columns of another table.
    others: &'a [FoldedColumn],
}

impl Dataset {
    /// Encodes a folded table whose columns are the quasi-identifiers, in the order of `quasi`, followed by the
    /// sensitive columns, in the order of `sensitive`. `missing` is the text under which kept missing values are
    /// published.
    pub fn encode(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
    ) -> Result<Dataset, EncodeError> {
        Dataset::encode_beside(folded, quasi, sensitive, missing, &[]).map(|(data, _)| data)
    }

    /// The same on lines that also hold the values of another table: `others` are its columns for the quasi-identifiers, or
    /// nothing; an empty text is no value. Returns where on the lines each of its codes lies. A value of the other table
    /// that does not fit is reported with a code beyond those of the table's own column.
    pub fn encode_beside(
        folded: Folded,
        quasi: &[&ColumnSpec],
        sensitive: &[&SensitiveSpec],
        missing: &str,
        others: &[FoldedColumn],
    ) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
        let specs = Specs { quasi, sensitive, missing, others };
        let mut folded = folded;
        if let Some(rows) = folded.packed.take() {
            return encode_packed(folded, &rows, specs);
        }
        let persons = take_persons(&mut folded);
        let represented = folded.represented.take();
        let (mut data, places) = encode_as_folded(folded, specs)?;
        let folded_weights = if persons.is_some() { data.weights.clone() } else { Vec::new() };
        let sizes = data.quasi.iter().map(|quasi| quasi.domain.leaves());
        let sizes = sizes.chain(data.sensitive.iter().map(|column| column.values.len() as u32));
        let rows = canonical(data.codes, data.weights, &sizes.collect::<Vec<u32>>());
        (data.codes, data.weights, data.of_fold) = (rows.codes, rows.weights, rows.of_fold);
        if let Some(persons) = persons {
            let persons = in_new_rows(&persons, &folded_weights, &data.of_fold, &data.weights);
            data.set_persons(&persons);
        }
        if let Some(represented) = represented {
            data.represented = Some(Arc::new(added_up(&represented, &data.of_fold, data.rows())));
        }
        Ok((data, places))
    }

    /// A release as its reader has it: every quasi-identifier is plain text. The first `quasi` columns are
    /// quasi-identifiers, the others sensitive. Rows stay in the order of the fold, because whoever judges a release reads its
    /// texts beside them. Fails only if a sensitive value is not what `sensitive` says it is.
    pub fn of_release(
        folded: Folded,
        quasi: usize,
        sensitive: &[&SensitiveSpec],
    ) -> Result<Dataset, EncodeError> {
        let text =
            ColumnSpec { kind: Some(crate::Kind::Text), labels: Labels::Star, ..ColumnSpec::default() };
        // A null is not an empty text: it gets a label no cell can have.
        let mut folded = folded.unpacked();
        let persons = take_persons(&mut folded);
        let represented = folded.represented.take();
        let quasi = vec![&text; quasi];
        let specs = Specs { quasi: &quasi, sensitive, missing: "\u{0}", others: &[] };
        let encoded = encode_as_folded(folded, specs);
        encoded.map(|(mut data, _)| {
            data.represented = represented.map(Arc::new);
            if let Some(persons) = persons {
                data.set_persons(&persons);
            }
            data
        })
    }
}

/// Encodes rows that are numbers. Rows that encode alike become one.
fn encode_packed(
    folded: Folded,
    rows: &PackedRows,
    specs: Specs<'_>,
) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
    let sizes: Vec<usize> = folded.columns.iter().map(|column| column.texts.len()).collect();
    let counts = rows.counts(&sizes);
    let used = counts.iter().map(|counts| counts.iter().map(|&records| records > 0).collect()).collect();
    let mut lines = lines(&folded, used, &|column| counts[column].clone(), specs)?;
    let Some((codes, weights)) = rows.recoded(&lines.maps, &lines.highest()) else {
        // Lines may have more places than there are values.
        let (codes, weights) = rows.unpacked();
        return Dataset::encode_beside(
            Folded { codes, weights, ..folded },
            specs.quasi,
            specs.sensitive,
            specs.missing,
            specs.others,
        );
    };
    for ((line, map), counts) in lines.quasi.iter_mut().zip(&lines.maps).zip(counts) {
        let mut leaves = vec![0; line.domain.leaves() as usize];
        // A code that nobody has is on no line.
        let own = map.iter().zip(counts).filter(|(_, records)| *records > 0);
        own.for_each(|(&leaf, records)| leaves[leaf as usize] += records);
        line.set_counts(leaves);
    }
    Ok(lines.table(codes, weights))
}

/// Encodes plain rows, in the order of the fold.
fn encode_as_folded(folded: Folded, specs: Specs<'_>) -> Result<(Dataset, Vec<Vec<Code>>), EncodeError> {
    let width = folded.columns.len();
    // A text that occurs only in records left out for a missing value must leave no trace in any domain.
    let sizes: Vec<usize> = folded.columns.iter().map(|column| column.texts.len()).collect();
    let used = used_codes(&folded.codes, &sizes);
    let counts = |column: usize| {
        let mut counts = vec![0; sizes[column]];
        let codes = folded.codes.iter().skip(column).step_by(width);
        codes.zip(&folded.weights).for_each(|(&code, n)| counts[code as usize] += n);
        counts
    };
    let lines = lines(&folded, used, &counts, specs)?;
    let mut codes = folded.codes;
    codes.par_chunks_mut(BLOCK * width.max(1)).for_each(|block| {
        for row in block.chunks_exact_mut(width.max(1)) {
            for (code, map) in row.iter_mut().zip(&lines.maps) {
                *code = map[*code as usize];
            }
        }
    });
    let (mut data, places) = lines.table(codes, folded.weights);
    data.count_leaves();
    Ok((data, places))
}

/// The lines of the columns of a folded table. `used` says which codes occur, `counts` tells how many records have each of a column.
fn lines(
    folded: &Folded,
    mut used: Vec<Vec<bool>>,
    counts: &dyn Fn(usize) -> Vec<u64>,
    specs: Specs<'_>,
) -> Result<Lines, EncodeError> {
    let Specs { quasi, sensitive, missing, others } = specs;
    for (used, line) in used.iter_mut().zip(folded.lines.iter().flatten()) {
        used.iter_mut().zip(line).for_each(|(used, &on_line)| *used |= on_line);
    }
    let mut lines = Vec::new();
    let (specs, mut sensitive) = (sensitive, Vec::new());
    let mut maps: Vec<Vec<u32>> = Vec::with_capacity(folded.columns.len());
    let mut places: Vec<Vec<Code>> = Vec::with_capacity(others.len());
    for (i, column) in folded.columns.iter().enumerate() {
        let has_missing = used[i][MISSING as usize];
        let mut map = vec![0; column.texts.len()];
        if let Some(spec) = quasi.get(i) {
            used[i][MISSING as usize] = true;
            let mut old: Vec<u32> =
                (0..column.texts.len() as u32).filter(|&code| used[i][code as usize]).collect();
            let mut texts: Vec<String> =
                old.iter().map(|&code| column.texts[code as usize].clone()).collect();
            let beyond = others.get(i).map(|other| beside(&mut texts, &mut old, column, other));
            let mut kept = FoldedColumn { name: column.name.clone(), texts };
            crate::spelling::unify(&mut kept, spec).map_err(|mut misfit| {
                misfit.code = misfit.code.map(|code| old[code as usize]);
                EncodeError { column: i, misfit }
            })?;
            let counts = matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_))).then(|| {
                let counts = counts(i);
                old.iter().map(|&code| counts[code as usize]).collect::<Vec<u64>>()
            });
            let missing = has_missing.then_some(missing);
            let built = Domain::build_counted(&kept, spec, missing, counts.as_deref());
            let (domain, codes) = built.map_err(|mut misfit| {
                misfit.code = misfit.code.map(|code| old[code as usize]);
                EncodeError { column: i, misfit }
            })?;
            if let Some(beyond) = beyond {
                places.push(beyond.into_iter().map(|at| codes[at as usize]).collect());
            }
            for (&old, code) in old.iter().zip(codes) {
                if let Some(place) = map.get_mut(old as usize) {
                    *place = code.0;
                }
            }
            let (name, counts) = (column.name.clone(), Arc::default());
            lines.push(Quasi { name, domain, leaf_depth: 0, counts, weight: spec.weight() });
        } else {
            let mut order: Vec<usize> = (0..column.texts.len()).filter(|&code| used[i][code]).collect();
            order.sort_by(|&a, &b| column.texts[a].cmp(&column.texts[b]));
            // Two codes may have one text, as when values are published as their categories.
            let same =
                |a: usize, b: usize| a.min(b) != MISSING as usize && column.texts[a] == column.texts[b];
            let mut first: Vec<usize> = Vec::with_capacity(order.len());
            for &text in &order {
                if !first.last().is_some_and(|&last| same(last, text)) {
                    first.push(text);
                }
                map[text] = first.len() as u32 - 1;
            }
            let values = first.iter().map(|&text| column.texts[text].clone()).collect();
            let missing = has_missing.then(|| map[MISSING as usize]);
            let spec = specs.get(i - quasi.len()).copied();
            let built = Sensitive::build(&column.name, values, missing, spec);
            sensitive.push(built.map_err(|mut misfit| {
                misfit.code = misfit.code.map(|code| first[code as usize] as u32);
                EncodeError { column: i, misfit }
            })?);
        }
        maps.push(map);
    }
    Ok(Lines { quasi: lines, sensitive, maps, places })
}

/// Which codes of each column occur; `sizes` says how many there are.
fn used_codes(codes: &[u32], sizes: &[usize]) -> Vec<Vec<bool>> {
    let none = || sizes.iter().map(|&size| vec![false; size]).collect::<Vec<Vec<bool>>>();
    let width = sizes.len().max(1);
    let look = |rows: std::ops::Range<usize>| {
        let mut used = none();
        for row in codes[rows.start * width..rows.end * width].chunks_exact(width) {
            used.iter_mut().zip(row).for_each(|(used, &code)| used[code as usize] = true);
        }
        used
    };
    let join = |mut all: Vec<Vec<bool>>, more: Vec<Vec<bool>>| {
        for (all, more) in all.iter_mut().zip(more) {
            all.iter_mut().zip(more).for_each(|(all, own)| *all |= own);
        }
        all
    };
    stretches(codes.len() / width).into_par_iter().map(look).reduce_with(join).unwrap_or_else(none)
}

/// The person of each record, if somebody has several.
fn take_persons(folded: &mut Folded) -> Option<Vec<u32>> {
    folded.persons.take().filter(|persons| persons.repeated).map(|persons| persons.codes)
}

/// The persons of records whose rows became others: `of_fold` says which, `weights` how many records those have.
fn in_new_rows(persons: &[u32], folded: &[u64], of_fold: &[u32], weights: &[u64]) -> Vec<u32> {
    let mut next = Vec::with_capacity(weights.len());
    let mut start = 0;
    for &records in weights {
        next.push(start);
        start += records as usize;
    }
    let (mut moved, mut at) = (vec![0; persons.len()], 0);
    for (&row, &records) in of_fold.iter().zip(folded) {
        let own = &persons[at..at + records as usize];
        let to = &mut next[row as usize];
        moved[*to..*to + own.len()].copy_from_slice(own);
        (*to, at) = (*to + own.len(), at + own.len());
    }
    moved
}

/// Adds the values of another table's column that the texts lack; their codes begin after those of `column`. Returns for each
/// code of the other column its position among the texts.
fn beside(
    texts: &mut Vec<String>,
    old: &mut Vec<u32>,
    column: &FoldedColumn,
    other: &FoldedColumn,
) -> Vec<u32> {
    let own = column.texts.len() as u32;
    let mut known: HashMap<&str, u32> =
        texts.iter().enumerate().skip(1).map(|(at, text)| (text.as_str(), at as u32)).collect();
    let mut fresh: Vec<String> = Vec::new();
    let first = texts.len() as u32;
    let mut at = vec![0u32];
    for (code, text) in other.texts.iter().enumerate().skip(1) {
        if text.is_empty() {
            at.push(0);
            continue;
        }
        let place = *known.entry(text).or_insert_with(|| {
            fresh.push(text.clone());
            old.push(own + code as u32);
            first + fresh.len() as u32 - 1
        });
        at.push(place);
    }
    drop(known);
    texts.append(&mut fresh);
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::mdr::Mdr;
    use crate::packed::Layout;
    use proptest::prelude::*;

    /// The same table with its rows as numbers; the second record of a row comes by itself.
    fn packed(folded: &Folded) -> Folded {
        let highest: Vec<u32> = folded.columns.iter().map(|column| column.texts.len() as u32 - 1).collect();
        let layout = Layout::new(&highest).unwrap();
        let keys: Vec<u64> = (0..folded.rows()).rev().map(|row| layout.pack(folded.row(row))).collect();
        let weights: Vec<u64> = folded.weights.iter().rev().copied().collect();
        let again = keys.iter().zip(&weights).filter(|(_, n)| **n > 1).map(|(key, _)| *key).collect();
        let first = weights.iter().map(|&n| if n > 1 { n - 1 } else { n }).collect();
        let rows = PackedRows { layout, parts: vec![(keys, first), (again, Vec::new())] };
        Folded { codes: Vec::new(), weights: Vec::new(), packed: Some(rows), ..folded.clone() }
    }

    /// Nothing if both fail, for the same reason.
    fn same(folded: &Folded, quasi: &[&ColumnSpec], sensitive: &[&SensitiveSpec]) -> Option<Dataset> {
        let plain = Dataset::encode(folded.clone(), quasi, sensitive, "?");
        let other = Dataset::encode(packed(folded), quasi, sensitive, "?");
        if let Err(why) = &plain {
            let other = other.unwrap_err();
            assert_eq!((other.column, other.misfit.code), (why.column, why.misfit.code));
            assert_eq!(other.misfit.error.message(), why.misfit.error.message());
            return None;
        }
        let (plain, other) = (plain.unwrap(), other.unwrap());
        assert_eq!((&other.codes, &other.weights), (&plain.codes, &plain.weights));
        assert_eq!(other.records, plain.records);
        for (own, line) in other.quasi.iter().zip(&plain.quasi) {
            assert_eq!((&own.counts, own.leaf_depth), (&line.counts, line.leaf_depth));
            assert_eq!(format!("{:?}", own.domain), format!("{:?}", line.domain));
        }
        for (own, column) in other.sensitive.iter().zip(&plain.sensitive) {
            assert_eq!((&own.values, own.missing), (&column.values, column.missing));
        }
        Some(other)
    }

    fn arx(leaves: usize) -> ColumnSpec {
        let text = (0..leaves).map(|leaf| format!("{leaf};{};*\n", leaf / 4)).collect();
        let hierarchy = Some(HierarchySpec::Arx { name: "leaves".into(), text });
        ColumnSpec { hierarchy, ..ColumnSpec::default() }
    }

    fn records() -> impl Strategy<Value = Vec<[Option<&'static str>; 5]>> {
        let number = prop::sample::select(vec![None, Some("10"), Some("2"), Some("2.0"), Some("7")]);
        let leaf = prop::sample::select(vec![Some("5"), Some("0"), Some("3")]);
        let text = prop::sample::select(vec![Some("b"), Some("a"), None, Some("c")]);
        let row = (number.clone(), leaf, text.clone(), number, text);
        prop::collection::vec(row.prop_map(|(a, b, c, d, e)| [a, b, c, d, e]), 1..60)
    }

    proptest! {
        /// Two spellings of a number become one row, leaves that nobody has stay on the line, missing values are kept or not.
        #[test]
        fn rows_as_numbers_encode_like_rows(records in records(), drop in any::<bool>()) {
            let cells = records.iter().map(|record| record.to_vec());
            let folded = Folded::from_records(&["n", "h", "t", "m", "s"], cells, drop);
            prop_assume!(folded.rows() > 0);
            let (plain, leaves, none) = (ColumnSpec::default(), arx(9), SensitiveSpec::default());
            let hierarchy = Some(HierarchySpec::Mdr(Mdr::default()));
            let grid = ColumnSpec { hierarchy, ..ColumnSpec::default() };
            same(&folded, &[&plain, &leaves, &plain, &grid], &[&none]);
        }
    }

    /// Five columns of six values each fit into a number, the lines of their hierarchies do not.
    #[test]
    fn lines_may_be_longer_than_numbers_allow() {
        let leaves: Vec<String> = (0..6).map(|n| (n * 1000).to_string()).collect();
        let cells =
            (0..200).map(|at| (0..5).map(|c| Some(leaves[(at * (c + 2) + at / 7) % 6].as_str())).collect());
        let folded = Folded::from_records(&["a", "b", "c", "d", "e"], cells, false);
        let spec = arx(9000);
        let data = same(&folded, &[&spec; 5], &[]).unwrap();
        assert_eq!(data.quasi[0].domain.leaves(), 9000);
    }
}
